//! The few calls of JNI and JVMTI that are needed, with their errors.
#![expect(unsafe_code, reason = "JNI and JVMTI are C")]

use std::{
    ffi::{CStr, c_char, c_void},
    ptr, slice,
};

use jvmti_bindings::sys::{
    jni::{JNIEnv, JavaVM, JavaVMAttachArgs, jclass, jfieldID, jint, jlong, jmethodID, jobject, jvalue},
    jvmti::{jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks, jvmtiInterface_1_},
};

/// Why something was not done.
pub(crate) type Failure = String;

/// What JDK 8 has of JNI, and with it each later one.
const JNI_VERSION: jint = 0x0001_0008;
const JVMTI_VERSION: jint = 0x3001_0000 | 0x0009_0000;
/// What JDK 8 has.
const JVMTI_VERSION_8: jint = 0x3001_0000 | 0x0000_0200;

/// A JVM.
#[derive(Clone, Copy)]
pub(crate) struct Vm(*mut JavaVM);

// SAFETY: the table of functions of a JVM may be used by any thread.
unsafe impl Send for Vm {}
// SAFETY: as above.
unsafe impl Sync for Vm {}

impl Vm {
    /// # Safety
    ///
    /// `vm` is the JVM.
    pub(crate) unsafe fn new(vm: *mut JavaVM) -> Result<Self, Failure> {
        if vm.is_null() { Err("no JVM".to_owned()) } else { Ok(Self(vm)) }
    }

    /// As C passes it.
    pub(crate) const fn raw(self) -> *mut JavaVM {
        self.0
    }

    fn get(self, version: jint) -> Result<*mut c_void, Failure> {
        let mut env = ptr::null_mut();
        // SAFETY: the JVM's own table.
        let code = unsafe { ((**self.0).GetEnv)(self.0, &raw mut env, version) };
        if code == 0 && !env.is_null() { Ok(env) } else { Err(format!("GetEnv({version:#x}) says {code}")) }
    }

    /// JNI of this thread.
    pub(crate) fn jni(self) -> Result<Jni, Failure> {
        self.get(JNI_VERSION).map(|env| Jni(env.cast()))
    }

    /// An environment of JVMTI of our own.
    pub(crate) fn jvmti(self) -> Result<Jvmti, Failure> {
        self.get(JVMTI_VERSION).or_else(|_| self.get(JVMTI_VERSION_8)).map(|env| Jvmti(env.cast()))
    }

    /// Makes this thread one of Java that does not keep the JVM alive.
    pub(crate) fn attach(self, name: &CStr) -> Result<Jni, Failure> {
        let mut env = ptr::null_mut();
        let mut arguments =
            JavaVMAttachArgs { version: JNI_VERSION, name: name.as_ptr().cast_mut(), group: ptr::null_mut() };
        // SAFETY: the JVM's own table, and arguments that live through the call.
        let code =
            unsafe { ((**self.0).AttachCurrentThreadAsDaemon)(self.0, &raw mut env, (&raw mut arguments).cast()) };
        if code == 0 { Ok(Jni(env.cast())) } else { Err(format!("AttachCurrentThreadAsDaemon says {code}")) }
    }

    /// Undoes [`Vm::attach`].
    pub(crate) fn detach(self) {
        // SAFETY: the JVM's own table.
        unsafe { ((**self.0).DetachCurrentThread)(self.0) };
    }
}

/// JNI of a thread.
#[derive(Clone, Copy)]
pub(crate) struct Jni(pub(crate) *mut JNIEnv);

impl Jni {
    /// Turns a pending exception into a failure.
    fn check(self, what: &str) -> Result<(), Failure> {
        // SAFETY: JNI of this thread.
        unsafe {
            if ((**self.0).ExceptionCheck)(self.0) == 0 {
                return Ok(());
            }
            ((**self.0).ExceptionClear)(self.0);
        }
        Err(format!("{what} threw an exception"))
    }

