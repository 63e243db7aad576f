//! Every object is counted: by class as the programs' closed forms say, and in sum as the JVM's own counter of a thread does.

// Against the JVM's own histogram of its heap.
mod heap;
// What is written and never made.
mod removed;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    budget::{USUAL_BURST_S, at_once_s, traps_cost_s},
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::Launch,
    patience::until,
    report::{Report, Row, cell},
};

/// What the JVM is started with: every object tells of itself, whoever makes it.
const COVERED: &str = "-XX:+DTraceAllocProbes";

/// Every object is counted, and nothing is taken away.
const EXACT: [&str; 8] = ["-l", "alloc", "--exact", "--yes", "--max-overhead", "100000%", "--ring-size", "16m"];

/// The interpreter, C1, C2, and all of them: one on each release.
const WAYS: [&[&str]; 4] = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation"], &[]];

/// Lets a program work once while every object is counted.
fn watch(jdk: &Jdk, flags: &[&str], main: &str, options: &[&str]) -> Result<(Report, Expected)> {
    let mut jvm = Launch::new(jdk, "methods", main).flags(&[COVERED]).flags(flags).start()?;
    let session = Session::attach(jvm.pid(), &[&EXACT[..], options].concat())?;
    jvm.work()?;
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    report.nothing_lost()?;
    Ok((report, expected))
}

/// Objects and bytes by class.
fn classes(report: &Report) -> Result<BTreeMap<String, [u64; 2]>> {
    let rows = report.table("alloc", "objects_by_class")?;
    let sums = rows.iter().map(|row| {
        let class = row.get("class").and_then(Value::as_str).context("no class")?;
        Ok((class.to_owned(), [cell(row, "objects")?, cell(row, "bytes")?]))
    });
    sums.collect()
}

fn objects_agree(report: &Report, expected: &Expected) -> Result<()> {
    let classes = classes(report)?;
    let mut compared = 0;
    for ((kind, of), number) in &expected.0 {
        let index = match kind.as_str() {
            "objects" => 0,
            "bytes" => 1,
            _ => continue,
        };
        let counted = classes.get(of).map_or(0, |sums| sums[index]);
        // Arrays of primitives are made by the JDK, too.
        let agrees = if of.starts_with("Allocations") { counted == *number } else { counted >= *number };
        ensure!(agrees, "{counted} {kind} of {of}, not {number}");
        compared += 1;
    }
    ensure!(compared > 10, "the program expects {compared} numbers");
    Ok(())
}

/// Objects and bytes by place, their lines, and arrays by length, where the program says them.
fn places_and_lengths_agree(report: &Report, expected: &Expected) -> Result<()> {
    let text = |row: &Row, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let places = report.table("alloc", "objects_by_site")?;
    for (kind, key) in [("site_objects", "objects"), ("site_bytes", "bytes")] {
        for (of, number) in expected.of(kind)? {
            let (place, class) = of.split_once(':').context("no class")?;
            // The place has its line behind it.
            let is_there =
                |row: &&Row| text(row, "class") == class && text(row, "site").split(':').next() == Some(place);
            let counted: u64 = places.iter().filter(is_there).map(|row| cell(row, key)).sum::<Result<u64>>()?;
            ensure!(counted == number, "{counted} {key} of {class} at {place}, not {number}");
        }
    }
    for (of, line) in expected.of("site_line")? {
        let (method, class) = of.split_once(':').context("no class")?;
        let own = |row: &&Row| text(row, "class") == class && text(row, "site").split(':').next() == Some(method);
        let sites: Vec<_> = places.iter().filter(own).map(|row| text(row, "site")).collect();
        ensure!(sites == [format!("{method}:{line}")], "{class} at {sites:?}, not in line {line}");
    }
    let arrays = report.table("alloc", "arrays")?;
    for (of, number) in expected.of("lengths")? {
        let (class, length) = of.split_once(':').context("no length")?;
        let length: u64 = length.parse()?;
        let mut counted = 0;
        for row in arrays.iter().filter(|row| text(row, "class") == class) {
            if (cell(row, "length")?..=cell(row, "to_length")?).contains(&length) {
                counted += cell(row, "objects")?;
            }
        }
        ensure!(counted == number, "{counted} {class} of length {length}, not {number}");
    }
    Ok(())
}

