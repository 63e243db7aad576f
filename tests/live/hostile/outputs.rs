//! Results that go where others can write, or where there is no room.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk, jtrace,
    jvm::Launch,
    process::{Finished, Process},
};

use super::{UID, as_user};

/// A recording of a moment.
fn recording(directory: &Path) -> Result<String> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "20"]).start()?;
    let path = directory.join("a.jtrace").to_str().context("UTF-8")?.to_owned();
    jtrace::succeed(&["record", &jvm.pid().to_string(), "-d", "1s", "-o", &path])?;
    jvm.finish()?;
    Ok(path)
}

/// What a user does in a directory of hers: the name is a file, a link, a second name of a file of root, a pipe, a directory, nothing.
const FLIPS: &str = r#"
import os, sys
hers, victim = sys.argv[1:]
def put(make):
    try:
        make(hers + "/made")
        os.rename(hers + "/made", hers + "/out.json")
    except OSError:
        pass
def away():
    for remove in (os.unlink, os.rmdir):
        try: remove(hers + "/out.json")
        except OSError: pass
print("READY", flush=True)
while True:
    put(lambda name: open(name, "w").close())
    put(lambda name: os.symlink(victim, name))
    put(lambda name: os.link(victim, name))
    put(os.mkfifo)
    away()
    put(os.mkdir)
    away()
    for target in (os.path.dirname(victim), hers):
        try:
            os.symlink(target, hers + "/made")
            os.rename(hers + "/made", hers + "/way")
        except OSError: pass
"#;

#[test]
fn a_link_that_comes_and_goes_leads_no_output_elsewhere() -> Result<()> {
    let (roots, hers) = (super::of_root()?, tempfile::tempdir()?);
    let recording = recording(roots.path())?;
    let victim = roots.path().join("out.json");
    fs::write(&victim, "root's own")?;
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o644))?;
    chown(hers.path(), Some(UID), Some(UID))?;
    let before = super::state(roots.path())?;
    let process = Process::spawn(as_user().args(["python3", "-c", FLIPS]).arg(hers.path()).arg(&victim))?;
    process.stdout.wait_for_line("READY", 0, jtrace::LIMIT).with_context(|| process.transcript())?;
    let mut written = 0;
    for name in ["out.json", "way/out.json"].iter().cycle().take(50) {
        let output = hers.path().join(name);
        let finished = jtrace::run(&["report", &recording, "-o", output.to_str().context("UTF-8")?])?;
        ensure!(matches!(finished.code, 0 | 1), "{}: {}", finished.code, finished.stderr);
        written += u32::from(finished.code == 0);
        assert_eq!(fs::read_to_string(&victim)?, "root's own", "{name}");
        assert_eq!(super::state(roots.path())?, before, "{name}: something was made beside it");
    }
    ensure!(process.is_running(), "{}", process.transcript());
    println!("{written} of 50 reports were written, into her directory");
    Ok(())
}

/// A disk of 16 KiB, in a mount namespace of the command's own; gives what the command says and what is left there.
fn on_a_small_disk(words: &[&str]) -> Result<(Finished, String)> {
    const SCRIPT: &str =
        r#"mount -t tmpfs -o size=16k none "$1" && cd "$1" && shift && "$@"; code=$?; ls -A; exit $code"#;
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", SCRIPT, "sh"]).arg(directory.path()).arg(jtrace::binary()?).args(words);
    let finished = Finished::of(command.env("NO_COLOR", "1"), jtrace::LIMIT)?;
    let left = finished.text();
    Ok((finished, left))
}

#[test]
fn a_full_disk_leaves_no_torn_report_and_is_an_error() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let recording = recording(directory.path())?;
    ensure!(fs::metadata(&recording)?.size() > 0, "an empty recording");
    let (finished, left) = on_a_small_disk(&["report", &recording, "-o", "x.html"])?;
    ensure!(finished.code == 1 && finished.stderr.contains("No space left"), "{}: {}", finished.code, finished.stderr);
    ensure!(left.trim().is_empty(), "left: {left}");
    // What of a recording finds room can be read; that it is not whole is said.
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "2000"]).start()?;
    jvm.go()?;
    let pid = jvm.pid().to_string();
    let (finished, _) = on_a_small_disk(&["record", &pid, "-d", "2s", "-o", "x.jtrace"])?;
    ensure!(finished.code == 1 && finished.stderr.contains("No space left"), "{}: {}", finished.code, finished.stderr);
    jvm.done()?;
    ensure!(jvm.flag("DTraceMonitorProbes")? == "false", "the flag stays up");
    jvm.finish().map(drop)
}