    /// The class of this name that the bootstrap loader has, if it has one.
    pub(crate) fn find(self, name: &CStr) -> Option<jclass> {
        // SAFETY: as above.
        let class = unsafe { ((**self.0).FindClass)(self.0, name.as_ptr()) };
        self.check("FindClass").ok()?;
        (!class.is_null()).then_some(class)
    }

    /// Defines a class for the bootstrap loader.
    pub(crate) fn define(self, name: &CStr, bytes: &[u8]) -> Result<jclass, Failure> {
        let len = jint::try_from(bytes.len()).map_err(|error| error.to_string())?;
        // SAFETY: as above; the bytes live through the call.
        let class =
            unsafe { ((**self.0).DefineClass)(self.0, name.as_ptr(), ptr::null_mut(), bytes.as_ptr().cast(), len) };
        self.check("DefineClass")?;
        if class.is_null() { Err(format!("{} was not defined", name.to_string_lossy())) } else { Ok(class) }
    }

    /// A static method; initialises the class.
    pub(crate) fn static_method(self, class: jclass, name: &CStr, descriptor: &CStr) -> Result<jmethodID, Failure> {
        // SAFETY: as above.
        let id = unsafe { ((**self.0).GetStaticMethodID)(self.0, class, name.as_ptr(), descriptor.as_ptr()) };
        self.check("GetStaticMethodID")?;
        if id.is_null() { Err(format!("no method {}", name.to_string_lossy())) } else { Ok(id) }
    }

    /// Calls a static method that takes an `int` or a truth value, and gives nothing.
    pub(crate) fn call(self, class: jclass, method: jmethodID, argument: jint) -> Result<(), Failure> {
        self.call_all(class, method, &[argument])
    }

    /// The same of a method that takes several.
    pub(crate) fn call_all(self, class: jclass, method: jmethodID, arguments: &[jint]) -> Result<(), Failure> {
        let arguments: Vec<_> = arguments.iter().map(|i| jvalue { i: *i }).collect();
        self.call_with(class, method, &arguments)
    }

    /// The same of a method that takes a `long`.
    pub(crate) fn call_long(self, class: jclass, method: jmethodID, argument: jlong) -> Result<(), Failure> {
        self.call_with(class, method, &[jvalue { j: argument }])
    }

    fn call_with(self, class: jclass, method: jmethodID, arguments: &[jvalue]) -> Result<(), Failure> {
        // SAFETY: as above; the callers know the method's descriptor.
        unsafe { ((**self.0).CallStaticVoidMethodA)(self.0, class, method, arguments.as_ptr()) };
        self.check("a method")
    }

    /// A field of type `long`.
    pub(crate) fn long_field(self, class: jclass, name: &CStr) -> Result<jfieldID, Failure> {
        // SAFETY: as above.
        let id = unsafe { ((**self.0).GetFieldID)(self.0, class, name.as_ptr(), c"J".as_ptr()) };
        self.check("GetFieldID")?;
        Ok(id)
    }

    /// Its value.
    pub(crate) fn long(self, object: jobject, field: jfieldID) -> jlong {
        // SAFETY: as above.
        unsafe { ((**self.0).GetLongField)(self.0, object, field) }
    }

    /// A static field of type `long`.
    pub(crate) fn static_long_field(self, class: jclass, name: &CStr) -> Result<jfieldID, Failure> {
        // SAFETY: as above.
        let id = unsafe { ((**self.0).GetStaticFieldID)(self.0, class, name.as_ptr(), c"J".as_ptr()) };
        self.check("GetStaticFieldID")?;
        Ok(id)
    }

    /// Its value.
    pub(crate) fn static_long(self, class: jclass, field: jfieldID) -> jlong {
        // SAFETY: as above.
        unsafe { ((**self.0).GetStaticLongField)(self.0, class, field) }
    }

    /// Sets it.
    pub(crate) fn set_static_long(self, class: jclass, field: jfieldID, value: jlong) {
        // SAFETY: as above.
        unsafe { ((**self.0).SetStaticLongField)(self.0, class, field, value) };
    }

    /// A reference that other threads may use.
    pub(crate) fn global(self, object: jobject) -> jobject {
        // SAFETY: as above.
        unsafe { ((**self.0).NewGlobalRef)(self.0, object) }
    }

