//! jtrace comes, goes, is killed, and comes again; and what is refused before anything is woven.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Jvm,
    patience::{until, until_true},
    report::Report,
};

use super::{attach, start, text};

const FIB: [&str; 2] = ["--marker", "fib=Fib::fib"];
/// How long the library may take to notice that its jtrace is gone, and to restore one class.
const NOTICES: Duration = Duration::from_secs(1);

/// How often classes were exchanged, as the JVM's own log has it.
fn exchanges(jvm: &Jvm) -> Result<usize> {
    Ok(jvm.log()?.lines().filter(|line| line.contains("redefined name=Fib")).count())
}

fn calls(report: &Report) -> Result<u64> {
    report.summary("markers", "events")
}

fn logged(jdk: &jdk::Jdk) -> Result<Jvm> {
    tests::jvm::Launch::new(jdk, "methods", "Fib").log("redefine*=info").start()
}

/// Waits until the log says so.
fn until_exchanged(jvm: &Jvm, times: usize) -> Result<()> {
    until_true("so many exchanges of the class", || Ok(exchanges(jvm)? >= times))
}

/// Every visit counts as much as the first one; a killed jtrace leaves nothing woven.
#[test]
fn a_killed_jtrace_leaves_no_class_woven_and_another_one_can_come() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = logged(&jdk)?;
        let session = attach(&jvm, "markers", &FIB)?;
        jvm.work()?;
        let first = calls(&session.report()?)?;
        ensure!(first > 0, "nothing was counted on JDK {}", jdk.release);
        // Woven and restored.
        until_exchanged(&jvm, 2)?;
        // The machine can make it later, and nothing can make it earlier: once within the limit is enough.
        let (mut woven, mut latest) = (2, Duration::ZERO);
        let noticed = until("the library notices in time that it is alone", || {
            let mut session = attach(&jvm, "markers", &FIB)?;
            jvm.work()?;
            session.process().signal(Signal::KILL)?;
            session.process().wait_for_exit(jtrace::LIMIT)?;
            let gone = Instant::now();
            until_exchanged(&jvm, woven + 2)?;
            latest = gone.elapsed();
            woven += 2;
            jvm.work()?;
            Ok((latest <= NOTICES).then_some(()))
        });
        noticed.with_context(|| format!("JDK {} took {latest:?}", jdk.release))?;
        let session = attach(&jvm, "markers", &FIB)?;
        jvm.work()?;
        let again = calls(&session.report()?)?;
        ensure!(again == first, "{again} and not {first} on JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// The JVM takes native methods from the library that was loaded first, and a snapshot of the heap needs none. So the classes of the
/// visit after it were bound to a library without memory, and the first mark ended the JVM.
#[test]
fn a_snapshot_of_the_heap_does_not_change_what_a_later_visit_counts() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = start(&jdk, "methods", "Fib", &[], &[])?;
        let pid = jvm.pid().to_string();
        let count = |jvm: &mut Jvm| {
            let session = attach(jvm, "markers", &FIB)?;
            jvm.work()?;
            calls(&session.report()?)
        };
        jtrace::succeed(&["heap", &pid])?;
        jtrace::succeed(&["heap", &pid])?;
        let first = count(&mut jvm)?;
        ensure!(first > 0, "nothing was counted on JDK {}", jdk.release);
        jtrace::succeed(&["heap", &pid])?;
        ensure!(count(&mut jvm)? == first, "another number after a snapshot on JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// What each command leaves in the JVM must not be in the way of any other one.
#[test]
fn every_command_that_comes_inside_can_follow_every_other_one() -> Result<()> {
    const COMMANDS: [&[&str]; 5] = [
        &["heap"],
        &["markers", "--marker", "fib=Fib::fib", "-d", "100ms"],
        &["typestate", "-p", "hasnext", "-d", "100ms"],
        &["exceptions", "-I", "Fib::*", "--lane", "inside", "-d", "100ms"],
        &["calls", "-I", "Fib::*", "--lane", "inside", "-d", "100ms"],
    ];
    let jdk = jdk::any()?;
    let mut jvm = start(&jdk, "methods", "Fib", &[], &[])?;
    let pid = jvm.pid().to_string();
    for command in each_after_each(COMMANDS.len()) {
        let [name, options @ ..] = COMMANDS[command] else { continue };
        jtrace::succeed(&[&[*name, &pid], options].concat())?;
    }
    let session = attach(&jvm, "markers", &FIB)?;
    jvm.work()?;
    let expected = tests::expected::Expected::parse(&jvm.stdout().text())?.one("calls", "Fib.fib")?;
    let counted = calls(&session.report()?)?;
    ensure!(counted == 2 * expected, "{counted} marks, and {expected} calls");
    jvm.finish().map(drop)
}

/// Numbers below a bound, so that each stands once behind each, itself included.
fn each_after_each(bound: usize) -> Vec<usize> {
    let mut order = vec![0];
    for first in 0..bound {
        order.push(first);
        order.extend((first + 2..bound).flat_map(|other| [other, first]));
        order.extend((first + 1 < bound).then_some(first + 1));
    }
    // The ways back, from the last to the first.
    order.extend((0..bound - 1).rev());
    order
}

#[test]
fn an_order_has_each_pair_once() {
    let order = each_after_each(5);
    let pairs: std::collections::BTreeSet<_> = order.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!((order.len(), pairs.len()), (26, 25));
}

/// A JVM that is stopped answers nothing: jtrace does not wait for it, and its library restores when it runs on.
#[test]
fn a_stopped_jvm_does_not_keep_jtrace() -> Result<()> {
    let mut jvm = logged(&jdk::any()?)?;
    let session = attach(&jvm, "markers", &FIB)?;
    jvm.work()?;
    jvm.process().signal(Signal::STOP)?;
    let report = session.report();
    jvm.process().signal(Signal::CONT)?;
    let notes = report?.section("markers")?["notes"].to_string();
    ensure!(notes.contains("the process is stopped"), "{notes}");
    until_exchanged(&jvm, 2)?;
    jvm.finish().map(drop)
}

#[test]
fn a_second_jtrace_inside_is_refused_and_disturbs_nothing() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = start(&jdk, "methods", "Fib", &[], &[])?;
    let session = attach(&jvm, "markers", &FIB)?;
    let pid = jvm.pid().to_string();
    let error = jtrace::refuse(&["markers", &pid, "--marker", "fib=Fib::fib", "-d", "1s"], 1)?;
    ensure!(error.contains("another jtrace"), "{error}");
    jvm.work()?;
    ensure!(calls(&session.report()?)? > 0, "nothing was counted");
    jvm.finish().map(drop)
}

#[test]
fn what_matches_nothing_is_refused_with_the_nearest_name_and_nothing_is_woven() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = logged(&jdk)?;
    let pid = jvm.pid().to_string();
    let refused = |arguments: &[&str], code| {
        let all = [&["markers", &pid, "-d", "1s"], arguments].concat();
        jtrace::refuse(&all, code).with_context(|| format!("{arguments:?}"))
    };
    let error = refused(&["--marker", "fib=Fab::fib"], 1)?;
    ensure!(error.contains("Fab") && error.contains("Fib"), "{error}");
    ensure!(exchanges(&jvm)? == 0, "{} classes were exchanged", exchanges(&jvm)?);
    // The lenses alone load nothing.
    let error = jtrace::refuse(&["attach", &pid, "-l", "markers", "--marker", "fib=Fib::fib", "-d", "1s"], 2)?;
    ensure!(error.contains("--inside"), "{error}");
    jvm.finish().map(drop)
}

