//! Looks fields up in the JVM's tables, under the several names that releases gave them, and says which one is missing.

use super::{super::vmstructs::VmStructs, Error};

/// Most bytes between the start of a structure and one of its fields; what is beyond is no sane offset.
const MAX_OFFSET: u64 = 4096;

/// Where a number lies in a structure, and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Slot {
    pub(in super::super) offset: u64,
    /// 1, 2, 4 or 8.
    pub(in super::super) bytes: u64,
}

impl Slot {
    pub(in super::super) const fn new(offset: u64, bytes: u64) -> Self {
        Self { offset, bytes }
    }

    /// The number, without its sign.
    pub(in super::super) fn read(self, structure: &[u8]) -> Option<u64> {
        use super::super::peek::at;
        match self.bytes {
            1 => at::u8(structure, self.offset).map(u64::from),
            2 => at::u16(structure, self.offset).map(u64::from),
            4 => at::u32(structure, self.offset).map(u64::from),
            _ => at::u64(structure, self.offset),
        }
    }
}

/// The tables, asked strictly.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Fields<'a>(pub(in super::super) &'a VmStructs);

impl Fields<'_> {
    /// Offset of a field, under any of its names: (type, field).
    pub(in super::super) fn offset(self, names: &[(&'static str, &'static str)]) -> Result<u64, Error> {
        match self.optional(names)? {
            Some(offset) => Ok(offset),
            None => Err(missing(names)),
        }
    }

    /// The same for a field that only some releases have.
    pub(in super::super) fn optional(self, names: &[(&'static str, &'static str)]) -> Result<Option<u64>, Error> {
        let found = names.iter().find_map(|&(owner, name)| Some((owner, name, self.0.offset(owner, name)?)));
        match found {
            Some((owner, name, offset)) if offset >= MAX_OFFSET => {
                Err(Error::Absurd { field: format!("{owner}::{name}"), value: offset })
            }
            found => Ok(found.map(|(_, _, offset)| offset)),
        }
    }

    /// Address of a static field.
    pub(in super::super) fn address(self, owner: &'static str, name: &'static str) -> Result<u64, Error> {
        self.0.static_address(owner, name).filter(|&address| address != 0).ok_or_else(|| missing(&[(owner, name)]))
    }

    /// Size of a type.
    pub(in super::super) fn size(self, name: &'static str) -> Result<u64, Error> {
        match self.0.type_size(name) {
            Some(size @ 1..=MAX_OFFSET) => Ok(size),
            Some(value) => Err(Error::Absurd { field: format!("sizeof({name})"), value }),
            None => Err(Error::Missing(format!("sizeof({name})"))),
        }
    }

    /// A constant, under any of its names.
    pub(in super::super) fn constant(self, names: &[&'static str]) -> Result<u32, Error> {
        let found = names.iter().find_map(|name| self.0.int_constant(name));
        found
            .map(i32::cast_unsigned)
            .ok_or_else(|| Error::Missing(names.first().copied().unwrap_or_default().to_owned()))
    }
}

fn missing(names: &[(&'static str, &'static str)]) -> Error {
    let (owner, name) = names.first().copied().unwrap_or_default();
    Error::Missing(format!("{owner}::{name}"))
}
