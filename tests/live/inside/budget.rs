//! What the governor of the inside lane does where a session would cost more than its budget: markers are counted, or on in windows;
//! of properties fewer objects are tracked. Costs are judged by what the report says was told and when, not by the time that something
//! took; `cargo xtask bench --only inside-budget` prints the slowdown.

use std::{collections::BTreeMap, fs};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    budget::{SHORT_BURST_S, at_once_s},
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{self, Session},
    patience::until,
    report::{Report, Row, cell},
};

use super::{start, text};

/// The budget, in per cent of a core.
const PERCENT: f64 = 5.0;
/// Steps of a call of `Spin`, and how long a piece of work goes on: marks of it alone would take some 100 % of a core.
const SPIN: [&str; 2] = ["2", "1000"];
/// So many that marks with times are too much for the budget while they are on, and less than half of it while they are off.
const SLOW_SPIN: [&str; 2] = ["200", "3000"];

/// What the governor did with something, in its order.
fn decisions<'a>(report: &'a Report, group: &str) -> Vec<&'a Value> {
    let all = report.0["completeness"]["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|decision| decision["group"] == group).collect()
}

fn actions<'a>(decisions: &[&'a Value]) -> Vec<&'a str> {
    decisions.iter().filter_map(|decision| decision["action"].as_str()).collect()
}

/// What came of watching `Spin`.
struct Spun {
    report: Report,
    calls: u64,
    pieces: u64,
}

/// Watches `Spin`, with twice as much work each time, until so much was decided of its marker: how soon the governor looks, and how
/// long a pause has to be, is for the machine to say.
fn spin(jdk: &Jdk, program: [&str; 2], least_decisions: usize, options: &[&str]) -> Result<Spun> {
    let mut pieces = 2;
    until("the governor decides", || {
        let (report, calls) = spin_times(jdk, program, pieces, options)?;
        let is_enough = decisions(&report, "marker step").len() >= least_decisions;
        let spun = Spun { report, calls, pieces };
        pieces *= 2;
        Ok(is_enough.then_some(spun))
    })
}

/// Watches so many pieces of work; gives the report and how often it called.
fn spin_times(jdk: &Jdk, program: [&str; 2], times: u64, options: &[&str]) -> Result<(Report, u64)> {
    let mut jvm = start(jdk, "methods", "Spin", &program, &[])?;
    let options = [&["--inside", "-l", "markers", "--max-overhead", "5%"], options].concat();
    let session = Session::attach(jvm.pid(), &options)?;
    for _ in 0..times {
        jvm.work()?;
    }
    let report = session.report()?;
    let calls = Expected::parse(&jvm.stdout().text())?.one("calls", "Spin.step")?;
    jvm.finish()?;
    Ok((report, calls))
}

/// Checks that windows of a marker cost no more than the budget and a burst: each took what is said of it when it ended.
fn within_budget(report: &Report, decisions: &[&Value]) -> Result<()> {
    let span_s = report.0["span"]["duration_ns"].as_f64().context("no span")? / 1e9;
    let at_s = |decision: &Value| decision["at_ns"].as_f64().map_or(0.0, |ns| ns / 1e9);
    let (mut since_s, mut cost_s, mut longest_s) = (None, 0.0, 0.0_f64);
    for decision in decisions {
        match decision["action"].as_str() {
            Some("switched_on") => since_s = Some(at_s(decision)),
            // The first one ends what was before the first window.
            Some("switched_off") => {
                if let Some(since_s) = since_s.take() {
                    let window_s = at_s(decision) - since_s;
                    let share =
                        if decision["own"] == true { 0.0 } else { decision["cost_percent"].as_f64().unwrap_or(100.0) };
                    cost_s += window_s * share / 100.0;
                    longest_s = longest_s.max(window_s);
                }
            }
            _ => {}
        }
    }
    let most_s = PERCENT / 100.0 * span_s + at_once_s(PERCENT, SHORT_BURST_S) + longest_s;
    ensure!(cost_s <= most_s, "windows took {cost_s} s of {span_s}, not {most_s}: {decisions:?}");
    Ok(())
}

