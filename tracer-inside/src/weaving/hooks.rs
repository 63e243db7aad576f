//! What the JVM calls when it has the bytes of a class, and when it has linked one.
#![expect(unsafe_code, reason = "callbacks of JVMTI")]

use std::{
    ffi::{CStr, c_char},
    slice,
};

use jvmti_bindings::sys::{
    jni::{JNIEnv, jclass, jint, jobject},
    jvmti::jvmtiEnv,
};
use tracer_weave::Skipped;

use super::current;
use crate::{
    exchange::is_exchanging,
    jvm::{Jni, Jvmti, java_name},
};

/// The JVM offers the bytes of a class.
pub(crate) unsafe extern "system" fn hook(
    jvmti: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _domain: jobject,
    len: jint,
    bytes: *const u8,
    new_len: *mut jint,
    new_bytes: *mut *mut u8,
) {
    let _ = std::panic::catch_unwind(|| {
        let weaving = current()?;
        // Memory of the JVM's own may not be touched outside of these phases.
        if name.is_null() || bytes.is_null() {
            return None;
        }
        // SAFETY: the JVM passes a C string, and as many bytes as it says.
        let (name, bytes) =
            unsafe { (CStr::from_ptr(name).to_str().ok()?, slice::from_raw_parts(bytes, usize::try_from(len).ok()?)) };
        let name = java_name(name)?;
        weaving.below.look_above(&weaving.rules, &name, bytes);
        let jvmti = Jvmti(jvmti);
        let class = (jvmti.hash(loader), name);
        if redefined.is_null() {
            weaving.pass(&class);
        }
        let woven = weaving.weave(class, bytes)?;
        let memory = jvmti.allocate(&woven).ok()?;
        // SAFETY: the JVM passes where it wants the answer.
        unsafe {
            *new_bytes = memory;
            *new_len = jint::try_from(woven.len()).ok()?;
        }
        Some(())
    });
}

/// A class was linked. One that lies below a class that a rule names was perhaps not known as such when its bytes came, because
/// what it inherits from was not loaded yet; and one whose bytes came before there were rules may have been too new to be found among
/// those that were loaded. None of its code has run so far.
pub(crate) unsafe extern "system" fn prepared(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv, _thread: jobject, class: jclass) {
    let _ = std::panic::catch_unwind(|| {
        let weaving = current()?;
        let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
        let name = jvmti.name(class)?;
        weaving.below.add_base(&weaving.rules, jni, class, &name);
        let is_new = weaving.below.add_below(jni, class, &name);
        if weaving.rules_of(&name).is_empty() {
            return Some(());
        }
        let is_missed = weaving.is_missed(&(jvmti.hash_of_loader(class), name.clone())) && !is_exchanging();
        if (is_new || is_missed)
            && jvmti.is_modifiable(class)
            && let Err(reason) = jvmti.retransform(&[class])
        {
            weaving.skip(vec![Skipped { class: name, method: None, reason }]);
        }
        Some(())
    });
}
