//! Breakpoints in the code of a process that are not in its files: where a site is watched, by whomever.

use std::path::PathBuf;

use super::{
    elf,
    memory::{
        self, Memory,
        library::{self, Library},
        maps::{self, Mapping},
    },
};
/// How the names of files of jtrace's library begin.
pub const LIBRARY: &str = ".jtrace-inside-";

/// `int3`, which the kernel writes over the first byte of a site.
const BREAKPOINT: u8 = 0xcc;
/// Bytes that are compared at a time.
const PIECE: u64 = 1 << 20;
/// Most code of one file, and most breakpoints in it.
const MAX_CODE_BYTES: u64 = 256 << 20;
const MAX_FOUND: usize = 4096;

/// Why a process could not be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its mappings could not be read.
    #[error("cannot read what process {pid} has mapped")]
    Maps {
        /// The process.
        pid: u32,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// Its memory could not be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// A mapped file could not be reached.
    #[error(transparent)]
    Library(#[from] library::Error),
    /// A mapped file could not be read.
    #[error(transparent)]
    File(#[from] elf::Error),
}

/// Breakpoints in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoints {
    /// Path by which the file is reached.
    pub path: PathBuf,
    /// Where they are in it.
    pub offsets: Vec<u64>,
}

/// Looks at all code in which jtrace could have sites: that of libjvm.so and of the library.
pub fn find(pid: u32) -> Result<Vec<Breakpoints>, Error> {
    let mappings = maps::read(pid).map_err(|source| Error::Maps { pid, source })?;
    let memory = Memory::open(pid)?;
    let mut found = Vec::new();
    for mapping in mappings.iter().filter(|mapping| mapping.executable && has_sites(mapping)) {
        let library = match Library::open(pid, mapping) {
            Ok(library) => library,
            // Its file went when it was loaded, and may be out of reach now.
            Err(_) if mapping.deleted => continue,
            Err(error) => return Err(error.into()),
        };
        let offsets = compare(&memory, mapping, &library)?;
        if !offsets.is_empty() {
            found.push(Breakpoints { path: library.attach_path, offsets });
        }
    }
    Ok(found)
}

fn has_sites(mapping: &Mapping) -> bool {
    let name = mapping.file_name().as_encoded_bytes();
    name == b"libjvm.so" || name.starts_with(LIBRARY.as_bytes())
}

fn compare(memory: &Memory, mapping: &Mapping, library: &Library) -> Result<Vec<u64>, Error> {
    let length = (mapping.end - mapping.start).min(MAX_CODE_BYTES);
    let mut offsets = Vec::new();
    let mut at = 0;
    while at < length && offsets.len() < MAX_FOUND {
        let piece = usize::try_from(PIECE.min(length - at)).unwrap_or(0);
        let there = memory.read_bytes(mapping.start + at, piece)?;
        let here = elf::read_at(&library.attach_path, mapping.offset + at, piece)?;
        offsets.extend(differing(&there, &here).map(|index| mapping.offset + at + index));
        at += PIECE;
    }
    offsets.truncate(MAX_FOUND);
    Ok(offsets)
}

/// Where the one has a breakpoint and the other has not.
fn differing<'a>(there: &'a [u8], here: &'a [u8]) -> impl Iterator<Item = u64> + use<'a> {
    let pairs = (0..).zip(there.iter().zip(here));
    pairs.filter(|(_, (there, here))| **there == BREAKPOINT && **here != BREAKPOINT).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_is_one_that_the_file_has_not() {
        let found: Vec<u64> = differing(&[0x90, 0xcc, 0xcc, 0x55], &[0x90, 0xcc, 0x90, 0x56]).collect();
        assert_eq!(found, [2]);
    }

    #[test]
    fn a_process_without_a_jvm_has_none() {
        assert_eq!(find(std::process::id()).unwrap(), []);
    }
}
