//! What a user's own file system keeps from being asked or closed: nothing ends such a wait but her program, so jtrace must not wait.

use std::{fs, os::unix::fs::PermissionsExt as _};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch},
    process::{Finished, Process},
    workspace,
};
use tracer_jvm::jvm::forked;

use super::{
    UID, as_user,
    held_up::{device, java_below},
};

/// A JVM with a virtual thread that reads from a socket, with such a list of `epoll`, and with such a file; see `held_up.py`.
struct Listed {
    outer: Jvm,
    pid: u32,
    _directory: tempfile::TempDir,
}

impl Listed {
    fn start() -> Result<Self> {
        let jdk = jdk::all()?.into_iter().find(|jdk| jdk.release >= 21).context("no JDK with virtual threads")?;
        let directory = tempfile::tempdir()?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        std::os::unix::fs::chown(directory.path(), Some(UID), Some(UID))?;
        let (script, mounted) = (directory.path().join("held_up.py"), directory.path().join("mounted"));
        fs::copy(workspace().join("tests/fixtures/held_up.py"), &script)?;
        fs::create_dir(&mounted)?;
        let own = tempfile::tempdir()?;
        let launch = Launch::new(&jdk, "dump", "Reads");
        let mut command = as_user();
        command.env("FUSE", device("fuse", directory.path())?);
        command.args(["unshare", "--user", "--map-root-user", "--mount", "python3"]).arg(&script);
        command.arg("listed").arg(mounted).args(launch.command(own.path()));
        let outer = launch.start_by(&mut command, own)?;
        let pid = java_below(outer.pid())?;
        Ok(Self { outer, pid, _directory: directory })
    }

    /// The number of a descriptor of the JVM, by what it leads to.
    fn descriptor(&self, is_wanted: impl Fn(&str) -> bool) -> Result<i32> {
        for entry in fs::read_dir(format!("/proc/{}/fd", self.pid))?.flatten() {
            if fs::read_link(entry.path()).is_ok_and(|to| to.to_str().is_some_and(&is_wanted)) {
                return entry.file_name().to_str().and_then(|name| name.parse().ok()).context("a number");
            }
        }
        anyhow::bail!("the JVM has no such descriptor")
    }
}

/// The kernel takes the list's lock to say what is in it, and she has that. A jtrace that waited for it could not even be killed.
#[test]
fn a_list_whose_lock_a_user_keeps_is_left_and_who_waits_for_what_is_not_told() -> Result<()> {
    let mut jvm = Listed::start()?;
    let pid = jvm.pid.to_string();
    jvm.descriptor(|to| to == "anon_inode:[eventpoll]")?;
    // All at the same time, as each waits until its limit.
    let start = |words: &[&str]| Process::spawn(&mut jtrace::command(words)?);
    let mut all = [
        start(&["threads", &pid])?,
        start(&["attach", &pid, "-l", "threads,wall,cpu,offcpu", "-d", "1s", "--json"])?,
        start(&["top", "-d", "2s", "--json"])?,
    ];
    for process in &mut all {
        process.wait(jtrace::LIMIT)?;
        let finished = Finished::from_process(process)?;
        ensure!(finished.code == 0, "{}", process.transcript());
    }
    let threads = Finished::from_process(&all[0])?;
    let said = format!("virtual threads of process {pid} read from");
    ensure!(threads.text().contains("NioSocketImpl.implRead"), "the thread does not read: {}", threads.text());
    ensure!(threads.stderr.contains(&said), "it is not said: {}", threads.stderr);
    let top: Value = serde_json::from_slice(&Finished::from_process(&all[2])?.stdout)?;
    ensure!(top["jvms"].as_array().is_some_and(|jvms| jvms.iter().any(|row| row["pid"] == jvm.pid)), "{top}");
    jvm.outer.work()?;
    jvm.outer.finish().map(drop)
}

/// jtrace takes a descriptor out of the JVM by a number that is in memory of hers. Closing this one asks her file system, and nothing ends that.
#[test]
fn a_file_that_can_never_be_closed_is_not_taken_out_of_a_jvm() -> Result<()> {
    let mut jvm = Listed::start()?;
    let file = jvm.descriptor(|to| to.ends_with("/mounted/file"))?;
    let error = forked::socket_of(jvm.pid, file).map(drop).expect_err("it is no socket");
    ensure!(error.to_string().contains("no stream"), "{error}");
    jvm.outer.work()?;
    jvm.outer.finish().map(drop)
}
