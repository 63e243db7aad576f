//! The library that jtrace loads into a JVM: weaves calls into code that was named, and hands over what they tell.
//!
//! `Agent_OnAttach` starts a session (`startup` does where the JVM starts with the library): a thread of its own (`session`) talks to
//! jtrace over a pair of sockets, of which jtrace takes one end out of this process; `earlier` finds the copy that was here before; any thread may tell something there (`telling`).
//! `weaving` says which classes are woven with what, `exchange` exchanges them, `compiled` decides
//! what becomes of compiled code then, `recorder` defines the Java classes that woven code calls,
//! `memory` is what they share with this library, `site` is where eBPF programs look. `heap` walks through the heap, in a copy of the JVM. When the connection ends, however that
//! comes about, everything is switched off and every class gets its old bytes back.
//!
//! Nothing here may take the JVM down: entry points catch panics, and what fails is told and left as it was.
#![expect(unsafe_code, reason = "JNI and JVMTI are C")]

// A test is a program of this machine, with its libc.
#[cfg(not(test))]
mod any_libc;
mod compiled;
mod earlier;
mod exchange;
mod heap;
mod jvm;
mod mapped;
mod memory;
mod recorder;
mod session;
mod site;
mod startup;
mod telling;
mod weaving;

use std::ffi::{CStr, c_char, c_void};

use jvmti_bindings::sys::jni::{JavaVM, jint};

use crate::jvm::Vm;

/// Whether a jtrace is here: 1, else 0.
#[unsafe(no_mangle)]
static JTRACE_ACTIVE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(0);

const OK: jint = 0;
const FAILED: jint = 1;

/// Where jtrace finds its end of the connection.
#[unsafe(no_mangle)]
static JTRACE_PEER: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);

/// A running JVM has loaded the library.
#[unsafe(no_mangle)]
extern "system" fn Agent_OnAttach(vm: *mut JavaVM, _options: *const c_char, _reserved: *mut c_void) -> jint {
    // SAFETY: the JVM passes itself.
    let begun = std::panic::catch_unwind(|| unsafe { Vm::new(vm) }.and_then(|vm| session::begin(vm, false)));
    match begun {
        Ok(Ok(())) => {
            earlier::is_agent();
            OK
        }
        Ok(Err(_)) | Err(_) => FAILED,
    }
}

/// A JVM that starts has loaded the library. It starts all the same where that does not work: jtrace says so then.
#[unsafe(no_mangle)]
extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *const c_char, _reserved: *mut c_void) -> jint {
    let _ = std::panic::catch_unwind(|| {
        if options.is_null() {
            return Err("nobody has asked for it".to_owned());
        }
        // SAFETY: the JVM passes a C string.
        startup::begin(vm, &unsafe { CStr::from_ptr(options) }.to_string_lossy())
    });
    earlier::is_agent();
    OK
}
