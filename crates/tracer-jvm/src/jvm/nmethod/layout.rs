//! Where the tables of an `nmethod` lie, from the JVM's tables, for 8 and every release from 11 on.
//!
//! Until 22 they follow the code, in one block with it. Since 23 rows and scopes are in memory of their own that never
//! changes ("immutable data"), since 25 the metadata too is in memory of its own, behind the relocations. The layouts of
//! 23 and 24 are as their sources say and were not run.

use std::ops::Range;

use super::{
    super::{
        code_cache::{
            Blob, Error,
            fields::{Fields, Slot},
        },
        metadata::MetadataLayout,
        peek::{Peek, at},
        vmstructs::VmStructs,
    },
    ROW_BYTES, Reason,
};

/// Memory between tables that is read with them: less work than one read more.
const NEAR_BYTES: u64 = 4096;

/// Where the tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind the code: offsets from the blob, but for the scopes' address (an offset, too, in 8).
    Block { metadata: u64, scopes: Slot, rows: u64, dependencies: u64 },
    /// In memory of their own.
    Apart { data: u64, data_bytes: u64, rows: u64, scopes: u64, end: Option<u64>, metadata: Metadata },
}

/// Where the metadata is when the other tables are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metadata {
    /// Behind the code, at an offset from its end (23 and 24).
    Block { offset: Slot },
    /// Behind the relocations in memory of its own (since 25).
    Apart { data: u64, data_bytes: u64, relocation_bytes: u64 },
}

/// Addresses of the tables of one `nmethod`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    pub(super) rows: Range<u64>,
    pub(super) scopes: Range<u64>,
    pub(super) metadata: Range<u64>,
}

impl Tables {
    /// Memory in which all tables lie, or all but the metadata where that is elsewhere: to be read at once.
    pub(super) fn whole(&self) -> Option<Range<u64>> {
        let tables = joined(&self.rows, &self.scopes)?;
        Some(joined(&tables, &self.metadata).unwrap_or(tables))
    }
}

/// Two ranges with what is between them, if that is little.
fn joined(a: &Range<u64>, b: &Range<u64>) -> Option<Range<u64>> {
    let both = a.start.min(b.start)..a.end.max(b.end);
    let length = |range: &Range<u64>| range.end.saturating_sub(range.start);
    let between = length(&both).saturating_sub(length(a)).saturating_sub(length(b));
    (between <= NEAR_BYTES).then_some(both)
}

/// Offsets that lead from an `nmethod` to its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NmethodLayout {
    place: Place,
    /// `sizeof(nmethod)`.
    bytes: u64,
    pub(super) pc_offset: u64,
    pub(super) scope_decode_offset: u64,
    pub(super) excluded: u8,
}

impl NmethodLayout {
    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(tables: &VmStructs, metadata: &MetadataLayout) -> Result<Self, Error> {
        let fields = Fields(tables);
        let row = fields.size("PcDesc")?;
        if row != ROW_BYTES as u64 {
            return Err(Error::Absurd { field: "sizeof(PcDesc)".to_owned(), value: row });
        }
        Ok(Self {
            place: Place::from_tables(fields)?,
            bytes: fields.size("nmethod")?,
            pc_offset: fields.offset(&[("PcDesc", "_pc_offset")])?,
            scope_decode_offset: fields.offset(&[("PcDesc", "_scope_decode_offset")])?,
            excluded: metadata.excluded,
        })
    }

    /// Addresses of the tables of the `nmethod` in a blob.
    pub(super) fn tables(&self, peek: &impl Peek, blob: &Blob) -> Result<Tables, Reason> {
        let len = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let bytes = peek.bytes(blob.address, len).map_err(|_| Reason::Unreadable)?;
        let tables = self.place.tables(&bytes, blob).ok_or(Reason::Nonsense("nmethod"))?;
        let Tables { rows, scopes, metadata } = &tables;
        if [rows, scopes, metadata].iter().any(|range| range.end < range.start) {
            return Err(Reason::Nonsense("nmethod"));
        }
        Ok(tables)
    }
}

