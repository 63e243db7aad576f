//! A JVM with thousands of runnable threads: it must not starve its own observer, and the observer must not take more than its
//! bound. Judged by counts of traps and events; time decides nothing but that it ends.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{
    budget::{USUAL_BURST_S, USUAL_PERCENT, most_traps_may_cost_s},
    jdk,
    jtrace::{self, LIMIT, Session},
    jvm::{Jvm, Launch},
    patience::until_true,
    process::{Finished, Process, Signal},
    report::Report,
};

/// Threads that park 20 times a second each.
const THREADS: &str = "4000";
/// `SCHED_RR` and `SCHED_OTHER` as `/proc/PID/stat` has them.
const ROUND_ROBIN: &str = "2";
const OTHER: &str = "0";

/// Fields of `/proc/PID/stat` after the name, which is the second field.
const PRIORITY: usize = 40 - 3;
const POLICY: usize = 41 - 3;
const NICE: usize = 19 - 3;

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
    fields.split_whitespace().nth(POLICY).map(str::to_owned).context("no policy")
}

/// Waits until a thread has a policy.
fn wait_for_policy(pid: u32, wanted: &str) -> Result<()> {
    until_true(&format!("the policy is {wanted}"), || Ok(policy(pid)? == wanted))
}

/// Where the machine itself stands still for a moment, what a ring holds is lost: then another session shows it. One that is starved
/// loses nearly all events, each time.
const SESSIONS: usize = 3;

#[test]
fn thousands_of_runnable_threads_do_not_starve_their_observer() -> Result<()> {
    for _ in 0..SESSIONS {
        if session_of_a_crowd()?.is_some() {
            return Ok(());
        }
    }
    bail!("{SESSIONS} sessions have each lost a quarter of their events or more");
}

/// A session with thousands of threads keeps to its budget; nothing where it lost many events.
fn session_of_a_crowd() -> Result<Option<()>> {
    let jvm = crowd()?;
    let session = Session::attach(jvm.pid(), &["-d", "5s"])?;
    let report = session.final_report()?;
    // It would go on for as long as it is asked.
    drop(jvm);
    let cost_s = number(&report, "cost", "target_cpu_ns")? / 1e9;
    let (traps, trap_ns) = (number(&report, "cost", "traps")?, number(&report, "cost", "trap_cost_ns")?);
    let span_s = number(&report, "span", "duration_ns")? / 1e9;
    let attach_s = number(&report, "cost", "attach_ns")? / 1e9;
    // What came while the machine kept the governor from looking is in the report of its decisions, and sites are there before the
    // span begins. Where nobody looks in time, each CPU pays all the time for what its programs do not refuse.
    let most_s = most_traps_may_cost_s(&report, USUAL_PERCENT, USUAL_BURST_S)? + USUAL_PERCENT / 100.0 * attach_s;
    let said =
        format!("{traps} traps of {trap_ns} ns, {cost_s} s of {span_s}, attached in {attach_s}: {}", report.0["cost"]);
    ensure!(cost_s <= most_s, "not {most_s}: {said}");
    let (emitted, lost) = (report.completeness("emitted")?, report.completeness("lost")?);
    ensure!(emitted > 1000, "{emitted} events: {said}");
    if lost * 4 >= emitted {
        eprintln!("{lost} of {emitted} events are lost: {said}");
        return Ok(None);
    }
    // Beside others that take the machine, a crowd may cost too little for any decision.
    if let Some(decisions) = report.0["completeness"]["decisions"].as_array() {
        ensure!(decisions.iter().any(|of| of["group"] == "park" && of["action"] == "detached"), "{decisions:?}");
    }
    Ok(Some(()))
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

/// Refuses a real-time class, as a kernel does where a process has no right to one and may still have nice values.
const REFUSES_CLASSES: &str = "#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameter) {
    if ((policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER) { errno = EPERM; return -1; }
    return syscall(SYS_sched_setscheduler, pid, policy, parameter);
}
";

/// Where the real-time class is refused and nice values are allowed, the thread that empties ring buffers has the best of these.
#[test]
fn a_jtrace_that_may_have_no_real_time_class_takes_the_best_nice_value() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let directory = tempfile::tempdir()?;
    let [source, library] = ["refuses.c", "librefuses.so"].map(|name| directory.path().join(name));
    fs::write(&source, REFUSES_CLASSES)?;
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status()?;
    ensure!(compiled.success(), "cc failed");
    let mut command = jtrace::command(&["attach", &jvm.pid().to_string(), "--json"])?;
    let mut process = Process::spawn(command.env("LD_PRELOAD", &library))?;
    process.stderr.wait_for_line("attached", 0, LIMIT)?;
    let mut best = 0;
    // It comes when the session begins to listen, which no line tells of.
    until_true("a thread has the best nice value", || {
        let fields = fields_of_threads(process.pid())?;
        ensure!(fields.iter().all(|fields| fields[POLICY] == OTHER), "a thread has a real-time class");
        best = fields.iter().filter(|fields| fields[NICE] == "-20").count();
        Ok(best > 0)
    })?;
    ensure!(best == 1, "{best} threads have the best nice value");
    process.signal(Signal::INT)?;
    ensure!(process.wait(LIMIT)?.success(), "{}", process.transcript());
    let said = Finished::of(jtrace::command(&["doctor"])?.env("LD_PRELOAD", &library), LIMIT)?.text();
    ensure!(said.contains("nice -20 instead"), "doctor does not say it: {said}");
    jvm.finish()?;
    Ok(())
}

fn fields_of_threads(pid: u32) -> Result<Vec<Vec<String>>> {
    let stats = fs::read_dir(format!("/proc/{pid}/task"))?.flatten().map(|task| task.path().join("stat"));
    // A thread may end meanwhile.
    let stats = stats.filter_map(|path| fs::read_to_string(path).ok());
    stats
        .map(|stat| {
            let (_, fields) = stat.rsplit_once(')').context("no name")?;
            Ok(fields.split_whitespace().map(str::to_owned).collect())
        })
        .collect()
}

/// Threads of jtrace other than the one that empties ring buffers and the one that bounds it are ordinary.
#[test]
fn an_idle_session_has_one_urgent_thread_and_one_that_bounds_it() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let mut session = Session::attach(jvm.pid(), &[])?;
    let pid = session.process().pid();
    wait_for_policy(pid, ROUND_ROBIN)?;
    // The other one raises itself.
    until_true("who bounds it has its own", || {
        let all = fields_of_threads(pid)?;
        let (urgent, others): (Vec<_>, Vec<_>) = all.iter().partition(|fields| fields[POLICY] == ROUND_ROBIN);
        let mut priorities: Vec<&str> = urgent.iter().map(|fields| fields[PRIORITY].as_str()).collect();
        priorities.sort_unstable();
        ensure!(others.iter().all(|fields| fields[POLICY] == OTHER && fields[PRIORITY] == "0"), "{others:?}");
        ensure!(priorities == ["1"] || priorities == ["1", "2"], "{priorities:?}");
        Ok(priorities == ["1", "2"])
    })?;
    session.stop()?;
    jvm.finish()?;
    Ok(())
}
