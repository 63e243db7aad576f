//! What a look sees of the whole process and its machine, beside threads.

use serde::{Deserialize, Serialize};

/// A file of which the target maps more and more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedFile {
    /// As the target sees it.
    pub path: String,
    /// How much more of it is mapped than at the first look.
    pub grown_bytes: u64,
    /// In how many pieces it is mapped.
    pub mappings: u64,
}

/// A file system on which the target writes, and which is nearly full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// A file on it that the target has open, as it sees it.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// What is left for who is not root.
    pub free_bytes: u64,
    /// How many files it may have; 0 where it has no such number.
    pub files: u64,
    /// How many more.
    pub free_files: u64,
}

/// What most of the descriptors lead to that the target has opened of late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// A file as the target sees it, a socket with its peer, or a kind of descriptors.
    pub what: String,
    /// How many of those that were looked at lead there.
    pub descriptors: u64,
    /// How many were looked at: those with the highest numbers.
    pub looked_at: u64,
}

/// A control group's limit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// How much all processes of the group may use.
    pub limit_bytes: u64,
    /// How much they do, without copies of files that are dropped first.
    pub used_bytes: u64,
    /// How often they wanted more, since the group was made: the kernel then drops copies of files.
    pub reached: u64,
    /// How many processes of the group the kernel has killed since, as there was nothing more to drop.
    pub killed: u64,
}

impl MemoryLimit {
    /// What is left.
    pub const fn room_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

/// A control group's limit of threads, and processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadLimit {
    /// How many there may be in the group.
    pub limit: u64,
    /// How many there are.
    pub used: u64,
}

/// Running totals of a process and its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OsProcess {
    /// Memory in RAM that is not of files.
    pub anonymous_bytes: u64,
    /// Memory in RAM, files' included.
    pub resident_bytes: u64,
    /// Memory in swap.
    pub swapped_bytes: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// CPU time of all its threads.
    pub cpu_ns: u64,
    /// CPU time of everything on the machine.
    pub machine_ns: u64,
    /// How long its control group, or one above, was kept from running by a limit of CPU time; absent where none says.
    pub throttled_ns: Option<u64>,
    /// What its control group may use of memory, or one above that has less room left; absent where none has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<MemoryLimit>,
    /// How many threads its control group may have, or one above in which fewer may still be started; absent where none has a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_limit: Option<ThreadLimit>,
    /// Descriptors that it has open; absent where they could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptors: Option<u64>,
    /// How many it may have open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_descriptors: Option<u64>,
}
