//! What the governor does where a session of methods would cost more than its budget, and that the report says so.
//!
//! The rule runs against a clock of its own in `crates/tracer-governor/src/guard/tests.rs`. Here it runs for real: costs are compared with
//! what the same session measured, and a session in which the machine kept the program or jtrace from running is repeated.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    budget::{SHORT_BURST, SHORT_BURST_S, within_budget},
    jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    patience::until,
    report::{Report, cell},
};

/// Calls per second of the steady program.
const RATE: u64 = 50_000;
/// What tells apart what was left out: with ends of calls that is this part of the cost, and without them more than half of it.
const WITHOUT_ENDS: f64 = 0.7;
/// So far below the cost that leaving ends out would not be enough, even where the program falls behind.
const FAR_TOO_LITTLE: f64 = 0.15;

/// A program that calls `Paced.step` so often per second for so long; 0 is as often as it can.
fn paced(rate: u64, milliseconds: u64) -> Result<Jvm> {
    let arguments = [rate.to_string(), milliseconds.to_string()];
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let launch = Launch::new(&jdk::any()?, "methods", "Paced").flags(&["-XX:+DTraceMethodProbes"]).arguments(&words);
    let mut jvm = launch.start()?;
    // What it does for the first time is many methods of the JDK.
    jvm.work()?;
    Ok(jvm)
}

/// Watches its methods during some pieces of work; gives the report, and how often it called.
fn watch(jvm: &mut Jvm, pieces: u64, options: &[&str]) -> Result<(Report, u64)> {
    let printed = jvm.stdout().text().len();
    let mut words = vec!["-l", "methods", "-I", "Paced::*"];
    words.extend(SHORT_BURST);
    words.extend(options);
    let session = Session::attach(jvm.pid(), &words)?;
    for _ in 0..pieces {
        jvm.work()?;
    }
    let report = session.report()?;
    let text = jvm.stdout().text().split_off(printed);
    let calls = text.lines().filter_map(|line| line.strip_prefix("expected calls Paced.step "));
    let calls: u64 = calls.map(str::parse::<u64>).sum::<Result<_, _>>()?;
    ensure!(calls > 0, "the program tells of no calls");
    Ok((report, calls))
}

/// The same, with twice as much work each time, until the governor has decided something.
fn watch_until_decided(jvm: &mut Jvm, options: &[&str]) -> Result<(Report, u64)> {
    let mut pieces = 1;
    until("the governor decides something", || {
        let watched = watch(jvm, pieces, options)?;
        pieces *= 2;
        Ok((!decisions(&watched.0).0.is_empty()).then_some(watched))
    })
}

