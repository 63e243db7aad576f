//! What jtrace counts equals what the program did (closed form) and what the JVM logs, on every JDK.

use std::process::Command;

use anyhow::{Context as _, Result};
use tests::{
    jdk::{self, Collector, Jdk},
    jtrace::{self, Session},
    jvm::Launch,
    log::Truth,
    process::Process,
    report::{Report, Row, cell},
};

use crate::watch::{Watched, watch};

/// Runs a check on every JDK, and names the JDK that it failed on.
fn on_every_jdk(check: impl Fn(&Jdk) -> Result<()>) -> Result<()> {
    for jdk in jdk::all()? {
        println!("JDK {}", jdk.release);
        check(&jdk).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

/// Runs a check on every JDK and with every collector: the pairs of a turn.
fn on_every_collector(turn: usize, check: impl Fn(&Jdk, Collector) -> Result<()>) -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(turn)? {
        // Shown when an assertion fails.
        let place = format!("JDK {} with {}", jdk.release, collector.name());
        println!("{place}");
        check(&jdk, collector).context(place)?;
    }
    Ok(())
}

#[test]
fn seven_system_gcs_are_counted_on_every_collector() -> Result<()> {
    on_every_collector(0, |jdk, collector| {
        let launch =
            Launch::new(jdk, "gc", "Gc").flags(collector.flags()).arguments(&["system", "7"]).log("gc*,safepoint");
        let watched = watch(&launch, "gc")?;
        collections_agree(&watched, collector);
        assert_eq!(watched.report.summary("gc", "collections")?, watched.counts.get("system_gcs")?);
        if !collector.is_concurrent() {
            assert_eq!(watched.report.summary("gc", "full_collections")?, watched.counts.get("system_gcs")?);
        }
        let texts = watched.report.texts("gc")?;
        assert!(texts.iter().any(|text| text.contains("System.gc()")), "no cause System.gc() in {texts:?}");
        assert_eq!(watched.report.target("collector"), collector.name());
        Ok(())
    })
}

#[test]
fn collections_that_allocation_causes_are_counted_on_every_collector() -> Result<()> {
    on_every_collector(1, |jdk, collector| {
        let launch =
            Launch::new(jdk, "gc", "Gc").flags(collector.flags()).arguments(&["churn", "512"]).log("gc*,safepoint");
        let watched = watch(&launch, "gc")?;
        assert!(watched.certain.pauses > 0, "the workload allocates four times the heap");
        collections_agree(&watched, collector);
        Ok(())
    })
}

#[track_caller]
fn collections_agree(watched: &Watched, collector: Collector) {
    // A cycle of a concurrent collector is one collection in several pauses; any other collection is one operation.
    let of: fn(&Truth) -> u64 =
        if collector.is_concurrent() { |truth| truth.collections } else { |truth| truth.gc_safepoints };
    watched.agrees("gc", "collections", of);
    let of: fn(&Truth) -> u64 = if collector.is_concurrent() {
        |truth| truth.pauses
    } else {
        |truth| truth.gc_safepoints + truth.marking_safepoints
    };
    watched.agrees("gc", "pauses", of);
    let total = watched.report.summary("gc", "pause_total_ns").unwrap();
    let max = watched.report.summary("gc", "pause_max_ns").unwrap();
    assert!(max <= total, "the longest pause is part of the total");
    // Both time the same work. But the JVM's clock starts before the probe and stops after it: some us a pause, which are
    // much of the pauses of ZGC, and as long as the thread that does it waits for a CPU between the two.
    let logged = watched.certain.pause_total_us * 1000;
    let between = watched.certain.pauses * 10_000 + 4_000_000 + watched.queued_ns("VM Thread");
    assert!(total * 10 + between * 10 >= logged * 8, "pauses of {total} ns; the JVM logged {logged} ns");
}

#[test]
fn safepoints_are_counted_on_every_collector() -> Result<()> {
    on_every_collector(0, |jdk, collector| {
        let launch = Launch::new(jdk, "gc", "Gc").flags(collector.flags()).arguments(&["system", "7"]).log("safepoint");
        let watched = watch(&launch, "safepoint")?;
        assert!(watched.certain.safepoints >= watched.counts.get("system_gcs")?, "each collection stops the program");
        watched.agrees("safepoint", "safepoints", |truth| truth.safepoints);
        assert!(watched.report.summary("safepoint", "vm_operations")? >= watched.counts.get("system_gcs")?);
        Ok(())
    })
}

#[test]
fn five_hundred_contended_enters_are_counted() -> Result<()> {
    on_every_jdk(|jdk| {
        let watched = watch(&Launch::new(jdk, "locks", "Locks").arguments(&["contended", "500"]), "locks")?;
        assert_eq!(watched.report.summary("locks", "contended_enters")?, watched.counts.get("contended_enters")?);
        let blocked = watched.report.summary("locks", "blocked_total_ns")?;
        let (held, rounds) = (watched.counts.get("held_ns")?, watched.counts.get("rounds_ns")?);
        // Each encloses the other: what is held counts from when the kernel says that the partner sleeps, and the partner is blocked
        // within a round.
        assert!(blocked >= held, "blocked for {blocked} ns while the lock was held for {held} ns");
        assert!(blocked <= rounds, "blocked for {blocked} ns in {rounds} ns");
        let row = row_of(&watched.report, "locks", "class", "Locks$Cart")?;
        assert_eq!(cell(&row, "count")?, 500, "all of it is on one class");
        Ok(())
    })
}

#[test]
fn two_hundred_waits_are_counted() -> Result<()> {
    on_every_jdk(|jdk| {
        let watched = watch(&Launch::new(jdk, "locks", "Locks").arguments(&["wait", "200"]), "locks")?;
        assert_eq!(watched.report.summary("locks", "waits")?, watched.counts.get("waits")?);
        assert_eq!(watched.report.summary("locks", "notifies")?, watched.counts.get("notifies")?);
        Ok(())
    })
}

#[test]
fn three_hundred_parks_are_counted_apart_from_monitors() -> Result<()> {
    on_every_jdk(|jdk| {
        let watched = watch(&Launch::new(jdk, "locks", "Locks").arguments(&["park", "300"]), "locks")?;
        assert_eq!(watched.report.summary("locks", "parks")?, watched.counts.get("parks")?);
        assert_eq!(watched.report.summary("locks", "unparks")?, watched.counts.get("unparks")?);
        assert_eq!(watched.report.summary("locks", "contended_enters")?, 0);
        assert_eq!(watched.report.summary("locks", "waits")?, 0);
        Ok(())
    })
}

#[test]
fn threads_that_start_and_stop_are_counted_and_grouped() -> Result<()> {
    on_every_jdk(|jdk| {
        let watched = watch(&Launch::new(jdk, "threads", "Threads"), "threads")?;
        assert_eq!(watched.report.summary("threads", "started")?, watched.counts.get("started")?);
        assert_eq!(watched.report.summary("threads", "stopped")?, watched.counts.get("stopped")?);
        let texts = watched.report.texts("threads")?;
        for pattern in ["worker-", "leak-pool-3-thread-"] {
            assert!(texts.iter().any(|text| text.starts_with(pattern)), "no group {pattern} in {texts:?}");
        }
        Ok(())
    })
}

#[test]
fn a_thousand_generated_classes_are_loaded_and_unloaded() -> Result<()> {
    on_every_jdk(|jdk| {
        let launch = Launch::new(jdk, "classes", "Classes").log("class+load,class+unload");
        let watched = watch(&launch, "classes")?;
        watched.agrees("classes", "loaded", |truth| truth.classes_loaded);
        watched.agrees("classes", "unloaded", |truth| truth.classes_unloaded);
        assert!(watched.report.summary("classes", "loaded")? >= watched.counts.get("loaded")?);
        assert!(watched.report.summary("classes", "unloaded")? >= watched.counts.get("unloaded")?);
        assert_eq!(watched.report.summary("classes", "initialization_errors")?, watched.counts.get("errors")?);
        Ok(())
    })
}

#[test]
fn compilations_are_counted() -> Result<()> {
    on_every_jdk(|jdk| {
        let launch = Launch::new(jdk, "jit", "Jit").flags(&["-Xbatch"]).log("jit+compilation=debug");
        let watched = watch(&launch, "jit")?;
        assert!(watched.certain.compilations > 10, "the workload makes methods hot: {:?}", watched.certain);
        watched.agrees("jit", "compilations", |truth| truth.compilations);
        assert!(watched.report.summary("jit", "code_loaded_bytes")? > 0);
        Ok(())
    })
}

#[test]
fn allocation_is_estimated_within_a_tenth() -> Result<()> {
    on_every_jdk(|jdk| {
        let watched = watch(&Launch::new(jdk, "alloc", "Alloc"), "alloc")?;
        let (estimated, bytes) = (watched.report.summary("alloc", "estimated_bytes")?, watched.counts.get("bytes")?);
        assert!(estimated.abs_diff(bytes) * 10 <= bytes, "estimated {estimated} of {bytes} bytes");
        assert!(watched.report.summary("alloc", "samples")? > 100);
        let blobs = cell(&row_of(&watched.report, "alloc", "class", "Alloc$Blob")?, "estimated_bytes")?;
        let truth = watched.counts.get("blob_bytes")?;
        assert!(blobs.abs_diff(truth) * 4 <= truth, "estimated {blobs} of {truth} bytes of Alloc$Blob");
        Ok(())
    })
}

/// A TLAB ends with a small object nearly always; by that alone these would have four fifths of the bytes.
#[test]
fn large_and_small_objects_are_estimated_alike() -> Result<()> {
    on_every_jdk(|jdk| {
        // As many bytes in arrays of 64 KiB as in objects of 64 bytes.
        let sizes = ["65520", "16384", "16777216"];
        let watched = watch(&Launch::new(jdk, "alloc", "Alloc").arguments(&sizes), "alloc")?;
        for (class, key) in [("byte[]", "array_bytes"), ("Alloc$Blob", "blob_bytes")] {
            let estimated = cell(&row_of(&watched.report, "alloc", "class", class)?, "estimated_bytes")?;
            let truth = watched.counts.get(key)?;
            assert!(estimated.abs_diff(truth) * 5 <= truth, "estimated {estimated} of {truth} bytes of {class}");
        }
        Ok(())
    })
}

/// The first row, in any table of a section, with this text under this key.
fn row_of(report: &Report, section: &str, key: &str, text: &str) -> Result<Row> {
    let tables = report.tables(section)?;
    let mut rows = tables.values().flatten();
    let row = rows.find(|row| row.get(key).is_some_and(|cell| cell == text));
    row.cloned().with_context(|| format!("no row with {key} = {text} in {tables:?}"))
}

#[test]
fn a_run_from_the_first_instruction_counts_the_whole_log() -> Result<()> {
    on_every_jdk(|jdk| {
        let directory = tempfile::tempdir()?;
        let report = directory.path().join("report.json");
        let launch = Launch::new(jdk, "classes", "Classes").log("class+load,class+unload");
        // Thousands of classes in a second are what the rate guard is for; here everything is to be counted.
        let mut command: Command = jtrace::command(&["run", "--max-overhead", "100000%", "-l", "classes", "-o"])?;
        command.arg(&report).arg("--").args(launch.command(directory.path()));
        let mut process = Process::spawn(&mut command)?;
        process.stdout.wait_for_line("READY", 0, jtrace::LIMIT)?;
        process.send_line("GO")?;
        process.stdout.wait_for_line("DONE", 0, jtrace::LIMIT)?;
        process.close_stdin();
        assert!(process.wait(jtrace::LIMIT)?.success(), "{}", process.transcript());
        let report = Report::parse(&std::fs::read(&report)?)?;
        let truth = Truth::of(&std::fs::read_to_string(directory.path().join("jvm.log"))?);
        report.nothing_lost()?;
        assert_eq!(report.summary("classes", "loaded")?, truth.classes_loaded);
        assert_eq!(report.summary("classes", "unloaded")?, truth.classes_unloaded);
        assert_eq!(report.end(), "target exited");
        Ok(())
    })
}

#[test]
fn all_lenses_are_on_by_default_and_see_the_same() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "threads", "Threads").start()?;
    let session = Session::attach(jvm.pid(), &[])?;
    let counts = jvm.work()?;
    let report = session.report()?;
    for lens in ["gc", "safepoint", "locks", "threads", "classes", "jit", "alloc", "exceptions", "cpu"] {
        report.section(lens)?;
    }
    assert_eq!(report.summary("threads", "started")?, counts.get("started")?);
    jvm.finish()?;
    Ok(())
}
