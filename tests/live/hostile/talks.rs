//! A user speaks in the place of the library in her JVM while a session lasts: without end, half a message, one of a length that
//! none has, or nothing. The session keeps to its time and its memory, and its undo is done.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jtrace::{self, Session},
    patience::{until, until_true},
};

use super::spoken_for::SpokenFor;
use crate::deaths::left;

/// What she says, and what jtrace says of it where it notices.
const KINDS: [(&str, &str); 7] = [
    ("nothing", "does not answer"),
    ("half", "does not answer"),
    ("length", "announces a message of 2147483648 bytes"),
    ("nonsense", "does not answer"),
    ("classes", ""),
    ("lacks", ""),
    ("answers", ""),
];

/// How long a session is to last, how long jtrace waits for a library that restores, and what a machine may add on a good day.
const LASTS: Duration = Duration::from_secs(2);
const RESTORES: Duration = Duration::from_secs(30);
const ADDED: Duration = Duration::from_secs(8);
const TRIES: u32 = 5;
/// Most memory of jtrace: what a session takes, and what is kept of a library's messages.
const MOST_KB: u64 = 600 << 10;

/// A session of a moment in which she speaks; gives how long it was there since it was attached, and the most memory that it had.
fn session(jvm: &mut SpokenFor, says: &str) -> Result<(Duration, u64)> {
    let pid = jvm.pid().to_string();
    until("she speaks before the session is over", || {
        let mut session =
            Session::start(&["markers", &pid, "--marker", "fib=Fib::fib", "-l", "locks", "--json", "-d", "2s"])?;
        let began = Instant::now();
        let taken = jvm.take()?;
        let process = session.process();
        let mut most = 0;
        let ended = until_true("it ends", || {
            most = most.max(most_memory(process.pid()).unwrap_or(0));
            Ok(!process.is_running())
        });
        ended.with_context(|| process.transcript())?;
        let lasted = began.elapsed();
        process.wait(jtrace::LIMIT)?;
        let said = process.stdout.text() + &process.stderr.text();
        jvm.give_back()?;
        // Where it was over before she spoke, there is no library any more.
        if !taken {
            return Ok(None);
        }
        ensure!(said.contains(says) && !said.contains("panicked"), "`{says}` is not said: {said}");
        left::is_clean(jvm.pid())?;
        Ok(Some((lasted, most)))
    })
}

/// The most memory that a process has had, in KiB.
fn most_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn keeps_to_time_and_memory(kind: &str, says: &str) -> Result<()> {
    let mut jvm = SpokenFor::start(kind)?;
    let mut all = Vec::new();
    // The machine can make it later, and nothing makes it earlier.
    while all.last().is_none_or(|lasted| *lasted > LASTS + RESTORES + ADDED) {
        ensure!(all.len() < TRIES as usize, "sessions of 2 s lasted {all:?}");
        let (lasted, most) = session(&mut jvm, says)?;
        println!("{kind}: {lasted:?}, at most {most} KiB");
        ensure!((1..MOST_KB).contains(&most), "{most} KiB");
        all.push(lasted);
    }
    jvm.finish()
}

#[test]
fn who_speaks_in_the_librarys_place_takes_neither_time_nor_memory() -> Result<()> {
    // Most of it is waiting.
    thread::scope(|scope| {
        let all = KINDS.map(|(kind, says)| (kind, scope.spawn(move || keeps_to_time_and_memory(kind, says))));
        all.into_iter().try_for_each(|(kind, one)| {
            one.join().expect("it does not panic").with_context(|| format!("she says {kind}"))
        })
    })
}
