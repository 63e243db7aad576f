//! What jtrace costs its target, where the issue is one of kind and not of degree: the rate guard must hold, and repeated
//! sessions must leave nothing behind. Figures of degree are the benchmarks' business.

#![cfg(test)]

use std::{
    fs,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use tests::{
    jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
};

/// One measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Time of one piece of work, by the workload's own clock.
fn time_of_work(jvm: &mut Jvm) -> Result<u64> {
    jvm.work()?.get("ns")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn a_program_that_parks_200000_times_a_second_keeps_its_speed() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for jdk in jdk::all()? {
        // Two million parks take about ten seconds, of which the guard may need 200 ms to act.
        let mut jvm = Launch::new(&jdk, "hotpark", "HotPark").arguments(&["2000000", "200000"]).start()?;
        let mut ratios = Vec::new();
        for _ in 0..3 {
            let before = time_of_work(&mut jvm)?;
            let session = Session::attach(jvm.pid(), &[])?;
            let traced = time_of_work(&mut jvm)?;
            let report = session.report()?;
            let after = time_of_work(&mut jvm)?;
            ratios.push(traced as f64 / (u64::midpoint(before, after) as f64));
            let park = report.sites("thread__park__begin");
            let site = park.first().context("no site of park")?;
            let hits = site["hits"].as_u64().context("no hits")?;
            // At 200,000 parks a second, 200 ms are 40,000; some are allowed for a busy machine.
            assert!(hits < 120_000, "the guard let {hits} parks trap");
            let state = site["state"].as_str().unwrap_or_default();
            assert!(state.contains("rate guard"), "the site of park is {state}");
            let notes = format!("{:?} {:?}", report.missing(), report.section("locks")?["notes"]);
            assert!(notes.contains("park"), "the report does not say that parks are not counted: {notes}");
        }
        let ratio = median(ratios.clone());
        println!("JDK {}: {ratios:?}", jdk.release);
        assert!(ratio < 1.01, "slowed down by {:.2} % on JDK {}: {ratios:?}", (ratio - 1.0) * 100.0, jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn attaching_and_detaching_many_times_leaves_nothing_in_the_target() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let before = state(jvm.pid())?;
    for _ in 0..20 {
        Session::attach(jvm.pid(), &[])?.report()?;
    }
    assert_eq!(state(jvm.pid())?, before);
    jvm.finish()?;
    Ok(())
}

/// What a session could leave in a process: open files, threads, mappings of files and of uprobes.
fn state(pid: u32) -> Result<(usize, usize, Vec<String>)> {
    let files = fs::read_dir(format!("/proc/{pid}/fd"))?.count();
    let threads = fs::read_dir(format!("/proc/{pid}/task"))?.count();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let named = maps.lines().filter(|line| line.contains('/')).map(str::to_owned).collect();
    Ok((files, threads, named))
}
