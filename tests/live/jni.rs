//! What is counted of JNI calls equals the closed form that the programs print after each GO, by function and caller, and so do
//! critical sections.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until,
    process::{Finished, Process},
    report::{Report, Row, cell},
};

/// What runs the code: native methods have frames of the interpreter, or compiled wrappers.
const MODES: [(&str, &[&str]); 2] = [("the interpreter", &["-Xint"]), ("the default", &[])];

/// Nothing is taken away, and a burst of events has room.
const COMPLETE: [&str; 6] = ["--max-overhead", "100000%", "--ring-size", "16m", "-l", "jni"];

/// How often the program works.
const TIMES: usize = 2;

/// Lets a program work while jtrace is attached; gives what jtrace printed, and what it must have counted.
fn watch(jdk: &Jdk, main: &str, flags: &[&str], options: &[&str]) -> Result<(Finished, Expected)> {
    let mut jvm: Jvm = Launch::new(jdk, "jni", main).flags(flags).start()?;
    let options: Vec<&str> = COMPLETE.into_iter().chain(options.iter().copied()).collect();
    let session = Session::attach(jvm.pid(), &options)?;
    for _ in 0..TIMES {
        jvm.work()?;
    }
    let finished = session.stop()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    Ok((finished, expected))
}

/// As [`watch`]; the report says that everything has arrived.
fn report(jdk: &Jdk, main: &str, flags: &[&str], options: &[&str]) -> Result<(Report, Expected)> {
    let (finished, expected) = watch(jdk, main, flags, options)?;
    let report = Report::parse(&finished.stdout)?;
    report.nothing_lost()?;
    Ok((report, expected))
}

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Calls by function and caller: `GetArrayLength<-Calls.lengths`.
fn calls(report: &Report) -> Result<BTreeMap<String, u64>> {
    let rows = report.table("jni", "jni_callers")?;
    rows.iter()
        .map(|row| Ok((format!("{}<-{}", text(row, "function"), text(row, "caller")), cell(row, "calls")?)))
        .collect()
}

/// Critical sections by caller; none where there is no table of them.
fn sections(report: &Report) -> Result<BTreeMap<String, u64>> {
    let tables = report.tables("jni")?;
    let rows = tables.get("jni_critical_sections").map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| Ok((text(row, "caller").to_owned(), cell(row, "sections")?))).collect()
}

/// Whether everything that is expected of a kind was counted so; tells all differences at once.
fn agree(counted: &BTreeMap<String, u64>, expected: &Expected, kind: &str) -> Result<()> {
    let differs = |(of, number): (&str, u64)| {
        let counted = counted.get(of).copied().unwrap_or(0);
        (counted != number).then(|| format!("{counted} {kind} of {of}, not {number}"))
    };
    let differences: Vec<_> = expected.of(kind)?.into_iter().filter_map(differs).collect();
    ensure!(differences.is_empty(), "{}", differences.join("; "));
    Ok(())
}

/// What the tables say adds up to what the summary says.
fn adds_up(report: &Report) -> Result<()> {
    for table in ["jni_functions", "jni_callers", "jni_threads"] {
        let rows = report.table("jni", table)?;
        let calls: u64 = rows.iter().map(|row| cell(row, "calls")).sum::<Result<_>>()?;
        ensure!(calls == report.summary("jni", "calls")?, "{calls} calls in {table}");
    }
    // Each site's hits were turned down, counted or sent; every entry here has one return.
    let hits = |edge: &str| -> u64 { report.sites(edge).iter().filter_map(|site| site["hits"].as_u64()).sum() };
    let (entries, returns) = (hits("__entry"), hits("__return"));
    ensure!(entries.abs_diff(returns) <= 1, "{entries} entries and {returns} returns");
    Ok(())
}

#[test]
fn calls_and_sections_equal_the_closed_form_on_all_releases() -> Result<()> {
    for (row, jdk) in jdk::all()?.into_iter().enumerate() {
        for (column, (mode, flags)) in MODES.into_iter().enumerate() {
            // Every pair of release, mode and way of counting is not every triple.
            let ways = [&[][..], &["--each"]].into_iter().enumerate();
            for (_, options) in ways.filter(|(way, _)| jdk::is_full() || (row + column + way).is_multiple_of(2)) {
                let on = || format!("JDK {} in {mode} with {options:?}", jdk.release);
                let (report, expected) = report(&jdk, "Calls", flags, options).with_context(on)?;
                agree(&calls(&report)?, &expected, "calls").with_context(on)?;
                agree(&sections(&report)?, &expected, "sections").with_context(on)?;
                adds_up(&report).with_context(on)?;
                ensure!(report.summary("jni", "critical_open")? == 0, "{}: a section is open", on());
            }
        }
    }
    Ok(())
}

