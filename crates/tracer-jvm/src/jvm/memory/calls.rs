//! System calls on other processes that no crate wraps safely: what is mapped at an address, reading without a wait that
//! nothing ends, and whose a namespace is. Each checks what the kernel gives, and decides nothing.
#![expect(unsafe_code, reason = "process_vm_readv, and ioctl on files of /proc")]

use std::{
    fs::File,
    io,
    os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd},
};

/// `PROCMAP_QUERY` of `linux/fs.h`, since Linux 6.11: `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: libc::c_ulong = 0xc068_6611;
/// `NS_GET_USERNS` of `linux/nsfs.h`: `_IO(0xb7, 1)`.
const NS_GET_USERNS: libc::c_ulong = 0xb701;

/// `struct procmap_query`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Query {
    size: u64,
    flags: u64,
    address: u64,
    vma_start: u64,
    vma_end: u64,
    vma_flags: u64,
    vma_page_size: u64,
    vma_offset: u64,
    inode: u64,
    dev_major: u32,
    dev_minor: u32,
    vma_name_size: u32,
    build_id_size: u32,
    vma_name_addr: u64,
    build_id_addr: u64,
}

const _: () = assert!(size_of::<Query>() == 0x68);

/// What is mapped at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// First address.
    pub(super) start: u64,
    /// First address behind it.
    pub(super) end: u64,
    /// Device of its file; absent where it is memory without a file.
    pub(super) device: Option<(u32, u32)>,
}

/// What is mapped at an address, by an open `/proc/PID/maps`; absent where nothing is. An error where the address space that
/// the file was opened on is gone, or where the kernel cannot tell (`ENOTTY`).
pub(super) fn region_at(maps: &File, address: u64) -> io::Result<Option<Region>> {
    let mut query = Query { size: size_of::<Query>() as u64, address, ..Query::default() };
    // SAFETY: the kernel writes no more than `size` bytes to `query`, and nowhere else, as no room for names is given.
    let result = unsafe { libc::ioctl(maps.as_raw_fd(), PROCMAP_QUERY, &raw mut query) };
    if result == 0 {
        let device = (query.inode != 0).then_some((query.dev_major, query.dev_minor));
        return Ok(Some(Region { start: query.vma_start, end: query.vma_end, device }));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        error => Err(error),
    }
}

/// Reads memory of a process; gives how many bytes there were. Where a page has to come from a file system that does not
/// answer, this waits, and can be killed meanwhile; reading `/proc/PID/mem` cannot.
pub(super) fn read(pid: u32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let address = usize::try_from(address).map_err(|_| io::Error::from_raw_os_error(libc::EFAULT))?;
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the kernel writes to `buffer` only, and checks the addresses of the other process.
    let count = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Most ranges of one call; the kernel takes twice as many.
pub(super) const MOST_AT_ONCE: usize = 512;

/// The same for ranges in many places, at most [`MOST_AT_ONCE`]; gives how many of the first ones could be read whole.
pub(super) fn read_many(pid: u32, ranges: &mut [(u64, Vec<u8>)]) -> io::Result<usize> {
    let ranges = ranges.get_mut(..MOST_AT_ONCE.min(ranges.len())).unwrap_or_default();
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let local =
        |(_, buffer): &mut (u64, Vec<u8>)| libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = |(address, buffer): &(u64, Vec<u8>)| libc::iovec {
        iov_base: usize::try_from(*address).unwrap_or(usize::MAX) as *mut libc::c_void,
        iov_len: buffer.len(),
    };
    let remotes: Vec<libc::iovec> = ranges.iter().map(remote).collect();
    let locals: Vec<libc::iovec> = ranges.iter_mut().map(local).collect();
    let count = libc::c_ulong::try_from(remotes.len()).unwrap_or(0);
    // SAFETY: the kernel writes to the buffers only, which live longer than the call, and checks the addresses of the other process.
    let read = unsafe { libc::process_vm_readv(pid, locals.as_ptr(), count, remotes.as_ptr(), count, 0) };
    let mut left = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    let is_whole = |(_, buffer): &&(u64, Vec<u8>)| {
        let rest = left.checked_sub(buffer.len());
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    Ok(ranges.iter().take_while(is_whole).count())
}

/// The user namespace that a namespace belongs to.
pub(super) fn owner_of(namespace: &File) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no argument.
    let descriptor = unsafe { libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, and it is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Whether a failed call is one that this kernel does not have.
pub(super) fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::ENOSYS | libc::EINVAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_itself_is_mapped_and_read() {
        let text = *b"hello";
        let address = text.as_ptr() as u64;
        let maps = File::open("/proc/self/maps").unwrap();
        match region_at(&maps, address) {
            Ok(region) => assert!(region.unwrap().end > address && region.unwrap().device.is_none()),
            Err(error) => assert!(is_unknown(&error), "{error}"),
        }
        let mut copy = [0; 5];
        assert_eq!(read(std::process::id(), address, &mut copy).unwrap(), 5);
        assert_eq!(copy, text);
        assert!(read(std::process::id(), 8, &mut copy).is_err() && read(u32::MAX, address, &mut copy).is_err());
    }

    #[test]
    fn many_are_read_up_to_the_first_that_cannot_be() {
        let (own, text) = (std::process::id(), *b"hello");
        let address = text.as_ptr() as u64;
        let range = |at, len| (at, vec![0; len]);
        let mut ranges = [range(address, 5), range(address + 1, 2), range(8, 4), range(address, 1)];
        assert_eq!(read_many(own, &mut ranges).unwrap(), 2);
        assert_eq!((&*ranges[0].1, &*ranges[1].1), (&b"hello"[..], &b"el"[..]));
        assert!(read_many(own, &mut ranges[2..]).is_err() && read_many(u32::MAX, &mut ranges).is_err());
        assert_eq!(read_many(own, &mut []).unwrap(), 0);
    }
}
