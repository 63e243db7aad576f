//! The ruler itself, without jtrace: what the workloads claim agrees with what the JVMs log, and the harness can start every
//! kind of target that the live ring needs.

#![cfg(test)]

use anyhow::Result;
use tests::{
    jdk::{self, Collector},
    jvm::Launch,
    log::Truth,
};

/// What the JVM logs from READY to DONE.
fn truth_of(launch: &Launch) -> Result<(tests::jvm::Counts, Truth)> {
    let mut jvm = launch.start()?;
    let start = jvm.log()?.len();
    let counts = jvm.work()?;
    let end = jvm.log()?.len();
    let truth = Truth::of(&jvm.log()?[start..end]);
    jvm.finish()?;
    Ok((counts, truth))
}

#[test]
fn system_gcs_are_as_many_collections_in_the_log() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(0)? {
        let launch = Launch::new(&jdk, "gc", "Gc").flags(collector.flags()).arguments(&["system", "7"]);
        let (counts, truth) = truth_of(&launch.log("gc*,safepoint"))?;
        println!("JDK {} {}: {truth:?}", jdk.release, collector.name());
        let gcs = counts.get("system_gcs")?;
        // Up to some release Parallel empties the young generation in a collection of its own first.
        let each = truth.collections / gcs;
        assert!(each == 1 || (each == 2 && collector == Collector::Parallel), "{truth:?}");
        assert_eq!(truth.collections % gcs, 0);
        if collector.is_concurrent() {
            assert!(truth.pauses >= 2 * gcs);
        } else {
            assert_eq!((truth.pauses, truth.full_pauses, truth.gc_safepoints), (truth.collections, gcs, gcs));
        }
    }
    Ok(())
}

#[test]
fn safepoints_are_in_the_log() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(1)? {
        let launch = Launch::new(&jdk, "gc", "Gc").flags(collector.flags()).arguments(&["system", "7"]);
        let (_, truth) = truth_of(&launch.log("safepoint"))?;
        println!("JDK {} {}: {} safepoints", jdk.release, collector.name(), truth.safepoints);
        assert!(truth.safepoints >= 7);
    }
    Ok(())
}

#[test]
fn generated_classes_are_loaded_and_unloaded_in_the_log() -> Result<()> {
    for jdk in jdk::all()? {
        let (counts, truth) = truth_of(&Launch::new(&jdk, "classes", "Classes").log("class+load,class+unload"))?;
        println!("JDK {}: {} loaded, {} unloaded", jdk.release, truth.classes_loaded, truth.classes_unloaded);
        assert!((1000..1100).contains(&truth.classes_loaded) && (1000..1100).contains(&truth.classes_unloaded));
        assert_eq!((counts.get("loaded")?, counts.get("unloaded")?, counts.get("errors")?), (1000, 1000, 3));
    }
    Ok(())
}

#[test]
fn compilations_are_in_the_log() -> Result<()> {
    for jdk in jdk::all()? {
        let launch = Launch::new(&jdk, "jit", "Jit").flags(&["-Xbatch"]).log("jit+compilation=debug");
        let (_, truth) = truth_of(&launch)?;
        println!("JDK {}: {} compilations", jdk.release, truth.compilations);
        assert!(truth.compilations > 10);
    }
    Ok(())
}

#[test]
fn every_other_workload_does_its_work_twice() -> Result<()> {
    let workloads: [(&str, &str, &[&str]); 9] = [
        ("locks", "Locks", &["contended", "100"]),
        ("locks", "Locks", &["wait", "100"]),
        ("locks", "Locks", &["park", "100"]),
        ("threads", "Threads", &[]),
        ("alloc", "Alloc", &[]),
        ("names", "Names", &[]),
        ("hotpark", "HotPark", &["100000", "200000"]),
        ("busy", "Busy", &["100000"]),
        ("idle", "Idle", &["a", "b"]),
    ];
    for jdk in jdk::all()? {
        for (feature, main, arguments) in workloads {
            let mut jvm = Launch::new(&jdk, feature, main).arguments(arguments).start()?;
            jvm.work()?;
            jvm.work()?;
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn a_jvm_starts_in_its_own_namespaces() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "idle", "Idle").arguments(&["x"]).start_in_container(&jdk)?;
        let pid = jvm.pid();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let pids = status.lines().find(|line| line.starts_with("NSpid:")).unwrap_or_default();
        assert_eq!(pids.split_whitespace().count(), 3, "{pids}");
        assert_ne!(std::fs::read_link(format!("/proc/{pid}/ns/mnt"))?, std::fs::read_link("/proc/self/ns/mnt")?);
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_jvm_replaces_itself_by_another_program() -> Result<()> {
    let Some(jdk) = jdk::all()?.into_iter().find(|jdk| jdk.release >= 22) else {
        println!("skipped: no JDK with java.lang.foreign");
        return Ok(());
    };
    let mut jvm = Launch::new(&jdk, "exec", "Exec").flags(&["--enable-native-access=ALL-UNNAMED"]).start()?;
    jvm.go()?;
    jvm.process().send_line("still here")?;
    // The JVM may have read the line together with GO; the program that follows it echoes the next ones.
    jvm.process().send_line("and here")?;
    jvm.process().close_stdin();
    assert!(jvm.process().wait(tests::jtrace::LIMIT)?.success());
    Ok(())
}

#[test]
fn flags_are_read_from_every_release() -> Result<()> {
    for jdk in jdk::all()? {
        let jvm = Launch::new(&jdk, "idle", "Idle").start()?;
        assert_eq!(jvm.flag("DTraceMonitorProbes")?, "false");
        assert_eq!(jvm.flag("UseDynamicNumberOfCompilerThreads")?, "false");
    }
    Ok(())
}
