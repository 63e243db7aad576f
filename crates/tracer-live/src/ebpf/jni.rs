//! What the programs at JNI functions are told, and what they have counted.

use aya::{
    Ebpf,
    maps::{Array, HashMap, MapData, PerCpuArray},
};
use tracer_common::{
    jni::{Caller, Count, CountKey, JniDemand, MAX_FUNCTIONS, OUTCOMES, Thread},
    names::{
        MAP_JNI_CALLERS, MAP_JNI_COUNTS, MAP_JNI_DEMAND, MAP_JNI_FUNCTIONS, MAP_JNI_LASTED, MAP_JNI_OUTCOMES,
        MAP_JNI_SECTIONS, MAP_JNI_THREADS,
    },
    tally::{BUCKETS, Subject},
};

use super::{
    Error,
    bpf_object::{map_error, take},
    wire::{CallerValue, CountKeyValue, CountValue, JniDemandValue, JniThreadValue, SubjectValue},
};
use crate::jni::Function;

/// The maps that take memory for each entry: how many entries they get.
pub(super) const SIZED: [(&str, usize); 5] = [
    (MAP_JNI_LASTED, BUCKETS),
    (MAP_JNI_CALLERS, tracer_common::jni::MAX_CALLERS),
    (MAP_JNI_COUNTS, tracer_common::jni::MAX_COUNTS),
    (MAP_JNI_SECTIONS, tracer_common::jni::MAX_SECTIONS),
    (MAP_JNI_THREADS, tracer_common::tally::MAX_THREADS),
];

/// The maps of JNI calls.
pub struct JniMaps {
    demand: Array<MapData, JniDemandValue>,
    functions: Array<MapData, SubjectValue>,
    callers: HashMap<MapData, u64, CallerValue>,
    counts: HashMap<MapData, CountKeyValue, CountValue>,
    sections: HashMap<MapData, CountKeyValue, CountValue>,
    lasted: PerCpuArray<MapData, u64>,
    threads: HashMap<MapData, u32, JniThreadValue>,
    outcomes: PerCpuArray<MapData, u64>,
}

impl JniMaps {
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, Error> {
        macro_rules! map {
            ($kind:ident, $name:expr) => {
                $kind::try_from(take(ebpf, $name)?).map_err(|error| map_error($name, &error))?
            };
        }
        Ok(Self {
            demand: map!(Array, MAP_JNI_DEMAND),
            functions: map!(Array, MAP_JNI_FUNCTIONS),
            callers: map!(HashMap, MAP_JNI_CALLERS),
            counts: map!(HashMap, MAP_JNI_COUNTS),
            sections: map!(HashMap, MAP_JNI_SECTIONS),
            lasted: map!(PerCpuArray, MAP_JNI_LASTED),
            threads: map!(HashMap, MAP_JNI_THREADS),
            outcomes: map!(PerCpuArray, MAP_JNI_OUTCOMES),
        })
    }

    /// What to do.
    pub fn set_demand(&mut self, demand: JniDemand) -> Result<(), Error> {
        self.demand.set(0, JniDemandValue(demand), 0).map_err(|error| map_error(MAP_JNI_DEMAND, &error))
    }

    /// What the predicate says of a function.
    pub fn set_function(&mut self, function: Function, subject: Subject) -> Result<(), Error> {
        let index = u32::from(function.0);
        if usize::from(function.0) >= MAX_FUNCTIONS {
            return Ok(());
        }
        self.functions.set(index, SubjectValue(subject), 0).map_err(|error| map_error(MAP_JNI_FUNCTIONS, &error))
    }

    /// The number of the caller at an address, and what the predicate says of it.
    pub fn set_caller(&mut self, address: u64, caller: Caller) -> Result<(), Error> {
        self.callers.insert(address, CallerValue(caller), 0).map_err(|error| map_error(MAP_JNI_CALLERS, &error))
    }

    /// Nothing is known any more of what is at an address.
    pub fn forget_caller(&mut self, address: u64) {
        // It may be that nothing was known before.
        let _: Result<(), _> = self.callers.remove(&address);
    }

    /// The calls that were counted.
    pub fn counts(&self) -> Vec<(CountKey, Count)> {
        entries(&self.counts)
    }

    /// The critical sections that were counted.
    pub fn sections(&self) -> Vec<(CountKey, Count)> {
        entries(&self.sections)
    }

    /// Calls of a thread that has ended, as they were counted: the kernel has room for others then.
    pub fn take_count(&mut self, key: CountKey) -> Option<Count> {
        taken(&mut self.counts, key)
    }

    /// Critical sections of a thread that has ended, as they were counted.
    pub fn take_section(&mut self, key: CountKey) -> Option<Count> {
        taken(&mut self.sections, key)
    }

    /// How many critical sections lasted as long as each bucket; those that are not empty.
    pub fn lasted(&self) -> Result<Vec<(u16, u64)>, Error> {
        let mut buckets = Vec::new();
        for bucket in (0_u16..).take(self.lasted.len() as usize) {
            let values = self.lasted.get(&u32::from(bucket), 0).map_err(|error| map_error(MAP_JNI_LASTED, &error))?;
            let count: u64 = values.iter().sum();
            if count > 0 {
                buckets.push((bucket, count));
            }
        }
        Ok(buckets)
    }

    /// The threads that have called, and what they have under way.
    pub fn threads(&self) -> Vec<(u32, Thread)> {
        // An entry that is added meanwhile is read the next time.
        self.threads.iter().flatten().map(|(tid, JniThreadValue(thread))| (tid, thread)).collect()
    }

    /// Nothing is under way any more on a thread.
    pub fn forget_thread(&mut self, tid: u32) {
        // It may have gone by itself.
        let _: Result<(), _> = self.threads.remove(&tid);
    }

    /// The counters that belong to no call, in the order of [`tracer_common::jni::Outcome`].
    pub fn outcomes(&self) -> Result<[u64; OUTCOMES], Error> {
        let mut sums = [0; OUTCOMES];
        for (index, sum) in (0..).zip(&mut sums) {
            let values = self.outcomes.get(&index, 0).map_err(|error| map_error(MAP_JNI_OUTCOMES, &error))?;
            *sum = values.iter().sum();
        }
        Ok(sums)
    }
}

fn entries(map: &HashMap<MapData, CountKeyValue, CountValue>) -> Vec<(CountKey, Count)> {
    let mut entries: Vec<_> =
        map.iter().flatten().map(|(CountKeyValue(key), CountValue(count))| (key, count)).collect();
    // The order of a report does not depend on the kernel's hashing.
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

fn taken(map: &mut HashMap<MapData, CountKeyValue, CountValue>, key: CountKey) -> Option<Count> {
    let CountValue(count) = map.get(&CountKeyValue(key), 0).ok()?;
    map.remove(&CountKeyValue(key)).ok().map(|()| count)
}
