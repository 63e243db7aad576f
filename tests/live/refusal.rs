//! Wrong input gets one line of error and one of hint, the right exit code, and changes nothing.

use std::{fs, io, process::Command};

use anyhow::Result;
use tests::{
    jdk,
    jtrace::{self, Session, refuse},
    jvm::Launch,
    process::{Finished, Process},
};

/// Failed, as opposed to wrong usage.
const FAILED: i32 = 1;
/// Wrong usage.
const USAGE: i32 = 2;

fn ended_process() -> Result<Process> {
    let process = Process::spawn(&mut Command::new("true"))?;
    process.wait_for_zombie(jtrace::LIMIT)?;
    Ok(process)
}

#[test]
fn a_pid_without_a_process_is_refused() -> Result<()> {
    let mut process = ended_process()?;
    process.wait(jtrace::LIMIT)?;
    let pid = process.pid().to_string();
    for command in ["attach", "doctor", "probes"] {
        let said = refuse(&[command, &pid], FAILED)?;
        assert!(said.contains(&pid), "{said}");
    }
    Ok(())
}

#[test]
fn a_process_that_is_no_jvm_is_refused() -> Result<()> {
    let process = Process::spawn(&mut Command::new("cat"))?;
    let said = refuse(&["attach", &process.pid().to_string()], FAILED)?;
    assert!(said.contains("cat") || said.contains("JVM"), "{said}");
    Ok(())
}

#[test]
fn a_zombie_is_refused() -> Result<()> {
    let process = ended_process()?;
    let said = refuse(&["attach", &process.pid().to_string()], FAILED)?;
    assert!(said.contains("zombie"), "{said}");
    Ok(())
}

#[test]
fn a_jvm_that_is_not_hotspot_is_refused() -> Result<()> {
    // Another library of the same name, as other vendors' JVMs have it.
    let directory = tempfile::tempdir()?;
    let library = directory.path().join("libjvm.so");
    fs::copy("/lib/x86_64-linux-gnu/libm.so.6", &library)?;
    let mut process = Process::spawn(Command::new("cat").env("LD_PRELOAD", &library))?;
    process.send_line("loaded")?;
    process.stdout.wait_for_line("loaded", 0, jtrace::LIMIT)?;
    let said = refuse(&["attach", &process.pid().to_string()], FAILED)?;
    assert!(said.contains("HotSpot"), "{said}");
    Ok(())
}

/// `OpenJ9` has a libjvm.so as well, which leads to the JVM itself.
#[test]
fn openj9_is_refused_by_its_name() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let libraries = ["libjvm.so", "libj9vm29.so"].map(|name| directory.path().join(name));
    for library in &libraries {
        fs::copy("/lib/x86_64-linux-gnu/libm.so.6", library)?;
    }
    let preloaded = libraries.map(|library| library.to_string_lossy().into_owned()).join(" ");
    let mut process = Process::spawn(Command::new("cat").env("LD_PRELOAD", preloaded))?;
    process.send_line("loaded")?;
    process.stdout.wait_for_line("loaded", 0, jtrace::LIMIT)?;
    let pid = process.pid().to_string();
    for command in ["attach", "threads"] {
        let said = refuse(&[command, &pid], FAILED)?;
        assert!(said.contains("OpenJ9") && said.contains("HotSpot"), "jtrace {command}: {said}");
    }
    Ok(())
}

#[test]
fn an_unknown_lens_is_refused_with_the_nearest_names() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let said = refuse(&["attach", &jvm.pid().to_string(), "-l", "lock"], USAGE)?;
    assert!(said.contains("'lock'") && said.contains("did you mean locks?"), "{said}");
    Ok(())
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_measuring() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = jvm.pid().to_string();
    for path in ["/nonexistent/x.json", "/proc/x.json", "/"] {
        let finished = jtrace::run(&["attach", &pid, "-o", path])?;
        assert!(!finished.stderr.contains("attached"), "it measured first: {}", finished.stderr);
        jtrace::refused(&finished, if path == "/" { USAGE } else { FAILED })?;
    }
    let said = refuse(&["attach", &pid, "-o", "x.docx"], USAGE)?;
    assert!(said.contains(".docx") && said.contains(".json"), "{said}");
    Ok(())
}

#[test]
fn a_duration_of_nothing_is_refused() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = jvm.pid().to_string();
    for duration in ["0", "0s", "-1s", "soon", "99999999999999999999s"] {
        let said = refuse(&["attach", &pid, &format!("--duration={duration}")], USAGE)?;
        assert!(said.contains(duration), "{said}");
    }
    Ok(())
}

#[test]
fn recordings_that_are_none_or_newer_are_refused() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    fs::write(path("empty.jtrace"), b"")?;
    fs::write(path("foreign.jtrace"), fs::read("/bin/true")?)?;
    fs::write(path("text.jtrace"), "not a recording\n".repeat(100))?;
    for name in ["empty.jtrace", "foreign.jtrace", "text.jtrace", "missing.jtrace"] {
        let said = refuse(&["report", &path(name)], FAILED)?;
        assert!(said.contains(name), "{said}");
    }
    let real = path("real.jtrace");
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    Session::attach(jvm.pid(), &["-o", &real])?.stop()?;
    let bytes = fs::read(&real)?;
    fs::write(path("short.jtrace"), &bytes[..6])?;
    refuse(&["report", &path("short.jtrace")], FAILED)?;
    let mut newer = bytes;
    // Magic of eight bytes, then the version as a little-endian number.
    newer[8..10].copy_from_slice(&u16::MAX.to_le_bytes());
    fs::write(path("newer.jtrace"), newer)?;
    let said = refuse(&["report", &path("newer.jtrace")], FAILED)?;
    assert!(said.contains("version"), "{said}");
    Ok(())
}

#[test]
fn a_libjvm_that_is_not_elf_is_refused() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let library = directory.path().join("libjvm.so");
    fs::write(&library, "#!/bin/sh\n")?;
    let said = refuse(&["probes", &library.to_string_lossy()], FAILED)?;
    assert!(said.contains("ELF"), "{said}");
    Ok(())
}

#[test]
fn without_privileges_the_missing_capability_is_named() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    // The build directory may be closed to others.
    let directory =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir()?;
    let copy = directory.path().join("jtrace");
    fs::copy(jtrace::binary()?, &copy)?;
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&copy);
    command.args(["attach", &jvm.pid().to_string()]).current_dir("/");
    let finished = Finished::of(&mut command, jtrace::LIMIT)?;
    let said = jtrace::refused(&finished, FAILED)?;
    assert!(said.contains("CAP_"), "{said}");
    Ok(())
}

#[test]
fn a_closed_pipe_is_success() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = jvm.pid().to_string();
    for arguments in [vec!["list"], vec!["probes", &pid], vec!["attach", &pid, "-d", "1s", "--json"]] {
        let (reader, writer) = io::pipe()?;
        drop(reader);
        let mut child = jtrace::command(&arguments)?.stdout(writer).stderr(std::process::Stdio::piped()).spawn()?;
        let mut said = String::new();
        io::Read::read_to_string(&mut child.stderr.take().expect("stderr is piped"), &mut said)?;
        assert!(child.wait()?.success(), "{arguments:?}: {said}");
    }
    Ok(())
}

#[test]
fn a_refusal_leaves_the_target_untouched() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    refuse(&["attach", &jvm.pid().to_string(), "-l", "locks", "-o", "/nonexistent/x.json"], FAILED)?;
    assert_eq!(jvm.flag("DTraceMonitorProbes")?, "false");
    Ok(())
}
