//! jtrace itself as an observer: the same binary records the session, and its own report says what it saw and lost. With its
//! library in the JVM it is in `inside`.

mod answers;
mod inside;

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use super::{
    Error,
    configuration::{Configuration, PLAIN},
    folder::Folder,
    observer::Observer,
    process::{Process, Signal},
    results::Observed,
};
use crate::analysis::Lens;

/// How long jtrace may take to attach.
const ATTACH: Duration = Duration::from_mins(1);
/// How long it may take to detach and to finish its file, or to make a report of it.
const FINISH: Duration = Duration::from_mins(2);
/// How often its memory is looked at while it finishes.
const LOOK: Duration = Duration::from_millis(10);
/// The file of a recording.
const RECORDING: &str = "run.jtrace";
/// Largest report that is read.
const MAX_REPORT: usize = 256 << 20;

/// What HotSpot's own DTrace flags cost while nobody is attached.
const FLAGS: [(&str, &str); 3] = [
    ("flags:method", "-XX:+DTraceMethodProbes"),
    ("flags:alloc", "-XX:+DTraceAllocProbes"),
    ("flags:monitor", "-XX:+DTraceMonitorProbes"),
];

/// jtrace with some lenses.
#[derive(Debug)]
pub struct Watching {
    jtrace: PathBuf,
    lenses: Vec<Lens>,
    /// Words of the command line beyond the lenses.
    further: Vec<String>,
    running: Option<Recording>,
}

/// A recording under way.
#[derive(Debug)]
struct Recording {
    process: Process,
    command: Vec<String>,
    folder: Folder,
}

impl Watching {
    /// The `jtrace` of this path with these lenses.
    pub fn new(jtrace: &Path, lenses: &[Lens]) -> Self {
        Self { jtrace: jtrace.to_owned(), lenses: lenses.to_vec(), further: Vec::new(), running: None }
    }

    /// Without the guard that takes sites away where they cost too much, so that every event counts.
    #[must_use]
    pub fn unguarded(mut self) -> Self {
        self.further = vec!["--max-overhead".to_owned(), "100000%".to_owned()];
        self
    }

    fn command(&self, pid: u32, recording: &Path) -> Vec<String> {
        let lenses: Vec<_> = self.lenses.iter().map(|lens| lens.id()).collect();
        let words = ["record".to_owned(), pid.to_string(), "-l".to_owned(), lenses.join(",")];
        let output = ["-o".to_owned(), recording.to_string_lossy().into_owned()];
        // Every method of the program is what is measured then.
        let all = self.lenses.iter().any(|lens| lens.is_on_demand()).then(|| "--yes".to_owned());
        words.into_iter().chain(all).chain(self.further.iter().cloned()).chain(output).collect()
    }
}

impl Observer for Watching {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        prepare(&self.jtrace)
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        let command = self.command(pid, &folder.file(RECORDING));
        let process = spawn(&self.jtrace, &command)?;
        let attached = process.stderr.wait_for_line(&["attached"], 0, ATTACH);
        attached.map_err(|_| wrong(&process, "does not attach"))?;
        self.running = Some(Recording { process, command, folder });
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let recording = self.running.take();
        let Recording { mut process, command, folder } =
            recording.ok_or_else(|| Error::program("jtrace", "was not started"))?;
        // It may have ended by itself, with the target.
        let _: io::Result<()> = process.signal(Signal::INT);
        let peak_rss_bytes = peak_until_the_end(&process);
        // Asked of the zombie: once it is waited for, nobody can tell.
        let cpu_ns = process.ends_within(Duration::ZERO).then(|| process.cpu_ns().ok()).flatten();
        finished(&mut process, "record")?;
        let answers = self.report(&folder.file(RECORDING))?;
        let program = self.jtrace.to_string_lossy().into_owned();
        let command = std::iter::once(program).chain(command).collect();
        Ok(Observed { command, cpu_ns, peak_rss_bytes, ..answers })
    }
}

impl Watching {
    /// What the recording says by jtrace's own account.
    fn report(&self, recording: &Path) -> Result<Observed, Error> {
        let words = ["report".to_owned(), recording.to_string_lossy().into_owned(), "--json".to_owned()];
        let mut command = Command::new(&self.jtrace);
        command.args(words);
        let mut process = Process::spawn_keeping(&command, MAX_REPORT).map_err(Error::system("start jtrace"))?;
        process.close_stdin();
        finished(&mut process, "report")?;
        answers::read(&process.stdout.bytes()).map_err(|what| Error::program("jtrace", what))
    }
}

/// Whether a jtrace can watch here, and its version.
fn prepare(jtrace: &Path) -> Result<(String, String), Error> {
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
fn finished(process: &mut Process, what: &str) -> Result<(), Error> {
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

/// All configurations of jtrace itself, and of the JVM without anybody.
pub fn configurations(jtrace: &Path) -> Vec<Configuration> {
    let mut all = vec![unwatched(PLAIN, "nobody watches", &[])];
    all.extend(FLAGS.map(|(name, flag)| unwatched(name, &format!("{flag}, nobody watches"), &[flag])));
    all.push(watched("attach", "jtrace with its usual lenses", Watching::new(jtrace, Lens::USUAL)));
    // The others need to be told what to weave, and have configurations of their own.
    for lens in Lens::ALL.iter().filter(|lens| !lens.is_inside()) {
        let id = lens.id();
        let watching = || Watching::new(jtrace, &[*lens]);
        all.push(watched(&format!("lens:{id}"), &format!("jtrace with the lens {id}"), watching()));
        let what = format!("jtrace with the lens {id}, without its rate guard");
        all.push(watched(&format!("every:{id}"), &what, watching().unguarded()));
    }
    all.extend(inside::configurations(jtrace));
    all
}

fn unwatched(name: &str, what: &str, flags: &[&str]) -> Configuration {
    Configuration {
        name: name.to_owned(),
        what: what.to_owned(),
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        observer: None,
        only: Vec::new(),
    }
}

fn watched(name: &str, what: &str, observer: impl Observer + 'static) -> Configuration {
    Configuration { observer: Some(Box::new(observer)), ..unwatched(name, what, &[]) }
}

/// A configuration that users may ask for and that this jtrace does not have: its observer is never there.
pub fn absent(name: &str) -> Option<Configuration> {
    let kind = name.split(':').next().unwrap_or(name);
    (kind == "calls").then(|| Configuration {
        name: name.to_owned(),
        what: "a complete call graph, which jtrace does not record in this form yet".to_owned(),
        flags: Vec::new(),
        observer: Some(Box::new(Absent(name.to_owned()))),
        only: Vec::new(),
    })
}

/// An observer that is not there, so that its configuration is skipped with its reason.
#[derive(Debug)]
struct Absent(String);

impl Absent {
    fn error(&self) -> Error {
        Error::Missing {
            what: self.0.clone(),
            hint: "jtrace bench does not measure complete call graphs yet".to_owned(),
        }
    }
}

impl Observer for Absent {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        Err(self.error())
    }

    fn start(&mut self, _: u32) -> Result<(), Error> {
        Err(self.error())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        Err(self.error())
    }
}

#[cfg(test)]
mod tests;
