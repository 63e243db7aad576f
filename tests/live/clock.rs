//! The sampling clock and the scheduler's events against the kernel's own accounts of a program with one busy thread and
//! one that sleeps a known number of times.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until,
    process::Finished,
    report::Report,
};

const SLEEPS: u64 = 400;
const SLEEP_MS: u64 = 5;
const HZ: u64 = 997;
/// CPU time of the busy thread that a test wants at least, however rarely it gets a CPU.
const ENOUGH_NS: u64 = 1_000_000_000;
/// Number of the system call `futex` on x86-64.
const FUTEX: u64 = 202;
/// The kernel's state of a thread that lost its CPU.
const READY: u64 = 0;

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

/// Time that the host took from all CPUs so far. What the kernel says of a thread leaves it out, where the host tells of it; the timer
/// that samples goes on. It is told in hundredths of a second.
fn stolen_ns() -> Result<u64> {
    let stat = fs::read_to_string("/proc/stat")?;
    let all = stat.lines().next().context("/proc/stat is empty")?;
    let hundredths: u64 = all.split_whitespace().nth(8).context("/proc/stat tells of no stolen time")?.parse()?;
    Ok(hundredths * 10_000_000)
}

/// Runs in which samples may be missing: while a host runs something else than the guest that this runs in, the guest's clock stands
/// still for its timers and goes on for its accounts.
const RUNS: usize = 5;

#[test]
fn samples_of_a_busy_thread_add_up_to_the_time_that_it_ran() -> Result<()> {
    let mut seen = Vec::new();
    while seen.len() < RUNS {
        let (samples, low, high) = samples_of_a_busy_thread()?;
        assert!(samples <= high, "{samples} samples, {low:.0} to {high:.0} expected");
        if samples >= low {
            return Ok(());
        }
        seen.push(format!("{samples} samples, {low:.0} to {high:.0} expected"));
    }
    anyhow::bail!("too few samples in each run: {}", seen.join("; "))
}

/// How many there are, and the least and the most that may be expected.
fn samples_of_a_busy_thread() -> Result<(f64, f64, f64)> {
    let mut jvm = start()?;
    let ran_ns = || Ok::<_, anyhow::Error>(accounts(jvm.pid(), "spinner")?.ran_ns);
    // A thread takes its name after it has started.
    let before_ns = until("the busy thread has its name", || Ok(ran_ns().ok()))?;
    let stolen_before_ns = stolen_ns()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "cpu", "--sample-rate", &HZ.to_string()])?;
    let attached_ns = ran_ns()?;
    let last_ns = until("the busy thread has run for long enough", || {
        Ok(Some(ran_ns()?).filter(|now_ns| now_ns - attached_ns > ENOUGH_NS))
    })?;
    let events = events(&session.stop()?);
    let (after_ns, stolen_after_ns) = (ran_ns()?, stolen_ns()?);
    jvm.work()?;
    let samples = of_thread(&events, "cpu_sample", "spinner").count() as f64;
    // jtrace looks for longer than between the inner two accounts, and for less than between the outer two. A host that takes a CPU for
    // less than a period costs no sample, so what it took is time that may be sampled. Five standard deviations, were every sample
    // drawn by itself.
    let expected = |ns: u64| ns as f64 * HZ as f64 / 1e9;
    let longest_ns = after_ns - before_ns + (stolen_after_ns - stolen_before_ns);
    let (low, high) = (expected(last_ns - attached_ns), expected(longest_ns));
    let (low, high) = (0.8 * low - 5.0 * low.sqrt(), 1.05 * high + 5.0 * high.sqrt());
    let period = 1_000_000_000 / HZ;
    assert!(of_thread(&events, "cpu_sample", "spinner").all(|sample| sample["period_ns"] == period));
    jvm.finish()?;
    Ok((samples, low, high))
}

