//! Memory and files that a user serves herself, and that never answer: whoever waits for them waits for ever.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch},
    patience::{until, until_true},
    process::{Finished, Process, Signal},
    workspace,
};

use super::{UID, as_user};

/// A process of the user that holds up whoever reads its memory, or its command line, see `held_up.py`. It has a libjvm.so of its own in
/// its directory: nobody attaches to one that such a process has mapped as well.
pub(super) fn that_holds_up(kind: &str, directory: &Path) -> Result<Process> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    std::os::unix::fs::chown(directory, Some(UID), Some(UID))?;
    let (script, libjvm) = (directory.join("held_up.py"), directory.join("libjvm.so"));
    fs::copy(workspace().join("tests/fixtures/held_up.py"), &script)?;
    if !libjvm.exists() {
        fs::copy(jdk::any()?.libjvm(), &libjvm)?;
    }
    let mounted = directory.join("mounted");
    for made in [&mounted, &directory.join("mounted.layers")] {
        fs::create_dir_all(made)?;
    }
    let mut command = as_user();
    command.args(["unshare", "--user", "--map-root-user", "--mount", "python3"]);
    // Open to everybody, as distributions have the first, and some machines the second.
    command.env("FUSE", device("fuse", directory)?).env("USERFAULT", device("userfaultfd", directory)?);
    command.arg(script).arg(kind).arg(libjvm).arg(mounted);
    let process = Process::spawn(&mut command)?;
    process.stdout.wait_for_line("READY", 0, jtrace::LIMIT).with_context(|| process.transcript())?;
    Ok(process)
}

/// A device that everybody may open, by the name that the kernel has for it.
pub(super) fn device(name: &str, directory: &Path) -> Result<PathBuf> {
    let all = fs::read_to_string("/proc/misc")?;
    let number = all.lines().find_map(|line| line.trim().strip_suffix(name)).with_context(|| format!("no {name}"))?;
    let path = directory.join(name);
    let made = Command::new("mknod").args(["-m", "666"]).arg(&path).args(["c", "10", number.trim()]).status()?;
    ensure!(made.success(), "mknod failed");
    Ok(path)
}

/// Runs jtrace beside such a process. What is still held up when that process has ended would have been so for ever.
fn beside(process: &Process, arguments: &[&str]) -> Result<Finished> {
    let finished = jtrace::run(arguments)?;
    ensure!(process.is_running(), "{}", process.transcript());
    Ok(finished)
}

/// Commands that look into a process before anything else; its pid comes behind the first word.
const OF_ONE: [&[&str]; 11] = [
    &["doctor"],
    &["attach", "-d", "1s", "--json"],
    &["record", "-d", "1s", "-o", "/nowhere/x.jtrace"],
    &["methods", "-I", "A::*", "-d", "1s", "--json"],
    &["calls", "--lane", "inside", "-I", "A::*", "-d", "1s", "--json"],
    &["markers", "--marker", "all=A::*", "-d", "1s", "--json"],
    &["heap", "--json"],
    &["leaks", "-d", "1s", "-n", "2", "--json"],
    &["perf-map"],
    &["probes"],
    &["threads"],
];

/// Runs each of them, all at the same time, as most of it is waiting.
fn all_of(process: &Process) -> Result<Vec<(&'static [&'static str], Finished)>> {
    let pid = process.pid().to_string();
    let start = |command: &'static [&'static str]| {
        let mut words = command.to_vec();
        words.insert(1, &pid);
        Process::spawn(&mut jtrace::command(&words)?)
    };
    let mut all = OF_ONE.iter().map(|command| start(command)).collect::<Result<Vec<_>>>()?;
    let mut finished = Vec::new();
    for (command, one) in OF_ONE.into_iter().zip(&mut all) {
        one.wait(jtrace::LIMIT)?;
        finished.push((command, Finished::from_process(one)?));
    }
    ensure!(process.is_running(), "{}", process.transcript());
    Ok(finished)
}

/// Whether a row of `list` is of a process that held up the one that looked.
fn is_left_behind(row: &Value) -> bool {
    row["problem"].as_str().is_some_and(|problem| problem.contains("was left behind"))
}

/// `top` has the figures of a JVM while another process holds up whoever looks into that one.
fn top_sees(process: &Process, pid: u32) -> Result<()> {
    until_true("`top` has figures of the JVM", || {
        let finished = beside(process, &["top", "-d", "2s", "--json"])?;
        let top: Value = serde_json::from_slice(&finished.stdout).with_context(|| finished.stderr.clone())?;
        let rows = top["jvms"].as_array().context("no JVMs")?;
        Ok(rows.iter().any(|row| row["pid"] == pid && row["reading"].is_object()))
    })
}

