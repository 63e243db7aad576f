//! Arming: sets flags of a running JVM from 0 to 1 and back.
//!
//! The order is always: lock what the journal has of the target, write down the change and its owner, write the byte. Several jtraces can own one
//! change; the last living one restores it. What a killed jtrace left behind, [`recover`] undoes at the next start.

use std::{
    collections::BTreeMap,
    error::Error as StdError,
    sync::atomic::{AtomicU64, Ordering},
};

use super::super::{
    find::process::Identity,
    journal::{self, Change, Entry, FLAGS, Journal, Locked, Owner},
    memory::{self, Memory},
};

const OFF: u8 = 0;
const ON: u8 = 1;

/// Why flags were not armed or not restored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The target's memory cannot be used.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The process is gone.
    #[error("process {0} is gone")]
    Gone(u32),
    /// The target's tables could not be read.
    #[error("cannot find the flags of process {pid}")]
    Locate {
        /// The target.
        pid: u32,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The JVM has no such flag.
    #[error("the JVM has no flag `{0}`")]
    NoFlag(String),
    /// What is at the flag's address is no truth value.
    #[error("flag `{flag}` at {address:#x} holds {value}, neither 0 nor 1")]
    NotBoolean {
        /// The flag.
        flag: String,
        /// Its address.
        address: u64,
        /// What is there.
        value: u8,
    },
    /// The journal speaks of another address than the JVM's tables.
    #[error("flag `{flag}` is at {found:#x}, not at {expected:#x} as the undo journal says")]
    Moved {
        /// The flag.
        flag: String,
        /// Address in the journal.
        expected: u64,
        /// Address in the JVM's tables.
        found: u64,
    },
}

/// Finds flags in a process. Tells real JVMs from the stand-ins of tests.
pub trait Locations {
    /// Addresses of those of the flags that the process has, each checked to be one that may be written to. Empty where
    /// the process is no JVM (any more).
    fn locate(&self, pid: u32, flags: &[&str]) -> Result<BTreeMap<String, u64>, Box<dyn StdError + Send + Sync>>;
}

/// Flags of a target that stay armed until this is dropped.
#[derive(Debug)]
#[must_use = "dropping it restores the flags"]
pub struct Armed<L: Locations> {
    journal: Journal,
    locations: L,
    target: Identity,
    owner: Owner,
    already_on: Vec<String>,
    done: bool,
}

/// What became of one entry of the journal.
#[derive(Debug)]
pub enum Recovered {
    /// The bytes that jtrace had changed were restored.
    Restored {
        /// The target.
        target: Identity,
        /// Flags that were written back; those that had their old value already are not among them.
        flags: Vec<String>,
    },
    /// The target is gone, and its entry with it.
    TargetGone(Identity),
    /// It could not be undone; the entry stays.
    Failed {
        /// The target.
        target: Identity,
        /// Why.
        error: Error,
    },
    /// A file of the journal is damaged.
    Damaged(journal::Error),
}

/// Arms flags of a target. Flags that are on already, and by no jtrace, are left alone.
pub fn arm<L: Locations>(journal: &Journal, locations: L, target: Identity, flags: &[&str]) -> Result<Armed<L>, Error> {
    static TICKET: AtomicU64 = AtomicU64::new(0);
    let own = std::process::id();
    let process = Identity::of(own).ok_or(Error::Gone(own))?;
    let owner = Owner { process, ticket: TICKET.fetch_add(1, Ordering::Relaxed) };
    if let Some(unknown) = flags.iter().find(|flag| !FLAGS.contains(flag)) {
        return Err(Error::NoFlag((*unknown).to_owned()));
    }
    let locked = journal.lock(target)?;
    let memory = Memory::open_writable(target.pid)?;
    // Asked after opening: from here on the memory can only be that of this very process.
    if !target.is_alive() {
        return Err(Error::Gone(target.pid));
    }
    let found = locations.locate(target.pid, flags).map_err(|source| Error::Locate { pid: target.pid, source })?;
    let mut entry = locked.entry()?;
    entry.has_living_owners();
    let mut already_on = Vec::new();
    for &flag in flags {
        let address = *found.get(flag).ok_or_else(|| Error::NoFlag(flag.to_owned()))?;
        let value = boolean(&memory, flag, address)?;
        match entry.changes.iter().find(|change| change.flag == flag) {
            Some(change) if change.address != address => {
                return Err(Error::Moved { flag: flag.to_owned(), expected: change.address, found: address });
            }
            Some(_) => {}
            None if value == ON => already_on.push(flag.to_owned()),
            None => entry.changes.push(Change { flag: flag.to_owned(), address, original: OFF, armed: ON }),
        }
    }
    entry.owners.push(owner);
    locked.save(&entry)?;
    // From here on the guard undoes whatever was written, also when a later write fails.
    let mut armed = Armed { journal: journal.clone(), locations, target, owner, already_on, done: false };
    for change in entry.changes.iter().filter(|change| flags.contains(&change.flag.as_str())) {
        if let Err(error) = memory.write_u8(change.address, change.armed) {
            armed.leave(locked)?;
            return Err(error.into());
        }
    }
    Ok(armed)
}

