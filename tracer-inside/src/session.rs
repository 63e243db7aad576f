//! One visit of jtrace: from the connection to the moment when everything is as it was.
#![expect(unsafe_code, reason = "callbacks of JVMTI")]

mod orders;

use std::{
    collections::VecDeque,
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use jvmti_bindings::sys::{
    jni::{JNIEnv, JavaVM, jint, jobject},
    jvmti::{jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks},
};
use rustix::{
    event::PollFlags,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
};
use tracer_weave::control::{self, Order, Told, VERSION};

use crate::{
    JTRACE_ACTIVE, JTRACE_PEER,
    compiled::Held,
    earlier,
    exchange::TakingOut,
    heap::Heap,
    jvm::{Failure, Jni, Jvmti, Vm},
    memory::Counters,
    recorder::{MARKS, Recorder, memory},
    startup,
    telling::{self, is_ready, send, tell},
    weaving::{self, Weaving},
};

/// How often buffers of idle threads are handed over.
const TICK: Duration = Duration::from_millis(20);
/// How long orders are waited for while classes are being exchanged.
const STEP: Duration = Duration::from_millis(1);
/// How often counters are told, and the dead are looked for.
const SLOW_TICK: Duration = Duration::from_millis(100);
/// How long jtrace may take to say its first word, in a JVM that runs and in one that starts: there it looks into it first.
const PATIENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(20)];
/// Longest that a message may take.
const MESSAGE_LIMIT: Duration = Duration::from_secs(10);
/// Events of JVMTI, by their numbers in its specification.
const VM_DEATH: u32 = 51;
const THREAD_END: u32 = 53;
const CLASS_FILE_LOAD_HOOK: u32 = 54;
const CLASS_PREPARE: u32 = 56;
const EVENTS: [u32; 4] = [VM_DEATH, THREAD_END, CLASS_FILE_LOAD_HOOK, CLASS_PREPARE];

/// The recorder, once it is defined: it stays.
static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);
/// An environment of JVMTI that asks for nothing and is never disposed of. A thread that ends gives back what JVMTI keeps of it only where
/// there is an environment (`JavaThread::exit`, `environments_might_exist`). Where the last one has gone, what is kept of a thread stays in
/// the JVM's list after the thread, and the next environment that asks for events ends the JVM: jtrace's, or anybody's.
static KEPT: OnceLock<Jvmti> = OnceLock::new();
/// What is woven.
static WEAVING: Mutex<Option<Arc<Weaving>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was asked for holds now.
fn switched() -> Told {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Told::Switched { time_ns: seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0) }
}

/// Begins a session. Where another copy of this library was here before, that one does: it has defined the recorder, or will.
pub(crate) fn begin(vm: Vm, is_start: bool) -> Result<(), Failure> {
    let refuses = || "the library that is there refuses".to_owned();
    if let Some(again) = earlier::first() {
        return if again(vm.raw()) == 0 { Ok(()) } else { Err(refuses()) };
    }
    let jni = vm.jni()?;
    if lock(&RECORDER).is_none()
        && let Some(marks) = jni.find(MARKS)
    {
        let library = jni.static_long_field(marks, c"library")?;
        let again =
            std::ptr::with_exposed_provenance::<()>(usize::try_from(jni.static_long(marks, library)).unwrap_or(0));
        if again.is_null() {
            return Err("the recorder belongs to nobody".to_owned());
        }
        // SAFETY: the library that has defined the class has written the address of this very function there.
        let again: earlier::Again = unsafe { std::mem::transmute(again) };
        return if again(vm.raw()) == 0 { Ok(()) } else { Err(refuses()) };
    }
    start(vm, is_start)
}

/// Begins a session for a copy of this library that came later.
pub(crate) extern "system" fn again(vm: *mut JavaVM) -> jint {
    // SAFETY: the other copy passes the JVM.
    let begun = std::panic::catch_unwind(|| unsafe { Vm::new(vm) }.and_then(|vm| start(vm, false)));
    jint::from(!matches!(begun, Ok(Ok(()))))
}

fn start(vm: Vm, is_start: bool) -> Result<(), Failure> {
    if JTRACE_ACTIVE.swap(1, Ordering::AcqRel) != 0 {
        return Err("another jtrace is in this JVM".to_owned());
    }
    let started = connect().and_then(|(ours, theirs)| {
        JTRACE_PEER.store(theirs.as_raw_fd(), Ordering::Release);
        let run = move || {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Session::run(vm, ours, theirs, PATIENCE[usize::from(is_start)]);
            }));
            startup::release();
            JTRACE_PEER.store(-1, Ordering::Release);
            JTRACE_ACTIVE.store(0, Ordering::Release);
        };
        thread::Builder::new().name("jtrace".to_owned()).spawn(run).map(drop).map_err(|error| error.to_string())
    });
    if started.is_err() {
        JTRACE_ACTIVE.store(0, Ordering::Release);
    }
    started
}

fn connect() -> Result<(UnixStream, OwnedFd), Failure> {
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let (ours, theirs) = pair.map_err(|error| error.to_string())?;
    let ours = UnixStream::from(ours);
    ours.set_read_timeout(Some(MESSAGE_LIMIT)).map_err(|error| error.to_string())?;
    ours.set_write_timeout(Some(MESSAGE_LIMIT)).map_err(|error| error.to_string())?;
    Ok((ours, theirs))
}

/// Whether an order needs what woven code calls: classes that no JVM can unload again.
fn needs_recorder(order: &Order) -> bool {
    match order {
        Order::Switch(markers) => !markers.is_empty(),
        Order::Channel | Order::Walk { .. } | Order::EndWalk | Order::Leave => false,
        _ => true,
    }
}

