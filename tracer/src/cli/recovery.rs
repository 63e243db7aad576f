//! Undoing what a jtrace that was killed left in a target, at the start of another one.
//!
//! A target decides how long that takes: its memory is read, and some of it is done by the JVM itself. So a process apart
//! does it, one target after another, and each is locked by itself. A jtrace that wants to attach waits some seconds, one
//! that only looks the tenth of a second; the process goes on all the same.

use std::{
    error::Error,
    io,
    num::NonZeroU32,
    process::ExitCode,
    time::{Duration, Instant},
};

use super::{
    Failure,
    apart::{self, Apart, Ended, Said},
};
use crate::{
    ebpf::attach::{self, Place},
    jvm::{
        arming,
        breakpoints::{self, Breakpoints},
        flags::{
            arm::{self, Recovered},
            located::JvmTables,
        },
        journal::{Identity, Journal, watched},
    },
};

/// The hidden command that undoes.
const COMMAND: &str = "recover-apart";
/// How long a jtrace that is going to attach waits.
pub(super) const BEFORE_ATTACHING: Duration = Duration::from_secs(10);
/// How long one that only looks does.
pub(super) const BEFORE_LOOKING: Duration = Duration::from_millis(100);

/// Options of `jtrace recover-apart`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Options {
    /// The first process in which something is undone
    first: u32,
}

/// Undoes what is owed in any target, and waits for that until a limit.
pub(super) fn recover(limit: Duration) {
    let deadline = Instant::now() + limit;
    let mut first = 0;
    while owed().is_ok_and(|owed| owed.iter().any(|target| target.pid >= first)) {
        let child = Apart::start(COMMAND, &[first.to_string()]);
        let ended = child.map(|child| {
            child.listen(Some(deadline), &mut |said| {
                if let Said::Warning(text) = said {
                    log::warn!("{text}");
                }
            })
        });
        match ended {
            Ok(Ended::Whole) => return,
            Ok(Ended::HeldUp(Some(pid))) => {
                log::warn!("what a killed jtrace left in process {pid} is not undone yet: {}", apart::HELD_UP);
                first = pid + 1;
            }
            Ok(Ended::GoesOn(at)) => {
                let what = at.map_or_else(|| "some process".to_owned(), |pid| format!("process {pid}"));
                // On a busy machine the child may not even have found out that its jtrace lives.
                log::warn!(
                    "what a killed jtrace may have left in {what} is still being undone; this goes on by itself"
                );
                return;
            }
            Ok(Ended::HeldUp(None)) => {
                log::warn!("what a killed jtrace left could not be undone: the process that does it said nothing");
                return;
            }
            Err(error) => {
                log::debug!("nothing could be restored: {error}");
                return;
            }
        }
    }
}

/// Targets in which something may have to be undone.
fn owed() -> Result<Vec<Identity>, arming::Error> {
    let journal = Journal::for_this_user()?;
    let mut targets = journal.owed()?;
    targets.extend(arming::recompiled_targets(&journal)?);
    targets.extend(watched::targets(&journal)?);
    targets.sort_unstable_by_key(|target| target.pid);
    Ok(targets)
}

/// The child: undoes, and says so. Nobody may be listening any more.
pub(super) fn apart(options: Options) -> Result<ExitCode, Failure> {
    apart::limit()?;
    let say = |said: &Said| drop::<io::Result<()>>(apart::tell(said));
    let Ok(journal) = Journal::for_this_user() else { return Ok(ExitCode::SUCCESS) };
    let mut targets = owed().unwrap_or_default();
    targets.dedup();
    for target in targets.into_iter().filter(|target| target.pid >= options.first) {
        say(&Said::At(target.pid));
        match arm::recover_one(&journal, &JvmTables, target) {
            Ok(outcome) => outcome.and_then(sentence).iter().for_each(|text| say(&Said::Warning(text.clone()))),
            Err(error) => say(&Said::Warning(format!("process {}: {error}", target.pid))),
        }
        // After the flags, so that nothing is compiled with one that was left up.
        match arming::recover_one(&journal, target) {
            Ok(Some(arming::Recovered { undone: Ok(()), .. })) => say(&Said::Warning(format!(
                "process {} compiles anew what a killed jtrace had made call probes",
                target.pid
            ))),
            Ok(Some(arming::Recovered { undone: Err(error), .. })) | Err(error) => {
                say(&Said::Warning(format!("code of process {} still calls probes: {error}", target.pid)));
            }
            Ok(None) => {}
        }
        match watched::recover_one(&journal, target, || take_sites_away(target.pid)) {
            Ok(None | Some(Ok(0))) => {}
            // It went while it was looked into, and its sites with it.
            Ok(Some(Err(_))) if !target.is_alive() => {}
            Ok(Some(Ok(count))) => say(&Said::Warning(format!(
                "took {count} sites out of process {}, which a killed jtrace had left to the kernel",
                target.pid
            ))),
            Ok(Some(Err(error))) => {
                say(&Said::Warning(format!("process {} may still have sites: {error}", target.pid)));
            }
            Err(error) => say(&Said::Warning(format!("the undo journal: {error}"))),
        }
    }
    say(&Said::End);
    Ok(ExitCode::SUCCESS)
}

/// Takes away breakpoints that the kernel has left in a process; gives how many there were. Those that living jtraces
/// own look the same, and stay.
fn take_sites_away(pid: u32) -> Result<usize, Box<dyn Error>> {
    let count = |found: &[Breakpoints]| found.iter().map(|found| found.offsets.len()).sum::<usize>();
    let before = breakpoints::find(pid)?;
    let pid_of_target = NonZeroU32::new(pid).ok_or("there is no process 0")?;
    for Breakpoints { path, offsets } in &before {
        if let Some(pid) = apart::who_holds_up(Some(path))? {
            return Err(apart::in_the_way(pid).into());
        }
        attach::take_away(&Place { path: path.clone(), pid: pid_of_target }, offsets)?;
    }
    let after = if before.is_empty() { Vec::new() } else { breakpoints::find(pid)? };
    Ok(count(&before).saturating_sub(count(&after)))
}

fn sentence(outcome: Recovered) -> Option<String> {
    match outcome {
        Recovered::Restored { target, flags } if !flags.is_empty() => {
            Some(format!("restored {} in process {}, which a killed jtrace had left", flags.join(", "), target.pid))
        }
        Recovered::Restored { .. } | Recovered::TargetGone(_) => None,
        Recovered::Failed { target, error } => Some(format!("cannot restore process {}: {error}", target.pid)),
        Recovered::Damaged(error) => Some(format!("the undo journal: {error}")),
    }
}
