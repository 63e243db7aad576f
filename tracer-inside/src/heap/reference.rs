//! What the JVM calls for each reference, and the walk that it belongs to.
//!
//! JVMTI names no object. It passes the address of an object's tag, and HotSpot keeps the object's own address and size right before
//! that tag, and that of the object that refers before its tag (`CallbackWrapper` and `TwoOopCallbackWrapper` of `jvmtiTagMap.cpp`, alike
//! in JDK 11 to 25). So objects are known by their addresses: a tag for each would cost the copy some 60 bytes an object, and from JDK 21
//! on write a hash into each. Each reference shows whether that still holds: the size must be the one that was passed, and the object
//! that refers must be one that was told of. Where it does not hold the walk ends, and jtrace asks for one by tags.
#![expect(unsafe_code, reason = "a callback of JVMTI")]

mod tell;

use std::{
    ffi::c_void,
    os::fd::RawFd,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
    time::Instant,
};

use jvmti_bindings::sys::{
    jni::{jint, jlong},
    jvmti::jvmtiHeapReferenceInfo,
};
use rustix::time::{ClockId, clock_gettime};
use tracer_weave::walk::{self, End, ended};

use super::{
    Asked,
    arena::Arena,
    contents::Contents,
    copy::{self, Child, Copied},
    imports::Slots,
    seen::Seen,
    told::Out,
    values::Values,
};
use crate::jvm::Failure;

const VISIT: jint = 0x100;
const ABORT: jint = 0x8000;
/// Objects that are known by tags have numbers from here on; below are those of classes.
const FIRST_TAG: usize = 1 << 32;
/// Memory of the walk where the JVM walks itself: bits, and their places.
const IN_JVM_BYTES: usize = 1 << 30;

/// The walk of this process: the copy has one, and the JVM while it walks.
pub(super) static WALK: AtomicPtr<Walk> = AtomicPtr::new(ptr::null_mut());

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was called back yet.
    Before,
    /// The JVM walks here.
    Walking,
    /// The JVM has been copied, or could not be.
    Over,
}

/// A walk.
pub(super) struct Walk {
    asked: Asked,
    out: Out,
    pub(super) arena: Box<Arena>,
    pub(super) slots: Slots,
    seen: Seen,
    contents: Option<Contents>,
    values: Option<Values>,
    class_of_classes: jlong,
    state: State,
    child: Option<Child>,
    failure: Option<String>,
    began: Instant,
    called: Option<Instant>,
    copied: Option<Instant>,
    end: End,
    ended: bool,
    next_tag: usize,
    /// Addresses that differences are told from, in units of 8 bytes.
    last_object: usize,
    last_from: usize,
    last_root: usize,
}

/// Where a reference leads from and to.
struct Ends {
    to: usize,
    from: Option<usize>,
}

impl Walk {
    pub(super) fn new(
        asked: Asked,
        socket: RawFd,
        class_of_classes: jlong,
        slots: &Slots,
        contents: Option<Contents>,
    ) -> Result<Box<Self>, Failure> {
        let limit = if asked.in_jvm { IN_JVM_BYTES } else { usize::try_from(asked.limit_bytes).unwrap_or(usize::MAX) };
        let mut arena = Box::new(Arena::new(limit));
        let no_memory = || "there is no memory for a walk".to_owned();
        let seen = Seen::new(&mut arena).ok_or_else(no_memory)?;
        let wants_values = asked.values > 0 && contents.is_some();
        let values = if wants_values { Some(Values::new(&mut arena).ok_or_else(no_memory)?) } else { None };
        Ok(Box::new(Self {
            asked,
            out: Out::new(socket),
            arena,
            slots: *slots,
            seen,
            contents,
            values,
            class_of_classes,
            state: State::Before,
            child: None,
            failure: None,
            began: Instant::now(),
            called: None,
            copied: None,
            end: End::default(),
            ended: false,
            next_tag: FIRST_TAG,
            last_object: 0,
            last_from: 0,
            last_root: 0,
        }))
    }

    pub(super) fn take_child(&mut self) -> Option<Child> {
        self.child.take()
    }

    pub(super) fn failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// From when the JVM was asked until it called back, and what the copy took, in nanoseconds.
    pub(super) fn times(&self, asked_at: Instant) -> (u64, u64) {
        let called = self.called.unwrap_or(asked_at);
        let copy = self.copied.map_or(0, |copied| super::nanoseconds(copied.duration_since(called)));
        (super::nanoseconds(called.duration_since(asked_at)), copy)
    }