struct Session {
    vm: Vm,
    jvmti: Jvmti,
    jni: Jni,
    /// What woven code calls; nothing before the first order in this JVM.
    recorder: Option<Recorder>,
    stream: UnixStream,
    /// jtrace's end, until it has taken it.
    theirs: Option<OwnedFd>,
    weaving: Option<Arc<Weaving>>,
    properties: Vec<u8>,
    /// What becomes of compiled code, until all is restored.
    compiled: Option<Held>,
    /// Markers that are being taken out, in the order in which that was asked for.
    going: VecDeque<TakingOut>,
    heap: Heap,
}

impl Session {
    fn run(vm: Vm, stream: UnixStream, theirs: OwnedFd, patience: Duration) {
        let Ok(jni) = vm.attach(c"jtrace") else { return };
        let recorder = *lock(&RECORDER);
        if let Ok(jvmti) = vm.jvmti() {
            telling::open(&stream);
            let mut session = Self {
                vm,
                jvmti,
                jni,
                recorder,
                stream,
                theirs: Some(theirs),
                weaving: None,
                properties: Vec::new(),
                compiled: None,
                going: VecDeque::new(),
                heap: Heap::default(),
            };
            let outcome = session.prepare().and_then(|()| session.serve(patience).map_err(|error| error.to_string()));
            if let Err(error) = outcome {
                tell(Told::Refused(error));
            }
            session.heap.end();
            session.leave();
            let _ = send(MESSAGE_LIMIT);
            telling::close();
            session.jvmti.dispose();
        }
        vm.detach();
    }

    fn prepare(&self) -> Result<(), Failure> {
        let mut capabilities = jvmtiCapabilities::default();
        capabilities.set_can_retransform_classes(true);
        capabilities.set_can_get_bytecodes(true);
        self.jvmti.add(&capabilities)?;
        let mut wider = jvmtiCapabilities::default();
        wider.set_can_retransform_any_class(true);
        // Not every JVM has it; without it some classes cannot be exchanged, and are named.
        let _ = self.jvmti.add(&wider);
        let mut callbacks = jvmtiEventCallbacks::default();
        callbacks.VMDeath = Some(vm_death);
        callbacks.ThreadEnd = Some(thread_end);
        callbacks.ClassFileLoadHook = Some(weaving::hook);
        callbacks.ClassPrepare = Some(weaving::prepared);
        self.jvmti.set_callbacks(&callbacks)
    }

    /// Follows orders until the connection ends.
    fn serve(&mut self, patience: Duration) -> io::Result<()> {
        let began = Instant::now();
        let mut slow = Instant::now();
        tell(Told::Ready { version: VERSION });
        loop {
            if self.theirs.is_none() {
                send(TICK)?;
            } else if began.elapsed() > patience || startup::is_left() {
                return Ok(());
            }
            let limit = if self.going.is_empty() { TICK } else { STEP };
            if is_ready(&self.stream, PollFlags::IN, limit)? {
                let order = match control::read(&mut self.stream) {
                    Ok(order) => order,
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                    Err(error) => return Err(error),
                };
                // It has its own copy now; with ours open we would not notice when it goes.
                self.theirs = None;
                JTRACE_PEER.store(-1, Ordering::Release);
                if order == Order::Leave {
                    return Ok(());
                }
                if needs_recorder(&order)
                    && let Err(error) = self.define()
                {
                    tell(Told::Refused(error));
                    return Ok(());
                }
                self.follow(order);
            }
            if let Some(told) = self.heap.look() {
                tell(told);
            }
            self.take_out();
            let is_slow = slow.elapsed() > SLOW_TICK;
            if is_slow {
                slow = Instant::now();
                if let Some(recorder) = self.recorder {
                    let _ = recorder.sweep_lightly(self.jni);
                }
            }
            self.hand_over(if is_slow { Counters::Some } else { Counters::None });
        }
    }

    /// Defines what woven code calls, where that was not done in this JVM. jtrace asks for something only after the JVM has told it
    /// that the library is loaded.
    fn define(&mut self) -> Result<(), Failure> {
        if self.recorder.is_none() {
            if KEPT.get().is_none() {
                let _ = KEPT.set(self.vm.jvmti()?);
            }
            let recorder = Recorder::define(self.jni, self.jvmti)?;
            *lock(&RECORDER) = Some(recorder);
            self.recorder = Some(recorder);
        }
        Ok(())
    }

    fn recorder(&self) -> Result<Recorder, Failure> {
        self.recorder.ok_or_else(|| "there is no recorder".to_owned())
    }
}

unsafe extern "system" fn vm_death(_jvmti: *mut jvmtiEnv, jni: *mut JNIEnv) {
    let _ = std::panic::catch_unwind(|| {
        let recorder = (*lock(&RECORDER))?;
        let weaving = lock(&WEAVING).clone()?;
        recorder.sweep(Jni(jni), true).ok()?;
        let memory = memory()?;
        memory.switch_off(&weaving.places());
        memory.flush_last(&weaving.places());
        Some(())
    });
}

unsafe extern "system" fn thread_end(_jvmti: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    let _ = std::panic::catch_unwind(|| {
        let recorder = (*lock(&RECORDER))?;
        let weaving = lock(&WEAVING).clone()?;
        let tid = recorder.thread_id(Jni(jni), thread);
        // Where that fails, its buffer stays.
        recorder.ended(Jni(jni), tid).ok()?;
        memory()?.end_thread(tid, &weaving.places());
        Some(())
    });
}
