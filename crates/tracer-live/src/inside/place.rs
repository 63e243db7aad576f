//! Where a JVM finds the library: a file of its own in the directory that it sees as `/tmp`, for as long as loading takes.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, StatVfsMountFlags, fchmod, open, openat, statat, statvfs, unlinkat},
    io::Errno,
    process::geteuid,
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

/// Takes away files that a jtrace which was killed has written for JVMs that it started, in the directories where it writes them. They
/// name their jtrace; a JVM that is just starting may still come for one that is younger than a minute.
pub fn remove_left() {
    for directory in directories() {
        if let Err(error) = remove_left_in(directory) {
            log::debug!("{directory} was not looked through for libraries: {error}");
        }
    }
}

/// How long a JVM may take to load what was written for it.
const YOUNG: Duration = Duration::from_mins(1);
/// Most files of a directory that are looked at; everybody can make files there.
const MAX_FILES: usize = 65_536;

fn remove_left_in(directory: &str) -> io::Result<()> {
    let folder =
        open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    for entry in Dir::read_from(&folder)?.take(MAX_FILES) {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().ok().and_then(owner_of) else { continue };
        // Another jtrace may have been quicker.
        let Ok(file) = statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_ours =
            FileType::from_raw_mode(file.st_mode) == FileType::RegularFile && file.st_uid == geteuid().as_raw();
        let written = UNIX_EPOCH + Duration::from_secs(u64::try_from(file.st_mtime).unwrap_or(0));
        let is_young = written.elapsed().is_ok_and(|age| age < YOUNG);
        if is_ours && !is_young && !Path::new("/proc").join(pid.to_string()).exists() {
            unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
            log::info!(
                "{directory}/{} was removed: jtrace {pid}, which wrote it, was killed",
                entry.file_name().to_string_lossy()
            );
        }
    }
    Ok(())
}

/// The jtrace that has written a file of such a name.
fn owner_of(name: &str) -> Option<u32> {
    let (pid, random) = name.strip_prefix(LIBRARY)?.strip_suffix(".so")?.split_once('-')?;
    let is_random = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    pid.parse().ok().filter(|_| is_random)
}

/// Writes a new file into a directory of this process. No link is followed and no file is taken over.
fn put(directory: &'static str, bytes: &[u8]) -> io::Result<Placed> {
    let folder = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let name = format!("{LIBRARY}{}-{:016x}.so", std::process::id(), random());
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
    fn files_of_a_jtrace_that_was_killed_go_once_they_are_old_and_no_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let write = |name: &str, is_old: bool| {
            let file = File::create(path(name)).expect("made");
            let time = if is_old { UNIX_EPOCH + YOUNG } else { std::time::SystemTime::now() };
            file.set_modified(time).expect("changed");
        };
        // No process has such a number.
        let of = |pid: u32| format!("{LIBRARY}{pid}-0123456789abcdef.so");
        let (killed, alive) = (u32::MAX, std::process::id());
        write(&of(killed), true);
        write(&of(killed - 1), false);
        write(&of(alive), true);
        let others = [format!("{LIBRARY}0123456789abcdef.so"), format!("{LIBRARY}{killed}-x.so"), "file.so".to_owned()];
        for name in &others {
            write(name, true);
        }
        symlink("/etc/passwd", path(&of(killed - 2))).expect("made");
        remove_left_in(&directory.path().display().to_string()).expect("looked through");
        let mut left: Vec<_> =
            std::fs::read_dir(directory.path()).expect("there").flatten().map(|entry| entry.file_name()).collect();
        let mut expected: Vec<std::ffi::OsString> =
            [of(killed - 1), of(killed - 2), of(alive)].into_iter().chain(others).map(Into::into).collect();
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_directory_that_is_a_link_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let link = directory.path().join("tmp");
        symlink("/tmp", &link).expect("made");
        assert!(put(Box::leak(link.display().to_string().into_boxed_str()), b"x").is_err());
    }
}
