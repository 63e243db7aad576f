//! A tool that runs as a process of its own while a JVM is watched: from the moment when it says that it watches until it is
//! asked to end. Short commands are run by [`say`].

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    bench::{Error, folder::Folder, process::bound, results::Observed},
    text::escape,
};

/// How long a tool may take until it watches: bcc compiles for seconds on a machine that does other work.
const BEGIN: Duration = Duration::from_mins(2);
/// How long it may take to end: some take 80 ms for each probe.
const END: Duration = Duration::from_mins(2);
/// How long until one that was asked to end is asked again.
const AGAIN: Duration = Duration::from_secs(2);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Most bytes that are read of what a tool wrote.
const MAX_OUTPUT: u64 = 64 << 20;
/// Lines of its errors that are quoted, and characters of each.
const QUOTED_LINES: usize = 3;
const QUOTED: usize = 200;

/// A tool that watches. It is killed when dropped.
#[derive(Debug)]
pub(super) struct Tool {
    name: String,
    /// The JVM that it watches.
    target: u32,
    command: Vec<String>,
    child: Child,
    peak_rss_bytes: Option<u64>,
    folder: Folder,
}

/// What is left of a tool.
#[derive(Debug)]
pub(super) struct Ended {
    /// Command, CPU time and memory.
    pub(super) observed: Observed,
    /// What it wrote to its standard output.
    pub(super) stdout: String,
    /// What it wrote to its standard error.
    pub(super) stderr: String,
}

impl Tool {
    /// Starts a tool that watches a process, and waits for a line on its standard output that begins with a word.
    pub(super) fn start(name: &str, command: &Command, folder: Folder, target: u32, word: &str) -> Result<Self, Error> {
        let words = words(command);
        let file = |path: PathBuf| File::create(&path).map_err(Error::system(format!("make {}", path.display())));
        let (stdout, stderr) = (file(folder.file("stdout"))?, file(folder.file("stderr"))?);
        let child = bound::spawn(command, |command| {
            // Ctrl-C is for jtrace, which ends its tools in order.
            command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0);
        });
        let child = child.map_err(Error::system(format!("run {name}")))?;
        let mut tool = Self { name: name.to_owned(), target, command: words, child, peak_rss_bytes: None, folder };
        let deadline = Instant::now() + BEGIN;
        while !tool.wrote("stdout")?.lines().any(|line| line.starts_with(word)) {
            if tool.state().is_none_or(|state| state.is_dead) {
                return Err(tool.failed("ended before it watched"));
            }
            if Instant::now() > deadline {
                return Err(tool.failed(&format!("does not watch after {} s", BEGIN.as_secs())));
            }
            thread::sleep(LOOK);
        }
        tool.look_at_memory();
        Ok(tool)
    }

    /// Asks it to end as Ctrl-C does, waits for that, and reads what it says. One that ended with its JVM has done so already;
    /// one that ended before it has not watched to the end, whatever it says.
    /// For one that may miss that signal, `again` is another that it takes at any time in the same way.
    pub(super) fn stop(mut self, again: Option<Signal>) -> Result<Ended, Error> {
        self.look_at_memory();
        if !self.state().is_some_and(|state| state.is_dead) {
            self.signal(Signal::INT)?;
        } else if Path::new(&format!("/proc/{}", self.target)).exists() {
            return Err(self.failed("ended while it should have watched"));
        }
        let began = Instant::now();
        let mut asked = began;
        while !self.state().is_some_and(|state| state.is_dead) {
            if began.elapsed() > END {
                return Err(self.failed(&format!("does not end after {} s", END.as_secs())));
            }
            if let Some(again) = again
                && asked.elapsed() > AGAIN
            {
                self.signal(again)?;
                asked = Instant::now();
            }
            // What it adds up at its end can take more memory than before.
            self.look_at_memory();
            thread::sleep(LOOK);
        }
        // Until it is waited for, the kernel keeps its times.
        let cpu_ns = self.state().map(|state| state.cpu_ns);
        let status = self.child.wait().map_err(Error::system(format!("wait for {}", self.name)))?;
        if !status.success() {
            return Err(self.failed(&format!("ended with {status}")));
        }
        Ok(Ended {
            stdout: self.wrote("stdout")?,
            stderr: self.wrote("stderr")?,
            observed: Observed {
                command: std::mem::take(&mut self.command),
                cpu_ns,
                peak_rss_bytes: self.peak_rss_bytes,
                ..Observed::default()
            },
        })
    }

    fn state(&self) -> Option<State> {
        State::parse(&read(Path::new(&format!("/proc/{}/stat", self.child.id()))).ok()?)
    }

    fn look_at_memory(&mut self) {
        let status = read(Path::new(&format!("/proc/{}/status", self.child.id()))).unwrap_or_default();
        self.peak_rss_bytes = self.peak_rss_bytes.max(high_water(&status));
    }

    fn signal(&self, signal: Signal) -> Result<(), Error> {
        // It was not waited for, so the pid is its own.
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let sent = pid
            .map_or(Err(io::ErrorKind::InvalidInput.into()), |pid| kill_process(pid, signal).map_err(io::Error::from));
        sent.map_err(Error::system(format!("end {}", self.name)))
    }

    fn wrote(&self, name: &str) -> Result<String, Error> {
        let path = self.folder.file(name);
        read(&path).map_err(Error::system(format!("read {}", path.display())))
    }

    fn failed(&self, what: &str) -> Error {
        let said = last_lines(&self.wrote("stderr").unwrap_or_default());
        let what = if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") };
        Error::program(&self.name, what)
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // Both do nothing where it was waited for.
        let _: io::Result<()> = self.child.kill();
        let _: io::Result<ExitStatus> = self.child.wait();
    }
}

