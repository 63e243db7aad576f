//! Objects in the lane inside: as many as are written, as large as the JVM says, and none is kept from being left out.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk,
    jvm::{Jvm, Launch},
    report::{Report, cell},
};

use super::{WARM, session, sums, text, warm, work};

/// The question.
const INSIDE: [&str; 5] = ["alloc", "-I", "Written*::*", "--lane", "inside"];
/// Rounds of each session.
const ROUNDS: u64 = 3;
/// Rounds after which C2 has compiled what is left out.
const COMPILED: u64 = 12;
/// Bytes of an object that nobody else sees.
const HIDDEN_BYTES: u64 = 16;
const HIDDEN: &str = "Written$Hidden";

/// What a woven program did: what it expects of all rounds together, and of the last one.
struct Done {
    report: Report,
    all: Expected,
    last: Expected,
}

fn rounds(jvm: &mut Jvm, count: u64) -> Result<Done> {
    let session = session(jvm, &INSIDE)?;
    let (mut all, mut last) = (Expected::default(), Expected::default());
    for _ in 0..count {
        last = work(jvm)?;
        for (of, number) in &last.0 {
            *all.0.entry(of.clone()).or_default() += number;
        }
    }
    let report = session.report()?;
    report.nothing_lost()?;
    Ok(Done { report, all, last })
}

/// By class, place, kind and thread there are as many as are written; each table has the same sums.
fn as_written(report: &Report, expected: &Expected) -> Result<()> {
    let by =
        |table, key: &'static str, number| sums(report, ["alloc", table], move |row| text(row, key).to_owned(), number);
    let written: BTreeMap<String, u64> =
        expected.of("written")?.into_iter().map(|(class, number)| (class.to_owned(), number)).collect();
    let classes = by("objects_by_class", "class", "objects")?;
    ensure!(classes == written, "{classes:?}, not {written:?}");
    for number in ["objects", "bytes"] {
        let total = report.summary("alloc", number)?;
        for (table, key) in [
            ("objects_by_class", "class"),
            ("objects_by_site", "class"),
            ("objects_by_kind", "kind"),
            ("objects_by_package", "package"),
            ("objects_by_thread", "thread"),
        ] {
            let sum: u64 = by(table, key, number)?.into_values().sum();
            ensure!(sum == total, "{sum} {number} in {table}, {total} in all");
        }
        let (places, classes) = (by("objects_by_site", "class", number)?, by("objects_by_class", "class", number)?);
        ensure!(places == classes, "{places:?}, not {classes:?}");
    }
    ensure!(by("objects_by_kind", "kind", "objects")?.len() == 4, "a kind of object is missing");
    Ok(())
}

/// Bytes of what the program makes where all of it escapes.
fn escaping_bytes(report: &Report) -> Result<u64> {
    let rows = report.table("alloc", "objects_by_site")?;
    let is_escaping = |site: &str, class: &str| site.starts_with("Written$Maker.") && class != HIDDEN;
    rows.iter().filter(|row| is_escaping(text(row, "site"), text(row, "class"))).map(|row| cell(row, "bytes")).sum()
}

#[test]
fn every_object_of_a_warm_program_is_counted_as_written_with_its_size() -> Result<()> {
    for jdk in jdk::builds()? {
        let mut jvm = warm(&jdk, ["methods", "Written"], WARM)?;
        let place = || format!("on {}", jdk.home.display());
        let Done { report, all, last } = rounds(&mut jvm, ROUNDS)?;
        ensure!(report.0["headline"].is_null(), "{}", report.0["headline"]);
        as_written(&report, &all).with_context(place)?;
        // Each round makes the same; in the first one the JVM makes objects of its own beside them.
        let (counted, reached) = (escaping_bytes(&report)?, ROUNDS * last.one("reached_bytes", "escaping")?);
        ensure!(counted == reached, "{counted} bytes, the JVM says {reached} {}", place());
        // A second session begins anew.
        let again = rounds(&mut jvm, 1)?;
        as_written(&again.report, &again.all).with_context(place)?;
        jvm.finish()?;
    }
    Ok(())
}

