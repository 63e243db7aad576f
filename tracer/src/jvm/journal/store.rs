//! The journal's directory: who may have written it, the lock, and files that are whole or not there.

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
    fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fsync, mkdir, open, openat, renameat, unlinkat},
    io::Errno,
    process::geteuid,
};

use super::{Entry, Identity};

/// Largest file of one target.
const MAX_ENTRY_BYTES: u64 = 64 << 10;
/// Most files that are looked at.
const MAX_ENTRIES: usize = 4096;
/// How long another jtrace may hold the lock. It needs some 10 ms.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const EXTENSION: &str = ".json";
const UNFINISHED: &str = ".tmp";

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

/// The journal, with all other jtraces kept out until it is dropped.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    directory: OwnedFd,
    /// Boot and pid namespace that jtrace runs in.
    scope: (String, String),
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

    /// Whether there is anything at all; without it there is nothing to undo.
    pub fn exists(&self) -> bool {
        self.path.symlink_metadata().is_ok()
    }

    /// Makes the directory if needed, checks that nobody else can write to it, and waits a while for its lock.
    pub fn lock(&self) -> Result<Locked, Error> {
        let failed = |action| {
            let path = self.path.clone();
            move |errno: Errno| Error::Io { action, path, source: errno.into() }
        };
        match mkdir(&self.path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed("create")(errno)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = open(&self.path, flags, Mode::empty()).map_err(failed("open"))?;
        let stat = rustix::fs::fstat(&directory).map_err(failed("examine"))?;
        let expected = geteuid().as_raw();
        if stat.st_uid != expected || stat.st_mode & 0o077 != 0 {
            let (path, mode) = (self.path.clone(), stat.st_mode & 0o7777);
            return Err(Error::Untrusted { path, uid: stat.st_uid, mode, expected });
        }
        let deadline = Instant::now() + LOCK_PATIENCE;
        while let Err(errno) = flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            if errno != Errno::WOULDBLOCK || Instant::now() > deadline {
                return Err(failed("lock")(errno));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let scope = scope().map_err(|source| Error::Io { action: "date", path: self.path.clone(), source })?;
        Ok(Locked { path: self.path.clone(), directory, scope })
    }
}

/// The running boot, and the pid namespace of this process.
fn scope() -> io::Result<(String, String)> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned();
    Ok((boot, namespace))
}

impl Locked {
    /// What is written about a target; a new entry where nothing is.
    pub fn entry(&self, target: Identity) -> Result<Entry, Error> {
        let empty = || {
            let (boot, pid_namespace) = self.scope.clone();
            Entry { target, boot, pid_namespace, changes: Vec::new(), recompiled: Vec::new(), owners: Vec::new() }
        };
        Ok(self
            .load(&file_name(target))?
            .filter(|entry| entry.target == target && entry.boot == self.scope.0)
            .unwrap_or_else(empty))
    }

    /// All entries that concern this jtrace, with those that could not be read. Entries of an earlier boot and unfinished
    /// files are deleted: they say nothing about any living process.
    pub fn entries(&self) -> Result<(Vec<Entry>, Vec<Error>), Error> {
        let (mut entries, mut errors) = (Vec::new(), Vec::new());
        for name in self.names()? {
            if name.ends_with(UNFINISHED) {
                self.remove_file(&name)?;
                continue;
            }
            match self.load(&name) {
                Ok(Some(entry)) if entry.boot != self.scope.0 => self.remove_file(&name)?,
                // Pids of another namespace cannot be judged from here.
                Ok(Some(entry)) if entry.pid_namespace != self.scope.1 => {}
                Ok(Some(entry)) if file_name(entry.target) == name => entries.push(entry),
                Ok(Some(_) | None) => {}
                Err(error) => errors.push(error),
            }
        }
        Ok((entries, errors))
    }

    /// Writes an entry so that it survives whatever happens next: whole, or as it was before.
    pub fn save(&self, entry: &Entry) -> Result<(), Error> {
        let name = file_name(entry.target);
        let unfinished = format!("{name}{UNFINISHED}");
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

    /// Forgets a target.
    pub fn remove(&self, target: Identity) -> Result<(), Error> {
        self.remove_file(&file_name(target))
    }

    fn remove_file(&self, name: &str) -> Result<(), Error> {
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => fsync(&self.directory).map_err(|errno| self.failed("sync", name, errno)),
            Err(errno) => Err(self.failed("delete", name, errno)),
        }
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let directory = Dir::read_from(self.directory.as_fd()).map_err(|errno| self.failed("list", "", errno))?;
        let names =
            directory.filter_map(Result::ok).filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        Ok(names.filter(|name| name.ends_with(EXTENSION) || name.ends_with(UNFINISHED)).take(MAX_ENTRIES).collect())
    }

