//! What a stack costs in the kernel: the time in the programs for each event with stacks, less the time without, by the
//! kernel's own account. That is unwinding, and looking whether the stack is known; it is known, but for the first time.
//!
//! The events are parks of one thread on a stack that is always the same, of exactly as many frames as the figure says. All
//! frames count that the kernel side steps through: Java, stubs of the JVM, and machine code down to the thread's first.
//! Methods inlined into others are no frames there. The workload's depth is found by trying.

use ::tests::{
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::Report,
};
use anyhow::{Context as _, Result, ensure};

use super::{
    budget::Figure,
    statistics::{Random, median},
};

/// Parks in one measurement.
const PARKS: &str = "50000";
/// Without it stacks would be taken away, because the workload does nothing but park.
const UNGUARDED: [&str; 6] = ["-l", "locks", "--max-overhead", "100%", "--ring-size", "2m"];
/// Frames that the workload is tried with.
const TRIED: u64 = 10;
/// How often depths are corrected: code that is compiled meanwhile changes the number of frames.
const TRIES: usize = 8;
/// Share of the parks that must have had the wanted number of frames.
const ENOUGH: f64 = 0.99;

/// How the workload's methods run.
const MODES: [(&str, &[&str]); 3] = [
    ("unwind_32_frames_interpreted_ns", &["-Xint"]),
    ("unwind_32_frames_c1_ns", &["-XX:TieredStopAtLevel=1"]),
    ("unwind_32_frames_tiered_ns", &[]),
];

/// Depths beside the one that jtrace is held to, tiered. A park has 14 frames at least.
const DEPTHS: [(&str, u64); 3] =
    [("unwind_16_frames_ns", 16), ("unwind_128_frames_ns", 128), ("unwind_1000_frames_ns", 1000)];

pub(crate) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, flags) in MODES {
        let mut jvm = Launch::new(jdk, "figures", "Deep").flags(flags).arguments(&[PARKS]).start()?;
        figures.push(cost(&mut jvm, name, 32, rounds)?);
        if flags.is_empty() {
            for (name, frames) in DEPTHS {
                figures.push(cost(&mut jvm, name, frames, rounds.div_ceil(3))?);
            }
        }
    }
    Ok(figures)
}

/// The cost of stacks with so many frames, from rounds of one measurement with stacks and one without, in any order.
fn cost(jvm: &mut Jvm, name: &'static str, frames: u64, rounds: usize) -> Result<Figure> {
    let mut depth = depth(jvm, frames)?;
    let mut random = Random::from_clock();
    let (mut costs, mut rest) = (Vec::new(), Vec::new());
    while costs.len() < rounds {
        let stacks_first = random.below(2) == 0;
        let first = run(jvm, depth, stacks_first)?;
        let second = run(jvm, depth, !stacks_first)?;
        let (with, without) = if stacks_first { (first, second) } else { (second, first) };
        if !with.are(frames) {
            // A method was compiled meanwhile, and stands on the stack in another way.
            depth = self::depth(jvm, frames)?;
            continue;
        }
        costs.push(with.each_ns - without.each_ns);
        rest.push(without.each_ns);
    }
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = costs.iter().copied().fold(0.0, f64::max);
    let note = format!(
        "median of {rounds} rounds, {least:.0} to {most:.0}; both events of a park take {:.0} ns without stacks",
        median(&rest)
    );
    Ok(Figure::new(name, median(&costs), note))
}

/// The workload's depth that makes stacks of so many frames.
fn depth(jvm: &mut Jvm, frames: u64) -> Result<u64> {
    let mut depth = TRIED;
    for _ in 0..TRIES {
        let tried = run(jvm, depth, true)?;
        if tried.are(frames) {
            return Ok(depth);
        }
        let seen = tried.frames.iter().max_by_key(|(_, count)| *count).context("no stack was taken")?.0;
        depth = (depth + frames).checked_sub(seen).context("the least stack has more frames than are wanted")?.max(1);
    }
    anyhow::bail!("no depth makes stacks of {frames} frames")
}

/// What the parks of one session came to.
struct Parks {
    /// Time in all programs for one park.
    each_ns: f64,
    /// Numbers of frames, and how often each was met.
    frames: Vec<(u64, u64)>,
}

impl Parks {
    /// Whether practically all stacks had so many frames.
    fn are(&self, wanted: u64) -> bool {
        let count = |wanted: Option<u64>| -> u64 {
            let of = self.frames.iter().filter(|(frames, _)| wanted.is_none_or(|wanted| *frames == wanted));
            of.map(|(_, count)| count).sum()
        };
        count(None) > 0 && count(Some(wanted)) as f64 >= ENOUGH * count(None) as f64
    }
}

fn run(jvm: &mut Jvm, depth: u64, stacks: bool) -> Result<Parks> {
    let mut arguments = UNGUARDED.to_vec();
    arguments.push("--bpf-stats");
    if !stacks {
        arguments.push("--no-stacks");
    }
    let session = Session::attach(jvm.pid(), &arguments)?;
    jvm.process().send_line(&depth.to_string())?;
    let parks = jvm.done()?.get("parks")? as f64;
    let report = session.report()?;
    let number = |key: &str| report.0["cost"][key].as_f64().with_context(|| format!("the report has no {key}"));
    ensure!(number("program_runs")? >= 2.0 * parks, "the kernel did not count every run");
    Ok(Parks { each_ns: number("program_ns")? / parks, frames: frames(&report)? })
}

/// Numbers of frames of the stacks that threads parked on.
fn frames(report: &Report) -> Result<Vec<(u64, u64)>> {
    let mut shapes = report.section("locks")?["shapes"].as_array().into_iter().flatten();
    let Some(profile) = shapes.find(|shape| shape["id"] == "park_stacks") else { return Ok(Vec::new()) };
    let table = profile["frames"].as_array().context("no frames")?;
    let steps = |index: &serde_json::Value| {
        let frame = index.as_u64().and_then(|index| table.get(usize::try_from(index).ok()?));
        frame.is_some_and(|frame| frame["kind"] != "inlined")
    };
    let stacks = profile["stacks"].as_array().context("no stacks")?;
    stacks
        .iter()
        .map(|stack| {
            let frames = stack["frames"].as_array().context("a stack without frames")?;
            let count = stack["count"].as_u64().context("a stack without a count")?;
            Ok((frames.iter().filter(|index| steps(index)).count() as u64, count))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inlined_methods_are_no_frames_and_nearly_all_stacks_must_be_alike() {
        let report = Report(json!({"sections": [{"id": "locks", "shapes": [{"kind": "profile", "id": "park_stacks",
            "frames": [{"kind": "native"}, {"kind": "inlined"}, {"kind": "compiled"}],
            "stacks": [{"frames": [0, 2, 1, 1], "count": 99}, {"frames": [0], "count": 1}]}]}]}));
        let mut parks = Parks { each_ns: 0.0, frames: frames(&report).unwrap() };
        assert_eq!(parks.frames, [(2, 99), (1, 1)]);
        assert!(parks.are(2) && !parks.are(1));
        parks.frames[1].1 = 2;
        assert!(!parks.are(2));
        parks.frames.clear();
        assert!(!parks.are(2));
    }
}