/// What the kernel says of a process, dead or alive.
#[derive(Debug, PartialEq, Eq)]
struct State {
    is_dead: bool,
    /// User and system time, of its own and of children that it waited for.
    cpu_ns: u64,
}

impl State {
    /// Reads `/proc/PID/stat`. The name, which can have anything in it, ends at the last parenthesis.
    fn parse(stat: &str) -> Option<Self> {
        let rest: Vec<&str> = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().collect();
        let is_dead = matches!(*rest.first()?, "Z" | "X" | "x");
        // Fields 14 to 17, where the state is the third.
        let ticks = rest.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<u64>>()?;
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        Some(Self { is_dead, cpu_ns: ticks.saturating_mul(tick_ns) })
    }
}

/// `VmHWM` of `/proc/PID/status`, in bytes. A process that has ended has none.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// A file's text as far as it is read.
fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last lines that say something, on one line and harmless. A compiler's first error goes before them: what comes behind
/// it, down to the trace of who called the compiler, says less.
fn last_lines(text: &str) -> String {
    let mut lines: Vec<_> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(QUOTED_LINES).collect();
    if let Some(error) = text.lines().find(|line| line.contains(": error: ") || line.contains(": fatal error: "))
        && !lines.contains(&error)
    {
        lines.truncate(1);
        lines.push(error);
    }
    lines.reverse();
    let quoted = lines.iter().map(|line| {
        let cut: String = line.trim().chars().take(QUOTED).collect();
        escape::terminal(&cut).into_owned()
    });
    quoted.collect::<Vec<_>>().join(" | ")
}

/// A command as it could be typed: variables of its environment first.
pub(super) fn words(command: &Command) -> Vec<String> {
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy())));
    let rest = std::iter::once(command.get_program()).chain(command.get_args());
    set.chain(rest.map(|word| word.to_string_lossy().into_owned())).collect()
}

/// Runs a short command to its end.
pub(super) fn run(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).output()
}

/// The first line that a short command prints, where it succeeds.
pub(super) fn say(program: impl AsRef<Path>, arguments: &[&str]) -> Option<String> {
    let output = run(Command::new(program.as_ref()).args(arguments)).ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().find(|line| !line.trim().is_empty()).map(|line| escape::terminal(line.trim()).into_owned())
}

/// An error of a short command, with what it said.
pub(super) fn refused(name: &str, what: &str, output: &Output) -> Error {
    let said = [&output.stdout, &output.stderr].map(|bytes| last_lines(&String::from_utf8_lossy(bytes))).join(" ");
    Error::program(name, format!("{what}: {}", said.trim()))
}

