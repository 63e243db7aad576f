//! Arming of method probes: flags go up and come back, what is not covered is named, and reading the code tells the truth.
//!
//! No command arms methods yet, so the library is asked; a second copy of this test program is what gets killed.

use std::{
    env,
    io::Read,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::{Jvm, Launch},
    patience::{PATIENCE, until_true},
    process::{Process, Signal},
};
use tracer_jvm::jvm::{
    arming::{
        self, ArmMode, Outcome, Wish,
        coverage::{Interpreter, Probes, Verdict},
        recompile,
        snapshot::{Compilation, Name, Snapshot},
    },
    attach_protocol::{self, Attachment},
    find,
    flags::{arm, located::JvmTables},
    journal::Journal,
    target_files,
};

const FLAG: &str = "DTraceMethodProbes";
const CHOSEN: &str = "Arming$Chosen";
const OTHER: &str = "Arming$Other";
/// How the copy of this program that is killed knows what to do: pid, journal and mode.
const HOLD: &str = "JTRACE_TEST_HOLD";

fn launch(jdk: &Jdk) -> Launch {
    // What reaches the JVM's files is jtrace itself, and not this program.
    target_files::use_program(&jtrace::binary().expect("a jtrace"));
    Launch::new(jdk, "arming", "Arming").flags(&["-Xbatch"])
}

/// A journal of the test's own.
fn journal() -> Result<(tempfile::TempDir, Journal)> {
    let directory = tempfile::tempdir()?;
    let journal = Journal::at(directory.path().join("jtrace"));
    Ok((directory, journal))
}

fn chosen() -> Vec<String> {
    vec![CHOSEN.to_owned()]
}

fn wish(mode: ArmMode, classes: &[String]) -> Wish<'_> {
    Wish { mode, probes: Probes::Methods, classes }
}

fn name(class: &str, method: &str) -> Name {
    Name { class: class.to_owned(), method: method.to_owned(), signature: "(I)I".to_owned() }
}

/// The code that calls of a method go to.
fn entered<'a>(snapshot: &'a Snapshot, wanted: &Name) -> Result<&'a Compilation> {
    let found = snapshot.in_use().find(|code| code.name == *wanted && code.osr_bci.is_none());
    found.with_context(|| format!("{wanted:?} is not compiled"))
}

fn calls_at_entry(code: &Compilation) -> bool {
    code.calls.is_some_and(|calls| calls.entry)
}

/// Code of a class, alone or inlined, that calls at entry, and code that does not.
pub(crate) fn of_class(snapshot: &Snapshot, class: &str) -> (usize, usize) {
    let own = snapshot.in_use().filter(|code| code.osr_bci.is_none() && code.names().any(|name| name.class == class));
    let (calling, silent): (Vec<_>, Vec<_>) = own.partition(|code| calls_at_entry(code));
    (calling.len(), silent.len())
}

