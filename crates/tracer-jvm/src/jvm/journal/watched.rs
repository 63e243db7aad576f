//! Which targets have sites, and of which jtraces.
//!
//! The kernel takes sites away with the descriptors of a jtrace that has died, however it died. There is one exception: a jtrace
//! that is killed in the middle of attaching or detaching. The kernel then gives up changing the target's code, and says
//! `failed to unregister, leaking uprobe`. The breakpoint stays, and each thread that comes by traps. So it is written
//! down who attaches, and the next jtrace looks for breakpoints that nobody owns.
//! <https://github.com/torvalds/linux/blob/v6.18/kernel/events/uprobes.c>

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Error, Identity, Journal, Owner};

/// The directory beside that of changed bytes.
const DIRECTORY: &str = "watched";

/// This jtrace has sites in a target, or may have, until this is dropped.
#[derive(Debug)]
pub struct Watched {
    journal: Journal,
    target: Identity,
    owner: Owner,
}

impl Watched {
    /// Writes down that sites will be attached. Absent where this process cannot be told apart from later ones.
    pub fn begin(journal: &Journal, target: Identity) -> Result<Option<Self>, Error> {
        static TICKET: AtomicU64 = AtomicU64::new(0);
        // Makes sure that the directory is there and nobody else's.
        drop(journal.open()?);
        let journal = journal.beside(DIRECTORY);
        let Some(process) = Identity::of(std::process::id()) else { return Ok(None) };
        let owner = Owner { process, ticket: TICKET.fetch_add(1, Ordering::Relaxed) };
        let locked = journal.lock(target)?;
        let mut entry = locked.entry()?;
        entry.owners.push(owner);
        locked.save(&entry)?;
        drop(locked);
        Ok(Some(Self { journal, target, owner }))
    }

    fn end(&self) -> Result<(), Error> {
        let locked = self.journal.lock(self.target)?;
        let mut entry = locked.entry()?;
        entry.owners.retain(|owner| *owner != self.owner);
        // Those of others stay, also where these have died: that is still to be looked into.
        if entry.owners.is_empty() { locked.remove() } else { locked.save(&entry) }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            log::debug!("that process {} is not watched any more: {error}", self.target.pid);
        }
    }
}

/// Targets that were watched by a jtrace that may have died.
pub fn targets(journal: &Journal) -> Result<Vec<Identity>, Error> {
    journal.beside(DIRECTORY).owed()
}

/// Has a target looked into whose jtrace has died, and forgets it where that succeeds. Absent where no jtrace of it has died, or
/// another one is at it. What living ones have attached is theirs, and whoever looks must leave it as it is.
pub fn recover_one<E>(
    journal: &Journal,
    target: Identity,
    look: impl FnOnce() -> Result<usize, E>,
) -> Result<Option<Result<usize, E>>, Error> {
    let journal = journal.beside(DIRECTORY);
    let Some((locked, mut entry)) = journal.try_lock_written(target)? else { return Ok(None) };
    if entry.owners.iter().all(|owner| owner.process.is_alive()) {
        return Ok(None);
    }
    let looked = look();
    if looked.is_ok() {
        if entry.has_living_owners() { locked.save(&entry)? } else { locked.remove()? }
    }
    Ok(Some(looked))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn journal() -> (tempfile::TempDir, Journal) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let journal = Journal::at(directory.path());
        (directory, journal)
    }

    fn own() -> Identity {
        Identity::of(std::process::id()).unwrap()
    }

    #[test]
    fn a_target_is_looked_into_once_its_jtrace_has_died() {
        let (_directory, journal) = journal();
        let watched = Watched::begin(&journal, own()).unwrap().unwrap();
        let nobody = || -> Result<usize, Infallible> { panic!("its jtrace lives") };
        assert!(recover_one(&journal, own(), nobody).unwrap().is_none());
        assert_eq!(targets(&journal).unwrap(), [], "its jtrace lives, so nobody has to look");
        // As if it had been killed: another process has its pid now.
        let Watched { target, owner, .. } = &watched;
        let beside = journal.beside(DIRECTORY);
        let locked = beside.lock(*target).unwrap();
        let mut entry = locked.entry().unwrap();
        let dead = Identity { start_ticks: owner.process.start_ticks + 1, ..owner.process };
        entry.owners.push(Owner { process: dead, ticket: 7 });
        locked.save(&entry).unwrap();
        drop(locked);
        assert_eq!(targets(&journal).unwrap(), [own()]);
        // What fails is tried again.
        assert!(matches!(recover_one(&journal, own(), || Err("no")).unwrap(), Some(Err("no"))));
        assert!(matches!(recover_one(&journal, own(), || Ok::<_, Infallible>(3)).unwrap(), Some(Ok(3))));
        assert!(recover_one(&journal, own(), nobody).unwrap().is_none(), "the living one alone is left");
        drop(watched);
        assert!(journal.beside(DIRECTORY).targets().unwrap().is_empty());
    }
}
