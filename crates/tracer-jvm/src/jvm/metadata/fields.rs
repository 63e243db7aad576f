//! Fields that a class declares, with their offsets in its objects or its mirror, from the JVM's own description of the class.
//!
//! Up to 20 it is an array of six words of 16 bits a field, since then a stream of compressed numbers. Both are bounded, and a class
//! whose description makes no sense has no fields.

use super::{Reader, layout::MetadataLayout, unsigned5};
use crate::jvm::{
    code_cache::{Error, fields::Fields as Tables},
    peek::{Peek, at},
    vmstructs::VmStructs,
};

/// Most fields of a class that are looked at; class files have 16 bits for their number.
const MAX_FIELDS: usize = 65_535;
/// Longest description that is read.
const MAX_BYTES: u32 = 1 << 20;
/// Words of 16 bits that a field has up to 20.
const WORDS: usize = 6;
/// `static` in the access flags.
const STATIC: u32 = 0x8;
/// The lowest bits of an offset say what it is: `FIELDINFO_TAG_OFFSET` of `FIELDINFO_TAG_SIZE` bits.
const TAG: u32 = 0b11;
const TAG_OFFSET: u32 = 0b01;
/// `FieldInfo::FieldFlags`: which numbers follow, and whether the JVM itself has added the field.
const INITIALIZED: u32 = 1;
const INJECTED: u32 = 2;
const GENERIC: u32 = 4;
const CONTENDED: u32 = 16;

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether it holds a reference, and not a number.
    pub is_reference: bool,
    /// Whether it is of the class and lies in its mirror, and not in objects.
    pub is_static: bool,
    /// Where it lies there.
    pub offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Description {
    /// `InstanceKlass::_fields` and `_java_fields_count`.
    Words { fields: u64, count: u64 },
    /// `InstanceKlass::_fieldinfo_stream`, since 21.
    Stream { stream: u64 },
}

/// Where descriptions of fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldsLayout {
    description: Description,
    /// First bytes of arrays of bytes and of words of 16 bits.
    data: u64,
}

impl FieldsLayout {
    /// For tests in which fields are known.
    #[cfg(test)]
    pub(in crate::jvm) const ZERO: Self = Self { description: Description::Stream { stream: 0 }, data: 0 };

    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(tables: &VmStructs) -> Result<Self, Error> {
        let tables = Tables(tables);
        let description = match tables.optional(&[("InstanceKlass", "_fieldinfo_stream")])? {
            Some(stream) => Description::Stream { stream },
            None => Description::Words {
                fields: tables.offset(&[("InstanceKlass", "_fields")])?,
                count: tables.offset(&[("InstanceKlass", "_java_fields_count")])?,
            },
        };
        let data = tables.offset(&[("Array<u1>", "_data"), ("Array<int>", "_data")])?;
        Ok(Self { description, data })
    }

    /// The fields that a class declares itself, static ones included; none where its description cannot be read.
    pub fn of(&self, peek: &impl Peek, layout: &MetadataLayout, klass: u64) -> Vec<Field> {
        self.described(peek, layout, klass).unwrap_or_default()
    }

    fn described(&self, peek: &impl Peek, layout: &MetadataLayout, klass: u64) -> Option<Vec<Field>> {
        let reader = Reader { peek, layout };
        let pool = reader.pool(peek.u64(klass.wrapping_add(layout.class_constants)).ok()?).ok()?;
        let raw = match self.description {
            Description::Words { fields, count } => {
                let count = usize::from(at::u16(&peek.bytes(klass.wrapping_add(count), 2).ok()?, 0)?);
                let bytes = self.array(peek, klass.wrapping_add(fields), 2)?;
                of_words(&bytes, count)
            }
            Description::Stream { stream } => {
                of_stream(&self.array(peek, klass.wrapping_add(stream), 1)?, layout.excluded)
            }
        };
        let text = |index| reader.pool_text(&pool, index, "InstanceKlass::_fields").ok();
        let named = |raw: &Raw| {
            let is_reference = text(raw.signature)?.starts_with(['L', '[']);
            Some(Field { name: text(raw.name)?, is_reference, is_static: raw.is_static, offset: raw.offset })
        };
        Some(raw.iter().filter_map(named).collect())
    }

    /// The bytes of an array that a class leads to.
    fn array(&self, peek: &impl Peek, at: u64, element: u32) -> Option<Vec<u8>> {
        let array = peek.u64(at).ok()?;
        let bytes = peek.u32(array).ok()?.checked_mul(element).filter(|bytes| *bytes <= MAX_BYTES)?;
        peek.bytes(array.wrapping_add(self.data), usize::try_from(bytes).ok()?).ok()
    }
}

