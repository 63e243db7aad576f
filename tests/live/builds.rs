//! What every build of a JVM must give, also one without notes: counts in closed form that do not depend on what notes tell besides.
//! `cargo xtask builds` runs these, and some of the other tests, on further builds. In the ring the oldest and the newest JDK are enough
//! for what `counts` and `plain` ask of all of them.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Collector},
    jtrace::{Session, refuse, succeed},
    jvm::Launch,
    report::cell,
};

use crate::{place::changed, plain, watch::watch};

/// Collectors that do all their work while the program stands still.
const STOPPING: [Collector; 3] = [Collector::G1, Collector::Parallel, Collector::Serial];

#[test]
fn full_collections_and_their_operations_are_counted() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        for collector in STOPPING {
            let place = || format!("{} on {}", collector.name(), jdk.home.display());
            let watched = watch(
                &Launch::new(&jdk, "gc", "Gc").flags(collector.flags()).arguments(&["system", "7"]),
                "gc,safepoint",
            )?;
            let asked = watched.counts.get("system_gcs")?;
            for key in ["collections", "full_collections"] {
                let counted = watched.report.summary("gc", key)?;
                ensure!(counted == asked, "{counted} {key}, not {asked}, with {}", place());
            }
            let operations = watched.report.table("safepoint", "operations")?;
            let collecting = operations.iter().find(|row| {
                let name = row.get("operation").and_then(|name| name.as_str()).unwrap_or_default();
                ["G1CollectFull", "ParallelGCSystemGC", "ParallelGCCollect", "GenCollectFull", "SerialGCCollect"]
                    .contains(&name)
            });
            let row = collecting.with_context(|| format!("no operation collects with {}: {operations:?}", place()))?;
            ensure!(cell(row, "count")? == asked, "{row:?} with {}", place());
            ensure!(cell(row, "requested")? == asked, "{row:?} with {}", place());
        }
    }
    Ok(())
}

#[test]
fn waits_are_counted_with_their_class() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let watched = watch(&Launch::new(&jdk, "locks", "Locks").arguments(&["wait", "200"]), "locks")?;
        let (counted, waits) = (watched.report.summary("locks", "waits")?, watched.counts.get("waits")?);
        ensure!(counted == waits, "{counted} waits, not {waits}, on {}", jdk.home.display());
        let texts = watched.report.texts("locks")?;
        ensure!(texts.iter().any(|text| text == "Locks$Cart"), "no class in {texts:?} on {}", jdk.home.display());
    }
    Ok(())
}

#[test]
fn threads_that_start_and_stop_are_counted() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let watched = watch(&Launch::new(&jdk, "threads", "Threads"), "threads")?;
        for key in ["started", "stopped"] {
            let (counted, happened) = (watched.report.summary("threads", key)?, watched.counts.get(key)?);
            ensure!(counted == happened, "{counted} {key}, not {happened}, on {}", jdk.home.display());
        }
    }
    Ok(())
}

#[test]
fn objects_of_a_program_are_counted() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        plain::objects_are_counted(&jdk, 0).with_context(|| format!("on {}", jdk.home.display()))?;
    }
    Ok(())
}

#[test]
fn a_jvm_without_notes_and_symbols_gives_cpu_samples_of_java_and_refuses_the_rest() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = changed(&jdk, directory.path(), &["--strip-all", "--remove-section=.note.stapsdt"])?;
        let mut jvm = Launch::new(&bare, "cpu", "Cpu").arguments(&["hot", "1"]).start()?;
        let pid = jvm.pid().to_string();
        let said = succeed(&["doctor", &*pid])?.text();
        ensure!(
            said.contains("neither USDT nor symbols: only cpu, offcpu, wall, exceptions"),
            "doctor on {}: {said}",
            jdk.release
        );
        let said = refuse(&["attach", &*pid, "-l", "locks"], 1)?;
        ensure!(said.contains("neither USDT nor symbols"), "attach on {}: {said}", jdk.release);
        let session = Session::attach(jvm.pid(), &["-l", "cpu"])?;
        jvm.work()?;
        let report = session.report()?;
        jvm.finish()?;
        let (samples, java) = (report.summary("cpu", "samples")?, report.summary("cpu", "java_samples")?);
        ensure!(java > 0 && java * 2 >= samples, "{java} of {samples} samples are of Java on {}", jdk.release);
        let texts = report.texts("cpu")?;
        ensure!(texts.iter().any(|text| text.starts_with("Cpu.")), "no method of Cpu on {}: {texts:?}", jdk.release);
        let java = bare.java().to_string_lossy().into_owned();
        let said = refuse(&["run", "-l", "methods", "-I", "Cpu::*", "--", &*java, "-version"], 1)?;
        ensure!(
            said.contains("libjvm.so has neither") || said.contains("DTraceMethodProbes"),
            "run on {}: {said}",
            jdk.release
        );
    }
    Ok(())
}

#[test]
fn without_notes_run_refuses_what_needs_a_flag_that_such_a_jvm_does_not_know() -> Result<()> {
    let jdk = jdk::any()?;
    let directory = tempfile::tempdir()?;
    let bare = changed(&jdk, directory.path(), &["--remove-section=.note.stapsdt"])?;
    let java = bare.java().to_string_lossy().into_owned();
    let said = refuse(&["run", "-l", "methods", "-I", "Cpu::*", "--", &*java, "-version"], 1)?;
    ensure!(said.contains("does not start with -XX:+DTraceMethodProbes"), "{said}");
    Ok(())
}
