//! A loop that calls a tiny method, with a marker on it: woven and off, counted, counted in its context, sent, and when the class has its bytes back. Times are
//! CPU times of the thread that calls, so what is handed over is in them, and what else the machine does is not.

use ::tests::{
    jdk::Jdk,
    jvm::{Jvm, Launch},
};
use anyhow::{Result, ensure};

use super::{UNGUARDED, Work, best, events, figure, visit};
use crate::bench::{budget::Figure, methods};

/// A block: a tenth of a second where nobody watches.
const BARE: Work = Work { units: 100_000_000, other: Some(0) };
/// The same where every call is sent.
const SENT: Work = Work { units: 20_000_000, other: Some(0) };
/// With so much between two calls that jtrace comes along where every call is sent.
const PACED: Work = Work { units: 5_000_000, other: Some(50) };
/// Blocks before those that are timed, and those.
const BLOCKS: [usize; 2] = [5, 7];

/// The method of the loop, as a point: one event a call.
const MARKER: [&str; 2] = ["--marker", "step=HotLoop::step+point"];

/// What one JVM found, in ns for each call.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    never: f64,
    paced: f64,
    again: f64,
    off: f64,
    restored: f64,
    counted: f64,
    in_context: f64,
    sent: f64,
    /// Share of the sent events that found no room.
    lost: f64,
    sent_paced: f64,
    lost_paced: f64,
}

pub(super) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let rounds: Vec<Round> = (0..rounds).map(|_| round(jdk)).collect::<Result<_>>()?;
    Ok(figures(jdk, &rounds))
}

fn round(jdk: &Jdk) -> Result<Round> {
    let mut jvm = Launch::new(jdk, "inside", "HotLoop").start()?;
    methods::pin(jvm.pid(), methods::CPUS[0])?;
    let never = best(&mut jvm, BARE, BLOCKS)?;
    let mut round = Round { never, paced: best(&mut jvm, PACED, BLOCKS)?, ..Round::default() };
    // What the same differs by, without anybody.
    round.again = best(&mut jvm, BARE, BLOCKS)?;
    round.off = off(&mut jvm)?;
    round.restored = best(&mut jvm, BARE, BLOCKS)?;
    round.counted = counted(&mut jvm)?;
    round.in_context = in_context(&mut jvm)?;
    (round.sent, round.lost) = sent(&mut jvm, SENT)?;
    (round.sent_paced, round.lost_paced) = sent(&mut jvm, PACED)?;
    jvm.finish()?;
    Ok(round)
}

fn off(jvm: &mut Jvm) -> Result<f64> {
    let session = visit(jvm, "markers", &[&MARKER[..], &["--off"]].concat())?;
    let ns = best(jvm, BARE, BLOCKS)?;
    let report = session.report()?;
    let (places, events) = (report.summary("markers", "places")?, report.summary("markers", "events")?);
    ensure!((places, events) == (1, 0), "{places} places and {events} events, where one place is off");
    Ok(ns)
}

fn counted(jvm: &mut Jvm) -> Result<f64> {
    let session = visit(jvm, "markers", &[&MARKER[..], &UNGUARDED].concat())?;
    let ns = best(jvm, BARE, BLOCKS)?;
    let (seen, made) = (events(&session.report()?, "markers")?, all(BARE));
    ensure!(seen == made, "{seen} events were counted of {made}");
    Ok(ns)
}

/// The method as a region that is counted by what is around it.
fn in_context(jvm: &mut Jvm) -> Result<f64> {
    let session =
        visit(jvm, "calls", &[&["-I", "HotLoop::step", "--lane", "inside", "--no-times"][..], &UNGUARDED].concat())?;
    let ns = best(jvm, BARE, BLOCKS)?;
    let (seen, made) = (session.report()?.summary("calls", "calls")?, all(BARE));
    ensure!(seen == made, "{seen} calls were counted of {made}");
    Ok(ns)
}

/// What a call takes, and the share that was lost.
fn sent(jvm: &mut Jvm, work: Work) -> Result<(f64, f64)> {
    let session = visit(jvm, "markers", &[&MARKER[..], &["--each"], &UNGUARDED].concat())?;
    let ns = best(jvm, work, BLOCKS)?;
    let report = session.report()?;
    let (seen, made) = (events(&report, "markers")?, all(work));
    ensure!(seen <= made, "{seen} events of {made}");
    let lost = 1.0 - seen as f64 / made as f64;
    ensure!(lost <= 0.0 || report.completeness("lost")? > 0, "{seen} events of {made}, and nothing was lost");
    Ok((ns, lost))
}

fn all(work: Work) -> u64 {
    work.units * BLOCKS.iter().sum::<usize>() as u64
}

fn figures(jdk: &Jdk, rounds: &[Round]) -> Vec<Figure> {
    let of = |value: fn(&Round) -> f64| rounds.iter().map(value).collect::<Vec<f64>>();
    let never = crate::bench::statistics::median(&of(|round| round.never));
    let lost = 100.0 * crate::bench::statistics::median(&of(|round| round.lost));
    let paced = crate::bench::statistics::median(&of(|round| round.paced));
    let lost_paced = 100.0 * crate::bench::statistics::median(&of(|round| round.lost_paced));
    let sent = format!(": an event sent, as fast as the loop makes them; {lost:.0} % lost");
    let sent_paced = format!(": an event sent, one in {paced:.0} ns; {lost_paced:.2} % lost");
    let loop_ns = format!("; {never:.2} ns a call unwatched");
    vec![
        figure("again_ratio", jdk, &of(|round| round.again / round.never), "", ": the same twice, nobody watching"),
        figure("off_ratio", jdk, &of(|round| round.off / round.never), "", &loop_ns),
        figure("restored_ratio", jdk, &of(|round| round.restored / round.never), "", ": after jtrace has left"),
        figure("counted_ns", jdk, &of(|round| round.counted - round.never), " ns", ": an event counted in the JVM"),
        figure(
            "in_context_ns",
            jdk,
            &of(|round| round.in_context - round.never),
            " ns",
            ": a call counted in its context",
        ),
        figure("sent_ns", jdk, &of(|round| round.sent - round.never), " ns", &sent),
        figure("sent_paced_ns", jdk, &of(|round| round.sent_paced - round.paced), " ns", &sent_paced),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_one_jvm_and_costs_come_on_top() {
        let jdk = Jdk { release: 17, home: "/".into() };
        let round = |never: f64| Round {
            never,
            again: never,
            off: 1.01 * never,
            restored: never,
            counted: never + 0.5,
            in_context: never + 3.0,
            sent: never + 4.0,
            lost: 0.25,
            paced: 50.0 * never,
            sent_paced: 50.0 * never + 5.0,
            lost_paced: 0.0,
        };
        // The machine was twice as slow in the second.
        let figures = figures(&jdk, &[round(1.0), round(2.0), round(1.0)]);
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value).unwrap();
        for (name, expected) in [
            ("inside_off_ratio_17", 1.01),
            ("inside_restored_ratio_17", 1.0),
            ("inside_counted_ns_17", 0.5),
            ("inside_in_context_ns_17", 3.0),
            ("inside_sent_ns_17", 4.0),
            ("inside_sent_paced_ns_17", 5.0),
        ] {
            assert!((value(name) - expected).abs() < 1e-9, "{name}: {}", value(name));
        }
    }
}
