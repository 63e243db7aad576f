//! Who presses Ctrl-C twice has jtrace gone within a second, whatever it waits for. What it has changed by then is undone, or
//! owed by the journal, and the target goes on.
//!
//! A busy machine can make any of this late, and nothing makes it early: one of a few tries within the second is enough.
//!
//! Two things see to it, and each would hide that the other does not: a wait that the signal ends, and a limit after which the process ends
//! whatever waits. The second one says so by its exit code. So where a wait can be ended it must be that, and the limit is held by
//! a wait that nothing ends; that it is short is tested by a clock of its own (`tracer-process`).

use std::{
    ffi::{OsStr, OsString},
    os::fd::{AsRawFd as _, OwnedFd},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::{PATIENCE, until_true},
    process::{Process, Signal},
};
use tracer_jvm::jvm::flags::{arm::Locations as _, located::JvmTables};

use super::{FLAGS, contended, has_heard};
use crate::{
    arming::stop,
    deaths::left,
    hostile::{java_below, served_by, spoken_for::SpokenFor, with_a_silent_tmp},
    privileges::full_pipe,
};

/// What is promised.
const PROMISED: Duration = Duration::from_secs(1);
const TRIES: u32 = 5;
/// How jtrace ends that waits for nothing any longer: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Presses Ctrl-C, waits until jtrace has heard it and for what is to come then, and presses it again. Gives how long jtrace is
/// still there, nothing where the first time was enough, and its exit code.
pub(super) fn press_twice(process: &mut Process, between: impl FnOnce() -> Result<()>) -> Result<Gone> {
    process.signal(Signal::INT)?;
    until_true("the first signal is heard", || Ok(!process.is_running() || has_heard(process.pid())))?;
    between()?;
    let began = Instant::now();
    // It may have ended by itself.
    let second = process.signal(Signal::INT);
    let status = process.wait_for_exit(PATIENCE)?;
    let took = if second.is_ok() { began.elapsed() } else { Duration::ZERO };
    println!("gone {took:?} after the second signal: {status}");
    Ok(Gone { took, code: status.code() })
}

/// How jtrace has ended.
#[derive(Debug)]
pub(super) struct Gone {
    took: Duration,
    code: Option<i32>,
}

/// What is to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The wait, which a signal ends.
    Itself,
    /// The limit, as nothing ends the wait.
    Limit,
}

impl Gone {
    fn by(&self) -> By {
        if self.code == Some(INTERRUPTED) { By::Limit } else { By::Itself }
    }
}

/// Whatever is to end it: some commands change nothing, so that the signal itself ends them.
pub(super) fn once_within_a_second(
    what: &str,
    by: Option<By>,
    mut attempt: impl FnMut() -> Result<Gone>,
) -> Result<()> {
    let mut all = Vec::new();
    for _ in 0..TRIES {
        all.push(attempt().with_context(|| what.to_owned())?);
        if all.last().is_some_and(|gone| gone.took <= PROMISED && by.is_none_or(|by| gone.by() == by)) {
            return Ok(());
        }
    }
    bail!("{what}: jtrace is there for {all:?} after the second signal, and its end is not {by:?}")
}

/// Every flag of a JVM, which may be stopped, is down, or the journal has the process.
fn is_undone_or_owed(pid: u32) -> Result<()> {
    let addresses = JvmTables.locate(pid, &FLAGS).map_err(|error| anyhow::anyhow!("{error}"))?;
    ensure!(addresses.len() == FLAGS.len(), "{addresses:?}");
    let memory = tracer_jvm::jvm::memory::Memory::open(pid)?;
    for (flag, address) in addresses {
        let mut byte = [0];
        memory.read_exact(address, &mut byte)?;
        ensure!(byte == [0] || left::is_owed(pid), "{flag} is up, and nobody owes that");
    }
    Ok(())
}

/// The next start leaves the JVM as it was found, and it lives.
fn is_as_before(jvm: &mut Jvm) -> Result<()> {
    jtrace::succeed(&["list"])?;
    left::is_clean(jvm.pid())?;
    is_undone_or_owed(jvm.pid())?;
    jvm.work().map(drop)
}

#[test]
fn two_signals_end_it_within_a_second_beside_a_stopped_jvm() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "methods", "Fib").log("redefine*=info").start()?;
    let pid = jvm.pid().to_string();
    for words in [
        &["attach", &pid, "--json"][..],
        &["methods", &pid, "--lane", "inside", "-I", "Fib::*", "--json"],
        &["markers", &pid, "--marker", "fib=Fib::fib", "--json"],
        &["typestate", &pid, "--inside", "-p", "hasnext", "--later", "--json"],
    ] {
        once_within_a_second(&words.join(" "), Some(By::Itself), || {
            let mut session = Session::start(words)?;
            stop(&mut jvm)?;
            let gone = press_twice(session.process(), || Ok(()))?;
            is_undone_or_owed(jvm.pid())?;
            jvm.process().signal(Signal::CONT)?;
            is_as_before(&mut jvm)?;
            Ok(gone)
        })?;
    }
    left::nothing_is_woven(&jvm)?;
    jvm.finish().map(drop)
}

