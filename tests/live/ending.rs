//! Every way to end jtrace: signals, a reader that does not read, memory and descriptors that cannot be had, and death at any
//! moment of any command. The target is as it was, or is after the next start.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::{until, until_true},
    process::{Process, Signal},
};

const FLAG: &str = "DTraceMonitorProbes";
const FLAGS: [&str; 3] = [FLAG, "DTraceMethodProbes", "DTraceAllocProbes"];

/// Signals whose default ends a process. `SIGXCPU` is what the kernel bounds the urgent thread with as well: it ends nothing
/// as long as CPU time is left.
const SIGNALS: [Signal; 14] = [
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

/// Numbers that look random and are the same for each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap_or(0)]
    }
}

/// What can be killed: a command, and what comes behind the pid.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("attach", &[]),
    ("methods", &["-I", "Fib::*"]),
    ("calls", &["-I", "Fib::*"]),
    ("alloc", &["-I", "java.lang.*"]),
    ("jni", &[]),
    ("markers", &["--inside", "--marker", "fib=Fib::fib"]),
    ("typestate", &["--inside", "-p", "hasnext", "--later"]),
];

/// Ends commands at random moments by random signals, often by one that cannot be caught.
fn kill(times: u64, seed: u64) -> Result<()> {
    let jdks = jdk::all()?;
    let mut dice = Dice(seed);
    for jdk in &jdks {
        let mut jvm = Launch::new(jdk, "methods", "Fib").start()?;
        let right = jvm.work()?;
        let pid = jvm.pid().to_string();
        for round in 0..times.div_ceil(jdks.len() as u64) {
            let (command, arguments) = dice.pick(&COMMANDS);
            let signal = if dice.below(2) == 0 { Signal::KILL } else { dice.pick(&SIGNALS) };
            let moment = Duration::from_millis(dice.below(700));
            let what = format!("JDK {}, round {round}: {command}, {signal:?} after {moment:?}", jdk.release);
            let words = [&[command, &pid][..], arguments, &["--json"]].concat();
            let mut process = Process::spawn(&mut jtrace::command(&words)?)?;
            thread::sleep(moment);
            let _ = process.signal(signal);
            process.wait_for_exit(jtrace::LIMIT).with_context(|| what.clone())?;
            ensure!(jvm.process().is_running(), "{what}: the JVM is gone");
            if round % 8 == 7 || signal != Signal::KILL {
                restored_by_the_next_start(&jvm).with_context(|| format!("{what}\n{}", process.transcript()))?;
            }
        }
        restored_by_the_next_start(&jvm).with_context(|| format!("JDK {}", jdk.release))?;
        // Nothing stays woven either, and nobody inside: one that does would have this one refused.
        let inside = ["markers", &pid, "--inside", "--marker", "fib=Fib::fib", "--json"];
        let session = until("nobody is inside any more", || Ok(Session::start(&inside).ok()))?;
        session.report()?;
        ensure!(jvm.work()? == right, "JDK {} counts something else", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn twenty_deaths_at_any_moment_of_any_command_leave_the_target_as_it_was() -> Result<()> {
    kill(20, 1)
}

#[test]
#[ignore = "takes half an hour: `cargo xtask nightly`"]
fn a_thousand_deaths_at_any_moment_of_any_command_leave_the_target_as_it_was() -> Result<()> {
    kill(1000, 2)
}
