//! Bytecodes of methods, as the JVM has them.
#![expect(unsafe_code, reason = "JVMTI is C")]

use std::ptr;

use jvmti_bindings::sys::{
    jni::{jclass, jint, jmethodID},
    jvmti::jvmtiInterface_1_,
};

use super::{Failure, Jvmti};

/// A method that has bytecodes.
pub(crate) struct Code {
    /// Its name.
    pub(crate) method: String,
    /// Its descriptor.
    pub(crate) descriptor: String,
    /// Its flags, as a class file has them.
    pub(crate) access: u16,
    pub(crate) bytecodes: Vec<u8>,
}

impl Jvmti {
    /// A class's own methods that have bytecodes.
    pub(crate) fn codes(self, class: jclass) -> Result<Vec<Code>, Failure> {
        Ok(self.method_ids(class)?.into_iter().filter_map(|method| self.code(method)).collect())
    }

    fn code(self, method: jmethodID) -> Option<Code> {
        let (name, descriptor) = self.method_name(method)?;
        let (mut access, mut length, mut bytecodes): (jint, jint, *mut u8) = (0, 0, ptr::null_mut());
        // SAFETY: as above; the list is copied and given back.
        let bytecodes = unsafe {
            ask!(self, GetMethodModifiers, method, &raw mut access).ok()?;
            ask!(self, GetBytecodes, method, &raw mut length, &raw mut bytecodes).ok()?;
            self.list(bytecodes, length)
        };
        Some(Code { method: name, descriptor, access: u16::try_from(access & 0xffff).unwrap_or(0), bytecodes })
    }
}
