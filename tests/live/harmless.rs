//! The target runs on and is left as it was found, whatever becomes of jtrace; and a report is given, whatever becomes of
//! the target.

use std::fs;

use anyhow::{Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::{until, until_true},
    process::Signal,
};

use crate::deaths::{left, number};

const FLAG: &str = "DTraceMonitorProbes";

fn contended(jdk: &jdk::Jdk) -> Result<Jvm> {
    Launch::new(jdk, "locks", "Locks").arguments(&["contended", "200"]).start()
}

#[test]
fn the_monitor_flag_is_armed_and_restored() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = contended(&jdk)?;
        assert_eq!(jvm.flag(FLAG)?, "false");
        let session = Session::attach(jvm.pid(), &["-l", "locks"])?;
        assert_eq!(jvm.flag(FLAG)?, "true");
        session.stop()?;
        assert_eq!(jvm.flag(FLAG)?, "false", "on JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// Commands that only read, and sessions whose lenses need nothing but sites: the JVM's flags, code, descriptors and threads are what
/// they were, and it does not even listen for commands.
#[test]
fn what_only_reads_leaves_the_target_as_it_is() -> Result<()> {
    const FLAGS: [&str; 3] = [FLAG, "DTraceMethodProbes", "DTraceAllocProbes"];
    for jdk in jdk::oldest_and_newest()? {
        let mut jvm = contended(&jdk)?;
        let enters = jvm.work()?.get("contended_enters")?;
        let pid = jvm.pid();
        let text = pid.to_string();
        let (before, listeners) = (left::Left::settled(pid)?, listeners(pid)?);
        for words in [
            &["list"][..],
            &["doctor", &text],
            &["probes", &text],
            &["threads", &text],
            &["top", "-d", "2s"],
            &["attach", &text, "--explain"],
            &["attach", &text, "-l", "gc,safepoint,classes,jit,cpu", "-d", "500ms", "--json"],
            &["jni", &text, "-d", "500ms", "--json"],
            &["methods", &text, "-I", "Locks::*", "--arm", "off", "-d", "500ms", "--json"],
        ] {
            // What a session cannot see here is its own matter.
            jtrace::run(words)?;
            left::is_clean(pid)?;
            let after = left::Left::settled(pid)?;
            ensure!(after == before, "{words:?}: {:?}", after.beyond(&before));
            ensure!(self::listeners(pid)? == listeners, "{words:?} had the JVM listen");
        }
        assert_eq!(jvm.work()?.get("contended_enters")?, enters);
        for flag in FLAGS {
            ensure!(jvm.flag(flag)? == "false", "{flag} is up");
        }
        jvm.finish()?;
    }
    Ok(())
}

/// Threads that take commands in a JVM: one, or none where nobody has given any.
fn listeners(pid: u32) -> Result<usize> {
    left::threads_named(pid, "Attach Listen")
}

#[test]
fn a_flag_that_the_user_set_is_left_alone() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "20"]);
    let mut jvm = launch.flags(&["-XX:+DTraceMonitorProbes"]).start()?;
    Session::attach(jvm.pid(), &["-l", "locks"])?.stop()?;
    assert_eq!(jvm.flag(FLAG)?, "true");
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_killed_jtrace_leaves_the_target_running_and_the_next_start_restores_it() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = contended(&jdk)?;
        let mut session = Session::attach(jvm.pid(), &["-l", "locks"])?;
        // Nobody restores it as long as its owner lives; afterwards any jtrace of this machine may.
        assert_eq!(jvm.flag(FLAG)?, "true");
        jvm.go()?;
        session.process().signal(Signal::KILL)?;
        session.process().wait(jtrace::LIMIT)?;
        assert_eq!(jvm.done()?.get("contended_enters")?, 200);
        // What takes longer than `list` waits for goes on by itself.
        jtrace::succeed(&["list"])?;
        until_true("the flag is restored", || Ok(jvm.flag(FLAG)? == "false"))?;
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_jtrace_killed_at_any_moment_leaves_the_target_running() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    // Each line on stderr, and then the end of the session, is another moment: before, while and after arming.
    for moment in 0..6 {
        let mut process =
            tests::process::Process::spawn(&mut jtrace::command(&["attach", &jvm.pid().to_string(), "--json"])?)?;
        match moment {
            0 => {}
            1 => drop(process.stderr.wait_for_line("", 0, jtrace::LIMIT)?),
            2 | 3 => drop(process.stderr.wait_for_line("attached", 0, jtrace::LIMIT)?),
            _ => {
                process.stderr.wait_for_line("attached", 0, jtrace::LIMIT)?;
                process.signal(Signal::INT)?;
            }
        }
        let _ = process.signal(Signal::KILL);
        process.wait(jtrace::LIMIT)?;
        assert_eq!(jvm.work()?.get("contended_enters")?, 200);
    }
    jtrace::succeed(&["list"])?;
    until_true("the flag is restored", || Ok(jvm.flag(FLAG)? == "false"))?;
    jvm.finish()?;
    Ok(())
}

#[test]
fn sigterm_and_sighup_end_a_session_as_ctrl_c_does() -> Result<()> {
    for signal in [Signal::TERM, Signal::HUP] {
        let jvm = contended(&jdk::any()?)?;
        let mut session = Session::attach(jvm.pid(), &["-l", "locks"])?;
        session.process().signal(signal)?;
        session.process().wait(jtrace::LIMIT)?;
        assert_eq!(jvm.flag(FLAG)?, "false", "after {signal:?}");
    }
    Ok(())
}

