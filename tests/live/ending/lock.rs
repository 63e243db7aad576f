//! Whoever changes a target has its lock in the undo journal. Another jtrace waits for that one within a limit, and does nothing to the
//! target meanwhile.

use std::mem::MaybeUninit;

use anyhow::{Context as _, Result, ensure};
use rustix::{
    fs::inotify::{self, CreateFlags, Reader, WatchFlags},
    io::Errno,
};
use tests::{
    jdk,
    jtrace::{self, Session},
    patience::{PATIENCE, until_true},
    process::Process,
};
use tracer_jvm::jvm::journal::{Identity, Journal, Locked};

use super::{
    contended, is_restored,
    second::{By, once_within_a_second, press_twice},
};

const LOCK: &str = ".lock";
/// Whoever has tried so often waits.
const TRIES: usize = 20;

fn held(pid: u32) -> Result<Locked> {
    let target = Identity::of(pid).context("the JVM has gone")?;
    Ok(Journal::for_this_user()?.lock(target)?)
}

/// A jtrace that is to arm a target, and waits for its lock.
fn waiting(pid: u32) -> Result<Process> {
    let opened = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    inotify::add_watch(&opened, Journal::for_this_user()?.path(), WatchFlags::OPEN)?;
    let words = ["attach", &pid.to_string(), "-l", "locks", "-d", "1s", "--text"];
    let process = Process::spawn(&mut jtrace::command(&words)?)?;
    let name = format!("{pid}-");
    let (mut room, mut tries) = ([MaybeUninit::uninit(); 4096], 0);
    until_true("jtrace waits for the lock", || {
        let mut reader = Reader::new(&opened, &mut room);
        loop {
            match reader.next() {
                Ok(event) => {
                    let file = event.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
                    tries += usize::from(file.strip_suffix(LOCK).is_some_and(|file| file.starts_with(&name)));
                }
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        ensure!(process.is_running(), "{}", process.transcript());
        Ok(tries >= TRIES)
    })?;
    Ok(process)
}

#[test]
fn another_jtrace_is_waited_for_and_no_longer_than_allowed() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let lock = held(jvm.pid())?;
    let mut process = waiting(jvm.pid())?;
    let status = process.wait(PATIENCE)?;
    let said = process.transcript();
    let why = "DTraceMonitorProbes could not be armed, so monitors are not seen: another jtrace works on the process";
    ensure!(status.success() && said.contains(why), "{status}: {said}");
    ensure!(is_restored(&jvm)?, "it has armed a JVM that another one works on");
    drop(lock);
    let session = Session::attach(jvm.pid(), &["-l", "locks", "--json"])?;
    jvm.work()?;
    ensure!(session.report()?.summary("locks", "contended_enters")? > 0, "nothing is seen after it");
    jvm.finish().map(drop)
}

#[test]
fn two_signals_end_it_while_it_waits_for_another_jtrace() -> Result<()> {
    let mut jvm = contended(&jdk::any()?)?;
    let lock = held(jvm.pid())?;
    once_within_a_second("attach", Some(By::Limit), || {
        let mut process = waiting(jvm.pid())?;
        let gone = press_twice(&mut process, || Ok(()))?;
        ensure!(is_restored(&jvm)?, "it has armed a JVM that another one works on");
        Ok(gone)
    })?;
    drop(lock);
    jvm.finish().map(drop)
}
