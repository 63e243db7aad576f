//! What a session is to be, as plain values: neither words of a command line nor anything of a JVM.

use std::time::Instant;

use super::Weaving;
use crate::{
    ebpf::load::KernelOptions,
    guard::Budget,
    jvm::{arming::ArmMode, find::Jvm},
    lens::Lens,
    live::unwinding::Unwinding,
    predicate::Predicate,
};

/// Where calls, and objects, are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// Outside; where a part of the calls is not seen there, the first line names the command that sees it.
    #[default]
    Auto,
    /// By traps of the kernel; nothing is loaded into the JVM.
    Outside,
    /// By code that a library weaves into the methods, and takes out when jtrace ends.
    Inside,
}

/// A session that is about to begin.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct SessionConfig {
    /// What is looked at.
    pub lenses: Vec<Lens>,
    /// What the kernel side shall be like.
    pub kernel: KernelOptions,
    /// What the target may lose to traps.
    pub budget: Budget,
    /// When jtrace began.
    pub began: Instant,
    /// Whether events get stacks.
    pub stacks: bool,
    /// Whether peers, files and arguments are left out.
    pub redacted: bool,
    /// Whether every object is wanted, and not only samples.
    pub exact: bool,
    /// Whether events are wanted one by one, where the kernel could count.
    pub one_by_one: bool,
    /// Whether calls are followed to their end.
    pub timed: bool,
    /// Whether calls are counted by thread as well.
    pub by_thread: bool,
    /// Where calls are counted.
    pub lane: Lane,
    /// How far the JVM may be changed so that methods or objects are seen.
    pub arm: ArmMode,
    /// Which methods or objects are wanted.
    pub predicate: Predicate,
    /// What was included, as it was written.
    pub included: Vec<String>,
    /// Markers and properties; absent where none are asked for.
    pub weaving: Option<Weaving>,
}

impl SessionConfig {
    /// The lenses that need sites of their own.
    pub(super) fn seen_from_outside(&self) -> Vec<Lens> {
        let are_inside = [Lens::Methods, Lens::Calls, Lens::Exceptions];
        let is_inside = |lens: Lens| self.lane == Lane::Inside && are_inside.contains(&lens);
        self.lenses.iter().copied().filter(|lens| !is_inside(*lens)).collect()
    }

    /// What is known about the code of a JVM, where stacks are wanted.
    pub(super) fn unwinding(&self, jvm: &Jvm) -> Option<Unwinding> {
        let opened = self.stacks.then(|| Unwinding::open(jvm))?;
        opened.map_err(|error| log::warn!("events have no stacks: {error}")).ok()
    }
}