#[test]
fn a_section_that_is_left_open_is_told_with_who_opened_it() -> Result<()> {
    for jdk in jdk::all()? {
        let (report, _) = report(&jdk, "LeftOpen", &[], &[])?;
        assert_eq!(report.summary("jni", "critical_open")?, 1, "JDK {}", jdk.release);
        let rows = report.table("jni", "jni_critical_sections")?;
        let row = rows.iter().find(|row| cell(row, "open").is_ok_and(|open| open > 0)).context("no open section")?;
        assert_eq!((text(row, "caller"), text(row, "function")), ("LeftOpen.hold", "GetStringCritical"));
        assert_eq!(cell(row, "sections")?, 0, "it was never closed");
        assert!(cell(row, "open_ns")? <= report.0["span"]["duration_ns"].as_u64().context("no duration")?);
    }
    Ok(())
}

/// Calls by function, of all callers.
fn by_function(report: &Report) -> Result<BTreeMap<String, u64>> {
    let rows = report.table("jni", "jni_functions")?;
    rows.iter().map(|row| Ok((text(row, "function").to_owned(), cell(row, "calls")?))).collect()
}

#[test]
fn predicates_choose_the_same_as_the_closed_form() -> Result<()> {
    let jdk = jdk::any()?;
    let only = |options: &[&str], of: &dyn Fn(&Expected) -> Result<BTreeMap<String, u64>>| -> Result<()> {
        for each in [&[][..], &["--each"]] {
            let options: Vec<&str> = options.iter().chain(each).copied().collect();
            let (report, expected) = report(&jdk, "Calls", &[], &options)?;
            let (counted, expected) = (calls(&report)?, of(&expected)?);
            ensure!(counted == expected, "{options:?}: {counted:?}, not {expected:?}");
        }
        Ok(())
    };
    let all_of = |expected: &Expected, keep: &dyn Fn(&str) -> bool| -> Result<BTreeMap<String, u64>> {
        let calls = expected.of("calls")?;
        Ok(calls.into_iter().filter(|(of, _)| keep(of)).map(|(of, number)| (of.to_owned(), number)).collect())
    };
    only(&["-I", "*PrimitiveArrayCritical"], &|expected| {
        all_of(expected, &|of| of.contains("PrimitiveArrayCritical<-"))
    })?;
    only(&["--where", "caller.class == 'Calls'"], &|expected| all_of(expected, &|of| of.contains("<-Calls.")))?;
    only(&["--where", "caller == 'libjniwork.so::native_thread'"], &|expected| {
        all_of(expected, &|of| of.ends_with("native_thread"))
    })?;
    only(&["--where", "method == 'CallStaticIntMethod' && caller.method == 'down' && depth > 3"], &|expected| {
        let deeper = expected.one("deeper_than_3", "Calls.down")?;
        Ok(BTreeMap::from([("CallStaticIntMethod<-Calls.down".to_owned(), deeper)]))
    })?;
    only(&["--where", "method == 'GetArrayLength' && thread == 'jni-worker'"], &|expected| {
        let by_worker = expected.one("by_jni_worker", "Calls.lengths")?;
        Ok(BTreeMap::from([("GetArrayLength<-Calls.lengths".to_owned(), by_worker)]))
    })?;
    only(&["--where", "caller.class == 'Calls' && duration > 60m"], &|_| Ok(BTreeMap::new()))
}

/// The program knows which calls lasted long for certain, and which may have because their thread had to wait for a CPU.
#[test]
fn predicates_choose_calls_by_how_long_they_lasted() -> Result<()> {
    let jdk = jdk::any()?;
    for each in [&[][..], &["--each"]] {
        let slow = ["--where", "method == 'CallStaticVoidMethodA' && duration > 200ms"];
        let (report, expected) = report(&jdk, "Calls", &[], &[&slow[..], each].concat())?;
        let counted = calls(&report)?;
        let slow = expected.one("slower_than_200ms", "Calls.slow")?;
        let most = slow + expected.one("perhaps_slower_than_200ms", "Calls.slow")?;
        let of_slow = counted.get("CallStaticVoidMethodA<-Calls.slow").copied().unwrap_or_default();
        ensure!((slow..=most).contains(&of_slow), "{of_slow}, not {slow} to {most}");
        ensure!(counted.len() == 1, "{counted:?}");
    }
    Ok(())
}

#[test]
fn functions_that_a_predicate_excludes_by_name_have_no_sites() -> Result<()> {
    let jdk = jdk::any()?;
    let (report, expected) = report(&jdk, "Calls", &[], &["-I", "GetPrimitiveArrayCritical"])?;
    let probes: Vec<&str> = report.sites("hotspot_jni").iter().filter_map(|site| site["probe"].as_str()).collect();
    assert_eq!(
        probes,
        ["hotspot_jni:GetPrimitiveArrayCritical__entry", "hotspot_jni:GetPrimitiveArrayCritical__return"]
    );
    let number = |of: &str| expected.one("calls", &format!("GetPrimitiveArrayCritical<-Calls.{of}"));
    let counted = by_function(&report)?;
    assert_eq!(counted, BTreeMap::from([("GetPrimitiveArrayCritical".to_owned(), number("sum")? + number("pair")?)]));
    assert_eq!(sections(&report)?, BTreeMap::new(), "what closes them was not seen");
    assert_eq!(report.summary("jni", "critical_open")?, 0);
    Ok(())
}

