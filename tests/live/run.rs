//! `jtrace run`: a JVM that jtrace starts is the user's as if the shell had started it, and is never started unwatched.
//! That it is seen from its first instruction is tested with the other counts.

mod starting;

use std::{io::Write as _, path::Path, time::Duration};

use anyhow::{Context as _, Result};
use tests::{
    jdk,
    jtrace::{self, LIMIT},
    jvm::{Launch, child_of},
    patience::until_true,
    process::{Finished, Process, Signal},
    report::{Report, cell},
};

use crate::virtual_threads;

/// A workload behind `jtrace run` with these options; it has begun, and is ready.
struct Running {
    process: Process,
    jvm: u32,
    report: std::path::PathBuf,
    _directory: tempfile::TempDir,
}

impl Running {
    fn start(options: &[&str]) -> Result<Self> {
        Self::of(&jdk::any()?, &[], options)
    }

    /// The same of a JVM with these flags.
    fn of(jdk: &jdk::Jdk, flags: &[&str], options: &[&str]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let report = directory.path().join("report.json");
        let launch = Launch::new(jdk, "locks", "Locks").flags(flags).arguments(&["contended", "100"]);
        let mut command = jtrace::command(&["run"])?;
        command.args(options).arg("-o").arg(&report).arg("--").args(launch.command(directory.path()));
        Self::once_ready(Process::spawn(&mut command)?, report, directory)
    }

    /// What runs in a process, as soon as the program waits for work and jtrace watches it.
    fn once_ready(process: Process, report: std::path::PathBuf, directory: tempfile::TempDir) -> Result<Self> {
        process.stdout.wait_for_line("READY", 0, LIMIT)?;
        process.stderr.wait_for_line("attached", 0, LIMIT)?;
        Ok(Self { jvm: child_of(process.pid())?, process, report, _directory: directory })
    }

    /// Lets the workload work once.
    fn work(&mut self) -> Result<()> {
        let from = self.process.stdout.bytes().len();
        self.process.send_line("GO")?;
        self.process.stdout.wait_for_line("DONE", from, LIMIT).map(drop)
    }

    fn end(&mut self) -> Result<Report> {
        assert!(self.process.wait_for_exit(LIMIT)?.success(), "{}", self.process.transcript());
        self.read()
    }

    fn read(&self) -> Result<Report> {
        Report::parse(&std::fs::read(&self.report)?)
    }

    fn jvm_lives(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.jvm)).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, state)| !state.trim_start().starts_with(['Z', 'X']))
    }
}

#[test]
fn the_report_is_complete_when_the_jvm_has_ended() -> Result<()> {
    let mut running = Running::start(&[])?;
    running.work()?;
    running.process.close_stdin();
    let report = running.end()?;
    assert_eq!(report.end(), "target exited");
    // The workload's warm-up meets its partner three times, before the flag can be armed or after.
    let classes = report.table("locks", "classes")?;
    let cart = classes.iter().find(|row| row.get("class").is_some_and(|class| class == "Locks$Cart"));
    let enters = cell(cart.context("no row of the contended class")?, "count")?;
    assert!((100..=103).contains(&enters), "{enters}");
    assert_eq!(report.target("command"), "Locks contended 100");
    assert_eq!(report.target("pid"), running.jvm);
    Ok(())
}

/// What jtrace waits for a JVM that does not come.
const LEARN_AT_MOST: Duration = Duration::from_secs(5);

/// The launcher reads a file of arguments before it loads the JVM. Nobody writes into this one.
#[test]
fn a_jvm_that_does_not_come_is_not_waited_for_and_goes_on() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let arguments = directory.path().join("arguments");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &arguments, rustix::fs::FileType::Fifo, mode, 0)?;
    // With its end the launcher reads the end of the file, however the test ends.
    let mut writer = std::fs::File::options().read(true).write(true).open(&arguments)?;
    let mut command = jtrace::command(&["run", "--json", "--"])?;
    command.arg(jdk::any()?.java()).arg(format!("@{}", arguments.display()));
    let mut process = Process::spawn(&mut command)?;
    let (line, _) = process.stderr.wait_for_line("error: process", 0, LIMIT)?;
    assert!(line.ends_with("has not started a JVM in 5 s"), "{line}");
    let jvm: u32 = line.split_whitespace().find_map(|word| word.parse().ok()).context("no pid")?;
    assert_eq!(process.wait_for_exit(LIMIT)?.code(), Some(1), "{}", process.transcript());
    // It waits for its arguments still; with some it begins and ends.
    writer.write_all(b"-version\n")?;
    drop(writer);
    until_true("the program ends", || Ok(!Path::new(&format!("/proc/{jvm}")).exists()))
}

#[test]
fn a_jvm_that_dies_is_said_to_have_died() -> Result<()> {
    let mut running = Running::start(&["-l", "threads"])?;
    running.work()?;
    let status = std::process::Command::new("kill").args(["-9", &running.jvm.to_string()]).status()?;
    assert!(status.success());
    assert_eq!(running.end()?.end(), "target exited");
    running.process.stderr.wait_for_line("the JVM ended", 0, LIMIT)?;
    assert!(running.process.stderr.text().contains("the JVM ended with signal: 9"), "{}", running.process.transcript());
    Ok(())
}

