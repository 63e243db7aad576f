//! What a hit costs where methods are looked at, side by side: with a program that returns at once (the floor), with
//! jtrace's programs, and with bpftrace counting by name.
//!
//! One JVM, all of whose code reports its methods, calls a tiny one in a loop on one CPU; whoever watches runs on another.
//! The cost of a call is the CPU time that it takes longer than unwatched, from the same round: traps run in the calling
//! thread, and what else the machine does is not in it. Figures are medians of ratios of one round.

use std::{process::Command, time::Duration};

use ::tests::{
    jdk::Jdk,
    jtrace::{LIMIT, Session},
    jvm::{Jvm, Launch},
    process::{Process, Signal},
    report::Report,
};
use anyhow::{Context as _, Result, bail, ensure};

use super::{
    budget::Figure,
    measure_binary,
    statistics::{Random, interval, median},
};
use crate::process;

/// Calls of one measurement: half a second or more of traps.
const CALLS: u64 = 1_000_000;
/// Unwatched they take too short a time, otherwise.
const UNWATCHED_CALLS: u64 = 20_000_000;
/// Calls before anything is measured, so that the loop is compiled.
const WARM_UP: u64 = 20_000_000;
/// Where the JVM runs, and who watches it.
pub(super) const CPUS: [&str; 2] = ["0", "1"];

/// Who watches the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watcher {
    /// A program that returns at once.
    Floor,
    /// jtrace, which wants none of them.
    Rejected,
    /// jtrace, which counts them.
    Counted,
    /// jtrace, which takes entry and return, and the distribution of durations.
    Timed,
    /// jtrace, which sends an event for each.
    Sent,
    /// bpftrace, which asks for the same class and method and counts by the method's name.
    Bpftrace,
    /// The same of all methods, without a condition.
    BpftraceAll,
}

const WATCHERS: [Watcher; 7] = [
    Watcher::Floor,
    Watcher::Rejected,
    Watcher::Counted,
    Watcher::Timed,
    Watcher::Sent,
    Watcher::Bpftrace,
    Watcher::BpftraceAll,
];

/// Every hit is wanted, whatever it costs, and none is made to happen: the JVM was started with its flag.
const JTRACE: [&str; 7] = ["-l", "methods", "--max-overhead", "100000%", "--no-stacks", "--arm", "off"];

impl Watcher {
    /// What jtrace is asked for, if it is jtrace.
    fn arguments(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Floor | Self::Bpftrace | Self::BpftraceAll => None,
            Self::Rejected => Some(&["--no-times", "-I", "Hot::nothing"]),
            Self::Counted => Some(&["--no-times", "-I", "Hot::hot"]),
            Self::Timed => Some(&["-I", "Hot::hot"]),
            Self::Sent => Some(&["--no-times", "--each", "-I", "Hot::hot"]),
        }
    }
}

impl Watcher {
    /// What bpftrace asks before it counts, if it is bpftrace.
    fn condition(self) -> Option<&'static str> {
        match self {
            Self::Bpftrace => Some("/str(arg1, arg2) == \"Hot\" && str(arg3, arg4) == \"hot\"/"),
            Self::BpftraceAll => Some(""),
            _ => None,
        }
    }
}

/// What one round found, in ns for each call.
struct Round {
    costs: Vec<(Watcher, f64)>,
    /// Events that were made in a second.
    events_per_s: f64,
    /// Of them, how many found no room.
    lost: u64,
}

impl Round {
    fn cost(&self, wanted: Watcher) -> Option<f64> {
        self.costs.iter().find(|(watcher, _)| *watcher == wanted).map(|(_, cost)| *cost)
    }
}

pub(crate) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let flags = ["-XX:+DTraceMethodProbes", "-XX:+UseSerialGC"];
    let mut jvm = Launch::new(jdk, "figures", "Hot").flags(&flags).start()?;
    calls(&mut jvm, WARM_UP)?;
    pin(jvm.pid(), CPUS[0])?;
    let bpftrace = process::on_path("bpftrace");
    let mut random = Random::from_clock();
    let mut found = Vec::new();
    for _ in 0..rounds {
        found.push(round(&mut jvm, jdk, bpftrace, &mut random)?);
    }
    jvm.finish()?;
    Ok(figures(&found, &mut random))
}