/// Counting does for it: from then on every call is counted, and one that was open is no more.
#[test]
fn a_marker_that_is_told_too_often_is_counted_and_no_mark_is_missing() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let options = ["--marker", "step=Spin::step", "--each", "--ring-size", "64m"];
        let Spun { report, calls, .. } = spin(&jdk, SPIN, 1, &options)?;
        let decisions = decisions(&report, "marker step");
        let actions = actions(&decisions);
        ensure!(actions.first() == Some(&"counted"), "JDK {}: {actions:?}", jdk.release);
        ensure!(report.missing().iter().any(|text| text.contains("are counted in the JVM")), "{:?}", report.missing());
        within_budget(&report, &decisions)?;
        let rows = report.table("markers", "markers")?;
        let entered = cell(rows.first().context("no marker")?, "entered")?;
        let lost = report.summary("markers", "lost_words")?;
        if actions.len() == 1 {
            // What a ring buffer had no room for is marks of one word each.
            ensure!(
                entered <= calls && calls <= entered + lost,
                "{entered} of {calls}, {lost} lost on JDK {}",
                jdk.release
            );
        } else {
            ensure!(entered < calls, "{entered} of {calls} on JDK {}", jdk.release);
        }
    }
    Ok(())
}

/// Who calls whom is still known when single calls are too many to be told: they are counted by what is around them, and what was under way
/// before is around them, too. How soon the governor looks, and whether the ring has room for all until then, is for the machine to say.
#[test]
fn callers_of_calls_that_are_counted_within_the_budget_are_known() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let mut times = 2;
        let (report, calls) = until("the governor decides before anything is lost", || {
            let mut jvm = start(&jdk, "methods", "Spin", &SLOW_SPIN, &[])?;
            let options = ["-l", "calls", "-I", "Spin::spin", "-I", "Spin::step", "--lane", "inside", "--yes"];
            let session =
                Session::attach(jvm.pid(), &[&options[..], &["--max-overhead", "5%", "--ring-size", "64m"]].concat())?;
            for _ in 0..times {
                jvm.work()?;
            }
            let report = session.report()?;
            let calls = Expected::parse(&jvm.stdout().text())?.one("calls", "Spin.step")?;
            jvm.finish()?;
            let is_decided = !decisions(&report, "marker calls").is_empty();
            if !is_decided {
                times *= 2;
            }
            // Who called is what was entered before, so where that is lost nobody knows.
            let is_all = report.summary("markers", "lost_words")? == 0;
            Ok((is_decided && is_all).then_some((report, calls)))
        })?;
        let decided = decisions(&report, "marker calls");
        let actions = actions(&decided);
        ensure!(actions.first() == Some(&"counted"), "JDK {}: {actions:?}", jdk.release);
        // On a machine that does something else as well, that may still be too much: then there are pauses.
        let is_whole = actions.len() == 1;
        let edges = report.table("calls", "edges")?;
        let step: Vec<_> = edges.iter().filter(|row| text(row, "callee") == "Spin.step").collect();
        let is_known = |row: &&Row| text(row, "caller") == "Spin.spin";
        let is_paused = |row: &&Row| !is_whole && text(row, "caller") == "<not known>";
        ensure!(step.iter().copied().any(|row| is_known(&row)), "JDK {}: {step:?}", jdk.release);
        ensure!(step.iter().copied().all(|row| is_known(&row) || is_paused(&row)), "JDK {}: {step:?}", jdk.release);
        let counted = step.iter().map(|row| cell(row, "calls")).sum::<Result<u64>>()?;
        let is_right = if is_whole { counted == calls } else { counted <= calls };
        ensure!(is_right, "{counted} of {calls} on JDK {}: {actions:?}", jdk.release);
    }
    Ok(())
}

