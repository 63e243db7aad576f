//! What the programs for methods and objects are told, and what they have counted.

use std::{
    collections::{self, BTreeMap},
    os::fd::RawFd,
};

use aya::{
    Ebpf,
    maps::{Array, HashMap, MapData, PerCpuArray},
    util::nr_cpus,
};
use tracer_common::{
    filter::{ENTRY_GRAPH, Filter, WHOLE_GRAPH},
    names::{
        MAP_BUCKETS, MAP_CELLS, MAP_CONTEXTS, MAP_CONTEXTS_MADE, MAP_DEMAND, MAP_FILTER, MAP_MASKS, MAP_OUTCOMES,
        MAP_SUBJECTS, MAP_THREADS,
    },
    tally::{
        CALL_CELL, CALL_METHOD, CALL_WORDS, CALLS_HEAD, CALLS_INLINE, CALLS_WORDS, CONTEXTS_TAKEN, Cell, Context,
        Demand, NO_CONTEXT, OUTCOMES, Subject,
    },
};

use super::{
    Error, batch,
    bpf_object::{map_error, take},
    wire::{CellValue, ContextValue, DemandValue, FilterValue, SubjectValue},
};

/// The maps of methods and objects.
pub struct Tallying {
    demand: Array<MapData, DemandValue>,
    filter: Array<MapData, FilterValue>,
    subjects: HashMap<MapData, u64, SubjectValue>,
    cells: PerCpuArray<MapData, CellValue>,
    masks: HashMap<MapData, u32, u64>,
    /// Descriptors of maps that are read as a whole; they live as long as the programs.
    buckets: RawFd,
    contexts: RawFd,
    made: Array<MapData, u64>,
    /// How many values an entry of `buckets` has.
    cpus: usize,
    outcomes: PerCpuArray<MapData, u64>,
    threads: HashMap<MapData, u32, [u64; CALLS_WORDS]>,
}

/// Calls of which something may still be told.
#[derive(Debug, Default)]
pub struct UnderWay {
    /// Their contexts.
    pub contexts: collections::HashSet<u64>,
    /// Threads with more calls than were read.
    pub deeper: collections::HashSet<u32>,
}

/// Durations of the calls, or lengths of the arrays, that were counted in one cell: bucket and how many, rising.
pub type Buckets = Vec<(u16, u64)>;

impl Tallying {
    pub(super) fn take(ebpf: &mut Ebpf, descriptors: &collections::HashMap<String, RawFd>) -> Result<Self, Error> {
        macro_rules! map {
            ($kind:ident, $name:expr) => {
                $kind::try_from(take(ebpf, $name)?).map_err(|error| map_error($name, &error))?
            };
        }
        let descriptor = |name: &str| {
            let missing = || Error::Map { name: name.to_owned(), reason: "not in the object".to_owned() };
            descriptors.get(name).copied().ok_or_else(missing)
        };
        let tallying = Self {
            demand: map!(Array, MAP_DEMAND),
            filter: map!(Array, MAP_FILTER),
            subjects: map!(HashMap, MAP_SUBJECTS),
            cells: map!(PerCpuArray, MAP_CELLS),
            masks: map!(HashMap, MAP_MASKS),
            buckets: descriptor(MAP_BUCKETS)?,
            contexts: descriptor(MAP_CONTEXTS)?,
            made: map!(Array, MAP_CONTEXTS_MADE),
            cpus: nr_cpus().map_err(|(call, source)| Error::System { call, source })?,
            outcomes: map!(PerCpuArray, MAP_OUTCOMES),
            threads: map!(HashMap, MAP_THREADS),
        };
        Ok(tallying)
    }

    /// Subjects that the kernel has room to count itself.
    pub fn most_cells(&self) -> usize {
        usize::try_from(self.cells.len()).unwrap_or(usize::MAX)
    }

    /// What to do.
    pub fn set_demand(&mut self, demand: Demand) -> Result<(), Error> {
        self.demand.set(0, DemandValue(demand), 0).map_err(|error| map_error(MAP_DEMAND, &error))
    }

    /// Which events are wanted, of subjects whose names do not decide.
    pub fn set_filter(&mut self, filter: Filter) -> Result<(), Error> {
        self.set_graph(WHOLE_GRAPH, &filter)
    }

    /// What is asked at entry, where the filter is asked at return.
    pub fn set_entry_filter(&mut self, filter: Filter) -> Result<(), Error> {
        self.set_graph(ENTRY_GRAPH, &filter)
    }

    fn set_graph(&mut self, index: u32, filter: &Filter) -> Result<(), Error> {
        self.filter.set(index, FilterValue(*filter), 0).map_err(|error| map_error(MAP_FILTER, &error))
    }

    /// What the predicate says about the method or class at an address.
    pub fn set_subject(&mut self, address: u64, subject: Subject) -> Result<(), Error> {
        self.subjects.insert(address, SubjectValue(subject), 0).map_err(|error| map_error(MAP_SUBJECTS, &error))
    }

    /// Nothing is known any more of what is at an address.
    pub fn forget_subject(&mut self, address: u64) {
        // It may be that nothing was known before.
        let _: Result<(), _> = self.subjects.remove(&address);
    }

