//! Snapshots in files: `.heap`, of jtrace's own form.
//!
//! Eight bytes of name, the version, then sections: number, length, checksum (CRC-32), bytes packed by deflate. A reader passes over
//! sections that it does not know; the last one says that the file is whole. Whatever a file says about lengths makes no room before
//! the bytes are there.

mod read;
mod write;

use std::{
    fs::File,
    io::{self, BufReader},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{facts::Facts, graph::Graph, summary::Origin};

pub use self::{read::read, write::write};

/// What a file begins with.
pub const MAGIC: &[u8; 8] = b"JTHEAP\r\n";
/// The version; a reader refuses others.
pub const VERSION: u32 = 1;
const ABOUT: u32 = 1;
const CLASSES: u32 = 2;
const NAMES: u32 = 3;
const OBJECTS: u32 = 4;
const REFERENCES: u32 = 5;
const ROOTS: u32 = 6;
const THREADS: u32 = 7;
const METHODS: u32 = 8;
const CONTENTS: u32 = 9;
const VALUES: u32 = 10;
const END: u32 = 0xffff_ffff;

/// Why a file is none.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no snapshot of a heap")]
    NoSnapshot,
    /// Another jtrace has written it.
    #[error("it has version {0}, and this jtrace reads version {VERSION}")]
    Version(u32),
    /// It is cut, or damaged.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// A snapshot in a file.
#[derive(Debug, Default)]
pub struct Stored {
    /// The heap.
    pub graph: Graph,
    /// Where it is from.
    pub origin: Origin,
    /// What it cost.
    pub cost: Option<Facts>,
    /// Of dumps, why one has not all that there was.
    pub not_whole: Option<String>,
}

impl Stored {
    /// Why it has not all that there was; absent where nothing speaks against that.
    pub fn not_whole(&self) -> Option<String> {
        let of_walk = self.cost.as_ref().and_then(|cost| match cost {
            Facts { complete: false, reason, .. } => Some(format!("the walk {reason}")),
            Facts { odd: odd @ 1.., .. } => Some(format!("{odd} records made no sense and were left out")),
            _ => None,
        });
        of_walk.or_else(|| self.not_whole.clone())
    }
}

#[derive(Serialize, Deserialize)]
struct About {
    origin: Origin,
    cost: Option<Facts>,
}

/// Reads a snapshot from a file.
pub fn open(path: &Path) -> Result<Stored, Error> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    read(BufReader::with_capacity(1 << 20, file), len)
}

/// Whether a file begins as a snapshot does.
pub fn is_snapshot(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC)
}

#[cfg(test)]
mod tests;
