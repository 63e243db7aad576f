//! What costs too much while it is off is taken out of the code while the session goes on, and nothing else is.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    patience::until_true,
    report::{Report, cell},
};

use super::{restored::Visited, text};

/// Classes with the marker that is taken out, with that and another one, and with the other one.
const CLASSES: [&str; 3] = ["Spinning$Only", "Spinning$Both", "Spinning$Cool"];
/// Times cannot be counted, so that it is on in windows; two of them must agree.
const HOT: [&str; 2] = ["--marker", "hot=Spinning$*::step+time"];
const COOL: [&str; 3] = ["--marker", "cool=Spinning$*::cool", "--each"];
/// Has more than five places: instructions that push their numbers are others than those for larger ones.
const MANY: [&str; 2] = ["--marker", "many=Subjects*::*"];
/// A piece of work.
const PIECE: &str = "SPIN 250";

#[test]
fn a_marker_that_is_too_hot_is_taken_out_and_others_go_on() -> Result<()> {
    for jdk in jdk::all()? {
        visit(&jdk).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

fn attach(jvm: &Visited, options: &[&str]) -> Result<Session> {
    let options = [&["--inside", "-l", "markers", "--ring-size", "256m"], options].concat();
    Session::attach(jvm.pid(), &options)
}

fn visit(jdk: &Jdk) -> Result<()> {
    let mut jvm = Visited::start(jdk)?;
    // So that the classes are linked.
    jvm.ask("SPIN 1")?;
    let code = jvm.sums("CODE", CLASSES)?;
    attach(&jvm, &MANY)?.report()?;
    let session = attach(&jvm, &COOL)?;
    let with_cool = jvm.sums("CODE", CLASSES)?;
    session.report()?;
    ensure!(jvm.sums("CODE", CLASSES)? == code, "a session has left something");

    let session = attach(&jvm, &[&HOT[..], &COOL, &["--max-overhead", "2%"]].concat())?;
    let woven = jvm.sums("CODE", CLASSES)?;
    ensure!(woven[..2].iter().zip(&with_cool).all(|(woven, other)| woven != other), "the marker is not woven");
    let printed = jvm.stdout().len();
    let gone = until_true("the marker is taken out", || {
        let is_out = jvm.sums("CODE", CLASSES)? == with_cool;
        if !is_out {
            jvm.ask(PIECE)?;
        }
        Ok(is_out)
    });
    if gone.is_err() {
        return gone.with_context(|| match session.report() {
            Ok(report) => report.0["completeness"]["decisions"].to_string(),
            Err(error) => format!("{error:#}"),
        });
    }
    // It looks for the first time, so that the JVM asks it behind jtrace.
    let during = jvm.sums("BYTES behind", CLASSES)?;
    // It goes on.
    jvm.ask(PIECE)?;
    let report = session.report()?;
    is_told(&report).with_context(|| format!("{:?}", report.0["completeness"]))?;
    let expected = Expected::parse(jvm.stdout().get(printed..).unwrap_or_default())?;
    others_are_exact(&report, &expected)?;
    ensure!(jvm.sums("CODE", CLASSES)? == code, "a class runs other code than before");
    let bytes = jvm.sums("BYTES behind", CLASSES)?;
    ensure!(during[0] == bytes[0], "the class without markers had other bytes than its own");
    ensure!(during[1] != bytes[1] && during[2] != bytes[2], "a class with a marker left had its own bytes");
    jvm.finish()
}

/// Which, when, why, and what it was taken to cost.
fn is_told(report: &Report) -> Result<()> {
    let decisions = report.0["completeness"]["decisions"].as_array().context("no decisions")?;
    ensure!(decisions.iter().all(|decision| decision["group"] == "marker hot"), "something else was decided");
    let stopped: Vec<&Value> = decisions.iter().filter(|decision| decision["action"] == "stopped").collect();
    let [stopped] = stopped.as_slice() else { bail!("stopped {} times", stopped.len()) };
    let number = |key: &str| stopped[key].as_f64().with_context(|| format!("no {key}"));
    // What costs half of the budget while it is off.
    ensure!(number("off_percent")? >= number("budget_percent")? / 2.0, "{stopped}");
    ensure!(number("at_ns")? > 0.0 && number("hits_per_s")? > 0.0, "{stopped}");
    ensure!(decisions.last() == Some(*stopped), "something was decided later");
    ensure!(
        report.missing().iter().any(|text| text.starts_with("`marker hot` was taken out of the code for good after")),
        "no sentence says it"
    );
    let notes: Vec<&str> =
        report.section("markers")?["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ensure!(notes.iter().any(|note| note.starts_with("Taking markers out of 2 classes (2 methods)")), "{notes:?}");
    Ok(())
}

/// No mark of the others is missing but what a ring buffer had no room for, and none is told twice.
fn others_are_exact(report: &Report, expected: &Expected) -> Result<()> {
    let lost = report.summary("markers", "lost_words")?;
    let mut seen: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for row in report.table("markers", "marker_places")? {
        if text(&row, "marker") == "cool" {
            let name = format!("{}.cool", text(&row, "class"));
            ensure!(!seen.contains_key(&name), "{name} has two places");
            seen.insert(name, [cell(&row, "entered")?, cell(&row, "left")?]);
        }
    }
    let expected = expected.of("calls")?;
    ensure!(seen.len() == expected.len(), "{seen:?}");
    for (of, calls) in expected {
        let sides = seen.get(of).with_context(|| format!("nothing of {of}"))?;
        ensure!(
            sides.iter().all(|side| *side <= calls && calls <= side + lost),
            "{of}: {sides:?} of {calls}, {lost} words lost"
        );
    }
    Ok(())
}
