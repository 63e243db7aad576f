//! Who calls whom, from where, and in which contexts.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    report::{Report, cell},
};

use super::{Expected, MODES, Run, text};

/// Sums of calls by caller and callee, and the places in the caller.
fn edges(report: &Report) -> Result<BTreeMap<String, (u64, BTreeSet<u64>)>> {
    let mut edges: BTreeMap<String, (u64, BTreeSet<u64>)> = BTreeMap::new();
    for row in report.table("calls", "edges")? {
        let edge = edges.entry(format!("{}->{}", text(&row, "caller"), text(&row, "callee"))).or_default();
        edge.0 += cell(&row, "calls")?;
        edge.1.extend(row.get("bci").and_then(Value::as_u64));
    }
    Ok(edges)
}

/// Checks every edge, its places, and how many methods are called from a caller.
fn edges_agree(report: &Report, expected: &Expected) -> Result<()> {
    let edges = edges(report)?;
    let mut differences = Vec::new();
    for ((kind, of), number) in &expected.0 {
        let counted = match kind.as_str() {
            "edge" => edges.get(of).map_or(0, |(calls, _)| *calls),
            "edge_sites" => edges.get(of).map_or(0, |(_, places)| places.len() as u64),
            "callees" => edges.keys().filter(|edge| edge.starts_with(&format!("{of}->"))).count() as u64,
            _ => continue,
        };
        if counted != *number {
            differences.push(format!("{counted} for {kind} {of}, not {number}"));
        }
    }
    expected.of("edge")?;
    ensure!(differences.is_empty(), "{}", differences.join("; "));
    Ok(())
}

#[test]
fn edges_and_their_places_are_those_of_the_program() -> Result<()> {
    let mut wrong = Vec::new();
    for (program, (main, arguments, patterns)) in [
        ("Fib", &["14"][..], &["Fib::*"][..]),
        ("NestedLoops", &[], &["NestedLoops::*"]),
        ("Receivers", &[], &["Receivers*::*"]),
        ("Initialisers", &[], &["Initialisers*::*"]),
    ]
    .into_iter()
    .enumerate()
    {
        // Each on two of the four releases.
        for (release, jdk) in jdk::all()?.iter().enumerate().skip(program % 2).step_by(2) {
            let (mode, flags) = MODES[(release + program) % MODES.len()];
            let mut options = vec!["-l", "calls"];
            options.extend(patterns.iter().flat_map(|pattern| ["-I", *pattern]));
            let mut run = Run::new(jdk, main, &options).flags(flags).times(0, 1);
            run.arguments = arguments;
            if let Err(error) = run.report().and_then(|(report, expected)| edges_agree(&report, &expected)) {
                wrong.push(format!("{main} on JDK {} by {mode}: {error:#}", jdk.release));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The JVM puts a form of its own between a method handle's call and its target, and the compilers put their own code where
/// `System.arraycopy` is called: the one is pinned here, the other seen where nothing is compiled.
#[test]
fn a_method_handle_calls_by_a_form_and_a_native_method_has_a_caller() -> Result<()> {
    for jdk in jdk::all()?.iter().step_by(3) {
        let options = ["-l", "calls", "-I", "Reflection*::*", "-I", "java.lang.System::arraycopy"];
        let (report, expected) = Run::new(jdk, "Reflection", &options).flags(&["-Xint"]).times(0, 1).report()?;
        let edges = edges(&report)?;
        let calls = |edge: &str| edges.get(edge).map_or(0, |(calls, _)| *calls);
        let native = "Reflection.copied->java.lang.System.arraycopy";
        let (seen, number) = (calls(native), expected.one("edge", native)?);
        ensure!(seen == number, "JDK {}: {seen} calls of arraycopy, not {number}", jdk.release);
        let number = expected.one("edge", "Reflection.exactly->Reflection.handled")?;
        let forms = edges
            .iter()
            .filter(|(edge, _)| edge.starts_with("java.lang.invoke.") && edge.ends_with("->Reflection.handled"));
        let seen: u64 = forms.map(|(_, (calls, _))| calls).sum();
        ensure!(seen == number, "JDK {}: {seen} calls by a form, not {number}: {edges:?}", jdk.release);
    }
    Ok(())
}
