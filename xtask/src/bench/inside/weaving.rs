//! How long it takes to come, to weave more than a thousand methods that the JVM itself uses, and to leave again.

use std::time::Instant;

use ::tests::{jdk::Jdk, jvm::Launch};
use anyhow::{Result, ensure};

use super::{Work, best, figure, visit};
use crate::bench::{budget::Figure, statistics::median};

/// Methods of classes that every JVM has loaded.
const MARKER: &str = "all=java.util.*::*";
/// Fewer prove nothing.
const LEAST_METHODS: u64 = 1000;
/// The program is in the middle of something.
const WORK: Work = Work { units: 20_000_000, other: Some(0) };

/// All in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// From the start of jtrace to its word that everything is woven and on.
    attach: f64,
    weave: f64,
    /// From the signal to jtrace's end, with its report.
    detach: f64,
    longest_step: f64,
    methods: f64,
}

pub(super) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let rounds: Vec<Round> = (0..rounds).map(|_| round(jdk)).collect::<Result<_>>()?;
    let of = |value: fn(&Round) -> f64| rounds.iter().map(value).collect::<Vec<f64>>();
    let methods = format!(": {:.0} methods", median(&of(|round| round.methods)));
    Ok(vec![
        figure("attach_ms", jdk, &of(|round| round.attach), " ms", &format!("{methods}, from the start of jtrace")),
        figure("weave_ms", jdk, &of(|round| round.weave), " ms", &format!("{methods}, by the library's clock")),
        figure("detach_ms", jdk, &of(|round| round.detach), " ms", &format!("{methods}, to the end of jtrace")),
        figure(
            "longest_step_ms",
            jdk,
            &of(|round| round.longest_step),
            " ms",
            ": the JVM stands still for a part of it",
        ),
    ])
}

fn round(jdk: &Jdk) -> Result<Round> {
    let mut jvm = Launch::new(jdk, "inside", "HotLoop").start()?;
    best(&mut jvm, WORK, [1, 1])?;
    let begun = Instant::now();
    let session = visit(&jvm, "markers", &["--marker", MARKER])?;
    let attach = begun.elapsed().as_secs_f64() * 1e3;
    best(&mut jvm, WORK, [1, 1])?;
    let left = Instant::now();
    let report = session.report()?;
    let detach = left.elapsed().as_secs_f64() * 1e3;
    jvm.finish()?;
    let number = |key: &str| report.summary("markers", key);
    let methods = number("places")?;
    ensure!(methods >= LEAST_METHODS, "only {methods} methods were woven");
    let ms = |key: &str| Ok::<_, anyhow::Error>(number(key)? as f64 / 1e6);
    let (weave, longest_step) = (ms("weaving_ns")?, ms("longest_step_ns")?);
    Ok(Round { attach, weave, detach, longest_step, methods: methods as f64 })
}
