//! Where a JVM finds the library: a file of its own in the directory that it sees as `/tmp`, for as long as loading takes.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, StatVfsMountFlags, fchmod, open, openat, statvfs, unlinkat},
    io::Errno,
};

use crate::jvm::{
    breakpoints::LIBRARY,
    target_files::{At, TargetFiles},
};

/// Directories that are tried, as the JVM sees them: one may be mounted so that nothing in it can be run.
const DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

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
pub(super) fn directories() -> impl Iterator<Item = &'static str> {
    DIRECTORIES.into_iter()
}

/// The file in a running JVM's directory; it goes with this value, and when jtrace ends in any way.
#[derive(Debug)]
pub(super) struct PlacedThere<'a> {
    files: &'a TargetFiles,
    directory: &'static str,
    name: String,
    /// Its path as the JVM sees it.
    pub(super) path: PathBuf,
}

impl Drop for PlacedThere<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.files.remove(At { directory: self.directory, name: &self.name }) {
            log::warn!("{} stays behind: {error}", self.path.display());
        }
    }
}

/// Writes a new file into a directory of a running JVM, as the JVM's user.
pub(super) fn put_there<'a>(
    files: &'a TargetFiles,
    directory: &'static str,
    bytes: &[u8],
) -> io::Result<PlacedThere<'a>> {
    let name = new_name();
    files.create(At { directory, name: &name }, 0o444, true, bytes)?;
    Ok(PlacedThere { path: Path::new(directory).join(&name), files, directory, name })
}

fn new_name() -> String {
    format!("{LIBRARY}{:016x}.so", random())
}

/// Writes a new file into a directory of this process. No link is followed and no file is taken over.
fn put(directory: &'static str, bytes: &[u8]) -> io::Result<Placed> {
    let folder = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let name = new_name();
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&folder, name.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
    let placed = Placed { path: Path::new(directory).join(&name), directory: folder, name };
    // Whoever runs the JVM must be able to read it, and nobody to change it.
    fchmod(&file, Mode::RUSR | Mode::RGRP | Mode::ROTH)?;
    File::from(file).write_all(bytes)?;
    Ok(placed)
}

/// Writes the library where a process that jtrace starts will load it: a directory from which files can be run.
pub(super) fn put_here(bytes: &[u8]) -> io::Result<Placed> {
    let mut last = io::Error::other("no directory takes it");
    for directory in directories() {
        let can_run = statvfs(directory).is_ok_and(|system| !system.f_flag.contains(StatVfsMountFlags::NOEXEC));
        match put(directory, bytes) {
            Ok(placed) if can_run => return Ok(placed),
            Ok(_) => last = io::Error::other(format!("nothing in {directory} can be run")),
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
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn the_file_in_a_jvm_is_whole_for_reading_only_and_goes_with_its_value() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = TargetFiles::within(directory.path());
        let placed = put_there(&files, "/tmp", b"library").expect("put");
        let path = directory.path().join(placed.path.file_name().expect("a name"));
        assert_eq!(std::fs::read(&path).expect("there"), b"library");
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o444);
        drop(placed);
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_that_is_a_link_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let link = directory.path().join("tmp");
        symlink("/tmp", &link).expect("made");
        assert!(put(Box::leak(link.display().to_string().into_boxed_str()), b"x").is_err());
    }
}
