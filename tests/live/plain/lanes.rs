//! One question, two lanes: where both see everything, they say the same; and one sees all on a JVM that nobody prepared.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jvm::{Jvm, Launch},
    report::{Report, Row, cell},
};

use super::{CALLS, WARM, method, session, sums, text, warm, work};
use crate::methods::graph::paths_agree;

/// Sales of a program whose every call is a trap: enough for both compilers.
const FEW: &str = "6000";

/// JVMs that both lanes are asked about at the same time. Each call is a trap then, those of the library as well, so they sell little; half
/// of the releases are asked one question, and the other half the other one.
fn in_both(turn: usize) -> Result<Vec<(Jdk, Jvm)>> {
    let all = jdk::all()?.into_iter().enumerate().filter(|(row, _)| jdk::is_in_turn(*row, turn));
    let launch = |jdk: &Jdk| Launch::new(jdk, "methods", "Tally").flags(&["-XX:+DTraceMethodProbes"]);
    all.map(|(_, jdk)| Ok((jdk.clone(), launch(&jdk).arguments(&[FEW]).start()?))).collect()
}

/// Where both lanes see everything, they say the same.
#[test]
fn both_lanes_count_the_same_calls_at_the_same_time() -> Result<()> {
    for (jdk, mut jvm) in in_both(0)? {
        let outside = session(&jvm, &["methods", "-I", "Tally$Till::*"])?;
        let inside = session(&jvm, &["methods", "-I", "Tally$Till::*", "--lane", "inside"])?;
        work(&mut jvm)?;
        let (inside, outside) = (inside.report()?, outside.report()?);
        for kind in ["calls", "errors"] {
            let [of_inside, of_outside] =
                [&inside, &outside].map(|report| sums(report, ["methods", "methods"], method, kind));
            let (of_inside, of_outside) = (of_inside?, of_outside?);
            ensure!(of_inside == of_outside, "{kind} on {}: {of_inside:?}, {of_outside:?}", jdk.release);
        }
        jvm.finish()?;
    }
    Ok(())
}

/// The same question, and another lane: nothing depends on what the JVM has compiled. Each build is asked with one of the options, in turn, so
/// that all builds and all options are met; the whole matrix is all.
#[test]
fn every_call_of_a_warm_program_is_counted_inside() -> Result<()> {
    const OPTIONS: [&[&str]; 3] = [&[], &["--no-times"], &["--each", "--no-times"]];
    for (number, jdk) in jdk::builds()?.into_iter().enumerate() {
        let mut jvm = warm(&jdk, ["methods", "Tally"], WARM)?;
        for (turn, more) in OPTIONS.into_iter().enumerate() {
            if !jdk::is_full() && number % OPTIONS.len() != turn {
                continue;
            }
            // Two patterns that both mean a method are one call of it.
            let chosen = ["methods", "-I", "Tally$Till::*", "-I", "Tally*::*", "-X", "*::priced", "--lane", "inside"];
            let session = session(&jvm, &[&chosen[..], more].concat())?;
            let expected = work(&mut jvm)?;
            let report = session.report()?;
            all_but_priced(&report, &expected, more.is_empty())
                .with_context(|| format!("with {more:?} on {}", jdk.home.display()))?;
        }
        jvm.finish()?;
    }
    Ok(())
}

/// All that was done is there, and times where these were asked for.
fn all_but_priced(report: &Report, expected: &Expected, timed: bool) -> Result<()> {
    ensure!(report.0["headline"].is_null(), "{}", report.0["headline"]);
    for kind in ["calls", "errors"] {
        let counted = sums(report, ["methods", "methods"], method, kind)?;
        for (of, number) in expected.of(kind)? {
            let counted = counted.get(of).copied().unwrap_or(0);
            let number = if of.ends_with(".priced") { 0 } else { number };
            ensure!(counted == number, "{counted} {kind} of {of}, not {number}");
        }
    }
    let by_thread = sums(report, ["methods", "thread_methods"], |row| text(row, "thread").to_owned(), "calls")?;
    ensure!(by_thread.into_values().eq([report.summary("methods", "calls")?]), "it has one thread");
    let is_timed = |row: &Row| cell(row, "total_ns").is_ok_and(|total| total > 0);
    let rows = report.table("methods", "methods")?;
    ensure!(rows.iter().all(|row| is_timed(row) == timed), "{rows:?}");
    Ok(())
}

/// Who calls whom, where both see everything: how often, and how often with an exception.
#[test]
fn both_lanes_know_who_calls_whom() -> Result<()> {
    for (jdk, mut jvm) in in_both(1)? {
        let outside = session(&jvm, &["calls", "-I", "Tally*::*"])?;
        let inside = session(&jvm, &["calls", "-I", "Tally*::*", "--lane", "inside"])?;
        work(&mut jvm)?;
        let (inside, outside) = (inside.report()?, outside.report()?);
        for kind in ["calls", "errors"] {
            let (of_inside, of_outside) = (edges(&inside, kind)?, edges(&outside, kind)?);
            ensure!(of_inside == of_outside, "{kind} on {}: {of_inside:?}, {of_outside:?}", jdk.release);
            ensure!(of_inside.values().any(|number| *number > 0), "no {kind}");
        }
        jvm.finish()?;
    }
    Ok(())
}

