//! Asks a JVM to run a diagnostic command, by its attach protocol, as `jcmd` does. `jcmd` is itself a JVM: it takes a fifth of a second of
//! CPU for each question, and tests ask hundreds of them, some until the answer changes.
//!
//! jtrace speaks this protocol, too. Tests do not use its code: what it does to a JVM is what they ask about.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    path::Path,
};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::patience::{PATIENCE, until_true};

/// What the JVM says to a command; `pid` is as this process sees it.
///
/// # Errors
/// The JVM does not listen, or refuses.
pub(crate) fn ask(pid: u32, command: &str) -> Result<String> {
    let mut stream = connect(pid)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // The version of the protocol, the operation, and always three arguments.
    stream.write_all(format!("1\0jcmd\0{command}\0\0\0").as_bytes())?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).with_context(|| format!("no answer to `{command}`"))?;
    // It closes its end a moment after it has said all.
    until_true("the JVM listens again", || is_listening(pid))?;
    let reply = String::from_utf8_lossy(&reply);
    let (code, text) = reply.split_once('\n').with_context(|| format!("not an answer to `{command}`: {reply}"))?;
    ensure!(code == "0", "`{command}` ended with {code}: {text}");
    Ok(text.to_owned())
}

/// A JVM listens once it has been asked to, by a file and a signal. The file lies in its working directory: jtrace has its own in `/tmp`.
fn connect(pid: u32) -> Result<UnixStream> {
    let process = Path::new("/proc").join(pid.to_string());
    let own_pid = own_pid(&process)?;
    let socket = process.join(format!("root/tmp/.java_pid{own_pid}"));
    if !socket.exists() {
        let request = process.join(format!("cwd/.attach_pid{own_pid}"));
        File::create(&request).with_context(|| format!("cannot make {}", request.display()))?;
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("not a pid")?;
        let listens = kill_process(pid, Signal::QUIT)
            .map_err(anyhow::Error::from)
            .and_then(|()| until_true("the JVM listens", || Ok(socket.exists())));
        // Whether or not it does, nothing is left for the next JVM with this pid.
        fs::remove_file(&request)?;
        listens?;
    }
    UnixStream::connect(&socket).with_context(|| format!("nobody listens at {}", socket.display()))
}

/// Whether the thread that takes commands waits for one.
fn is_listening(pid: u32) -> Result<bool> {
    /// The number of the call on x86-64.
    const ACCEPT: &str = "43 ";
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?.flatten().map(|task| task.path());
    let text = |task: &Path, name: &str| fs::read_to_string(task.join(name)).unwrap_or_default();
    let mut listeners = tasks.filter(|task| text(task, "comm").starts_with("Attach Listen"));
    Ok(listeners.any(|task| text(&task, "syscall").starts_with(ACCEPT)))
}

/// Its pid as it sees itself, which its files are named by.
fn own_pid(process: &Path) -> Result<String> {
    let status = fs::read_to_string(process.join("status"))?;
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).context("no NSpid")?;
    Ok(pids.split_whitespace().last().context("an empty NSpid")?.to_owned())
}
