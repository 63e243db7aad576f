//! What the governor does where a session would cost more than its budget, and that the report says so. Programs that call
//! at a steady rate tell how often they called; costs are judged by counts of traps, not by the time that something took.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::{Report, cell},
};

/// Calls per second of the steady program.
const RATE: u64 = 100_000;
/// What `--max-overhead` is for methods unless something else is said.
const USUAL_PERCENT: f64 = 5.0;
/// Part of a second's budget that hits may cost at once (`guard.rs`): 7 ms of 1 % of a core.
const BURST_S: f64 = 0.7;

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

/// Watches its methods during one piece of work; gives the report, and how often it called.
fn watch(jvm: &mut Jvm, options: &[&str]) -> Result<(Report, u64)> {
    let printed = jvm.stdout().text().len();
    let mut words = vec!["-l", "methods", "-I", "Paced::*"];
    words.extend(options);
    let session = Session::attach(jvm.pid(), &words)?;
    jvm.work()?;
    let report = session.report()?;
    let text = jvm.stdout().text().split_off(printed);
    let calls = text.lines().find_map(|line| line.strip_prefix("expected calls Paced.step ")).context("no calls")?;
    Ok((report, calls.parse()?))
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

fn number(report: &Report, of: &str, key: &str) -> Result<f64> {
    report.0[of][key].as_f64().with_context(|| format!("no {key} in {of}"))
}

/// What so many traps a second cost, in percent of a core.
fn costs_percent(traps: u64, trap_ns: f64) -> f64 {
    traps as f64 * trap_ns / 1e7
}

/// Checks by counts that traps took no more than the budget and one burst.
fn within_budget(report: &Report, percent: f64) -> Result<()> {
    let span_s = number(report, "span", "duration_ns")? / 1e9;
    let cost_s = number(report, "cost", "traps")? * number(report, "cost", "trap_cost_ns")? / 1e9;
    let most_s = percent / 100.0 * (span_s + BURST_S);
    ensure!(cost_s <= most_s, "traps took {cost_s} s of {span_s}, not {most_s}");
    Ok(())
}

#[test]
fn ends_of_calls_are_left_out_and_every_call_is_counted() -> Result<()> {
    let mut jvm = paced(RATE, 4000)?;
    let session = Session::attach(jvm.pid(), &["-l", "methods", "-I", "Nothing::*"])?;
    let mut trap_ns = number(&session.report()?, "cost", "trap_cost_ns")?;
    // A machine that stops the program for long makes it catch up in a burst, which is another story.
    for _ in 0..5 {
        // Of what calls and returns cost together: as far from all of it as from the half that calls alone cost.
        let percent = 0.7 * costs_percent(2 * RATE, trap_ns);
        let (report, calls) = watch(&mut jvm, &["--max-overhead", &format!("{percent}%")])?;
        // A trap costs what this session says. Where the one before said something else, this budget asks for something else: in these four
        // seconds, what is less than 1.2 of it does not empty the burst.
        trap_ns = number(&report, "cost", "trap_cost_ns")?;
        if !(0.6..0.8).contains(&(percent / costs_percent(2 * RATE, trap_ns))) {
            continue;
        }
        let (actions, reasons) = decisions(&report);
        ensure!(
            actions.first() == Some(&"without_times"),
            "{reasons:?} of {calls} calls under {percent} %: {} {}",
            report.0["cost"],
            report.0["span"]
        );
        ensure!(
            report.missing().iter().any(|text| text.contains("only beginnings of calls")),
            "{:?}",
            report.missing()
        );
        let reason = &reasons[0];
        let (cost, budget) = (reason["cost_percent"].as_f64(), reason["budget_percent"].as_f64());
        ensure!(cost > budget && budget.is_some_and(|budget| (budget - percent).abs() < 0.001), "{reason}");
        if actions.len() > 1 {
            continue;
        }
        ensure!(steps(&report)? == [calls, 0], "{:?} of {calls} calls", steps(&report)?);
        let exit = report.sites("dtrace_method_exit");
        ensure!(exit.iter().all(|site| site["state"] == "narrowed by the rate guard"), "{exit:?}");
        within_budget(&report, percent)?;
        jvm.finish()?;
        return Ok(());
    }
    anyhow::bail!("the program could not keep its rate, or a trap cost something else each time")
}

#[test]
fn what_is_sampled_is_estimated_and_no_call_seems_to_fail() -> Result<()> {
    // Even without its ends, that is more than the budget; with them less than half of a core, from where on nothing is estimated.
    let mut jvm = paced(RATE, 18_000)?;
    let (report, calls) = watch(&mut jvm, &[])?;
    let (actions, reasons) = decisions(&report);
    ensure!(actions.first() == Some(&"detached"), "{reasons:?}");
    let expected = ["detached", "attached"].iter().cycle();
    ensure!(actions.iter().zip(expected).all(|(action, expected)| action == expected), "{actions:?}");
    for reason in reasons.iter().filter(|reason| reason["action"] == "detached") {
        ensure!(reason["cost_percent"].as_f64() > Some(USUAL_PERCENT), "{reason}");
    }
    within_budget(&report, USUAL_PERCENT)?;
    let [seen, errors] = steps(&report)?;
    ensure!(seen < calls && errors == 0, "{seen} of {calls} calls, {errors} errors");
    let detached = actions.iter().filter(|action| **action == "detached").count() as u64;
    ensure!(report.summary("methods", "windows")? == detached, "not {detached} windows");
    // The first one is no sample; one more can be open at the end.
    let estimates = ["extrapolated_low_calls", "extrapolated_calls", "extrapolated_high_calls"]
        .map(|key| report.summary("methods", key));
    if detached > 3 {
        let [low, about, high] = estimates;
        let (low, about, high) = (low?, about?, high?);
        ensure!(low <= about && about <= high && low >= seen, "{low} {about} {high}");
        // The interval misses in one of twenty cases; twice as much or half of it would be no estimate.
        ensure!(about < 2 * calls && 2 * about > calls, "about {about}, not {calls}");
    }
    jvm.finish()?;
    Ok(())
}

#[test]
fn what_even_short_looks_at_cost_too_much_is_stopped_and_the_rest_goes_on() -> Result<()> {
    let mut jvm = paced(0, 2000)?;
    let (report, calls) = watch(&mut jvm, &["-l", "gc", "--max-overhead", "0.01%"])?;
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
    let mut jvm = paced(0, 6000)?;
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("r.jtrace");
    let path = recording.to_str().context("a path")?;
    let (live, _) = watch(&mut jvm, &["-o", path, "--json"])?;
    ensure!(!decisions(&live).0.is_empty(), "{:?}", live.0["completeness"]);
    let replayed = tests::jtrace::succeed(&["report", path, "--json"])?;
    let replayed = Report::parse(&replayed.stdout)?;
    ensure!(replayed.0 == live.0, "the recording gives another report");
    jvm.finish()?;
    Ok(())
}
