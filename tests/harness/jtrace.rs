//! Runs jtrace: to its end, or in the background until it says that it is attached.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

use crate::{
    location,
    patience::PATIENCE,
    process::{Finished, Process, Signal},
    report::Report,
};

/// How long jtrace may take to attach, to detach and print, or to run a short command, on a loaded machine.
pub const LIMIT: Duration = PATIENCE;

/// The jtrace under test.
///
/// # Errors
/// It is not there: tests fail then, they are not skipped.
pub fn binary() -> Result<PathBuf> {
    let path = location("JTRACE_BIN", "release/jtrace");
    ensure!(path.is_file(), "no jtrace at {}: run `cargo xtask build`", path.display());
    Ok(path)
}

/// The environment variable with the budget of sessions for which a test chooses none: where a machine is so slow that counting
/// exactly costs more than jtrace may by itself, as an emulated one is.
const BUDGET: &str = "JTRACE_TEST_MAX_OVERHEAD";

/// A command line of jtrace.
///
/// # Errors
/// There is no jtrace.
pub fn command<S: AsRef<OsStr>>(arguments: &[S]) -> Result<Command> {
    let mut words: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    let budget = std::env::var_os(BUDGET);
    if let Some(budget) = &budget
        && words.first().is_some_and(|word| *word == "attach" || *word == "run")
        && !words.iter().any(|word| *word == "--max-overhead")
    {
        words.splice(1..1, [OsStr::new("--max-overhead"), budget]);
    }
    let mut command = Command::new(binary()?);
    command.args(words).env_remove("RUST_LOG").env("NO_COLOR", "1");
    Ok(command)
}

/// Runs jtrace to its end.
///
/// # Errors
/// There is no jtrace, or it does not end.
pub fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Result<Finished> {
    Finished::of(&mut command(arguments)?, LIMIT)
}

/// Runs jtrace, which must succeed.
///
/// # Errors
/// It does not end, or with another exit code than 0.
pub fn succeed<S: AsRef<OsStr> + std::fmt::Debug>(arguments: &[S]) -> Result<Finished> {
    let finished = run(arguments)?;
    ensure!(finished.code == 0, "jtrace {arguments:?} ended with {}: {}", finished.code, finished.stderr);
    Ok(finished)
}

/// How lines about sessions of others end.
const LEFT_BY_OTHERS: [&str; 2] =
    [", which a killed jtrace had left", ", which a killed jtrace had left to the kernel"];

/// Runs jtrace, which must refuse with this exit code and exactly one line of error and one of hint; gives both lines.
///
/// # Errors
/// It does anything else.
pub fn refuse<S: AsRef<OsStr> + std::fmt::Debug>(arguments: &[S], code: i32) -> Result<String> {
    let finished = run(arguments)?;
    refused(&finished, code).with_context(|| format!("jtrace {arguments:?}"))
}

/// Checks that a finished jtrace refused, see [`refuse`].
///
/// # Errors
/// It did anything else.
pub fn refused(finished: &Finished, code: i32) -> Result<String> {
    let Finished { code: actual, stdout, stderr } = finished;
    ensure!(*actual == code, "exit code {actual}, not {code}: {stderr}");
    ensure!(stdout.is_empty(), "a refusal prints nothing on stdout: {}", finished.text());
    // Whatever starts next takes back what another test's killed jtrace has left, and says so.
    let lines: Vec<&str> =
        stderr.lines().filter(|line| !LEFT_BY_OTHERS.iter().any(|end| line.ends_with(end))).collect();
    ensure!(
        matches!(lines[..], [error, hint] if error.starts_with("error: ") && hint.starts_with("hint: ")),
        "not one line of error and one of hint: {stderr}"
    );
    Ok(stderr.clone())
}

/// A jtrace that is attached to a JVM, with `--json` unless the arguments choose another form.
#[derive(Debug)]
pub struct Session {
    process: Process,
}

impl Session {
    /// Attaches to a process until [`Self::stop`], with these further arguments, and waits until that is done.
    ///
    /// # Errors
    /// jtrace does not attach.
    pub fn attach(pid: u32, arguments: &[&str]) -> Result<Self> {
        let mut words = vec![OsString::from("attach"), OsString::from(pid.to_string())];
        words.extend(arguments.iter().map(OsString::from));
        let chooses = ["--json", "--text", "--tui", "--events"].iter().any(|form| arguments.contains(form));
        if !chooses {
            words.push("--json".into());
        }
        Self::start(&words)
    }

    /// Starts jtrace with these arguments and waits until it is attached.
    ///
    /// # Errors
    /// jtrace does not attach.
    pub fn start<S: AsRef<OsStr>>(arguments: &[S]) -> Result<Self> {
        Self::of(&mut command(arguments)?)
    }

    /// Starts this jtrace and waits until it is attached.
    ///
    /// # Errors
    /// jtrace does not attach.
    pub fn of(command: &mut Command) -> Result<Self> {
        let session = Self { process: Process::spawn(command)? };
        session.process.stderr.wait_for_line("attached", 0, LIMIT).context("jtrace does not attach")?;
        Ok(session)
    }

    /// The process, to signal it or to read what it prints while it runs.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Ends it as Ctrl-C does.
    ///
    /// # Errors
    /// It does not end, or badly.
    pub fn stop(mut self) -> Result<Finished> {
        self.process.signal(Signal::INT)?;
        self.wait()
    }

    /// Ends it as Ctrl-C does and reads the report.
    ///
    /// # Errors
    /// It does not end, or prints no report.
    pub fn report(self) -> Result<Report> {
        Report::parse(&self.stop()?.stdout)
    }

    /// Waits until it ends by itself (target gone, duration over) and reads the report.
    ///
    /// # Errors
    /// It does not end, or prints no report.
    pub fn final_report(mut self) -> Result<Report> {
        Report::parse(&self.wait()?.stdout)
    }

    fn wait(&mut self) -> Result<Finished> {
        self.process.wait(LIMIT)?;
        let finished = Finished::from_process(&self.process)?;
        ensure!(finished.code == 0, "jtrace ended with {}: {}", finished.code, finished.stderr);
        Ok(finished)
    }
}
