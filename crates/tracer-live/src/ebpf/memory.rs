//! How large the maps are that grow with the machine's CPUs. The kernel keeps one copy of them for each CPU that the machine could
//! have, in use or not: what is fine on 4 is 300 MB on 256. So all of them together keep to a bound, and what each CPU has
//! becomes less instead.

use tracer_common::{
    record::LARGE_EVENT_BYTES,
    site::MAX_SITES,
    stack::{MAX_FRAMES, RawFrame},
    stats::SiteStats,
    tally::{Cell, MAX_BUCKETS, MAX_CELLS},
    unwind::Remembered,
};

/// Size of the ring buffers, of which each CPU that is in use has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingSize {
    /// As large as the user says: a power of two of at least [`MIN_RING_BYTES`].
    Each(u32),
    /// A share of `all`, and at most `most`.
    Share {
        /// What those of all CPUs may take together.
        all: u32,
        /// What one may take.
        most: u32,
    },
}

impl Default for RingSize {
    fn default() -> Self {
        Self::Share { all: 16 << 20, most: 1 << 20 }
    }
}

/// Smallest ring buffer: a page.
pub const MIN_RING_BYTES: u32 = 4096;
/// Smallest share: it holds what arrives between two looks of the reader, where not much is asked for.
const MIN_SHARE_BYTES: u32 = 64 << 10;

impl RingSize {
    /// Bytes of each of as many ring buffers; a power of two.
    pub fn bytes(self, cpus: usize) -> u32 {
        let (all, most) = match self {
            Self::Each(bytes) => return bytes,
            Self::Share { all, most } => (all, most),
        };
        let share = all / u32::try_from(cpus.max(1)).unwrap_or(u32::MAX);
        1 << share.clamp(MIN_SHARE_BYTES, most).ilog2()
    }
}

/// What the maps with a copy for each CPU may take together, as far as they can be smaller: with 16 MiB of ring buffers and
/// with the other maps less than 64 MiB.
const ALL_CPUS_BYTES: usize = 28 << 20;
/// The same of durations, whose map fills while a session lasts.
const BUCKETS_BYTES: usize = 16 << 20;

/// Program counters that a CPU remembers: at least and at most.
const PLACES: [usize; 2] = [512, 8192];
/// Methods and classes that the kernel can count itself; events of others arrive one by one.
const CELLS: [usize; 2] = [512, MAX_CELLS];
const BUCKETS: [usize; 2] = [4096, MAX_BUCKETS];

/// What a CPU needs for walks over stacks (`Scratch` of the programs), and for small counters.
const FIXED_BYTES: usize = 4 * (MAX_FRAMES * size_of::<RawFrame>() + 1024) + LARGE_EVENT_BYTES;

/// Entries of the maps that have a copy for each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PerCpu {
    pub(super) sites: u32,
    pub(super) places: u32,
    pub(super) cells: u32,
    pub(super) buckets: u32,
}

impl PerCpu {
    /// As many as there is room for on a machine that could have so many CPUs. `tallying` where methods or objects are
    /// looked at.
    pub(super) fn of(cpus: usize, sites: usize, tallying: bool) -> Self {
        let cpus = cpus.max(1);
        let sites = sites.min(MAX_SITES);
        let room = (ALL_CPUS_BYTES / cpus).saturating_sub(FIXED_BYTES + sites * size_of::<SiteStats>());
        let for_places = if tallying { room / 4 } else { room };
        // A power of two.
        let places = 1 << (for_places / size_of::<Remembered>()).clamp(PLACES[0], PLACES[1]).ilog2();
        let for_cells = room.saturating_sub(places * size_of::<Remembered>());
        let cells = if tallying { (for_cells / size_of::<Cell>()).clamp(CELLS[0], CELLS[1]) } else { 1 };
        let buckets = if tallying { (BUCKETS_BYTES / (8 * cpus)).clamp(BUCKETS[0], BUCKETS[1]) } else { 1 };
        let [sites, places, cells, buckets] =
            [sites, places, cells, buckets].map(|entries| u32::try_from(entries).unwrap_or(u32::MAX));
        Self { sites, places, cells, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_machine_has_all_of_it() {
        let all = PerCpu { sites: 1024, places: 8192, cells: 16_384, buckets: 131_072 };
        for (cpus, buckets) in [(1, 131_072), (2, 131_072), (16, 131_072), (24, 87_381)] {
            assert_eq!(PerCpu::of(cpus, MAX_SITES, true), PerCpu { buckets, ..all });
            assert_eq!(PerCpu::of(cpus, 60, false), PerCpu { sites: 60, cells: 1, buckets: 1, ..all });
        }
    }

    #[test]
    fn what_all_cpus_take_keeps_to_the_bound() {
        for cpus in 1..=256 {
            for (sites, tallying) in [(80, false), (20, true)] {
                let PerCpu { sites, places, cells, buckets } = PerCpu::of(cpus, sites, tallying);
                let [sites, places, cells, buckets] = [sites, places, cells, buckets].map(|entries| entries as usize);
                let each = FIXED_BYTES
                    + sites * size_of::<SiteStats>()
                    + places * size_of::<Remembered>()
                    + cells * size_of::<Cell>();
                assert!(each * cpus <= ALL_CPUS_BYTES + ALL_CPUS_BYTES / 4, "{cpus}: {}", each * cpus);
                assert!(buckets * 8 * cpus <= BUCKETS_BYTES);
                assert!(places.is_power_of_two() && (tallying == (cells > 1)));
            }
        }
    }

    #[test]
    fn ring_buffers_share_what_there_is() {
        let usual = RingSize::default();
        assert_eq!([1, 2, 16, 17, 256].map(|cpus| usual.bytes(cpus)), [1 << 20, 1 << 20, 1 << 20, 512 << 10, 64 << 10]);
        let start = RingSize::Share { all: 64 << 20, most: 8 << 20 };
        assert_eq!([1, 16, 48].map(|cpus| start.bytes(cpus)), [8 << 20, 4 << 20, 1 << 20]);
        assert_eq!(RingSize::Each(4096).bytes(64), 4096);
    }
}
