//! The directory in which a JVM and its clients meet: `/tmp` as the target sees it, reached as the target's user.

use std::{io, os::unix::net::UnixStream};

use super::{
    super::{
        find::process::{Identity, Status},
        target_files::{At, Examined, Kind, TargetFiles},
    },
    Error,
};

/// Where it is, as the target sees it.
const DIRECTORY: &str = "/tmp";

/// What lies under the socket's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing: the JVM does not listen yet.
    Nothing,
    /// A socket of the target's user.
    Socket,
}

/// The directory, with whom it is asked.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) files: TargetFiles,
    pid: u32,
    /// The pid by which the JVM knows itself.
    namespace_pid: u32,
    uid: u32,
}

impl Place {
    pub(super) fn open(target: Identity, namespace_pid: u32) -> Result<Self, Error> {
        let pid = target.pid;
        let uid = Status::read(&pid.to_string()).map_err(|_| Error::Gone(pid))?.uid;
        let files = TargetFiles::open(target);
        // Only now is it known that all of this was said of the target.
        if !target.is_alive() {
            return Err(Error::Gone(pid));
        }
        let files = files.map_err(|source| Error::Io { action: "become the user", pid, source })?;
        Ok(Self::at(files, pid, namespace_pid, uid))
    }

    pub(super) fn at(files: TargetFiles, pid: u32, namespace_pid: u32, uid: u32) -> Self {
        Self { files, pid, namespace_pid, uid }
    }

    pub(super) fn socket_name(&self) -> String {
        format!(".java_pid{}", self.namespace_pid)
    }

    fn request_name(&self) -> String {
        format!(".attach_pid{}", self.namespace_pid)
    }

    /// Connects to the JVM's socket.
    pub(super) fn connect(&self) -> io::Result<UnixStream> {
        self.files.connect(At { directory: DIRECTORY, name: &self.socket_name() })
    }

    /// Looks whether the JVM listens. Only a socket that belongs to the target's user is taken for one.
    pub(super) fn socket(&self) -> Result<Found, Error> {
        let name = self.socket_name();
        let Some(Examined { kind, uid, .. }) = self.examine(&name, "look for the socket")? else {
            return Ok(Found::Nothing);
        };
        let impostor = |problem: String| Error::Impostor { pid: self.pid, path: name.clone(), problem };
        if kind != Kind::Socket {
            return Err(impostor("is no socket".to_owned()));
        }
        if uid != self.uid {
            return Err(impostor(format!("belongs to user {uid}, not to user {}", self.uid)));
        }
        Ok(Found::Socket)
    }

    /// Makes the file that says that somebody wants to attach. It goes with its value, and when jtrace ends in any way.
    pub(super) fn request(&self) -> Result<Request<'_>, Error> {
        let name = self.request_name();
        match self.files.create(At { directory: DIRECTORY, name: &name }, 0o600, true, &[]) {
            Ok(()) => Ok(Request { place: self, name, own: true }),
            // Left by a client that died, or of one that asks just now. The JVM looks only at whose it is.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.found_request(name),
            Err(source) => Err(Error::Io { action: "make the file that asks for attaching", pid: self.pid, source }),
        }
    }

    fn found_request(&self, name: String) -> Result<Request<'_>, Error> {
        let found = self.examine(&name, "look at the file that asks for attaching")?;
        if found.is_some_and(|found| found.kind == Kind::File && (found.uid == self.uid || found.uid == 0)) {
            return Ok(Request { place: self, name, own: false });
        }
        let problem = format!("is there and is no file of user {}", self.uid);
        Err(Error::Impostor { pid: self.pid, path: name, problem })
    }

    fn examine(&self, name: &str, action: &'static str) -> Result<Option<Examined>, Error> {
        let found = self.files.examine(At { directory: DIRECTORY, name });
        found.map_err(|source| Error::Io { action, pid: self.pid, source })
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
            let _: io::Result<()> = self.place.files.remove(At { directory: DIRECTORY, name: &self.name });
        }
    }
}
