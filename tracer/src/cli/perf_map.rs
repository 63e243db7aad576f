//! `jtrace perf-map`: names for `perf` of the code that a JVM has compiled, in the file where `perf` looks for them.
//!
//! The file lies in a directory that others can write to, perhaps in a container that nobody should trust, and jtrace runs
//! as root. So it is written under a name that was not there before, without following any link, and moved to its place
//! at once; there it replaces only a map that the target or this user has written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::Path,
    process::ExitCode,
};

use rustix::{
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, open, openat, renameat, statat, unlinkat},
    io::Errno,
    process::geteuid,
};

use super::{Failure, prepare};
use crate::{
    jvm::{
        code_cache::{self, Blob},
        find::{Jvm, process::Status},
        peek::Pages,
    },
    symbol::java::JavaSymbols,
    view::escape,
};

/// How often another name is tried for the unfinished file.
const ATTEMPTS: u32 = 16;

/// Options of `jtrace perf-map`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM
    pid: u32,

    /// Print the map instead of writing /tmp/perf-PID.map as the JVM sees it
    #[arg(long)]
    stdout: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let jvm = prepare::open(options.pid)?;
    let entries = entries(&jvm)?;
    if options.stdout {
        let mut out = BufWriter::new(io::stdout().lock());
        write_entries(&entries, &mut out)?;
        out.flush()?;
        // Standard error may be closed, which is no reason to fail.
        let _: io::Result<()> = writeln!(io::stderr(), "{} entries", entries.len());
        return Ok(ExitCode::SUCCESS);
    }
    let place = Place::of(&jvm)?;
    place.write(&entries).map_err(|error| place.unwritable(&error))?;
    let name = &place.name;
    writeln!(io::stdout(), "wrote {} entries to /tmp/{name} of process {}", entries.len(), options.pid)?;
    Ok(ExitCode::SUCCESS)
}

/// A line of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    start: u64,
    size: u64,
    name: String,
}

/// The code that stands in the code cache now, in the order of addresses.
fn entries(jvm: &Jvm) -> Result<Vec<Entry>, Failure> {
    let failed = |error: code_cache::Error| {
        let hint = error.hint();
        Failure::new(error, hint)
    };
    // Everything is looked at once and within moments.
    let pages = Pages::new(&jvm.memory);
    let mut symbols = JavaSymbols::open(&pages, &jvm.tables).map_err(failed)?;
    let (blobs, _) = symbols.code_cache().snapshot(&pages).map_err(failed)?;
    // Code without a method waits for being thrown away and does not run any more.
    let runs = |blob: &&Blob| blob.code_end > blob.code_begin && blob.compiled.is_none_or(|code| code.method != 0);
    let named = blobs.iter().filter(runs).map(|blob| Entry {
        start: blob.code_begin,
        size: blob.code_end - blob.code_begin,
        name: symbols.blob_name(blob),
    });
    Ok(named.collect())
}

/// One line each, whatever a class is called.
fn write_entries(entries: &[Entry], out: &mut impl io::Write) -> io::Result<()> {
    entries
        .iter()
        .try_for_each(|Entry { start, size, name }| writeln!(out, "{start:x} {size:x} {}", escape::terminal(name)))
}

/// Where the map goes.
struct Place {
    directory: OwnedFd,
    name: String,
    owner: Owner,
}

/// Whom the map belongs to: the user of the target, as if the JVM had written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    uid: u32,
    gid: u32,
}

impl Place {
    fn of(jvm: &Jvm) -> Result<Self, Failure> {
        let pid = jvm.target.pid;
        let gone = |_| Failure::new(format!("process {pid} has gone"), "`jtrace list` shows the JVMs".to_owned());
        let uid = Status::read(&pid.to_string()).map_err(gone)?.uid;
        let gid = fs::metadata(format!("/proc/{pid}")).map_err(gone)?.gid();
        let place = Self::open(
            Path::new(&format!("/proc/{pid}/root/tmp")),
            format!("perf-{}.map", jvm.target.namespace_pid),
            Owner { uid, gid },
        )?;
        // Only now is it known that the directory was this process's, and not that of another with its number.
        if jvm.identity().is_alive() { Ok(place) } else { Err(gone(io::ErrorKind::NotFound.into())) }
    }

