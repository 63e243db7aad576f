//! How the library gets into a JVM: with its start, or by the attach protocol.

use std::{ffi::OsString, io, path::Path, time::Duration};

use tracer_weave::control::{Order, VERSION};

use super::{
    super::{connection::Connection, library, place, sizes::Sizes, unnamed::Namer},
    Visit,
    error::{Error, SINCE, silent},
    mapped::{find_peer, is_taken},
};
use crate::{
    ending::{self, Cut, Patience, Until},
    jvm::{attach_protocol, find::Jvm, forked},
};

/// How long loading may take.
const LOAD_LIMIT: Duration = Duration::from_secs(20);
/// How often it is looked whether the library has begun.
const POLL: Duration = Duration::from_millis(2);
/// How long the library of another visit may take to leave: one whose jtrace was killed notices within a second, and restores first.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);
/// How long it may take to begin once it is loaded.
const BEGIN_LIMIT: Duration = Duration::from_secs(5);
/// How long a JVM that starts may take until it is up.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The library for a JVM that is to start with it. Its file goes when this does.
#[derive(Debug)]
pub struct Coming(place::Placed);

impl Coming {
    /// Writes the library's file.
    pub fn place() -> Result<Self, Error> {
        let failed = |error: io::Error| Error::Place { pid: std::process::id(), reason: error.to_string() };
        place::put_here(library::bytes()).map(Self).map_err(failed)
    }

    /// The file, with its sites.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The JVM's option that loads it.
    pub fn option(&self) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(self.path());
        option.push(format!("={},", std::process::id()));
        option.push(self.path());
        option
    }

    /// Waits until the JVM is up: its program has not begun then, and does not before markers are switched on.
    pub fn arrive(self, jvm: &Jvm) -> Result<Visit, Error> {
        Visit::meet(jvm, START_LIMIT)
    }
}

impl Visit {
    /// Loads the library and begins.
    pub fn begin(jvm: &Jvm) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        if (1..SINCE).contains(&jvm.target.jdk_release) {
            return Err(Error::TooOld { pid, release: jvm.target.jdk_release });
        }
        let leaves = Until::within(LEAVE_LIMIT, Patience::First);
        while is_taken(jvm).map_err(|reason| Error::Load { pid, reason })? {
            match ending::pause(POLL, leaves) {
                Ok(()) => {}
                Err(Cut::Late) => return Err(Error::Taken { pid }),
                Err(cut) => return Err(silent(cut)),
            }
        }
        let attachment = attach_protocol::Attachment::open(jvm)?;
        let mut reasons = Vec::new();
        for directory in place::directories() {
            let placed = match place::put_there(attachment.files(), directory, library::bytes()) {
                Ok(placed) => placed,
                Err(error) => {
                    reasons.push(format!("{directory}: {error}"));
                    continue;
                }
            };
            match attachment.load(&placed.path, &VERSION.to_string(), LOAD_LIMIT) {
                Ok(()) => {
                    drop(placed);
                    return Self::meet(jvm, BEGIN_LIMIT);
                }
                Err(attach_protocol::Error::Refused { text, .. }) if is_place(&text) => {
                    reasons.push(format!("{directory}: {text}"));
                }
                // Another one may have come since it was looked.
                Err(attach_protocol::Error::Refused { .. }) if is_taken(jvm).is_ok_and(|is_taken| is_taken) => {
                    return Err(Error::Taken { pid });
                }
                Err(attach_protocol::Error::Refused { text, .. }) => return Err(Error::Load { pid, reason: text }),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Place { pid, reason: reasons.join("; ") })
    }

    /// Takes the connection.
    fn meet(jvm: &Jvm, limit: Duration) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        let load = |reason: String| Error::Load { pid, reason };
        let until = Until::within(limit, Patience::First);
        let (path, descriptor) = loop {
            if let Some(found) = find_peer(jvm).map_err(load)? {
                break found;
            }
            match ending::pause(POLL, until) {
                Ok(()) => {}
                Err(Cut::Late) => return Err(load("it does not begin".to_owned())),
                Err(cut) => return Err(silent(cut)),
            }
        };
        let connection = forked::socket_of(pid, descriptor).and_then(Connection::new);
        let connection = connection.map_err(|error| load(format!("its connection: {error}")))?;
        let mut visit =
            Self { namer: Namer::of(jvm), sizes: Sizes::of(jvm), ..Self::over(connection, jvm.identity(), path) };
        // The library waits for a first word.
        visit.ask(&Order::Switch(Vec::new()))?;
        Ok(visit)
    }
}

/// Whether a refusal is about the file, so that another place may do. JDK 11 gives no reason at all.
fn is_place(text: &str) -> bool {
    text.trim_end().ends_with("was not loaded.")
        || ["cannot open shared object", "failed to map", "Operation not permitted", "Permission denied"]
            .iter()
            .any(|reason| text.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What JVMs say of a file in a directory that is mounted so that nothing in it can be run, and of one that no place makes better.
    #[test]
    fn another_place_is_tried_where_the_place_may_be_the_reason() {
        assert!(is_place("/tmp/.jtrace-inside-1.so was not loaded."));
        let of_17 = "/tmp/.jtrace-inside-1.so was not loaded. /tmp/.jtrace-inside-1.so: failed to map segment from shared object";
        assert!(is_place(of_17));
        assert!(!is_place(
            "/tmp/.jtrace-inside-1.so was not loaded. /tmp/.jtrace-inside-1.so: undefined symbol: gnu_get_libc_version"
        ));
    }
}
