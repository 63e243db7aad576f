//! The few offsets of HotSpot's structures that jtrace's kernel programs and name readers need.

use super::VmStructs;

/// Most bytes between the start of a structure and one of its fields; what is beyond is no sane offset.
const MAX_OFFSET: u64 = 4096;

/// Offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetLayout {
    /// `Klass::_name`, a pointer to the class's `Symbol`.
    pub klass_name: u64,
    /// `Symbol::_length`, 16 bits.
    pub symbol_length: u64,
    /// `Symbol::_body`, the bytes.
    pub symbol_body: u64,
}

impl TargetLayout {
    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(tables: &VmStructs) -> Result<Self, &'static str> {
        let offset = |owner, name, text| tables.offset(owner, name).filter(|&offset| offset < MAX_OFFSET).ok_or(text);
        Ok(Self {
            klass_name: offset("Klass", "_name", "Klass::_name")?,
            symbol_length: offset("Symbol", "_length", "Symbol::_length")?,
            symbol_body: offset("Symbol", "_body[0]", "Symbol::_body")
                .or_else(|_| offset("Symbol", "_body", "Symbol::_body"))?,
        })
    }
}
