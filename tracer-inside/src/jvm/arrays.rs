//! How large arrays are in this JVM, as it says itself of some: what lies before their elements, how large references are, and to
//! what sizes are rounded up. Flags and releases decide that, so it is measured and not computed from them.
#![expect(unsafe_code, reason = "JNI and JVMTI are C")]

use std::ptr;

use jvmti_bindings::sys::{
    jni::{jint, jlong, jobject},
    jvmti::jvmtiInterface_1_,
};

use super::{Failure, Jni, Jvmti};

/// Sizes are rounded up to at most so many bytes (`ObjectAlignmentInBytes`).
const MOST_ALIGNMENT: jint = 256;
/// References of which arrays are made to see how large one is.
const REFERENCES: jint = 2 * MOST_ALIGNMENT;

/// What arrays are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayLayout {
    /// Sizes are multiples of it.
    pub(crate) alignment: jlong,
    /// Bytes before the elements of an array of bytes.
    pub(crate) elements_at: jlong,
    /// Bytes of a reference.
    pub(crate) reference: jlong,
}

impl ArrayLayout {
    /// Measures it.
    pub(crate) fn measure(jni: Jni, jvmti: Jvmti) -> Result<Self, Failure> {
        let bytes = |length| jni.sized(jvmti, |jni| jni.new_bytes(length));
        let empty = bytes(0)?;
        let grown = |from: jint, size: jlong| -> Result<(jint, jlong), Failure> {
            for length in from..=from + MOST_ALIGNMENT {
                let now = bytes(length)?;
                if now > size {
                    return Ok((length, now));
                }
            }
            Err("arrays do not grow with their lengths".to_owned())
        };
        let (first, next) = grown(1, empty)?;
        let class = jni.find(c"java/lang/Object").ok_or("there is no java.lang.Object")?;
        let references = |length| jni.sized(jvmti, |jni| jni.new_objects(length, class));
        let of_references = references(REFERENCES)? - references(0)?;
        let measured = Self {
            alignment: next - empty,
            // The array before that one is full to the last byte.
            elements_at: empty - jlong::from(first - 1),
            reference: of_references / jlong::from(REFERENCES),
        };
        jni.forget(class);
        measured.checked()
    }

    fn checked(self) -> Result<Self, Failure> {
        let Self { alignment, elements_at, reference } = self;
        let is_sound = (8..=jlong::from(MOST_ALIGNMENT)).contains(&alignment)
            && (alignment.cast_unsigned()).is_power_of_two()
            && (8..=32).contains(&elements_at)
            && matches!(reference, 4 | 8);
        if is_sound { Ok(self) } else { Err(format!("arrays cannot be like this: {self:?}")) }
    }
}

impl Jni {
    /// The size of something that is made for that, and forgotten.
    fn sized(self, jvmti: Jvmti, make: impl FnOnce(Self) -> jobject) -> Result<jlong, Failure> {
        let made = make(self);
        self.check("making an array")?;
        if made.is_null() {
            return Err("an array was not made".to_owned());
        }
        let size = jvmti.size(made);
        self.forget(made);
        size
    }

    fn new_bytes(self, length: jint) -> jobject {
        // SAFETY: JNI of this thread.
        unsafe { ((**self.0).NewByteArray)(self.0, length) }
    }

    fn new_objects(self, length: jint, class: jobject) -> jobject {
        // SAFETY: as above.
        unsafe { ((**self.0).NewObjectArray)(self.0, length, class, ptr::null_mut()) }
    }
}

impl Jvmti {
    /// The size of an object.
    fn size(self, object: jobject) -> Result<jlong, Failure> {
        let mut size: jlong = 0;
        // SAFETY: JVMTI's own table.
        unsafe { ask!(self, GetObjectSize, object, &raw mut size) }.map(|()| size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_jvm_has_is_no_layout() {
        let compressed = ArrayLayout { alignment: 8, elements_at: 16, reference: 4 };
        assert!(compressed.checked().is_ok());
        for wrong in [
            ArrayLayout { alignment: 0, ..compressed },
            ArrayLayout { alignment: 24, ..compressed },
            ArrayLayout { elements_at: 4, ..compressed },
            ArrayLayout { reference: 0, ..compressed },
        ] {
            assert!(wrong.checked().is_err(), "{wrong:?}");
        }
    }
}
