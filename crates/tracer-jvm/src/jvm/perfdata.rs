//! Reads the JVM's own performance counters (hsperfdata, format 2.0).
//!
//! They lie in the target's memory, and that is where jtrace reads them: no file in a world-writable directory is needed.
//! A target whose memory cannot be read may still show them through its file, which [`mod@file`] opens with care.

pub mod file;

use std::collections::HashMap;

use super::{memory, peek::Peek, vmstructs::VmStructs};

const MAGIC: u32 = 0xcafe_c0c0;
const PROLOGUE_BYTES: usize = 32;
const ENTRY_BYTES: usize = 20;
/// Largest region: 32 KiB by default, more with `-XX:PerfDataMemorySize`.
const MAX_REGION_BYTES: u64 = 4 << 20;
/// Most entries; JDK 25 has about 300.
const MAX_ENTRIES: usize = 16_384;

/// Why there are no counters.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JVM runs with `-XX:-UsePerfData`, or has not come that far.
    #[error("the JVM keeps no performance counters (-XX:-UsePerfData)")]
    Disabled,
    /// The JVM's own tables do not say where they are.
    #[error("the JVM's tables have no `PerfMemory::{0}`")]
    NoField(&'static str),
    /// The region has an absurd size.
    #[error("performance counters of {0} bytes")]
    Size(u64),
    /// It is not the format that jtrace knows.
    #[error("performance counters in an unknown format: {0}")]
    Format(&'static str),
    /// The target's memory could not be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The target's file could not be opened.
    #[error(transparent)]
    File(#[from] file::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Long { offset: usize },
    Text { offset: usize, capacity: usize },
}

/// A snapshot of the counters.
#[derive(Clone, Debug)]
pub struct PerfData {
    base: Option<u64>,
    bytes: Vec<u8>,
    little_endian: bool,
    entries: HashMap<String, Value>,
}

impl PerfData {
    /// Reads the counters from a target's memory.
    pub fn from_memory(memory: &impl Peek, tables: &VmStructs) -> Result<Self, Error> {
        let pointer = |name| -> Result<u64, Error> {
            Ok(memory.u64(tables.static_address("PerfMemory", name).ok_or(Error::NoField(name))?)?)
        };
        let (start, end) = (pointer("_start")?, pointer("_end")?);
        if start == 0 || end == 0 {
            return Err(Error::Disabled);
        }
        let size = end.wrapping_sub(start);
        if size > MAX_REGION_BYTES {
            return Err(Error::Size(size));
        }
        let bytes = memory.bytes(start, usize::try_from(size).map_err(|_| Error::Size(size))?)?;
        Self::parse(bytes, Some(start))
    }

    /// Parses a region. `base` is its address in the target, where it is known. An entry that makes no sense ends the
    /// list: the JVM may be adding it at this moment.
    pub fn parse(bytes: Vec<u8>, base: Option<u64>) -> Result<Self, Error> {
        let prologue = bytes.get(..PROLOGUE_BYTES).ok_or(Error::Format("shorter than its prologue"))?;
        if prologue[..4] != MAGIC.to_be_bytes() {
            return Err(Error::Format("no magic number"));
        }
        let little_endian = match prologue[4] {
            0 => false,
            1 => true,
            _ => return Err(Error::Format("byte order is neither little nor big")),
        };
        if prologue[5] != 2 {
            return Err(Error::Format("its major version is not 2"));
        }
        let mut data = Self { base, bytes, little_endian, entries: HashMap::new() };
        let first = data.length_at(24).ok_or(Error::Format("offset of the first entry"))?;
        let count = data.length_at(28).ok_or(Error::Format("number of entries"))?;
        let mut at = first;
        for _ in 0..count.min(MAX_ENTRIES) {
            let Some((name, value, next)) = data.entry_at(at) else { break };
            if let Some(value) = value {
                data.entries.insert(name, value);
            }
            at = next;
        }
        Ok(data)
    }

    /// A number, as it was at the time of the snapshot.
    pub fn get_long(&self, name: &str) -> Option<i64> {
        match self.entries.get(name)? {
            Value::Long { offset } => {
                let bytes = self.bytes.get(*offset..*offset + 8)?.try_into().ok()?;
                Some(if self.little_endian { i64::from_le_bytes(bytes) } else { i64::from_be_bytes(bytes) })
            }
            Value::Text { .. } => None,
        }
    }

    /// A text, as it was at the time of the snapshot; what is not UTF-8 is replaced.
    pub fn get_string(&self, name: &str) -> Option<String> {
        match self.entries.get(name)? {
            Value::Long { .. } => None,
            Value::Text { offset, capacity } => {
                let bytes = self.bytes.get(*offset..*offset + *capacity)?;
                let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
                Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
            }
        }
    }

    /// Address in the target of a number.
    pub fn long_address(&self, name: &str) -> Option<u64> {
        match self.entries.get(name)? {
            Value::Long { offset } => self.base?.checked_add(*offset as u64),
            Value::Text { .. } => None,
        }
    }

    /// Address in the target of a text's bytes, and how many there can be.
    pub fn string_address(&self, name: &str) -> Option<(u64, usize)> {
        match self.entries.get(name)? {
            Value::Long { .. } => None,
            Value::Text { offset, capacity } => Some((self.base?.checked_add(*offset as u64)?, *capacity)),
        }
    }

    /// Names of all counters, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Parses one entry: name, value (absent where its type is not known), offset of the next.
    fn entry_at(&self, at: usize) -> Option<(String, Option<Value>, usize)> {
        let length = self.length_at(at)?;
        let entry = self.bytes.get(at..at.checked_add(length)?)?;
        if length < ENTRY_BYTES {
            return None;
        }
        let name = entry.get(self.length_at(at + 4)?..)?;
        let name = std::str::from_utf8(&name[..memchr::memchr(0, name)?]).ok()?.to_owned();
        let vector = self.length_at(at + 8)?;
        let data = self.length_at(at + 16)?;
        let value = match (entry[12], vector) {
            (b'J', 0) => entry.get(data..data.checked_add(8)?).map(|_| Value::Long { offset: at + data }),
            (b'B', 1..) => {
                entry.get(data..data.checked_add(vector)?).map(|_| Value::Text { offset: at + data, capacity: vector })
            }
            _ => None,
        };
        Some((name, value, at + length))
    }

    /// A length or offset: 32 bits, not negative, at `at`.
    fn length_at(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let value = if self.little_endian { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) };
        usize::try_from(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jvm::{peek::copy::Copy, vmstructs::Field};

    fn entry(name: &str, kind: u8, vector: u32, data: &[u8]) -> Vec<u8> {
        let mut name = [name.as_bytes(), &[0]].concat();
        name.resize(name.len().next_multiple_of(8), 0);
        let data_offset = u32::try_from(ENTRY_BYTES + name.len()).unwrap();
        let length = data_offset + u32::try_from(data.len()).unwrap();
        let mut bytes = Vec::new();
        for word in [length, 20, vector] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([kind, 0, 1, 1]);
        bytes.extend(data_offset.to_le_bytes());
        [bytes, name, data.to_vec()].concat()
    }

    fn region(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend(u32::try_from(entries.len()).unwrap().to_le_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    #[test]
    fn longs_and_texts_are_found_by_name() {
        let text = entry("sun.gc.cause", b'B', 8, b"No GC\0\0\0");
        let offset = 32 + text.len() - 8;
        let data = PerfData::parse(
            region(&[text, entry("java.threads.live", b'J', 0, &17_i64.to_le_bytes())]),
            Some(0x7000_0000),
        )
        .unwrap();
        assert_eq!(data.get_long("java.threads.live"), Some(17));
        assert_eq!(data.get_string("sun.gc.cause").as_deref(), Some("No GC"));
        assert_eq!(data.string_address("sun.gc.cause"), Some((0x7000_0000 + offset as u64, 8)));
        assert_eq!(data.get_long("sun.gc.cause"), None);
        assert_eq!(data.string_address("java.threads.live"), None);
        let last = 0x7000_0000 + data.bytes.len() as u64 - 8;
        assert_eq!(data.long_address("java.threads.live"), Some(last));
        assert_eq!(data.long_address("sun.gc.cause"), None);
    }

    #[test]
    fn no_more_entries_are_read_than_any_jvm_has() {
        let one = |number: usize| entry(&format!("made.up.{number}"), b'J', 0, &[0; 8]);
        let all: Vec<Vec<u8>> = (0..MAX_ENTRIES + 100).map(one).collect();
        assert_eq!(PerfData::parse(region(&all), None).unwrap().names().count(), MAX_ENTRIES);
    }

    /// Where it lies and where it ends is what the target says.
    #[test]
    fn a_region_of_absurd_size_is_not_read() {
        let mut tables = VmStructs::of_release(21);
        for (name, address) in [("_start", 0x1000), ("_end", 0x1008)] {
            tables.set("PerfMemory", name, Field::Static(address));
        }
        let found = |bytes: u64| {
            let mut copy = Copy::default();
            copy.write_u64(0x1000, 0x10_0000);
            copy.write_u64(0x1008, 0x10_0000 + bytes);
            copy.write(0x10_0000, &vec![0; usize::try_from(bytes).unwrap()]);
            PerfData::from_memory(&copy, &tables)
        };
        assert!(matches!(found(MAX_REGION_BYTES), Err(Error::Format(_))));
        assert!(matches!(found(MAX_REGION_BYTES + 1), Err(Error::Size(_))));
    }

    #[test]
    fn an_entry_of_length_zero_ends_the_list() {
        let mut bytes = region(&[entry("a", b'J', 0, &[0; 8])]);
        bytes.extend([0; 64]);
        bytes[28..32].copy_from_slice(&i32::MAX.to_le_bytes());
        assert_eq!(PerfData::parse(bytes, None).unwrap().names().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_value_beyond_its_entry_is_left_out() {
        let mut bytes = region(&[entry("a", b'B', 8, &[b'x'; 8]), entry("b", b'J', 0, &[0; 8])]);
        bytes[32 + 8..32 + 12].copy_from_slice(&4096_u32.to_le_bytes());
        let data = PerfData::parse(bytes, None).unwrap();
        assert_eq!((data.get_string("a"), data.get_long("b")), (None, Some(0)));
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_refused_or_read_within_their_bounds(
            patches in prop::collection::vec((0_usize..160, any::<u8>()), 0..24),
            cut in 0_usize..160,
        ) {
            let mut bytes = region(&[
                entry("sun.gc.cause", b'B', 8, b"No GC\0\0\0"),
                entry("java.threads.live", b'J', 0, &[0; 8]),
            ]);
            for (at, byte) in patches {
                if let Some(place) = bytes.get_mut(at) { *place = byte; }
            }
            bytes.truncate(cut.max(1));
            let len = bytes.len() as u64;
            if let Ok(data) = PerfData::parse(bytes, Some(0)) {
                for name in data.names() {
                    let _ = (data.get_long(name), data.get_string(name));
                    if let Some((address, capacity)) = data.string_address(name) {
                        prop_assert!(address + capacity as u64 <= len);
                    }
                }
            }
        }
    }

    #[test]
    fn fuzz_perfdata() {
        let whole = [region(&[
            entry("sun.gc.cause", b'B', 8, b"No GC\0\0\0"),
            entry("java.threads.live", b'J', 0, &[0; 8]),
            entry("sun.rt.jvmVersion", b'J', 0, &[1; 8]),
        ])];
        crate::fuzz::each("perfdata", 64 << 10, |dice| {
            let bytes = crate::fuzz::damaged(dice, &whole);
            let (len, base) = (bytes.len() as u64, dice.number());
            let Ok(data) = PerfData::parse(bytes, Some(base)) else { return };
            for name in data.names() {
                let _ = (data.get_long(name), data.get_string(name), data.long_address(name));
                if let Some((address, capacity)) = data.string_address(name) {
                    assert!(address - base + capacity as u64 <= len);
                }
            }
        });
    }
}
