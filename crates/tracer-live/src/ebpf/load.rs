//! Loads the eBPF object: maps, programs, one ring buffer per CPU.

use std::{collections::HashMap, os::fd::RawFd};

use aya::{
    Ebpf, EbpfLoader, VerifierLogLevel,
    maps::{self, Array, Map, MapData, PerCpuArray, PerCpuValues},
    programs::{Program, ProgramError, UProbe},
    util::nr_cpus,
};
use tracer_common::{
    clock::{Away, MAX_AWAY},
    names::{
        MAP_BUCKETS, MAP_CELLS, MAP_CONTEXTS, MAP_OFFCPU, MAP_REMEMBERED, MAP_RINGS, MAP_ROWS, MAP_SITES, MAP_STATS,
        MAP_SUBJECTS, MAP_TARGET, MAP_UNWANTED,
    },
    site::{SiteSpec, TargetLayout},
    stats::{STATS_WORDS, SiteStats},
    tally::{MAX_CONTEXTS, MAX_CUT_CONTEXTS, MAX_SUBJECTS},
};

use super::{
    Error,
    bpf_object::{self, chain, map_error, map_fds, take, uprobe},
    clock::ClockOptions,
    descriptors,
    jni::{self, JniMaps},
    memory::{PerCpu, RingSize},
    programs::Programs,
    rings::Rings,
    tallying::Tallying,
    unwind::{self, Unwinding},
    wire::{AwayValue, LayoutValue, SpecValue, StatsValue},
};
use crate::probe::clock::Source;

/// Most bytes that pile up before the reader is woken: what it learns of methods and threads must not come late.
const MAX_WAKEUP_BYTES: u32 = 256 << 10;

/// How sites are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// In groups where the kernel can, one by one otherwise.
    #[default]
    Auto,
    /// In groups, by multi-uprobe links (Linux 6.6 and later).
    Multi,
    /// One by one, by perf events.
    Single,
}

/// What the kernel side of a session shall be like.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of its own")]
pub struct KernelOptions {
    /// Size of the ring buffers.
    pub ring: RingSize,
    /// Sites that there must be room for.
    pub sites: usize,
    /// CPUs that the machine could have, where a test wants to know what jtrace took of the kernel there.
    pub as_if_cpus: Option<usize>,
    /// How sites are attached.
    pub links: Links,
    /// Rows of unwinding tables that there must be room for.
    pub rows: usize,
    /// How time is looked at.
    pub clocks: ClockOptions,
    /// Whether threads that are away from a CPU are to be remembered, which takes memory.
    pub remember_away: bool,
    /// Whether the kernel shall measure what the programs cost.
    pub statistics: bool,
    /// Whether methods or objects are looked at, which takes programs and memory.
    pub tallying: bool,
    /// Whether JNI calls are looked at, which takes programs and memory.
    pub jni: bool,
    /// Whether woven code is listened to, which takes a program.
    pub marks: bool,
}