/// What the governor did, as words, and the decisions themselves.
fn decisions(report: &Report) -> (Vec<&str>, &[Value]) {
    let decisions = report.0["completeness"]["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    (decisions.iter().filter_map(|decision| decision["action"].as_str()).collect(), decisions)
}

/// Calls and errors of `step`.
fn steps(report: &Report) -> Result<[u64; 2]> {
    let rows = report.table("methods", "methods")?;
    let row = rows.iter().find(|row| row.get("method").is_some_and(|name| name == "step")).context("no step")?;
    Ok([cell(row, "calls")?, cell(row, "errors")?])
}

/// What calls at the steady rate and their ends cost by what a session takes a trap to cost, in percent of a core.
fn cost_percent(report: &Report) -> Result<f64> {
    let trap_ns = report.0["cost"]["trap_cost_ns"].as_f64().context("no trap_cost_ns")?;
    Ok(2.0 * RATE as f64 * trap_ns / 1e7)
}

/// What a trap is taken to cost is measured anew in each session, so the budget follows from the session before.
fn steady_cost(jvm: &Jvm) -> Result<f64> {
    cost_percent(&Session::attach(jvm.pid(), &["-l", "methods", "-I", "Nothing::*"])?.report()?)
}

#[test]
fn ends_of_calls_are_left_out_and_every_call_is_counted() -> Result<()> {
    let mut jvm = paced(RATE, 2000)?;
    let mut cost = steady_cost(&jvm)?;
    // Repeated where the program fell behind and caught up in a burst, or where a trap costs something else than a moment ago.
    let (report, calls, percent) = until("ends of calls, and nothing else, are left out", || {
        let percent = WITHOUT_ENDS * cost;
        let (report, calls) = watch(&mut jvm, 2, &["--max-overhead", &format!("{percent}%")])?;
        cost = cost_percent(&report)?;
        let is_narrowed = decisions(&report).0 == ["without_times"];
        Ok(is_narrowed.then_some((report, calls, percent)))
    })?;
    ensure!(report.missing().iter().any(|text| text.contains("only beginnings of calls")), "{:?}", report.missing());
    let reason = &decisions(&report).1[0];
    let (cost, budget) = (reason["cost_percent"].as_f64(), reason["budget_percent"].as_f64());
    ensure!(cost > budget && budget.is_some_and(|budget| (budget - percent).abs() < 0.001), "{reason}");
    ensure!(steps(&report)? == [calls, 0], "{:?} of {calls} calls", steps(&report)?);
    let exit = report.sites("dtrace_method_exit");
    ensure!(exit.iter().all(|site| site["state"] == "narrowed by the rate guard"), "{exit:?}");
    within_budget(&report, percent, SHORT_BURST_S)?;
    jvm.finish()?;
    Ok(())
}

/// How good the estimate is depends on when the windows are, which the machine decides; `crates/tracer-analysis/src/session/governed/tests.rs` holds it
/// to truths of its own.
#[test]
fn what_is_sampled_is_estimated_and_no_call_seems_to_fail() -> Result<()> {
    let mut jvm = paced(RATE, 3000)?;
    let mut cost = steady_cost(&jvm)?;
    let mut pieces = 4;
    // The first window is no sample; one more can be open at the end.
    let (report, calls, percent) = until("methods are sampled in more than three windows", || {
        let percent = FAR_TOO_LITTLE * cost;
        let (report, calls) = watch(&mut jvm, pieces, &["--max-overhead", &format!("{percent}%")])?;
        cost = cost_percent(&report)?;
        let (actions, _) = decisions(&report);
        let detached = actions.iter().filter(|action| **action == "detached").count();
        // A longer session has more windows, and more in which the program may catch up.
        if detached <= 3 {
            pieces *= 2;
        }
        let is_sampled = detached > 3 && actions.iter().all(|action| ["detached", "attached"].contains(action));
        // Where the program caught up in a window, traps slowed it too much for an estimate.
        let is_estimated = report.summary("methods", "extrapolated_calls").is_ok();
        Ok((is_sampled && is_estimated).then_some((report, calls, percent)))
    })?;
    let (actions, reasons) = decisions(&report);
    let expected = ["detached", "attached"].iter().cycle();
    ensure!(actions.iter().zip(expected).all(|(action, expected)| action == expected), "{actions:?}");
    for reason in reasons.iter().filter(|reason| reason["action"] == "detached") {
        ensure!(reason["cost_percent"].as_f64() > reason["budget_percent"].as_f64(), "{reason}");
    }
    within_budget(&report, percent, SHORT_BURST_S)?;
    let [seen, errors] = steps(&report)?;
    ensure!(seen < calls && errors == 0, "{seen} of {calls} calls, {errors} errors");
    let detached = actions.iter().filter(|action| **action == "detached").count() as u64;
    ensure!(report.summary("methods", "windows")? == detached, "not {detached} windows");
    let number = |key: &str| report.summary("methods", key);
    let [low, about, high] = ["extrapolated_low_calls", "extrapolated_calls", "extrapolated_high_calls"].map(number);
    let (low, about, high) = (low?, about?, high?);
    ensure!(low <= about && about <= high && low >= seen, "{seen} seen, {low} to {high}, about {about}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn what_even_short_looks_at_cost_too_much_is_stopped_and_the_rest_goes_on() -> Result<()> {
    let mut jvm = paced(0, 1000)?;
    let (report, calls) = watch_until_decided(&mut jvm, &["-l", "gc", "--max-overhead", "0.01%"])?;
    let (actions, reasons) = decisions(&report);
    ensure!(actions == ["stopped"], "{reasons:?}");
    ensure!(report.missing().iter().any(|text| text.contains("taken away for good")), "{:?}", report.missing());
    let [seen, errors] = steps(&report)?;
    ensure!(seen < calls && errors == 0, "{seen} of {calls} calls, {errors} errors");
    ensure!(report.summary("methods", "extrapolated_calls").is_err(), "what was stopped is estimated");
    for (probe, state) in [("dtrace_method_entry", "stopped by the rate guard"), ("gc__begin", "attached")] {
        let sites = report.sites(probe);
        ensure!(!sites.is_empty() && sites.iter().all(|site| site["state"] == state), "{sites:?}");
    }
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_recording_of_a_governed_session_gives_the_same_report() -> Result<()> {
    let mut jvm = paced(0, 3000)?;
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("r.jtrace");
    let path = recording.to_str().context("a path")?;
    let (live, _) = watch_until_decided(&mut jvm, &["-o", path, "--json"])?;
    let replayed = tests::jtrace::succeed(&["report", path, "--json"])?;
    let replayed = Report::parse(&replayed.stdout)?;
    ensure!(replayed.0 == live.0, "the recording gives another report");
    jvm.finish()?;
    Ok(())
}