#[test]
fn memory_that_a_user_serves_herself_holds_nothing_up() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    for kind in ["memory", "arguments", "library"] {
        let directory = tempfile::tempdir()?;
        let process = that_holds_up(kind, directory.path())?;
        let pid = process.pid();
        let list: Value = serde_json::from_slice(&beside(&process, &["list", "--json"])?.stdout)?;
        let rows = list["jvms"].as_array().context("no list")?;
        let row = |pid: u32| rows.iter().find(|row| row["pid"] == pid);
        assert!(row(jvm.pid()).is_some_and(|row| row["problem"].is_null()), "{list}");
        let row = row(pid).with_context(|| format!("{kind}: not listed"))?;
        // What cannot be read is said, or stands under the name that the kernel knows.
        let is_named = if kind == "arguments" { row["command"] == "python3" } else { row["problem"].is_string() };
        assert!(is_named, "{kind}: {row}");
        // Nothing had to be left behind: it was not read in the first place. Processes of other tests may hold up the same look.
        assert!(!is_left_behind(row), "{kind}: {row}");
        for (command, finished) in all_of(&process)? {
            // The library is a real one, so what needs nothing else can be answered.
            assert!(kind == "arguments" || finished.code == 1, "{command:?}: {}", finished.text());
        }
        top_sees(&process, jvm.pid())?;
    }
    jvm.finish()?;
    Ok(())
}

/// How often it is tried: about one in ten is met at the wrong moment.
const TIMES: u32 = 20;

/// What is mapped there is asked before it is read, so a user who is quick enough still has jtrace wait for her. Who looks at all
/// processes leaves that one behind, and who attaches to it can leave.
#[test]
fn memory_that_is_mapped_again_and_again_is_left_by_a_signal() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let directory = tempfile::tempdir()?;
    let process = that_holds_up("race", directory.path())?;
    let pid = process.pid().to_string();
    let mut waited = 0;
    for _ in 0..TIMES {
        let list: Value = serde_json::from_slice(&beside(&process, &["list", "--json"])?.stdout)?;
        let rows = list["jvms"].as_array().context("no list")?;
        ensure!(rows.iter().any(|row| row["pid"] == jvm.pid() && row["problem"].is_null()), "{list}");
        let mut attaching = Process::spawn(&mut jtrace::command(&["attach", &pid, "-d", "10ms", "--json"])?)?;
        let is_held_up = until("it has ended, or waits for memory of the target", || {
            let waits = !attaching.is_running() || waits_for_memory(attaching.pid());
            Ok(waits.then(|| attaching.is_running()))
        })?;
        if is_held_up {
            waited += 1;
            // Two at once can be one by the time that they arrive.
            until("it has left", || {
                // It may have ended since.
                let _ = attaching.signal(Signal::TERM);
                Ok((!attaching.is_running()).then_some(()))
            })?;
        }
        attaching.wait(jtrace::LIMIT)?;
        let said = attaching.stderr.text();
        ensure!(!said.contains("panicked"), "{said}");
    }
    println!("{waited} of {TIMES} sessions waited for memory of the target until they were told to end");
    jvm.finish().map(drop)
}

/// Whether a process is in the call that reads memory of another one (`process_vm_readv`), and the kernel has let it sleep.
fn waits_for_memory(pid: u32) -> bool {
    let text = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    text("syscall").starts_with("310 ") && text("stat").rsplit(") ").next().is_some_and(|rest| rest.starts_with('D'))
}

/// Another process of hers reads a page that never comes, and so has the lock of the address space. No look at it stays behind.
#[test]
fn an_address_space_whose_lock_is_kept_holds_up_one_look_and_no_more() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut process = that_holds_up("locked", directory.path())?;
    process.send_line("")?;
    process.stdout.wait_for_line("LOCKED", 0, jtrace::LIMIT)?;
    for (command, finished) in all_of(&process)? {
        ensure!(finished.code == 1, "{command:?}: {}{}", finished.text(), finished.stderr);
    }
    let pid = process.pid();
    let looks = format!("\0look-apart\0{pid}\0--only\0");
    until_true("nobody looks any more", || {
        let all = fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
        // Whoever reads the command line of such a process waits as well.
        let own = all.filter(|path| fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "jtrace"));
        let mut lines = own.filter_map(|path| fs::read(path.join("cmdline")).ok());
        Ok(!lines.any(|line| String::from_utf8_lossy(&line).ends_with(&looks)))
    })
}

