//! Every way to end jtrace: signals, a reader that does not read, memory and descriptors that cannot be had. The target is as it
//! was, or is after the next start. Death at any moment is tested in `deaths`.

mod lock;
mod second;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Resource, Rlimit, prlimit};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until_true,
    process::{Process, Signal, pid_of},
};
use tracer_jvm::jvm::{
    arming::{recompile, snapshot::Snapshot},
    find,
};

use crate::{
    arming::{of_class, stop},
    privileges::full_pipe,
};

const FLAG: &str = "DTraceMonitorProbes";
/// Methods of a class of `Arming` that is compiled anew.
const CHOSEN: &str = "Arming$Chosen::*";
pub(crate) const FLAGS: [&str; 3] = [FLAG, "DTraceMethodProbes", "DTraceAllocProbes"];

/// Signals whose default ends a process. `SIGXCPU` is what the kernel bounds the urgent thread with as well: it ends nothing
/// as long as CPU time is left.
pub(crate) const SIGNALS: [Signal; 15] = [
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
    Signal::IO,
    Signal::POWER,
];

fn contended(jdk: &Jdk) -> Result<Jvm> {
    Launch::new(jdk, "locks", "Locks").arguments(&["contended", "200"]).start()
}

/// A JDK that compiles chosen classes anew.
fn that_recompiles() -> Result<Jdk> {
    jdk::all()?.into_iter().find(|jdk| jdk.release >= recompile::SINCE).context("no JDK that recompiles")
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

/// They have no names that a library would take.
#[test]
fn the_first_and_the_last_signal_in_real_time_end_a_session_in_order() -> Result<()> {
    let jvm = contended(&jdk::any()?)?;
    for number in ["-34", "-64"] {
        let mut session = Session::attach(jvm.pid(), &["-l", "locks"])?;
        let sent = Command::new("kill").args([number, &session.process().pid().to_string()]).status()?;
        ensure!(sent.success(), "kill {number} failed");
        let report = session.final_report().with_context(|| number.to_owned())?;
        assert_eq!(report.end(), "terminated", "{number}");
        assert_eq!(jvm.flag(FLAG)?, "false", "after {number}");
    }
    Ok(())
}

/// The kernel sends it to the urgent thread as well, so by itself it ends nothing.
#[test]
fn cpu_time_that_is_used_up_ends_a_session_in_order_and_the_signal_alone_does_not() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let mut session = Session::attach(jvm.pid(), &["-l", "locks", "--max-overhead", "100000%"])?;
    let process = session.process();
    process.signal(Signal::XCPU)?;
    jvm.work()?;
    ensure!(process.is_running(), "the signal alone has ended it");
    let limit = Rlimit { current: Some(1), maximum: None };
    prlimit(Some(pid_of(process.pid())?), Resource::Cpu, limit)?;
    // Work alone lets it use a second in minutes. Each signal that it hears costs it some, and ends nothing before the limit.
    until_true("its CPU time is used up", || {
        for _ in 0..1000 {
            if !session.process().is_running() {
                return Ok(true);
            }
            // It may have ended since.
            let _ = session.process().signal(Signal::XCPU);
        }
        Ok(false)
    })?;
    let report = session.final_report()?;
    assert_eq!(report.end(), "out of CPU time");
    assert_eq!(jvm.flag(FLAG)?, "false");
    jvm.finish().map(drop)
}

/// Whether the thread of a jtrace that hears signals has heard one. It makes two event descriptors, one behind the other, and makes
/// one readable with each signal. Others become readable with events; who took one of these for it pressed again too early, and the
/// kernel made the two signals one.
fn has_heard(pid: u32) -> bool {
    let count = |descriptor: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("eventfd-count:"))?.trim().parse::<u64>().ok()
    };
    let entries = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten();
    let mut descriptors: Vec<u32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    descriptors.sort_unstable();
    let of_signals = descriptors.into_iter().find(|one| count(*one).is_some() && count(one + 1).is_some());
    // It may have ended by now.
    of_signals.and_then(count).is_some_and(|count| count > 0)
}

