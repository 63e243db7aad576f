//! The JVMs of the machine: found anew every few seconds, each followed by a process apart.

use std::{
    collections::BTreeMap,
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use super::super::{
    Failure,
    apart::{Apart, Ended, HELD_UP, Said},
    list::{self, List},
};
use crate::{
    item::Target,
    report::reading::{MOST_FINDINGS, Reading, Row, sort},
    text::format,
};

/// The hidden command that follows a JVM.
const WATCH: &str = "watch-apart";
/// How often JVMs are looked for.
const LIST_EVERY: Duration = Duration::from_secs(5);
/// Most JVMs that are followed: each takes a process.
const MOST: usize = 128;
/// Readings that wait to be taken.
const WAITING: usize = 1024;

/// What comes of a JVM.
enum Heard {
    Reading(Box<Reading>),
    Over(Ended),
}

/// A JVM, and what was heard of it. A pid can be another process's later.
struct Known {
    target: Target,
    problem: Option<String>,
    reading: Option<Reading>,
    is_followed: bool,
}

/// All JVMs.
pub(super) struct Machine {
    known: BTreeMap<u32, Known>,
    listed: Option<Instant>,
    /// What comes of the look for JVMs that is under way.
    listing: Option<Receiver<io::Result<List>>>,
    missing: Vec<String>,
    sender: SyncSender<((u32, u64), Heard)>,
    heard: Receiver<((u32, u64), Heard)>,
}

impl Machine {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        let (sender, heard) = sync_channel(WAITING);
        Self { known: BTreeMap::new(), listed: None, listing: None, missing: Vec::new(), sender, heard }
    }

    /// Whether JVMs have been looked for.
    pub(super) fn has_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Takes what comes within a time; whether anything has.
    pub(super) fn step(&mut self, wait: Duration) -> Result<bool, Failure> {
        let mut changed = self.list()?;
        let mut next = self.heard.recv_timeout(wait);
        while let Ok((of, heard)) = next {
            self.take(of, heard);
            changed = true;
            next = self.heard.try_recv().map_err(|_| RecvTimeoutError::Timeout);
        }
        Ok(changed)
    }

    /// Has JVMs looked for now and then, beside all else: processes of a user can hold up such a look for half a minute. Whether one
    /// is over.
    fn list(&mut self) -> io::Result<bool> {
        match self.listing.as_ref().map(Receiver::try_recv) {
            Some(Ok(list)) => {
                (self.listing, self.listed) = (None, Some(Instant::now()));
                self.find(list?);
                return Ok(true);
            }
            Some(Err(TryRecvError::Disconnected)) => return Err(io::Error::other("nobody looks for JVMs any more")),
            None if self.listed.is_none_or(|listed| listed.elapsed() >= LIST_EVERY) => {
                let (sender, listing) = sync_channel(1);
                thread::Builder::new().name("list".to_owned()).spawn(move || {
                    // Nobody takes it where jtrace ends.
                    let _: Result<(), _> = sender.send(list::collect());
                })?;
                self.listing = Some(listing);
            }
            Some(Err(TryRecvError::Empty)) | None => {}
        }
        Ok(false)
    }

    /// The JVMs, the worst first.
    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |known: &Known| {
            let Known { target, problem, reading, is_followed: _ } = known;
            Row { target: target.clone(), problem: problem.clone(), reading: reading.clone() }
        };
        let mut rows: Vec<Row> = self.known.values().map(row).collect();
        sort(&mut rows);
        rows
    }

    /// What was not looked at, and why.
    pub(super) fn missing(&self) -> &[String] {
        &self.missing
    }

    fn find(&mut self, list: List) {
        self.missing = missing(&list);
        let mut known = std::mem::take(&mut self.known);
        for row in list.jvms {
            let (pid, started) = (row.target.pid, row.target.start_ticks);
            let mut of = known.remove(&pid).filter(|known| known.target.start_ticks == started).unwrap_or_else(|| {
                Known { target: row.target.clone(), problem: row.problem, reading: None, is_followed: false }
            });
            let followed = self.known.values().filter(|known| known.is_followed).count();
            if !of.is_followed && of.problem.is_none() {
                if followed < MOST {
                    of.follow(&self.sender);
                } else {
                    of.problem = Some(format!("only {MOST} JVMs are followed at a time"));
                }
            }
            self.known.insert(pid, of);
        }
    }

    fn take(&mut self, (pid, started): (u32, u64), heard: Heard) {
        let Some(known) = self.known.get_mut(&pid).filter(|known| known.target.start_ticks == started) else { return };
        match heard {
            Heard::Reading(mut reading) => {
                reading.findings.truncate(MOST_FINDINGS);
                known.reading = Some(*reading);
            }
            Heard::Over(Ended::Whole) => {
                self.known.remove(&pid);
            }
            // What it may take of the CPU is limited, so another one takes its place after an hour or two.
            Heard::Over(_) if known.reading.is_some() => known.is_followed = false,
            Heard::Over(_) => known.problem = Some(HELD_UP.to_owned()),
        }
    }
}

impl Known {
    /// Starts the process that follows it, and a thread that listens.
    fn follow(&mut self, to: &SyncSender<((u32, u64), Heard)>) {
        let of = (self.target.pid, self.target.start_ticks);
        let to = to.clone();
        let started = Apart::start(WATCH, &[of.0.to_string()]).and_then(|child| {
            thread::Builder::new().name("top".to_owned()).spawn(move || {
                let ended = child.listen(None, &mut |said| {
                    if let Said::Reading(reading) = said {
                        // Nobody takes it where jtrace ends.
                        let _ = to.send((of, Heard::Reading(reading)));
                    }
                });
                let _ = to.send((of, Heard::Over(ended)));
            })
        });
        match started {
            Ok(_) => self.is_followed = true,
            Err(error) => self.problem = Some(format!("no process follows it: {error}")),
        }
    }
}

fn missing(list: &List) -> Vec<String> {
    let mut missing = Vec::new();
    if list.hidden > 0 {
        let why = if list.missing_capabilities.is_empty() {
            "protected by a security module or in another user namespace".to_owned()
        } else {
            format!("for lack of {}; run with sudo", list.missing_capabilities.join(", "))
        };
        let others = format::plural(list.hidden as u64, "other process", "other processes");
        missing.push(format!("not looked at: {others}, {why}"));
    }
    if list.held_up > 0 {
        let processes = format::plural(list.held_up as u64, "process", "processes");
        missing.push(format!("{processes} held jtrace up, and are left out"));
    }
    missing
}
