//! Reads the tables by which HotSpot describes its own structures (`gHotSpotVMStructs` and its three siblings).
//!
//! They were made for the serviceability agent: exported symbols lead to arrays that name every field, type and constant.
//! Here they are read from the target's memory in a few large reads. What the fields mean is known to those who ask.

mod blocks;

pub mod layout;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
pub mod written;

use std::collections::{BTreeMap, HashMap};

use self::blocks::Blocks;
use super::{
    memory::{self, Memory, library},
    peek::Peek,
};

/// Most entries of one array. JDK 25 has about 3,000 constants.
const MAX_ENTRIES: usize = 16_384;
/// Largest distance between two entries.
const MAX_STRIDE: u64 = 256;
/// Longest name of a type (C++ templates) or field.
const MAX_NAME_BYTES: usize = 1024;

/// Why the tables could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library does not export what HotSpot exports.
    #[error("libjvm.so does not export `{0}`: it is no HotSpot JVM")]
    NotExported(&'static str),
    /// The target has not filled in its tables yet, or what is there cannot be one.
    #[error("the table `{table}` has {what} {value}")]
    Malformed {
        /// Exported name of the table.
        table: &'static str,
        /// What is odd.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The target's memory could not be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
    /// The library's file could not be read.
    #[error(transparent)]
    Library(#[from] library::Error),
}

/// Where a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// At this offset in its object.
    Offset(u64),
    /// At this address in the target.
    Static(u64),
}

impl Field {
    /// The offset of a field of objects.
    pub fn offset(self) -> Option<u64> {
        match self {
            Self::Offset(offset) => Some(offset),
            Self::Static(_) => None,
        }
    }

    /// The address of a static field.
    pub fn address(self) -> Option<u64> {
        match self {
            Self::Offset(_) => None,
            Self::Static(address) => Some(address),
        }
    }
}

/// The JVM's description of itself.
#[derive(Clone, Debug, Default)]
pub struct VmStructs {
    fields: BTreeMap<String, BTreeMap<String, Field>>,
    type_sizes: HashMap<String, u64>,
    int_constants: HashMap<String, i32>,
    long_constants: HashMap<String, u64>,
}

/// The exported names of one table: the array, the distance of its entries, and the offsets of what is read from each.
struct Table<const N: usize> {
    array: &'static str,
    stride: &'static str,
    parts: [&'static str; N],
}

const STRUCTS: Table<5> = Table {
    array: "gHotSpotVMStructs",
    stride: "gHotSpotVMStructEntryArrayStride",
    parts: [
        "gHotSpotVMStructEntryTypeNameOffset",
        "gHotSpotVMStructEntryFieldNameOffset",
        "gHotSpotVMStructEntryIsStaticOffset",
        "gHotSpotVMStructEntryOffsetOffset",
        "gHotSpotVMStructEntryAddressOffset",
    ],
};
const TYPES: Table<2> = Table {
    array: "gHotSpotVMTypes",
    stride: "gHotSpotVMTypeEntryArrayStride",
    parts: ["gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset"],
};
const INT_CONSTANTS: Table<2> = Table {
    array: "gHotSpotVMIntConstants",
    stride: "gHotSpotVMIntConstantEntryArrayStride",
    parts: ["gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset"],
};
const LONG_CONSTANTS: Table<2> = Table {
    array: "gHotSpotVMLongConstants",
    stride: "gHotSpotVMLongConstantEntryArrayStride",
    parts: ["gHotSpotVMLongConstantEntryNameOffset", "gHotSpotVMLongConstantEntryValueOffset"],
};

impl VmStructs {
    /// Reads all tables of a target.
    pub fn read(memory: &Memory, libjvm: &library::Library) -> Result<Self, Error> {
        let mut names = Vec::new();
        for (array, stride) in [STRUCTS.names(), TYPES.names(), INT_CONSTANTS.names(), LONG_CONSTANTS.names()] {
            names.extend([array, stride]);
        }
        names.extend(STRUCTS.parts.iter().chain(&TYPES.parts).chain(&INT_CONSTANTS.parts).chain(&LONG_CONSTANTS.parts));
        Self::of(memory, &libjvm.exported(&names)?)
    }

    /// Reads all tables, whose exported names lead to these addresses.
    fn of(memory: &dyn Peek, exported: &HashMap<String, u64>) -> Result<Self, Error> {
        let mut blocks = Blocks::new(memory);
        let mut tables = Self::default();

        STRUCTS.read(&mut blocks, exported, |blocks, [owner, name, is_static, offset, address]| {
            let owner = blocks.name_at(owner)?;
            let Some(name) = blocks.name_at(name) else { return Some(()) };
            let is_static = blocks.u32(is_static)? != 0;
            let value = blocks.u64(if is_static { address } else { offset })?;
            let field = if is_static { Field::Static(value) } else { Field::Offset(value) };
            tables.fields.entry(owner).or_default().insert(name, field);
            Some(())
        })?;
        TYPES.read(&mut blocks, exported, |blocks, [name, size]| {
            let name = blocks.name_at(name)?;
            tables.type_sizes.insert(name, blocks.u64(size)?);
            Some(())
        })?;
        INT_CONSTANTS.read(&mut blocks, exported, |blocks, [name, value]| {
            let name = blocks.name_at(name)?;
            tables.int_constants.insert(name, blocks.u32(value)?.cast_signed());
            Some(())
        })?;
        LONG_CONSTANTS.read(&mut blocks, exported, |blocks, [name, value]| {
            let name = blocks.name_at(name)?;
            tables.long_constants.insert(name, blocks.u64(value)?);
            Some(())
        })?;
        Ok(tables)
    }

    /// Where a field is, by the names that HotSpot gives to type and field.
    pub fn field(&self, owner: &str, name: &str) -> Option<Field> {
        self.fields.get(owner)?.get(name).copied()
    }

    /// Offset of a field of objects.
    pub fn offset(&self, owner: &str, name: &str) -> Option<u64> {
        self.field(owner, name)?.offset()
    }

    /// Address of a static field.
    pub fn static_address(&self, owner: &str, name: &str) -> Option<u64> {
        self.field(owner, name)?.address()
    }

    /// Size of a type in bytes.
    pub fn type_size(&self, name: &str) -> Option<u64> {
        self.type_sizes.get(name).copied()
    }

    /// A constant of 32 bits.
    pub fn int_constant(&self, name: &str) -> Option<i32> {
        self.int_constants.get(name).copied()
    }

    /// A constant of 64 bits.
    pub fn long_constant(&self, name: &str) -> Option<u64> {
        self.long_constants.get(name).copied()
    }
}

/// Reads names that pointers of a target lead to, with few system calls.
pub(super) struct Names<'a>(Blocks<'a>);

impl<'a> Names<'a> {
    pub(super) fn new(memory: &'a dyn Peek) -> Self {
        Self(Blocks::new(memory))
    }

    /// The name at an address; absent where there is nothing that can be one.
    pub(super) fn read(&mut self, address: u64) -> Option<String> {
        self.0.name(address)
    }
}

impl<const N: usize> Table<N> {
    fn names(&self) -> (&'static str, &'static str) {
        (self.array, self.stride)
    }

    /// Calls `take` with the addresses of the parts of every entry until it returns `None`: the entry behind the last one
    /// has no name.
    fn read(
        &self,
        blocks: &mut Blocks,
        exported: &HashMap<String, u64>,
        mut take: impl FnMut(&mut Blocks, [u64; N]) -> Option<()>,
    ) -> Result<(), Error> {
        let memory = blocks.memory();
        let value = |name: &'static str| -> Result<u64, Error> {
            Ok(memory.u64(*exported.get(name).ok_or(Error::NotExported(name))?)?)
        };
        let array = value(self.array)?;
        if array == 0 {
            return Err(Error::Malformed { table: self.array, what: "address", value: 0 });
        }
        let stride = value(self.stride)?;
        if stride == 0 || stride > MAX_STRIDE {
            return Err(Error::Malformed { table: self.array, what: "an entry size of", value: stride });
        }
        let mut parts = [0; N];
        for (part, name) in parts.iter_mut().zip(self.parts) {
            *part = value(name)?;
            if *part >= stride {
                return Err(Error::Malformed { table: self.array, what: "a part at offset", value: *part });
            }
        }
        for index in 0..MAX_ENTRIES as u64 {
            let entry = array.wrapping_add(index * stride);
            if take(blocks, parts.map(|part| entry.wrapping_add(part))).is_none() {
                return Ok(());
            }
        }
        Err(Error::Malformed { table: self.array, what: "more entries than", value: MAX_ENTRIES as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::memory::maps, *};

    #[test]
    fn a_library_that_is_not_hotspot_is_named_so() {
        let pid = std::process::id();
        let here = a_library_that_is_not_hotspot_is_named_so as fn() as usize as u64;
        let mapping = maps::read(pid).unwrap().into_iter().find(|mapping| mapping.contains(here)).unwrap();
        let library = library::Library::open(pid, &mapping).unwrap();
        let error = VmStructs::read(&Memory::open(pid).unwrap(), &library).unwrap_err();
        assert!(matches!(error, Error::NotExported("gHotSpotVMStructs")));
    }

    const NAMES: u64 = 0x7000;

    /// Two entries in each table, all of the same names, and an end.
    fn tables() -> (super::super::peek::copy::Copy, HashMap<String, u64>) {
        let mut copy = super::super::peek::copy::Copy::default();
        copy.write(NAMES, b"JVMFlag\0flags\0");
        let (mut exported, mut symbol, mut array) = (HashMap::new(), 0x2000, 0x4000);
        let all: [(&str, &str, &[&str]); 4] = [
            (STRUCTS.array, STRUCTS.stride, &STRUCTS.parts),
            (TYPES.array, TYPES.stride, &TYPES.parts),
            (INT_CONSTANTS.array, INT_CONSTANTS.stride, &INT_CONSTANTS.parts),
            (LONG_CONSTANTS.array, LONG_CONSTANTS.stride, &LONG_CONSTANTS.parts),
        ];
        for (name, stride, parts) in all {
            let mut export = |name: &str, value: u64| {
                copy.write_u64(symbol, value);
                exported.insert(name.to_owned(), symbol);
                symbol += 8;
            };
            export(name, array);
            export(stride, 8 * parts.len() as u64);
            for (part, at) in parts.iter().zip((0..).step_by(8)) {
                export(part, at);
            }
            for entry in 0..2 {
                let at = array + entry * 8 * parts.len() as u64;
                copy.write_u64(at, NAMES);
                copy.write_u64(at + 8, NAMES + 8);
            }
            array += 0x400;
        }
        (copy, exported)
    }

    #[test]
    fn fuzz_vmstructs() {
        let (sound, exported) = tables();
        let read = VmStructs::of(&sound, &exported).unwrap();
        assert_eq!(read.offset("JVMFlag", "flags"), Some(0));
        crate::fuzz::each("vmstructs", 64 << 20, |dice| {
            let mut copy = sound.clone();
            crate::fuzz::damage(dice, &mut copy);
            // Each of its blocks is read twice at most, and some numbers besides.
            if let Ok(tables) = VmStructs::of(&crate::fuzz::Metered::new(copy, 256 << 20), &exported) {
                assert!(tables.fields.len() + tables.type_sizes.len() <= 2 * MAX_ENTRIES);
            }
        });
    }
}