/// A JVM that is stopped is asked nothing for longer than it takes to see that. Whoever waited would say that it came too late.
#[test]
fn one_signal_ends_it_beside_a_stopped_jvm_and_says_that_it_is_stopped() -> Result<()> {
    let jdk = that_recompiles()?;
    let mut jvm = Launch::new(&jdk, "arming", "Arming").flags(&["-Xbatch"]).start()?;
    let pid = jvm.pid().to_string();
    for words in [
        &["methods", &pid, "--lane", "inside", "-I", CHOSEN, "--json"][..],
        &["markers", &pid, "--marker", &format!("all={CHOSEN}"), "--json"],
        &["typestate", &pid, "--inside", "-p", "hasnext", "--later", "--json"],
        &["methods", &pid, "-I", CHOSEN, "--arm", "recompile", "--json"],
        // Nothing of it is asked: its flag is a byte of its memory.
        &["attach", &pid, "-l", "locks", "--json"],
    ] {
        let mut session = Session::start(words)?;
        stop(&mut jvm)?;
        let process = session.process();
        process.signal(Signal::INT)?;
        let status = process.wait(jtrace::LIMIT)?;
        let said = process.stdout.text() + &process.stderr.text();
        ensure!(status.success(), "{words:?}: {status}, {said}");
        let is_asked = words[0] != "attach";
        ensure!(!is_asked || said.contains("is stopped"), "{words:?} does not say it: {said}");
        ensure!(!said.contains("too late") && !said.contains("too long"), "{words:?} has waited: {said}");
        jvm.process().signal(Signal::CONT)?;
        restored_by_the_next_start(&jvm)?;
    }
    jvm.finish().map(drop)
}

/// Code that calls can be dropped by the JVM alone. Who presses Ctrl-C once more does not wait for one that is stopped.
#[test]
fn a_second_signal_leaves_what_a_stopped_jvm_is_owed_to_the_next_start() -> Result<()> {
    let jdk = that_recompiles()?;
    let mut jvm = Launch::new(&jdk, "arming", "Arming").flags(&["-Xbatch"]).start()?;
    let pid = jvm.pid().to_string();
    let target = find::Jvm::open(jvm.pid())?;
    let owed = format!("/run/jtrace/recompiled/{pid}-{}.json", target.target.start_ticks);
    let owed = std::path::Path::new(&owed);
    let mut session = Session::start(&["methods", &pid, "-I", CHOSEN, "--arm", "recompile", "--json"])?;
    ensure!(owed.exists(), "nothing was written down before");
    stop(&mut jvm)?;
    let process = session.process();
    process.signal(Signal::INT)?;
    until_true("the first signal is heard", || Ok(!process.is_running() || has_heard(process.pid())))?;
    // It may have given up by itself already, as it waits for a JVM that is alive for two seconds.
    let _ = process.signal(Signal::INT);
    let status = process.wait(jtrace::LIMIT)?;
    let said = process.stderr.text();
    let in_order = status.success() && said.contains(&format!("process {pid}"));
    let at_once = status.code() == Some(130) && said.contains("jtrace ends without waiting");
    ensure!(in_order || at_once, "{status}: {said}");
    ensure!(owed.exists(), "what was not undone is not owed: {said}");
    let calling = || -> Result<usize> { Ok(of_class(&Snapshot::take(&target)?, "Arming$Chosen").0) };
    ensure!(calling()? > 0, "a stopped JVM has dropped code");
    jvm.process().signal(Signal::CONT)?;
    until_true("the next start undoes it", || {
        jtrace::succeed(&["list"])?;
        Ok(!owed.exists())
    })?;
    jvm.work()?;
    assert_eq!((calling()?, jvm.flag("DTraceMethodProbes")?.as_str()), (0, "false"));
    jvm.finish().map(drop)
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
    let handle = rustix::process::pidfd_open(pid_of(child.id())?, rustix::process::PidfdFlags::empty())?;
    rustix::process::pidfd_send_signal(&handle, Signal::INT)?;
    until_true("the flag is restored while nobody reads", || Ok(jvm.flag(FLAG)? == "false"))?;
    // It may have ended already, where its reader's time was over.
    let _ = rustix::process::pidfd_send_signal(&handle, Signal::INT);
    until_true("it ends although nobody reads", || Ok(child.try_wait()?.is_some()))?;
    let code = child.wait()?.code();
    // Where its own wait ends first, that is an error.
    ensure!(code == Some(1) || code == Some(130), "it says that all is well: {code:?}");
    let mut text = String::new();
    child.stdout.take().context("piped")?.read_to_string(&mut text)?;
    // A pipe has 16 pages, and each piece takes whole ones but for its last.
    ensure!(text.len() >= 32_768, "only {} bytes: the pipe was not full", text.len());
    jvm.finish().map(drop)
}

