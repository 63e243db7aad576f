//! What a JVM is owed: classes whose code calls the stubs and must be dropped once more.
//!
//! They are written down before anything is done, in a journal beside the one of changed bytes, and several jtraces can need
//! the same ones; the last living one takes them back, and what a killed one left, the next start does.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    super::{
        attach_protocol::Attachment,
        find::{Jvm, process::Identity},
        journal::{self, Journal, Owner},
    },
    armed::Error,
    recompile::{self, Classes, is_class, transform},
    snapshot::{Compilation, Snapshot},
    stubs::Calls,
};

/// How long a JVM may take for the least of commands.
const ALIVE_LIMIT: Duration = Duration::from_secs(2);
/// How often code that calls is looked for and dropped.
const DROP_PASSES: usize = 3;
/// Most classes besides the chosen ones whose code is dropped at the end.
const MAX_HOSTS: usize = 256;
/// Classes of the JDK's own works, which are not transformed for having something inlined.
const LEFT_ALONE: [&str; 4] = ["java.lang.invoke.", "jdk.", "sun.", "com.sun."];

/// Classes whose code calls, until this is dropped.
#[derive(Debug)]
pub(super) struct Recompiled {
    journal: Journal,
    pub(super) attachment: Arc<Attachment>,
    target: Identity,
    owner: Owner,
    /// Whether nothing had been written down about the target before.
    first: bool,
    done: bool,
}

/// The journal's directory beside that of changed bytes.
const DIRECTORY: &str = "recompiled";

/// Where it is written down which classes were recompiled: beside the bytes that were changed.
fn own_journal(journal: &Journal) -> Result<Journal, journal::Error> {
    // Makes sure that the directory is there and nobody else's.
    drop(journal.open()?);
    Ok(journal.beside(DIRECTORY))
}

impl Recompiled {
    /// Writes down what is going to be done.
    pub(super) fn begin(journal: &Journal, jvm: &Jvm, classes: &Classes, before: &Snapshot) -> Result<Self, Error> {
        static TICKET: AtomicU64 = AtomicU64::new(0);
        let attachment = Arc::new(Attachment::open(jvm)?);
        let own = std::process::id();
        let process = Identity::of(own).ok_or(Error::Gone(own))?;
        let owner = Owner { process, ticket: TICKET.fetch_add(1, Ordering::Relaxed) };
        let journal = own_journal(journal)?;
        let target = jvm.identity();
        let locked = journal.lock(target)?;
        let mut entry = locked.entry()?;
        entry.has_living_owners();
        let first = entry.recompiled.is_empty();
        let hosts = hosts(before, classes);
        entry.recompiled.extend(classes.names().chain(hosts).map(str::to_owned));
        entry.recompiled.sort_unstable();
        entry.recompiled.dedup();
        entry.owners.push(owner);
        locked.save(&entry)?;
        Ok(Self { journal, attachment, target, owner, first, done: false })
    }

    /// Forgets what was going to be done and was not.
    pub(super) fn abandon(mut self) -> Result<(), Error> {
        self.done = true;
        let locked = self.journal.lock(self.target)?;
        let mut entry = locked.entry()?;
        entry.owners.retain(|owner| *owner != self.owner);
        // What a jtrace that died had recompiled is still to be undone.
        let needed = entry.has_living_owners() || !self.first;
        let written = if needed { locked.save(&entry) } else { locked.remove() };
        Ok(written?)
    }

    pub(super) fn undo(mut self) -> Result<(), Error> {
        self.leave()
    }

    fn leave(&mut self) -> Result<(), Error> {
        self.done = true;
        let locked = self.journal.lock(self.target)?;
        let mut entry = locked.entry()?;
        entry.owners.retain(|owner| *owner != self.owner);
        locked.save(&entry)?;
        if entry.has_living_owners() {
            return Ok(());
        }
        let jvm = Jvm::open(self.target.pid).map_err(Error::from);
        match jvm.and_then(|jvm| drop_code(&jvm, &self.attachment, &entry.recompiled)) {
            // The target may have ended meanwhile, and its code with it.
            Err(error) if self.target.is_alive() => Err(error),
            Ok(()) | Err(_) => Ok(locked.remove()?),
        }
    }
}

