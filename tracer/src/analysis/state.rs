//! What a thread is for, by its name and frames, and what it was doing, by its innermost frames.

use crate::{
    event::StackId,
    stack::{Frame, Kind, Stacks},
};

/// What a thread was doing when a sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum State {
    /// It ran a Java method, or a stub that the JVM put into its place.
    Java,
    /// It ran the JVM's own code.
    Vm,
    /// It is a thread of the garbage collector.
    Gc,
    /// It is a thread of a compiler.
    Jit,
    /// It ran machine code of another file.
    Native,
    /// It was in the kernel.
    Kernel,
    /// There is no stack, or its innermost frame is not known.
    Unknown,
}

impl State {
    /// All, in the order of the report.
    pub(super) const ALL: [Self; 7] =
        [Self::Java, Self::Vm, Self::Gc, Self::Jit, Self::Native, Self::Kernel, Self::Unknown];

    /// Its key in a timeline.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Java => "java",
            Self::Vm => "vm",
            Self::Gc => "gc",
            Self::Jit => "jit",
            Self::Native => "native",
            Self::Kernel => "kernel",
            Self::Unknown => "unknown",
        }
    }

    /// What users call it.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Java => "Java",
            Self::Vm => "VM",
            Self::Gc => "GC",
            Self::Jit => "JIT",
            Self::Native => "native",
            Self::Kernel => "kernel",
            Self::Unknown => "<not known>",
        }
    }

    /// The state of a thread with these frames, innermost first. The kernel comes before what the thread is for, because a
    /// collector that waits for memory from the kernel is not collecting.
    pub(super) fn of<'a>(role: Role, mut frames: impl Iterator<Item = &'a Frame>) -> Self {
        // A stub stands for the Java method that called it, or leads into the JVM.
        let innermost = frames.find(|frame| frame.kind != Kind::Stub);
        match (innermost.map(|frame| frame.kind), role) {
            (Some(Kind::Kernel), _) => Self::Kernel,
            (_, Role::Gc) => Self::Gc,
            (_, Role::Jit) => Self::Jit,
            (Some(Kind::Interpreted | Kind::Compiled | Kind::Inlined), _) => Self::Java,
            (Some(Kind::Native), _) if innermost.is_some_and(is_vm) => Self::Vm,
            (Some(Kind::Native), _) => Self::Native,
            (Some(Kind::Unknown | Kind::Stub) | None, _) => Self::Unknown,
        }
    }
}

/// Whether a frame is the JVM's own machine code.
pub(super) fn is_vm(frame: &Frame) -> bool {
    frame.kind == Kind::Native && frame.module.as_deref().is_some_and(|module| module.ends_with("libjvm.so"))
}

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// It runs Java.
    Java,
    /// The JVM's own work.
    Vm,
    /// Garbage collection.
    Gc,
    /// Compilation.
    Jit,
    /// Nothing that the JVM knows of, as far as it was seen.
    Native,
}

/// Beginnings of the names of the JVM's threads. The kernel cuts names at 15 bytes, and newer JDKs shorten longer ones in
/// the middle (`C2 Comp..read0`), so no beginning is longer than what is left then.
const NAMES: &[(&str, Role)] = &[
    ("GC Thread#", Role::Gc),
    ("ParGC Thread", Role::Gc),
    ("G1 ", Role::Gc),
    ("ZWorker", Role::Gc),
    ("ZDirector", Role::Gc),
    ("ZDriver", Role::Gc),
    ("ZUncommitter", Role::Gc),
    ("ZUnmapper", Role::Gc),
    ("ZStat", Role::Gc),
    ("XWorker", Role::Gc),
    ("XDirector", Role::Gc),
    ("XDriver", Role::Gc),
    ("XUncommitter", Role::Gc),
    ("XUnmapper", Role::Gc),
    ("XStat", Role::Gc),
    ("RuntimeWorker#", Role::Gc),
    ("Shenand", Role::Gc),
    ("C1 Comp", Role::Jit),
    ("C2 Comp", Role::Jit),
    ("JVMCI Comp", Role::Jit),
    ("VM Thread", Role::Vm),
    ("VM Peri", Role::Vm),
];

