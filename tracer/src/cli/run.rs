//! `jtrace run`: starts a JVM and watches it from its first instruction on.
//!
//! The child waits until the sites are attached to the file that its `java` will load; the kernel puts them in place when
//! the library is mapped. What can only be read from the running JVM (the layout of its structures, the addresses of its
//! counters, its flags) follows as soon as it is there, some milliseconds later.

mod gate;

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Child, ExitCode},
    time::Instant,
};

use self::gate::start;
pub(super) use self::gate::{WaitOptions, wait_and_exec};
use super::{
    Failure, apart,
    attach::{Show, ShowOptions, say, watch_live},
    listen::Waiter,
    options::{OutputOptions, WatchOptions},
    output::{self, Files},
};
use crate::{ebpf::attach::Place, priority::Urgent, setup::StartingTarget};

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

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { watch, output, show, command } = options;
    let show = show_beside_the_program(&output, &show)?;
    let watch = watch.with_properties()?.with_lane()?;
    let mut config = watch.session_config(Instant::now())?;
    let mut waiter = Waiter::new()?;
    output::check(&output)?;
    config.weaving = watch.weaving()?;
    let program = find_program(command.first().expect("the command line asks for at least one"))?;
    let library = libjvm_of(&program)?;
    let target = StartingTarget::read(&library, config)?;
    let waiting = start(&program, library, &with_options(&command, target.java_options()))?;
    // After it, so that nothing of this is the program's.
    let urgent = Urgent::begin();
    let pid = waiting.pid;
    let files = Files::open(&output, pid.get(), None)?;
    apart::nobody_holds_up(Some(&waiting.libjvm))?;
    let awaited = target.attach(Place { path: waiting.libjvm.clone(), pid })?;
    let mut child = waiting.begin()?;
    let mut attached = awaited.complete(&mut child)?;
    // Until all is detached.
    let _journal_entry = attached.journal_entry.take();
    let ended = watch_live(attached, watch.duration, files, show, &mut waiter)?;
    drop(urgent);
    // The shell gets its terminal back only when the JVM has ended. Who asked jtrace to go wants it gone.
    if !matches!(ended, "terminated" | "hung up") {
        waiter.wait_for(pid)?;
    }
    say_how_it_ended(&mut child);
    Ok(ExitCode::SUCCESS)
}

/// The command with further options of the JVM.
fn with_options(command: &[OsString], options: Vec<OsString>) -> Vec<OsString> {
    let (program, arguments) = command.split_at(command.len().min(1));
    program.iter().cloned().chain(options).chain(arguments.iter().cloned()).collect()
}

/// How a session is shown that shares its terminal with the program: as text at the end, unless asked otherwise.
fn show_beside_the_program(output: &OutputOptions, show: &ShowOptions) -> Result<Show, Failure> {
    match Show::new(output, show) {
        Show::Tui(_) if show.wants_tui() => Err(Failure::usage(
            "the screen would share its terminal with the program",
            "start the program with its output in a file, and use `jtrace attach` for the screen".to_owned(),
        )),
        Show::Tui(extent) => Ok(Show::Text(extent)),
        other => Ok(other),
    }
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
    let candidates = [
        "lib/server/libjvm.so",
        "lib/amd64/server/libjvm.so",
        "jre/lib/amd64/server/libjvm.so",
        "lib/client/libjvm.so",
    ];
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

fn say_how_it_ended(child: &mut Child) {
    match child.try_wait() {
        Ok(Some(status)) if !status.success() => say(&format!("the JVM ended with {status}")),
        Ok(Some(_)) => {}
        Ok(None) => say(&format!("the JVM runs on as process {}", child.id())),
        Err(error) => log::warn!("cannot say how the JVM ended: {error}"),
    }
}