impl Drop for Recompiled {
    fn drop(&mut self) {
        if self.done || !self.target.is_alive() {
            return;
        }
        if let Err(error) = self.leave() {
            log::warn!("classes of process {} still call probes: {error}", self.target.pid);
        }
    }
}

/// Other classes into whose code the chosen ones are inlined. That code is dropped with theirs, and when it comes back it
/// calls too; as nothing is inlined into it then, it must be dropped in its own right at the end.
fn hosts<'a>(before: &'a Snapshot, classes: &Classes) -> BTreeSet<&'a str> {
    let hosts = before.in_use().filter(|code| code.inlined.iter().any(|name| classes.contains(&name.class)));
    let others = hosts.map(|code| &*code.name.class).filter(|class| !classes.contains(class));
    let others = others.filter(|class| is_class(class));
    others.filter(|class| !LEFT_ALONE.iter().any(|prefix| class.starts_with(prefix))).take(MAX_HOSTS).collect()
}

/// Has the code of classes compiled anew, with the flag as it is. Classes without code that calls are left alone.
fn drop_code(jvm: &Jvm, attachment: &Attachment, classes: &[String]) -> Result<(), Error> {
    // One that does not answer is not waited for as long as its recorder may take to start.
    attachment.command("VM.version", ALIVE_LIMIT)?;
    // A compilation that began while the flag was up may have ended since the first look.
    for _ in 0..DROP_PASSES {
        let now = Snapshot::take(jvm)?;
        let of_calling = now.in_use().filter(|code| code.calls.is_none_or(|calls| calls != Calls::default()));
        let calling: BTreeSet<&str> = of_calling.flat_map(Compilation::names).map(|name| &*name.class).collect();
        let wanted: Vec<&str> = classes.iter().map(String::as_str).filter(|class| calling.contains(class)).collect();
        for some in wanted.chunks(recompile::MAX_CLASSES) {
            transform(attachment, &Classes::new(recompile::SINCE, some.iter().copied())?)?.back()?;
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(())
}

/// What became of classes that a dead jtrace had recompiled.
#[derive(Debug)]
pub struct Recovered {
    /// The process.
    pub target: Identity,
    /// Whether their code was dropped; where not, it is tried again at the next start.
    pub undone: Result<(), Error>,
}

/// Takes back what dead jtraces had recompiled in any target, see [`recover_one`].
pub fn recover(journal: &Journal) -> Result<Vec<Recovered>, Error> {
    let targets = journal.beside(DIRECTORY).targets()?;
    let outcomes = targets.into_iter().map(|target| recover_one(journal, target));
    Ok(outcomes.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Targets in which a jtrace has recompiled something that may have died.
pub fn targets(journal: &Journal) -> Result<Vec<Identity>, Error> {
    Ok(journal.beside(DIRECTORY).owed()?)
}

/// Takes back what dead jtraces had recompiled in one target; absent where that is nothing, or another jtrace is at it. To be
/// called after the flags' own [`recover_one`](super::super::flags::arm::recover_one), so that nothing is compiled with a
/// flag that was left up.
pub fn recover_one(journal: &Journal, target: Identity) -> Result<Option<Recovered>, Error> {
    let journal = journal.beside(DIRECTORY);
    let Some((locked, mut entry)) = journal.try_lock_written(target)? else { return Ok(None) };
    if entry.has_living_owners() {
        return Ok(None);
    }
    let undone = Jvm::open(target.pid).map_err(Error::from).and_then(|jvm| {
        drop_code(&jvm, &Attachment::open(&jvm)?, &entry.recompiled)?;
        Ok(locked.remove()?)
    });
    Ok(Some(Recovered { target, undone }))
}
