//! jtrace itself as an observer: the same binary records the session, and its own report says what it saw and lost. With its
//! library in the JVM it is in `inside`.

mod answers;
mod inside;
mod session;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use self::session::{Session, finished};
use super::{
    Error,
    configuration::{Configuration, PLAIN},
    folder::Folder,
    observer::Observer,
    process::Process,
    results::Observed,
};
use crate::lens::Lens;

/// The file of a recording.
const RECORDING: &str = "run.jtrace";
/// Largest report that is read.
const MAX_REPORT: usize = 256 << 20;

/// What is measured is what all events cost, not what the rate guard leaves of them.
const UNGUARDED: [&str; 2] = ["--max-overhead", "100000%"];

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
    running: Option<Session>,
}

impl Watching {
    /// The `jtrace` of this path with these lenses.
    pub fn new(jtrace: &Path, lenses: &[Lens]) -> Self {
        Self { jtrace: jtrace.to_owned(), lenses: lenses.to_vec(), further: Vec::new(), running: None }
    }

    /// Without the guard that takes sites away where they cost too much, so that every event counts.
    #[must_use]
    pub fn unguarded(mut self) -> Self {
        self.further = UNGUARDED.map(str::to_owned).to_vec();
        self
    }

    /// With every event sent by itself, into the recording, instead of counted in the kernel.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        self.further.push("--each".to_owned());
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
        session::prepare(&self.jtrace)
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        let command = self.command(pid, &folder.file(RECORDING));
        self.running = Some(Session::begin(&self.jtrace, command, folder)?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let session = self.running.take().ok_or_else(session::not_started)?;
        session.end(|folder| self.report(&folder.file(RECORDING)))
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
    all.extend(complete_calls(jtrace));
    all.extend(inside::configurations(jtrace));
    all
}

/// Complete graphs of calls: the JVM has the probes of methods from its start on, so no code is there from before.
fn complete_calls(jtrace: &Path) -> [Configuration; 2] {
    let [(_, flag), ..] = FLAGS;
    let watching = || Watching::new(jtrace, &[Lens::Calls]).unguarded();
    let of = |name, what, observer| Configuration { flags: vec![flag.to_owned()], ..watched(name, what, observer) };
    [
        of("calls", "jtrace counts every call of every method by caller, from the JVM's start on", watching()),
        of("calls:each", "the same, and each call is sent and written to a file", watching().one_by_one()),
    ]
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

#[cfg(test)]
mod tests;
