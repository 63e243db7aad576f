//! What becomes of compiled code when a JVM's first classes are woven. The JVM's own log says what it threw away, and the program says how
//! often methods were called that were compiled before.

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    report::{Report, cell},
};

/// Loops are compiled by themselves, as in a program where they are large.
const APART: [&str; 3] = ["-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Short$Of*::round"];
/// So that a JVM has compiled much.
const MUCH: [&str; 1] = ["-Xcomp"];
/// One that may be in compiled code without a trace, and one that may not.
const PLUS: [&str; 2] = ["--marker", "plus=Short$Sum::plus"];
const LENGTH: [&str; 2] = ["--marker", "length=Short$Text::length"];
/// What the JVM says when all compiled code goes.
const ALL_GOES: &str = "Marked all nmethods for deopt";

fn started(jdk: &Jdk, flags: &[&str]) -> Result<Jvm> {
    let flags = [&APART[..], flags].concat();
    Launch::new(jdk, "methods", "Short").flags(&flags).log("redefine+class+nmethod=debug").start()
}

/// A visit while the program works once: the report, how often a method was entered by it, and by the program.
fn visit(jvm: &mut Jvm, method: &str, options: &[&str]) -> Result<(Report, u64, u64)> {
    let calls =
        |jvm: &Jvm| Ok::<_, anyhow::Error>(Expected::parse(&jvm.stdout().text())?.sum("calls", |of| of == method));
    let before = calls(jvm)?;
    let all = [&["--inside", "--max-overhead", "100000%", "-l", "markers"][..], options].concat();
    let session = Session::attach(jvm.pid(), &all)?;
    jvm.work()?;
    let report = session.report()?;
    report.nothing_lost()?;
    let rows = report.table("markers", "markers")?;
    let entered = cell(rows.first().context("no marker was counted")?, "entered")?;
    Ok((report, entered, calls(jvm)? - before))
}

/// What the section says.
fn notes(report: &Report) -> Result<String> {
    Ok(report.section("markers")?["notes"].to_string())
}

/// How often the JVM has thrown all compiled code away.
fn all_went(jvm: &Jvm) -> Result<usize> {
    Ok(jvm.log()?.matches(ALL_GOES).count())
}

/// HotSpot's own rule would throw all of it away at the first weaving, and make a large program slow for tens of seconds.
#[test]
fn code_that_does_not_depend_on_woven_classes_is_kept() -> Result<()> {
    for jdk in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 17) {
        let mut jvm = started(&jdk, &[])?;
        // The second visit finds the JVM as the first one did.
        for visit_number in 1..=2 {
            let (report, counted, expected) = visit(&mut jvm, "Short$Text.length", &LENGTH)?;
            ensure!(counted == expected, "JDK {}, visit {visit_number}: {counted} of {expected} calls", jdk.release);
            ensure!(all_went(&jvm)? == 0, "JDK {}, visit {visit_number}: all compiled code went", jdk.release);
            ensure!(!notes(&report)?.contains("Calls may be missing"), "JDK {}: nothing is missing", jdk.release);
        }
        jvm.finish()?;
    }
    Ok(())
}

/// Counted while the loop that took it in without a trace stays as it is, such a method would be called 0 times.
#[test]
fn a_method_that_leaves_no_trace_is_counted_in_a_small_program() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = started(&jdk, &[])?;
        for visit_number in 1..=2 {
            let (_, counted, expected) = visit(&mut jvm, "Short$Sum.plus", &PLUS)?;
            ensure!(counted == expected, "JDK {}, visit {visit_number}: {counted} of {expected} calls", jdk.release);
            // JDK 11 does not say it.
            let went = all_went(&jvm)?;
            ensure!(went == visit_number || jdk.release < 17, "JDK {}: code went {went} times", jdk.release);
        }
        jvm.finish()?;
    }
    Ok(())
}

/// A large program is not made slow for a number, unless the user says so; what may be missing is said.
#[test]
fn a_large_program_keeps_its_code_and_what_may_be_missing_is_said() -> Result<()> {
    for jdk in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 17) {
        let mut jvm = started(&jdk, &MUCH)?;
        let (report, counted, expected) = visit(&mut jvm, "Short$Sum.plus", &PLUS)?;
        let said = notes(&report)?;
        ensure!(all_went(&jvm)? == 0, "JDK {}: all compiled code went", jdk.release);
        ensure!(said.contains("Calls may be missing") && said.contains("Short$Sum::plus"), "nothing is said: {said}");
        ensure!(counted <= expected, "JDK {}: {counted} of {expected} calls", jdk.release);
        let (_, counted, expected) = visit(&mut jvm, "Short$Sum.plus", &[&PLUS[..], &["--yes"]].concat())?;
        ensure!(counted == expected, "JDK {}: {counted} of {expected} calls with --yes", jdk.release);
        ensure!(all_went(&jvm)? == 1, "JDK {}: code was kept, or went twice", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// JDK 11 has no other way.
#[test]
fn a_large_program_that_would_lose_all_of_its_code_is_asked_for_twice() -> Result<()> {
    let old = jdk::all()?.into_iter().find(|jdk| jdk.release == 11).context("there is no JDK 11")?;
    let mut jvm = started(&old, &MUCH)?;
    let said = jtrace::refuse(&["markers", &jvm.pid().to_string(), "--inside", LENGTH[0], LENGTH[1]], 1)?;
    ensure!(said.contains("throws away all compiled code") && said.contains("--yes"), "it says {said}");
    let (_, counted, expected) = visit(&mut jvm, "Short$Text.length", &[&LENGTH[..], &["--yes"]].concat())?;
    ensure!(counted == expected, "{counted} of {expected} calls");
    jvm.finish()?;
    Ok(())
}