    fn load(&self, name: &str) -> Result<Option<Entry>, Error> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.failed("open", name, errno)),
        };
        let failed = |source| Error::Io { action: "read", path: self.path.join(name), source };
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() || metadata.uid() != geteuid().as_raw() {
            return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file of this user")));
        }
        let mut text = Vec::new();
        file.take(MAX_ENTRY_BYTES).read_to_end(&mut text).map_err(failed)?;
        let entry = serde_json::from_slice(&text);
        entry.map(Some).map_err(|source| Error::Malformed { path: self.path.join(name), source })
    }

    fn failed(&self, action: &'static str, name: &str, errno: Errno) -> Error {
        Error::Io { action, path: self.path.join(Path::new(name)), source: errno.into() }
    }
}

fn file_name(target: Identity) -> String {
    format!("{}-{}{EXTENSION}", target.pid, target.start_ticks)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::{
        super::{Change, Owner},
        *,
    };

    const TARGET: Identity = Identity { pid: 42, start_ticks: 1000 };

    fn journal() -> (tempfile::TempDir, Journal) {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::at(directory.path().join("jtrace"));
        (directory, journal)
    }

    fn entry(locked: &Locked) -> Entry {
        let mut entry = locked.entry(TARGET).unwrap();
        entry.changes.push(Change { flag: "F".to_owned(), address: 0x1000, original: 0, armed: 1 });
        entry.owners.push(Owner { process: Identity { pid: 7, start_ticks: 8 }, ticket: 9 });
        entry
    }

    #[test]
    fn what_is_saved_is_found_again_and_private() {
        let (_directory, journal) = journal();
        let locked = journal.lock().unwrap();
        let written = entry(&locked);
        locked.save(&written).unwrap();
        drop(locked);
        let locked = journal.lock().unwrap();
        assert_eq!(locked.entry(TARGET).unwrap(), written);
        assert_eq!(locked.entries().unwrap().0, [written]);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&journal.path), mode(&journal.path.join("42-1000.json"))), (0o700, 0o600));
        locked.remove(TARGET).unwrap();
        assert!(locked.entry(TARGET).unwrap().changes.is_empty());
    }

    #[test]
    fn a_directory_that_others_can_enter_is_refused() {
        let (_directory, journal) = journal();
        fs::create_dir(&journal.path).unwrap();
        fs::set_permissions(&journal.path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(journal.lock(), Err(Error::Untrusted { mode: 0o755, .. })));
    }

    #[test]
    fn links_are_not_followed() {
        let (directory, journal) = journal();
        fs::create_dir(directory.path().join("real")).unwrap();
        symlink(directory.path().join("real"), &journal.path).unwrap();
        assert!(matches!(journal.lock(), Err(Error::Io { action: "open", .. })));
        fs::remove_file(&journal.path).unwrap();

        let locked = journal.lock().unwrap();
        let outside = directory.path().join("outside");
        fs::write(&outside, "untouched").unwrap();
        symlink(&outside, journal.path.join("42-1000.json")).unwrap();
        symlink(&outside, journal.path.join("42-1000.json.tmp")).unwrap();
        assert!(locked.entry(TARGET).is_err());
        let (boot, pid_namespace) = locked.scope.clone();
        let written = Entry {
            target: TARGET,
            boot,
            pid_namespace,
            changes: Vec::new(),
            recompiled: Vec::new(),
            owners: Vec::new(),
        };
        assert!(locked.save(&written).is_err());
        assert_eq!(fs::read_to_string(&outside).unwrap(), "untouched");
    }

    #[test]
    fn a_damaged_file_is_an_error_of_its_own_and_hides_no_other() {
        let (_directory, journal) = journal();
        let locked = journal.lock().unwrap();
        let written = entry(&locked);
        locked.save(&written).unwrap();
        fs::write(journal.path.join("43-1.json"), "{\"target\":").unwrap();
        fs::write(journal.path.join("44-1.json.tmp"), "").unwrap();
        let (entries, errors) = locked.entries().unwrap();
        assert_eq!(entries, [written]);
        assert!(matches!(&errors[..], [Error::Malformed { path, .. }] if path.ends_with("43-1.json")));
        assert!(!journal.path.join("44-1.json.tmp").exists());
    }

    #[test]
    fn entries_of_another_boot_are_deleted_and_of_another_namespace_kept() {
        let (_directory, journal) = journal();
        let locked = journal.lock().unwrap();
        let old = Entry { boot: "before".to_owned(), ..entry(&locked) };
        let foreign_target = Identity { pid: 43, ..TARGET };
        let foreign = Entry { target: foreign_target, pid_namespace: "pid:[1]".to_owned(), ..entry(&locked) };
        locked.save(&old).unwrap();
        locked.save(&foreign).unwrap();
        assert!(locked.entries().unwrap().0.is_empty());
        assert!(!journal.path.join("42-1000.json").exists());
        assert!(journal.path.join("43-1000.json").exists());
    }
}
