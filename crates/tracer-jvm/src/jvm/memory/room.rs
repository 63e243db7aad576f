//! How much room is left on the file system of a file.

use std::path::Path;

use rustix::fs::fstatfs;

use super::file_system::local;

/// A file system, and what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its device.
    pub device: (u32, u32),
    /// Its size.
    pub bytes: u64,
    /// What is free for who is not root.
    pub free_bytes: u64,
    /// How many files it may have; 0 where it has no such number.
    pub files: u64,
    /// How many more.
    pub free_files: u64,
}

/// What is left where a file of a target lies, named by a path below `/proc/PID`; none where nobody knows whether that answers: another
/// machine serves it, or a program.
pub fn of_file(path: &Path) -> Option<Room> {
    let (handle, device) = local(path).ok()?;
    let found = fstatfs(&handle).ok()?;
    let block = u64::try_from(found.f_bsize).ok()?;
    let [bytes, free_bytes] = [found.f_blocks, found.f_bavail].map(|blocks| blocks.saturating_mul(block));
    Some(Room { device, bytes, free_bytes, files: found.f_files, free_files: found.f_ffree })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_file_system_says_what_is_left_of_it() {
        let file = tempfile::tempfile().expect("a file");
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let room = of_file(Path::new(&path)).expect("the test's folder is on this machine");
        assert!(room.bytes > 0 && room.free_bytes <= room.bytes && room.free_files <= room.files, "{room:?}");
        assert_eq!(of_file(Path::new("/etc/passwd")), None, "it is named by no target");
        assert_eq!(of_file(Path::new("/proc/self/fd/4000000")), None);
    }
}
