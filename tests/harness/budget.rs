//! What the traps of a session may cost its target at most. The only place of the tests that knows what the governor lets
//! through (`crates/tracer-governor/src/guard.rs`).
//!
//! All of it is by counts of one session and by what that session itself measured: traps, what a trap was calibrated to cost,
//! and when the governor saw that the budget was used up. How fast the machine is cancels out.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::report::Report;

/// The budget where the user says nothing, in percent of a core.
pub const USUAL_PERCENT: f64 = 1.0;
/// The same for methods and objects.
pub const ON_DEMAND_PERCENT: f64 = 5.0;
/// For so many seconds a budget that is not used is saved, and may be spent at once (`--burst`).
pub const USUAL_BURST_S: f64 = 5.0;
/// The same of sessions in which the governor shall have something to do soon, and the option for it. The lane in the JVM has no other.
pub const SHORT_BURST_S: f64 = 0.7;
/// See [`SHORT_BURST_S`].
pub const SHORT_BURST: [&str; 2] = ["--burst", "700ms"];
/// Whatever is saved, a burst is at least that of this budget and [`SHORT_BURST_S`].
const LEAST_BURST_PERCENT: f64 = 1.0;
/// Of a decision that came late, this many times what was said to be lost until then: the pace is that of its last stretch.
const LATE: f64 = 2.0;

/// The seconds that traps may have cost under a budget in percent of a core: the budget of the span, a burst, and what was lost while
/// the machine kept the governor from looking, which the report says of each decision.
///
/// # Errors
/// The report lacks a number.
pub fn most_traps_may_cost_s(report: &Report, percent: f64, burst_s: f64) -> Result<f64> {
    let span_s = number(&report.0["span"], "duration_ns")? / 1e9;
    let decisions = report.0["completeness"]["decisions"].as_array().into_iter().flatten();
    let relieved = decisions.filter(|decision| decision["cost_percent"].is_number());
    let late_s: f64 = relieved
        .map(|decision| {
            let seconds = decision["within_ns"].as_f64().unwrap_or_default() / 1e9;
            seconds * decision["cost_percent"].as_f64().unwrap_or_default() / 100.0
        })
        .sum();
    Ok(percent / 100.0 * span_s + at_once_s(percent, burst_s) + LATE * late_s)
}

/// The seconds of traps that may be spent at once.
pub fn at_once_s(percent: f64, burst_s: f64) -> f64 {
    let least_s = percent.max(LEAST_BURST_PERCENT) / 100.0 * SHORT_BURST_S;
    least_s.max(percent / 100.0 * burst_s)
}

/// The seconds that the traps of a session cost.
///
/// # Errors
/// The report lacks a number.
pub fn traps_cost_s(report: &Report) -> Result<f64> {
    let cost = &report.0["cost"];
    Ok(number(cost, "traps")? * number(cost, "trap_cost_ns")? / 1e9)
}

/// Checks one against the other.
///
/// # Errors
/// Traps cost more than they may.
pub fn within_budget(report: &Report, percent: f64, burst_s: f64) -> Result<()> {
    let (cost_s, most_s) = (traps_cost_s(report)?, most_traps_may_cost_s(report, percent, burst_s)?);
    ensure!(
        cost_s <= most_s,
        "traps took {cost_s:.4} s, not {most_s:.4}: {} {} {}",
        report.0["cost"],
        report.0["span"],
        report.0["completeness"]["decisions"]
    );
    Ok(())
}

fn number(of: &Value, key: &str) -> Result<f64> {
    of[key].as_f64().with_context(|| format!("no {key} in {of}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Ten seconds with so many traps of 1 us; the governor looked so late.
    fn session(traps: u64, within_ms: u64) -> Report {
        let decisions = json!([
            {"action": "detached", "cost_percent": 20.0, "within_ns": within_ms * 1_000_000},
            {"action": "attached", "cost_percent": null}
        ]);
        Report(json!({
            "span": {"duration_ns": 10_000_000_000_u64},
            "cost": {"traps": traps, "trap_cost_ns": 1000.0},
            "completeness": {"decisions": decisions}
        }))
    }

    #[test]
    fn a_session_may_cost_its_budget_a_burst_and_what_was_lost_while_nobody_looked() {
        // 100 ms of budget and 7 of burst.
        assert!(within_budget(&session(106_000, 0), 1.0, SHORT_BURST_S).is_ok());
        assert!(within_budget(&session(108_000, 0), 1.0, SHORT_BURST_S).is_err());
        // 20 % of 50 ms, twice.
        assert!(within_budget(&session(126_000, 50), 1.0, SHORT_BURST_S).is_ok());
        assert!(within_budget(&session(128_000, 50), 1.0, SHORT_BURST_S).is_err());
        // What is saved for longer, may be spent: 50 ms of burst.
        assert!(within_budget(&session(149_000, 0), 1.0, USUAL_BURST_S).is_ok());
        assert!(within_budget(&session(151_000, 0), 1.0, USUAL_BURST_S).is_err());
        // A smaller budget has the same least burst.
        assert!(within_budget(&session(16_000, 0), 0.1, SHORT_BURST_S).is_ok());
        assert!(within_budget(&session(18_000, 0), 0.1, SHORT_BURST_S).is_err());
    }
}