    fn open(directory: &Path, name: String, owner: Owner) -> Result<Self, Failure> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = open(directory, flags, Mode::empty()).map_err(|errno| {
            Failure::new(
                format!("cannot open {}: {errno}", directory.display()),
                "the JVM's /tmp must be a directory and no link; `--stdout` needs none".to_owned(),
            )
        })?;
        Ok(Self { directory, name, owner })
    }

    /// Writes the map, whole or not at all.
    fn write(&self, entries: &[Entry]) -> io::Result<()> {
        self.check_old()?;
        let (unfinished, file) = self.create()?;
        let written = self
            .fill(file, entries)
            .and_then(|()| Ok(renameat(&self.directory, unfinished.as_str(), &self.directory, self.name.as_str())?));
        if written.is_err() {
            // What failed is told; that its rest could not be removed either would add nothing.
            let _: Result<(), Errno> = unlinkat(&self.directory, unfinished.as_str(), AtFlags::empty());
        }
        written
    }

    /// What stands in the map's place must be a file that the target or this user wrote.
    fn check_old(&self) -> io::Result<()> {
        let old = match statat(&self.directory, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(old) => old,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        let refused = |what: &str| Err(io::Error::new(io::ErrorKind::AlreadyExists, what.to_owned()));
        if FileType::from_raw_mode(old.st_mode) != FileType::RegularFile {
            return refused("what is there is no file");
        }
        if old.st_uid != self.owner.uid && old.st_uid != geteuid().as_raw() {
            return refused("what is there belongs to somebody else");
        }
        if old.st_nlink != 1 {
            return refused("what is there has a second name");
        }
        Ok(())
    }

    /// A file under a name that was not there.
    fn create(&self) -> io::Result<(String, OwnedFd)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for attempt in 0..ATTEMPTS {
            let name = format!(".{}.{}.{attempt}", self.name, std::process::id());
            match openat(&self.directory, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((name, file)),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    fn fill(&self, file: OwnedFd, entries: &[Entry]) -> io::Result<()> {
        let mut out = BufWriter::new(File::from(file));
        write_entries(entries, &mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        fchmod(file.as_fd(), Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH)?;
        let Owner { uid, gid } = self.owner;
        if uid != geteuid().as_raw() {
            fchown(file.as_fd(), Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
        Ok(())
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        let name = &self.name;
        Failure::new(
            format!("cannot write /tmp/{name} of the target: {error}"),
            "remove what is in the way, or use `--stdout`".to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn place(directory: &Path) -> Place {
        let owner = Owner { uid: geteuid().as_raw(), gid: rustix::process::getegid().as_raw() };
        Place::open(directory, "perf-7.map".to_owned(), owner).unwrap()
    }

    fn entry(name: &str) -> Entry {
        Entry { start: 0x7f00_0000_1000, size: 0x40, name: name.to_owned() }
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_fresh_map_replaces_the_old_one_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let map = directory.path().join("perf-7.map");
        fs::write(&map, "old").unwrap();
        place(directory.path()).write(&[entry("com.shop.Cart.add")]).unwrap();
        assert_eq!(fs::read_to_string(&map).unwrap(), "7f0000001000 40 com.shop.Cart.add\n");
        assert_eq!(fs::metadata(&map).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(names(directory.path()), ["perf-7.map"]);
    }

    #[test]
    fn a_name_stays_on_its_line() {
        let mut out = Vec::new();
        write_entries(&[entry("evil\n0 ffff everything\r\x1b[2J")], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "7f0000001000 40 evil\\n0 ffff everything\\r\\x1b[2J\n");
    }

    #[test]
    fn a_link_or_a_directory_in_the_place_of_the_map_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (map, victim) = (directory.path().join("perf-7.map"), directory.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        fs::remove_file(&map).unwrap();
        fs::hard_link(&victim, &map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        fs::remove_file(&map).unwrap();
        fs::create_dir(&map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(names(directory.path()), ["perf-7.map", "victim"]);
    }

    #[test]
    fn an_unfinished_file_that_is_a_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let trap = directory.path().join(format!(".perf-7.map.{}.0", std::process::id()));
        symlink(&victim, &trap).unwrap();
        place(directory.path()).write(&[entry("a")]).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(fs::symlink_metadata(directory.path().join("perf-7.map")).unwrap().is_file());
    }

    #[test]
    fn a_directory_that_is_a_link_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("tmp");
        symlink("/tmp", &link).unwrap();
        assert!(Place::open(&link, "perf-7.map".to_owned(), Owner { uid: 0, gid: 0 }).is_err());
    }

    #[test]
    fn a_map_of_another_user_is_not_replaced() {
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let map = directory.path().join("perf-7.map");
        fs::write(&map, "theirs").unwrap();
        std::os::unix::fs::chown(&map, Some(12345), None).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(fs::read_to_string(&map).unwrap(), "theirs");
        let theirs = Place { owner: Owner { uid: 12345, gid: 12345 }, ..place(directory.path()) };
        theirs.write(&[entry("a")]).unwrap();
        assert_eq!(fs::metadata(&map).unwrap().uid(), 12345);
    }
}