impl Place {
    fn from_tables(fields: Fields<'_>) -> Result<Self, Error> {
        let one = |name| fields.offset(&[("nmethod", name)]);
        let rows = one("_scopes_pcs_offset")?;
        let Some(data) = fields.optional(&[("nmethod", "_immutable_data")])? else {
            return Ok(Self::Block {
                metadata: one("_metadata_offset")?,
                scopes: match fields
                    .optional(&[("CompiledMethod", "_scopes_data_begin"), ("nmethod", "_scopes_data_begin")])?
                {
                    Some(offset) => Slot::new(offset, 8),
                    None => Slot::new(one("_scopes_data_offset")?, 4),
                },
                rows,
                dependencies: one("_dependencies_offset")?,
            });
        };
        let blob = |name| fields.offset(&[("CodeBlob", name)]);
        Ok(Self::Apart {
            data,
            data_bytes: one("_immutable_data_size")?,
            rows,
            scopes: one("_scopes_data_offset")?,
            end: fields.optional(&[("nmethod", "_immutable_data_ref_count_offset")])?,
            metadata: match fields.optional(&[("CodeBlob", "_mutable_data")])? {
                Some(data) => Metadata::Apart {
                    data,
                    data_bytes: blob("_mutable_data_size")?,
                    relocation_bytes: blob("_relocation_size")?,
                },
                None => Metadata::Block { offset: Slot::new(one("_metadata_offset")?, 2) },
            },
        })
    }

    fn tables(self, bytes: &[u8], blob: &Blob) -> Option<Tables> {
        let number = |offset| at::u32(bytes, offset).map(u64::from);
        match self {
            Self::Block { metadata, scopes, rows, dependencies } => {
                let from_blob = |offset| blob.address.checked_add(number(offset)?);
                let scopes = match (scopes.bytes, scopes.read(bytes)?) {
                    (8, address) => address,
                    (_, offset) => blob.address.checked_add(offset)?,
                };
                let (rows, end) = (from_blob(rows)?, from_blob(dependencies)?);
                let metadata = from_blob(metadata)?;
                let inside = metadata >= blob.address && end <= blob.address.checked_add(blob.size)?;
                inside.then_some(Tables { rows: rows..end, scopes: scopes..rows, metadata: metadata..scopes })
            }
            Self::Apart { data, data_bytes, rows, scopes, end, metadata } => {
                let data = at::u64(bytes, data)?;
                let len = number(data_bytes)?;
                let len = end.map_or(Some(len), |end| number(end).map(|end| end.min(len)))?;
                let (rows, scopes) = (number(rows)?, number(scopes)?);
                if rows > scopes || scopes > len {
                    return None;
                }
                let from_data = |offset: u64| data.checked_add(offset);
                Some(Tables {
                    rows: from_data(rows)?..from_data(scopes)?,
                    scopes: from_data(scopes)?..from_data(len)?,
                    metadata: metadata.range(bytes, blob)?,
                })
            }
        }
    }
}

impl Metadata {
    fn range(self, bytes: &[u8], blob: &Blob) -> Option<Range<u64>> {
        match self {
            Self::Block { offset } => {
                let start = blob.code_end.checked_add(offset.read(bytes)?)?;
                Some(start..blob.address.checked_add(blob.size)?)
            }
            Self::Apart { data, data_bytes, relocation_bytes } => {
                let (data, len) = (at::u64(bytes, data)?, u64::from(at::u32(bytes, data_bytes)?));
                let start = u64::from(at::u32(bytes, relocation_bytes)?).next_multiple_of(8);
                // Code without relocations and metadata has no such memory.
                if data == 0 || start > len {
                    return (len == 0 || data == 0).then_some(0..0);
                }
                Some(data.checked_add(start)?..data.checked_add(len)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_side_by_side_are_read_at_once_and_metadata_elsewhere_is_not() {
        let tables = |metadata| Tables { rows: 0x5200..0x5300, scopes: 0x5000..0x5200, metadata };
        assert_eq!(tables(0x4f00..0x5000).whole(), Some(0x4f00..0x5300));
        assert_eq!(tables(0x5310..0x5320).whole(), Some(0x5000..0x5320));
        assert_eq!(tables(0x9_0000..0x9_0100).whole(), Some(0x5000..0x5300));
        assert_eq!(tables(0..0).whole(), Some(0x5000..0x5300));
        assert_eq!(Tables { rows: 0..8, scopes: u64::MAX - 8..u64::MAX, metadata: 0..0 }.whole(), None);
    }
}
