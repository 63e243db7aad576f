//! What users do: a JVM that was started without a flag for jtrace, warm, and a command line. Everything that was chosen is
//! counted to the last one, or named as not covered.

mod exceptions;
mod explained;
mod lanes;
mod objects;
mod programs;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::{Jvm, Launch},
    patience,
    report::{Report, Row, cell},
};

/// Nothing is taken away, and a burst of events has room.
const COMPLETE: [&str; 4] = ["--max-overhead", "100000%", "--ring-size", "32m"];

/// Rounds after which the JVM has compiled what is hot.
const WARM: usize = 3;

/// Calls in a round of `Tally`.
const CALLS: u64 = 101_002;

/// A JVM without any flag, that has worked for some rounds.
fn warm(jdk: &Jdk, [feature, main]: [&str; 2], rounds: usize) -> Result<Jvm> {
    let mut jvm = Launch::new(jdk, feature, main).start()?;
    for _ in 0..rounds {
        jvm.work()?;
    }
    Ok(jvm)
}

/// Attaches by these words, with the pid behind the first, and reports in JSON.
fn session(jvm: &Jvm, words: &[&str]) -> Result<Session> {
    let pid = jvm.pid().to_string();
    Session::start(&[&words[..1], &[&*pid], &words[1..], &COMPLETE, &["--json"]].concat())
}

/// Lets it work once; gives what is expected of that.
fn work(jvm: &mut Jvm) -> Result<Expected> {
    let printed = jvm.stdout().text().len();
    jvm.work()?;
    Expected::parse(&jvm.stdout().text()[printed..])
}

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The methods that a section names as not covered.
fn not_covered(report: &Report, section: &str) -> Result<BTreeSet<String>> {
    let tables = report.tables(section)?;
    let rows = tables.get("not_covered").into_iter().flatten();
    Ok(rows.map(|row| format!("{}.{}", text(row, "class"), text(row, "method"))).collect())
}

/// Sums of a number by the names in some columns.
fn sums(
    report: &Report,
    [section, table]: [&str; 2],
    name: impl Fn(&Row) -> String,
    key: &str,
) -> Result<BTreeMap<String, u64>> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for row in report.table(section, table)? {
        *sums.entry(name(&row)).or_default() += cell(&row, key)?;
    }
    Ok(sums)
}

fn method(row: &Row) -> String {
    format!("{}.{}", text(row, "class"), text(row, "method"))
}

/// Whether the report says that what is interpreted is not seen.
fn interpreter_is_unseen(report: &Report, section: &str) -> Result<bool> {
    let notes = report.section(section)?["notes"].as_array().into_iter().flatten();
    Ok(notes.filter_map(Value::as_str).any(|note| note.contains("runs in the interpreter is not seen")))
}