/// Calls between methods of the program, by caller and callee. What calls it from elsewhere is known outside only.
fn edges(report: &Report, kind: &str) -> Result<BTreeMap<String, u64>> {
    let name = |row: &Row| format!("{} > {}", text(row, "caller"), text(row, "callee"));
    let mut edges = sums(report, ["calls", "edges"], name, kind)?;
    edges.retain(|edge, _| edge.starts_with("Tally.") || edge.starts_with("Tally$Till."));
    Ok(edges)
}

/// Who calls whom in a round of `Tally`, and how often.
const EDGES: [(&str, u64); 7] = [
    ("Tally.round > Tally$Till.flushed", 1000),
    ("Tally.round > Tally.counted", 20_000),
    ("Tally.round > Tally$Till.sell", 20_000),
    ("Tally$Till.sell > Tally$Till.priced", 20_000),
    ("Tally$Till.priced > Tally$Till.rounded", 20_000),
    ("Tally$Till.sell > Tally$Till.checked", 20_000),
    ("Tally.lambda$main$0 > Tally.round", 1),
];

/// No flag, warm code: every call has its caller, and there are as many as in the lens `methods`. Without times no call is told one by one.
#[test]
fn every_caller_of_a_warm_program_is_known_inside() -> Result<()> {
    for jdk in jdk::builds()? {
        let mut jvm = warm(&jdk, ["methods", "Tally"], WARM)?;
        for more in [&[][..], &["--no-times"]] {
            let chosen = ["calls", "-l", "methods,calls", "-I", "Tally*::*", "--lane", "inside"];
            let session = session(&jvm, &[&chosen[..], more].concat())?;
            let expected = work(&mut jvm)?;
            let report = session.report()?;
            callers_are_known(&report, &expected).with_context(|| format!("{more:?} on {}", jdk.home.display()))?;
        }
        jvm.finish()?;
    }
    Ok(())
}

fn callers_are_known(report: &Report, expected: &Expected) -> Result<()> {
    for kind in ["calls", "errors"] {
        ensure!(of_callees(report, kind)? == sums(report, ["methods", "methods"], method, kind)?, "{kind}");
        callees_agree(report, expected, kind)?;
    }
    let edges = edges(report, "calls")?;
    let known: BTreeMap<String, u64> = EDGES.into_iter().map(|(edge, calls)| (edge.to_owned(), calls)).collect();
    ensure!(edges == known, "{edges:?}");
    ensure!(report.summary("calls", "calls")? == CALLS, "{:?}", report.summary("calls", "calls"));
    Ok(())
}

fn of_callees(report: &Report, kind: &str) -> Result<BTreeMap<String, u64>> {
    sums(report, ["calls", "edges"], |row| text(row, "callee").to_owned(), kind)
}

/// As many calls of each method, or errors, as the program made.
fn callees_agree(report: &Report, expected: &Expected, kind: &str) -> Result<()> {
    let counted = of_callees(report, kind)?;
    for (of, number) in expected.of(kind)? {
        let counted = counted.get(of).copied().unwrap_or(0);
        ensure!(counted == number, "{counted} {kind} of {of}, not {number}");
    }
    Ok(())
}

/// What a round of a program comes to that is counted in contexts from the beginning, and what it says itself.
fn in_contexts(program: &Launch, chosen: &[&str]) -> Result<(Report, Expected)> {
    let mut jvm = program.start()?;
    let session = session(&jvm, &[&["calls", "--lane", "inside", "--no-times"], chosen].concat())?;
    let expected = work(&mut jvm)?;
    let report = session.report()?;
    jvm.finish()?;
    Ok((report, expected))
}

/// 20,000 contexts within each other, and two ways to one method, of which only one goes on.
#[test]
fn contexts_are_counted_inside_however_deep_they_are() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let on = || format!("JDK {}", jdk.release);
        let (report, expected) = in_contexts(&Launch::new(&jdk, "methods", "Recursion"), &["-I", "Recursion::*"])?;
        paths_agree(&report, &expected).with_context(on)?;
        callees_agree(&report, &expected, "calls").with_context(on)?;
        // One for each depth.
        let deep: u64 = expected.of("depth")?.values().sum();
        ensure!(report.summary("calls", "contexts")? > 2 * deep, "{:?}", report.summary("calls", "contexts"));
    }
    Ok(())
}

