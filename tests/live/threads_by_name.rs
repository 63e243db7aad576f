//! Predicates on threads: names longer than the kernel knows, threads that are gone before anybody can look, and daemons.

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};

/// Counts calls of `step` for which a predicate holds, during two rounds of the program; gives the report, too.
fn count(jdk: &Jdk, flags: &[&str], options: &[&str]) -> Result<(u64, Expected, Report)> {
    count_rounds(2, jdk, flags, options)
}

/// The same during so many rounds.
fn count_rounds(rounds: usize, jdk: &Jdk, flags: &[&str], options: &[&str]) -> Result<(u64, Expected, Report)> {
    let launch = Launch::new(jdk, "methods", "Named").flags(&["-XX:+DTraceMethodProbes"]).flags(flags);
    let mut jvm = launch.start()?;
    let printed = jvm.stdout().text().len();
    let mut words = vec!["-l", "methods", "-I", "Named::step", "--max-overhead", "100000%"];
    words.extend(options);
    let session = Session::attach(jvm.pid(), &words)?;
    for _ in 0..rounds {
        jvm.work()?;
    }
    let report = session.report()?;
    report.nothing_lost()?;
    let expected = Expected::parse(&jvm.stdout().text().split_off(printed))?;
    let rows = report.table("methods", "methods")?;
    let calls = rows.iter().filter(|row| row.get("method").is_some_and(|name| name == "step"));
    let calls = calls.map(|row| cell(row, "calls")).sum::<Result<u64>>()?;
    jvm.finish()?;
    Ok((calls, expected, report))
}

#[test]
fn whole_names_choose_threads_on_every_jdk() -> Result<()> {
    for jdk in jdk::all()? {
        for (predicate, part) in [
            ("thread == \"worker-of-the-shop-resident-a\"", "resident-a"),
            ("thread ~ \"*-shop-short-lived-*\"", "short-lived"),
            ("thread ~ \"*-resident-*\"", "resident"),
        ] {
            let (calls, expected, report) = count(&jdk, &[], &["--where", predicate])?;
            let wanted = expected.sum("thread_calls", |name| name.contains(part));
            ensure!(wanted > 0 && calls == wanted, "JDK {}: {calls} of {wanted}, {:?}", jdk.release, report.missing());
        }
    }
    Ok(())
}

/// The kernel knows both residents by the same 15 bytes, and a report without a predicate tells them apart all the same.
#[test]
fn threads_that_were_there_before_have_their_whole_names_in_reports_on_every_jdk() -> Result<()> {
    for jdk in jdk::all()? {
        let (_, expected, report) = count(&jdk, &[], &["--by-thread"])?;
        let rows = report.table("methods", "threads")?;
        for resident in ["worker-of-the-shop-resident-a", "worker-of-the-shop-resident-b"] {
            let calls = rows.iter().filter(|row| row.get("thread").is_some_and(|name| name == resident));
            let calls = calls.map(|row| cell(row, "calls")).sum::<Result<u64>>()?;
            let wanted = expected.sum("thread_calls", |name| name == resident);
            ensure!(wanted > 0 && calls == wanted, "JDK {}: {calls} of {wanted} in {rows:?}", jdk.release);
        }
    }
    Ok(())
}

#[test]
fn daemons_are_told_from_others_on_every_jdk() -> Result<()> {
    for jdk in jdk::all()? {
        for (predicate, daemons) in [("daemon", true), ("!daemon", false)] {
            let (calls, expected, _) = count(&jdk, &[], &["--where", predicate])?;
            let number = |kind: &str| expected.one(kind, "Named.step").ok();
            let (all, of_daemons) = (number("calls").context("no calls")?, number("daemons").context("no daemons")?);
            let wanted = if daemons { of_daemons } else { all - of_daemons };
            ensure!(calls == wanted, "JDK {}: {calls} of {wanted} calls for `{predicate}`", jdk.release);
        }
    }
    Ok(())
}

/// Collectors, references and headers lay objects out differently; event by event the answer is the same.
#[test]
fn names_are_read_however_objects_lie() -> Result<()> {
    let latest = jdk::all()?.into_iter().max_by_key(|jdk| jdk.release).context("no JDK")?;
    for flags in [
        &["-XX:-UseCompressedOops"][..],
        &["-XX:+UseZGC"],
        &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"],
        &["-XX:+UseSerialGC", "-XX:-CompactStrings"],
    ] {
        let options = ["--where", "thread ~ \"*-resident-b\" && daemon", "--each"];
        let (calls, expected, report) = count(&latest, flags, &options)?;
        let wanted = expected.sum("thread_calls", |name| name.ends_with("resident-b"));
        ensure!(wanted > 0 && calls == wanted, "{flags:?}: {calls} of {wanted}, {:?}", report.missing());
    }
    Ok(())
}

/// Where the duration decides, the thread is asked at entry already, once it is known; what is turned down there is not
/// looked at again, and what is wanted is counted at its return.
#[test]
fn a_thread_is_turned_down_at_entry_where_the_duration_decides() -> Result<()> {
    let options = ["--where", "thread ~ \"*-resident-a\" && duration >= 0ns"];
    let mut rounds = 50;
    // How soon jtrace knows a thread is for the machine to say; until then its calls are turned down at their returns.
    until("calls of the other threads are turned down at entry", || {
        let (calls, expected, report) = count_rounds(rounds, &jdk::any()?, &[], &options)?;
        rounds *= 2;
        let wanted = expected.sum("thread_calls", |name| name.ends_with("resident-a"));
        ensure!(wanted > 0 && calls == wanted, "{calls} of {wanted}");
        let filtered =
            |probe: &str| -> u64 { report.sites(probe).iter().filter_map(|site| site["filtered"].as_u64()).sum() };
        // Entries of the JDK's own methods are turned down by their names, and their returns likewise: what is left are these.
        let all = expected.one("calls", "Named.step").unwrap_or_default();
        Ok((filtered("dtrace_method_entry") > (all - wanted) / 2).then_some(()))
    })
}
