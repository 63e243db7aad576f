//! The library of properties, each with a program that keeps it and one that breaks it, and the micro-tests of the Marker Tracing
//! Framework.

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Collector},
    jvm::Jvm,
    report::{Report, cell},
};

use super::{attach, start, text};

/// Name of the property, and the program of it.
const PROPERTIES: [(&str, &str); 18] = [
    ("cipherinit", "CipherInit"),
    ("deflaterended", "DeflaterEnded"),
    ("executorshutdown", "ExecutorShutdown"),
    ("fileleftopen", "FileLeftOpen"),
    ("hasmoreelements", "HasMoreElements"),
    ("hasnext", "HasNext"),
    ("hasnextonce", "HasNextOnce"),
    ("iteratorremove", "IteratorRemove"),
    ("listiteratorset", "ListIteratorSet"),
    ("lockleftheld", "LockLeftHeld"),
    ("matchergroup", "MatcherGroup"),
    ("readafterclose", "ReadAfterClose"),
    ("scannerclosed", "ScannerClosed"),
    ("signatureorder", "SignatureOrder"),
    ("socketleftopen", "SocketLeftOpen"),
    ("timercancelled", "TimerCancelled"),
    ("writeafterclose", "WriteAfterClose"),
    ("zipfileclosed", "ZipFileClosed"),
];

/// The numbers of a report: of all objects to the end of the program.
fn verdicts(mut jvm: Jvm, property: &str, options: &[&str]) -> Result<(Report, Expected)> {
    let options = [&["-p", property, "--later"], options].concat();
    let session = attach(&jvm, "typestate", &options)?;
    jvm.work()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    let report = session.final_report()?;
    report.nothing_lost()?;
    Ok((report, expected))
}

fn agree(report: &Report, expected: &Expected, program: &str) -> Result<()> {
    for (kind, key) in [("illegal", "illegal_transitions"), ("dead", "dead_violations")] {
        let (told, number) = (report.summary("typestate", key)?, expected.one(kind, program)?);
        ensure!(told == number, "{told} {key}, not {number}");
    }
    let rows = report.table("typestate", "violations")?;
    let listed: u64 = rows.iter().map(|row| cell(row, "count")).sum::<Result<u64>>()?;
    let all = expected.one("illegal", program)? + expected.one("dead", program)?;
    ensure!(listed == all, "{listed} violations in the table, not {all}");
    ensure!(report.findings().contains(&"typestate-violation") == (all > 0), "findings: {:?}", report.findings());
    for row in rows {
        let illegal = text(&row, "symbol") != "(death)";
        ensure!(!text(&row, "class").starts_with('<'), "no class: {row:?}");
        ensure!(!illegal || !text(&row, "place").is_empty() && !text(&row, "thread").is_empty(), "no place: {row:?}");
    }
    Ok(())
}

/// Each property on one release, with all collectors of that in turn.
#[test]
fn programs_that_break_a_property_are_found_and_others_are_not() -> Result<()> {
    let jdks = jdk::all()?;
    for (index, (property, program)) in PROPERTIES.into_iter().enumerate() {
        let jdk = &jdks[index % jdks.len()];
        let collectors = jdk.collectors();
        let collector: Collector = collectors[index % collectors.len()];
        for work in ["good", "bad"] {
            let place = || format!("{property}, {work}, on JDK {} with {}", jdk.release, collector.name());
            let jvm = start(jdk, "typestate", program, &[work], collector.flags())?;
            let (report, expected) = verdicts(jvm, property, &[]).with_context(place)?;
            agree(&report, &expected, program).with_context(place)?;
        }
    }
    Ok(())
}

/// Of the 6,000,008 events of Main, 4 change a state, and 2 are the first ones of their files. What is held back and what is told add up,
/// and verdicts and transitions are the same where everything is told. Each program is on two releases.
#[test]
fn the_micro_tests_of_files_have_their_numbers_with_and_without_adaptation() -> Result<()> {
    const PROGRAMS: [&str; 4] = ["Main", "NoEof", "NoOpen", "NoClose"];
    for (release, jdk) in jdk::all()?.into_iter().enumerate() {
        for (_, program) in PROGRAMS.iter().enumerate().filter(|(number, _)| jdk::is_in_turn(release, *number)) {
            // So much that everything may be told, too.
            for (adaptive, elements) in [(true, "1500001"), (false, "20000")] {
                let options: &[&str] = if adaptive { &[] } else { &["--no-adaptive"] };
                let place = || format!("{program} {options:?} on JDK {}", jdk.release);
                let jvm = start(&jdk, "typestate", "FilePrograms", &[program, elements], &[])?;
                let (report, expected) = verdicts(jvm, "file", options).with_context(place)?;
                let told = |key| report.summary("typestate", key);
                let all = expected.one("events", "File")?;
                ensure!(told("events")? + told("suppressed")? == all, "{}: not {all} events", place());
                // The illegal symbol is the first one of its file.
                let least = expected.one("objects", "File")?;
                ensure!(told("events")? == if adaptive { least } else { all }, "{}: {}", place(), told("events")?);
                for (kind, key) in [
                    ("illegal", "illegal_transitions"),
                    ("dead", "dead_violations"),
                    ("objects", "objects"),
                    ("transitions", "transitions"),
                ] {
                    ensure!(told(key)? == expected.one(kind, "File")?, "{}: {} {key}", place(), told(key)?);
                }
            }
        }
    }
    Ok(())
}
