//! Why the library is not in a JVM, or does not do what it is asked for.

use std::io;

use tracer_weave::control::Told;

use crate::jvm::attach_protocol;

/// The first release that the library's classes run on.
pub(super) const SINCE: u32 = 8;
/// Longest text of the library that is shown.
pub(super) const MAX_TEXT_BYTES: usize = 1000;

/// Why the library is not there, or does not do what it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JVM was not reached.
    #[error(transparent)]
    Attach(#[from] attach_protocol::Error),
    /// No directory could hold it.
    #[error("the library cannot be put where process {pid} reads it: {reason}")]
    Place {
        /// The target.
        pid: u32,
        /// What was tried.
        reason: String,
    },
    /// The JVM did not load it, or it did not begin.
    #[error("process {pid} did not take the library in: {reason}")]
    Load {
        /// The target.
        pid: u32,
        /// What the JVM said.
        reason: String,
    },
    /// The library's classes are for newer JVMs.
    #[error("the library that jtrace loads into a JVM needs JDK {SINCE} or later, and process {pid} is JDK {release}")]
    TooOld {
        /// The target.
        pid: u32,
        /// Its feature release.
        release: u32,
    },
    /// Only one jtrace at a time can be inside.
    #[error("another jtrace is inside process {pid}")]
    Taken {
        /// The target.
        pid: u32,
    },
    /// The library refuses.
    #[error("the library in the JVM refuses: {0}")]
    Refused(String),
    /// The connection broke.
    #[error("the library in the JVM does not answer: {0}")]
    Silent(String),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Attach(error) => error.hint(),
            Self::Place { .. } => {
                Some("/tmp, /var/tmp or /dev/shm, as the JVM sees them, must take a file that can be run")
            }
            Self::Taken { .. } => Some("end the other one, then try again; without --inside several can watch"),
            Self::TooOld { .. } => Some(
                "`methods`, `calls`, `alloc` and `jni` without --lane inside or --inside, `attach` and `threads` need no library",
            ),
            Self::Load { .. } => Some("the JVM's own output may say why"),
            Self::Refused(_) | Self::Silent(_) => None,
        }
    }
}

/// A text of the library, no longer than anybody reads.
pub(super) fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

pub(super) fn silent(error: impl Into<io::Error>) -> Error {
    let error = error.into();
    Error::Silent(shortened(error.to_string()))
}

pub(super) fn unexpected(told: &Told) -> Error {
    let what = match told {
        Told::Matched { .. } => "matches",
        Told::Classes(_) => "classes",
        Told::Woven(_) => "what it has woven",
        _ => "something else",
    };
    Error::Silent(format!("it answers with {what}, which nobody asked for"))
}
