//! What a libjvm.so says of itself: how many notes of probes it has, and whether it names its functions.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};

/// Types of sections.
const SYMBOLS: u32 = 2;
const NOTES: u32 = 7;
/// Size of a section's header.
const SECTION_BYTES: usize = 64;
/// Who owns the notes of probes, and how many bytes that takes.
const OWNER: &[u8] = b"stapsdt\0";

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Libjvm {
    /// Notes of probes.
    pub(super) notes: usize,
    /// Whether it has a `.symtab`.
    pub(super) has_symtab: bool,
}

impl Libjvm {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&file).with_context(|| format!("{} is no 64-bit ELF file", path.display()))
    }

    fn parse(file: &[u8]) -> Result<Self> {
        ensure!(file.starts_with(b"\x7fELF\x02\x01"), "its first bytes are others");
        let at = usize::try_from(word(file, 0x28, 8).context("no header")?)?;
        let count = usize::try_from(word(file, 0x3c, 2).context("no header")?)?;
        let mut found = Self { notes: 0, has_symtab: false };
        for index in 0..count {
            let header = at.saturating_add(index * SECTION_BYTES);
            let field =
                |offset: usize, bytes| word(file, header.saturating_add(offset), bytes).context("a section is cut");
            let (offset, size) = (usize::try_from(field(0x18, 8)?)?, usize::try_from(field(0x20, 8)?)?);
            match u32::try_from(field(4, 4)?)? {
                SYMBOLS => found.has_symtab = true,
                NOTES => {
                    let content = file.get(offset..offset.saturating_add(size)).context("a section is cut")?;
                    found.notes += content.windows(OWNER.len()).filter(|bytes| *bytes == OWNER).count();
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

/// A number of the file.
fn word(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(file.get(at..at.checked_add(bytes)?)?);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_and_symbols_are_counted_and_no_file_is_too_short() {
        let own = fs::read("/proc/self/exe").unwrap();
        let Libjvm { notes: _, has_symtab } = Libjvm::parse(&own).unwrap();
        assert!(has_symtab, "a test is not stripped");
        for length in (0..own.len().min(4096)).step_by(7) {
            drop(Libjvm::parse(&own[..length]));
        }
        assert!(Libjvm::parse(b"#!/bin/sh").is_err());
    }
}
