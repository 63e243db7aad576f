//! Files of the JDK's flight recorder (JFR, version 2), and those of others that write its format, as a source of items.
//!
//! A file is chunks, each with its events, the pools that they refer to, and the description of all types. It is read
//! once, chunk by chunk. What has a place among jtrace's events (`taken`) becomes beginnings and ends in the order of
//! their times (`order`), which are the records of a live session. All else is counted by type.
//!
//! The recorder leaves out what is shorter than its thresholds, and never sees some of what jtrace counts. So a session
//! out of a file names its recorder ([`crate::item::Recorder`]): which lenses have a part only, and which numbers are not known.

mod about;
mod chunk;
mod edges;
mod file;
mod input;
mod known;
mod order;
mod settings;
mod taken;
mod told;
mod types;
mod values;

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use self::{
    chunk::{Torn, VERSION},
    file::File,
};
use crate::item::Item;

pub use self::chunk::MAGIC;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be opened or read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It has another version of the format.
    #[error("{path} has version {version} of the flight recorder's format, and this jtrace reads version {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// Cut before its first chunk was complete.
    #[error("{path} ends before its first chunk is complete")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Its first chunk does not hold what it must.
    #[error("{path} is damaged in its first chunk: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
}

impl Error {
    /// What may help.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the path and its permissions",
            Self::Version { .. } => "read it with JDK Mission Control, or with the `jfr` of the JDK that wrote it",
            Self::Empty { .. } => {
                "have it written to its end: `jcmd PID JFR.dump filename=x.jfr`; of a JVM that died, `jfr assemble` takes its repository"
            }
            Self::Damaged { .. } => "compare with `jfr summary` of the JDK that wrote it, and record again",
        }
    }
}

/// A file of a flight recorder.
pub struct FlightRecording<R: Read> {
    input: R,
    path: PathBuf,
}

impl<R: Read> FlightRecording<R> {
    /// Reads a file from any input; `path` is for messages.
    pub fn new(input: R, path: &Path) -> Self {
        Self { input, path: path.to_owned() }
    }

    /// Reads all of it, then passes every item on, in order. A file that is cut ends with an [`Item::End`] that says so.
    pub fn replay(self, sink: &mut dyn FnMut(Item<'_>)) -> Result<(), Error> {
        self.read()?.give(sink);
        Ok(())
    }

    fn read(mut self) -> Result<File, Error> {
        let mut file = File::default();
        let (mut at, mut bytes) = (0_u64, Vec::new());
        loop {
            let next = chunk::next(&mut self.input, &mut bytes);
            let torn = match next.map_err(|source| Error::Io { path: self.path.clone(), source })? {
                Ok(None) => break,
                Ok(Some(header)) => file.take(header, &bytes).err().map(Torn::Damaged),
                Err(torn) => Some(torn),
            };
            if let Some(torn) = torn {
                // What came before it is whole; of the first chunk nothing can be believed.
                if !file.has_begun() {
                    return Err(self.error(torn));
                }
                file.cut(at, torn);
                break;
            }
            at += bytes.len() as u64;
        }
        if file.has_begun() { Ok(file) } else { Err(Error::Empty { path: self.path }) }
    }

    fn error(self, torn: Torn) -> Error {
        let path = self.path;
        match torn {
            Torn::Cut => Error::Empty { path },
            Torn::Version(version) => Error::Version { path, version },
            Torn::Damaged(reason) => Error::Damaged { path, reason },
        }
    }
}

#[cfg(test)]
mod tests;