    /// The first reference: the JVM is copied. Says whether this process is to walk on.
    fn begin(&mut self) -> bool {
        self.called = Some(Instant::now());
        if self.asked.in_jvm {
            WALK.store(ptr::from_mut(self), Ordering::Release);
            self.state = State::Walking;
            return true;
        }
        self.state = State::Over;
        match copy::copy(self.out.socket()) {
            Copied::Jvm(child) => {
                self.copied = Some(Instant::now());
                self.child = Some(child);
                false
            }
            Copied::Failed(error) => {
                self.failure = Some(format!("the JVM could not be copied: {error}"));
                false
            }
            Copied::Copy { is_safe } => {
                WALK.store(ptr::from_mut(self), Ordering::Release);
                copy::replace(&self.slots);
                if !is_safe {
                    self.finish(ended::UNSAFE);
                }
                self.state = State::Walking;
                true
            }
        }
    }

    /// The walk is over; in a copy this does not return.
    pub(super) fn finish(&mut self, reason: u64) {
        if !self.ended {
            self.ended = true;
            self.end.reason = reason;
            self.end.allocated = self.arena.taken() as u64;
            self.end.took_ns = super::nanoseconds(self.began.elapsed());
            let time = clock_gettime(ClockId::ThreadCPUTime);
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            self.end.cpu_ns = seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0);
            if let Some(values) = &mut self.values {
                // SAFETY: this is the copy, in which nothing changes: only there contents are looked at.
                unsafe { values.tell(self.asked.values, &mut self.out) };
            }
            self.out.room();
            self.out.byte(walk::END);
            for word in self.end.words() {
                self.out.number(word);
            }
            self.out.flush();
        }
        if !self.asked.in_jvm {
            copy::leave();
        }
    }

    /// The JVM has walked itself.
    pub(super) fn end_in_jvm(&mut self) {
        if self.state == State::Walking {
            self.finish(ended::DONE);
        }
        WALK.store(ptr::null_mut(), Ordering::Release);
        self.arena.end();
    }

    /// Objects by their addresses, see above; `None` where they are not there.
    ///
    /// # Safety
    ///
    /// The JVM passes the tags.
    unsafe fn by_address(&mut self, size: jlong, tag: *mut jlong, from_tag: *mut jlong) -> Option<Ends> {
        // SAFETY: the tag lies within an object on the stack, with other words before it.
        let (to, told_size) = unsafe { (*tag.sub(2), *tag.sub(1)) };
        let to = usize::try_from(to).ok()?;
        if told_size != size || to == 0 || to & 7 != 0 || to >> 47 != 0 {
            return None;
        }
        if from_tag.is_null() {
            return Some(Ends { to, from: None });
        }
        // SAFETY: as above.
        let from = if from_tag == tag { to } else { usize::try_from(unsafe { *from_tag.sub(1) }).ok()? };
        // Within the references of one object it was looked up already.
        (from == self.last_from << 3 || self.seen.has(from)).then_some(Ends { to, from: Some(from) })
    }

    /// Objects by their tags.
    ///
    /// # Safety
    ///
    /// The JVM passes the tags.
    unsafe fn by_tag(&mut self, tag: *mut jlong, from_tag: *mut jlong) -> Option<Ends> {
        // SAFETY: as above.
        unsafe {
            if *tag == 0 {
                *tag = jlong::try_from(self.next_tag).ok()?;
                self.next_tag += 1;
            }
            let to = usize::try_from(*tag).ok()? << 3;
            let from = if from_tag.is_null() { None } else { Some(usize::try_from(*from_tag).ok()? << 3) };
            Some(Ends { to, from })
        }
    }

    fn is_late(&self) -> bool {
        self.began.elapsed() > self.asked.limit
    }

    fn stop(&mut self, reason: u64) -> bool {
        self.finish(reason);
        false
    }
}

/// What the JVM calls for each reference.
pub(super) unsafe extern "system" fn reference(
    kind: u32,
    info: *const jvmtiHeapReferenceInfo,
    class: jlong,
    from_class: jlong,
    size: jlong,
    tag: *mut jlong,
    from_tag: *mut jlong,
    length: jint,
    walk: *mut c_void,
) -> jint {
    // SAFETY: `Heap::walk` passes it, and waits.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    let goes_on = match walk.state {
        State::Before => walk.begin(),
        State::Walking => !walk.ended,
        State::Over => false,
    };
    // SAFETY: the JVM passes all of it.
    if goes_on && unsafe { walk.tell(kind, info, class, from_class, size, tag, from_tag, length) } {
        VISIT
    } else {
        ABORT
    }
}