/// Writes a file for a tool.
pub(super) fn write(folder: &Folder, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = folder.file(name);
    fs::write(&path, text).map_err(Error::system(format!("write {}", path.display())))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Tool, Error> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env("WORD", "READY");
        // A process that is not there: it ended before.
        Tool::start("sh", &command, Folder::new().unwrap(), u32::MAX, "READY")
    }

    #[test]
    fn a_tool_watches_when_it_says_so_and_ends_when_it_is_told() {
        let tool = shell("trap 'echo seen 7; exit 0' INT; echo noise; echo $WORD; while :; do :; done").unwrap();
        while tool.state().unwrap().cpu_ns == 0 {
            thread::sleep(LOOK);
        }
        let pid = tool.child.id();
        let folder = tool.folder.path().to_owned();
        let Ended { observed, stdout, stderr } = tool.stop(None).unwrap();
        assert_eq!((stdout.as_str(), stderr.as_str()), ("noise\nREADY\nseen 7\n", ""));
        assert_eq!(observed.command[..3], ["WORD=READY", "/bin/sh", "-c"]);
        assert!(observed.cpu_ns.unwrap() > 0 && observed.peak_rss_bytes.unwrap() > 0);
        assert!(!Path::new(&format!("/proc/{pid}")).exists() && !folder.exists());
    }

    #[test]
    fn a_tool_that_misses_the_signal_is_asked_again() {
        let tool =
            shell("trap '' INT; trap 'echo seen 7; exit 0' TERM; echo $WORD; while :; do sleep 0.01; done").unwrap();
        assert_eq!(tool.stop(Some(Signal::TERM)).unwrap().stdout, "READY\nseen 7\n");
    }

    #[test]
    fn the_error_of_a_compiler_is_quoted_before_the_trace_of_its_caller() {
        let text = "/virtual/main.c:48:36: error: cannot call\n    min(x)\n1 error generated.\nTraceback\n  File x\n\
                    Exception: Failed to compile\n";
        assert_eq!(last_lines(text), "/virtual/main.c:48:36: error: cannot call | Exception: Failed to compile");
        assert_eq!(last_lines("a\nb\n\nc\nd\n"), "b | c | d");
    }

    #[test]
    fn a_tool_that_ends_with_its_jvm_is_read_all_the_same() {
        let tool = shell("echo $WORD; echo rest").unwrap();
        while !tool.state().unwrap().is_dead {
            thread::sleep(LOOK);
        }
        assert_eq!(tool.stop(None).unwrap().stdout, "READY\nrest\n");
    }

    #[test]
    fn a_tool_that_ends_before_its_jvm_is_an_error_even_where_it_ends_well() {
        let mut tool = shell("echo $WORD; echo gone >&2").unwrap();
        tool.target = std::process::id();
        while !tool.state().unwrap().is_dead {
            thread::sleep(LOOK);
        }
        let error = tool.stop(None).unwrap_err().to_string();
        assert_eq!(error, "sh ended while it should have watched: gone");
    }

    #[test]
    fn a_tool_that_fails_is_an_error_with_its_own_words() {
        let error = shell("echo 'ERROR: \\033[2J no probes' >&2; exit 1").unwrap_err().to_string();
        assert!(error.starts_with("sh ended before it watched: ERROR: ") && !error.contains('\u{1b}'), "{error}");
        let tool = shell("trap 'echo broken >&2; exit 3' INT; echo $WORD; while :; do sleep 0.01; done").unwrap();
        let error = tool.stop(None).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("broken"), "{error}");
    }

    #[test]
    fn a_tool_that_is_dropped_is_gone() {
        let tool = shell("trap '' INT; echo $WORD; while :; do sleep 0.01; done").unwrap();
        let (pid, folder) = (tool.child.id(), tool.folder.path().to_owned());
        drop(tool);
        assert!(!Path::new(&format!("/proc/{pid}")).exists() && !folder.exists());
    }

    #[test]
    fn times_and_memory_are_read_from_what_the_kernel_writes() {
        let stat = "21958 (a) Z (b) R 9117 21958 9117 34817 21958 4194304 1157 2033 0 0 7 2 1 4 20 0 1 0 8867 0 0";
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(State::parse(stat), Some(State { is_dead: false, cpu_ns: 14 * tick_ns }));
        assert_eq!(State::parse("1 (x) R 2 3"), None);
        assert_eq!(high_water("Name:\tx\nVmHWM:\t  123456 kB\nVmRSS:\t 1 kB\n"), Some(123_456 << 10));
        assert_eq!(high_water("Name:\tx\nState:\tZ (zombie)\n"), None);
    }
}
