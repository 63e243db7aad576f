//! What changes in a target for as long as a session lasts: what the table of `docs/security.md` names, and nothing else.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
};
use tracer_jvm::jvm::{arming::recompile, find};

use crate::{deaths::left, ending::FLAGS};

/// What x86-64 runs in place of an instruction at which it is to stop.
const BREAKPOINT: u8 = 0xcc;

/// The code of a JVM is that of its file but for one byte at each site that the report lists.
#[test]
fn nothing_but_sites_has_a_breakpoint_while_a_session_lasts() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let mut jvm = Launch::new(&jdk, "idle", "Idle").start()?;
        let session = Session::attach(jvm.pid(), &["-l", "gc,safepoint,classes,jit"])?;
        let changed = left::changed_code(jvm.pid())?;
        let report = session.report()?;
        ensure!(!changed.is_empty() && changed.values().all(|byte| *byte == BREAKPOINT), "{changed:x?}");
        let sites = report.sites("");
        let sites: BTreeSet<u64> =
            sites.iter().filter_map(|site| site["offset"].as_u64()).filter(|at| *at > 0).collect();
        let changed: BTreeSet<u64> = changed.into_keys().collect();
        ensure!(changed == sites, "on JDK {} {changed:x?} and not {sites:x?}", jdk.release);
        left::is_clean(jvm.pid())?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_session_raises_the_flag_that_its_lenses_need_and_no_other() -> Result<()> {
    let [monitors, methods, objects] = FLAGS.map(Some);
    let jdk = jdk::all()?.into_iter().find(|jdk| jdk.release == 17).context("no JDK 17")?;
    let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let pid = jvm.pid().to_string();
    for (words, raised) in [
        (&["attach"][..], monitors),
        (&["attach", "-l", "gc,jit,jni"], None),
        (&["typestate", "-p", "waitunnotified"], monitors),
        (&["typestate", "-p", "lockorder"], monitors),
        (&["typestate", "-p", "jniframes"], None),
        (&["methods", "-I", "Locks::*"], methods),
        (&["calls", "-I", "Locks::*"], methods),
        (&["methods", "-I", "Locks::*", "--arm", "off"], None),
        (&["alloc", "-I", "Locks*"], objects),
        (&["jni"], None),
    ] {
        let (command, rest) = words.split_first().context("no command")?;
        let words: Vec<&str> = [*command, &pid].into_iter().chain(rest.iter().copied()).chain(["--json"]).collect();
        let session = Session::start(&words)?;
        let up = |name: &str| Ok::<_, anyhow::Error>(jvm.flag(name)? == "true");
        for flag in FLAGS {
            ensure!(up(flag)? == (raised == Some(flag)), "{words:?}: {flag}");
        }
        session.stop()?;
        for flag in FLAGS {
            ensure!(!up(flag)?, "{flag} stays up after {words:?}");
        }
    }
    jvm.finish().map(drop)
}

/// Whoever asks a JVM for the first time has it start a thread, and later ones have not.
#[test]
fn a_jvm_begins_to_listen_at_the_first_request_with_one_thread_and_goes_on() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let mut jvm = Launch::new(&jdk, "idle", "Idle").start()?;
        let pid = jvm.pid().to_string();
        let mut counts = vec![left::threads_named(jvm.pid(), "Attach Listen")?];
        for _ in 0..2 {
            jtrace::succeed(&["markers", &pid, "--marker", "all=Idle::*", "-d", "100ms", "--json"])?;
            counts.push(left::threads_named(jvm.pid(), "Attach Listen")?);
        }
        ensure!(counts == [0, 1, 1], "{counts:?} on JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// What a JVM has loaded and runs, read without asking it for anything.
fn classes_and_threads(pid: u32) -> Result<(i64, usize)> {
    let jvm = find::Jvm::open(pid)?;
    let counters = jvm.counters.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?;
    let loaded = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];
    let classes = loaded.iter().filter_map(|name| counters.get_long(name)).sum();
    Ok((classes, std::fs::read_dir(format!("/proc/{pid}/task"))?.count()))
}

/// The flight recorder comes once, and a second session adds next to nothing.
#[test]
fn recompiling_leaves_the_recorder_in_the_jvm_once() -> Result<()> {
    for jdk in jdk::all()?.iter().filter(|jdk| jdk.release >= recompile::SINCE) {
        let flags = ["-Xbatch", "-XX:-UseDynamicNumberOfCompilerThreads"];
        let mut jvm = Launch::new(jdk, "arming", "Arming").flags(&flags).start()?;
        jvm.work()?;
        let pid = jvm.pid().to_string();
        let mut seen = vec![classes_and_threads(jvm.pid())?];
        for _ in 0..2 {
            let words = ["methods", &pid, "-I", "Arming$Chosen::*", "--arm", "recompile", "-d", "1s", "--json"];
            jtrace::succeed(&words)?;
            seen.push(classes_and_threads(jvm.pid())?);
        }
        let [before, once, twice] = seen[..] else { unreachable!("three looks") };
        let (classes, threads) = (once.0 - before.0, once.1.saturating_sub(before.1));
        println!("JDK {}: {classes} classes and {threads} threads stay", jdk.release);
        ensure!((700..=1300).contains(&classes) && (1..=6).contains(&threads), "{seen:?}");
        ensure!(twice.0 - once.0 < 100 && twice.1 <= once.1, "{seen:?}");
        jvm.finish()?;
    }
    Ok(())
}
