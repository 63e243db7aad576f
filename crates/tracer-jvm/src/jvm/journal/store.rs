//! The journal's directory: who may have written it, a lock for each target, and files that are whole or not there.
//!
//! Whoever undoes what was done to a target has to read its memory, and may have to wait for it. So a lock is for one target:
//! one that answers nobody holds up those who want something of it, and no other.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{
        AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, fsync, mkdir, open, openat, renameat, statat,
        unlinkat,
    },
    io::Errno,
    process::geteuid,
};

use super::{Entry, FLAGS, Identity};

/// Largest file of one target.
const MAX_ENTRY_BYTES: u64 = 64 << 10;
/// Most files that are looked at.
const MAX_ENTRIES: usize = 4096;
/// How long another jtrace may hold a target's lock. It needs some 10 ms.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const EXTENSION: &str = ".json";
const UNFINISHED: &str = ".json.tmp";
const LOCK: &str = ".lock";

/// Why the journal could not be used. Nothing is changed in a target then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no directory that belongs to this user alone.
    #[error("no place for the undo journal: XDG_RUNTIME_DIR is not set")]
    NoPlace,
    /// A file or directory could not be used.
    #[error("cannot {action} the undo journal {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another jtrace has the target's lock for long.
    #[error("another jtrace works on the process: {path} was not free within {} s", LOCK_PATIENCE.as_secs())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// It speaks of something that jtrace never changes.
    #[error("the undo journal {path} names the flag `{flag}`, which jtrace never changes")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What it names.
        flag: String,
    },
    /// Somebody else could have written to the directory.
    #[error("the undo journal {path} belongs to user {uid} with mode {mode:o}, not to user {expected} alone")]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        uid: u32,
        /// Its mode.
        mode: u32,
        /// Who should own it.
        expected: u32,
    },
    /// A file is there but makes no sense.
    #[error("the undo journal {path} is not understood")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// The journal's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    path: PathBuf,
}

/// What is written about one target, with all other jtraces kept out until it is dropped.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    directory: OwnedFd,
    target: Identity,
    /// Boot and pid namespace that jtrace runs in.
    scope: (String, String),
    /// Holds the lock.
    _lock: OwnedFd,
}

impl Journal {
    /// The place for this user: `/run/jtrace` for root, `$XDG_RUNTIME_DIR/jtrace` for others.
    pub fn for_this_user() -> Result<Self, Error> {
        if geteuid().is_root() {
            return Ok(Self::at("/run/jtrace"));
        }
        let base = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        base.map(|base| Self::at(base.join("jtrace"))).ok_or(Error::NoPlace)
    }

