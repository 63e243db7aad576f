//! Reads and writes a target's memory without stopping it.
//!
//! It is bound to one address space, by files of `/proc` that stay with the one that they were opened on: after an `exec`, or
//! when the pid is used again, reads and writes fail instead of reaching the wrong program. Nothing is read that a file
//! system of the target's user would have to give (`guarded`). What the bytes mean is not known here; see
//! [`super::vmstructs`] and [`super::perfdata`].

pub mod maps;

pub mod library;

mod calls;
pub(crate) mod file_system;
mod guarded;
pub mod room;

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
};

use self::guarded::{Guarded, Known};

/// Largest single read. Tables of a JVM are far smaller; a size beyond this was not written by a sane JVM.
const MAX_READ_BYTES: usize = 16 << 20;
/// Largest of many reads that are made at once: 512 of them take 8 MiB.
const MAX_EACH_BYTES: usize = 16 << 10;
/// Page size that reads of strings must not cross blindly; larger pages are multiples of it.
const PAGE_BYTES: u64 = 4096;

/// Why a target's memory could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `/proc/PID/mem` could not be opened.
    #[error("cannot open the memory of process {pid}")]
    Open {
        /// Process.
        pid: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// A read failed; nothing is mapped there, or the process is gone.
    #[error("cannot read {len} bytes at {address:#x}")]
    Read {
        /// First address.
        address: u64,
        /// Bytes asked for.
        len: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// A length read from the target is beyond what jtrace accepts.
    #[error("refused to read {len} bytes at {address:#x}, more than {MAX_READ_BYTES}")]
    TooLong {
        /// First address.
        address: u64,
        /// Bytes asked for.
        len: usize,
    },
    /// No end of a string was found within its limit.
    #[error("no end of the string at {address:#x} within {max} bytes")]
    Unterminated {
        /// First address.
        address: u64,
        /// Limit.
        max: usize,
    },
    /// A write failed.
    #[error("cannot write one byte at {address:#x}")]
    Write {
        /// Address.
        address: u64,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The memory of one process.
#[derive(Debug)]
pub struct Memory {
    pid: u32,
    file: File,
    guarded: Guarded,
}

impl Memory {
    /// Opens the memory of a process for reading.
    pub fn open(pid: u32) -> Result<Self, Error> {
        Self::open_with(pid, OpenOptions::new().read(true))
    }

    /// Opens the memory of a process for reading and writing.
    pub fn open_writable(pid: u32) -> Result<Self, Error> {
        Self::open_with(pid, OpenOptions::new().read(true).write(true))
    }

    fn open_with(pid: u32, options: &OpenOptions) -> Result<Self, Error> {
        let file = options.open(format!("/proc/{pid}/mem")).map_err(|source| Error::Open { pid, source })?;
        let guarded = Guarded::open(pid).map_err(|source| Error::Open { pid, source })?;
        Ok(Self { pid, file, guarded })
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Fills `buffer` from `address`, or fails.
    pub fn read_exact(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.read(address, buffer).map_err(|source| Error::Read { address, len: buffer.len(), source })
    }

    /// Reads by pid, which a wait for a page does not make unkillable; that it was this address space is asked before and
    /// after. Kernels that cannot say so are read from by the file that is bound to it.
    fn read(&self, address: u64, buffer: &mut [u8]) -> io::Result<()> {
        if buffer.is_empty() {
            return Ok(());
        }
        if self.guarded.check(address, buffer.len())? == Known::Listed {
            return self.file.read_exact_at(buffer, address);
        }
        let count = calls::read(self.pid, address, buffer)?;
        self.guarded.is_same(address)?;
        if count == buffer.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads `len` bytes from `address`.
    pub fn read_bytes(&self, address: u64, len: usize) -> Result<Vec<u8>, Error> {
        if len > MAX_READ_BYTES {
            return Err(Error::TooLong { address, len });
        }
        let mut buffer = vec![0; len];
        self.read_exact(address, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads as many bytes from each of many addresses, as many addresses as possible at once; absent are those that cannot be read.
    pub fn read_each(&self, addresses: &[u64], len: usize) -> Vec<Option<Vec<u8>>> {
        let mut all = vec![None; addresses.len()];
        // The kernel is asked about each mapping before, and whether it was this address space after, as for one read.
        let may_read = |address: &u64| matches!(self.guarded.check(*address, len), Ok(Known::Now));
        let (at_once, alone): (Vec<usize>, Vec<usize>) =
            (0..addresses.len()).partition(|place| len > 0 && len <= MAX_EACH_BYTES && may_read(&addresses[*place]));
        let mut rest = &at_once[..];
        while let Some(first) = rest.first() {
            let places = &rest[..rest.len().min(calls::MOST_AT_ONCE)];
            let mut ranges: Vec<_> = places.iter().map(|place| (addresses[*place], vec![0; len])).collect();
            let read = calls::read_many(self.pid, &mut ranges).unwrap_or(0);
            if read > 0 && self.guarded.is_same(addresses[*first]).is_err() {
                return all;
            }
            for (place, (_, bytes)) in places.iter().zip(ranges).take(read) {
                all[*place] = Some(bytes);
            }
            // The one that stopped it is not there.
            rest = &rest[(read + usize::from(read < places.len())).min(rest.len())..];
        }
        for place in alone {
            all[place] = self.read_bytes(addresses[place], len).ok();
        }
        all
    }

    /// Reads one byte.
    pub fn read_u8(&self, address: u64) -> Result<u8, Error> {
        Ok(self.read_array::<1>(address)?[0])
    }

    /// Reads a 32-bit number in the machine's byte order.
    pub fn read_u32(&self, address: u64) -> Result<u32, Error> {
        Ok(u32::from_ne_bytes(self.read_array(address)?))
    }

    /// Reads a 64-bit number, or a pointer.
    pub fn read_u64(&self, address: u64) -> Result<u64, Error> {
        Ok(u64::from_ne_bytes(self.read_array(address)?))
    }

    fn read_array<const N: usize>(&self, address: u64) -> Result<[u8; N], Error> {
        let mut buffer = [0; N];
        self.read_exact(address, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads a string up to its NUL, which must come within `max` bytes. Page by page, as the next one may not be mapped.
    pub fn read_c_string(&self, address: u64, max: usize) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        while text.len() < max {
            let at = address.saturating_add(text.len() as u64);
            let to_page_end = usize::try_from(PAGE_BYTES - at % PAGE_BYTES).unwrap_or(1);
            let piece = self.read_bytes(at, to_page_end.min(max - text.len()))?;
            if let Some(end) = memchr::memchr(0, &piece) {
                text.extend_from_slice(&piece[..end]);
                return Ok(text);
            }
            text.extend_from_slice(&piece);
        }
        Err(Error::Unterminated { address, max })
    }

    /// Writes one byte. The kernel lets it through whatever the page's protection, so callers check the address first.
    pub fn write_u8(&self, address: u64, value: u8) -> Result<(), Error> {
        let checked = self.guarded.check(address, 1);
        checked
            .and_then(|_| self.file.write_all_at(&[value], address))
            .map_err(|source| Error::Write { address, source })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    fn own() -> Memory {
        Memory::open_writable(std::process::id()).unwrap()
    }

    fn address<T: ?Sized>(value: &T) -> u64 {
        std::ptr::from_ref(value).cast::<u8>() as u64
    }

    #[test]
    fn numbers_and_strings_are_read_as_they_are() {
        let number: u64 = 0x1122_3344_5566_7788;
        let text = b"hello\0rest";
        assert_eq!(own().read_u64(address(&number)).unwrap(), number);
        assert_eq!(own().read_c_string(address(text), 10).unwrap(), b"hello");
    }

    #[test]
    fn each_of_many_addresses_is_read_or_absent() {
        let numbers: Vec<u64> = (0..1500).collect();
        let mut addresses: Vec<u64> = numbers.iter().map(address).collect();
        for place in [0, 700, 701, 1499] {
            addresses[place] = 8;
        }
        let read = own().read_each(&addresses, 8);
        for ((number, at), bytes) in numbers.iter().zip(&addresses).zip(&read) {
            let expected = (*at != 8).then(|| number.to_ne_bytes().to_vec());
            assert_eq!(*bytes, expected, "{number}");
        }
        assert_eq!(own().read_each(&addresses[..2], usize::MAX), [None, None]);
        assert_eq!(own().read_each(&[], 8), [None; 0]);
    }

    #[test]
    fn string_without_end_is_an_error_not_a_long_read() {
        let text = [b'x'; 64];
        assert!(matches!(own().read_c_string(address(&text), 64), Err(Error::Unterminated { max: 64, .. })));
    }

    #[test]
    fn unmapped_addresses_and_absurd_lengths_are_refused() {
        assert!(matches!(own().read_u64(8), Err(Error::Read { address: 8, .. })));
        assert!(matches!(own().read_u64(u64::MAX - 7), Err(Error::Read { .. })));
        assert!(matches!(own().read_bytes(0, usize::MAX), Err(Error::TooLong { .. })));
    }

    #[test]
    fn a_written_byte_arrives() {
        let flag = AtomicU8::new(0);
        own().write_u8(address(&flag), 1).unwrap();
        assert_eq!(flag.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_process_that_is_not_there_cannot_be_opened() {
        assert!(matches!(Memory::open(u32::MAX), Err(Error::Open { pid: u32::MAX, .. })));
    }
}
