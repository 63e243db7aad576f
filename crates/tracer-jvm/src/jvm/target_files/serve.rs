//! The child's side: does what it is asked for, as whoever it is by then, and answers.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, open, openat, renameat, statat, unlinkat},
    io::Errno,
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
    process::geteuid,
};

use super::message::{self, Answer, Examined, Kind, Place, Refusal, Request};

/// How long jtrace may take between two requests: as long as a session.
const NEXT_REQUEST: Duration = Duration::from_hours(24 * 365);
const ANSWER: Duration = Duration::from_secs(5);

/// What came of a request.
#[derive(Default)]
struct Done {
    examined: Option<Examined>,
    bytes: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

/// Serves until the other end is closed, and then removes what was only for the time being. In tests, a directory stands
/// for `/tmp`.
pub(super) fn serve(stream: &UnixStream, instead: Option<&Path>) {
    let mut served = Served { instead, temporary: Vec::new() };
    while let Ok((request, bytes, _)) = message::receive::<Request>(stream, Instant::now() + NEXT_REQUEST) {
        let done = served.serve(&request, &bytes);
        let Done { examined, bytes, descriptor } = match done {
            Ok(done) => done,
            Err(error) => {
                let refused: Result<Answer, Refusal> = Err(Refusal::from(&error));
                if message::send(stream, &refused, &[], None, Instant::now() + ANSWER).is_err() {
                    break;
                }
                continue;
            }
        };
        let answer: Result<Answer, Refusal> = Ok(examined.map_or(Answer::Done, Answer::Examined));
        let descriptor = descriptor.as_ref().map(|descriptor| descriptor.as_fd());
        if message::send(stream, &answer, &bytes, descriptor, Instant::now() + ANSWER).is_err() {
            break;
        }
    }
    for at in std::mem::take(&mut served.temporary) {
        // It may be gone already.
        let _: io::Result<()> = served.remove(&at);
    }
}

struct Served<'a> {
    instead: Option<&'a Path>,
    /// Files that go at the end.
    temporary: Vec<Place>,
}

impl Served<'_> {
    fn serve(&mut self, request: &Request, bytes: &[u8]) -> io::Result<Done> {
        match request {
            Request::Examine(at) => Ok(Done { examined: Some(self.examine(at)?), ..Done::default() }),
            Request::Create { at, mode, is_temporary } => {
                self.create(at, *mode, bytes)?;
                if *is_temporary {
                    self.temporary.push(at.clone());
                }
                Ok(Done::default())
            }
            Request::Rename { at, to } => {
                let directory = self.directory(at)?;
                renameat(&directory, at.name.as_str(), &directory, to.as_str())?;
                Ok(Done::default())
            }
            Request::Remove(at) => self.remove(at).map(|()| Done::default()),
            Request::Read { at, most } => Ok(Done { bytes: self.read(at, *most)?, ..Done::default() }),
            Request::Connect(at) => Ok(Done { descriptor: Some(self.connect(at)?), ..Done::default() }),
        }
    }

    fn path(&self, at: &Place) -> PathBuf {
        let own = Path::new(&at.directory);
        self.instead.map_or_else(|| own.to_path_buf(), |instead| instead.join(own.strip_prefix("/tmp").unwrap_or(own)))
    }

    /// Links on the way lead where the target's user could go herself, as they lead the JVM.
    fn directory(&self, at: &Place) -> io::Result<OwnedFd> {
        Ok(open(self.path(at), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }

    fn examine(&self, at: &Place) -> io::Result<Examined> {
        let stat = statat(self.directory(at)?, at.name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Socket => Kind::Socket,
            _ => Kind::Other,
        };
        Ok(Examined { kind, uid: stat.st_uid, links: stat.st_nlink, file: (stat.st_dev, stat.st_ino) })
    }

    /// A file that was not there; nothing of it stays where it cannot be written as a whole.
    fn create(&self, at: &Place, mode: u32, bytes: &[u8]) -> io::Result<()> {
        let directory = self.directory(at)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&directory, at.name.as_str(), flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        let written = file.write_all(bytes).and_then(|()| Ok(fchmod(&file, Mode::from_bits_truncate(mode))?));
        if written.is_err() {
            let _: Result<(), Errno> = unlinkat(&directory, at.name.as_str(), AtFlags::empty());
        }
        written
    }

    fn remove(&mut self, at: &Place) -> io::Result<()> {
        self.temporary.retain(|other| other.directory != at.directory || other.name != at.name);
        Ok(unlinkat(self.directory(at)?, at.name.as_str(), AtFlags::empty())?)
    }

    fn read(&self, at: &Place, most: usize) -> io::Result<Vec<u8>> {
        let own =
            |mode: u32, uid: u32| FileType::from_raw_mode(mode) == FileType::RegularFile && uid == geteuid().as_raw();
        let foreign = || io::Error::new(io::ErrorKind::PermissionDenied, "it is no regular file of the target's user");
        let directory = self.directory(at)?;
        // Opening a device can have effects, so it is asked before.
        let stat = statat(&directory, at.name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
        if !own(stat.st_mode, stat.st_uid) {
            return Err(foreign());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&directory, at.name.as_str(), flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if !own(stat.st_mode, stat.st_uid) {
            return Err(foreign());
        }
        let mut bytes = Vec::new();
        File::from(file).take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// A queue that is full belongs to somebody who does not answer.
    fn connect(&self, at: &Place) -> io::Result<OwnedFd> {
        let address = SocketAddrUnix::new(self.path(at).join(&at.name))?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &address)?;
        Ok(socket)
    }
}
