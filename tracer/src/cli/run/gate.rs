//! The gate at which a program waits until jtrace is ready: a pipe, whose end a process of jtrace's own reads before it becomes the program.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Read as _},
    num::NonZeroU32,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use super::super::Failure;
use crate::{
    ending::{Patience, Until},
    jvm::find::process::Identity,
    setup,
};

/// How long the child may take to get to the gate.
const OPEN_AT_MOST: Duration = Duration::from_secs(5);

/// Options of the command that the child runs while it waits; not for users.
#[derive(Debug, clap::Args)]
pub(in super::super) struct WaitOptions {
    /// What to open and to read a byte from before running the command
    gate: PathBuf,

    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// A JVM that has not begun yet, and never will if this is dropped.
pub(super) struct Waiting {
    child: Option<Child>,
    pub(super) pid: NonZeroU32,
    /// The library that it will load.
    pub(super) libjvm: PathBuf,
    gate: OwnedFd,
}

impl Waiting {
    /// Lets it begin.
    pub(super) fn begin(mut self) -> Result<Child, Failure> {
        rustix::io::write(&self.gate, b"!").map_err(io::Error::from)?;
        self.child.take().ok_or_else(|| Failure::new("the program has begun already", None))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It is only our own `wait-and-exec` yet.
            let _: io::Result<()> = child.kill();
            let _: io::Result<_> = child.wait();
        }
    }
}

/// Starts the child, which waits at the gate.
pub(super) fn start(program: &Path, libjvm: PathBuf, command: &[OsString]) -> Result<Waiting, Failure> {
    let (_, arguments) = command.split_first().expect("the command line asks for at least one");
    let (read, gate) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
    let own = env::current_exe()?;
    let gate_path = format!("/proc/{}/fd/{}", std::process::id(), read.as_raw_fd());
    let child = Command::new(own)
        .args(["wait-and-exec", gate_path.as_str(), "--"])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::inherit())
        .spawn()?;
    let waiting = Waiting { pid: setup::process_id(child.id())?, child: Some(child), libjvm, gate };
    wait_until_gate_is_open(waiting.pid, &waiting.gate, read);
    Ok(waiting)
}

/// The read end must stay open here until the child has opened it by its path in /proc: it says so by closing nothing but
/// by reading, so the only event to wait for is that its /proc/PID/fd shows the pipe. A child that has ended shows nothing.
fn wait_until_gate_is_open(pid: NonZeroU32, gate: &OwnedFd, read: OwnedFd) {
    let own = fs::read_link(format!("/proc/self/fd/{}", gate.as_raw_fd())).ok();
    let descriptors = format!("/proc/{pid}/fd");
    let opened = || {
        let entries = fs::read_dir(&descriptors).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|link| Some(link) == own)
    };
    let until = Until::within(OPEN_AT_MOST, Patience::First);
    while Identity::of(pid.get()).is_some() && !opened() && until.is_over().is_none() {
        std::thread::yield_now();
    }
    // Where it has not, it finds nothing and does not begin.
    drop(read);
}

/// `jtrace wait-and-exec`: waits for a byte from the gate, then becomes the command. A gate that closes without one was that
/// of a jtrace that failed or was killed: then the command does not run.
pub(in super::super) fn wait_and_exec(options: &WaitOptions) -> Result<ExitCode, Failure> {
    let (program, arguments) = options.command.split_first().expect("the command line asks for at least one");
    let mut gate = fs::File::open(&options.gate)?;
    if gate.read(&mut [0])? == 0 {
        return Err(Failure::new("jtrace ended before the program began", None));
    }
    drop(gate);
    let error = Command::new(program).args(arguments).exec();
    Err(Failure::new(format!("cannot run {}: {error}", Path::new(program).display()), None))
}
