//! A JVM with thousands of runnable threads: it must not starve its own observer, and the observer must not take more than its
//! bound. Judged by counts of traps and events; time decides nothing but that it ends.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use tests::{
    budget::USUAL_BURST_S,
    jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    patience::until_true,
    report::Report,
};

/// Threads that park 20 times a second each.
const THREADS: &str = "4000";
/// Share of one core that the target may lose.
const BUDGET: f64 = 0.01;
/// `SCHED_RR` and `SCHED_OTHER` as `/proc/PID/stat` has them.
const ROUND_ROBIN: &str = "2";
const OTHER: &str = "0";

fn crowd() -> Result<Jvm> {
    let launch = Launch::new(&jdk::any()?, "crowd", "Crowd").flags(&["-Xmx256m"]).arguments(&[THREADS, "0"]);
    let mut jvm = launch.start()?;
    jvm.go()?;
    // From then on it is a crowd.
    jvm.done()?;
    Ok(jvm)
}

fn number(report: &Report, of: &str, key: &str) -> Result<f64> {
    report.0[of][key].as_f64().with_context(|| format!("no {key} in {of}"))
}

/// The scheduling policy of a process's first thread.
fn policy(pid: u32) -> Result<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    // The policy is field 41, and the first one after the name is the third.
    fields.split_whitespace().nth(41 - 3).map(str::to_owned).context("no policy")
}

/// Waits until a thread has a policy.
fn wait_for_policy(pid: u32, wanted: &str) -> Result<()> {
    until_true(&format!("the policy is {wanted}"), || Ok(policy(pid)? == wanted))
}

#[test]
fn thousands_of_runnable_threads_do_not_starve_their_observer() -> Result<()> {
    let jvm = crowd()?;
    let session = Session::attach(jvm.pid(), &["-d", "5s"])?;
    let report = session.final_report()?;
    // It would go on for as long as it is asked.
    drop(jvm);
    let cost_s = number(&report, "cost", "target_cpu_ns")? / 1e9;
    let (traps, trap_ns) = (number(&report, "cost", "traps")?, number(&report, "cost", "trap_cost_ns")?);
    let span_s = number(&report, "span", "duration_ns")? / 1e9;
    let attach_s = number(&report, "cost", "attach_ns")? / 1e9;
    // What comes between a look and the moment when the kernel has taken sites away is on top: a quarter of a core for a second.
    // Where nobody looks in time it is that for the whole session.
    let most_s = BUDGET * (span_s + attach_s + USUAL_BURST_S) + 0.25;
    let said =
        format!("{traps} traps of {trap_ns} ns, {cost_s} s of {span_s}, attached in {attach_s}: {}", report.0["cost"]);
    ensure!(cost_s <= most_s, "not {most_s}: {said}");
    let (emitted, lost) = (report.completeness("emitted")?, report.completeness("lost")?);
    ensure!(emitted > 1000, "{emitted} events: {said}");
    ensure!(lost * 4 < emitted, "{lost} of {emitted} events are lost: {said}");
    let decisions = report.0["completeness"]["decisions"].as_array().context("no decisions")?;
    ensure!(decisions.iter().any(|of| of["group"] == "park" && of["action"] == "detached"), "{decisions:?}");
    Ok(())
}

/// Calls come one by one, more than jtrace can take: it is busy all the time, and must not be that at a real-time priority.
#[test]
fn a_jtrace_that_is_busy_all_the_time_loses_its_priority_and_gets_it_back() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "methods", "Paced").flags(&["-XX:+DTraceMethodProbes"]);
    let mut jvm = launch.arguments(&["0", "8000"]).start()?;
    let options = ["-l", "methods", "-I", "Paced::*", "--each", "--max-overhead", "100000%", "--events"];
    let mut session = Session::attach(jvm.pid(), &options)?;
    let pid = session.process().pid();
    wait_for_policy(pid, ROUND_ROBIN)?;
    jvm.go()?;
    wait_for_policy(pid, OTHER)?;
    jvm.done()?;
    wait_for_policy(pid, ROUND_ROBIN)?;
    session.stop()?;
    jvm.finish()?;
    Ok(())
}

/// Threads of jtrace other than the one that empties ring buffers and the one that bounds it are ordinary.
#[test]
fn an_idle_session_has_one_urgent_thread_and_one_that_bounds_it() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let mut session = Session::attach(jvm.pid(), &[])?;
    let pid = session.process().pid();
    wait_for_policy(pid, ROUND_ROBIN)?;
    let mut urgent = 0;
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let stat = fs::read_to_string(entry?.path().join("stat"))?;
        let (_, fields) = stat.rsplit_once(')').context("no name")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // Real-time priority and policy.
        urgent += u32::from(fields[41 - 3] == ROUND_ROBIN);
        ensure!(matches!(fields[40 - 3], "0" | "1" | "2"), "priority {}", fields[40 - 3]);
    }
    ensure!(urgent == 2, "{urgent} threads have a real-time class");
    session.stop()?;
    jvm.finish()?;
    Ok(())
}
