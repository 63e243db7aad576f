//! Every way to end jtrace: signals, a reader that does not read, memory and descriptors that cannot be had. The target is as it
//! was, or is after the next start. Death at any moment is tested in `deaths`.

use std::{
    io::Read as _,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until_true,
    process::{Process, Signal},
};

const FLAG: &str = "DTraceMonitorProbes";
pub(crate) const FLAGS: [&str; 3] = [FLAG, "DTraceMethodProbes", "DTraceAllocProbes"];

/// Signals whose default ends a process. `SIGXCPU` is what the kernel bounds the urgent thread with as well: it ends nothing
/// as long as CPU time is left.
pub(crate) const SIGNALS: [Signal; 14] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TRAP,
    Signal::ABORT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::TERM,
    Signal::STKFLT,
    Signal::XFSZ,
    Signal::VTALARM,
    Signal::PROF,
    Signal::POWER,
];

fn contended(jdk: &Jdk) -> Result<Jvm> {
    Launch::new(jdk, "locks", "Locks").arguments(&["contended", "200"]).start()
}

fn is_restored(jvm: &Jvm) -> Result<bool> {
    Ok(FLAGS.iter().map(|flag| jvm.flag(flag)).collect::<Result<Vec<_>>>()?.iter().all(|value| value == "false"))
}

/// What takes longer than `list` waits for goes on by itself.
fn restored_by_the_next_start(jvm: &Jvm) -> Result<()> {
    jtrace::succeed(&["list"])?;
    until_true("all flags are down after the next start", || is_restored(jvm))
}

#[test]
fn every_signal_that_can_be_caught_ends_a_session_in_order() -> Result<()> {
    let jvm = contended(&jdk::any()?)?;
    for signal in SIGNALS {
        let mut session = Session::attach(jvm.pid(), &["-l", "locks"])?;
        session.process().signal(signal)?;
        let report = session.final_report().with_context(|| format!("{signal:?}"))?;
        ensure!(report.end() != "running", "{signal:?}");
        assert_eq!(jvm.flag(FLAG)?, "false", "after {signal:?}");
    }
    Ok(())
}

/// The first signal detaches although nobody takes the events; the second one ends the wait for that reader.
#[test]
fn a_reader_who_does_not_read_holds_up_neither_the_governor_nor_the_end() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let mut child = jtrace::command(&["attach", &pid, "-l", "locks", "--events"])?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    until_true("the flag is armed", || Ok(jvm.flag(FLAG)? == "true"))?;
    // More than a pipe holds.
    for _ in 0..4 {
        jvm.work()?;
    }
    let handle =
        rustix::process::pidfd_open(tests::process::pid_of(child.id())?, rustix::process::PidfdFlags::empty())?;
    rustix::process::pidfd_send_signal(&handle, Signal::INT)?;
    until_true("the flag is restored while nobody reads", || Ok(jvm.flag(FLAG)? == "false"))?;
    // It may have ended already, where its reader's time was over.
    let _ = rustix::process::pidfd_send_signal(&handle, Signal::INT);
    until_true("it ends although nobody reads", || Ok(child.try_wait()?.is_some()))?;
    let mut text = String::new();
    child.stdout.take().context("piped")?.read_to_string(&mut text)?;
    // A pipe has 16 pages, and each piece takes whole ones but for its last.
    ensure!(text.len() >= 32_768, "only {} bytes: the pipe was not full", text.len());
    jvm.finish().map(drop)
}

/// 8 descriptors and 60 MB were too little for an end: a deadlock, or pages of text.
#[test]
fn memory_and_descriptors_that_cannot_be_had_end_it_with_one_line() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    for limit in ["--nofile=8", "--nofile=12", "--nofile=20", "--nofile=40", "--data=60000000", "--data=30000000"] {
        let mut command = Command::new("prlimit");
        command.arg(limit).arg(jtrace::binary()?).args(["attach", &pid, "-d", "1s", "--json"]);
        let mut process = Process::spawn(command.env("RUST_BACKTRACE", "1"))?;
        process.wait(jtrace::LIMIT).with_context(|| format!("{limit}: {}", process.transcript()))?;
        let said = process.stderr.text();
        let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
        ensure!(errors <= 2 && !said.contains("stack backtrace"), "{limit}: {said}");
        restored_by_the_next_start(&jvm).with_context(|| limit.to_owned())?;
    }
    jvm.work()?;
    jvm.finish().map(drop)
}