/// Messages that the programs log.
pub struct Messages(aya_log::EbpfLogger<&'static dyn log::Log>);

impl Messages {
    /// Passes what has arrived on to the log.
    pub fn flush(&mut self) {
        self.0.flush();
    }
}

/// What the programs have counted, summed over the CPUs.
#[derive(Debug, Default)]
pub struct Readings {
    /// Counters of each site, in the order of [`SiteStats`]'s fields.
    pub sites: Vec<[u64; STATS_WORDS]>,
    /// Hits that were refused at each site; nothing where none were.
    pub refused: Vec<u64>,
    /// Time in walks over stacks.
    pub stack_ns: u64,
}

/// The kernel side of a session. Dropping it takes everything out of the kernel.
pub struct Kernel {
    ebpf: Ebpf,
    programs: Programs,
    tallying: Tallying,
    jni: JniMaps,
    sites: Array<MapData, SpecValue>,
    target: Array<MapData, LayoutValue>,
    stats: PerCpuArray<MapData, StatsValue>,
    unwinding: Unwinding,
    away: maps::HashMap<MapData, u64, AwayValue>,
    unwanted: maps::HashMap<MapData, u32, u8>,
    ring_bytes: u32,
    /// Sites that there is room for.
    most_sites: u32,
    clocks: ClockOptions,
    /// Of all maps; they live as long as this and its rings.
    descriptors: HashMap<String, RawFd>,
    /// What the programs were told last.
    told: TargetLayout,
}

impl Kernel {
    /// Loads everything.
    ///
    /// Minimum kernel: 5.17 (`bpf_loop`), of those that were tried 6.1.
    pub fn load(options: KernelOptions) -> Result<(Self, Rings), Error> {
        let KernelOptions { ring, links, rows, clocks, remember_away, tallying, jni, marks, sites, as_if_cpus, .. } =
            options;
        let most_away = if remember_away { MAX_AWAY } else { 1 };
        let most = |entries: usize| if tallying { u32::try_from(entries).unwrap_or(u32::MAX) } else { 1 };
        let system = |(call, source)| Error::System { call, source };
        let most_cpus = as_if_cpus.map_or_else(nr_cpus, Ok).map_err(system)?;
        // One more, for the site at which jtrace measures what a trap costs.
        let per_cpu = PerCpu::of(most_cpus, sites + 1, tallying);
        descriptors::allow(most_cpus);
        let object = bpf_object::bytes();
        let mut loader = EbpfLoader::new();
        for (map, entries) in jni::SIZED {
            loader.map_max_entries(map, if jni { u32::try_from(entries).unwrap_or(u32::MAX) } else { 1 });
        }
        let mut ebpf = loader
            // More would have each refused program verified again and again, until its whole log has room.
            .verifier_log_level(VerifierLogLevel::STATS)
            .map_max_entries(MAP_ROWS, unwind::chunks(rows))
            .map_max_entries(MAP_OFFCPU, u32::try_from(most_away).unwrap_or(u32::MAX))
            .map_max_entries(MAP_SUBJECTS, most(MAX_SUBJECTS))
            .map_max_entries(MAP_STATS, per_cpu.sites)
            .map_max_entries(MAP_REMEMBERED, per_cpu.places)
            .map_max_entries(MAP_CELLS, per_cpu.cells)
            .map_max_entries(MAP_BUCKETS, per_cpu.buckets)
            .map_max_entries(MAP_CONTEXTS, most(MAX_CONTEXTS + MAX_CUT_CONTEXTS))
            .load(&object)
            .map_err(|error| {
                let text = chain(&error);
                if descriptors::are_short(&error) { Error::Descriptors(text) } else { Error::Load(text) }
            })?;
        let descriptors = map_fds(&ebpf);
        let rings = Rings::new(take(&mut ebpf, MAP_RINGS)?, |cpus| ring.bytes(as_if_cpus.unwrap_or(cpus)))?;
        let ring_bytes = rings.bytes();
        let programs = Programs::load(&mut ebpf, &object, &descriptors, links, tallying, jni, marks)?;
        let kernel = Self {
            programs,
            tallying: Tallying::take(&mut ebpf, &descriptors)?,
            jni: JniMaps::take(&mut ebpf)?,
            sites: Array::try_from(take(&mut ebpf, MAP_SITES)?).map_err(|error| map_error(MAP_SITES, &error))?,
            target: Array::try_from(take(&mut ebpf, MAP_TARGET)?).map_err(|error| map_error(MAP_TARGET, &error))?,
            stats: PerCpuArray::try_from(take(&mut ebpf, MAP_STATS)?).map_err(|error| map_error(MAP_STATS, &error))?,
            unwinding: Unwinding::take(&mut ebpf, per_cpu.places)?,
            away: maps::HashMap::try_from(take(&mut ebpf, MAP_OFFCPU)?)
                .map_err(|error| map_error(MAP_OFFCPU, &error))?,
            unwanted: maps::HashMap::try_from(take(&mut ebpf, MAP_UNWANTED)?)
                .map_err(|error| map_error(MAP_UNWANTED, &error))?,
            ring_bytes,
            most_sites: per_cpu.sites,
            clocks,
            descriptors,
            told: TargetLayout { most_hits: u32::MAX, ..TargetLayout::default() },
            ebpf,
        };
        Ok((kernel, rings))
    }

    /// Tells the programs which process is the target and how its structures are laid out.
    pub fn set_target(&mut self, mut layout: TargetLayout) -> Result<(), Error> {
        layout.wakeup_bytes = self.wakeup_bytes();
        layout.sample_period_ns = self.clocks.sample_period_ns();
        layout.min_block_ns = self.clocks.min_block_ns;
        let TargetLayout { sched_epoch, cpu_site, sched_site, look, most_hits, .. } = self.told;
        self.told = TargetLayout { sched_epoch, cpu_site, sched_site, look, most_hits, ..layout };
        self.tell()
    }

    /// So many hits of a site may be taken on each CPU between two looks.
    pub fn allow_hits(&mut self, most_hits: u32) -> Result<(), Error> {
        self.told.most_hits = most_hits;
        self.tell()
    }

    /// User space has looked at what was hit: the programs may take as much again.
    pub fn looked(&mut self) -> Result<(), Error> {
        self.told.look = self.told.look.wrapping_add(1);
        self.tell()
    }

    fn tell(&mut self) -> Result<(), Error> {
        let layout = self.told;
        self.target.set(0, LayoutValue(layout), 0).map_err(|error| map_error(MAP_TARGET, &error))
    }

    /// Unread bytes in a ring buffer from which on the reader is woken; one that gives fewer at a time loses nothing.
    pub fn wakeup_bytes(&self) -> u64 {
        u64::from((self.ring_bytes / 4).min(MAX_WAKEUP_BYTES))
    }

    /// Marks out of this buffer of woven code are kept back.
    pub fn keep_back(&mut self, buffer: u32) -> Result<(), Error> {
        self.unwanted.insert(buffer, 1, 0).map_err(|error| map_error(MAP_UNWANTED, &error))
    }

    /// The last site that there is room for.
    pub(super) fn last_site(&self) -> u16 {
        u16::try_from(self.most_sites.saturating_sub(1)).unwrap_or(u16::MAX)
    }

    /// Tells the programs where the words of a site's event are.
    pub fn set_site(&mut self, site: u16, spec: SiteSpec) -> Result<(), Error> {
        self.programs.set_site(site, &spec);
        self.sites.set(u32::from(site), SpecValue(spec), 0).map_err(|error| map_error(MAP_SITES, &error))
    }

    /// What the programs have counted at the first `count` sites.
    pub fn readings(&self, count: usize) -> Result<Readings, Error> {
        let mut readings = Readings::default();
        for site in (0..=self.last_site()).take(count) {
            let values = self.stats.get(&u32::from(site), 0).map_err(|error| map_error(MAP_STATS, &error))?;
            readings.sites.push(sum(&values));
            readings.refused.push(values.iter().map(|StatsValue(stats)| stats.refused).sum::<u64>());
            readings.stack_ns += values.iter().map(|StatsValue(stats)| stats.stack_ns).sum::<u64>();
        }
        if readings.refused.iter().all(|number| *number == 0) {
            readings.refused.clear();
        }
        Ok(readings)
    }

    /// Counters of the first `count` sites, summed over the CPUs, in the order of [`SiteStats`]'s fields.
    pub fn stats(&self, count: usize) -> Result<Vec<[u64; STATS_WORDS]>, Error> {
        self.readings(count).map(|readings| readings.sites)
    }

    /// Counters of one site.
    pub fn site_stats(&self, site: u16) -> Result<[u64; STATS_WORDS], Error> {
        let values = self.stats.get(&u32::from(site), 0).map_err(|error| map_error(MAP_STATS, &error))?;
        Ok(sum(&values))
    }

    /// Hits of one site, and its time in walks over stacks.
    pub fn site_load(&self, site: u16) -> Result<[u64; 2], Error> {
        let values = self.stats.get(&u32::from(site), 0).map_err(|error| map_error(MAP_STATS, &error))?;
        let mut load = [0; 2];
        for StatsValue(SiteStats { hits, filtered, emitted, stack_ns, counted, refused, .. }) in values.iter() {
            load[0] += if *hits == 0 { filtered + counted + refused + emitted } else { *hits };
            load[1] += stack_ns;
        }
        Ok(load)
    }

    /// What the programs know about the target's code.
    pub const fn unwinding(&mut self) -> &mut Unwinding {
        &mut self.unwinding
    }

    /// The reader of messages that the programs log.
    pub fn take_messages(&mut self) -> Option<Messages> {
        aya_log::EbpfLogger::init(&mut self.ebpf).ok().map(Messages)
    }

    /// Tells the programs the site of a clock. What the scheduler's remembered before they went away last counts no more.
    pub(super) fn set_clock_site(&mut self, source: Source, site: u16) -> Result<(), Error> {
        match source {
            Source::Timer => self.told.cpu_site = site,
            Source::Scheduler => {
                self.told.sched_site = site;
                self.told.sched_epoch = self.told.sched_epoch.wrapping_add(1);
            }
        }
        self.tell()
    }

    /// How time is looked at.
    pub const fn clocks(&self) -> ClockOptions {
        self.clocks
    }

    pub(super) const fn away_map(&self) -> &maps::HashMap<MapData, u64, AwayValue> {
        &self.away
    }

    /// Whether an absence began while the scheduler's programs were attached as they are now.
    pub(super) const fn is_current(&self, away: &Away) -> bool {
        away.epoch == self.told.sched_epoch
    }

    /// A program of the object.
    pub(super) fn program<'a, P>(&'a mut self, name: &str) -> std::io::Result<&'a mut P>
    where
        &'a mut P: TryFrom<&'a mut Program, Error = ProgramError>,
    {
        let program = self.ebpf.program_mut(name).and_then(|program| program.try_into().ok());
        program.ok_or_else(|| std::io::Error::other(format!("the object has no program `{name}`")))
    }

    /// What the programs for methods and objects are told, and what they count.
    pub const fn tallying(&mut self) -> &mut Tallying {
        &mut self.tallying
    }

    /// What the programs for JNI functions are told, and what they count.
    pub const fn jni(&mut self) -> &mut JniMaps {
        &mut self.jni
    }

    pub(super) const fn descriptors(&self) -> &HashMap<String, RawFd> {
        &self.descriptors
    }

    pub(super) const fn programs(&self) -> &Programs {
        &self.programs
    }

    pub(super) fn take_map(&mut self, name: &str) -> Result<Map, Error> {
        take(&mut self.ebpf, name)
    }

    pub(super) fn uprobe(&mut self, program: &str) -> Result<&mut UProbe, Error> {
        uprobe(&mut self.ebpf, program)
    }
}

/// Counters of one site, in the order of [`SiteStats`]'s fields.
fn sum(values: &PerCpuValues<StatsValue>) -> [u64; STATS_WORDS] {
    let mut sum = [0; STATS_WORDS];
    for StatsValue(stats) in values.iter() {
        let SiteStats {
            hits,
            filtered,
            emitted,
            lost,
            unreadable,
            definitions_emitted,
            definitions_lost,
            stack_ns: _,
            counted,
            refused,
            look: _,
            hits_since: _,
        } = *stats;
        // Programs that mostly count leave the sum to us.
        let hits = if hits == 0 { filtered + counted + refused + emitted } else { hits };
        let counters = [hits, filtered, emitted, lost, unreadable, definitions_emitted, definitions_lost];
        for (total, counter) in sum.iter_mut().zip(counters) {
            *total += counter;
        }
    }
    sum
}
