//! What readers of HotSpot's structures need of a memory: bytes at an address, or an error, never a fault.
//!
//! The readers take any [`Peek`], so that they work alike on a live target, on cached pages of it ([`Pages`]) and on a
//! copy that a test has damaged. What the bytes mean is not known here.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::memory::{Error, Memory};

/// Size of a cached page where very much is looked at.
const PAGE_BYTES: u64 = 16 << 10;
/// The same where it is little, and lies in many places.
const SMALL_PAGE_BYTES: u64 = 4 << 10;
/// Most pages that are cached: 256 MiB, more than a code cache and the metadata of its methods fill.
const MAX_PAGES: usize = 16 << 10;
/// Largest single read, whatever a length in the target claims.
pub const MAX_BYTES: usize = 8 << 20;

/// A memory that can be looked into.
pub trait Peek {
    /// Fills `buffer` from `address`, or fails.
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error>;

    /// Reads `len` bytes, at most [`MAX_BYTES`].
    fn bytes(&self, address: u64, len: usize) -> Result<Vec<u8>, Error> {
        if len > MAX_BYTES {
            return Err(Error::TooLong { address, len });
        }
        let mut buffer = vec![0; len];
        self.peek(address, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads up to `len` bytes: fewer where the memory ends before, but not less than `least`.
    fn bytes_up_to(&self, address: u64, len: usize, least: usize) -> Result<Vec<u8>, Error> {
        match self.bytes(address, len) {
            Err(Error::Read { .. }) if least < len => {
                // Memory ends at a page's end, and what is wanted at least may reach into the next page.
                let edge = |at: u64| usize::try_from(4096 - at % 4096).unwrap_or(1);
                let to_edge = least + edge(address.saturating_add(least as u64));
                self.bytes(address, to_edge.min(len)).or_else(|_| self.bytes(address, least))
            }
            other => other,
        }
    }

    /// Reads as many bytes from each of many addresses, at one moment where the memory can do that; absent are those that cannot be read.
    fn each(&self, addresses: &[u64], len: usize) -> Vec<Option<Vec<u8>>> {
        addresses.iter().map(|address| self.bytes(*address, len).ok()).collect()
    }

    /// Reads a byte.
    fn u8(&self, address: u64) -> Result<u8, Error> {
        let mut bytes = [0; 1];
        self.peek(address, &mut bytes)?;
        Ok(bytes[0])
    }

    /// Reads 32 bits.
    fn u32(&self, address: u64) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        self.peek(address, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// Reads 64 bits, or a pointer.
    fn u64(&self, address: u64) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.peek(address, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// A text up to its NUL, of at most `max` bytes; longer ones are cut, and what is no text is replaced.
    fn text(&self, address: u64, max: usize) -> Result<String, Error> {
        let bytes = self.bytes_up_to(address, max, 1)?;
        let end = memchr::memchr(0, &bytes).unwrap_or(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

impl Peek for Memory {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.read_exact(address, buffer)
    }

    fn each(&self, addresses: &[u64], len: usize) -> Vec<Option<Vec<u8>>> {
        self.read_each(addresses, len)
    }
}

impl<P: Peek + ?Sized> Peek for &P {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        (**self).peek(address, buffer)
    }

    fn each(&self, addresses: &[u64], len: usize) -> Vec<Option<Vec<u8>>> {
        (**self).each(addresses, len)
    }
}

impl<P: Peek + ?Sized> Peek for Arc<P> {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        (**self).peek(address, buffer)
    }

    fn each(&self, addresses: &[u64], len: usize) -> Vec<Option<Vec<u8>>> {
        (**self).each(addresses, len)
    }
}

/// Numbers inside bytes that were read; absent where the bytes end before.
pub(super) mod at {
    fn array<const N: usize>(bytes: &[u8], at: u64) -> Option<[u8; N]> {
        bytes.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
    }

    pub(in super::super) fn u8(bytes: &[u8], at: u64) -> Option<u8> {
        array::<1>(bytes, at).map(|[byte]| byte)
    }

    pub(in super::super) fn u16(bytes: &[u8], at: u64) -> Option<u16> {
        array(bytes, at).map(u16::from_ne_bytes)
    }

    pub(in super::super) fn u32(bytes: &[u8], at: u64) -> Option<u32> {
        array(bytes, at).map(u32::from_ne_bytes)
    }

    pub(in super::super) fn u64(bytes: &[u8], at: u64) -> Option<u64> {
        array(bytes, at).map(u64::from_ne_bytes)
    }
}

/// Pages of a memory, read once each: for looking at very many structures at one moment.
///
/// It goes stale as the target runs on, so it is made for one pass and dropped.
#[derive(Debug)]
pub struct Pages<P> {
    source: P,
    page_bytes: u64,
    /// Pages by number; absent ones could not be read.
    known: RefCell<HashMap<u64, Option<Box<[u8]>>>>,
}

impl<P: Peek> Pages<P> {
    /// Nothing is read yet.
    pub fn new(source: P) -> Self {
        Self { source, page_bytes: PAGE_BYTES, known: RefCell::new(HashMap::new()) }
    }

    /// The same for a few structures, which have parts in many places: a page is read in the time of three of them.
    pub fn small(source: P) -> Self {
        Self { page_bytes: SMALL_PAGE_BYTES, ..Self::new(source) }
    }

    /// Reads the pages of these addresses that are not known, as many as possible at once.
    pub fn fetch(&self, addresses: impl Iterator<Item = u64>) {
        // Whoever says which may look into pages for that.
        let mut wanted: Vec<u64> = addresses.map(|address| address / self.page_bytes).collect();
        let mut pages = self.known.borrow_mut();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|number| !pages.contains_key(number));
        wanted.truncate(MAX_PAGES.saturating_sub(pages.len()));
        // One is read when it is needed.
        if wanted.len() > 1 {
            let starts: Vec<u64> = wanted.iter().map(|number| number * self.page_bytes).collect();
            let read = self.source.each(&starts, usize::try_from(self.page_bytes).unwrap_or(usize::MAX));
            pages.extend(wanted.into_iter().zip(read.into_iter().map(|page| page.map(Vec::into_boxed_slice))));
        }
    }

    /// Copies from the page of `address` into the buffer, up to the end of that page, and says how many bytes that were.
    fn copy(&self, address: u64, buffer: &mut [u8]) -> Option<usize> {
        let (number, within) = (address / self.page_bytes, usize::try_from(address % self.page_bytes).ok()?);
        let mut pages = self.known.borrow_mut();
        if pages.len() >= MAX_PAGES {
            pages.clear();
        }
        let page = pages.entry(number).or_insert_with(|| {
            let mut page = vec![0; usize::try_from(self.page_bytes).ok()?].into_boxed_slice();
            self.source.peek(number * self.page_bytes, &mut page).ok().map(|()| page)
        });
        let rest = page.as_ref()?.get(within..)?;
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Some(len)
    }
}

impl<P: Peek> Peek for Pages<P> {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < buffer.len() {
            match self.copy(address.wrapping_add(done as u64), &mut buffer[done..]) {
                Some(len) => done += len,
                // A page that is mapped only in part, or not at all.
                None => return self.source.peek(address, buffer),
            }
        }
        Ok(())
    }
}

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
pub mod copy;

#[cfg(test)]
mod tests {
    use super::{copy::Copy, *};

    #[test]
    fn pages_read_what_the_memory_has_across_their_edges() {
        let memory = Memory::open(std::process::id()).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(100_000).collect();
        let (start, pages) = (bytes.as_ptr() as u64, Pages::new(&memory));
        for (offset, len) in [(0, 8), (16_380, 40_000), (99_990, 10)] {
            assert_eq!(pages.bytes(start + offset as u64, len).unwrap(), bytes[offset..offset + len]);
        }
        assert!(matches!(pages.u64(8), Err(Error::Read { .. })));
        assert!(matches!(pages.u64(u64::MAX - 3), Err(Error::Read { .. })));
    }

    #[test]
    fn pages_that_are_fetched_at_once_hold_what_those_read_one_by_one_do() {
        let memory = Memory::open(std::process::id()).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(100_000).collect();
        let (start, pages) = (bytes.as_ptr() as u64, Pages::small(&memory));
        // The first page of all is nobody's.
        pages.fetch([0, 5, 4000, 30_000, 60_000, 99_999].into_iter().map(|at| start + at).chain([8]));
        assert!(pages.known.borrow().values().filter(|page| page.is_some()).count() >= 4);
        assert_eq!(pages.known.borrow().get(&0), Some(&None));
        for (offset, len) in [(0, 8), (3999, 26_010), (99_990, 10)] {
            assert_eq!(pages.bytes(start + offset as u64, len).unwrap(), bytes[offset..offset + len]);
        }
        assert!(matches!(pages.u64(8), Err(Error::Read { .. })));
    }

    #[test]
    fn a_text_ends_at_its_nul_at_its_limit_or_with_the_memory() {
        let mut copy = Copy::default();
        copy.write(0x1ff0, b"Interpreter\0abcd");
        assert_eq!(copy.text(0x1ff0, 64).unwrap(), "Interpreter");
        assert_eq!(copy.text(0x1ff0, 5).unwrap(), "Inter");
        assert_eq!(copy.text(0x1ffc, 64).unwrap(), "abcd");
        assert!(copy.text(0x2000, 64).is_err());
    }

    #[test]
    fn a_length_from_a_target_cannot_make_us_allocate_it() {
        assert!(matches!(Copy::default().bytes(0x1000, usize::MAX), Err(Error::TooLong { .. })));
    }
}
