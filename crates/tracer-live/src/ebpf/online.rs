//! Which CPUs are in use. A machine may get more of them while a session lasts.

use std::{fs::File, io, os::unix::fs::FileExt as _};

/// Where the kernel says it, as in `0-3,8`.
const PATH: &str = "/sys/devices/system/cpu/online";

/// Longest text that is believed; more is said of no machine.
const MAX_TEXT_BYTES: usize = 4096;

/// Most CPUs that are told apart.
const MAX_CPUS: u32 = 4096;

/// The CPUs in use; the file stays open, as a session may give up the right to open it.
pub(super) struct Online {
    file: File,
    text: Vec<u8>,
}

impl Online {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self { file: File::open(PATH)?, text: Vec::new() })
    }

    /// Numbers of the CPUs in use, where these are others than at the last call.
    pub(super) fn changed(&mut self) -> io::Result<Option<Vec<u32>>> {
        let mut text = [0; MAX_TEXT_BYTES];
        let length = self.file.read_at(&mut text, 0)?;
        if text[..length] == self.text[..] {
            return Ok(None);
        }
        self.text = text[..length].to_vec();
        let cpus = ranges(&String::from_utf8_lossy(&self.text));
        cpus.map(Some).ok_or_else(|| io::Error::other(format!("{PATH} is no list of CPUs")))
    }
}

fn ranges(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MAX_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_cpus_are_read() {
        assert_eq!(ranges("0\n"), Some(vec![0]));
        assert_eq!(ranges("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        for wrong in ["", "a", "1-", "0-4294967295", "1,,2"] {
            assert_eq!(ranges(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        let mut online = Online::open().unwrap();
        assert!(!online.changed().unwrap().unwrap().is_empty());
        assert_eq!(online.changed().unwrap(), None);
    }
}