#[test]
fn the_method_flag_is_armed_restored_and_what_it_does_not_cover_is_named() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = launch(&jdk).start()?;
        let (_directory, journal) = journal()?;
        let target = find::Jvm::open(jvm.pid())?;
        assert_eq!(jvm.flag(FLAG)?, "false");
        let armed = arming::arm(&journal, &target, wish(ArmMode::Flag, &[]))?;
        assert_eq!(armed.outcome, Outcome::Flag(None));
        assert_eq!(jvm.flag(FLAG)?, "true");
        jvm.work()?;

        let coverage = armed.coverage(&target)?;
        for method in ["step", "inner"] {
            let Some(Verdict::NotCovered(silent)) = coverage.methods.get(&name(CHOSEN, method)) else {
                bail!("JDK {}: {method} was compiled before arming and is not named", jdk.release);
            };
            let own = silent.iter().find(|silent| !silent.inlined && silent.before).context("not its own code")?;
            assert_eq!((own.level, coverage.is_covered(own.code.compile_id)), (4, Some(false)));
        }
        let expected = if jdk.release < 24 { Interpreter::WhileArmed } else { Interpreter::Never };
        assert_eq!((coverage.interpreter, coverage.by_code), (expected, true), "JDK {}", jdk.release);

        let left = armed.disarm(&target)?;
        assert!(!left.contains(&name(CHOSEN, "step")), "it kept the code it had");
        assert_eq!(jvm.flag(FLAG)?, "false", "JDK {}", jdk.release);
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn reading_the_code_agrees_with_how_the_jvm_was_started() -> Result<()> {
    for jdk in jdk::all()? {
        for flag in ["-XX:+DTraceMethodProbes", "-XX:-DTraceMethodProbes"] {
            let started = flag.contains('+');
            let mut jvm = launch(&jdk).flags(&[flag]).start()?;
            let now = Snapshot::take(&find::Jvm::open(jvm.pid())?)?;
            let java: Vec<_> = now.in_use().filter(|code| !code.native && code.osr_bci.is_none()).collect();
            let wrong: Vec<_> = java.iter().filter(|code| calls_at_entry(code) != started).collect();
            assert!(wrong.is_empty(), "JDK {} {flag}: {} of {}: {wrong:?}", jdk.release, wrong.len(), java.len());
            assert!(java.len() > 30, "JDK {} {flag}: only {}", jdk.release, java.len());
            assert_eq!(calls_at_entry(entered(&now, &name(CHOSEN, "step"))?), started);
            // Wrappers of native methods ask the flag each time up to 23, and are built by it later.
            let natives = now.in_use().filter(|code| code.native && !code.is_glue());
            let wrong: Vec<_> = natives.filter(|code| calls_at_entry(code) != (started || jdk.release < 24)).collect();
            assert!(wrong.is_empty(), "JDK {} {flag}: {wrong:?}", jdk.release);
            let interpreter = now.interpreter.context("no symbols")?;
            assert_eq!(interpreter.entry, started || jdk.release < 24, "JDK {} {flag}", jdk.release);
            assert_eq!(now.unread, 0, "JDK {} {flag}", jdk.release);
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn recompiling_makes_the_chosen_class_call_and_no_other_and_is_taken_back() -> Result<()> {
    for jdk in jdk::all()?.iter().filter(|jdk| jdk.release >= recompile::SINCE) {
        let mut jvm = launch(jdk).start()?;
        let (_directory, journal) = journal()?;
        let target = find::Jvm::open(jvm.pid())?;
        let before = Snapshot::take(&target)?;
        assert_eq!(of_class(&before, CHOSEN).0, 0);
        let others = entered(&before, &name(OTHER, "step"))?.code;

        let armed = arming::arm(&journal, &target, wish(ArmMode::Recompile, &chosen()))?;
        let Outcome::Recompiled { missing: 0, also, .. } = &armed.outcome else { bail!("{:?}", armed.outcome) };
        assert!(also.iter().all(|name| name.class != CHOSEN && name.class != OTHER), "{also:?}");
        assert_eq!(jvm.flag(FLAG)?, "false", "the flag is up only while the class is compiled");
        let now = Snapshot::take(&target)?;
        for method in ["step", "inner"] {
            assert!(calls_at_entry(entered(&now, &name(CHOSEN, method))?), "{method}");
        }
        let other = entered(&now, &name(OTHER, "step"))?;
        assert_eq!((other.code, calls_at_entry(other)), (others, false), "the other class keeps its code");
        // A caller that is compiled after the flag went down may inline it again; that, and nothing else, is named.
        if let Verdict::NotCovered(silent) = &armed.coverage(&target)?.methods[&name(CHOSEN, "step")] {
            assert!(silent.iter().all(|silent| silent.inlined && !silent.before), "{silent:?}");
        }

        let left = armed.disarm(&target)?;
        let own = left.iter().filter(|name| name.class.starts_with("Arming"));
        assert_eq!(own.count(), 0, "neither the class nor those it was inlined into go on calling: {left:?}");
        jvm.work()?;
        let after = Snapshot::take(&target)?;
        assert_eq!(of_class(&after, CHOSEN).0, 0, "no code of the class calls any more");
        assert_eq!(entered(&after, &name(OTHER, "step"))?.code, others);
        assert!(jvm.jcmd(&["JFR.check"])?.contains("No available recordings"), "no recording goes on");
        let directory = std::fs::read_dir(format!("/proc/{}/cwd", jvm.pid()))?.flatten();
        let recorded = directory.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jfr"));
        assert_eq!(recorded.count(), 0, "no file is left");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn where_recompiling_is_not_possible_it_is_refused_or_replaced_by_the_flag() -> Result<()> {
    for jdk in jdk::all()?.iter().filter(|jdk| jdk.release < recompile::SINCE) {
        let mut jvm = launch(jdk).start()?;
        let (_directory, journal) = journal()?;
        let target = find::Jvm::open(jvm.pid())?;
        let Err(error) = arming::arm(&journal, &target, wish(ArmMode::Recompile, &chosen())) else {
            bail!("JDK {} recompiled", jdk.release);
        };
        assert!(matches!(error, arming::Error::Recompile(recompile::Error::Release(_))) && error.hint().is_some());
        assert_eq!(jvm.flag(FLAG)?, "false");
        let armed = arming::arm(&journal, &target, wish(ArmMode::Auto, &chosen()))?;
        assert!(matches!(&armed.outcome, Outcome::Flag(Some(reason)) if reason.contains("JDK 25")));
        assert_eq!(jvm.flag(FLAG)?, "true");
        drop(armed);
        assert_eq!(jvm.flag(FLAG)?, "false");
        jvm.finish()?;
    }
    Ok(())
}

/// Not a test of its own: what the tests start, and kill.
#[test]
fn held_until_killed() -> Result<()> {
    let Ok(what) = env::var(HOLD) else { return Ok(()) };
    let [pid, place, mode] = what.splitn(3, ' ').collect::<Vec<_>>()[..] else { bail!("{HOLD}={what}") };
    let mode = if mode == "recompile" { ArmMode::Recompile } else { ArmMode::Flag };
    // What reaches the target's files is a jtrace, and this program is none.
    target_files::use_program(&jtrace::binary()?);
    let target = find::Jvm::open(pid.parse()?)?;
    let armed = arming::arm(&Journal::at(place), &target, wish(mode, &chosen()))?;
    println!("HELD {:?}", armed.outcome);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(armed);
    Ok(())
}

/// A process that has armed a JVM.
fn holder(jvm: &Jvm, place: &std::path::Path, mode: &str) -> Result<Process> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["--exact", "arming::held_until_killed", "--nocapture"]);
    command.env(HOLD, format!("{} {} {mode}", jvm.pid(), place.display())).stdin(Stdio::piped());
    let process = Process::spawn(&mut command)?;
    process.stdout.wait_for_line("HELD", 0, jtrace::LIMIT).with_context(|| process.transcript())?;
    Ok(process)
}

#[test]
fn what_a_killed_owner_left_is_undone_by_the_next() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = launch(&jdk).start()?;
        let directory = tempfile::tempdir()?;
        let place = directory.path().join("jtrace");
        let journal = Journal::at(&place);
        let target = find::Jvm::open(jvm.pid())?;
        let recompiles = jdk.release >= recompile::SINCE;
        let mut holder = holder(&jvm, &place, if recompiles { "recompile" } else { "flag" })?;
        holder.signal(Signal::KILL)?;
        holder.wait(jtrace::LIMIT)?;
        if recompiles {
            assert!(of_class(&Snapshot::take(&target)?, CHOSEN).0 > 0, "the code that calls outlives its owner");
        } else {
            assert_eq!(jvm.flag(FLAG)?, "true");
        }
        jvm.work()?;

        arm::recover(&journal, &JvmTables)?;
        let undone = arming::recover(&journal)?;
        assert_eq!(undone.len(), usize::from(recompiles));
        for arming::Recovered { target, undone } in undone {
            assert_eq!(target.pid, jvm.pid());
            undone?;
        }
        jvm.work()?;
        assert_eq!(jvm.flag(FLAG)?, "false", "JDK {}", jdk.release);
        if recompiles {
            assert_eq!(of_class(&Snapshot::take(&target)?, CHOSEN).0, 0);
        }
        assert!(arming::recover(&journal)?.is_empty(), "nothing is left to undo");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_jvm_that_takes_no_commands_is_not_signalled() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = launch(&jdk).flags(&["-XX:+DisableAttachMechanism"]).start()?;
        let refused = Attachment::open(&find::Jvm::open(jvm.pid())?);
        assert!(matches!(refused, Err(attach_protocol::Error::Disabled(_))), "{refused:?}");
        jvm.finish()?;
        // This one listens from its start on, because the signal would end it.
        let mut jvm = launch(&jdk).flags(&["-Xrs"]).start()?;
        let target = find::Jvm::open(jvm.pid())?;
        let said = Attachment::open(&target)?.command("VM.version", jtrace::LIMIT)?;
        assert!(said.contains("JDK"), "{said}");
        std::fs::remove_file(format!("/tmp/.java_pid{}", jvm.pid()))?;
        let refused = Attachment::open(&target);
        assert!(matches!(refused, Err(attach_protocol::Error::NoSignal(_))), "{refused:?}");
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn code_that_allocates_calls_the_stub_where_the_jvm_was_started_so() -> Result<()> {
    for jdk in jdk::all()? {
        for flag in ["-XX:+DTraceAllocProbes", "-XX:-DTraceAllocProbes"] {
            let mut jvm = Launch::new(&jdk, "jit", "Jit").flags(&["-Xbatch", flag]).start()?;
            jvm.work()?;
            let now = Snapshot::take(&find::Jvm::open(jvm.pid())?)?;
            let java = || now.in_use().filter(|code| !code.native);
            let calling = java().filter(|code| code.calls.is_some_and(|calls| calls.allocation)).count();
            // How many of them allocate is the compilers' business; that some do is sure: texts are made.
            let text = java().filter(|code| code.name.class == "Jit" && code.name.method == "text");
            let texts = text.filter(|code| code.calls.is_some_and(|calls| calls.allocation)).count();
            assert_eq!(
                (calling > 0, texts > 0),
                (flag.contains('+'), flag.contains('+')),
                "JDK {} {flag}",
                jdk.release
            );
            jvm.finish()?;
        }
    }
    Ok(())
}

/// Stops a JVM, and waits until none of its threads runs any more: one that does could still answer.
pub(crate) fn stop(jvm: &mut Jvm) -> Result<()> {
    jvm.process().signal(Signal::STOP)?;
    let tasks = format!("/proc/{}/task", jvm.pid());
    until_true("every thread has stopped", || {
        let stats = std::fs::read_dir(&tasks)?.flatten().map(|task| std::fs::read_to_string(task.path().join("stat")));
        // One that is gone meanwhile does not run either.
        Ok(stats.flatten().all(|stat| stat.contains(") T ")))
    })
}

#[test]
fn a_stopped_jvm_is_refused_at_once_and_one_that_stops_later_is_not_waited_for() -> Result<()> {
    let mut jvm = launch(&jdk::any()?).start()?;
    let target = find::Jvm::open(jvm.pid())?;
    stop(&mut jvm)?;
    let refused = Attachment::open(&target);
    jvm.process().signal(Signal::CONT)?;
    assert!(matches!(refused, Err(attach_protocol::Error::Stopped(_))), "{refused:?}");
    let attachment = Attachment::open(&target)?;
    stop(&mut jvm)?;
    let unanswered = attachment.command("VM.version", Duration::from_secs(30));
    jvm.process().signal(Signal::CONT)?;
    assert!(matches!(unanswered, Err(attach_protocol::Error::Stopped(_))), "{unanswered:?}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn commands_reach_jvms_here_and_in_containers_and_leave_no_file() -> Result<()> {
    for jdk in jdk::all()? {
        for container in [false, true] {
            let mut jvm = if container { launch(&jdk).start_in_container(&jdk)? } else { launch(&jdk).start()? };
            let target = find::Jvm::open(jvm.pid())?;
            let attachment = Attachment::open(&target)?;
            let said = attachment.command("VM.version", PATIENCE)?;
            ensure!(said.contains(&format!("JDK {}", jdk.release)), "JDK {} says {said}", jdk.release);
            let refused = attachment.command("No.such", PATIENCE);
            assert!(matches!(refused, Err(attach_protocol::Error::Refused { .. })), "{refused:?}");
            let request = format!("/proc/{}/root/tmp/.attach_pid{}", jvm.pid(), target.target.namespace_pid);
            assert!(!std::path::Path::new(&request).exists(), "{request}");
            jvm.finish()?;
        }
    }
    Ok(())
}
