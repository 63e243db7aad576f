//! Where a file of results goes: a directory that is held open, and a name in it. jtrace runs as root, and the directory may
//! be somebody else's.
//!
//! On the way to the directory a link counts only where nobody else could have put it. In the directory nothing is followed
//! and nothing is opened that was there: a new file is written beside the old one and takes its name, with mode 0600.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io::{self, BufWriter, Write},
    os::{
        fd::OwnedFd,
        unix::fs::{FileTypeExt as _, MetadataExt as _},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat, openat2, renameat, statat, unlinkat,
    },
    io::Errno,
};

/// Most links on the way to a directory; the kernel's own limit.
const MAX_LINKS: usize = 40;
/// How many names beside a file are tried: others can be there first, but not at names that they do not know.
const TRIES: usize = 16;

/// A name in a directory.
#[derive(Debug)]
pub(super) struct Place {
    directory: OwnedFd,
    name: OsString,
}

/// A file that has not got its name yet; it goes with this value.
#[derive(Debug)]
struct Unfinished<'a> {
    place: &'a Place,
    name: Option<OsString>,
}

impl Place {
    /// Opens the directory of a path.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?.to_owned();
        let directory = resolve(path.parent().unwrap_or_else(|| Path::new("")))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Free of links when it was resolved; where one of them has become a link since, it is refused.
        let root = open("/", flags, Mode::empty())?;
        let within = directory.strip_prefix("/").unwrap_or(&directory);
        let within = if within.as_os_str().is_empty() { Path::new(".") } else { within };
        let directory = match openat2(&root, within, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Err(Errno::LOOP) => return Err(io::Error::other("a directory on the way has become a link")),
            other => other?,
        };
        Ok(Self { directory, name })
    }

    /// Whether something can take this name; nothing is left behind.
    pub(super) fn check(&self) -> io::Result<()> {
        self.look()?;
        self.begin().map(drop)
    }

    /// Whether it is this file.
    pub(super) fn is(&self, file: &Metadata) -> bool {
        self.there()
            .is_ok_and(|there| there.is_some_and(|there| (there.st_dev, there.st_ino) == (file.dev(), file.ino())))
    }

    /// A new file that takes the name at once: what is written can be read from then on.
    pub(super) fn create(&self) -> io::Result<File> {
        self.look()?;
        let (file, unfinished) = self.begin()?;
        unfinished.finish()?;
        Ok(file)
    }

    /// A new file that takes the name when it is complete.
    pub(super) fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.look()?;
        let (file, unfinished) = self.begin()?;
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()?;
        unfinished.finish()
    }

    fn there(&self) -> io::Result<Option<Stat>> {
        match statat(&self.directory, self.name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok(Some(there)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Looks at what has the name: a file or a link is replaced, but in a directory of others only a file of ours.
    fn look(&self) -> io::Result<()> {
        let Some(there) = self.there()? else { return Ok(()) };
        let kind = FileType::from_raw_mode(there.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Symlink) {
            return Err(io::Error::other("it is there, and is no file"));
        }
        let directory = fstat(&self.directory)?;
        let is_ours = there.st_uid == own() && kind == FileType::RegularFile && there.st_nlink == 1;
        if is_shared(directory.st_uid, directory.st_mode) && !is_ours {
            let problem = "it is a link or belongs to somebody else, in a directory that others can write to";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        Ok(())
    }

    fn begin(&self) -> io::Result<(File, Unfinished<'_>)> {
        for _ in 0..TRIES {
            let mut name = OsString::from(".");
            name.push(&self.name);
            name.push(format!(".{:016x}", RandomState::new().build_hasher().finish()));
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&self.directory, name.as_os_str(), flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((File::from(file), Unfinished { place: self, name: Some(name) })),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::Error::other("no free name was found beside it"))
    }
}

impl Unfinished<'_> {
    fn finish(mut self) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let Place { directory, name: wanted } = self.place;
        renameat(directory, name.as_os_str(), directory, wanted.as_os_str())?;
        self.name = None;
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // What went wrong before says more.
            let _: rustix::io::Result<()> = unlinkat(&self.place.directory, name.as_os_str(), AtFlags::empty());
        }
    }
}

fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether a user is root or the caller.
fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == own()
}

/// Whether anybody else can put something into a directory.
fn is_shared(uid: u32, mode: u32) -> bool {
    !is_trusted(uid) || mode & 0o022 != 0
}

/// A directory without any link on the way to it; a link that others could have put there is refused.
fn resolve(directory: &Path) -> io::Result<PathBuf> {
    let mut at = if directory.is_absolute() { PathBuf::from("/") } else { std::env::current_dir()? };
    let words = |path: &Path| path.components().map(|word| word.as_os_str().to_owned()).collect::<VecDeque<OsString>>();
    let mut rest = words(directory);
    let mut links = 0;
    while let Some(word) = rest.pop_front() {
        match Path::new(&word).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                at.pop();
            }
            Some(Component::Normal(name)) => match link(&at, name)? {
                Some(target) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    let mut words = words(&target);
                    words.append(&mut rest);
                    rest = words;
                }
                None => at.push(name),
            },
            _ => {}
        }
    }
    Ok(at)
}

/// Where a name leads that is a link.
fn link(directory: &Path, name: &OsStr) -> io::Result<Option<PathBuf>> {
    let path = directory.join(name);
    let found = fs::symlink_metadata(&path)?;
    if !found.is_symlink() {
        let is_odd = found.file_type().is_fifo() || found.file_type().is_socket();
        return if is_odd { Err(Errno::NOTDIR.into()) } else { Ok(None) };
    }
    let around = fs::symlink_metadata(directory)?;
    // In a sticky directory nobody but its owner can replace a link.
    let is_sticky = around.mode() & 0o1000 != 0 && is_trusted(around.uid()) && is_trusted(found.uid());
    if is_shared(around.uid(), around.mode()) && !is_sticky {
        let problem = format!("{} is a link that others can change", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    fs::read_link(&path).map(Some)
}
