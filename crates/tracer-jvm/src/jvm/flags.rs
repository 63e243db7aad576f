//! The flags of a running JVM: reads them, arms those that keep probes silent, and restores them.
//!
//! A flag is a variable of libjvm.so; the JVM's own table (`JVMFlag`, or `Flag` in 8) says where. Reading changes nothing. Arming writes
//! one byte, and only through [`super::journal`], which has written down beforehand how to undo it.

pub mod arm;

pub mod located;

use std::collections::BTreeMap;

use super::{memory, peek::Peek, vmstructs::VmStructs};

/// What the type of a flag is called: `Flag` up to 10.
const TYPES: [&str; 2] = ["JVMFlag", "Flag"];
/// Most flags of a JVM; JDK 25 has about 1,300.
const MAX_FLAGS: u64 = 8192;
/// Largest `JVMFlag`.
const MAX_FLAG_BYTES: u64 = 256;
/// Longest name of a flag.
const MAX_NAME_BYTES: usize = 128;

/// The flags that choose a collector, with its name.
const COLLECTORS: [(&str, &str); 7] = [
    ("UseConcMarkSweepGC", "CMS"),
    ("UseG1GC", "G1"),
    ("UseParallelGC", "Parallel"),
    ("UseSerialGC", "Serial"),
    ("UseZGC", "ZGC"),
    ("UseShenandoahGC", "Shenandoah"),
    ("UseEpsilonGC", "Epsilon"),
];

/// Why the flags could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JVM's tables lack something.
    #[error("the JVM's tables have no `{0}`")]
    NoField(&'static str),
    /// What is there cannot be the table of flags.
    #[error("the JVM's table of flags has {what} {value}")]
    Malformed {
        /// What is odd.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The target's memory could not be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

/// Where the flags of a JVM are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    addresses: BTreeMap<String, u64>,
}

impl Flags {
    /// Reads the JVM's table of flags.
    pub fn read(memory: &dyn Peek, tables: &VmStructs) -> Result<Self, Error> {
        let owner = TYPES.into_iter().find(|owner| tables.type_size(owner).is_some()).unwrap_or(TYPES[0]);
        let address = |name, text| tables.static_address(owner, name).ok_or(Error::NoField(text));
        let offset = |name, text| tables.offset(owner, name).ok_or(Error::NoField(text));
        let size = tables.type_size(owner).ok_or(Error::NoField("sizeof(JVMFlag)"))?;
        let name_at = offset("_name", "JVMFlag::_name")?;
        let address_at = offset("_addr", "JVMFlag::_addr")?;
        if !(16..=MAX_FLAG_BYTES).contains(&size) || name_at.max(address_at) > size - 8 {
            return Err(Error::Malformed { what: "entries of size", value: size });
        }
        let array = memory.u64(address("flags", "JVMFlag::flags")?)?;
        let count = memory.u64(address("numFlags", "JVMFlag::numFlags")?)?;
        if count == 0 || count > MAX_FLAGS {
            return Err(Error::Malformed { what: "a number of entries of", value: count });
        }
        let bytes = memory.bytes(array, usize::try_from(count * size).unwrap_or(usize::MAX))?;
        let mut names = super::vmstructs::Names::new(memory);
        let mut addresses = BTreeMap::new();
        for entry in bytes.chunks_exact(usize::try_from(size).unwrap_or(usize::MAX)) {
            // The entry behind the last flag has no name.
            let (Some(name), Some(address)) = (pointer(entry, name_at), pointer(entry, address_at)) else { continue };
            let Some(name) = names.read(name).filter(|name| name.len() <= MAX_NAME_BYTES) else { continue };
            addresses.insert(name, address);
        }
        Ok(Self { addresses })
    }

    /// Address of a flag's variable.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.addresses.get(name).copied().filter(|&address| address != 0)
    }

    /// Value of a flag that is a truth value; absent where there is no such flag or its byte is neither 0 nor 1.
    pub fn bool(&self, memory: &dyn Peek, name: &str) -> Option<bool> {
        match memory.u8(self.address(name)?).ok()? {
            0 => Some(false),
            1 => Some(true),
            2.. => None,
        }
    }

    /// Value of a flag of 64 bits (`MaxHeapSize`).
    pub fn u64(&self, memory: &dyn Peek, name: &str) -> Option<u64> {
        memory.u64(self.address(name)?).ok()
    }

    /// Name of the collector, by the flag that chose it.
    pub fn collector(&self, memory: &dyn Peek) -> Option<&'static str> {
        COLLECTORS.iter().find(|(flag, _)| self.bool(memory, flag) == Some(true)).map(|&(_, name)| name)
    }

    /// How many flags there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