/// All watchers once, in any order.
fn round(jvm: &mut Jvm, jdk: &Jdk, bpftrace: bool, random: &mut Random) -> Result<Round> {
    let mut order: Vec<Watcher> = WATCHERS.into_iter().filter(|one| bpftrace || one.condition().is_none()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    let unwatched = calls(jvm, UNWATCHED_CALLS)? / UNWATCHED_CALLS as f64;
    let mut round = Round { costs: Vec::new(), events_per_s: f64::NAN, lost: 0 };
    for watcher in order {
        let times = match watcher {
            Watcher::Floor => under_floor(jvm, jdk)?,
            Watcher::Bpftrace | Watcher::BpftraceAll => under_bpftrace(jvm, jdk, watcher)?,
            _ => under_jtrace(jvm, watcher)?,
        };
        if watcher == Watcher::Sent {
            round.lost = times.lost;
            round.events_per_s = CALLS as f64 / times.ns * 1e9;
        }
        round.costs.push((watcher, times.cpu_ns / CALLS as f64 - unwatched));
    }
    Ok(round)
}

/// CPU time for so many calls, in ns.
fn calls(jvm: &mut Jvm, count: u64) -> Result<f64> {
    Ok(times(jvm, count)?.cpu_ns)
}

/// What so many calls take.
struct Times {
    cpu_ns: f64,
    ns: f64,
    lost: u64,
}

fn times(jvm: &mut Jvm, count: u64) -> Result<Times> {
    jvm.process().send_line(&count.to_string())?;
    let done = jvm.done()?;
    ensure!(done.get("calls")? == count, "the workload did something else");
    Ok(Times { cpu_ns: done.get("cpu_ns")? as f64, ns: done.get("ns")? as f64, lost: 0 })
}

/// Keeps all threads of a process on a CPU, where there are two.
pub(super) fn pin(pid: u32, cpu: &str) -> Result<()> {
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < CPUS.len() {
        return Ok(());
    }
    process::output(process::command("taskset").args(["-a", "-p", "-c", cpu, &pid.to_string()])).map(|_| ())
}

fn under_floor(jvm: &mut Jvm, jdk: &Jdk) -> Result<Times> {
    let mut command = Command::new(measure_binary());
    command.arg("floor").arg(jdk.libjvm().canonicalize()?).arg(jvm.pid().to_string());
    let mut floor = Process::spawn(&mut command)?;
    floor.stdout.wait_for_line("attached", 0, LIMIT)?;
    let taken = times(jvm, CALLS)?;
    floor.close_stdin();
    ensure!(floor.wait(LIMIT)?.success(), "{}", floor.transcript());
    Ok(taken)
}

fn under_jtrace(jvm: &mut Jvm, watcher: Watcher) -> Result<Times> {
    let mut arguments = JTRACE.to_vec();
    arguments.extend(watcher.arguments().unwrap_or_default());
    let mut session = Session::attach(jvm.pid(), &arguments)?;
    pin(session.process().pid(), CPUS[1])?;
    // A method is named at its first calls, which come as events.
    calls(jvm, 1000)?;
    std::thread::sleep(SETTLE);
    let taken = times(jvm, CALLS)?;
    let lost = check(&session.report()?, watcher).with_context(|| format!("{watcher:?}"))?;
    Ok(Times { lost, ..taken })
}

/// How long jtrace gets to name a method.
const SETTLE: Duration = Duration::from_millis(300);

/// Makes sure that the calls went the way that is measured, and that none is missing; gives how many events found no room.
fn check(report: &Report, watcher: Watcher) -> Result<u64> {
    let counter = |key: &str| -> Result<u64> {
        let sites = report.0["completeness"]["sites"].as_array().context("the report has no sites")?;
        let mut sum = 0;
        for site in sites {
            sum += site[key].as_u64().with_context(|| format!("a site has no {key}"))?;
        }
        Ok(sum)
    };
    let traps = if watcher == Watcher::Timed { 2 } else { 1 };
    ensure!(counter("hits")? >= traps * CALLS, "{} hits are too few", counter("hits")?);
    let lost = counter("lost")?;
    match watcher {
        Watcher::Rejected => ensure!(counter("filtered")? >= CALLS, "not all were rejected"),
        Watcher::Sent => ensure!(counter("emitted")? >= CALLS, "not all were sent"),
        _ => ensure!(counter("emitted")? < CALLS / 10, "calls came as events"),
    }
    let expected = if watcher == Watcher::Rejected { 0 } else { CALLS + 1000 };
    let counted = report.summary("methods", "calls")?;
    ensure!(counted + lost == expected, "{counted} calls were counted and {lost} lost instead of {expected}");
    Ok(lost)
}

fn under_bpftrace(jvm: &mut Jvm, jdk: &Jdk, watcher: Watcher) -> Result<Times> {
    let libjvm = jdk.libjvm().canonicalize()?;
    let script = format!(
        "usdt:{}:hotspot:method__entry {} {{ @[str(arg3, arg4)] = count(); }} interval:ms:100 {{ printf(\"ready\\n\"); }}",
        libjvm.display(),
        watcher.condition().unwrap_or_default()
    );
    let mut command = Command::new("bpftrace");
    command.args(["-e", &script, "-p", &jvm.pid().to_string()]);
    let mut bpftrace = Process::spawn(&mut command)?;
    bpftrace.stdout.wait_for_line("ready", 0, LIMIT)?;
    pin(bpftrace.pid(), CPUS[1])?;
    let taken = times(jvm, CALLS)?;
    bpftrace.signal(Signal::INT)?;
    bpftrace.wait(LIMIT)?;
    let text = bpftrace.stdout.text();
    let counted = text.lines().find_map(|line| line.strip_prefix("@[hot]: ")?.trim().parse::<u64>().ok());
    match counted {
        Some(count) if count >= CALLS => Ok(taken),
        _ => bail!("bpftrace counted {counted:?} calls of {CALLS}: {}", bpftrace.transcript()),
    }
}

fn figures(rounds: &[Round], random: &mut Random) -> Vec<Figure> {
    let mut figures = vec![cost("methods_floor_ns", Watcher::Floor, rounds)];
    let mut ratio = |name, of, to| figures.push(ratio(name, (of, to), rounds, random));
    ratio("methods_rejected_per_floor", Watcher::Rejected, Watcher::Floor);
    ratio("methods_counted_per_floor", Watcher::Counted, Watcher::Floor);
    ratio("methods_counted_per_bpftrace", Watcher::Counted, Watcher::Bpftrace);
    ratio("methods_counted_per_bpftrace_all", Watcher::Counted, Watcher::BpftraceAll);
    ratio("methods_timed_pair_per_floor", Watcher::Timed, Watcher::Floor);
    ratio("methods_sent_per_floor", Watcher::Sent, Watcher::Floor);
    let rates: Vec<f64> = rounds.iter().map(|round| round.events_per_s / 1e6).collect();
    figures.push(Figure::new("methods_sent_million_per_s", median(&rates), "as fast as the loop makes them"));
    let lost: u64 = rounds.iter().map(|round| round.lost).sum();
    figures.push(Figure::new("methods_sent_lost", lost as f64, format!("of {} events", rounds.len() as u64 * CALLS)));
    figures
}

fn cost(name: &'static str, watcher: Watcher, rounds: &[Round]) -> Figure {
    let costs: Vec<f64> = rounds.iter().filter_map(|round| round.cost(watcher)).collect();
    Figure::new(name, median(&costs), format!("median of {} rounds", costs.len()))
}

fn ratio(name: &'static str, (of, to): (Watcher, Watcher), rounds: &[Round], random: &mut Random) -> Figure {
    let pairs: Vec<(f64, f64)> = rounds.iter().filter_map(|round| Some((round.cost(of)?, round.cost(to)?))).collect();
    if pairs.is_empty() {
        return Figure::absent(name, "there is no bpftrace here");
    }
    let ratios: Vec<f64> = pairs.iter().map(|(of, to)| of / to).collect();
    let (low, high) = interval(&ratios, random);
    let ns: Vec<f64> = pairs.iter().map(|(of, _)| *of).collect();
    let note = format!("{:.0} ns; 95 % of {low:.3} to {high:.3}, {} rounds", median(&ns), pairs.len());
    Figure::new(name, median(&ratios), note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_one_round_and_absent_without_the_other_tool() {
        let round = |floor, counted| Round {
            costs: vec![(Watcher::Floor, floor), (Watcher::Counted, counted)],
            events_per_s: 1e6,
            lost: 0,
        };
        // The machine was twice as slow in the second.
        let rounds = [round(500.0, 550.0), round(1000.0, 1100.0), round(500.0, 600.0)];
        let figures = figures(&rounds, &mut Random::from_clock());
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value);
        assert!((value("methods_counted_per_floor").unwrap() - 1.1).abs() < 1e-9);
        assert!((value("methods_floor_ns").unwrap() - 500.0).abs() < 1e-9);
        assert!(value("methods_counted_per_bpftrace").unwrap().is_nan());
    }
}