#[test]
fn every_sleep_is_an_absence_with_its_length_and_its_system_call() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("x.json").to_string_lossy().into_owned();
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu", "--max-overhead", "100000%", "-o", &file])?;
    let counts = jvm.work()?;
    let events = events(&session.stop()?);
    let report = Report::parse(&fs::read(&file)?)?;
    let untraced = report.untraced_absences()?;
    jvm.finish()?;
    let absences: Vec<_> = of_thread(&events, "off_cpu", "sleeper").collect();
    // A sleep whose time is over before the thread leaves its CPU is no absence: the kernel counts those that are.
    let of_state = |state: u64| absences.iter().filter(|absence| absence["task_state"] == state).count() as u64;
    let (asleep, switches) = (absences.len() as u64 - of_state(READY), counts.get("switches")?);
    // Of some switches the kernel does not tell; jtrace says of how many.
    let told = switches.saturating_sub(untraced);
    assert!(told > 0 && asleep >= told, "{asleep} absences asleep of {}, {switches} switches", absences.len());
    // A sleep begins before the thread leaves its CPU; it never ends early.
    let (blocked_ns, asked_ns) = (sum(absences.iter().copied(), "blocked_ns"), told.min(SLEEPS) * SLEEP_MS * 1_000_000);
    assert!(blocked_ns > asked_ns / 10 * 9, "{blocked_ns} ns away, {asked_ns} ns asleep");
    let ends_in_sleep =
        |absence: &&&Value| absence["task_state"] == 1 && absence["blocked_ns"].as_u64() > Some(4_000_000);
    assert!(absences.iter().any(|absence| ends_in_sleep(&absence)), "none of {} was a sleep", absences.len());
    let calls = absences.iter().filter(ends_in_sleep).map(|absence| absence["syscall"].as_u64());
    assert!(calls.into_iter().all(|call| call == Some(FUTEX)), "HotSpot sleeps on a futex");
    for absence in &absences {
        let (blocked, queued) = (absence["blocked_ns"].as_u64(), absence["run_queue_ns"].as_u64());
        assert!(queued <= blocked, "{absence}");
        assert!(
            absence["task_state"] != READY || queued == blocked,
            "who is preempted waits for a CPU all the time: {absence}"
        );
    }
    Ok(())
}

#[test]
fn a_busy_thread_waits_in_the_run_queue_as_long_as_the_kernel_says() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("x.json").to_string_lossy().into_owned();
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu", "--max-overhead", "100000%", "-o", &file])?;
    let before = accounts(jvm.pid(), "spinner")?;
    jvm.work()?;
    let after = accounts(jvm.pid(), "spinner")?;
    let events = events(&session.stop()?);
    let untraced = Report::parse(&fs::read(&file)?)?.untraced_absences()?;
    jvm.finish()?;
    let absences = of_thread(&events, "off_cpu", "spinner");
    let longest_ns = absences.clone().filter_map(|absence| absence["run_queue_ns"].as_u64()).max().unwrap_or(0);
    let (seen, seen_ns) = (absences.clone().count() as u64, sum(absences, "run_queue_ns"));
    let (slices, queued_ns) = (after.slices - before.slices, after.queued_ns - before.queued_ns);
    println!(
        "{seen} absences of {seen_ns} ns, {untraced} without an end; the kernel counts {slices} of {queued_ns} ns"
    );
    // jtrace looks some ms longer than the test, at either end; and at either end one absence can be known to one of them only.
    let missed = untraced + 2;
    assert!(seen + missed >= slices, "{seen} returns to a CPU, {untraced} not traced, the kernel counts {slices}");
    let missed_ns = missed * longest_ns + 1_000_000;
    assert!(seen_ns + missed_ns >= queued_ns / 10 * 9, "{seen_ns} ns in the run queue, the kernel counts {queued_ns}");
    Ok(())
}

