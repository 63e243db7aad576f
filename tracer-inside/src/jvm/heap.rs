//! What JVMTI says of classes, their fields and tags, and its walk through the heap.
#![expect(unsafe_code, reason = "JNI and JVMTI are C")]

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

use jvmti_bindings::sys::{
    jni::{jclass, jfieldID, jint, jlong, jobject},
    jvmti::{jvmtiHeapCallbacks, jvmtiInterface_1_, jvmtiThreadInfo},
};

use super::{Failure, Jni, Jvmti, Vm};

impl Vm {
    /// An address in the JVM's library.
    pub(crate) fn code(self) -> usize {
        // SAFETY: the JVM's own table.
        let function = unsafe { (**self.0).GetEnv };
        function as *const () as usize
    }
}

impl Jni {
    /// The class above, if there is one.
    pub(crate) fn superclass(self, class: jclass) -> Option<jclass> {
        // SAFETY: JNI of this thread.
        let above = unsafe { ((**self.0).GetSuperclass)(self.0, class) };
        (!above.is_null()).then_some(above)
    }
}

impl Jvmti {
    /// A text of JVMTI, which is given back.
    unsafe fn text(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: JVMTI passes a C string.
        let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.give_back(text.cast());
        owned
    }

    /// Walks through all that roots lead to.
    pub(crate) fn follow(self, callbacks: &jvmtiHeapCallbacks, data: *const c_void) -> Result<(), Failure> {
        let none = ptr::null_mut();
        // SAFETY: JVMTI's own table; the callbacks and their data live through the call.
        unsafe { ask!(self, FollowReferences, 0, none, none, ptr::from_ref(callbacks), data) }
    }

    /// Gives an object a tag.
    pub(crate) fn set_tag(self, object: jobject, tag: jlong) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { ask!(self, SetTag, object, tag) }
    }

    /// Its tag.
    pub(crate) fn tag(self, object: jobject) -> Result<jlong, Failure> {
        let mut tag = 0;
        // SAFETY: as above.
        unsafe { ask!(self, GetTag, object, &raw mut tag) }.map(|()| tag)
    }

    /// A class as descriptors write it.
    pub(crate) fn signature(self, class: jclass) -> Option<String> {
        let mut signature = ptr::null_mut();
        // SAFETY: as above.
        unsafe {
            ask!(self, GetClassSignature, class, &raw mut signature, ptr::null_mut()).ok()?;
            Some(self.text(signature))
        }
    }

    /// Access flags of a class.
    pub(crate) fn modifiers(self, class: jclass) -> Option<jint> {
        let mut modifiers = 0;
        // SAFETY: as above.
        unsafe { ask!(self, GetClassModifiers, class, &raw mut modifiers) }.ok().map(|()| modifiers)
    }

    /// Interfaces that a class names, as local references.
    pub(crate) fn interfaces(self, class: jclass) -> Result<Vec<jclass>, Failure> {
        let (mut count, mut list) = (0, ptr::null_mut());
        // SAFETY: as above.
        unsafe {
            ask!(self, GetImplementedInterfaces, class, &raw mut count, &raw mut list)?;
            Ok(self.list(list, count))
        }
    }

    /// Names and access flags of a class's own fields, in its order.
    pub(crate) fn fields(self, class: jclass) -> Result<Vec<(String, jint)>, Failure> {
        let (mut count, mut list): (_, *mut jfieldID) = (0, ptr::null_mut());
        // SAFETY: as above.
        let fields = unsafe {
            ask!(self, GetClassFields, class, &raw mut count, &raw mut list)?;
            self.list(list, count)
        };
        let named = fields.into_iter().map(|field| {
            let (mut name, mut modifiers) = (ptr::null_mut(), 0);
            // SAFETY: as above.
            unsafe {
                ask!(self, GetFieldName, class, field, &raw mut name, ptr::null_mut(), ptr::null_mut())?;
                let name = self.text(name);
                ask!(self, GetFieldModifiers, class, field, &raw mut modifiers)?;
                Ok((name, modifiers))
            }
        });
        named.collect()
    }

    /// Name of a thread.
    pub(crate) fn thread_name(self, jni: Jni, thread: jobject) -> Option<String> {
        let mut info = jvmtiThreadInfo::default();
        // SAFETY: as above; what comes with the name is given back.
        unsafe {
            ask!(self, GetThreadInfo, thread, &raw mut info).ok()?;
            jni.forget(info.thread_group);
            jni.forget(info.context_class_loader);
            Some(self.text(info.name))
        }
    }
}