    /// Which of the predicate's conditions on names hold for a thread.
    pub fn set_thread(&mut self, tid: u32, mask: u64) -> Result<(), Error> {
        self.masks.insert(tid, mask, 0).map_err(|error| map_error(MAP_MASKS, &error))
    }

    /// What was counted in a cell, on all CPUs.
    pub fn cell(&self, index: u32) -> Result<Cell, Error> {
        let values = self.cells.get(&index, 0).map_err(|error| map_error(MAP_CELLS, &error))?;
        let mut sum = Cell::default();
        for CellValue(Cell { count, timed, errors, total_ns, inner_ns, bytes }) in values.iter() {
            sum.count += count;
            sum.timed += timed;
            sum.errors += errors;
            sum.total_ns += total_ns;
            sum.inner_ns += inner_ns;
            sum.bytes += bytes;
        }
        Ok(sum)
    }

    /// The buckets of all cells.
    pub fn buckets(&self) -> BTreeMap<u32, Buckets> {
        let mut all: BTreeMap<u32, BTreeMap<u16, u64>> = BTreeMap::new();
        // An entry that is added meanwhile is read the next time.
        let read = batch::each(self.buckets, self.cpus, |key, counts: &[u64]| {
            let [cell, bucket] = [key >> 32, key & 0xffff_ffff];
            if let (Ok(cell), Ok(bucket)) = (u32::try_from(cell), u16::try_from(bucket)) {
                *all.entry(cell).or_default().entry(bucket).or_default() += counts.iter().sum::<u64>();
            }
        });
        if let Err(error) = read {
            log::warn!("eBPF map `{MAP_BUCKETS}`: {error}");
        }
        all.into_iter().map(|(cell, buckets)| (cell, buckets.into_iter().collect())).collect()
    }

    /// All contexts with their ids. One that is added meanwhile is read the next time.
    pub fn contexts(&self) -> Vec<(u64, Context)> {
        let mut contexts = Vec::new();
        let read = batch::each(self.contexts, 1, |id, values: &[ContextValue]| {
            contexts.extend(values.iter().map(|ContextValue(context)| (id, *context)));
        });
        if let Err(error) = read {
            log::warn!("eBPF map `{MAP_CONTEXTS}`: {error}");
        }
        contexts
    }

    /// A context of a thread that has ended, as it is: the kernel has room for another one then.
    pub fn take_context(&mut self, id: u64) -> Option<Context> {
        let mut value = ContextValue(Context::default());
        batch::take(self.contexts, id, &mut value).then_some(value.0)
    }

    /// How many contexts were taken in all.
    pub fn set_taken(&mut self, count: u64) -> Result<(), Error> {
        self.made.set(CONTEXTS_TAKEN, count, 0).map_err(|error| map_error(MAP_CONTEXTS_MADE, &error))
    }

    /// Nothing is under way any more on a thread that has ended, unless its calls have no ends.
    pub fn forget_thread(&mut self, tid: u32) {
        if self.threads.get(&tid, 0).is_ok_and(|[depth, ..]| depth == 0) {
            // It was there, and nobody else takes it away.
            let _: Result<(), _> = self.threads.remove(&tid);
        }
    }

    /// `Method*` of calls that began in an epoch and of whose end nothing has told, as far as they are wanted; and how many are
    /// deeper than is read.
    pub fn calls_under_way(&self, epoch: u32) -> (Vec<u64>, u64) {
        let (mut methods, mut deeper) = (Vec::new(), 0);
        for (_, words) in self.threads.iter().flatten() {
            // How many calls, what returned last and where, whether an exception has left a frame, and the epoch.
            let [depth, _, _, _, of] = *words.first_chunk::<CALLS_HEAD>().unwrap_or(&[0; CALLS_HEAD]);
            if of != u64::from(epoch) {
                continue;
            }
            let here = usize::try_from(depth).unwrap_or(usize::MAX).min(CALLS_INLINE);
            deeper += depth - here as u64;
            let calls = words[CALLS_HEAD..].chunks_exact(CALL_WORDS).take(here);
            methods.extend(calls.filter(|call| call[CALL_CELL] != NO_CONTEXT).map(|call| call[CALL_METHOD]));
        }
        (methods, deeper)
    }

    /// Contexts of calls of which something may still be told: of those under way, and of those that returned last.
    pub fn contexts_under_way(&self) -> UnderWay {
        let mut under_way = UnderWay::default();
        for (tid, words) in self.threads.iter().flatten() {
            let [depth, returned, ..] = *words.first_chunk::<CALLS_HEAD>().unwrap_or(&[0; CALLS_HEAD]);
            let calls = words[CALLS_HEAD..].chunks_exact(CALL_WORDS);
            under_way.contexts.extend(calls.map(|call| call[CALL_CELL]).chain([returned.wrapping_sub(1)]));
            if depth > CALLS_INLINE as u64 {
                under_way.deeper.insert(tid);
            }
        }
        under_way
    }

    /// The counters that belong to no subject, in the order of [`tracer_common::tally::Outcome`].
    pub fn outcomes(&self) -> Result<[u64; OUTCOMES], Error> {
        let mut sums = [0; OUTCOMES];
        for (index, sum) in (0..).zip(&mut sums) {
            let values = self.outcomes.get(&index, 0).map_err(|error| map_error(MAP_OUTCOMES, &error))?;
            *sum = values.iter().sum();
        }
        Ok(sums)
    }
}