/// Counting does not do where times are wanted: windows, whose share is said, and estimates where the windows allow them.
#[test]
fn a_marker_that_cannot_be_counted_is_on_in_windows() -> Result<()> {
    let jdk = jdk::any()?;
    let options = ["--marker", "step=Spin::step+time", "--marker", "rare=Spin::spin+time"];
    let Spun { report, calls, pieces } = spin(&jdk, SLOW_SPIN, 2, &options)?;
    let of_step = decisions(&report, "marker step");
    let actions = actions(&of_step);
    let expected = ["switched_off", "switched_on"].iter().cycle();
    ensure!(
        actions.len() > 1 && actions.iter().zip(expected).all(|(action, expected)| action == expected),
        "{actions:?}"
    );
    ensure!(decisions(&report, "marker rare").is_empty(), "what is rare was touched");
    within_budget(&report, &of_step)?;
    let windows = report.table("markers", "marker_windows")?;
    let row = windows.first().context("no windows")?;
    ensure!(text(row, "group") == "marker step" && windows.len() == 1, "{windows:?}");
    let share = row.get("on_percent").and_then(Value::as_f64).context("no share")?;
    ensure!(share > 0.0 && share < 100.0, "{share} %");
    let seen = cell(row, "seen")?;
    ensure!(seen > 0 && seen < 2 * calls, "{seen} of {calls} calls");
    for row in report.table("markers", "markers")? {
        let [entered, left] = ["entered", "left"].map(|key| cell(&row, key));
        let (entered, left) = (entered?, left?);
        // A region that was open when its marker was switched has one side only; there is one thread.
        let sides = actions.len() as u64 + report.summary("markers", "lost_words")?;
        ensure!(entered.abs_diff(left) <= sides, "{entered} entered, {left} left, {} decisions", actions.len());
        if text(&row, "marker") == "rare" {
            ensure!(entered == pieces && left == pieces, "{entered} entered, {left} left, not {pieces}");
        }
    }
    Ok(())
}

#[test]
fn a_recording_of_a_governed_session_gives_the_same_report() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("r.jtrace");
    let path = recording.to_str().context("a path")?;
    let options = ["--marker", "step=Spin::step+time", "-o", path, "--json"];
    let Spun { report, .. } = spin(&jdk::any()?, SPIN, 1, &options)?;
    let replayed = Report::parse(&jtrace::succeed(&["report", path, "--json"])?.stdout)?;
    ensure!(replayed.0 == report.0, "the recording gives another report");
    Ok(())
}

const PROPERTY: &str = r#"
name = "Thing"
message = "a thing is used while it is not open, or never closed"
classes = "Sampled$Thing"
regex = "(open use* close)*"

[symbols]
open = "open()"
use = "use()"
close = "close()"
"#;

/// What was told of the objects of each class.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    illegal: u64,
    dead: u64,
    tracked: Option<u64>,
    not_tracked: u64,
    one_in: u64,
}

fn sampled(jdk: &Jdk, arguments: &[&str], options: &[&str]) -> Result<(Report, Expected, BTreeMap<String, Told>)> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("thing.toml");
    fs::write(&file, PROPERTY)?;
    let path = file.to_str().context("a path")?;
    let mut jvm = start(jdk, "typestate", "Sampled", arguments, &[])?;
    let options = [&["--inside", "-l", "typestate", "--ring-size", "64m", "--later", "-p", path], options].concat();
    let session = Session::attach(jvm.pid(), &options)?;
    jvm.work()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    let report = session.final_report()?;
    report.nothing_lost()?;
    let mut told: BTreeMap<String, Told> = BTreeMap::new();
    for row in report.table("typestate", "violations")? {
        let of = told.entry(text(&row, "class").to_owned()).or_default();
        let sum = if text(&row, "symbol") == "(death)" { &mut of.dead } else { &mut of.illegal };
        *sum += cell(&row, "count")?;
    }
    for row in report.table("typestate", "sampled_classes").unwrap_or_default() {
        let of = told.entry(text(&row, "class").to_owned()).or_default();
        of.tracked = Some(cell(&row, "tracked")?);
        of.not_tracked = cell(&row, "not_tracked")?;
        of.one_in = cell(&row, "one_in")?;
    }
    Ok((report, expected, told))
}

