//! Who calls whom, from where, and in which contexts.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    report::{Report, cell},
};

use super::{Expected, MODES, Run, text};

/// Sums of calls by caller and callee, and the places in the caller.
pub(super) fn edges(report: &Report) -> Result<BTreeMap<String, (u64, BTreeSet<u64>)>> {
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

/// Checks the instructions that made static initialisers run.
fn triggers_agree(report: &Report, expected: &Expected) -> Result<()> {
    let rows = report.table("calls", "initialisers")?;
    for (of, number) in expected.of("trigger")? {
        let (instruction, initialiser) = of.split_once(':').context("no initialiser")?;
        let found = rows.iter().filter(|row| text(row, "initialiser") == initialiser);
        let found: Vec<_> = found.map(|row| (text(row, "opcode"), cell(row, "calls").unwrap_or(0))).collect();
        ensure!(found == [(instruction, number)], "{found:?} for {of} {number}");
    }
    Ok(())
}

/// Checks how many contexts there are, and calls in some of them by what is around these.
fn contexts_agree(report: &Report, expected: &Expected) -> Result<()> {
    let (counted, number) = (report.summary("calls", "contexts")?, expected.one("contexts", "Recursion")?);
    ensure!(counted == number, "{counted} contexts, not {number}");
    paths_agree(report, expected)
}

/// Checks calls in some contexts by what is around these.
pub(crate) fn paths_agree(report: &Report, expected: &Expected) -> Result<()> {
    let mut shapes = report.section("calls")?["shapes"].as_array().into_iter().flatten();
    let profile = shapes.find(|shape| shape["kind"] == "profile" && shape["id"] == "calls").context("no profile")?;
    let names: Vec<&str> =
        profile["frames"].as_array().into_iter().flatten().filter_map(|frame| frame["name"].as_str()).collect();
    let mut contexts: BTreeMap<String, u64> = BTreeMap::new();
    for stack in profile["stacks"].as_array().into_iter().flatten() {
        let frames = stack["frames"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        let path: Vec<&str> = frames.filter_map(|at| names.get(usize::try_from(at).ok()?).copied()).collect();
        // What the program expects begins at `a`; deep stacks have none.
        if let Some(start) = path.iter().position(|name| *name == "Recursion.a") {
            *contexts.entry(path[start..].join(";")).or_default() += stack["count"].as_u64().unwrap_or(0);
        }
    }
    for (of, number) in expected.of("context")? {
        let counted = contexts.get(of).copied().unwrap_or(0);
        ensure!(counted == number, "{counted} calls in {of}, not {number}: {contexts:?}");
    }
    Ok(())
}

/// A program, its arguments and patterns, on how many of the four releases it runs, and what of it must agree.
type Checked = (&'static str, &'static [&'static str], &'static [&'static str], usize, Check);
type Check = fn(&Report, &Expected) -> Result<()>;

const PROGRAMS: [Checked; 7] = [
    ("Fib", &["14"], &["Fib::*"], 4, edges_agree),
    ("NestedLoops", &[], &["NestedLoops::*"], 2, edges_agree),
    ("Receivers", &[], &["Receivers*::*"], 2, edges_agree),
    ("Initialisers", &[], &["Initialisers*::*"], 2, |report, expected| {
        edges_agree(report, expected)?;
        triggers_agree(report, expected)
    }),
    ("ManyThreads", &[], &["ManyThreads*::*"], 2, edges_agree),
    // Their reports are large.
    ("Overflow", &[], &["Overflow::*"], 1, edges_agree),
    ("Recursion", &[], &["Recursion::*"], 1, |report, expected| {
        edges_agree(report, expected)?;
        contexts_agree(report, expected)
    }),
];

/// Counts programs in the kernel, or each call as an event.
fn graphs_agree(programs: &[Checked], each: bool) -> Result<()> {
    let mut wrong = Vec::new();
    for (program, (main, arguments, patterns, releases, check)) in programs.iter().enumerate() {
        let mut options = vec!["-l", "calls"];
        options.extend(each.then_some("--each"));
        options.extend(patterns.iter().flat_map(|pattern| ["-I", *pattern]));
        let releases = if jdk::is_full() { 4 } else { *releases };
        for (release, jdk) in jdk::all()?.iter().enumerate().skip(program % (5 - releases)).step_by(4 / releases) {
            // One way on each release.
            let is_chosen = |way: usize| jdk::is_full() || way == (release + program) % MODES.len();
            for (_, (mode, flags)) in MODES.iter().enumerate().filter(|(way, _)| is_chosen(*way)) {
                let mut run = Run::new(jdk, main, &options).flags(flags).times(0, 1);
                run.arguments = arguments;
                if let Err(error) = run.report().and_then(|(report, expected)| check(&report, &expected)) {
                    wrong.push(format!("{main} on JDK {} by {mode}: {error:#}", jdk.release));
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn edges_places_and_contexts_that_the_kernel_counts_are_those_of_the_program() -> Result<()> {
    graphs_agree(&PROGRAMS, false)
}

/// Those that make few events.
#[test]
fn edges_and_their_places_of_events_are_those_of_the_program() -> Result<()> {
    graphs_agree(&PROGRAMS[..4], true)
}

/// The JVM puts a form of its own between a method handle's call and its target, and the compilers put their own code where
/// `System.arraycopy` is called: the one is pinned here, the other seen where nothing is compiled.
#[test]
fn a_method_handle_calls_by_a_form_and_a_native_method_has_a_caller() -> Result<()> {
    for jdk in &jdk::oldest_and_newest()? {
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
