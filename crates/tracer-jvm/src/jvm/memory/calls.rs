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
}
