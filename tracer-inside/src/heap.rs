//! A walk through the heap: JVMTI's `FollowReferences`, in a copy of the JVM that is made at the first reference.
//!
//! The first callback comes at a safepoint, before anything was marked. There the process is copied (`copy`): the JVM gives up at once and
//! goes on, and the copy, in which nothing but this thread lives, walks to the end, tells what it sees (`told`, by `reference`) through a
//! connection of its own and is gone. `classes` says beforehand what classes, fields and threads are called, and `contents` looks at what
//! arrays hold. `imports` finds where the JVM's library calls the C library, so that the copy waits for no lock of a thread that it does not
//! have.

mod arena;
mod classes;
mod contents;
mod copy;
mod imports;
mod reference;
mod seen;
mod told;
mod values;

use std::{
    io::Write as _,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    ptr,
    time::{Duration, Instant},
};

use jvmti_bindings::sys::jvmti::{jvmtiCapabilities, jvmtiHeapCallbacks};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tracer_weave::control::{Told, Walk as WalkTold};

use crate::jvm::{ArrayLayout, Failure, Jni, Jvmti, Vm};

use self::{contents::Contents, copy::Child, reference::Walk};

/// How long the copy, or the JVM where it walks itself, waits for a jtrace that reads nothing.
const ROOM_LIMIT: Duration = Duration::from_secs(5);

/// What jtrace asks of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) in_jvm: bool,
    pub(crate) by_tags: bool,
    pub(crate) has_methods: bool,
    /// Of how many arrays is told what they hold.
    pub(crate) values: usize,
    pub(crate) limit: Duration,
    pub(crate) limit_bytes: u64,
}

/// The second connection, and the copy while there is one.
#[derive(Default)]
pub(crate) struct Heap {
    ours: Option<UnixStream>,
    /// jtrace's end, until it has taken it.
    theirs: Option<OwnedFd>,
    child: Option<Child>,
}

impl Heap {
    /// Makes the second connection.
    pub(crate) fn channel(&mut self) -> Result<Told, Failure> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.map_err(|error| error.to_string())?;
        let ours = UnixStream::from(ours);
        ours.set_write_timeout(Some(ROOM_LIMIT)).map_err(|error| error.to_string())?;
        let told = Told::Channel(theirs.as_raw_fd());
        (self.ours, self.theirs) = (Some(ours), Some(theirs));
        Ok(told)
    }

    /// Tells of classes and begins the walk; where the JVM walks itself, it is over when this returns.
    pub(crate) fn walk(&mut self, vm: Vm, jvmti: Jvmti, jni: Jni, asked: Asked) -> Result<Told, Failure> {
        // jtrace has its own copy now; with ours open nobody would notice when it goes.
        self.theirs = None;
        let mut ours = self.ours.take().ok_or_else(|| "nobody has asked for a connection".to_owned())?;
        if self.child.is_some() {
            return Err("a walk is under way".to_owned());
        }
        let began = Instant::now();
        let mut capabilities = jvmtiCapabilities::default();
        capabilities.set_can_tag_objects(true);
        jvmti.add(&capabilities)?;
        let loaded = classes::describe(jvmti, jni)?;
        ours.write_all(&loaded.records).map_err(|error| format!("jtrace does not read: {error}"))?;
        let classes_ns = nanoseconds(began.elapsed());
        let slots = if asked.in_jvm { imports::Slots::default() } else { imports::find(vm)? };
        // The JVM would stand still for it, and objects that are known by tags do not lie where these say.
        let contents = if asked.in_jvm || asked.by_tags {
            None
        } else {
            // Where nobody knows how arrays lie there, all else is known.
            ArrayLayout::measure(jni, jvmti).ok().map(|layout| Contents::new(layout, loaded.held))
        };
        let mut walk = Walk::new(asked, ours.as_raw_fd(), loaded.class_of_classes, &slots, contents)?;
        let callbacks =
            jvmtiHeapCallbacks { heap_reference_callback: Some(reference::reference), ..Default::default() };
        let asked_at = Instant::now();
        let followed = jvmti.follow(&callbacks, ptr::from_mut(&mut *walk).cast());
        let pause_ns = nanoseconds(asked_at.elapsed());
        if asked.in_jvm {
            walk.end_in_jvm();
        }
        let (reach_ns, copy_ns) = walk.times(asked_at);
        followed?;
        if let Some(error) = walk.failure() {
            return Err(error);
        }
        self.child = walk.take_child();
        let process = self.child.as_ref().map_or(0, Child::pid);
        Ok(Told::Walks(WalkTold { process, classes: loaded.classes, classes_ns, reach_ns, copy_ns, pause_ns }))
    }

    /// Says when the copy is gone.
    pub(crate) fn look(&mut self) -> Option<Told> {
        let status = self.child.as_mut()?.ended()?;
        self.child = None;
        Some(Told::Walked { status })
    }

    /// Ends the copy, and waits until nothing of it is left.
    pub(crate) fn end(&mut self) {
        (self.ours, self.theirs) = (None, None);
        if let Some(child) = self.child.take() {
            child.kill();
        }
    }

    /// Ends the copy; [`Self::look`] says when it is gone.
    pub(crate) fn hurry(&self) {
        if let Some(child) = &self.child {
            child.signal();
        }
    }
}

fn nanoseconds(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}
