//! Parses `/proc/PID/maps`: which parts of which files are mapped where. Reads no memory.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Largest text that is read; the kernel's own limit of 65,530 mappings stays well below it with paths of usual length.
pub const MAX_BYTES: usize = 32 << 20;
const DELETED: &[u8] = b" (deleted)";

/// One mapping of a process.
#[expect(clippy::struct_excessive_bools, reason = "they are the letters of a line of `/proc/PID/maps`")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// `r`.
    pub readable: bool,
    /// `w`.
    pub writable: bool,
    /// `x`.
    pub executable: bool,
    /// Offset in the file.
    pub offset: u64,
    /// Device of the file, as the kernel prints it (`fe:00`).
    pub device: String,
    /// Inode of the file; 0 for memory without a file.
    pub inode: u64,
    /// Path as the target sees it, or a name in brackets, or empty.
    pub path: PathBuf,
    /// The file was removed from its directory (or replaced there).
    pub deleted: bool,
}

impl Mapping {
    /// Whether the address lies in it.
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Whether both are mappings of one file.
    pub fn same_file(&self, other: &Self) -> bool {
        self.inode != 0 && self.inode == other.inode && self.device == other.device
    }

    /// The device as numbers.
    pub fn device_numbers(&self) -> Option<(u32, u32)> {
        let (major, minor) = self.device.split_once(':')?;
        Some((u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
    }

    /// Last part of the path, or empty.
    pub fn file_name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

/// Text of `/proc/PID/maps`, cut at a fixed length.
pub fn read_text(pid: u32) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(format!("/proc/{pid}/maps"))?.take(MAX_BYTES as u64).read_to_end(&mut text)?;
    Ok(text)
}

/// All mappings of a process, in the order of addresses.
pub fn read(pid: u32) -> io::Result<Vec<Mapping>> {
    read_text(pid).map(|text| parse(&text))
}

/// Parses the text of `/proc/PID/maps`. A line that is not understood is left out: the last may have been cut.
pub fn parse(text: &[u8]) -> Vec<Mapping> {
    text.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mapping> {
    let (range, rest) = split_field(line)?;
    let (permissions, rest) = split_field(rest)?;
    let (offset, rest) = split_field(rest)?;
    let (device, rest) = split_field(rest)?;
    // An unnamed mapping ends behind the inode, with or without a space.
    let (inode, path) = split_field(rest).unwrap_or((rest, b""));
    let range = std::str::from_utf8(range).ok()?;
    let (start, end) = range.split_once('-')?;
    let path = path.trim_ascii_start();
    let (path, deleted) = path.strip_suffix(DELETED).map_or((path, false), |path| (path, true));
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        readable: permissions.contains(&b'r'),
        writable: permissions.contains(&b'w'),
        executable: permissions.contains(&b'x'),
        offset: u64::from_str_radix(std::str::from_utf8(offset).ok()?, 16).ok()?,
        device: String::from_utf8(device.to_vec()).ok()?,
        inode: std::str::from_utf8(inode).ok()?.parse().ok()?,
        path: Path::new(OsStr::from_bytes(path)).to_path_buf(),
        deleted,
    })
}

fn split_field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b' ', line)?;
    Some((&line[..end], &line[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_spaces_and_deletion_in_its_path() {
        let text = b"7f10-7f20 r-xp 00001000 fe:00 42                     /opt/my jdk/libjvm.so (deleted)\n";
        let all = parse(text);
        assert_eq!(all.len(), 1);
        let Mapping { start, end, readable, writable, executable, offset, device, inode, path, deleted } = &all[0];
        assert_eq!((*start, *end, *offset, *inode), (0x7f10, 0x7f20, 0x1000, 42));
        assert_eq!((*readable, *writable, *executable, *deleted), (true, false, true, true));
        assert_eq!((device.as_str(), path.to_str()), ("fe:00", Some("/opt/my jdk/libjvm.so")));
    }

    #[test]
    fn memory_without_a_file_has_no_path() {
        let all = parse(b"7f10-7f20 rw-p 00000000 00:00 0 \n7f20-7f30 rw-p 00000000 00:00 0\n");
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|mapping| mapping.path.as_os_str().is_empty() && mapping.inode == 0));
    }

    #[test]
    fn lines_that_make_no_sense_are_left_out() {
        assert!(parse(b"zz-7f20 rw-p 0 0:0 0\n7f10 rw-p\n\n\xff\xfe-1 r 0 0 0").is_empty());
    }

    #[test]
    fn the_test_itself_is_mapped() {
        let all = read(std::process::id()).unwrap();
        let here = the_test_itself_is_mapped as fn() as usize as u64;
        let mapping = all.iter().find(|mapping| mapping.contains(here)).unwrap();
        assert!(mapping.executable && mapping.path == std::env::current_exe().unwrap());
    }

    #[test]
    fn fuzz_maps() {
        crate::fuzz::samples("maps", |text| {
            let mappings = parse(text);
            assert!(mappings.len() <= text.len() / 8);
            for mapping in &mappings {
                let _: (bool, Option<(u32, u32)>) = (mapping.contains(7), mapping.device_numbers());
                let _: (bool, &OsStr) = (mapping.same_file(&mappings[0]), mapping.file_name());
            }
        });
    }
}
