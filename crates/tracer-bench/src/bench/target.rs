//! A program while it runs: starts its JVM, asks it for iterations by the agreement of [`super::program`], and ends it.

mod answer;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::Path,
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use self::answer::Answer;
use super::{
    Error,
    folder::Folder,
    interruption::Interruption,
    process::{Process, Silence},
    program::Launch,
};
pub use super::{process::Output, results::Memory};

/// How many of its last lines an error quotes.
const QUOTED: usize = 3;

/// How long a program may take for a step. One that takes longer is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From its start to `READY`.
    pub start: Duration,
    /// An iteration; a whole life, for a program that is measured by its end.
    pub iteration: Duration,
    /// From the end of its input to its exit.
    pub end: Duration,
}

impl Default for Limits {
    /// Far more than anything in the packaged suite takes, under an observer that makes it ten times slower too.
    fn default() -> Self {
        Self { start: Duration::from_mins(5), iteration: Duration::from_mins(15), end: Duration::from_mins(1) }
    }
}

/// What an iteration came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// Its time by the clock on the wall.
    pub wall_ns: u64,
    /// CPU time of the JVM in that time.
    pub cpu_ns: Option<u64>,
    /// What the JVM says of its memory.
    pub memory: Memory,
    /// What the program counted.
    pub counts: BTreeMap<String, u64>,
}

impl Iteration {
    /// Several as one: times are of one on average, what was counted is of all together.
    pub fn together(all: &[Self]) -> Self {
        // Whatever a program says of itself, these are sums and not remainders.
        let sum = |one: u64, other: u64| one.saturating_add(other);
        let mean = |total: u64| total / (all.len() as u64).max(1);
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (name, count) in all.iter().flat_map(|one| &one.counts) {
            let total = counts.entry(name.clone()).or_default();
            *total = sum(*total, *count);
        }
        Self {
            wall_ns: mean(all.iter().map(|one| one.wall_ns).fold(0, sum)),
            cpu_ns: all.iter().map(|one| one.cpu_ns).sum::<Option<u64>>().map(mean),
            memory: all.iter().map(|one| one.memory).reduce(Memory::and).unwrap_or_default(),
            counts,
        }
    }
}

/// The command line of a launch: `java`, flags, words.
pub fn command_line(launch: &Launch, java: &Path, flags: &[OsString]) -> Vec<OsString> {
    let java = launch.java.as_deref().unwrap_or(java);
    let mut words = vec![java.as_os_str().to_owned()];
    words.extend(flags.iter().chain(&launch.words).cloned());
    words
}

/// A running program.
#[derive(Debug)]
pub struct Target {
    name: String,
    limits: Limits,
    /// Up to where its standard output was read.
    read: u64,
    began: Instant,
    process: Process,
    // Behind the process, so that it is removed when the process is gone.
    _folder: Option<Folder>,
}

impl Target {
    /// Starts the JVM of a program. An interruption ends it.
    pub fn start(
        name: &str,
        launch: Launch,
        java: &Path,
        flags: &[OsString],
        limits: Limits,
        interruption: &Interruption,
    ) -> Result<Self, Error> {
        let words = command_line(&launch, java, flags);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(folder) = &launch.folder {
            command.current_dir(folder.path());
        }
        let began = Instant::now();
        let process = Process::spawn(&command)
            .map_err(Error::system(format!("start {} of {name}", words[0].to_string_lossy())))?;
        interruption.covers(&process).map_err(Error::system(format!("keep hold of {name}")))?;
        Ok(Self { name: name.to_owned(), limits, read: 0, began, process, _folder: launch.folder })
    }

    /// Process id of its JVM.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until it is set up.
    pub fn wait_until_ready(&mut self) -> Result<(), Error> {
        let limit = self.limits.start;
        self.line(&["READY"], limit, "did not become ready").map(drop)
    }

    /// Lets it make one iteration.
    pub fn iterate(&mut self) -> Result<Iteration, Error> {
        let before = self.process.cpu_ns();
        self.process.send_line("GO").map_err(|error| self.wrong(&format!("does not take GO ({error})")))?;
        let limit = self.limits.iteration;
        let line = self.line(&["DONE", "FAILED"], limit, "did not finish an iteration")?;
        let after = self.process.cpu_ns();
        let Answer { wall_ns, memory, counts } = answer::parse(&line).map_err(|what| self.wrong(&what))?;
        let cpu_ns = before.ok().zip(after.ok()).map(|(before, after)| after.saturating_sub(before));
        Ok(Iteration { wall_ns, cpu_ns, memory, counts })
    }

    /// Lets it go, and checks that it ended well.
    pub fn finish(mut self) -> Result<(), Error> {
        self.process.close_stdin();
        let limit = self.limits.end;
        match self.process.wait(limit).map_err(Error::system(format!("wait for {}", self.name)))? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.wrong(&ended(status))),
            None => Err(self.wrong(&format!("did not end within {limit:?} after its input"))),
        }
    }

    /// Asks something about the process until it says yes. Gives whether it does while it runs and the time lasts.
    pub fn waits_until(&self, mut what: impl FnMut(u32) -> bool, limit: Duration) -> bool {
        /// How often to ask.
        const AGAIN: Duration = Duration::from_millis(5);
        let deadline = Instant::now() + limit;
        loop {
            if what(self.pid()) {
                return true;
            }
            if self.process.ends_within(AGAIN) || Instant::now() >= deadline {
                return false;
            }
        }
    }

    /// Waits for the end of a program that is measured by it: the time from its start, and all its CPU time.
    pub fn run_to_its_end(mut self) -> Result<Iteration, Error> {
        self.process.close_stdin();
        let limit = self.limits.iteration;
        if !self.process.ends_within(limit) {
            return Err(self.wrong(&format!("did not end within {limit:?}")));
        }
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Asked of the zombie: once it is waited for, nobody can tell.
        let cpu_ns = self.process.cpu_ns().ok();
        let status = self.process.wait(limit).map_err(Error::system(format!("wait for {}", self.name)))?;
        match status {
            Some(status) if !status.success() => Err(self.wrong(&ended(status))),
            _ => Ok(Iteration { wall_ns, cpu_ns, ..Iteration::default() }),
        }
    }

    fn line(&mut self, words: &[&str], limit: Duration, failure: &str) -> Result<String, Error> {
        match self.process.stdout.wait_for_line(words, self.read, limit) {
            Ok((line, read)) => {
                self.read = read;
                Ok(line)
            }
            Err(Silence::Late) => Err(self.wrong(&format!("{failure} within {limit:?}"))),
            Err(Silence::Ended) => {
                // Its end follows at once, and with it the rest of its words.
                let status = self.process.wait(Duration::from_secs(2)).ok().flatten();
                Err(self.wrong(&format!("{failure}: it {}", status.map_or("closed its output".to_owned(), ended))))
            }
        }
    }

    /// An error about it, with its last words.
    pub fn wrong(&self, what: &str) -> Error {
        let Process { stdout, stderr, .. } = &self.process;
        let words =
            [stderr, stdout].map(|output| output.last_lines(QUOTED)).into_iter().find(|words| !words.is_empty());
        let quoted = words.map_or_else(String::new, |words| format!("; its last words: {words}"));
        Error::program(&self.name, format!("{what}{quoted}"))
    }
}

fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests;
