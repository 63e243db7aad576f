//! Exceptions in the lane inside: all of them, with a stack trace or without, by origin and by where they end, on a JVM that nobody
//! prepared.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jvm::{Counts, Jvm, Launch},
    report::{Report, cell},
};

use super::{session, sums, text};

/// Of every kind of handler.
const HANDLED: u64 = 30;
/// Of a class of its own, of the JDK's, out of a constructor, and without a stack trace.
const REFUSED: [u64; 4] = [300, 200, 40, 500];
const LEAVES: &str = "<leaves the chosen code>";

/// What a program says of itself, and what was counted inside of these methods meanwhile.
fn watched(jdk: &Jdk, main: &str, arguments: &[&str]) -> Result<(Counts, Report)> {
    let mut jvm: Jvm = Launch::new(jdk, "exceptions", main).arguments(arguments).start()?;
    jvm.work()?;
    let session = session(&jvm, &["exceptions", "-I", &format!("{main}*::*"), "--lane", "inside"])?;
    let counts = jvm.work()?;
    let report = session.report()?;
    report.nothing_lost()?;
    jvm.finish()?;
    Ok((counts, report))
}

/// Class, origin, place without its line, where it ends, and how many methods it leaves.
type Way = (String, String, String, String, u64);

/// How many went each way.
fn ways(report: &Report) -> Result<BTreeMap<Way, u64>> {
    let mut ways = BTreeMap::new();
    for row in report.table("exceptions", "sites")? {
        let [class, origin, site, end] = ["class", "origin", "site", "caught_at"].map(|key| text(&row, key).to_owned());
        let place = site.split(':').next().unwrap_or_default().to_owned();
        let key = (class, origin, place, end, cell(&row, "mean_unwound_frames")?);
        *ways.entry(key).or_default() += cell(&row, "thrown")?;
    }
    Ok(ways)
}

/// Every kind of handler: behind `finally`, `synchronized` and `try` with resources, which let them through, by one that ignores it, by code
/// that is not chosen, and what the JVM makes.
#[test]
fn every_exception_is_followed_from_where_it_is_thrown_to_where_it_is_caught() -> Result<()> {
    for jdk in jdk::builds()? {
        let (counts, report) = watched(&jdk, "Handlers", &[&HANDLED.to_string()])?;
        let at = |method: &str| Ok::<_, anyhow::Error>(format!("Handlers.{method}:{}", counts.get(method)?));
        let of = |class: &str, origin: &str, method: &str, end: String, unwound| {
            let class = if class.contains('.') { class.to_owned() } else { format!("Handlers${class}") };
            ((class, origin.to_owned(), format!("Handlers.{method}"), end, unwound), HANDLED)
        };
        let expected = BTreeMap::from([
            of("Passed", "throw", "locking", at("passed")?, 2),
            of("Closed", "throw", "closed", at("closed")?, 0),
            of("Beside", "throw", "rethrowing", at("beside")?, 1),
            of("Ignored", "throw", "ignored", at("ignored")? + ", ignored", 0),
            of("InTask", "throw", "fail", LEAVES.to_owned(), 2),
            of("Refusing", "throw", "refusing", LEAVES.to_owned(), 1),
            of("java.lang.reflect.InvocationTargetException", "call", "reflected", at("reflected")?, 0),
            of("Dying", "throw", "die", LEAVES.to_owned(), 1),
        ]);
        let mut ways = ways(&report)?;
        // The class could not be initialised before, and that is said anew each time.
        let (class, initialised) = ("java.lang.NoClassDefFoundError", "Handlers.initialised");
        let again = ways.extract_if(.., |(of, origin, place, ..), _| {
            (of.as_str(), origin.as_str(), place.as_str()) == (class, "jvm", initialised)
        });
        let again: u64 = again.map(|(_, count)| count).sum();
        let place = || format!("on {}", jdk.home.display());
        ensure!(again == 1, "{again} of {class}, not 1, {}", place());
        ensure!(ways == expected, "{ways:#?} and not {expected:#?} {}", place());
        let thrown = report.summary("exceptions", "thrown")?;
        ensure!(thrown == 8 * HANDLED + 1, "{thrown} thrown {}", place());
        ensure!(report.summary("exceptions", "without_trace")? == 0, "all have one {}", place());
    }
    Ok(())
}

/// Those that the JVM writes no stack trace for are seen here alone.
#[test]
fn exceptions_without_a_stack_trace_are_counted_as_well() -> Result<()> {
    for jdk in jdk::builds()? {
        let [refused, numbers, built, bare] = REFUSED;
        let (_, report) =
            watched(&jdk, "Refusals", &REFUSED.map(|count| count.to_string()).each_ref().map(String::as_str))?;
        let by_class = sums(&report, ["exceptions", "classes"], |row| text(row, "class").to_owned(), "thrown")?;
        let expected = [
            ("Refusals$Bare", bare),
            ("Refusals$Refused", refused),
            ("java.lang.IllegalArgumentException", built),
            ("java.lang.NumberFormatException", numbers),
        ];
        let expected = expected.into_iter().map(|(class, count)| (class.to_owned(), count)).collect();
        ensure!(by_class == expected, "{by_class:?}, not {expected:?} on {}", jdk.home.display());
        let figures = ["thrown", "caught", "without_trace", "rethrown", "left_chosen_code"];
        let found = figures.map(|key| report.summary("exceptions", key));
        let found = found.into_iter().collect::<Result<Vec<_>>>().context("no such figures")?;
        let all = REFUSED.iter().sum();
        ensure!(found == [all, all, bare, 0, 0], "{found:?} on {}", jdk.home.display());
    }
    Ok(())
}