/// A field by its numbers.
#[derive(Debug, PartialEq, Eq)]
struct Raw {
    name: u16,
    signature: u16,
    is_static: bool,
    offset: u64,
}

fn of_words(bytes: &[u8], count: usize) -> Vec<Raw> {
    let field = |index: usize| {
        let word = |number: usize| at::u16(bytes, 2 * (WORDS * index + number) as u64);
        let packed = u32::from(word(5)?) << 16 | u32::from(word(4)?);
        let is_static = u32::from(word(0)?) & STATIC != 0;
        let is_known = packed & TAG == TAG_OFFSET;
        is_known.then_some(Raw { name: word(1)?, signature: word(2)?, is_static, offset: u64::from(packed >> 2) })
    };
    (0..count.min(bytes.len() / (2 * WORDS))).filter_map(field).collect()
}

fn of_stream(bytes: &[u8], excluded: u8) -> Vec<Raw> {
    let mut numbers = unsigned5::Reader::new(bytes, excluded);
    let mut count = || Some(usize::try_from(numbers.unsigned()?).unwrap_or(MAX_FIELDS).min(MAX_FIELDS));
    let (Some(declared), Some(injected)) = (count(), count()) else { return Vec::new() };
    let mut fields = Vec::new();
    for _ in 0..declared + injected {
        let Some((raw, is_wanted)) = next(&mut numbers) else { break };
        fields.extend(is_wanted.then_some(raw));
    }
    fields
}

fn next(numbers: &mut unsigned5::Reader<'_>) -> Option<(Raw, bool)> {
    let mut index = || u16::try_from(numbers.unsigned()?).ok();
    let (name, signature) = (index()?, index()?);
    let (offset, access, flags) = (numbers.unsigned()?, numbers.unsigned()?, numbers.unsigned()?);
    for optional in [INITIALIZED, GENERIC, CONTENDED] {
        if flags & optional != 0 {
            numbers.unsigned()?;
        }
    }
    let is_static = access & STATIC != 0;
    Some((Raw { name, signature, is_static, offset: u64::from(offset) }, flags & INJECTED == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz;

    fn raw(name: u16, signature: u16, offset: u64) -> Raw {
        Raw { name, signature, is_static: false, offset }
    }

    fn of_class(name: u16, signature: u16, offset: u64) -> Raw {
        Raw { is_static: true, ..raw(name, signature, offset) }
    }

    #[test]
    fn fields_are_six_words_up_to_20() {
        let words: [u16; 18] = [
            // A field at 12, a static one, and one without an offset yet.
            0x2,
            7,
            8,
            0,
            12 << 2 | 1,
            0,
            0xa,
            9,
            10,
            0,
            16 << 2 | 1,
            0,
            0x2,
            11,
            12,
            0,
            0,
            0,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(of_words(&bytes, 3), [raw(7, 8, 12), of_class(9, 10, 16)]);
        assert_eq!(of_words(&bytes, 100), [raw(7, 8, 12), of_class(9, 10, 16)], "a count that is not true");
        let mut high = bytes;
        high[10] = 1;
        assert_eq!(of_words(&high, 1), [raw(7, 8, (1 << 14) + 12)]);
    }

    #[test]
    fn fields_are_a_stream_since_21() {
        // Two declared and one injected; the second has an initial value, a generic signature and a group.
        let numbers: [u8; 21] = [2, 1, 7, 8, 12, 2, 0, 9, 10, 16, 2, 21, 1, 2, 3, 11, 12, 24, 2, 2, 0];
        let bytes: Vec<u8> = numbers.iter().map(|number| number + 1).collect();
        assert_eq!(of_stream(&bytes, 1), [raw(7, 8, 12), raw(9, 10, 16)]);
        assert_eq!(of_stream(&bytes[..9], 1), [raw(7, 8, 12)], "it ends in the middle");
        assert_eq!(of_stream(&[0], 1), []);
        let is_static: Vec<u8> = [1, 0, 7, 8, 12, 8, 0].iter().map(|number: &u8| number + 1).collect();
        assert_eq!(of_stream(&is_static, 1), [of_class(7, 8, 12)]);
    }

    #[test]
    fn fuzz_fields() {
        let samples = [vec![3, 2, 8, 9, 13, 3, 1, 10, 11, 17, 3, 22, 2, 3, 4, 12, 13, 25, 3, 3, 1]];
        fuzz::each("fields", 8 << 20, |dice| {
            let bytes = fuzz::damaged(dice, &samples);
            assert!(of_stream(&bytes, 1).len() <= bytes.len());
            assert!(of_words(&bytes, usize::from(u16::MAX)).len() <= bytes.len());
        });
    }
}