#[test]
fn the_exit_of_the_target_ends_the_report() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = contended(&jdk)?;
        let session = Session::attach(jvm.pid(), &[])?;
        jvm.work()?;
        jvm.finish()?;
        let report = session.final_report()?;
        assert_eq!(report.end(), "target exited");
        assert_eq!(report.summary("locks", "contended_enters")?, 200);
    }
    Ok(())
}

#[test]
fn a_crash_of_the_target_ends_the_report() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = contended(&jdk)?;
        let session = Session::attach(jvm.pid(), &[])?;
        jvm.work()?;
        jvm.kill()?;
        let report = session.final_report()?;
        assert_eq!(report.end(), "target exited");
        assert_eq!(report.summary("locks", "contended_enters")?, 200);
    }
    Ok(())
}

#[test]
fn an_exec_of_the_target_ends_the_report() -> Result<()> {
    let Some(jdk) = jdk::all()?.into_iter().find(|jdk| jdk.release >= 22) else {
        println!("skipped: no JDK with java.lang.foreign");
        return Ok(());
    };
    let mut jvm = Launch::new(&jdk, "exec", "Exec").flags(&["--enable-native-access=ALL-UNNAMED"]).start()?;
    let session = Session::attach(jvm.pid(), &[])?;
    jvm.go()?;
    let report = session.final_report()?;
    assert_eq!(report.end(), "target replaced its program");
    // The program that took the JVM's place is left in peace.
    jvm.process().send_line("still here")?;
    jvm.stdout().wait_for_line("still here", 0, jtrace::LIMIT)?;
    Ok(())
}

#[test]
fn a_signal_right_after_arming_does_not_leave_the_flag_armed() -> Result<()> {
    let jvm = contended(&jdk::any()?)?;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut process =
            tests::process::Process::spawn(&mut jtrace::command(&["attach", &jvm.pid().to_string(), "--json"])?)?;
        // The moment of arming shows in the journal, which is written before the flag.
        until_true("jtrace arms or ends", || Ok(!process.is_running() || owns_a_change(process.pid())))?;
        process.signal(signal)?;
        let status = process.wait(jtrace::LIMIT)?;
        assert!(status.success(), "{signal:?} ended it with {status}: {}", process.transcript());
        assert_eq!(jvm.flag(FLAG)?, "false", "after {signal:?}");
    }
    Ok(())
}

/// Whether the undo journal names a process as an owner of a change.
fn owns_a_change(pid: u32) -> bool {
    let files = fs::read_dir("/run/jtrace").into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).any(|text| text.contains(&pid.to_string()))
}

#[test]
fn the_death_of_one_jtrace_leaves_the_other_its_probes() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let mut first = Session::attach(jvm.pid(), &["-l", "locks"])?;
    let second = Session::attach(jvm.pid(), &["-l", "locks"])?;
    first.process().signal(Signal::KILL)?;
    first.process().wait(jtrace::LIMIT)?;
    jtrace::succeed(&["list"])?;
    assert_eq!(jvm.flag(FLAG)?, "true", "the second one needs it");
    jvm.work()?;
    assert_eq!(second.report()?.summary("locks", "contended_enters")?, 200);
    assert_eq!(jvm.flag(FLAG)?, "false");
    jvm.finish()?;
    Ok(())
}

#[test]
fn two_jtraces_on_one_jvm_both_count_everything() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let first = Session::attach(jvm.pid(), &["-l", "locks"])?;
    let second = Session::attach(jvm.pid(), &["-l", "locks"])?;
    jvm.work()?;
    let report = first.report()?;
    assert_eq!(report.summary("locks", "contended_enters")?, 200);
    // The first one's end must not switch the second one's probes off.
    jvm.work()?;
    let report = second.report()?;
    assert_eq!(report.summary("locks", "contended_enters")?, 400);
    assert_eq!(jvm.flag(FLAG)?, "false");
    jvm.finish()?;
    Ok(())
}

/// `JTRACE_ATTACHMENTS` says how often.
#[test]
fn attaching_and_detaching_many_times_leaves_nothing_in_the_target() -> Result<()> {
    let times = number("JTRACE_ATTACHMENTS")?.unwrap_or(20);
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    Session::attach(jvm.pid(), &[])?.report()?;
    let before = settled(jvm.pid())?;
    for _ in 0..times {
        Session::attach(jvm.pid(), &[])?.report()?;
    }
    left::is_clean(jvm.pid())?;
    let after = settled(jvm.pid())?;
    ensure!(after == before, "{after:?} and not {before:?}");
    jvm.finish()?;
    Ok(())
}

/// What a session could leave in a process: open files, threads, mappings of files and of uprobes.
type Left = (usize, usize, Vec<String>);

/// The same, once two looks have found it equal: a JVM starts compiler threads when it likes.
fn settled(pid: u32) -> Result<Left> {
    let mut before = None;
    until("the JVM's threads, files and mappings stay as they are", || {
        let now = left(pid)?;
        let same = before.as_ref() == Some(&now);
        before = Some(now.clone());
        Ok(same.then_some(now))
    })
}

fn left(pid: u32) -> Result<Left> {
    let files = fs::read_dir(format!("/proc/{pid}/fd"))?.count();
    let threads = fs::read_dir(format!("/proc/{pid}/task"))?.count();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let named = maps.lines().filter(|line| line.contains('/')).map(str::to_owned).collect();
    Ok((files, threads, named))
}
