//! A program that parks 200,000 times a second, which the rate guard has to relieve: what that costs it, by its CPU time.

use anyhow::{Context as _, Result};
use tests::{
    budget::{USUAL_BURST_S, USUAL_PERCENT, most_traps_may_cost_s, traps_cost_s},
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
};

use super::{
    budget::Figure,
    statistics::{Random, interval, median},
};

/// About four seconds of work at the rate that the program looks for.
const WORDS: [&str; 2] = ["800000", "200000"];

pub(crate) fn measure(jdk: &Jdk, pairs: usize) -> Result<Vec<Figure>> {
    let mut jvm = Launch::new(jdk, "hotpark", "HotPark").arguments(&WORDS).start()?;
    let (mut slowdowns, mut traps, mut late) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = cpu_of_work(&mut jvm)?;
    for _ in 0..pairs {
        let session = Session::attach(jvm.pid(), &[])?;
        let during = cpu_of_work(&mut jvm)?;
        let report = session.report()?;
        let after = cpu_of_work(&mut jvm)?;
        slowdowns.push((during / f64::midpoint(before, after) - 1.0) * 100.0);
        before = after;
        let span_s = report.0["span"]["duration_ns"].as_f64().context("no duration")? / 1e9;
        traps.push(traps_cost_s(&report)? / span_s * 100.0);
        late.push(
            (most_traps_may_cost_s(&report, USUAL_PERCENT, USUAL_BURST_S)? / span_s).mul_add(100.0, -USUAL_PERCENT),
        );
    }
    jvm.finish()?;
    let (low, high) = interval(&slowdowns, &mut Random::from_clock());
    let note = format!("CPU time of the target, {pairs} pairs, 95 % interval {low:.2} to {high:.2}");
    let [traps, late] = [traps, late].map(|percents| median(&percents));
    Ok(vec![
        Figure::new("parking_slowdown_percent", median(&slowdowns), note),
        Figure::new("parking_slowdown_at_least", low, "lower end of that interval"),
        Figure::new(
            "parking_traps_percent",
            traps,
            format!("of the span; {late:.2} more than the budget may be used up"),
        ),
    ])
}

/// CPU time of one piece of work, traps included. Unlike the time on the clock it does not grow when others use the machine.
fn cpu_of_work(jvm: &mut Jvm) -> Result<f64> {
    let before = super::busy::cpu_s(jvm.pid())?;
    jvm.work()?;
    Ok(super::busy::cpu_s(jvm.pid())? - before)
}
