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

    /// The state of a thread of this role whose frames tell that state. The kernel comes before what the thread is for, because a
    /// collector that waits for memory from the kernel is not collecting.
    pub(super) fn of(role: Role, by_frames: Self) -> Self {
        match (by_frames, role) {
            (Self::Kernel, _) => Self::Kernel,
            (_, Role::Gc) => Self::Gc,
            (_, Role::Jit) => Self::Jit,
            (state, _) => state,
        }
    }

    /// The state that frames alone tell, innermost first.
    pub(super) fn by_frames<'a>(mut frames: impl Iterator<Item = &'a Frame>) -> Self {
        // A stub stands for the Java method that called it, or leads into the JVM.
        let Some(innermost) = frames.find(|frame| frame.kind != Kind::Stub) else { return Self::Unknown };
        match innermost.kind {
            Kind::Kernel => Self::Kernel,
            Kind::Interpreted | Kind::Compiled | Kind::Inlined => Self::Java,
            Kind::Native if is_vm(innermost) => Self::Vm,
            Kind::Native => Self::Native,
            Kind::Unknown | Kind::Stub => Self::Unknown,
        }
    }
}

/// Whether a frame is the JVM's own machine code.
pub(super) fn is_vm(frame: &Frame) -> bool {
    frame.kind == Kind::Native && frame.module.as_deref().is_some_and(|module| module.ends_with("libjvm.so"))
}

/// Whether what a thread is for can depend on what this frame is called.
pub(super) fn means_something(frame: &Frame) -> bool {
    Told::by_frame(frame) != Told::Nothing
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

    /// The role of a thread, by its name and the most that its stacks ever told. Programs name their threads as they like,
    /// so a Java frame outweighs any name; that the JVM counts it among its Java threads does not, since compilers are.
    pub(super) fn of(name: &str, told: Told) -> Self {
        let known = NAMES.iter().find(|(beginning, _)| name.starts_with(beginning));
        match (told, known) {
            (Told::RunsJava, _) | (Told::JavaThread, None) => Self::Java,
            (_, Some((_, role))) => *role,
            (Told::Nothing, None) => Self::Native,
        }
    }
}

/// Whether a thread without Java frames has the name of one of the collector's.
pub(crate) fn is_collector(name: &str) -> bool {
    Role::of(name, Told::Nothing) == Role::Gc
}

/// What a stack tells of its thread; the greater outweighs the less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    /// Nothing.
    #[default]
    Nothing,
    /// It is in the function in which the JVM runs its Java threads, and its compilers.
    JavaThread,
    /// It has a Java frame.
    RunsJava,
}

impl Told {
    /// What a stack tells.
    pub(super) fn by(stacks: &Stacks, id: StackId) -> Self {
        stacks.frames_of(id).map(Self::by_frame).max().unwrap_or_default()
    }

    fn by_frame(frame: &Frame) -> Self {
        match frame.kind {
            kind if kind.is_java() => Self::RunsJava,
            Kind::Native if is_vm(frame) && frame.name.starts_with("JavaThread::run") => Self::JavaThread,
            _ => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Play, *};

    fn state(name: &str, frames: &[&str]) -> State {
        let mut play = Play::default();
        let id = play.stack(frames);
        State::of(Role::of(name, Told::Nothing), State::by_frames(play.stacks.frames_of(id)))
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
            assert_eq!(Role::of(name, Told::Nothing), expected, "{name}");
        }
    }

    #[test]
    fn a_program_cannot_pass_its_threads_off_as_the_collector() {
        assert_eq!(Role::of("GC Thread#0", Told::RunsJava), Role::Java);
        assert_eq!(Role::of("GC Thread#0", Told::JavaThread), Role::Gc);
        assert_eq!(Role::of("worker", Told::JavaThread), Role::Java);
        let mut play = Play::default();
        let java = play.stack(&["libjvm.so JavaThread::run()", "a.Main.main:1", "libjvm.so Thing::work"]);
        let started = play.stack(&["libjvm.so JavaThread::run()", "libjvm.so Thing::work"]);
        let native = play.stack(&["libjvm.so Thread::call_run()", "libfoo.so JavaThread::run"]);
        let told = [java, started, native].map(|id| Told::by(&play.stacks, id));
        assert_eq!(told, [Told::RunsJava, Told::JavaThread, Told::Nothing]);
    }

    #[test]
    fn a_compiler_is_one_though_it_is_among_the_java_threads() {
        let mut play = Play::default();
        let id = play.stack(&["libjvm.so JavaThread::run()", "libjvm.so Compile::Optimize()"]);
        assert_eq!(Role::of("C2 CompilerThre", Told::by(&play.stacks, id)), Role::Jit);
    }
}
