//! A memory made of pages that tests write: structures are laid out in it, and damaged in it.

use std::collections::BTreeMap;

use super::{Error, Peek};

const PAGE_BYTES: u64 = 4096;

/// The pages by their addresses.
#[derive(Clone, Debug, Default)]
pub struct Copy {
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Copy {
    /// Writes bytes; the pages that they touch come into being.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (address, &byte) in (address..).zip(bytes) {
            let page = self.pages.entry(address & !(PAGE_BYTES - 1)).or_insert_with(|| vec![0; 4096]);
            page[usize::try_from(address % PAGE_BYTES).unwrap()] = byte;
        }
    }

    /// Writes a pointer or another number of 64 bits.
    pub fn write_u64(&mut self, address: u64, value: u64) {
        self.write(address, &value.to_ne_bytes());
    }

    /// Writes 32 bits.
    pub fn write_u32(&mut self, address: u64, value: u32) {
        self.write(address, &value.to_ne_bytes());
    }

    /// Writes 16 bits.
    pub fn write_u16(&mut self, address: u64, value: u16) {
        self.write(address, &value.to_ne_bytes());
    }

    /// Overwrites bytes that are there; the others stay as they are not.
    pub fn overwrite(&mut self, address: u64, bytes: &[u8]) {
        for (index, &byte) in (0_u64..).zip(bytes) {
            let at = address.wrapping_add(index);
            if let Some(page) = self.pages.get_mut(&(at & !(PAGE_BYTES - 1))) {
                page[usize::try_from(at % PAGE_BYTES).unwrap()] = byte;
            }
        }
    }

    /// Addresses of the words in which something is written.
    pub fn words(&self) -> Vec<u64> {
        let of_page = |(address, page): (&u64, &Vec<u8>)| {
            let (words, _) = page.as_chunks::<8>();
            let written = words.iter().zip(0_u64..).filter(|(word, _)| **word != [0; 8] && **word != [0xff; 8]);
            let address = *address;
            written.map(move |(_, index)| address + 8 * index).collect::<Vec<_>>()
        };
        self.pages.iter().flat_map(of_page).collect()
    }
}

impl Peek for Copy {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let len = buffer.len();
        let failed = || Error::Read { address, len, source: std::io::ErrorKind::InvalidInput.into() };
        // A page at a time: fuzzers read millions of them.
        let (mut at, mut rest) = (Some(address), buffer);
        while !rest.is_empty() {
            let from = at.ok_or_else(failed)?;
            let page = self.pages.get(&(from & !(PAGE_BYTES - 1))).ok_or_else(failed)?;
            let page = &page[usize::try_from(from % PAGE_BYTES).unwrap()..];
            let (now, later) = rest.split_at_mut(page.len().min(rest.len()));
            now.copy_from_slice(&page[..now.len()]);
            at = from.checked_add(now.len() as u64);
            rest = later;
        }
        Ok(())
    }
}
