//! `jtrace run --inside`: what is named is woven before the program begins, so that its first call counts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{self, LIMIT},
    jvm::{Launch, child_of},
    patience::until_true,
    process::{Finished, Process, Signal},
    report::Report,
};

use super::counts;

/// How often each release is started.
const TIMES: usize = 3;

/// A program behind `jtrace run --inside`.
struct Started {
    process: Process,
    report: PathBuf,
    _directory: tempfile::TempDir,
}

impl Started {
    fn begin(jdk: &Jdk, feature: &str, program: &[&str], options: &[&str]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let report = directory.path().join("report.json");
        let launch = Launch::new(jdk, feature, program[0]).arguments(&program[1..]);
        let mut command = jtrace::command(&["run", "--inside", "--max-overhead", "100000%"])?;
        command.args(options).arg("-o").arg(&report).arg("--").args(launch.command(directory.path()));
        Ok(Self { process: Process::spawn(&mut command)?, report, _directory: directory })
    }

    /// Lets the program work once and end; gives what it has printed.
    fn finish(&mut self) -> Result<(Report, Expected)> {
        self.work()?;
        self.end()
    }

    /// The same, where the session ends first: code and methods of a JVM that has ended have no names.
    fn finish_before_the_program(&mut self) -> Result<(Report, Expected)> {
        self.work()?;
        self.process.signal(Signal::INT)?;
        self.process.stderr.wait_for_line("wrote", 0, LIMIT)?;
        self.end()
    }

    fn work(&mut self) -> Result<()> {
        self.process.send_line("GO")?;
        self.process.stdout.wait_for_line("DONE", 0, LIMIT).map(drop)
    }

    fn end(&mut self) -> Result<(Report, Expected)> {
        self.process.close_stdin();
        ensure!(self.process.wait(LIMIT)?.success(), "{}", self.process.transcript());
        let report = Report::parse(&fs::read(&self.report)?)?;
        report.nothing_lost()?;
        Ok((report, Expected::parse(&self.process.stdout.text())?))
    }
}

#[test]
fn every_call_counts_from_the_first_one_on() -> Result<()> {
    for jdk in jdk::all()? {
        for time in 0..TIMES {
            let way: &[&str] = if time == 1 { &["--each"] } else { &[] };
            let place = || format!("the {time}. time on JDK {}", jdk.release);
            // The program's own classes, and some that are there before it.
            let options =
                [&["--marker", "fib=Fib::f*b", "--marker", "main=Fib::main", "--marker", "start=Fib::start"], way];
            let mut started = Started::begin(&jdk, "methods", &["Fib"], &options.concat())?;
            let (report, mut expected) = started.finish().with_context(place)?;
            // It was entered before anything could be asked, and is left when stdin ends.
            expected.add("expected calls Fib.main 1")?;
            counts::agree_with(&report, &expected, |all| all).with_context(place)?;
        }
    }
    Ok(())
}

/// Of classes that lie in the JVM's own modules, too.
#[test]
fn objects_are_followed_from_the_first_one_on() -> Result<()> {
    for jdk in jdk::all()? {
        let place = || format!("on JDK {}", jdk.release);
        let mut started = Started::begin(&jdk, "typestate", &["HasNextOnce", "bad"], &["-p", "hasnextonce"])?;
        let (report, expected) = started.finish_before_the_program().with_context(place)?;
        // The JDK's own code may break it, too, while it starts.
        let rows = report.table("typestate", "violations")?;
        let own = rows.iter().filter(|row| super::text(row, "place").starts_with("HasNextOnce.bad"));
        let count: u64 = own.map(|row| tests::report::cell(row, "count")).sum::<Result<u64>>()?;
        let number = expected.one("illegal", "HasNextOnce")?;
        let missing = report.missing();
        ensure!(count == number, "{count} and not {number} on JDK {}: {:?}, {missing:?}", jdk.release, rows.first());
    }
    Ok(())
}

/// The thread that waits for jtrace goes on without it.
#[test]
fn a_jtrace_that_is_killed_while_the_program_waits_leaves_it_running() -> Result<()> {
    for jdk in jdk::all()? {
        let mut started = Started::begin(&jdk, "methods", &["Fib"], &["--marker", "fib=Fib::fib"])?;
        until_true("the JVM loads the library", || Ok(has_library(started.process.pid())))?;
        started.process.signal(Signal::KILL)?;
        started.process.wait_for_exit(LIMIT)?;
        started.process.send_line("GO")?;
        started.process.stdout.wait_for_line("DONE", 0, LIMIT).with_context(|| format!("on JDK {}", jdk.release))?;
        started.process.close_stdin();
    }
    Ok(())
}

/// Whether the JVM below a jtrace has mapped the library.
fn has_library(jtrace: u32) -> bool {
    let maps = child_of(jtrace).ok().and_then(|jvm| fs::read_to_string(format!("/proc/{jvm}/maps")).ok());
    maps.is_some_and(|maps| maps.contains("/.jtrace-inside-"))
}

#[test]
fn a_run_that_is_refused_has_not_begun_the_program() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "methods", "Fib");
    for options in [&["--inside", "-l", "markers"][..], &["-l", "markers", "--marker", "fib=Fib::fib"]] {
        let mut command = jtrace::command(&["run"])?;
        command.args(options).arg("--").args(launch.command(Path::new("/")));
        // A program that began would say READY.
        jtrace::refused(&Finished::of(&mut command, LIMIT)?, 2).with_context(|| format!("{options:?}"))?;
    }
    Ok(())
}
