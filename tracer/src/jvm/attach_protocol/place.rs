//! The directory in which a JVM and its clients meet: `/tmp` as the target sees it.

use std::{
    fs,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid, fchown, open, openat, statat, unlinkat},
    io::Errno,
    process::geteuid,
};

use super::{
    super::find::process::{Identity, Status},
    Error,
};

/// What lies under the socket's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing: the JVM does not listen yet.
    Nothing,
    /// A socket of the target's user.
    Socket,
}

/// The directory, held open, so that it stays the same one whatever is renamed.
#[derive(Debug)]
pub(super) struct Place {
    directory: OwnedFd,
    pid: u32,
    /// The pid by which the JVM knows itself.
    namespace_pid: u32,
    uid: u32,
    gid: u32,
}

impl Place {
    pub(super) fn open(target: Identity, namespace_pid: u32) -> Result<Self, Error> {
        let pid = target.pid;
        let gone = |_| Error::Gone(pid);
        let uid = Status::read(&pid.to_string()).map_err(gone)?.uid;
        let gid = fs::metadata(format!("/proc/{pid}")).map_err(gone)?.gid();
        let place = Self::at(Path::new(&format!("/proc/{pid}/root/tmp")), pid, namespace_pid, (uid, gid))?;
        // Only now is it known that all of this was said of the target.
        if target.is_alive() { Ok(place) } else { Err(Error::Gone(pid)) }
    }

    pub(super) fn at(path: &Path, pid: u32, namespace_pid: u32, (uid, gid): (u32, u32)) -> Result<Self, Error> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = open(path, flags, Mode::empty()).map_err(|errno| Error::Io {
            action: "open the directory of sockets",
            pid,
            source: errno.into(),
        })?;
        Ok(Self { directory, pid, namespace_pid, uid, gid })
    }

    pub(super) fn socket_name(&self) -> String {
        format!(".java_pid{}", self.namespace_pid)
    }

    fn request_name(&self) -> String {
        format!(".attach_pid{}", self.namespace_pid)
    }

    /// A path that leads through the open directory, and is short enough for a socket's address.
    pub(super) fn socket_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{}", self.directory.as_raw_fd(), self.socket_name()))
    }

    /// Looks whether the JVM listens. Only a socket that belongs to the target's user is taken for one.
    pub(super) fn socket(&self) -> Result<Found, Error> {
        let name = self.socket_name();
        let stat = match statat(&self.directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            Err(errno) => {
                return Err(Error::Io { action: "look for the socket", pid: self.pid, source: errno.into() });
            }
        };
        let impostor = |problem: String| Error::Impostor { pid: self.pid, path: name.clone(), problem };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
            return Err(impostor("is no socket".to_owned()));
        }
        if stat.st_uid != self.uid {
            return Err(impostor(format!("belongs to user {}, not to user {}", stat.st_uid, self.uid)));
        }
        Ok(Found::Socket)
    }

    /// Makes the file that says that somebody wants to attach, as the target's user would. It goes with its value.
    pub(super) fn request(&self) -> Result<Request<'_>, Error> {
        let name = self.request_name();
        let failed = |errno: Errno| Error::Io {
            action: "make the file that asks for attaching",
            pid: self.pid,
            source: errno.into(),
        };
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name.as_str(), flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => file,
            // Left by a client that died, or of one that asks just now. The JVM looks only at whose it is.
            Err(Errno::EXIST) => return self.found_request(name),
            Err(errno) => return Err(failed(errno)),
        };
        let request = Request { place: self, name, own: true };
        if geteuid().is_root() {
            // Root of another user namespace is nobody in the target's, so the file is given away.
            fchown(&file, Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid))).map_err(failed)?;
        }
        Ok(request)
    }

    fn found_request(&self, name: String) -> Result<Request<'_>, Error> {
        let stat = statat(&self.directory, name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        let fits = stat.is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && (stat.st_uid == self.uid || stat.st_uid == 0)
        });
        if fits {
            return Ok(Request { place: self, name, own: false });
        }
        let problem = format!("is there and is no file of user {}", self.uid);
        Err(Error::Impostor { pid: self.pid, path: name, problem })
    }
}

/// The file that asks a JVM to listen.
#[derive(Debug)]
pub(super) struct Request<'a> {
    place: &'a Place,
    name: String,
    own: bool,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if self.own {
            // Somebody else may have removed it, which is as good.
            let _: Result<(), Errno> = unlinkat(&self.place.directory, self.name.as_str(), AtFlags::empty());
        }
    }
}
