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
/// How old what the kernel has said of a mapping may be: reading one structure takes a dozen reads of the same few mappings, and less
/// than this. Who changes a mapping between the question and the read is a little late anyway, and the read can be killed.
const SAID_AGE: Duration = Duration::from_millis(1);
/// Mappings of which that is known.
const MOST_SAID: usize = 8;

/// The mappings of one address space.
#[derive(Debug)]
pub(super) struct Guarded {
    pid: u32,
    /// Bound to the address space that the process had when it was opened.
    maps: File,
    /// Read when the first file is met.
    file_systems: Mutex<Option<FileSystems>>,
    /// Mappings that may be read, as the kernel has said lately.
    said: Mutex<Vec<Said>>,
    /// For kernels before 6.11.
    listed: Mutex<Option<(Instant, Vec<Mapping>)>>,
}

/// A mapping that may be read, and when the kernel said so.
#[derive(Clone, Copy, Debug)]
struct Said {
    start: u64,
    end: u64,
    at: Instant,
}

/// How the mappings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The kernel has said so a moment ago, of this very address space.
    Now,
    /// By a list that is some milliseconds old.
    Listed,
}

impl Guarded {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let maps = File::open(format!("/proc/{pid}/maps"))?;
        Ok(Self { pid, maps, file_systems: Mutex::new(None), said: Mutex::default(), listed: Mutex::new(None) })
    }

    /// Checks all mappings of a range.
    pub(super) fn check(&self, address: u64, len: usize) -> io::Result<Known> {
        let end = address.checked_add(len as u64).ok_or_else(unmapped)?;
        let (mut at, mut known) = (address, Known::Now);
        for _ in 0..MAX_REGIONS {
            if let Some(said_end) = self.said_to_end_at(at) {
                if said_end >= end {
                    return Ok(known);
                }
                at = said_end;
                continue;
            }
            let region = match calls::region_at(&self.maps, at) {
                Ok(region) => self.allowed(region.ok_or_else(unmapped)?)?,
                Err(error) if calls::is_unknown(&error) => {
                    known = Known::Listed;
                    self.trusted(self.region_listed(at)?)?
                }
                Err(error) => return Err(error),
            };
            if region.end >= end {
                return Ok(known);
            }
            at = region.end;
        }
        Err(unmapped())
    }

    /// Whether the address space still is the one that was opened; asked after reading by pid. What the kernel says of memory without
    /// a file holds for the next read, too.
    pub(super) fn is_same(&self, address: u64) -> io::Result<()> {
        // Whose file a mapping is from is asked when it is to be read.
        if let Some(region) = calls::region_at(&self.maps, address)?.filter(|region| region.device.is_none()) {
            self.allowed(region)?;
        }
        Ok(())
    }

    /// Where the mapping at an address ends of which the kernel has said a moment ago that it may be read.
    fn said_to_end_at(&self, address: u64) -> Option<u64> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |said: &&Said| (said.start..said.end).contains(&address) && said.at.elapsed() < SAID_AGE;
        said.iter().find(holds).map(|said| said.end)
    }

    /// A mapping of which the kernel has just told, if it may be read; that is remembered for a moment.
    fn allowed(&self, region: Region) -> io::Result<Region> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.retain(|said| said.end <= region.start || region.end <= said.start);
        let region = self.trusted(region)?;
        if said.len() >= MOST_SAID {
            said.remove(0);
        }
        said.push(Said { start: region.start, end: region.end, at: Instant::now() });
        Ok(region)
    }

    /// A mapping, if it may be read.
    fn trusted(&self, region: Region) -> io::Result<Region> {
        if let Some(device) = region.device
            && !self.trusts(device)?
        {
            let what = "it is mapped from a file system that the target's user may serve herself";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Ok(region)
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
        Ok(Region { start: mapping.start, end: mapping.end, device })
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
    fn what_was_said_of_a_mapping_holds_for_a_moment_and_for_that_mapping_alone() {
        let guarded = Guarded::open(std::process::id()).unwrap();
        let text = Box::new([0_u8; 8]);
        let here = text.as_ptr() as u64;
        if guarded.check(here, 8).unwrap() == Known::Listed {
            return assert!(guarded.said.lock().unwrap().is_empty());
        }
        let end = {
            let mut said = guarded.said.lock().unwrap();
            let [mapping] = &mut said[..] else { panic!("one mapping was asked for: {said:?}") };
            assert!((mapping.start..mapping.end).contains(&here));
            // Nobody waits for a moment to pass, nor is in time for one.
            mapping.at = Instant::now() + Duration::from_hours(1);
            mapping.end
        };
        assert_eq!(guarded.said_to_end_at(here), Some(end));
        assert!(guarded.check(8, 8).is_err() && guarded.said_to_end_at(end).is_none());
        guarded.said.lock().unwrap()[0].at = Instant::now().checked_sub(SAID_AGE).unwrap();
        assert_eq!(guarded.said_to_end_at(here), None);
        guarded.is_same(here).unwrap();
        assert_eq!(guarded.said.lock().unwrap().len(), 1, "asked for again, and not kept twice");
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
