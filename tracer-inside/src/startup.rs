//! A JVM that starts with the library: jtrace weaves before the program's first class is loaded.
//!
//! Nothing is done before the JVM is up: JDK 17 does not bear classes of `java.base` that call others then. The thread that
//! would go on to `main` waits until jtrace has switched the markers on, has gone, or does not come.
#![expect(unsafe_code, reason = "a callback of JVMTI")]

use std::{
    sync::{
        Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicI32, Ordering},
    },
    time::Duration,
};

use jvmti_bindings::sys::{
    jni::{JNIEnv, JavaVM, jobject},
    jvmti::{jvmtiEnv, jvmtiEventCallbacks},
};

use rustix::process::{Pid, getppid};

use crate::{
    jvm::{Failure, Jvmti, Vm},
    session,
};

/// How long the program waits for a jtrace that has come; weaving thousands of classes takes seconds.
const PATIENCE: Duration = Duration::from_mins(2);
/// An event of JVMTI, by its number in its specification.
const VM_INIT: u32 = 50;

/// The JVM that starts.
static STARTS: OnceLock<Vm> = OnceLock::new();
/// Whether the program may go on.
static GOES_ON: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Process id of the jtrace that has started the JVM.
static JTRACE: AtomicI32 = AtomicI32::new(0);

/// Whether the jtrace that has started the JVM is gone, so that another process is the parent.
pub(crate) fn is_left() -> bool {
    let jtrace = JTRACE.load(Ordering::Relaxed);
    jtrace != 0 && getppid().map(Pid::as_raw_pid) != Some(jtrace)
}

/// Asks to be called when the JVM is up. The options are jtrace's process id, a comma, and the path of the library's file: it has served.
pub(crate) fn begin(vm: *mut JavaVM, options: &str) -> Result<(), Failure> {
    if let Some((jtrace, file)) = options.split_once(',') {
        JTRACE.store(jtrace.parse().unwrap_or(0), Ordering::Relaxed);
        let _ = std::fs::remove_file(file);
    }
    // SAFETY: the JVM passes itself.
    let vm = unsafe { Vm::new(vm) }?;
    let jvmti = vm.jvmti()?;
    let _ = STARTS.set(vm);
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(up);
    jvmti.set_callbacks(&callbacks)?;
    jvmti.notify(VM_INIT, true)
}

/// Lets the program go on, whether it waits or not.
pub(crate) fn release() {
    JTRACE.store(0, Ordering::Relaxed);
    *GOES_ON.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
    GOES_ON.1.notify_all();
}

unsafe extern "system" fn up(jvmti: *mut jvmtiEnv, _jni: *mut JNIEnv, _thread: jobject) {
    let _ = std::panic::catch_unwind(|| {
        let _ = Jvmti(jvmti).notify(VM_INIT, false);
        session::begin(*STARTS.get()?, true).ok()?;
        let waiting = GOES_ON.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(GOES_ON.1.wait_timeout_while(waiting, PATIENCE, |goes_on| !*goes_on));
        Some(())
    });
}