    /// Gives a local reference back.
    pub(crate) fn forget(self, object: jobject) {
        // SAFETY: as above.
        unsafe { ((**self.0).DeleteLocalRef)(self.0, object) };
    }

    /// Whether objects of one class are objects of another one.
    pub(crate) fn is_below(self, class: jclass, above: jclass) -> bool {
        // SAFETY: as above.
        unsafe { ((**self.0).IsAssignableFrom)(self.0, class, above) != 0 }
    }

    /// The text of a `String`.
    pub(crate) fn text(self, string: jobject) -> String {
        if string.is_null() {
            return String::new();
        }
        // SAFETY: as above; the text is given back.
        unsafe {
            let text = ((**self.0).GetStringUTFChars)(self.0, string, ptr::null_mut());
            if text.is_null() {
                return String::new();
            }
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            ((**self.0).ReleaseStringUTFChars)(self.0, string, text);
            owned
        }
    }
}

/// An environment of JVMTI.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti(pub(crate) *mut jvmtiEnv);

// SAFETY: environments of JVMTI may be used by any thread.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

macro_rules! ask {
    ($env:expr, $function:ident $(, $argument:expr)*) => {{
        match (**$env.0.cast::<*const jvmtiInterface_1_>()).$function {
            Some(function) => {
                let code = function($env.0 $(, $argument)*).raw();
                if code == 0 { Ok(()) } else { Err(format!(concat!(stringify!($function), " says {}"), code)) }
            }
            None => Err(concat!("no ", stringify!($function)).to_owned()),
        }
    }};
}

mod arrays;
mod code;
mod heap;
mod modifiable;
mod roots;
mod stacks;

pub(crate) use self::{arrays::ArrayLayout, code::Code, stacks::Look};

impl Jvmti {
    /// Asks for capabilities.
    pub(crate) fn add(self, capabilities: &jvmtiCapabilities) -> Result<(), Failure> {
        // SAFETY: JVMTI's own table.
        unsafe { ask!(self, AddCapabilities, ptr::from_ref(capabilities)) }
    }

    /// Sets the functions that are called.
    pub(crate) fn set_callbacks(self, callbacks: &jvmtiEventCallbacks) -> Result<(), Failure> {
        let size = jvmti_bindings::sys::jvmti::event_callbacks_size_for_feature(8);
        // SAFETY: as above; releases from 8 on know at least so many, and no later event is asked for.
        unsafe { ask!(self, SetEventCallbacks, ptr::from_ref(callbacks), size) }
    }

