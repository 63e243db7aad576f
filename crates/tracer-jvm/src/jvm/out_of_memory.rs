//! Whether the JVM itself has thrown an `OutOfMemoryError` since it started.
//!
//! It notes when it reports the first one, for the heap, metaspace, or an array that is too long. Those that Java code throws, as for direct
//! buffers, and those for threads that cannot be started, are not among them: they are made as other exceptions are. How many errors it
//! has left in store says nothing: the first one takes three.
//! <https://github.com/openjdk/jdk17u/blob/jdk-17.0.15-ga/src/hotspot/share/utilities/debug.cpp#L322>

use super::{find::Jvm, peek::Peek};

/// Whether one was reported, 0 or 1.
const REPORTED: &str = "_ZZ25report_java_out_of_memoryPKcE22out_of_memory_reported";

/// Where the JVM notes it.
#[derive(Clone, Copy, Debug)]
pub struct OutOfMemory(u64);

impl OutOfMemory {
    /// Finds it; none where the library has no symbols.
    pub fn find(jvm: &Jvm) -> Option<Self> {
        jvm.library.symbols(&[REPORTED]).ok()?.get(REPORTED).copied().map(Self)
    }

    /// Whether it has thrown one.
    pub fn is_reported(self, memory: &impl Peek) -> Option<bool> {
        match memory.u32(self.0).ok()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::peek::copy::Copy;

    #[test]
    fn what_is_neither_yes_nor_no_says_nothing() {
        let reported = |noted: u32| {
            let mut copy = Copy::default();
            copy.write_u32(0x1000, noted);
            OutOfMemory(0x1000).is_reported(&copy)
        };
        assert_eq!([0, 1, 7].map(reported), [Some(false), Some(true), None]);
        assert_eq!(OutOfMemory(0x9000_0000).is_reported(&Copy::default()), None);
    }
}