/// The object is made before the constructor's argument fails, and no constructor runs.
#[test]
fn objects_whose_constructor_is_never_called_are_counted() -> Result<()> {
    for jdk in jdk::all()? {
        let (report, expected) = watch(&jdk, &["-Xint"], "Exceptions", &[])?;
        let written = expected.one("objects_as_written", "Exceptions$Unfinished")?;
        let made = classes(&report)?.get("Exceptions$Unfinished").map_or(0, |sums| sums[0]);
        ensure!(made == written, "{made} of {written} objects on JDK {}", jdk.release);
    }
    Ok(())
}

#[test]
fn objects_and_bytes_of_classes_are_those_of_the_program() -> Result<()> {
    for (jdk, flags) in jdk::all()?.iter().zip(WAYS) {
        let place = || format!("JDK {} with {flags:?}", jdk.release);
        let (report, expected) = watch(jdk, flags, "Allocations", &[]).with_context(place)?;
        objects_agree(&report, &expected).with_context(place)?;
        places_and_lengths_agree(&report, &expected).with_context(place)?;
    }
    Ok(())
}

#[test]
fn all_objects_of_a_thread_take_the_bytes_that_the_jvm_has_counted() -> Result<()> {
    for (jdk, flags) in jdk::all()?.iter().zip(WAYS.into_iter().rev()) {
        let place = || format!("JDK {} with {flags:?}", jdk.release);
        let options = ["--where", "thread == \"allocator\""];
        let (report, expected) = watch(jdk, flags, "Allocated", &options).with_context(place)?;
        let bytes = expected.one("bytes_of_thread", "allocator")?;
        let counted = report.summary("alloc", "bytes")?;
        ensure!(counted == bytes, "{counted} bytes, not {bytes}, on {}", place());
    }
    Ok(())
}

/// How much more may be spent at once than the burst will cost, as the session before took a trap to cost.
const ROOM: f64 = 2.0;

/// What was not used of the budget in the last seconds pays for a burst, also at a session's very beginning. The budget follows from
/// what a trap costs here.
#[test]
fn a_burst_of_20000_objects_is_counted_to_the_last_one_where_what_was_saved_pays_for_it() -> Result<()> {
    let watch = |options: &[&str]| -> Result<(Report, u64)> {
        let mut jvm = Launch::new(&jdk::any()?, "methods", "Burst").flags(&[COVERED]).start()?;
        let words = [&["-l", "alloc", "--exact", "-I", "Burst*", "--no-stacks"], options].concat();
        let session = Session::attach(jvm.pid(), &words)?;
        jvm.work()?;
        let report = session.report()?;
        let objects = Expected::parse(&jvm.stdout().text())?.one("objects", "Burst$Item")?;
        jvm.finish()?;
        Ok((report, objects))
    };
    let mut cost_s = traps_cost_s(&watch(&["--max-overhead", "100000%"])?.0)?;
    let (report, objects) = until("a burst costs what the one before it did", || {
        let percent = ROOM * cost_s / USUAL_BURST_S * 100.0;
        let (report, objects) = watch(&["--max-overhead", &format!("{percent}%")])?;
        cost_s = traps_cost_s(&report)?;
        // What comes so fast that 100 ms of it would take more than a quarter of a core may be cut, whatever was saved; and on a busy
        // machine a trap may cost much more than a moment ago. A governor that lets nothing be saved decides each time.
        let is_cut = !report.0["completeness"]["decisions"].is_null();
        Ok((!is_cut && cost_s < 0.9 * at_once_s(percent, USUAL_BURST_S)).then_some((report, objects)))
    })?;
    let counted = classes(&report)?.get("Burst$Item").map_or(0, |[objects, _]| *objects);
    ensure!(counted == objects, "{counted} of {objects} objects");
    Ok(())
}