/// Headers, references and what sizes are rounded up to.
const LAYOUTS: [(u32, &[&str]); 5] = [
    (11, &["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]),
    (17, &["-XX:ObjectAlignmentInBytes=16"]),
    (21, &["-XX:-UseCompressedClassPointers", "-Xint"]),
    (25, &["-XX:+UseCompactObjectHeaders"]),
    (25, &["-XX:+UseZGC"]),
];

#[test]
fn sizes_are_those_of_the_jvm_at_hand() -> Result<()> {
    let jdks = jdk::all()?;
    for (release, flags) in LAYOUTS {
        let Some(jdk) = jdks.iter().find(|jdk| jdk.release == release) else { continue };
        let mut jvm = Launch::new(jdk, "methods", "Written").flags(flags).start()?;
        jvm.work()?;
        let Done { report, all, last } = rounds(&mut jvm, ROUNDS)?;
        as_written(&report, &all)?;
        let (counted, reached) = (escaping_bytes(&report)?, ROUNDS * last.one("reached_bytes", "escaping")?);
        ensure!(counted == reached, "{counted} bytes, JDK {release} with {flags:?} says {reached}");
        jvm.finish()?;
    }
    Ok(())
}

/// The JVM's own counter of the thread says the same as before: nothing. The count is of what is written.
#[test]
fn what_a_compiler_leaves_out_is_still_left_out_where_it_is_counted() -> Result<()> {
    for jdk in jdk::all()? {
        let flags = ["-XX:-TieredCompilation", "-Xbatch"];
        let mut jvm = Launch::new(&jdk, "methods", "Written").flags(&flags).start()?;
        let mut before = Expected::default();
        for _ in 0..COMPILED {
            before = work(&mut jvm)?;
        }
        ensure!(before.one("reached_bytes", "hidden")? == 0, "JDK {} leaves nothing out", jdk.release);
        let Done { report, all, last } = rounds(&mut jvm, COMPILED)?;
        jvm.finish()?;
        let reached = last.one("reached_bytes", "hidden")?;
        ensure!(
            reached == 0,
            "{reached} bytes of objects reach the heap on JDK {} because they are counted",
            jdk.release
        );
        let written = all.one("written", HIDDEN)?;
        let classes =
            |number| sums(&report, ["alloc", "objects_by_class"], |row| text(row, "class").to_owned(), number);
        ensure!(classes("objects")?.get(HIDDEN) == Some(&written), "{:?}, not {written}", classes("objects")?);
        ensure!(classes("bytes")?.get(HIDDEN) == Some(&(written * HIDDEN_BYTES)), "{:?}", classes("bytes")?);
    }
    Ok(())
}

/// What the lane outside does not see it says first, with the command that does.
#[test]
fn where_objects_are_not_seen_the_first_line_has_the_command_that_counts_them() -> Result<()> {
    let jdk = jdk::all()?.into_iter().find(|jdk| jdk.release == 17).context("no JDK 17")?;
    let mut jvm = warm(&jdk, ["methods", "Written"], WARM)?;
    let outside = session(&jvm, &["alloc", "-I", "Written$*"])?;
    work(&mut jvm)?;
    let report = outside.report()?;
    let said = report.0["headline"].as_str().context("no headline")?.to_owned();
    let (_, rest) = said.split_once("`sudo jtrace ").with_context(|| said.clone())?;
    let (command, _) = rest.split_once('`').context("it does not end")?;
    let words: Vec<String> = command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    ensure!(
        words.first().is_some_and(|word| word == "alloc") && words.get(1) == Some(&jvm.pid().to_string()),
        "{said}"
    );
    let words: Vec<&str> =
        words.iter().map(String::as_str).enumerate().filter(|(at, _)| *at != 1).map(|(_, word)| word).collect();
    let inside = session(&jvm, &words)?;
    let expected = work(&mut jvm)?;
    let report = inside.report()?;
    jvm.finish()?;
    // One object is the program's own list of names, which does not belong to what makes the others.
    let places = sums(&report, ["alloc", "objects_by_site"], |row| text(row, "site").to_owned(), "objects")?;
    let counted: u64 = places.iter().filter(|(site, _)| site.starts_with("Written$Maker.")).map(|(_, n)| n).sum();
    let written = expected.of("written")?.into_values().sum::<u64>() - 1;
    ensure!(counted == written, "{counted} of {written} by `{command}`: {places:?}");
    Ok(())
}
