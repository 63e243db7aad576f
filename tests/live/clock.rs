//! The sampling clock and the scheduler's events against the kernel's own accounts of a program with one busy thread and
//! one that sleeps a known number of times.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    process::Finished,
    report::Report,
};

const SLEEPS: u64 = 400;
const SLEEP_MS: u64 = 5;
const HZ: u64 = 997;
/// Number of the system call `futex` on x86-64.
const FUTEX: u64 = 202;

fn start() -> Result<Jvm> {
    let (sleeps, ms) = (SLEEPS.to_string(), SLEEP_MS.to_string());
    Launch::new(&jdk::any()?, "clock", "Clock").arguments(&[&sleeps, &ms]).start()
}

/// The events of a session that was shown as a stream.
fn events(finished: &Finished) -> Vec<Value> {
    let lines = finished.stdout.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn of_thread<'a>(events: &'a [Value], kind: &'a str, thread: &'a str) -> impl Iterator<Item = &'a Value> + Clone {
    events.iter().filter(move |event| event["event"] == kind && event["thread"] == thread)
}

fn sum<'a>(events: impl Iterator<Item = &'a Value>, key: &str) -> u64 {
    events.filter_map(|event| event[key].as_u64()).sum()
}

/// Nanoseconds that a thread ran and that it waited for a CPU, by the scheduler's account, and how often it got one.
struct Accounts {
    ran_ns: u64,
    queued_ns: u64,
    slices: u64,
}

fn accounts(pid: u32, thread: &str) -> Result<Accounts> {
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = entry?.path();
        if fs::read_to_string(path.join("comm"))?.trim_end() == thread {
            let text = fs::read_to_string(path.join("schedstat"))?;
            let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
            let [ran_ns, queued_ns, slices] = numbers[..] else { anyhow::bail!("schedstat is not understood: {text}") };
            return Ok(Accounts { ran_ns, queued_ns, slices });
        }
    }
    anyhow::bail!("no thread {thread}")
}

#[test]
fn samples_of_a_busy_thread_add_up_to_the_time_that_it_ran() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "cpu", "--sample-rate", &HZ.to_string()])?;
    let before = accounts(jvm.pid(), "spinner")?;
    jvm.work()?;
    let ran_ns = accounts(jvm.pid(), "spinner")?.ran_ns - before.ran_ns;
    let events = events(&session.stop()?);
    let samples = of_thread(&events, "cpu_sample", "spinner").count() as f64;
    let expected = ran_ns as f64 * HZ as f64 / 1e9;
    // Five standard deviations, were every sample drawn by itself; and what it ran between "attached" and the first look, and
    // between the last look and the end, which is some ms.
    let error = 5.0 * expected.sqrt() + 0.05 * HZ as f64;
    println!("{samples} samples, {expected:.0} +- {error:.0} expected of {ran_ns} ns");
    assert!((samples - expected).abs() < error, "{samples} samples, {expected:.0} +- {error:.0} expected");
    assert!(samples > 200.0, "the thread runs all the time: {samples}");
    let period = 1_000_000_000 / HZ;
    assert!(of_thread(&events, "cpu_sample", "spinner").all(|sample| sample["period_ns"] == period));
    jvm.finish()?;
    Ok(())
}

#[test]
fn every_sleep_is_an_absence_with_its_length_and_its_system_call() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu"])?;
    let counts = jvm.work()?;
    let events = events(&session.stop()?);
    jvm.finish()?;
    let absences: Vec<_> = of_thread(&events, "off_cpu", "sleeper").collect();
    let blocked_ns = sum(absences.iter().copied(), "blocked_ns");
    assert!(absences.len() as u64 >= counts.get("sleeps")?, "{} absences", absences.len());
    // A sleep begins before the thread leaves its CPU; it never ends early.
    let slept_ns = counts.get("slept_ns")?;
    assert!(blocked_ns > slept_ns / 10 * 9, "{blocked_ns} ns away, {slept_ns} ns asleep");
    let ends_in_sleep =
        |absence: &&&Value| absence["task_state"] == 1 && absence["blocked_ns"].as_u64() > Some(4_000_000);
    let asleep = absences.iter().filter(ends_in_sleep).count() as u64;
    // One whose time was over before it could sleep was away as well, but ready to run.
    assert!(asleep * 100 >= SLEEPS * 90, "{asleep} of {} were sleeps", absences.len());
    let calls = absences.iter().filter(ends_in_sleep).map(|absence| absence["syscall"].as_u64());
    assert!(calls.into_iter().all(|call| call == Some(FUTEX)), "HotSpot sleeps on a futex");
    for absence in &absences {
        let (blocked, queued) = (absence["blocked_ns"].as_u64(), absence["run_queue_ns"].as_u64());
        assert!(queued <= blocked, "{absence}");
        assert!(
            absence["task_state"] != 0 || queued == blocked,
            "who is preempted waits for a CPU all the time: {absence}"
        );
    }
    Ok(())
}

