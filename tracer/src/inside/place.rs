//! Where a JVM finds the library: a file of its own in the directory that it sees as `/tmp`, for as long as loading takes.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags, StatVfsMountFlags, fchmod, open, openat, openat2, statvfs, unlinkat},
    io::Errno,
};

/// Directories that are tried, as the JVM sees them: one may be mounted so that nothing in it can be run.
const DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// How the names of these files begin.
pub(super) const PREFIX: &str = ".jtrace-inside-";

/// The file; it goes with this value.
#[derive(Debug)]
pub(super) struct Placed {
    directory: OwnedFd,
    name: String,
    /// Its path as the JVM sees it.
    pub(super) path: PathBuf,
}

impl Drop for Placed {
    fn drop(&mut self) {
        let gone = unlinkat(&self.directory, self.name.as_str(), AtFlags::empty());
        // A library that a JVM has started with takes its own file away.
        if let Err(error) = gone
            && error != Errno::NOENT
        {
            log::warn!("{} stays behind: {error}", self.path.display());
        }
    }
}

/// The directories of a process, each as a file to be made; the caller takes the first with which the JVM is content.
pub(super) fn directories() -> impl Iterator<Item = &'static Path> {
    DIRECTORIES.iter().map(Path::new)
}

/// Opens a directory below the root of another process, which may have put links anywhere: none of them is followed.
fn open_directory(root: &Path, directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(root, flags, Mode::empty())?;
    let within = directory.strip_prefix("/").unwrap_or(directory);
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(&root, within, flags, Mode::empty(), resolve)?)
}

/// Writes a new file into a directory of a process. No link is followed and no file is taken over; only the superuser can write it.
pub(super) fn put(pid: u32, directory: &Path, bytes: &[u8]) -> io::Result<Placed> {
    let folder = open_directory(&Path::new("/proc").join(pid.to_string()).join("root"), directory)?;
    for _ in 0..16 {
        let name = format!("{PREFIX}{:016x}.so", random());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => file,
            Err(Errno::EXIST) => continue,
            Err(errno) => return Err(errno.into()),
        };
        let placed = Placed { path: directory.join(&name), directory: folder, name };
        // Whoever runs the JVM must be able to read it, and nobody to change it.
        fchmod(&file, Mode::RUSR | Mode::RGRP | Mode::ROTH)?;
        File::from(file).write_all(bytes)?;
        return Ok(placed);
    }
    Err(io::Error::other("no free name was found"))
}

/// Writes the library where a process that jtrace starts will load it: a directory from which files can be run.
pub(super) fn put_here(bytes: &[u8]) -> io::Result<Placed> {
    let mut last = io::Error::other("no directory takes it");
    for directory in directories() {
        let can_run = statvfs(directory).is_ok_and(|system| !system.f_flag.contains(StatVfsMountFlags::NOEXEC));
        match put(std::process::id(), directory, bytes) {
            Ok(placed) if can_run => return Ok(placed),
            Ok(_) => last = io::Error::other(format!("nothing in {} can be run", directory.display())),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_on_the_way_is_followed() {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(root.path().join("var/tmp")).expect("made");
        assert!(open_directory(root.path(), Path::new("/var/tmp")).is_ok());
        symlink("/tmp", root.path().join("tmp")).expect("made");
        symlink("var", root.path().join("dev")).expect("made");
        for directory in ["/tmp", "/dev/tmp", "/../tmp"] {
            assert!(open_directory(root.path(), Path::new(directory)).is_err(), "{directory}");
        }
    }
}