impl<L: Locations> Armed<L> {
    /// Flags that were on before any jtrace came, and that stay on.
    pub fn already_on(&self) -> &[String] {
        &self.already_on
    }

    /// Restores the flags, unless another living jtrace needs them. Gone with its target counts as restored.
    pub fn disarm(mut self) -> Result<(), Error> {
        let locked = self.journal.lock(self.target)?;
        self.leave(locked)
    }

    #[expect(clippy::needless_pass_by_value, reason = "the lock ends with the work it protects")]
    fn leave(&mut self, locked: Locked) -> Result<(), Error> {
        self.done = true;
        let mut entry = locked.entry()?;
        entry.owners.retain(|owner| *owner != self.owner);
        if entry.has_living_owners() {
            locked.save(&entry)?;
            return Ok(());
        }
        // Nobody owns it now; should undoing fail, the next start of jtrace tries again.
        locked.save(&entry)?;
        undo(&locked, &self.locations, &entry).map(|_| ())
    }
}

impl<L: Locations> Drop for Armed<L> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let left = self.journal.lock(self.target).map_err(Error::from).and_then(|locked| self.leave(locked));
        if let Err(error) = left {
            log::warn!("flags of process {} are not restored yet: {error}", self.target.pid);
        }
    }
}

/// Undoes what dead jtraces left behind in any target.
pub fn recover(journal: &Journal, locations: &impl Locations) -> Result<Vec<Recovered>, Error> {
    let outcomes = journal.targets()?.into_iter().map(|target| recover_one(journal, locations, target));
    Ok(outcomes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Undoes what dead jtraces left behind in one; absent where there is nothing to undo, or another jtrace is at it.
pub fn recover_one(
    journal: &Journal,
    locations: &impl Locations,
    target: Identity,
) -> Result<Option<Recovered>, Error> {
    let Some(locked) = journal.try_lock(target)? else { return Ok(None) };
    let mut entry = match locked.written() {
        Ok(Some(entry)) => entry,
        Ok(None) => return Ok(None),
        Err(error) => return Ok(Some(Recovered::Damaged(error))),
    };
    if target.is_alive() && entry.has_living_owners() {
        return Ok(None);
    }
    Ok(Some(match undo(&locked, locations, &entry) {
        Ok(Some(flags)) => Recovered::Restored { target, flags },
        Ok(None) => Recovered::TargetGone(target),
        Err(error) => Recovered::Failed { target, error },
    }))
}

/// Restores all bytes of an entry and deletes it. The flags that were written back, or nothing where the target is gone.
fn undo(locked: &Locked, locations: &impl Locations, entry: &Entry) -> Result<Option<Vec<String>>, Error> {
    let target = entry.target;
    match restore(locations, entry) {
        Ok(flags) => {
            locked.remove()?;
            Ok(Some(flags))
        }
        // The target may have ended while it was looked at.
        Err(_) if !target.is_alive() => {
            locked.remove()?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn restore(locations: &impl Locations, entry: &Entry) -> Result<Vec<String>, Error> {
    let pid = entry.target.pid;
    let memory = Memory::open_writable(pid)?;
    if !entry.target.is_alive() {
        return Err(Error::Gone(pid));
    }
    let names: Vec<&str> = entry.changes.iter().map(|change| change.flag.as_str()).collect();
    let found = locations.locate(pid, &names).map_err(|source| Error::Locate { pid, source })?;
    let mut restored = Vec::new();
    for Change { flag, address, original, armed } in &entry.changes {
        // After an exec there is no such flag any more, and nothing to undo.
        let Some(&current) = found.get(flag) else { continue };
        if current != *address {
            // So is another JVM, started by exec, at whose address nothing was ever written.
            log::info!("flag {flag} of process {pid} is at another address now: it is another program");
            continue;
        }
        if boolean(&memory, flag, *address)? == *armed && *original <= ON {
            memory.write_u8(*address, *original)?;
            restored.push(flag.clone());
        }
    }
    Ok(restored)
}

fn boolean(memory: &Memory, flag: &str, address: u64) -> Result<u8, Error> {
    match memory.read_u8(address)? {
        value @ (OFF | ON) => Ok(value),
        value => Err(Error::NotBoolean { flag: flag.to_owned(), address, value }),
    }
}

#[cfg(test)]
mod tests;