#[test]
fn a_busy_thread_waits_in_the_run_queue_as_long_as_the_kernel_says() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu"])?;
    let before = accounts(jvm.pid(), "spinner")?;
    jvm.work()?;
    let after = accounts(jvm.pid(), "spinner")?;
    let events = events(&session.stop()?);
    jvm.finish()?;
    let absences = of_thread(&events, "off_cpu", "spinner");
    let longest_ns = absences.clone().filter_map(|absence| absence["run_queue_ns"].as_u64()).max().unwrap_or(0);
    let (seen, seen_ns) = (absences.clone().count() as u64, sum(absences, "run_queue_ns"));
    let (slices, queued_ns) = (after.slices - before.slices, after.queued_ns - before.queued_ns);
    println!("{seen} absences of {seen_ns} ns; the kernel counts {slices} of {queued_ns} ns");
    // jtrace looks some ms longer than the test, at either end; and at either end one absence can be known to one of them only.
    assert!(seen + 2 >= slices, "{seen} returns to a CPU, the kernel counts {slices}");
    let missed_ns = 2 * longest_ns + 1_000_000;
    assert!(seen_ns + missed_ns >= queued_ns / 10 * 9, "{seen_ns} ns in the run queue, the kernel counts {queued_ns}");
    Ok(())
}

#[test]
fn who_is_away_until_the_end_is_not_forgotten_and_the_books_balance() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "wall", "-o", &recording])?;
    let counts = jvm.work()?;
    let events = events(&session.stop()?);
    jvm.finish()?;
    let waited_ns = of_thread(&events, "off_cpu", "forever").filter_map(|absence| absence["blocked_ns"].as_u64()).max();
    assert!(waited_ns >= Some(counts.get("slept_ns")?), "{waited_ns:?}: it waited while another thread slept");
    let report = Report::parse(&jtrace::succeed(&["report", &recording, "--json"])?.stdout)?;
    for (probe, kind) in [("perf:cpu-clock", "cpu_sample"), ("sched:sched_switch", "off_cpu")] {
        let site = *report.sites(probe).first().with_context(|| format!("no site {probe}"))?;
        let number = |key: &str| site[key].as_u64().unwrap_or_default();
        assert_eq!(number("emitted"), number("delivered") + number("lost"), "{site}");
        assert_eq!(number("hits"), number("emitted") + number("filtered"), "{site}");
        let seen = events.iter().filter(|event| event["event"] == kind).count() as u64;
        assert_eq!(number("delivered"), seen, "{site}");
        assert!(seen > 0);
    }
    let sites = report.0["completeness"]["sites"].as_array().context("no sites")?;
    let is_clock = |site: &&Value| matches!(site["probe"].as_str(), Some("perf:cpu-clock" | "sched:sched_switch"));
    let traps = sum(sites.iter().filter(|site| !is_clock(site)), "hits");
    assert_eq!(report.0["cost"]["traps"], traps, "a sample and a switch are no traps");
    Ok(())
}

#[test]
fn short_absences_are_left_out_in_the_kernel_and_counted() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["-l", "offcpu", "--min-block", "100ms"])?;
    jvm.work()?;
    let report = session.report()?;
    jvm.finish()?;
    let site = *report.sites("sched:sched_switch").first().context("no site")?;
    let number = |key: &str| site[key].as_u64().unwrap_or_default();
    assert!(number("filtered") >= SLEEPS, "{site}");
    assert_eq!(number("hits"), number("emitted") + number("filtered"), "{site}");
    assert_eq!(number("emitted"), number("delivered") + number("lost"), "{site}");
    Ok(())
}

/// Threads that no `thread__start` announces have names: the collector's are made when it works for the first time.
#[test]
fn threads_of_the_jvm_itself_have_names() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu"])?;
    jvm.work()?;
    let events = events(&session.stop()?);
    jvm.finish()?;
    let absences = events.iter().filter(|event| event["event"] == "off_cpu");
    let unnamed =
        absences.clone().filter(|event| event["thread"].as_str().is_none_or(|name| name.starts_with("tid "))).count();
    assert!(absences.clone().any(|event| event["thread"] == "VM Periodic Tas"), "the JVM's own timer");
    // One that has gone before its name could be read has none.
    assert!(unnamed * 100 <= absences.count(), "{unnamed} absences of threads without a name");
    Ok(())
}

/// Each of its 1,500,000 yields is a switch; a budget of 1 % of a core buys some 15,000 a second.
#[test]
fn the_rate_guard_takes_the_scheduler_away_from_a_program_that_switches_all_the_time() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "switches", "Switches").arguments(&["300000"]).start()?;
    // What is too short for an event costs as much as any other, and is seen by the guard as well.
    for arguments in [&["-l", "offcpu"][..], &["-l", "offcpu", "--min-block", "10s"]] {
        let session = Session::attach(jvm.pid(), arguments)?;
        jvm.work()?;
        let report = session.report()?;
        let site = *report.sites("sched:sched_switch").first().context("no site")?;
        let number = |key: &str| site[key].as_u64().unwrap_or_default();
        assert!(site["state"].as_str().is_some_and(|state| state.contains("rate guard")), "{site}");
        assert_eq!(number("emitted"), number("delivered") + number("lost"), "{site}");
        assert!(number("hits") < 200_000, "{site}");
        assert!(report.missing().iter().any(|sentence| sentence.contains("`sched` fires")), "{:?}", report.missing());
    }
    jvm.finish()?;
    Ok(())
}
