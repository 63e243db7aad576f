//! Asks, before memory of a target is read, whether each page of it can be had from the kernel alone. A page that is mapped
//! from a file system of the target's user would be waited for as long as she likes ([`super::file_system`]).

use std::{
    fs::File,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{
    calls::{self, Region},
    file_system::FileSystems,
    maps::{self, Mapping},
};

/// Most mappings that one read may touch.
const MAX_REGIONS: usize = 64;
/// How old a list of mappings may be where the kernel cannot be asked for one.
const LIST_AGE: Duration = Duration::from_millis(10);

/// The mappings of one address space.
#[derive(Debug)]
pub(super) struct Guarded {
    pid: u32,
    /// Bound to the address space that the process had when it was opened.
    maps: File,
    /// Read when the first file is met.
    file_systems: Mutex<Option<FileSystems>>,
    /// For kernels before 6.11.
    listed: Mutex<Option<(Instant, Vec<Mapping>)>>,
}

/// How the mappings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The kernel has just said so, of this very address space.
    Now,
    /// By a list that is some milliseconds old.
    Listed,
}

impl Guarded {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let maps = File::open(format!("/proc/{pid}/maps"))?;
        Ok(Self { pid, maps, file_systems: Mutex::new(None), listed: Mutex::new(None) })
    }

    /// Checks all mappings of a range.
    pub(super) fn check(&self, address: u64, len: usize) -> io::Result<Known> {
        let end = address.checked_add(len as u64).ok_or_else(unmapped)?;
        let (mut at, mut known) = (address, Known::Now);
        for _ in 0..MAX_REGIONS {
            let region = match calls::region_at(&self.maps, at) {
                Ok(region) => region.ok_or_else(unmapped)?,
                Err(error) if calls::is_unknown(&error) => {
                    known = Known::Listed;
                    self.region_listed(at)?
                }
                Err(error) => return Err(error),
            };
            if let Some(device) = region.device
                && !self.trusts(device)?
            {
                let what = "it is mapped from a file system that the target's user may serve herself";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
            }
            if region.end >= end {
                return Ok(known);
            }
            at = region.end;
        }
        Err(unmapped())
    }

    /// Whether the address space still is the one that was opened; asked after reading by pid.
    pub(super) fn is_same(&self, address: u64) -> io::Result<()> {
        calls::region_at(&self.maps, address).map(|_| ())
    }

    fn trusts(&self, device: (u32, u32)) -> io::Result<bool> {
        let mut known = self.file_systems.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(FileSystems::is_stale) {
            *known = Some(FileSystems::of(self.pid)?);
        }
        Ok(known.as_ref().is_some_and(|known| known.trusts_device(device)))
    }

    fn region_listed(&self, address: u64) -> io::Result<Region> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.as_ref().is_none_or(|(read, _)| read.elapsed() > LIST_AGE) {
            *listed = Some((Instant::now(), maps::read(self.pid)?));
        }
        let all = listed.as_ref().map_or(&[][..], |(_, all)| all);
        let mapping = all.iter().find(|mapping| mapping.contains(address)).ok_or_else(unmapped)?;
        let device = (mapping.inode != 0).then(|| mapping.device_numbers().unwrap_or((u32::MAX, u32::MAX)));
        Ok(Region { end: mapping.end, device })
    }
}

/// What the kernel says where nothing is mapped.
fn unmapped() -> io::Error {
    io::Error::from_raw_os_error(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_and_own_code_are_readable_and_what_is_not_mapped_is_not() {
        let guarded = Guarded::open(std::process::id()).unwrap();
        let here = own_memory_and_own_code_are_readable_and_what_is_not_mapped_is_not as fn() as usize as u64;
        let text = [0_u8; 8];
        guarded.check(here, 8).unwrap();
        guarded.check(text.as_ptr() as u64, 8).unwrap();
        assert!(guarded.check(8, 8).is_err() && guarded.check(u64::MAX - 3, 8).is_err());
    }

    #[test]
    fn a_list_of_mappings_says_the_same_as_the_kernel() {
        let guarded = Guarded::open(std::process::id()).unwrap();
        let here = own_memory_and_own_code_are_readable_and_what_is_not_mapped_is_not as fn() as usize as u64;
        let listed = guarded.region_listed(here).unwrap();
        match calls::region_at(&guarded.maps, here) {
            Ok(region) => assert_eq!(region, Some(listed)),
            Err(error) => assert!(calls::is_unknown(&error), "{error}"),
        }
        assert!(guarded.region_listed(8).is_err());
    }
}