/// One method makes objects for two others, and an exception ends a third one: whose each is, the contexts say. No flag, warm code.
#[test]
fn what_is_made_is_told_by_context_inside() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let on = || format!("JDK {}", jdk.release);
        let mut jvm = warm(&jdk, ["methods", "Makers"], WARM)?;
        let chosen = ["calls", "-l", "calls,alloc", "--exact", "--lane", "inside", "--no-times", "-I", "Makers::*"];
        let session = session(&jvm, &chosen)?;
        let expected = work(&mut jvm)?;
        let report = session.report()?;
        jvm.finish()?;
        let shapes = report.section("calls")?["shapes"].as_array().context("no shapes")?;
        let tree = shapes.iter().find(|shape| shape["id"] == "made").context("no tree of what is made")?;
        let mut made = Made::default();
        made.below(&tree["root"], "")?;
        for (kind, counted) in [("made", &made.objects), ("bytes", &made.bytes)] {
            for (of, number) in expected.of(kind)? {
                let counted = counted.get(of).copied();
                ensure!(counted == Some(number), "{counted:?} {kind} of {of}, not {number}, on {}: {tree}", on());
            }
        }
        let all: u64 = expected.of("made")?.values().sum();
        for lens in ["calls", "alloc"] {
            ensure!(report.summary(lens, "objects")? == all, "{lens} on {}: {all}", on());
        }
        ensure!(report.summary("calls", "bytes")? == report.summary("alloc", "bytes")?, "bytes on {}", on());
    }
    Ok(())
}

/// Objects and bytes by the methods around them, from `work` on, and class.
#[derive(Default)]
struct Made {
    objects: BTreeMap<String, u64>,
    bytes: BTreeMap<String, u64>,
}

impl Made {
    fn below(&mut self, node: &serde_json::Value, around: &str) -> Result<()> {
        for child in node["children"].as_array().into_iter().flatten() {
            let label = child["label"].as_str().context("no label")?;
            let Some(rest) = label.strip_prefix("new ") else {
                let name = label.rsplit('.').next().unwrap_or_default();
                let begins = around.is_empty() && name != "work";
                self.below(child, &if begins { String::new() } else { format!("{around}{name};") })?;
                continue;
            };
            let (class, rest) = rest.split_once(" (").context("no class")?;
            let objects = rest.split_once(" object").context("no objects")?.0.replace(',', "");
            *self.objects.entry(format!("{around}{class}")).or_default() += objects.parse::<u64>()?;
            let bytes = child["value"].as_f64().context("no bytes")?;
            *self.bytes.entry(format!("{around}{class}")).or_default() += format!("{bytes:.0}").parse::<u64>()?;
        }
        Ok(())
    }
}

/// Four million contexts of one thread are more than there is room for in the JVM, and more than jtrace tells apart: the calls are all there.
#[test]
fn calls_in_more_contexts_than_there_is_room_for_are_counted_inside() -> Result<()> {
    let jdk = jdk::any()?;
    let program = Launch::new(&jdk, "methods", "Tree").arguments(&["21"]);
    let (report, expected) = in_contexts(&program, &["-I", "Tree::left", "-I", "Tree::right"])?;
    report.nothing_lost()?;
    callees_agree(&report, &expected, "calls")?;
    let said = report.0.to_string();
    ensure!(said.contains("calling contexts took 64 MiB in the JVM"), "{:?}", report.missing());
    ensure!(said.contains("contexts were told apart"), "{:?}", report.section("calls")?["notes"]);
    Ok(())
}

/// The code of a method keeps what is around it: frames that no mark could be made of are gone with the one around them.
#[test]
fn callers_are_known_inside_after_a_stack_overflow() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let (report, expected) = in_contexts(&Launch::new(&jdk, "methods", "Overflow"), &["-I", "Overflow::*"])?;
        let name = |row: &Row| format!("{}->{}", text(row, "caller"), text(row, "callee"));
        let edges = sums(&report, ["calls", "edges"], name, "calls")?;
        for (edge, number) in expected.of("edge")? {
            ensure!(edges.get(edge) == Some(&number), "{edge} {number} on {}: {edges:?}", jdk.release);
        }
        let errors = of_callees(&report, "errors")?;
        ensure!(errors.get("Overflow.caught") == Some(&0), "{errors:?} on {}", jdk.release);
    }
    Ok(())
}

/// A virtual thread goes from carrier to carrier, which have the trees: its calls are counted, and nobody says who calls.
#[test]
fn calls_of_virtual_threads_are_counted_inside_without_callers() -> Result<()> {
    for jdk in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 21) {
        let program = Launch::new(&jdk, "typestate", "ManyObjects").arguments(&["20000", "6", "virtual"]);
        let (report, expected) = in_contexts(&program, &["-I", "File::*", "-X", "*::<init>", "--later"])?;
        let calls = sums(&report, ["calls", "edges"], |row| text(row, "caller").to_owned(), "calls")?;
        let (all, not_known) = (calls.values().sum::<u64>(), calls.get("<not known>").copied().unwrap_or(0));
        let number = expected.one("events", "File")?;
        ensure!(all == number, "{all} calls, not {number}, on {}: {calls:?}", jdk.release);
        // The last files are finished by the thread that began all.
        ensure!(not_known > 0 && calls.keys().all(|caller| caller.starts_with('<')), "{calls:?} on {}", jdk.release);
    }
    Ok(())
}