#[test]
fn who_is_away_until_the_end_is_not_forgotten_and_the_books_balance() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let mut jvm = start()?;
    let session =
        Session::attach(jvm.pid(), &["--events", "-l", "wall", "-o", &recording, "--max-overhead", "100000%"])?;
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
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let words = ["--events", "-l", "offcpu", "--min-block", "100ms", "--max-overhead", "100000%", "-o", &recording];
    let session = Session::attach(jvm.pid(), &words)?;
    jvm.work()?;
    let events = events(&session.stop()?);
    let report = Report::parse(&jtrace::succeed(&["report", &recording, "--json"])?.stdout)?;
    jvm.finish()?;
    let site = *report.sites("sched:sched_switch").first().context("no site")?;
    let number = |key: &str| site[key].as_u64().unwrap_or_default();
    // On a busy machine even a short sleep can end late.
    let of_sleeper = of_thread(&events, "off_cpu", "sleeper").count() as u64;
    assert!(number("filtered") + of_sleeper >= SLEEPS && number("filtered") > 0, "{site}");
    let mut absences = events.iter().filter(|event| event["event"] == "off_cpu");
    let is_long = |absence: &Value| absence["blocked_ns"].as_u64() >= Some(100_000_000);
    assert!(absences.all(is_long), "a short absence was told");
    assert_eq!(number("hits"), number("emitted") + number("filtered"), "{site}");
    assert_eq!(number("emitted"), number("delivered") + number("lost"), "{site}");
    Ok(())
}

/// Threads that no `thread__start` announces have names: the collector's are made when it works for the first time.
#[test]
fn threads_of_the_jvm_itself_have_names() -> Result<()> {
    let mut jvm = start()?;
    let session = Session::attach(jvm.pid(), &["--events", "-l", "offcpu", "--max-overhead", "100000%"])?;
    jvm.work()?;
    let events = events(&session.stop()?);
    // One that has gone before its name could be read has none.
    let lives = |tid: &Value| fs::exists(format!("/proc/{}/task/{tid}", jvm.pid())).unwrap_or(false);
    let absences = events.iter().filter(|event| event["event"] == "off_cpu");
    let unnamed = |event: &&Value| event["thread"].as_str().is_none_or(|name| name.starts_with("tid "));
    let unnamed: Vec<_> = absences.clone().filter(unnamed).filter(|event| lives(&event["tid"])).collect();
    assert!(unnamed.is_empty(), "threads that live have no name: {unnamed:?}");
    assert!(absences.clone().any(|event| event["thread"] == "VM Periodic Tas"), "the JVM's own timer");
    jvm.finish()?;
    Ok(())
}

/// Yields of each of its threads in a piece of work.
const YIELDS: &str = "4000";

/// What buys some 150 switches a second: a program that switches all the time has more, however little of the machine it gets.
const SMALL_BUDGET: &str = "0.01%";

/// Each of its yields is a switch.
#[test]
fn the_rate_guard_takes_the_scheduler_away_from_a_program_that_switches_all_the_time() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "switches", "Switches").arguments(&[YIELDS]).start()?;
    // What is too short for an event costs as much as any other, and is seen by the guard as well.
    let budget = ["-l", "offcpu", "--max-overhead", SMALL_BUDGET];
    for arguments in [&budget[..], &[&budget[..], &["--min-block", "10s"]].concat()] {
        let mut pieces = 2;
        // How soon the guard looks is for the machine to say.
        let report = until("the guard takes the scheduler away", || {
            let session = Session::attach(jvm.pid(), arguments)?;
            for _ in 0..pieces {
                jvm.work()?;
            }
            let report = session.report()?;
            pieces *= 2;
            let site = *report.sites("sched:sched_switch").first().context("no site")?;
            Ok(site["state"].as_str().is_some_and(|state| state.contains("rate guard")).then_some(report))
        })?;
        let site = *report.sites("sched:sched_switch").first().context("no site")?;
        let number = |key: &str| site[key].as_u64().unwrap_or_default();
        assert_eq!(number("emitted"), number("delivered") + number("lost"), "{site}");
        assert!(report.missing().iter().any(|sentence| sentence.contains("`sched` was ")), "{:?}", report.missing());
        // How dear a switch was is measured over 100 ms of a machine that may be doing something else, so whether all of them
        // kept to the budget is not judged here.
    }
    jvm.finish()?;
    Ok(())
}
