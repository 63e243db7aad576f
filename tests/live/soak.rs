//! Hours at full rate: what jtrace holds, and what its target pays, stays as it is.
//!
//! `JTRACE_SOAK` says how many seconds; an hour where nobody says it. The program loads and unloads classes, starts and ends
//! threads, and collects, by the same names again and again: nothing that jtrace keeps has a reason to grow.

mod slope;

use std::{
    env, fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
};

use self::slope::{Of, Slope, Verdict};

/// How long where nobody says it.
const USUAL: Duration = Duration::from_hours(1);
/// Pieces of work that are left out at the beginning: code is compiled, names come for the first time, and tables fill up to their
/// bounds: stacks up to 8,192, rows of 4,096 threads, 65,536 entries of steps.
const WARM_UP: usize = 4_000;
/// Of the session, at most, for one that is too short for so many.
const WARM_UP_SHARE: f64 = 0.5;
/// Clock ticks of `/proc` in a second.
const TICKS_PER_S: f64 = 100.0;

/// All lenses that go together, and each call, one by one or counted as the lens has it.
const ALL: [&str; 13] = [
    "-l",
    "gc,safepoint,locks,threads,classes,jit,alloc,cpu,offcpu,wall,methods,calls,markers,typestate",
    "--inside",
    "--marker",
    "steps=Soak::step",
    "-p",
    "hasnext",
    "--later",
    "-I",
    "Soak*::*",
    "--max-overhead",
    "10000%",
    "--json",
];
/// Those whose predicate would be about something else.
const OTHERS: [&str; 7] = ["-l", "jni,alloc", "--exact", "--yes", "--max-overhead", "10000%", "--json"];

/// What may be grown in an hour.
enum Bound {
    /// So much of what is sampled.
    Of(f64),
    /// So much of its level. CPU time depends on how fast the machine is: on two shared CPUs blocks differ by 1 to 4 %, whatever runs.
    Percent(f64),
}

/// What is sampled, in what, by how much it may grow in an hour, and which value of a block the line of its growth is drawn through.
const SERIES: [(&str, Bound, Of); 11] = [
    ("jtrace: memory, KiB", Bound::Of(4096.0), Of::Least),
    ("the other one's, KiB", Bound::Of(4096.0), Of::Least),
    ("jtrace: mappings", Bound::Of(1.0), Of::Mean),
    ("jtrace: descriptors", Bound::Of(1.0), Of::Mean),
    ("jtrace: eBPF objects", Bound::Of(1.0), Of::Mean),
    ("jtrace: threads", Bound::Of(1.0), Of::Mean),
    // A slow minute of the machine is slow for both.
    ("jtrace: CPU, % of target's", Bound::Percent(10.0), Of::Mean),
    ("target: CPU ms a piece", Bound::Percent(10.0), Of::Mean),
    ("target: memory, KiB", Bound::Of(8192.0), Of::Mean),
    ("target: descriptors", Bound::Of(1.0), Of::Mean),
    ("target: mappings", Bound::Of(10.0), Of::Mean),
];

/// What a process holds.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Its own. Those of ring buffers are the kernel's from the beginning, and are seen here when they are read for the first time.
    memory_kib: f64,
    mappings: f64,
    descriptors: f64,
    objects: f64,
    threads: f64,
    cpu_ms: f64,
}

impl Held {
    fn of(pid: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let value = |key: &str| -> Result<f64> {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).with_context(|| format!("no {key}"))?;
            Ok(line.split_whitespace().next().context("no value")?.parse()?)
        };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let after_name: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |index: usize| after_name.get(index).and_then(|word| word.parse::<f64>().ok()).context("no times");
        let links =
            fs::read_dir(format!("/proc/{pid}/fd"))?.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        let links: Vec<_> = links.map(|link| link.to_string_lossy().into_owned()).collect();
        let is_object = |link: &&String| link.contains("bpf") || link.contains("perf_event");
        Ok(Self {
            memory_kib: value("RssAnon:")?,
            mappings: fs::read_to_string(format!("/proc/{pid}/maps"))?.lines().count() as f64,
            descriptors: links.len() as f64,
            objects: links.iter().filter(is_object).count() as f64,
            threads: value("Threads:")?,
            cpu_ms: (ticks(11)? + ticks(12)?) / TICKS_PER_S * 1e3,
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            memory_kib: self.memory_kib + other.memory_kib,
            mappings: self.mappings + other.mappings,
            descriptors: self.descriptors + other.descriptors,
            objects: self.objects + other.objects,
            threads: self.threads + other.threads,
            cpu_ms: self.cpu_ms + other.cpu_ms,
        }
    }
}

/// When a piece of work had ended, in hours, and the values of [`SERIES`] then.
type Sample = (f64, [f64; SERIES.len()]);

fn length() -> Result<Duration> {
    let Some(value) = env::var_os("JTRACE_SOAK") else { return Ok(USUAL) };
    let seconds = value.to_str().and_then(|text| text.parse().ok()).context("JTRACE_SOAK is no number of seconds")?;
    Ok(Duration::from_secs(seconds))
}