/// Where that is all that is named it is refused, else it is said.
#[test]
fn what_cannot_be_woven_is_named() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = start(&jdk, "methods", "Fib", &[], &[])?;
    let pid = jvm.pid().to_string();
    let error =
        jtrace::refuse(&["markers", &pid, "--inside", "--marker", "start=java.lang.Thread::start", "-d", "1s"], 1)?;
    ensure!(error.contains("java.lang.Thread cannot be woven"), "{error}");
    let of_java = ["--marker", "native=java.lang.Runtime::availableProcessors", "--marker", "gc=java.lang.*::gc"];
    let report = attach(&jvm, "markers", &[&of_java[..], &FIB, &["--marker", "hash=java.lang.*::hashCode"]].concat())?
        .report()?;
    let skipped = report.table("markers", "marker_skipped")?;
    let says = |class: &str, reason: &str| {
        skipped.iter().any(|row| text(row, "class") == class && text(row, "reason").contains(reason))
    };
    ensure!(says("java.lang.Runtime", "native"), "{skipped:?}");
    ensure!(says("java.lang.String", "needs this class itself"), "{skipped:?}");
    let notes = report.section("markers")?["notes"].as_array().cloned().unwrap_or_default();
    ensure!(
        notes.iter().any(|note| note.as_str().is_some_and(|note| note.starts_with("Nothing was woven for native:"))),
        "{notes:?}"
    );
    jvm.finish().map(drop)
}

#[test]
fn a_jvm_that_cannot_be_attached_to_is_refused() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = start(&jdk, "methods", "Fib", &[], &["-XX:+DisableAttachMechanism"])?;
    let pid = jvm.pid().to_string();
    let error = jtrace::refuse(&["markers", &pid, "--marker", "fib=Fib::fib", "-d", "1s"], 1)?;
    ensure!(error.contains("DisableAttachMechanism"), "{error}");
    jvm.finish().map(drop)
}

/// The JVM ends while it is woven: the report has what it had told by then.
#[test]
fn a_jvm_that_ends_while_it_is_woven_has_told_everything() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = start(&jdk, "methods", "Fib", &[], &[])?;
        let session: Session = attach(&jvm, "markers", &FIB)?;
        let expected = {
            jvm.work()?;
            tests::expected::Expected::parse(&jvm.stdout().text())?.one("calls", "Fib.fib")?
        };
        jvm.finish()?;
        let report = session.final_report()?;
        ensure!(calls(&report)? == 2 * expected, "{} on JDK {}", calls(&report)?, jdk.release);
    }
    Ok(())
}

/// A method that began in one visit runs what was woven then, to its end: in the next visit that says nothing.
#[test]
fn what_was_woven_by_an_earlier_visit_is_never_counted_by_a_later_one() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = start(&jdk, "methods", "Lasting", &[], &[])?;
        let session = attach(
            &jvm,
            "markers",
            &["--marker", "round=Lasting::last@call:Lasting::round", "--marker", "other=Lasting::next"],
        )?;
        jvm.work()?;
        ensure!(calls(&session.report()?)? >= 1000, "the loop was not seen on JDK {}", jdk.release);
        let session =
            attach(&jvm, "markers", &["--marker", "called=Lasting::called", "--marker", "none=Lasting::main"])?;
        jvm.work()?;
        let report = session.report()?;
        jvm.finish()?;
        ensure!(calls(&report)? == 20, "{} marks of 10 calls on JDK {}", calls(&report)?, jdk.release);
    }
    Ok(())
}