fn pointer(entry: &[u8], at: u64) -> Option<u64> {
    let bytes = entry.get(usize::try_from(at).ok()?..)?.first_chunk::<8>()?;
    Some(u64::from_ne_bytes(*bytes)).filter(|&pointer| pointer != 0)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{java_threads::Layout, objects, peek::copy::Copy},
        *,
    };
    use crate::{
        fuzz::{self, Metered},
        jvm::vmstructs::Field,
    };

    const NAMES: [&str; 5] =
        ["UseG1GC", "UseCompressedClassPointers", "UseCompactObjectHeaders", "ObjectAlignmentInBytes", "UseZGC"];

    /// A table of flags, and what objects are laid out by.
    fn memory() -> (Copy, VmStructs) {
        let (mut copy, mut tables) = (Copy::default(), VmStructs::of_release(21));
        tables.set("Klass", "_layout_helper", Field::Offset(8));
        tables.set("JVMFlag", "_name", Field::Offset(0));
        tables.set("JVMFlag", "_addr", Field::Offset(8));
        tables.set("JVMFlag", "flags", Field::Static(0x1000));
        tables.set("JVMFlag", "numFlags", Field::Static(0x1008));
        tables.set_size("JVMFlag", 24);
        tables.set("CompressedKlassPointers", "_narrow_klass._base", Field::Static(0x1010));
        tables.set("CompressedKlassPointers", "_narrow_klass._shift", Field::Static(0x1018));
        copy.write_u64(0x1000, 0x2000);
        copy.write_u64(0x1008, NAMES.len() as u64);
        copy.write_u64(0x1018, 3);
        for (index, name) in (0..).zip(NAMES) {
            copy.write_u64(0x2000 + 24 * index, 0x3000 + 64 * index);
            copy.write_u64(0x2008 + 24 * index, 0x4000 + 8 * index);
            copy.write(0x3000 + 64 * index, name.as_bytes());
            copy.write_u64(0x4000 + 8 * index, u64::from(index < 2));
        }
        (copy, tables)
    }

    #[test]
    fn a_shift_that_no_jvm_has_is_refused() {
        let (mut copy, tables) = memory();
        let flags = Flags::read(&copy, &tables).unwrap();
        assert_eq!((flags.len(), flags.collector(&copy)), (NAMES.len(), Some("G1")));
        assert_eq!(objects::layout(&copy, &tables, &flags).unwrap().klass_shift, 3);
        copy.write_u64(0x1018, 64);
        assert!(objects::layout(&copy, &tables, &flags).is_err(), "a shift by 64 bits ends a program");
    }

    #[test]
    fn fuzz_flags() {
        let (sound, tables) = memory();
        fuzz::each("flags", 16 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            let memory = Metered::new(copy, 128 << 20);
            let Ok(flags) = Flags::read(&memory, &tables) else { return };
            assert!(flags.len() as u64 <= MAX_FLAGS);
            let _: (Option<&str>, Option<u64>) = (flags.collector(&memory), flags.u64(&memory, NAMES[3]));
            if let Ok(layout) = objects::layout(&memory, &tables, &flags) {
                assert!(layout.klass_shift <= 32 && (8..=256).contains(&layout.alignment));
            }
            let _: Result<Layout, _> = Layout::from_tables(&memory, &tables, Some(&flags));
        });
    }
}