/// Every number is right, or of a method that is named as not covered, and never more than was done. A method with fewer calls than
/// `interpreted_below` can have no compiled code.
fn calls_agree(
    report: &Report,
    expected: &Expected,
    [section, table]: [&str; 2],
    name: impl Fn(&Row) -> String,
    interpreted_below: u64,
) -> Result<()> {
    let not_covered = not_covered(report, section)?;
    let unseen = interpreter_is_unseen(report, section)?;
    let mut wrong = Vec::new();
    expected.of("calls")?;
    for kind in ["calls", "errors"] {
        let counted = sums(report, [section, table], &name, kind)?;
        for ((_, of), &number) in expected.0.iter().filter(|((expects, _), _)| expects == kind) {
            let counted = counted.get(of).copied().unwrap_or(0);
            // A method that is called too rarely to be compiled runs in the interpreter, and is not seen there.
            let is_said = not_covered.contains(of) || unseen && counted == 0 && number < interpreted_below;
            if counted != number && (counted > number || !is_said) {
                wrong.push(format!("{counted} {kind} of {of}, not {number}"));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}; not covered: {not_covered:?}", wrong.join("; "));
    Ok(())
}

/// Works until code that was dropped has come back: the flag is down again then. On releases that recompile nothing it stays up.
fn settle(jvm: &mut Jvm, jdk: &Jdk) -> Result<usize> {
    let mut rounds = 0;
    patience::until("chosen code has come back", || {
        if jdk.release < 25 || jvm.flag("DTraceMethodProbes")? != "true" {
            return Ok(Some(rounds));
        }
        jvm.work()?;
        rounds += 1;
        Ok(None)
    })
}

/// One round, asked about by a session of its own: what is armed by now reports to everybody.
fn round(jvm: &mut Jvm, question: &[&str]) -> Result<(Report, Expected)> {
    let watching = session(jvm, &[question, &["--arm", "off"]].concat())?;
    let expected = work(jvm)?;
    Ok((watching.report()?, expected))
}

/// One round of a warm `Tally`, watched by a command on calls when all that can report does, on every build.
fn on_warm_tally(command: &str, check: impl Fn(&Report, &Expected) -> Result<()>) -> Result<()> {
    for jdk in jdk::builds()? {
        let place = || format!("on {}", jdk.home.display());
        let mut jvm = warm(&jdk, ["methods", "Tally"], WARM)?;
        let question = [command, "-I", "Tally*::*"];
        let arming = session(&jvm, &question)?;
        settle(&mut jvm, &jdk).with_context(place)?;
        let (report, expected) = round(&mut jvm, &question)?;
        check(&report, &expected).with_context(place)?;
        arming.report()?;
        ensure!(jvm.flag("DTraceMethodProbes")? == "false", "the flag is still up {}", place());
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn calls_of_a_warm_program_are_counted_or_named_as_not_covered() -> Result<()> {
    on_warm_tally("methods", |report, expected| {
        calls_agree(report, expected, ["methods", "methods"], method, 2)?;
        // When the JVM compiles a method is its own choice: before the flag was up, while it was, or by C2 when it is down again. What was
        // lost by that is named above, and where it is most calls the first line names what would see them.
        let headline = report.0["headline"].as_str();
        let inside = format!("`sudo jtrace methods {} -I 'Tally*::*' --lane inside`", report.0["target"]["pid"]);
        let counted = report.summary("methods", "calls")?;
        let said = headline.map_or(counted > CALLS / 2, |said| said.contains(&inside));
        ensure!(said, "{counted} calls, {headline:?}");
        Ok(())
    })
}

/// Every caller of a method together has called it as often as it was called.
#[test]
fn edges_of_a_warm_program_are_counted_or_named_as_not_covered() -> Result<()> {
    let callee = |row: &Row| text(row, "callee").to_owned();
    on_warm_tally("calls", |report, expected| calls_agree(report, expected, ["calls", "edges"], callee, 2))
}

/// JNI needs no flag and no code anew: what was compiled before calls the same functions.
#[test]
fn jni_calls_of_a_warm_program_are_counted_on_every_build() -> Result<()> {
    let pair = |row: &Row| format!("{}<-{}", text(row, "function"), text(row, "caller"));
    for jdk in jdk::builds()? {
        let place = || format!("on {}", jdk.home.display());
        let mut jvm = warm(&jdk, ["jni", "Calls"], WARM)?;
        let session = session(&jvm, &["jni", "-I", "*"])?;
        let expected = work(&mut jvm)?;
        let report = session.report()?;
        jvm.finish()?;
        let counted = sums(&report, ["jni", "jni_callers"], pair, "calls")?;
        for (of, number) in expected.of("calls")? {
            let counted = counted.get(of).copied().unwrap_or(0);
            ensure!(counted == number, "{counted} calls of {of}, not {number} {}", place());
        }
    }
    Ok(())
}

#[test]
fn calls_of_a_program_that_was_idle_meanwhile_are_counted() -> Result<()> {
    let all = jdk::all()?;
    let Some(jdk) = all.iter().find(|jdk| jdk.release >= 25) else { return Ok(()) };
    let mut jvm = warm(jdk, ["methods", "Tally"], WARM)?;
    // No call would compile anything until jtrace has attached.
    let session = session(&jvm, &["methods", "-I", "Tally*::*"])?;
    let of_round = work(&mut jvm)?;
    // The first one, too.
    let rounds = settle(&mut jvm, jdk)? as u64 + 1;
    let report = session.report()?;
    let counted = sums(&report, ["methods", "methods"], method, "calls")?;
    let sold = counted.get("Tally$Till.sell").copied().unwrap_or(0);
    ensure!(sold > 0 && sold <= rounds * of_round.one("calls", "Tally$Till.sell")?, "{sold} calls of sell");
    let said = report.missing().iter().any(|sentence| sentence.contains("had no compiled code when the session began"));
    ensure!(said, "{:?}", report.missing());
    jvm.finish()?;
    Ok(())
}

#[test]
fn objects_of_a_program_are_counted_once_on_every_build() -> Result<()> {
    for jdk in jdk::builds()? {
        for rounds in [0, WARM] {
            objects_are_counted(&jdk, rounds)
                .with_context(|| format!("after {rounds} rounds on {}", jdk.home.display()))?;
        }
    }
    Ok(())
}

/// Watches one round of allocations of a JVM that has worked for some rounds.
pub(crate) fn objects_are_counted(jdk: &Jdk, rounds: usize) -> Result<()> {
    let mut jvm = warm(jdk, ["methods", "Allocations"], rounds)?;
    let session = session(&jvm, &["alloc", "--exact", "--yes"])?;
    let expected = work(&mut jvm)?;
    let report = session.report()?;
    jvm.finish()?;
    objects_agree(&report, &expected, rounds == 0 && jdk.release < 24)
}

/// No class has more objects or bytes than were made; and no fewer, where all code reports.
fn objects_agree(report: &Report, expected: &Expected, all: bool) -> Result<()> {
    let class = |row: &Row| text(row, "class").to_owned();
    let not_covered = not_covered(report, "alloc")?;
    let names_maker = not_covered.iter().any(|method| method.starts_with("Allocations"));
    let unseen = interpreter_is_unseen(report, "alloc")?;
    for (kind, key) in [("objects", "objects"), ("bytes", "bytes")] {
        let counted = sums(report, ["alloc", "objects_by_class"], class, key)?;
        for (of, number) in expected.of(kind)?.into_iter().filter(|(of, _)| of.starts_with("Allocations")) {
            let counted = counted.get(of).copied().unwrap_or(0);
            let is_right = counted == number || counted < number && !all && (names_maker || unseen);
            ensure!(is_right, "{counted} {kind} of {of}, not {number}; not covered: {not_covered:?}");
        }
    }
    Ok(())
}