#[test]
fn two_signals_end_it_while_the_library_says_nothing() -> Result<()> {
    let mut jvm = SpokenFor::start("nothing")?;
    let pid = jvm.pid().to_string();
    once_within_a_second("markers", Some(By::Itself), || {
        let mut session = Session::start(&["markers", &pid, "--marker", "fib=Fib::fib", "--json"])?;
        ensure!(jvm.take()?, "there is no library in the JVM");
        let gone = press_twice(session.process(), || Ok(()))?;
        is_undone_or_owed(jvm.pid())?;
        jvm.give_back()?;
        left::is_clean(jvm.pid())?;
        Ok(gone)
    })?;
    jvm.finish()
}

#[test]
fn two_signals_end_it_and_what_it_has_started_while_a_tmp_answers_nobody() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let launch =
        Launch::new(&jdk::any()?, "locks", "Locks").flags(&["-XX:-UsePerfData"]).arguments(&["contended", "5"]);
    let mut outer = with_a_silent_tmp(directory.path(), &launch)?;
    let jvm = java_below(outer.pid())?;
    let pid = jvm.to_string();
    for words in [
        &["perf-map", &pid][..],
        &["markers", &pid, "--marker", "all=Locks::*", "--text"],
        &["heap", &pid],
        &["leaks", &pid],
    ] {
        once_within_a_second(&words.join(" "), None, || {
            let mut process = Process::spawn(&mut jtrace::command(words)?)?;
            until_true("it waits for the file system", || {
                Ok(!process.is_running() || served_by(process.pid(), jvm).is_ok_and(waits_for_a_file))
            })?;
            ensure!(process.is_running(), "{}", process.transcript());
            let gone = press_twice(&mut process, || Ok(()))?;
            is_undone_or_owed(jvm)?;
            Ok(gone)
        })?;
    }
    outer.work()?;
    left::is_clean(jvm)?;
    outer.finish().map(drop)
}

/// Whether a process is in a call by which a file is reached (`openat`, `newfstatat`, `statx`, ...), and sleeps there.
fn waits_for_a_file(pid: u32) -> bool {
    let text = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    text("stat").rsplit(") ").next().is_some_and(|rest| rest.starts_with('D') || rest.starts_with('S'))
        && ["2 ", "257 ", "262 ", "332 ", "437 "].iter().any(|call| text("syscall").starts_with(call))
}

/// A jtrace whose standard output is this file, opened anew.
fn into(output: impl AsRef<OsStr>, words: &[&str]) -> Result<Process> {
    let mut command = Command::new("sh");
    command.args([OsStr::new("-c"), OsStr::new("exec \"$@\" >\"$0\""), output.as_ref()]);
    command.arg(jtrace::binary()?).args(words).env("NO_COLOR", "1");
    Process::spawn(&mut command)
}

/// The name under which this program's end of a pipe can be opened.
fn name_of(end: &OwnedFd) -> OsString {
    Path::new("/proc").join(format!("{}/fd/{}", std::process::id(), end.as_raw_fd())).into_os_string()
}

/// Two signals, the second once the flag is restored; the JVM is as it was then.
fn press_twice_and_restore(process: &mut Process, jvm: &mut Jvm) -> Result<Gone> {
    let gone = press_twice(process, || until_true("the flag is restored", || Ok(jvm.flag(FLAGS[0])? == "false")))?;
    is_as_before(jvm)?;
    Ok(gone)
}

#[test]
fn two_signals_end_it_while_nobody_reads_the_report() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let (_reader, writer) = full_pipe()?;
    let writer = OwnedFd::from(writer);
    for form in ["--json", "--text"] {
        once_within_a_second(form, Some(By::Limit), || {
            let mut process = into(name_of(&writer), &["attach", &pid, "-l", "locks", form])?;
            process.stderr.wait_for_line("attached", 0, jtrace::LIMIT)?;
            press_twice_and_restore(&mut process, &mut jvm)
        })?;
    }
    jvm.finish().map(drop)
}

#[test]
fn two_signals_end_it_while_nobody_reads_events() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let (_reader, writer) = full_pipe()?;
    let writer = OwnedFd::from(writer);
    let directory = tempfile::tempdir()?;
    let fifo = directory.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status()?;
    ensure!(made.success(), "mkfifo failed");
    // Opened for both, so that it has a reader.
    let _other = std::fs::File::options().read(true).write(true).open(&fifo)?;
    for output in [name_of(&writer), fifo.into_os_string()] {
        once_within_a_second("--events", Some(By::Itself), || {
            let mut process = into(&output, &["attach", &pid, "-l", "locks", "--events"])?;
            until_true("the flag is armed", || Ok(jvm.flag(FLAGS[0])? == "true"))?;
            // More than a pipe holds.
            for _ in 0..4 {
                jvm.work()?;
            }
            press_twice_and_restore(&mut process, &mut jvm)
        })?;
    }
    jvm.finish().map(drop)
}
