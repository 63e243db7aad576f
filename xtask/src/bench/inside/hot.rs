//! A loop that calls a tiny method, with a marker on it: woven and off, counted, sent, and when the class has its bytes back.

use ::tests::{
    jdk::Jdk,
    jvm::{Jvm, Launch},
};
use anyhow::{Result, ensure};

use super::{UNGUARDED, best, events, figure, visit};
use crate::bench::{budget::Figure, methods};

/// Calls of a block: a tenth of a second where nobody watches.
const CALLS: u64 = 100_000_000;
/// The same where every call is sent.
const SENT_CALLS: u64 = 20_000_000;
/// Blocks before those that are timed, and those.
const BLOCKS: [usize; 2] = [5, 7];

/// The method of the loop, as a point: one event a call.
const MARKER: [&str; 2] = ["--marker", "step=HotLoop::step+point"];

/// What one JVM found, in ns for each call.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    never: f64,
    again: f64,
    off: f64,
    restored: f64,
    counted: f64,
    sent: f64,
    /// Share of the sent events that found no room.
    lost: f64,
}

pub(super) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let rounds: Vec<Round> = (0..rounds).map(|_| round(jdk)).collect::<Result<_>>()?;
    Ok(figures(jdk, &rounds))
}

fn round(jdk: &Jdk) -> Result<Round> {
    let mut jvm = Launch::new(jdk, "inside", "HotLoop").start()?;
    methods::pin(jvm.pid(), methods::CPUS[0])?;
    let mut round = Round { never: best(&mut jvm, CALLS, BLOCKS)?, ..Round::default() };
    // What the same differs by, without anybody.
    round.again = best(&mut jvm, CALLS, BLOCKS)?;
    round.off = off(&mut jvm)?;
    round.restored = best(&mut jvm, CALLS, BLOCKS)?;
    round.counted = counted(&mut jvm)?;
    (round.sent, round.lost) = sent(&mut jvm)?;
    jvm.finish()?;
    Ok(round)
}

fn off(jvm: &mut Jvm) -> Result<f64> {
    let session = visit(jvm, "markers", &[&MARKER[..], &["--off"]].concat())?;
    let ns = best(jvm, CALLS, BLOCKS)?;
    let report = session.report()?;
    let (places, events) = (report.summary("markers", "places")?, report.summary("markers", "events")?);
    ensure!((places, events) == (1, 0), "{places} places and {events} events, where one place is off");
    Ok(ns)
}

fn counted(jvm: &mut Jvm) -> Result<f64> {
    let session = visit(jvm, "markers", &MARKER)?;
    let ns = best(jvm, CALLS, BLOCKS)?;
    let (seen, made) = (events(&session.report()?, "markers")?, all(CALLS));
    ensure!(seen == made, "{seen} events were counted of {made}");
    Ok(ns)
}

/// What a call takes, and the share that was lost.
fn sent(jvm: &mut Jvm) -> Result<(f64, f64)> {
    let session = visit(jvm, "markers", &[&MARKER[..], &["--each"], &UNGUARDED].concat())?;
    let ns = best(jvm, SENT_CALLS, BLOCKS)?;
    let report = session.report()?;
    let (seen, lost, made) = (events(&report, "markers")?, report.summary("markers", "lost_words")?, all(SENT_CALLS));
    ensure!(seen + lost == made, "{seen} events and {lost} lost are not {made}");
    Ok((ns, lost as f64 / made as f64))
}

fn all(calls: u64) -> u64 {
    calls * BLOCKS.iter().sum::<usize>() as u64
}

fn figures(jdk: &Jdk, rounds: &[Round]) -> Vec<Figure> {
    let of = |value: fn(&Round) -> f64| rounds.iter().map(value).collect::<Vec<f64>>();
    let never = crate::bench::statistics::median(&of(|round| round.never));
    let lost = 100.0 * crate::bench::statistics::median(&of(|round| round.lost));
    let loop_ns = format!("; {never:.2} ns a call unwatched");
    vec![
        figure("again_ratio", jdk, &of(|round| round.again / round.never), "", ": the same twice, nobody watching"),
        figure("off_ratio", jdk, &of(|round| round.off / round.never), "", &loop_ns),
        figure("restored_ratio", jdk, &of(|round| round.restored / round.never), "", ": after jtrace has left"),
        figure("counted_ns", jdk, &of(|round| round.counted - round.never), " ns", ": an event counted in the JVM"),
        figure(
            "sent_ns",
            jdk,
            &of(|round| round.sent - round.never),
            " ns",
            &format!(": an event sent; {lost:.0} % lost"),
        ),
        figure(
            "sent_lost_percent",
            jdk,
            &of(|round| 100.0 * round.lost),
            " %",
            ": no room, as fast as one thread makes them",
        ),
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
            sent: never + 4.0,
            lost: 0.25,
        };
        // The machine was twice as slow in the second.
        let figures = figures(&jdk, &[round(1.0), round(2.0), round(1.0)]);
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value).unwrap();
        for (name, expected) in [
            ("inside_off_ratio_17", 1.01),
            ("inside_restored_ratio_17", 1.0),
            ("inside_counted_ns_17", 0.5),
            ("inside_sent_ns_17", 4.0),
            ("inside_sent_lost_percent_17", 25.0),
        ] {
            assert!((value(name) - expected).abs() < 1e-9, "{name}: {}", value(name));
        }
    }
}