#[test]
#[ignore = "takes an hour: `cargo xtask nightly --only soak`"]
fn what_jtrace_holds_and_costs_stays_as_it_is() -> Result<()> {
    let length = length()?;
    let mut jvm = Launch::new(&jdk::any()?, "soak", "Soak").start()?;
    jvm.work()?;
    let mut sessions = [attach(jvm.pid(), &ALL)?, attach(jvm.pid(), &OTHERS)?];
    let samples = sampled(&mut jvm, &mut sessions, length)?;
    println!("soak: {} s, {} pieces of work, both sessions of jtrace together", length.as_secs(), samples.len());
    println!("soak: {:26} {:>10} {:>10}  {:>26} {:>8}", "", "first", "last", "an hour more, 95 %", "bound");
    let mut grown = Vec::new();
    for (index, (name, bound, of)) in SERIES.iter().enumerate() {
        let points: Vec<(f64, f64)> = settled(&samples).iter().map(|(at, values)| (*at, values[index])).collect();
        let slope = Slope::of(&points, *of).context("too few samples")?;
        let bound = match bound {
            Bound::Of(bound) => *bound,
            Bound::Percent(share) => share / 100.0 * slope.level(),
        };
        let verdict = slope.verdict(bound);
        let between = format!("{:.1} .. {:.1}", slope.low, slope.high);
        let [first, .., last] = slope.blocks;
        println!("soak: {name:26} {first:>10.1} {last:>10.1}  {between:>26} {bound:>8.1}  {verdict:?}, by {of:?}");
        if verdict != Verdict::Flat {
            let blocks: Vec<String> = slope.blocks.iter().map(|value| format!("{value:.1}")).collect();
            println!("soak: {name:26} over time: {}", blocks.join(" "));
        }
        if verdict == Verdict::Grows {
            grown.push(*name);
        }
    }
    let [all, others] = sessions;
    for (name, mut session) in [("all", all), ("others", others)] {
        let used = used(&session.process().stderr.text());
        println!("soak: {name}: given out by the allocator over time, KiB: {}", some_of(&used).join(" "));
        let report = session.report()?;
        let emitted = report.0["completeness"]["emitted"].as_u64().context("the report has no emitted")?;
        println!("soak: {name}: {emitted} events");
        ensure!(emitted > 0, "nothing came: what is flat was idle");
    }
    jvm.finish()?;
    ensure!(grown.is_empty(), "grows: {}", grown.join(", "));
    Ok(())
}

/// A session whose allocator says each minute what it has given out: what is resident beyond that is kept, or in pieces.
fn attach(pid: u32, arguments: &[&str]) -> Result<Session> {
    let pid = pid.to_string();
    let words: Vec<&str> = ["attach", &pid].iter().chain(arguments).copied().collect();
    Session::of(jtrace::command(&words)?.env("JTRACE_LOG", "debug"))
}

/// What it has said, in KiB.
fn used(log: &str) -> Vec<u64> {
    let of_line = |line: &str| line.strip_prefix("debug: memory: ")?.split(' ').next()?.parse().ok();
    log.lines().filter_map(of_line).collect()
}

/// Twenty of many values, at even distances, with the last one.
fn some_of(values: &[u64]) -> Vec<String> {
    let step = values.len().div_ceil(20).max(1);
    let mut shown: Vec<String> = values.iter().rev().step_by(step).map(u64::to_string).collect();
    shown.reverse();
    shown
}

fn sampled(jvm: &mut Jvm, sessions: &mut [Session; 2], length: Duration) -> Result<Vec<Sample>> {
    let began = Instant::now();
    let mut samples = Vec::new();
    let mut before: Option<(Held, Held)> = None;
    while began.elapsed() < length {
        jvm.work()?;
        let [all, others] = sessions.each_mut().map(|session| Held::of(session.process().pid()));
        let (all, others) = (all?, others?);
        let own = all.plus(others);
        let target = Held::of(jvm.pid())?;
        if let Some((own_before, target_before)) = before {
            let [own_ms, target_ms] = [own.cpu_ms - own_before.cpu_ms, target.cpu_ms - target_before.cpu_ms];
            let values = [
                all.memory_kib,
                others.memory_kib,
                own.mappings,
                own.descriptors,
                own.objects,
                own.threads,
                100.0 * own_ms / target_ms.max(1e3 / TICKS_PER_S),
                target_ms,
                target.memory_kib,
                target.descriptors,
                target.mappings,
            ];
            samples.push((began.elapsed().as_secs_f64() / 3600.0, values));
        }
        before = Some((own, target));
    }
    Ok(samples)
}

/// The samples behind the warm-up.
fn settled(samples: &[Sample]) -> &[Sample] {
    let last = samples.last().map_or(0.0, |(at, _)| *at);
    let half = samples.iter().position(|(at, _)| *at > last * WARM_UP_SHARE).unwrap_or(0);
    &samples[half.min(WARM_UP)..]
}