impl Role {
    /// What users call it.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Java => "Java",
            Self::Vm => "VM",
            Self::Gc => "GC",
            Self::Jit => "JIT",
            Self::Native => "native",
        }
    }

    /// The role of a thread, by its name and whether it was ever seen to run Java. Programs name their threads as they
    /// like, so a Java frame outweighs any name.
    pub(super) fn of(name: &str, runs_java: bool) -> Self {
        let known = NAMES.iter().find(|(beginning, _)| name.starts_with(beginning));
        match (known, runs_java) {
            (_, true) => Self::Java,
            (Some((_, role)), false) => *role,
            (None, false) => Self::Native,
        }
    }
}

/// What a stack tells of its thread: a Java frame, or the function in which the JVM runs each Java thread.
pub(super) fn runs_java(stacks: &Stacks, id: StackId) -> bool {
    stacks.frames_of(id).any(|frame| frame.kind.is_java() || is_vm(frame) && frame.name.starts_with("JavaThread::run"))
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Play, *};

    fn state(name: &str, frames: &[&str]) -> State {
        let mut play = Play::default();
        let id = play.stack(frames);
        State::of(Role::of(name, false), play.stacks.frames_of(id))
    }

    #[test]
    fn the_innermost_frame_is_the_state() {
        for (frames, expected) in [
            (&["a.B.c:1", "interpreted a.B.d:2"][..], State::Java),
            (&["a.B.c:1", "stub jbyte_disjoint_arraycopy"], State::Java),
            (&["a.B.c:1", "stub _new_instance_Java", "libjvm.so OptoRuntime::new_instance_C"], State::Vm),
            (&["a.B.c:1", "libzip.so deflate"], State::Native),
            (&["a.B.c:1", "libc.so.6 read", "kernel vfs_read"], State::Kernel),
            (&["a.B.c:1", "unknown <no code blob>"], State::Unknown),
            (&["stub forward exception"], State::Unknown),
            (&[], State::Unknown),
        ] {
            assert_eq!(state("worker-1", frames), expected, "{frames:?}");
        }
    }

    #[test]
    fn collector_and_compilers_are_known_by_name() {
        assert_eq!(state("GC Thread#0", &["libjvm.so G1ParScanThreadState::trim"]), State::Gc);
        assert_eq!(state("C2 CompilerThre", &["libjvm.so PhaseIdealLoop::build"]), State::Jit);
        assert_eq!(state("GC Thread#0", &["libjvm.so os::commit_memory", "kernel do_mmap"]), State::Kernel);
        assert_eq!(state("VM Thread", &["libjvm.so VM_Operation::evaluate"]), State::Vm);
        assert_eq!(state("ZWorkerYoung#1", &[]), State::Gc, "the name is enough");
    }

    #[test]
    fn roles_survive_both_ways_to_cut_a_name() {
        for (name, expected) in [
            ("C1 CompilerThre", Role::Jit),
            ("C1 Comp..read0", Role::Jit),
            ("C2 CompilerThread0", Role::Jit),
            ("G1 Main Marker", Role::Gc),
            ("Shenandoah GC T", Role::Gc),
            ("Shenand..trol", Role::Gc),
            ("VM Periodic Tas", Role::Vm),
            ("main", Role::Native),
            ("C2", Role::Native),
        ] {
            assert_eq!(Role::of(name, false), expected, "{name}");
        }
    }

    #[test]
    fn a_program_cannot_pass_its_threads_off_as_the_collector() {
        assert_eq!(Role::of("GC Thread#0", true), Role::Java);
        let mut play = Play::default();
        let java = play.stack(&["libjvm.so JavaThread::run()", "libjvm.so Thing::work"]);
        let native = play.stack(&["libjvm.so Thread::call_run()", "libfoo.so JavaThread::run"]);
        assert!(runs_java(&play.stacks, java) && !runs_java(&play.stacks, native));
    }
}
