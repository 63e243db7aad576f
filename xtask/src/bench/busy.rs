//! What jtrace costs on a busy target: its own CPU and memory, and the slowdown of the target.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result};
use tests::{
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::Report,
};

use super::{
    budget::Figure,
    statistics::{Random, interval, median},
};

/// About a second of work for two threads.
const OPERATIONS: &str = "10000000";
/// Clock ticks of `/proc` in a second.
const TICKS_PER_S: f64 = 100.0;

fn launch(jdk: &Jdk) -> Result<Jvm> {
    Launch::new(jdk, "busy", "Busy").arguments(&[OPERATIONS]).start()
}

/// How jtrace is asked for CPU samples; 99 Hz is what it does by itself.
const CPU_LENS: [&str; 2] = ["-l", "cpu"];

/// CPU and memory of jtrace by its own account and by the kernel's.
pub(crate) fn own_cost(jdk: &Jdk, duration: Duration) -> Result<Vec<Figure>> {
    let Own { cpu_percent, cpu_note, memory_mib, memory_note } = own(jdk, duration, &[])?;
    Ok(vec![
        Figure::new("own_cpu_percent", cpu_percent, cpu_note),
        Figure::new("own_memory_mib", memory_mib, memory_note),
    ])
}

/// What CPU samples cost jtrace, and the target.
pub(crate) fn cpu_lens(jdk: &Jdk, duration: Duration, pairs: usize) -> Result<Vec<Figure>> {
    let Own { cpu_percent, cpu_note, .. } = own(jdk, duration, &CPU_LENS)?;
    let Slowdown { wall, wall_note, at_least, cpu, cpu_note: slowdown_cpu_note } = compared(jdk, pairs, &CPU_LENS)?;
    Ok(vec![
        Figure::new("cpu_lens_own_cpu_percent", cpu_percent, cpu_note),
        Figure::new("cpu_lens_slowdown_percent", wall, wall_note),
        Figure::new("cpu_lens_slowdown_at_least", at_least, "lower end of that interval"),
        Figure::new("cpu_lens_slowdown_cpu_percent", cpu, slowdown_cpu_note),
    ])
}

/// What a session cost jtrace.
struct Own {
    cpu_percent: f64,
    cpu_note: String,
    memory_mib: f64,
    memory_note: String,
}

fn own(jdk: &Jdk, duration: Duration, arguments: &[&str]) -> Result<Own> {
    let mut jvm = launch(jdk)?;
    let mut session = Session::attach(jvm.pid(), arguments)?;
    let pid = session.process().pid();
    let (start, cpu_before) = (std::time::Instant::now(), cpu_s(pid)?);
    while start.elapsed() < duration {
        jvm.work()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let cpu_percent = (cpu_s(pid)? - cpu_before) / seconds * 100.0;
    let memory_mib = peak_kib(pid)? / 1024.0;
    let report = session.report()?;
    let own = |key: &str| report.0["cost"][key].as_f64().with_context(|| format!("the report has no {key}"));
    let events = events(&report)? / seconds;
    let cpu_note = format!(
        "over {seconds:.0} s at {events:.0} events/s; its own account: {:.2} % since it was attached, {:.0} ms before",
        own("own_cpu_percent")?,
        own("attach_cpu_ns")? / 1e6
    );
    let memory_note = format!("largest resident size; its own account: {:.1}", own("own_memory_bytes")? / 1_048_576.0);
    Ok(Own { cpu_percent, cpu_note, memory_mib, memory_note })
}

fn events(report: &Report) -> Result<f64> {
    report.0["completeness"]["emitted"].as_f64().context("the report has no emitted")
}

/// What the default lenses cost the target.
pub(crate) fn slowdown(jdk: &Jdk, pairs: usize) -> Result<Vec<Figure>> {
    let Slowdown { wall, wall_note, at_least, cpu, cpu_note } = compared(jdk, pairs, &[])?;
    Ok(vec![
        Figure::new("slowdown_percent", wall, wall_note),
        Figure::new("slowdown_percent_at_least", at_least, "lower end of that interval"),
        Figure::new("slowdown_cpu_percent", cpu, cpu_note),
    ])
}

/// Medians in percent, and what is to be said about them.
struct Slowdown {
    wall: f64,
    wall_note: String,
    at_least: f64,
    cpu: f64,
    cpu_note: String,
}

/// The same work with and without jtrace, in pairs whose order is drawn.
fn compared(jdk: &Jdk, pairs: usize, arguments: &[&str]) -> Result<Slowdown> {
    let mut jvm = launch(jdk)?;
    let mut random = Random::from_clock();
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    for _ in 0..pairs {
        let attached_first = random.below(2) == 0;
        let first = run(&mut jvm, attached_first, arguments)?;
        let second = run(&mut jvm, !attached_first, arguments)?;
        let (attached, plain) = if attached_first { (first, second) } else { (second, first) };
        wall.push(percent(attached.wall_ns / plain.wall_ns));
        cpu.push(percent(attached.cpu_s / plain.cpu_s));
    }
    let (low, high) = interval(&wall, &mut random);
    let verdict = if low <= 0.0 && high >= 0.0 { "cannot be told from 0" } else { "differs from 0" };
    let wall_note = format!("{pairs} pairs, 95 % interval {low:.2} to {high:.2}: {verdict}");
    let (cpu_low, cpu_high) = interval(&cpu, &mut random);
    let cpu_note =
        format!("CPU time of the target instead of elapsed time, 95 % interval {cpu_low:.2} to {cpu_high:.2}");
    Ok(Slowdown { wall: median(&wall), wall_note, at_least: low, cpu: median(&cpu), cpu_note })
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// What one piece of work took.
struct Work {
    wall_ns: f64,
    cpu_s: f64,
}

fn run(jvm: &mut Jvm, attached: bool, arguments: &[&str]) -> Result<Work> {
    let session = if attached { Some(Session::attach(jvm.pid(), arguments)?) } else { None };
    let before = cpu_s(jvm.pid())?;
    let wall_ns = jvm.work()?.get("ns")? as f64;
    let cpu_s = cpu_s(jvm.pid())? - before;
    if let Some(session) = session {
        session.report()?;
    }
    Ok(Work { wall_ns, cpu_s })
}

/// CPU time of a running process.
pub(super) fn cpu_s(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, after_name) = stat.rsplit_once(") ").context("an odd stat")?;
    // utime and stime are the fields 14 and 15, and the state is the third.
    let ticks: f64 = after_name.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS_PER_S)
}

fn peak_kib(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(peak.trim().trim_end_matches(" kB").parse()?)
}