/// For each site the kernel takes the lock of every process that has the file mapped, and no signal ends a wait for that; nobody could
/// start a process meanwhile. So nothing is attached where another one has it mapped beside a file that a user serves.
#[test]
fn nothing_is_attached_where_a_process_beside_the_target_could_hold_up_the_kernel() -> Result<()> {
    const MOUNTS: &str = "mount --bind \"$0\" ";
    let jdk = jdk::any()?;
    for kind in ["shared", "layered"] {
        let directory = tempfile::tempdir()?;
        let mut process = that_holds_up(kind, directory.path())?;
        // It has the copy of this test, so that no other test is refused as well.
        let launch = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]);
        let libjvm = super::from_elsewhere(vec![jdk.libjvm().into_os_string()]);
        let mounts = format!("{MOUNTS}{}", libjvm[0].to_string_lossy());
        let mut jvm = super::with_mounts(&launch, &directory.path().join("libjvm.so"), &mounts)?;
        let (pid, of_other) = (jvm.pid().to_string(), format!("process {} has the same file mapped", process.pid()));
        for words in [
            &["attach", &pid, "-d", "1s", "--json"][..],
            &["methods", &pid, "-I", "Locks::*", "-d", "1s", "--json"],
            &["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--json"],
        ] {
            let said = jtrace::refuse(words, 1)?;
            ensure!(said.contains(&of_other), "{kind}, {words:?}: {said}");
        }
        // What attaches nothing does not mind.
        jtrace::succeed(&["threads", &pid])?;
        process.signal(Signal::KILL)?;
        process.wait(jtrace::LIMIT)?;
        jtrace::succeed(&["attach", &pid, "-d", "100ms", "--json"])?;
        jvm.finish()?;
    }
    Ok(())
}

/// Memory without a file can wait for a program as well, where users may have that (`/dev/userfaultfd`).
#[test]
fn memory_that_a_program_of_hers_never_hands_out_holds_up_one_look_and_no_more() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let process = that_holds_up("handed", directory.path())?;
    let pid = process.pid();
    let list: Value = serde_json::from_slice(&beside(&process, &["list", "--json"])?.stdout)?;
    let row = list["jvms"].as_array().context("no list")?.iter().find(|row| row["pid"] == pid);
    ensure!(row.is_some_and(is_left_behind), "{list}");
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    top_sees(&process, jvm.pid())?;
    jvm.finish()?;
    for (command, finished) in all_of(&process)? {
        ensure!(finished.code == 1, "{command:?}: {}{}", finished.text(), finished.stderr);
    }
    Ok(())
}

/// A JVM of the user with a file system of hers at `/tmp`, which answers nobody. She alone may use it, and who becomes her does.
pub(crate) fn with_a_silent_tmp(directory: &Path, launch: &Launch) -> Result<Jvm> {
    let fuse = device("fuse", directory)?;
    let own = tempfile::tempdir()?;
    let words = super::from_elsewhere(launch.command(own.path()));
    let mut command = Command::new("unshare");
    command.args(["--mount", "python3"]).arg(workspace().join("tests/fixtures/held_up.py")).env("FUSE", fuse);
    command.args(["tmp", &UID.to_string(), super::ELSEWHERE]).args(words).current_dir("/");
    launch.start_by(&mut command, own)
}

#[test]
fn a_tmp_that_a_user_serves_herself_is_given_up_and_named() -> Result<()> {
    let directory = tempfile::tempdir()?;
    // It would have its counters there.
    let launch =
        Launch::new(&jdk::any()?, "locks", "Locks").flags(&["-XX:-UsePerfData"]).arguments(&["contended", "5"]);
    let mut outer = with_a_silent_tmp(directory.path(), &launch)?;
    let pid = java_below(outer.pid())?.to_string();
    let start = |words: &[&str]| Process::spawn(&mut jtrace::command(words)?);
    // All at the same time, as each waits until its limit.
    let mut all = [
        start(&["perf-map", &pid])?,
        start(&["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--text"])?,
        start(&["heap", &pid])?,
        start(&["leaks", &pid, "-d", "1s", "-n", "2"])?,
        start(&["methods", &pid, "--lane", "inside", "-I", "Locks::*", "-d", "1s", "--json"])?,
    ];
    for process in &mut all {
        process.wait(jtrace::LIMIT)?;
        let finished = Finished::from_process(process)?;
        ensure!(finished.code == 1, "{}", process.transcript());
        ensure!(finished.stderr.contains("does not answer within 5 s"), "{}", process.transcript());
        ensure!(finished.stderr.contains("was left behind"), "{}", process.transcript());
    }
    // What needs nothing there does not notice.
    jtrace::succeed(&["attach", &pid, "-d", "1s", "--json"])?;
    jtrace::succeed(&["threads", &pid])?;
    outer.finish().map(drop)
}

/// The JVM that a process has started, beside the one that serves.
pub(crate) fn java_below(parent: u32) -> Result<u32> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
    for pid in children.split_whitespace().filter_map(|word| word.parse().ok()) {
        if fs::read_to_string(format!("/proc/{pid}/comm"))?.trim() == "java" {
            return Ok(pid);
        }
    }
    bail!("process {parent} has no JVM among {children}")
}