    /// Switches an event on or off, for all threads.
    pub(crate) fn notify(self, event: u32, is_on: bool) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { ask!(self, SetEventNotificationMode, u32::from(is_on), event, ptr::null_mut()) }
    }

    /// All loaded classes, as local references.
    pub(crate) fn loaded(self) -> Result<Vec<jclass>, Failure> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: as above; the list is copied and given back.
        unsafe {
            ask!(self, GetLoadedClasses, &raw mut count, &raw mut classes)?;
            Ok(self.list(classes, count))
        }
    }

    /// Name of a class as Java writes it; `None` for arrays.
    pub(crate) fn name(self, class: jclass) -> Option<String> {
        let mut signature: *mut c_char = ptr::null_mut();
        // SAFETY: as above.
        unsafe {
            ask!(self, GetClassSignature, class, &raw mut signature, ptr::null_mut()).ok()?;
            let text = CStr::from_ptr(signature).to_string_lossy().into_owned();
            self.give_back(signature.cast());
            java_name(text.strip_prefix('L')?.strip_suffix(';')?)
        }
    }

    /// Names and descriptors of a class's own methods.
    pub(crate) fn methods(self, class: jclass) -> Result<Vec<(String, String)>, Failure> {
        Ok(self.method_ids(class)?.into_iter().filter_map(|method| self.method_name(method)).collect())
    }

    /// A class's own methods, in its present version.
    fn method_ids(self, class: jclass) -> Result<Vec<jmethodID>, Failure> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: as above.
        unsafe {
            ask!(self, GetClassMethods, class, &raw mut count, &raw mut methods)?;
            Ok(self.list(methods, count))
        }
    }

    /// The JVM's release, as 17; 1 of JDK 8, which gives the version of JVMTI.
    pub(crate) fn release(self) -> Result<u32, Failure> {
        let mut version: jint = 0;
        // SAFETY: as above.
        unsafe { ask!(self, GetVersionNumber, &raw mut version) }.map(|()| version.cast_unsigned() >> 16 & 0xfff)
    }

    /// Name and descriptor of a method.
    fn method_name(self, method: jmethodID) -> Option<(String, String)> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as above; the texts are copied and given back.
        unsafe {
            ask!(self, GetMethodName, method, &raw mut name, &raw mut descriptor, ptr::null_mut()).ok()?;
            let text = |text: *mut c_char| CStr::from_ptr(text).to_string_lossy().into_owned();
            let named = (text(name), text(descriptor));
            self.give_back(name.cast());
            self.give_back(descriptor.cast());
            Some(named)
        }
    }

    /// The identity hash of an object; 0 for none.
    pub(crate) fn hash(self, object: jobject) -> jint {
        let mut hash = 0;
        if !object.is_null() {
            // SAFETY: as above. Where it says nothing, 0 does.
            let _ = unsafe { ask!(self, GetObjectHashCode, object, &raw mut hash) };
        }
        hash
    }

    /// The hash of a class's loader, 0 for the JVM's own.
    pub(crate) fn hash_of_loader(self, class: jclass) -> jint {
        let mut loader: jobject = ptr::null_mut();
        // SAFETY: as above. Where it says nothing, it is as if it were the JVM's own.
        let _ = unsafe { ask!(self, GetClassLoader, class, &raw mut loader) };
        self.hash(loader)
    }

    /// Exchanges classes: each is offered to all that want to change it.
    pub(crate) fn retransform(self, classes: &[jclass]) -> Result<(), Failure> {
        let count = jint::try_from(classes.len()).map_err(|error| error.to_string())?;
        // SAFETY: as above.
        unsafe { ask!(self, RetransformClasses, count, classes.as_ptr()) }
    }

    /// Memory that belongs to the JVM, with these bytes.
    pub(crate) fn allocate(self, bytes: &[u8]) -> Result<*mut u8, Failure> {
        let mut memory = ptr::null_mut();
        // SAFETY: as above; there is room for all of them.
        unsafe {
            ask!(self, Allocate, jlong::try_from(bytes.len()).unwrap_or(jlong::MAX), &raw mut memory)?;
            ptr::copy_nonoverlapping(bytes.as_ptr(), memory.cast(), bytes.len());
        }
        Ok(memory.cast())
    }

    /// A list of JVMTI, which is given back.
    unsafe fn list<T: Copy>(self, list: *mut T, count: jint) -> Vec<T> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: JVMTI passes so many.
        let owned = unsafe { slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) }.to_vec();
        self.give_back(list.cast());
        owned
    }

    fn give_back(self, memory: *mut u8) {
        // SAFETY: as above.
        let _ = unsafe { ask!(self, Deallocate, memory) };
    }

    /// Gives the environment back; nothing is called any more.
    pub(crate) fn dispose(self) {
        // SAFETY: as above.
        let _ = unsafe { ask!(self, DisposeEnvironment) };
    }
}

/// Where a method lies; 0 where it is gone.
///
/// # Safety
///
/// The JVM has given it, and does not number methods ([`tracer_weave::control::NUMBERED_METHODS`]): then it is the address of where the
/// method's lies, which is never freed, also where the class is unloaded (`Method::clear_jmethod_ids`).
pub(crate) unsafe fn address_of(method: jmethodID) -> u64 {
    // SAFETY: as the caller says.
    unsafe { method.cast::<u64>().read_unaligned() }
}

/// A class's name as Java writes it.
pub(crate) fn java_name(internal: &str) -> Option<String> {
    (!internal.starts_with('[')).then(|| internal.replace('/', "."))
}