#[test]
fn a_duration_ends_the_session_and_not_the_jvm() -> Result<()> {
    let mut running = Running::start(&["-d", "500ms"])?;
    // The report is there when the session has ended, which jtrace itself has not.
    until_true("there is a report", || {
        assert!(running.process.is_running(), "{}", running.process.transcript());
        Ok(running.read().is_ok())
    })?;
    assert_eq!(running.read()?.end(), "duration");
    running.work()?;
    assert!(running.process.is_running() && running.jvm_lives(), "the terminal is the JVM's until it ends");
    running.process.close_stdin();
    running.end()?;
    Ok(())
}

#[test]
fn sigterm_ends_jtrace_and_leaves_the_jvm_running() -> Result<()> {
    let mut running = Running::start(&[])?;
    running.work()?;
    running.process.signal(Signal::TERM)?;
    assert_eq!(running.end()?.end(), "terminated");
    assert!(running.jvm_lives());
    running.work()?;
    close_and_wait(&mut running)
}

#[test]
fn a_killed_jtrace_leaves_the_jvm_running() -> Result<()> {
    let mut running = Running::start(&[])?;
    running.process.signal(Signal::KILL)?;
    running.process.wait_for_exit(LIMIT)?;
    assert!(running.jvm_lives());
    running.work()?;
    jtrace::succeed(&["list"])?;
    close_and_wait(&mut running)
}

/// Ends the workload of a jtrace that is gone.
fn close_and_wait(running: &mut Running) -> Result<()> {
    running.process.close_stdin();
    until_true("the JVM ends", || Ok(!running.jvm_lives()))
}

/// Runs `jtrace run` to its end.
fn run<S: AsRef<std::ffi::OsStr>>(options: &[&str], command: &[S]) -> Result<Finished> {
    Finished::of(jtrace::command(&["run"])?.args(options).arg("--").args(command), LIMIT)
}

#[test]
fn what_is_no_java_is_refused() -> Result<()> {
    for program in ["/bin/true", "/nonexistent/bin/java", "no-such-java"] {
        let said = jtrace::refused(&run(&[], &[program])?, 1)?;
        assert!(said.contains(program.trim_start_matches("/bin")), "{said}");
    }
    jtrace::refused(&Finished::of(&mut jtrace::command(&["run"])?, LIMIT)?, 2)?;
    Ok(())
}

#[test]
fn a_refused_run_does_not_start_the_jvm() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "idle", "Idle");
    // A JVM that began all the same would say READY; its output is read to its end.
    let finished = run(&["-o", "/nonexistent/x.json"], &launch.command(Path::new("/")))?;
    jtrace::refused(&finished, 1)?;
    jtrace::refused(&run(&["--tui"], &launch.command(Path::new("/")))?, 2)?;
    Ok(())
}

#[test]
fn a_jvm_that_does_not_start_is_said_not_to_have_started() -> Result<()> {
    for jdk in jdk::all()? {
        let finished = run(&["--json"], &[jdk.java().as_os_str(), "-XX:+NoSuchFlag".as_ref(), "Idle".as_ref()])?;
        assert_eq!(finished.code, 1, "{}", finished.stderr);
        assert!(finished.stderr.contains("NoSuchFlag"), "the JVM's own words are heard: {}", finished.stderr);
        assert!(finished.stderr.contains("error: the program ended"), "{}", finished.stderr);
    }
    Ok(())
}

/// What a JVM is started with beyond what the user has written: the flags that its lenses need, and the library where one is asked for.
#[test]
fn a_jvm_gets_the_flags_that_its_lenses_need_and_no_other_words() -> Result<()> {
    let words = |options: &[&str]| -> Result<Vec<String>> {
        let mut running = Running::start(options)?;
        let line = std::fs::read(format!("/proc/{}/cmdline", running.jvm))?;
        close_and_wait(&mut running)?;
        Ok(line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    };
    let own = words(&["-l", "gc,locks"])?;
    assert!(!own.iter().any(|word| word.contains("DTrace") || word.starts_with("-agent")), "{own:?}");
    for (options, added) in [
        (&["-l", "methods", "-I", "Locks::*"][..], "-XX:+DTraceMethodProbes"),
        (&["-l", "alloc", "--exact", "-I", "Locks*"], "-XX:+DTraceAllocProbes"),
        (&["--inside", "--marker", "all=Locks::*"], "-agentpath:"),
    ] {
        let more = words(options)?;
        let new: Vec<&String> = more.iter().filter(|word| !own.contains(word)).collect();
        assert!(matches!(new[..], [word] if word.starts_with(added)), "{options:?}: {new:?}");
        assert_eq!(more.len(), own.len() + 1, "{options:?}: {more:?}");
    }
    Ok(())
}
