//! The instructions that call, as `javap` reads them in the class file.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jvm::classes,
    process::Finished,
    report::{Report, Row, cell},
};

use super::{Expected, Run, graph::edges, text};

/// The instructions of a method that call, by bytecode index.
fn instructions(class: &str, method: &str) -> Result<BTreeMap<u64, String>> {
    let mut command = Command::new("javap");
    command.args(["-c", "-p", "-cp"]).arg(classes("methods")).arg(class);
    let listing = Finished::of(&mut command, tests::jtrace::LIMIT)?;
    ensure!(listing.code == 0, "javap: {}", listing.stderr);
    let listing = listing.text();
    let of_method =
        listing.split("\n\n").find(|text| text.contains(&format!(" {method}("))).context("no such method")?;
    let mut found = BTreeMap::new();
    for line in of_method.lines() {
        if let Some((index, rest)) = line.trim().split_once(": ")
            && let (Ok(index), Some(name)) = (index.parse(), rest.split_whitespace().next())
            && name.starts_with("invoke")
        {
            found.insert(index, name.to_owned());
        }
    }
    Ok(found)
}

/// The places of calls, by caller and bytecode index.
fn places(report: &Report) -> Result<BTreeMap<(String, u64), Row>> {
    let mut places = BTreeMap::new();
    for row in report.table("calls", "sites")? {
        if let Ok(bci) = cell(&row, "bci") {
            places.insert((text(&row, "caller").to_owned(), bci), row);
        }
    }
    Ok(places)
}

/// Checks the instruction at every place that is told, and that all calls are told. `places_known` says that every call has its
/// place: code that C1 has inlined knows none where a method begins.
fn agrees(report: &Report, expected: &Expected, code: &BTreeMap<u64, String>, places_known: bool) -> Result<()> {
    let places = places(report)?;
    let of_calls = || places.iter().filter(|((caller, _), _)| caller == "Opcodes.calls");
    for ((_, bci), row) in of_calls() {
        let instruction = code.get(bci).with_context(|| format!("javap has no call at {bci}"))?;
        ensure!(text(row, "opcode") == instruction, "{row:?}, where javap has {instruction}");
    }
    // The last one makes an error that is never thrown.
    let seen: BTreeSet<u64> = of_calls().map(|((_, bci), _)| *bci).collect();
    let all: BTreeSet<u64> = code.keys().copied().filter(|bci| Some(bci) != code.keys().last()).collect();
    ensure!(if places_known { seen == all } else { seen.is_subset(&all) }, "places {seen:?}, where javap has {all:?}");
    let edges = edges(report)?;
    for (of, number) in expected.of("opcode")? {
        let (instruction, edge) = of.split_once(':').context("no edge")?;
        let (caller, callee) = edge.split_once("->").context("no callee")?;
        let at = places.iter().filter(|((of, _), row)| of == caller && text(row, "names") == callee);
        let at: Vec<_> = at.map(|(_, row)| (text(row, "opcode"), cell(row, "calls").unwrap_or(0))).collect();
        let agrees =
            if places_known { at == [(instruction, number)] } else { at.iter().all(|(at, _)| *at == instruction) };
        ensure!(agrees, "{of} {number}: {at:?}");
        let calls = edges.get(edge).map_or(0, |(calls, _)| *calls);
        ensure!(calls == number, "{calls} calls of {edge}, not {number}");
    }
    for (of, number) in expected.of("form")?.into_iter().filter(|_| places_known) {
        let (instruction, caller) = of.split_once(':').context("no caller")?;
        let form =
            |row: &&Row| text(row, "names").starts_with("java.lang.invoke.") && text(row, "opcode") == instruction;
        let calls = places.iter().filter(|((of, _), _)| of == caller).map(|(_, row)| row).filter(form);
        let calls: Vec<_> = calls.map(|row| cell(row, "calls").unwrap_or(0)).collect();
        ensure!(calls == [number], "{of} {number}: {calls:?}");
    }
    Ok(())
}

/// After a round, the JVM has put instructions of its own in the place of some, and links no more.
#[test]
fn every_place_of_a_call_has_the_instruction_that_javap_reads_there() -> Result<()> {
    let code = instructions("Opcodes", "calls")?;
    let kinds: BTreeSet<&str> = code.values().map(String::as_str).collect();
    ensure!(kinds.len() == 5, "not all five instructions: {kinds:?}");
    for (jdk, flags) in jdk::all()?.iter().zip([&["-Xint"][..], &["-XX:TieredStopAtLevel=1"], &[], &["-Xint"]]) {
        let forms = ["-I", "java.lang.invoke.*::linkToTargetMethod*", "-I", "java.lang.invoke.*::invokeExact_MT*"];
        let options = [&["-l", "calls", "--each", "-I", "Opcodes*::*"], &forms[..]].concat();
        let report = Run::new(jdk, "Opcodes", &options).flags(flags).times(1, 1).report();
        report
            .and_then(|(report, expected)| agrees(&report, &expected, &code, flags == ["-Xint"]))
            .with_context(|| format!("JDK {} with {flags:?}", jdk.release))?;
    }
    Ok(())
}