#[test]
fn a_recording_gives_the_same_report_and_events_are_told_one_by_one() -> Result<()> {
    let jdk = jdk::any()?;
    let directory = tempfile::tempdir()?;
    for each in [&[][..], &["--each"]] {
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let (json, recording) = (path("x.json"), path("x.jtrace"));
        let options: Vec<&str> =
            ["-o", json.as_str(), "-o", recording.as_str()].into_iter().chain(each.iter().copied()).collect();
        watch(&jdk, "Calls", &[], &options)?;
        let live = std::fs::read(&json)?;
        let replayed = jtrace::succeed(&["report", &recording, "--json"])?;
        ensure!(live == replayed.stdout, "the report of the recording with {each:?} is another one");
    }
    let (finished, expected) = watch(&jdk, "Calls", &[], &["--events"])?;
    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    for line in finished.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_slice(line)?;
        if event["event"] == "jni_call" {
            let field = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            *told.entry(format!("{}<-{}", field("function"), field("caller"))).or_default() += 1;
        }
    }
    agree(&told, &expected, "calls")
}

#[test]
fn a_jvm_that_jtrace_starts_has_its_callers_too() -> Result<()> {
    let jdk = jdk::any()?;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("x.json");
    let launch = Launch::new(&jdk, "jni", "Calls");
    let mut command = jtrace::command(&["run"])?;
    command.args(COMPLETE).args(["--where", "caller.class in ('Calls', 'libjniwork.so')", "-o"]).arg(&path).arg("--");
    let mut process = Process::spawn(command.args(launch.command(directory.path())))?;
    process.stdout.wait_for_line("READY", 0, jtrace::LIMIT)?;
    process.stderr.wait_for_line("attached", 0, jtrace::LIMIT)?;
    // A caller can be named while the JVM lives.
    for _ in 0..TIMES {
        let from = process.stdout.bytes().len();
        process.send_line("GO")?;
        process.stdout.wait_for_line("DONE", from, jtrace::LIMIT)?;
    }
    process.close_stdin();
    process.wait(jtrace::LIMIT)?;
    let report = Report::parse(&std::fs::read(&path)?)?;
    let expected = Expected::parse(&process.stdout.text())?;
    agree(&calls(&report)?, &expected, "calls")?;
    agree(&sections(&report)?, &expected, "sections")
}

#[test]
fn the_guard_takes_a_hot_family_and_leaves_the_others_and_no_call_lasts_over_its_absence() -> Result<()> {
    let jdk = jdk::any()?;
    // Each time a million calls of GetArrayLength with some of Java around them.
    let mut pieces = 4;
    until("the guard takes the hot family away", || {
        let mut jvm = Launch::new(&jdk, "jni", "Hot").start()?;
        let session = Session::attach(jvm.pid(), &["-l", "jni", "--max-overhead", "1%"])?;
        let mut longest_ns = 0;
        for _ in 0..pieces {
            longest_ns = jvm.work()?.get("ns")?.max(longest_ns);
        }
        let report = session.report()?;
        jvm.finish()?;
        let worked = pieces;
        pieces *= 2;
        let is_taken = all_are(&report, "GetArrayLength__entry", "rate guard");
        if is_taken {
            let expected = Expected::parse(&jvm.stdout().text())?;
            only_the_hot_family_lacks_calls(&report, worked, &expected, longest_ns)?;
        }
        Ok(is_taken.then_some(()))
    })
}

/// Whether there are sites of a probe, all in this state.
fn all_are(report: &Report, probe: &str, state: &str) -> bool {
    let sites = report.sites(probe);
    !sites.is_empty() && sites.iter().all(|site| site["state"].as_str().is_some_and(|text| text.contains(state)))
}

fn only_the_hot_family_lacks_calls(report: &Report, pieces: u64, expected: &Expected, longest_ns: u64) -> Result<()> {
    let counted = by_function(report)?;
    let hot = counted.get("GetArrayLength").copied().unwrap_or(0);
    ensure!(hot < pieces * 1_000_000, "{counted:?}");
    let expected = expected.one("calls", "CallStaticVoidMethod<-Hot.run")?;
    let calls = counted.get("CallStaticVoidMethod").copied().unwrap_or(0);
    // A machine that is slow to take the hot family away may take this one for a while, too; it never counts more.
    let is_untouched = all_are(report, "CallStaticVoidMethod__entry", "attached");
    ensure!(calls == expected || (!is_untouched && calls < expected), "{calls} of {expected} calls");
    for row in report.table("jni", "jni_functions")? {
        ensure!(cell(&row, "longest_ns")? <= longest_ns, "{row:?} lasted longer than all the work, {longest_ns} ns");
    }
    Ok(())
}