/// What was said to nobody is counted, and said as soon as there is room.
#[test]
fn a_full_standard_error_holds_up_neither_the_session_nor_the_undo() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let (mut reader, writer) = full_pipe()?;
    let mut child = jtrace::command(&["attach", &pid, "-l", "locks", "--events"])?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(writer)
        .spawn()?;
    // The loop of the session runs, behind the line that says that it is attached.
    let mut events = BufReader::new(child.stdout.take().context("piped")?);
    let seen = thread::spawn(move || -> std::io::Result<_> {
        let mut first = String::new();
        events.read_line(&mut first)?;
        Ok((first, events))
    });
    until_true("the flag is armed", || Ok(jvm.flag(FLAG)? == "true"))?;
    until_true("an event comes", || {
        jvm.work()?;
        Ok(seen.is_finished())
    })?;
    let (first, mut events) = seen.join().map_err(|_| anyhow::anyhow!("the reader failed"))??;
    ensure!(first.starts_with('{'), "no event: {first}");
    // The rest is read, so that only standard error could hold it up.
    let rest = thread::spawn(move || std::io::copy(&mut events, &mut std::io::sink()));
    let handle = rustix::process::pidfd_open(pid_of(child.id())?, rustix::process::PidfdFlags::empty())?;
    // Room for what is said at the end.
    let mut page = [0; 8192];
    reader.read_exact(&mut page)?;
    rustix::process::pidfd_send_signal(&handle, Signal::INT)?;
    until_true("it ends although nobody reads what it says", || Ok(child.try_wait()?.is_some()))?;
    ensure!(child.wait()?.success(), "the session failed");
    ensure!(jvm.flag(FLAG)? == "false", "the flag stays up");
    rest.join().map_err(|_| anyhow::anyhow!("the reader failed"))??;
    let mut said = String::new();
    reader.read_to_string(&mut said)?;
    ensure!(said.contains("left out here") && !said.contains("attached"), "{}", said.trim_matches('.'));
    jvm.finish().map(drop)
}

/// 8 descriptors and 60 MB were too little for an end: a deadlock, or pages of text.
#[test]
fn memory_and_descriptors_that_cannot_be_had_end_it_with_one_line() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let attach = ["attach", &pid, "-d", "1s", "--json"];
    let limits = ["--nofile=8", "--nofile=12", "--nofile=20", "--nofile=40", "--data=60000000", "--data=30000000"];
    let looks = [["doctor", &pid], ["threads", &pid]].into_iter();
    let looks = looks.flat_map(|look| [12, 16, 20, 24, 30].map(|mb| (format!("--data={mb}000000"), look.to_vec())));
    for (limit, words) in limits.map(|limit| (limit.to_owned(), attach.to_vec())).into_iter().chain(looks) {
        let mut command = Command::new("prlimit");
        command.arg(&limit).arg(jtrace::binary()?).args(&words);
        let mut process = Process::spawn(command.env("RUST_BACKTRACE", "1"))?;
        let status = process.wait(jtrace::LIMIT).with_context(|| format!("{limit}: {}", process.transcript()))?;
        let said = process.stderr.text();
        let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
        ensure!(errors <= 2 && !said.contains("stack backtrace"), "{limit} {words:?}: {said}");
        ensure!(errors == 0 || !status.success(), "{limit} {words:?} is a success: {said}");
        restored_by_the_next_start(&jvm).with_context(|| limit.clone())?;
    }
    jvm.work()?;
    jvm.finish().map(drop)
}