    /// A place of one's own choice.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Another journal in this one's directory, which must be there before it is used.
    #[must_use]
    pub fn beside(&self, name: &str) -> Self {
        Self { path: self.path.join(name) }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything at all; without it there is nothing to undo.
    pub fn exists(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    /// Makes the directory if needed, checks that nobody else can write to it, and waits a while for a target's lock.
    pub fn lock(&self, target: Identity) -> Result<Locked, Error> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            if let Some(locked) = self.try_lock(target)? {
                return Ok(locked);
            }
            if Instant::now() > deadline {
                return Err(Error::Busy { path: self.path.join(lock_name(target)) });
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The same without waiting; absent where another jtrace works on the target.
    pub fn try_lock(&self, target: Identity) -> Result<Option<Locked>, Error> {
        let directory = self.open()?;
        let name = lock_name(target);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lock = openat(&directory, name.as_str(), flags, Mode::RUSR | Mode::WUSR).map_err(self.failed("lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(self.failed("lock")(errno)),
        }
        // Whoever held it before has removed it: then another file has its name, or none has.
        let held = fstat(&lock).map_err(self.failed("lock"))?;
        let named = statat(&directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        if !named.is_ok_and(|named| (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)) {
            return Ok(None);
        }
        let scope = scope().map_err(|source| Error::Io { action: "date", path: self.path.clone(), source })?;
        Ok(Some(Locked { path: self.path.clone(), directory, target, scope, _lock: lock }))
    }

    /// The same with what is written about the target; absent too where that is nothing, or the target is gone, which is then
    /// forgotten. A file that is damaged says nothing.
    pub fn try_lock_written(&self, target: Identity) -> Result<Option<(Locked, Entry)>, Error> {
        let Some(locked) = self.try_lock(target)? else { return Ok(None) };
        let Some(entry) = locked.written().ok().flatten() else { return Ok(None) };
        if !target.is_alive() {
            locked.remove()?;
            return Ok(None);
        }
        Ok(Some((locked, entry)))
    }

    /// Makes the directory if needed, and checks that nobody else can write to it.
    pub fn open(&self) -> Result<OwnedFd, Error> {
        match mkdir(&self.path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(self.failed("create")(errno)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = open(&self.path, flags, Mode::empty()).map_err(self.failed("open"))?;
        let stat = fstat(&directory).map_err(self.failed("examine"))?;
        let expected = geteuid().as_raw();
        if stat.st_uid != expected || stat.st_mode & 0o077 != 0 {
            let (path, mode) = (self.path.clone(), stat.st_mode & 0o7777);
            return Err(Error::Untrusted { path, uid: stat.st_uid, mode, expected });
        }
        Ok(directory)
    }

    /// Targets of which something is written, or was begun to be, by pid. Nothing is locked.
    pub fn targets(&self) -> Result<Vec<Identity>, Error> {
        if !self.exists() {
            return Ok(Vec::new());
        }
        let directory = self.open()?;
        let names = Dir::read_from(directory.as_fd()).map_err(self.failed("list"))?.filter_map(Result::ok);
        let names = names.filter_map(|entry| target_of(entry.file_name().to_str().ok()?)).take(MAX_ENTRIES);
        let mut targets: Vec<Identity> = names.collect();
        targets.sort_unstable_by_key(|target| (target.pid, target.start_ticks));
        targets.dedup();
        Ok(targets)
    }

    /// Targets of which a jtrace may have died: all but those whose jtraces all live. Nothing is locked for that, as a file is
    /// replaced as a whole.
    pub fn owed(&self) -> Result<Vec<Identity>, Error> {
        let mut targets = self.targets()?;
        if !targets.is_empty() {
            let directory = self.open()?;
            targets.retain(|target| !is_looked_after(&directory, &self.path, *target));
        }
        Ok(targets)
    }

    fn failed(&self, action: &'static str) -> impl Fn(Errno) -> Error + use<> {
        let path = self.path.clone();
        move |errno| Error::Io { action, path: path.clone(), source: errno.into() }
    }
}

/// What a file of the journal is about.
fn target_of(name: &str) -> Option<Identity> {
    let name = [UNFINISHED, EXTENSION, LOCK].iter().find_map(|extension| name.strip_suffix(extension))?;
    let (pid, start_ticks) = name.split_once('-')?;
    Some(Identity { pid: pid.parse().ok()?, start_ticks: start_ticks.parse().ok()? })
}

/// The running boot, and the pid namespace of this process.
fn scope() -> io::Result<(String, String)> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned();
    Ok((boot, namespace))
}

impl Drop for Locked {
    fn drop(&mut self) {
        // While it is held, so that whoever gets it next sees that it has gone.
        let _: Result<(), Errno> = unlinkat(&self.directory, lock_name(self.target), AtFlags::empty());
    }
}

impl Locked {
    /// What is written about the target; a new entry where nothing is.
    pub fn entry(&self) -> Result<Entry, Error> {
        let (boot, pid_namespace) = self.scope.clone();
        let (target, changes, recompiled, owners) = (self.target, Vec::new(), Vec::new(), Vec::new());
        let written = self.load()?.filter(|entry| entry.target == target && entry.boot == boot);
        Ok(written.unwrap_or(Entry { target, boot, pid_namespace, changes, recompiled, owners }))
    }

    /// What is written about the target, where that concerns this jtrace. What is of an earlier boot and what is unfinished is
    /// deleted: it says nothing about any living process.
    pub fn written(&self) -> Result<Option<Entry>, Error> {
        self.remove_file(&format!("{}{UNFINISHED}", stem(self.target)))?;
        match self.load()? {
            Some(entry) if entry.boot != self.scope.0 => self.remove().map(|()| None),
            // Pids of another namespace cannot be judged from here.
            Some(entry) if entry.pid_namespace == self.scope.1 && entry.target == self.target => Ok(Some(entry)),
            Some(_) | None => Ok(None),
        }
    }

    /// Writes an entry so that it survives whatever happens next: whole, or as it was before.
    pub fn save(&self, entry: &Entry) -> Result<(), Error> {
        let (name, unfinished) = (file_name(self.target), format!("{}{UNFINISHED}", stem(self.target)));
        let text = serde_json::to_vec_pretty(entry)
            .map_err(|source| Error::Malformed { path: self.path.join(&name), source })?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, unfinished.as_str(), flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| self.failed("create", &unfinished, errno))?;
        let mut file = File::from(file);
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        written.map_err(|source| Error::Io { action: "write", path: self.path.join(&unfinished), source })?;
        renameat(&self.directory, unfinished.as_str(), &self.directory, name.as_str())
            .and_then(|()| fsync(&self.directory))
            .map_err(|errno| self.failed("write", &name, errno))
    }

    /// Forgets the target.
    pub fn remove(&self) -> Result<(), Error> {
        self.remove_file(&file_name(self.target))
    }

    fn remove_file(&self, name: &str) -> Result<(), Error> {
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => fsync(&self.directory).map_err(|errno| self.failed("sync", name, errno)),
            Err(errno) => Err(self.failed("delete", name, errno)),
        }
    }

    fn load(&self) -> Result<Option<Entry>, Error> {
        load(&self.directory, &self.path, self.target)
    }

    fn failed(&self, action: &'static str, name: &str, errno: Errno) -> Error {
        Error::Io { action, path: self.path.join(Path::new(name)), source: errno.into() }
    }
}

/// Whether all jtraces live that have changed something in a living target.
fn is_looked_after(directory: &OwnedFd, path: &Path, target: Identity) -> bool {
    let Ok(Some(entry)) = load(directory, path, target) else { return false };
    target.is_alive() && !entry.owners.is_empty() && entry.owners.iter().all(|owner| owner.process.is_alive())
}

/// What is written about a target in the directory at this path; nothing where there is no such file.
fn load(directory: &OwnedFd, path: &Path, target: Identity) -> Result<Option<Entry>, Error> {
    let name = &*file_name(target);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(directory, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(Error::Io { action: "open", path: path.join(name), source: errno.into() }),
    };
    let failed = |source| Error::Io { action: "read", path: path.join(name), source };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.uid() != geteuid().as_raw() {
        return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file of this user")));
    }
    let mut text = Vec::new();
    file.take(MAX_ENTRY_BYTES).read_to_end(&mut text).map_err(failed)?;
    parse(path.join(name), &text).map(Some)
}

/// Reads an entry. One that names a flag that jtrace never changes was not written by jtrace.
fn parse(path: PathBuf, text: &[u8]) -> Result<Entry, Error> {
    let entry: Entry = match serde_json::from_slice(text) {
        Ok(entry) => entry,
        Err(source) => return Err(Error::Malformed { path, source }),
    };
    match entry.changes.iter().find(|change| !FLAGS.contains(&&*change.flag)) {
        Some(change) => Err(Error::Unknown { path, flag: change.flag.clone() }),
        None => Ok(entry),
    }
}

/// How the names of a target's files begin.
fn stem(target: Identity) -> String {
    format!("{}-{}", target.pid, target.start_ticks)
}

fn file_name(target: Identity) -> String {
    format!("{}{EXTENSION}", stem(target))
}

fn lock_name(target: Identity) -> String {
    format!("{}{LOCK}", stem(target))
}

#[cfg(test)]
mod tests;