/// Whatever is tracked, what is said of it is what is said of it without sampling, and nothing is said of what is not.
fn verdicts_are_right(expected: &Expected, told: &BTreeMap<String, Told>) -> Result<()> {
    for (class, number) in expected.of("objects")? {
        let Told { illegal, dead, tracked, not_tracked, .. } = told.get(class).copied().unwrap_or_default();
        let tracked = tracked.unwrap_or(number);
        ensure!(tracked + not_tracked == number, "{class}: {tracked} and {not_tracked} of {number}");
        let right = match class {
            "Sampled$Kept" => [0, 0],
            "Sampled$Unopened" => [tracked, 0],
            _ => [0, tracked],
        };
        ensure!([illegal, dead] == right, "{class}: {illegal} illegal, {dead} dead of {tracked} tracked");
    }
    Ok(())
}

/// Two threads at the same time, and every object is one of both. Each share is on two releases.
#[test]
fn objects_are_tracked_or_never_and_verdicts_of_tracked_ones_are_right() -> Result<()> {
    for (release, jdk) in jdk::all()?.into_iter().enumerate() {
        let shares = ["1/1", "1/4", "1/64"].into_iter().enumerate();
        for (_, share) in shares.filter(|(number, _)| jdk::is_in_turn(release, *number)) {
            let place = || format!("{share} on JDK {}", jdk.release);
            let options = ["--sample", share, "--max-overhead", "100000%"];
            let (report, expected, told) = sampled(&jdk, &["480", "2", "0"], &options).with_context(place)?;
            verdicts_are_right(&expected, &told).with_context(place)?;
            let all: u64 = expected.of("objects")?.values().sum();
            let of = |key| report.summary("typestate", key);
            ensure!(of("objects")? + of("not_tracked")? == all, "{}: {} of {all}", place(), of("objects")?);
            let one_in: u64 = share[2..].parse()?;
            // A binomial number is that far off in less than one of a million cases.
            let (about, off) = (all as f64 / one_in as f64, 5.0 * (all as f64 / one_in as f64).sqrt());
            ensure!((of("objects")? as f64 - about).abs() <= off, "{}: {} of {all}", place(), of("objects")?);
            ensure!(told.values().all(|told| told.tracked.is_none() || told.one_in == one_in), "{told:?}");
            ensure!((of("ignored")? > 0) == (one_in > 1), "{}: {} ignored", place(), of("ignored")?);
        }
    }
    Ok(())
}

/// The governor lowers the rate in the middle: whatever it decides, verdicts stay right, and rare classes are seen whole.
#[test]
fn a_budget_makes_fewer_objects_tracked_and_never_a_wrong_verdict() -> Result<()> {
    let jdk = jdk::any()?;
    let mut milliseconds = 3000;
    let (report, expected, told) = until("the governor decides", || {
        let arguments = ["20000", "2", &milliseconds.to_string()];
        let watched = sampled(&jdk, &arguments, &["--max-overhead", "5%"])?;
        milliseconds *= 2;
        Ok((!decisions(&watched.0, "property Thing").is_empty()).then_some(watched))
    })?;
    let of_thing = decisions(&report, "property Thing");
    let actions = actions(&of_thing);
    ensure!(
        actions.iter().all(|action| ["fewer_objects", "stopped"].contains(action)),
        "never in windows: {actions:?}"
    );
    ensure!(report.missing().iter().any(|text| text.contains("property Thing")), "{:?}", report.missing());
    let of = |class: &str| told.get(class).copied().unwrap_or_default();
    ensure!(of("Sampled$Kept").illegal == 0 && of("Sampled$Kept").dead == 0, "{told:?}");
    ensure!(of("Sampled$Unopened").dead == 0 && of("Sampled$Unclosed").illegal == 0, "{told:?}");
    if !actions.contains(&"stopped") {
        ensure!(of("Sampled$Kept").not_tracked > 0, "{told:?}");
        let rare: u64 = expected.one("objects", "Sampled$Rare")?;
        let is_whole = of("Sampled$Rare").tracked.is_none_or(|tracked| tracked == rare);
        let emergency = of_thing.iter().any(|decision| decision["one_in"] == 0);
        ensure!(is_whole || emergency, "{told:?}");
    }
    Ok(())
}
