//! `jtrace run`: starts a JVM and watches it from its first instruction on.
//!
//! The child waits until the sites are attached to the file that its `java` will load; the kernel puts them in place when
//! the library is mapped. What can only be read from the running JVM (the layout of its structures, the addresses of its
//! counters, its flags) follows as soon as it is there, some milliseconds later.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use tracer_common::site::TargetLayout;

use super::{
    Failure,
    attach::{Show, ShowOptions, watch_live},
    listen::Limits,
    options::{OutputOptions, WatchOptions},
    output::{self, Files},
    prepare::{self, ArmedFlag, Known, Watched},
};
use crate::{
    ebpf::attach::Place,
    jvm::find::Jvm,
    probe::plan::{GcCause, Libjvm, plan},
    source::live::{Live, Prepared},
};

/// How long a JVM may take to make its tables and counters.
const LEARN_AT_MOST: Duration = Duration::from_secs(5);

/// How long to wait before looking for the JVM's tables again.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Options of `jtrace run`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    watch: WatchOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    show: ShowOptions,

    /// The command, `java` with its arguments
    #[arg(last = true, required = true, value_name = "JAVA")]
    command: Vec<OsString>,
}

/// Options of the command that the child runs while it waits; not for users.
#[derive(Debug, clap::Args)]
pub(super) struct WaitOptions {
    /// What to open and to read to its end before running the command
    gate: PathBuf,

    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// A JVM that has not begun yet.
pub(super) struct Waiting {
    pub(super) child: Child,
    /// The library that it will load.
    pub(super) libjvm: PathBuf,
    gate: OwnedFd,
}

impl Waiting {
    /// Lets it begin.
    pub(super) fn begin(self) -> Child {
        drop(self.gate);
        self.child
    }
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { watch, output, show, command } = options;
    let watched = Watched { lenses: watch.lenses(), kernel: watch.kernel(), began: Instant::now() };
    output::check(&output)?;
    let waiting = start(&command)?;
    let pid = prepare::nonzero(waiting.child.id())?;
    let files = Files::open(&output, pid.get())?;
    let libjvm = prepare::read_libjvm(&waiting.libjvm)?;
    let place = Place { path: waiting.libjvm.clone(), pid };
    let mut live = Live::attach(Prepared {
        place,
        plan: plan(&libjvm, &watched.lenses, GcCause::default()),
        layout: TargetLayout::default(),
        kernel: watched.kernel,
    })?;
    let mut child = waiting.begin();
    let Some(learned) = learn(&mut live, &mut child, &libjvm, &watched)? else {
        return Err(Failure::new("the program ended before it had loaded a JVM", "run it without jtrace".to_owned()));
    };
    let Learned { jvm, missing, armed } = learned;
    let start = live.start(prepare::describe(&jvm, &watched, missing));
    let same_program = prepare::same_program(jvm.library.attach_path);
    let limits = Limits { pid, duration: watch.duration, same_program };
    let code = watch_live(live, start, limits, files, Show::new(&output, &show), armed)?;
    wait(child);
    Ok(code)
}

/// What could not be known before the JVM ran.
struct Learned {
    jvm: Jvm,
    missing: Vec<String>,
    armed: Option<ArmedFlag>,
}

/// Waits until the JVM's library is mapped, its tables can be read and its counters are there, and tells the programs.
///
/// There is no event for any of that; the looks come in quick succession, because every one that comes late costs names.
fn learn(live: &mut Live, child: &mut Child, libjvm: &Libjvm, watched: &Watched) -> Result<Option<Learned>, Failure> {
    let deadline = Instant::now() + LEARN_AT_MOST;
    let mut armed = None;
    loop {
        let late = Instant::now() >= deadline;
        if let Ok(jvm) = Jvm::open(child.id()) {
            let mut known = Known::read(&jvm, libjvm, &watched.lenses);
            if armed.is_none() && jvm.flags.is_ok() {
                armed = known.arm(&jvm);
            }
            if known.has_layout() {
                live.refine(known.layout, &known.plan)?;
            }
            if known.is_complete(&jvm) || late {
                let mut missing = known.missing;
                missing.push(
                    "until the JVM's tables could be read, some ms after its start, monitors were not seen, and causes of \
                     collections and names of allocated classes are unknown"
                        .to_owned(),
                );
                return Ok(Some(Learned { jvm, missing, armed }));
            }
        }
        if child.try_wait()?.is_some() || (late && armed.is_none()) {
            return Ok(None);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn start(command: &[OsString]) -> Result<Waiting, Failure> {
    let (program, arguments) = command.split_first().expect("the command line asks for at least one");
    let program = find_program(program)?;
    let libjvm = libjvm_of(&program)?;
    let (read, gate) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
    let own = env::current_exe()?;
    let gate_path = format!("/proc/{}/fd/{}", std::process::id(), read.as_raw_fd());
    let child = Command::new(own)
        .args(["wait-and-exec", gate_path.as_str(), "--"])
        .arg(&program)
        .args(arguments)
        .stdin(Stdio::inherit())
        .spawn()?;
    wait_until_gate_is_open(&child, &gate, read);
    Ok(Waiting { child, libjvm, gate })
}

/// The read end must stay open here until the child has opened it by its path in /proc: it says so by closing nothing but
/// by reading, so the only event to wait for is that its /proc/PID/fd shows the pipe.
fn wait_until_gate_is_open(child: &Child, gate: &OwnedFd, read: OwnedFd) {
    let own = fs::read_link(format!("/proc/self/fd/{}", gate.as_raw_fd())).ok();
    let descriptors = format!("/proc/{}/fd", child.id());
    loop {
        let opened = fs::read_dir(&descriptors)
            .ok()
            .is_none_or(|entries| entries.flatten().any(|entry| fs::read_link(entry.path()).ok() == own));
        if opened {
            break;
        }
        std::thread::yield_now();
    }
    drop(read);
}

/// `jtrace wait-and-exec`: waits for the gate to be closed, then becomes the command.
pub(super) fn wait_and_exec(options: &WaitOptions) -> Result<ExitCode, Failure> {
    let (program, arguments) = options.command.split_first().expect("the command line asks for at least one");
    let mut gate = fs::File::open(&options.gate)?;
    io::copy(&mut gate, &mut io::sink())?;
    drop(gate);
    let error = Command::new(program).args(arguments).exec();
    Err(Failure::new(format!("cannot run {}: {error}", Path::new(program).display()), None))
}

fn find_program(program: &OsStr) -> Result<PathBuf, Failure> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        path.canonicalize().ok()
    } else {
        env::var_os("PATH").and_then(|list| {
            env::split_paths(&list).map(|directory| directory.join(path)).find_map(|path| path.canonicalize().ok())
        })
    };
    found.ok_or_else(|| {
        Failure::new(format!("there is no program {}", path.display()), "give the path of a JDK's bin/java".to_owned())
    })
}

/// The library that a JDK's or JRE's `bin/java` loads.
fn libjvm_of(java: &Path) -> Result<PathBuf, Failure> {
    let home = java.parent().and_then(Path::parent);
    let candidates = ["lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so", "lib/client/libjvm.so"];
    home.and_then(|home| candidates.iter().map(|library| home.join(library)).find(|library| library.is_file()))
        .ok_or_else(|| {
            Failure::new(
                format!(
                    "{} is not the `java` of a JDK: there is no lib/server/libjvm.so beside its bin",
                    java.display()
                ),
                "start `bin/java` itself, or start the program and use `jtrace attach`".to_owned(),
            )
        })
}

/// Waits for the JVM's end, so that the shell gets its terminal back only then.
pub(super) fn wait(mut child: Child) {
    match child.wait() {
        Ok(status) if !status.success() => {
            let _: io::Result<()> = writeln!(io::stderr(), "the JVM ended with {status}");
        }
        Ok(_) => {}
        Err(error) => log::warn!("cannot wait for the JVM: {error}"),
    }
}
