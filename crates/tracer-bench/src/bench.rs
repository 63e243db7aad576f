//! `jtrace bench`: what watching costs, measured on programs, for jtrace and for other tools.
//!
//! A [`program`] runs in a JVM of its own and makes iterations on request; a [`configuration`] says with which flags it
//! starts and who watches it; an [`observer`] is what watches. [`session`] runs all of these against each other in random
//! order and keeps each [`results::Run`] as soon as it is made. What the numbers say is worked out from the results alone,
//! by [`statistics`] and [`report`], so that a report can be made anew from a file, anywhere.

pub mod program;

pub mod folder;
pub mod java;

pub mod dacapo;
pub mod micro;
pub mod suite;
pub mod user;

pub mod configuration;
pub mod observer;

pub mod peers;
pub mod share;
pub mod watching;

pub mod process;
pub mod target;

pub mod environment;
pub mod interruption;
pub mod session;

pub mod results;

pub mod budget;
pub mod comparison;
pub mod published;
pub mod statistics;

pub mod report;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod sample;

use std::{io, path::PathBuf};

/// Why something of a measurement could not be done. Only that part is skipped; the rest goes on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that is not there, and how to get it.
    #[error("{what} is not there; {hint}")]
    Missing {
        /// What it is.
        what: String,
        /// What to do.
        hint: String,
    },
    /// A file that is not what it should be.
    #[error("{path} is not {expected}: {found}")]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A program that does not do as agreed.
    #[error("{program} {what}")]
    Program {
        /// Its name.
        program: String,
        /// What it did.
        what: String,
    },
    /// The operating system's answer.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The answer.
        source: io::Error,
    },
}

impl Error {
    /// An error of the operating system.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }

    /// A program that does not do as agreed.
    pub fn program(program: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Program { program: program.into(), what: what.into() }
    }
}
