//! States of many objects: none is lost or shared, whichever threads use them and wherever collectors move them.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Collector, Jdk},
    jvm::{Jvm, Launch},
    patience::until_true,
    report::Report,
};

use super::{attach, recorder, start};

const TABLE: &str = "java.lang.JtraceKnown";
/// How long a test that is large may take for one step.
const PATIENCE: Duration = Duration::from_mins(30);

fn release(wanted: u32) -> Result<Vec<Jdk>> {
    Ok(jdk::all()?.into_iter().filter(|jdk| jdk.release == wanted).collect())
}

fn oracle(jdk: &Jdk, collector: Collector, files: &str, threads: [&str; 2], heap: &str) -> Result<()> {
    let flags = [collector.flags(), &[heap, "-Djdk.virtualThreadScheduler.parallelism=4"]].concat();
    let arguments = [files, threads[0], threads[1]];
    let mut jvm = Launch::new(jdk, "typestate", "ManyObjects").flags(&flags).arguments(&arguments).start()?;
    let session = attach(&jvm, "typestate", &["-p", "file", "--later"])?;
    jvm.go()?;
    jvm.done_within(PATIENCE)?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    let report = session.final_report()?;
    agree(&report, &expected, "File")
}

fn agree(report: &Report, expected: &Expected, program: &str) -> Result<()> {
    report.nothing_lost()?;
    let told = |key| report.summary("typestate", key);
    for (kind, key) in [("illegal", "illegal_transitions"), ("dead", "dead_violations"), ("objects", "objects")] {
        let number = expected.one(kind, program)?;
        ensure!(
            told(key)? == number,
            "{} {key}, not {number}: {}",
            told(key)?,
            report.section("typestate")?["summary"]
        );
    }
    Ok(())
}

/// As many collectors as the release has, by turns with threads of both kinds.
fn oracles(files: &str, heap: &str) -> Result<()> {
    for jdk in [release(17)?, release(25)?].concat() {
        for (turn, collector) in jdk.collectors().into_iter().filter(|one| *one != Collector::Serial).enumerate() {
            let kind = if jdk.release >= 21 && turn % 2 == 0 { "virtual" } else { "platform" };
            let place = || format!("JDK {} with {} and {kind} threads", jdk.release, collector.name());
            oracle(&jdk, collector, files, ["6", kind], heap).with_context(place)?;
        }
    }
    Ok(())
}

#[test]
fn verdicts_on_200_000_moving_objects_are_those_of_their_program() -> Result<()> {
    oracles("200000", "-Xmx256m")
}

#[test]
#[ignore = "takes minutes"]
fn verdicts_on_10_000_000_moving_objects_are_those_of_their_program() -> Result<()> {
    oracles("10000000", "-Xmx1g")
}

/// A reader takes no lock, so the place at which it saw its object's entry may be another's when it looks again. Interpreted code looks
/// again where compiled code would not.
#[test]
fn a_lookup_beside_a_sweep_never_finds_another_objects_entry() -> Result<()> {
    let told = recorder::run("java.base", "JtraceLookups", &["300000", "100000000"])?;
    ensure!(told.starts_with("found ") && told.trim() != "found 0", "{told}");
    Ok(())
}

/// One that is asked for an element, and dies before it is given.
const ASKED: &str = "name = \"Asked\"\nmessage = \"asked and dropped\"\nclasses = [\"Iterators$Own\"]\n\
                     regex = \"(hasNext next)*\"\n[symbols]\nhasNext = \"hasNext()\"\nnext = \"next()\"\n";

fn dying(iterators: &str, most_left: u64) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let property = directory.path().join("asked.toml");
    std::fs::write(&property, ASKED)?;
    let property = property.display().to_string();
    for jdk in [release(17)?, release(25)?].concat() {
        for collector in [Collector::G1, Collector::Z] {
            let place = || format!("JDK {} with {}", jdk.release, collector.name());
            let mut jvm = start(&jdk, "typestate", "Iterators", &[iterators], collector.flags())?;
            let session = attach(&jvm, "typestate", &["-p", &property, "--later"])?;
            jvm.go()?;
            jvm.done_within(PATIENCE)?;
            until_forgotten(&jvm, most_left).with_context(place)?;
            let expected = Expected::parse(&jvm.stdout().text())?;
            let report = session.report()?;
            jvm.finish()?;
            agree(&report, &expected, "Iterators").with_context(place)?;
        }
    }
    Ok(())
}

/// Waits until the JVM's table has so few objects, as the JVM itself counts them.
fn until_forgotten(jvm: &Jvm, most_left: u64) -> Result<()> {
    until_true("objects that died are forgotten", || {
        let histogram = jvm.jcmd(&["GC.class_histogram"])?;
        let line = histogram.lines().find(|line| line.split_whitespace().nth(3) == Some(TABLE));
        let left: u64 = line.and_then(|line| line.split_whitespace().nth(1)).map_or(Ok(0), str::parse)?;
        Ok(left <= most_left)
    })
}

#[test]
fn of_100_000_iterators_all_die_and_none_is_kept() -> Result<()> {
    dying("100000", 100)
}

#[test]
#[ignore = "takes minutes"]
fn of_1_000_000_iterators_all_die_and_none_is_kept() -> Result<()> {
    dying("1000000", 100)
}
