//! A jtrace that watches, from its start to its end.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use super::super::{
    Error,
    folder::Folder,
    process::{Process, Signal},
    results::Observed,
};

/// How long jtrace may take to attach.
const ATTACH: Duration = Duration::from_mins(1);
/// How long it may take to detach and to finish its file, or to make a report of it.
const FINISH: Duration = Duration::from_mins(2);
/// How often its memory is looked at while it finishes.
const LOOK: Duration = Duration::from_millis(10);

/// A session under way.
#[derive(Debug)]
pub(super) struct Session {
    process: Process,
    /// The whole command.
    command: Vec<String>,
    folder: Folder,
}

impl Session {
    /// Starts a jtrace with these words, which write into the folder, and waits until it is attached.
    pub(super) fn begin(jtrace: &Path, words: Vec<String>, folder: Folder) -> Result<Self, Error> {
        let process = spawn(jtrace, &words)?;
        let attached = process.stderr.wait_for_line(&["attached"], 0, ATTACH);
        attached.map_err(|_| wrong(&process, "does not attach"))?;
        let command = std::iter::once(jtrace.to_string_lossy().into_owned()).chain(words).collect();
        Ok(Self { process, command, folder })
    }

    /// Ends it; `answers` reads what it has written.
    pub(super) fn end(mut self, answers: impl FnOnce(&Folder) -> Result<Observed, Error>) -> Result<Observed, Error> {
        // It may have ended by itself, with the target.
        let _: io::Result<()> = self.process.signal(Signal::INT);
        let peak_rss_bytes = peak_until_the_end(&self.process);
        // Asked of the zombie: once it is waited for, nobody can tell.
        let cpu_ns = self.process.ends_within(Duration::ZERO).then(|| self.process.cpu_ns().ok()).flatten();
        finished(&mut self.process, self.command.get(1).map_or("", String::as_str))?;
        let answers = answers(&self.folder)?;
        Ok(Observed { command: self.command, cpu_ns, peak_rss_bytes, ..answers })
    }
}

/// What says that no session is under way.
pub(super) fn not_started() -> Error {
    Error::program("jtrace", "was not started")
}

/// Whether a jtrace can watch here, and its version.
pub(super) fn prepare(jtrace: &Path) -> Result<(String, String), Error> {
    if !rustix::process::geteuid().is_root() {
        return Err(Error::Missing {
            what: "the right to load eBPF programs".to_owned(),
            hint: "run `sudo jtrace bench`; `plain` and `flags:...` need no root".to_owned(),
        });
    }
    let mut process = spawn(jtrace, &["--version".to_owned()])?;
    process.close_stdin();
    finished(&mut process, "--version")?;
    let text = String::from_utf8_lossy(&process.stdout.bytes()).trim().to_owned();
    let version = text.strip_prefix("jtrace ").ok_or_else(|| wrong(&process, "does not say its version"))?;
    Ok(("jtrace".to_owned(), version.to_owned()))
}

fn spawn(jtrace: &Path, words: &[String]) -> Result<Process, Error> {
    let mut command = Command::new(jtrace);
    command.args(words);
    Process::spawn(&command).map_err(Error::system(format!("start {}", jtrace.display())))
}

/// Waits until it has ended well.
pub(super) fn finished(process: &mut Process, what: &str) -> Result<(), Error> {
    match process.wait(FINISH).map_err(Error::system("wait for jtrace"))? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(wrong(process, &format!("{what}: {status}"))),
        None => Err(wrong(process, &format!("{what} does not end within {FINISH:?}"))),
    }
}

fn wrong(process: &Process, what: &str) -> Error {
    Error::program("jtrace", format!("{what}; its last words: {}", process.stderr.last_lines(3)))
}

/// Largest resident size of a process up to its end, or to the limit. What it takes in its last 10 ms may be missed.
fn peak_until_the_end(process: &Process) -> Option<u64> {
    let deadline = Instant::now() + FINISH;
    let mut peak = None;
    loop {
        peak = peak.max(peak_rss(process.pid()));
        if process.ends_within(LOOK) || Instant::now() >= deadline {
            return peak;
        }
    }
}

/// `VmHWM`; absent for a zombie, which has no memory.
fn peak_rss(pid: u32) -> Option<u64> {
    let mut text = String::new();
    File::open(format!("/proc/{pid}/status")).ok()?.take(1 << 16).read_to_string(&mut text).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
