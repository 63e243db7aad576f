//! The exception table of a method. It lies at the end of its `ConstMethod`, behind which one finds the way from the back: each table there
//! has its length behind it (`ConstMethod::exception_table_length_addr`, read in 8, 11, 17, 21 and 25).

use super::{
    super::{
        code_cache::{Error, fields::Fields},
        peek::at,
    },
    layout::PoolClass,
};

/// Most rows that are read. Methods with more, which programs write, are taken for ones of which it is not known.
const MAX_ROWS: usize = 128;
const POINTER_BYTES: usize = 8;
const ROW_BYTES: usize = 8;
/// A name and flags for each parameter, a class for each exception in the method's declaration.
const PARAMETER_BYTES: usize = 4;
const DECLARED_BYTES: usize = 2;
/// Tags of classes in a constant pool of 8, whose tables do not have them: the class file format's, and two of the JVM's own.
const CLASS_TAGS_OF_8: [u8; 3] = [7, 100, 103];

/// Which bits of a method's flags say that it has which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    exception_table: u32,
    checked_exceptions: u32,
    method_parameters: u32,
    generic_signature: u32,
    /// Of methods, parameters, types, and defaults.
    annotations: [u32; 4],
    /// Tags of classes in a constant pool: whether it was looked up or not.
    class_tags: [u8; 3],
}

/// A row: the bytecode indices where it begins and ends, its handler, and its class in the constant pool; 0 for everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) begin: u16,
    pub(super) end: u16,
    pub(super) handler: u16,
    pub(super) class: u16,
}

impl Tables {
    /// From the JVM's tables; the error names what is missing.
    pub(super) fn from_tables(fields: Fields<'_>, pool_class: PoolClass) -> Result<Self, Error> {
        let flag = |of_21: &'static str, before: &'static str| fields.constant(&[of_21, before]);
        let tag = |name: &'static str| {
            let value = fields.constant(&[name])?;
            u8::try_from(value).map_err(|_| Error::Absurd { field: name.to_owned(), value: value.into() })
        };
        Ok(Self {
            exception_table: flag("ConstMethodFlags::_misc_has_exception_table", "ConstMethod::_has_exception_table")?,
            checked_exceptions: flag(
                "ConstMethodFlags::_misc_has_checked_exceptions",
                "ConstMethod::_has_checked_exceptions",
            )?,
            method_parameters: flag(
                "ConstMethodFlags::_misc_has_method_parameters",
                "ConstMethod::_has_method_parameters",
            )?,
            generic_signature: flag(
                "ConstMethodFlags::_misc_has_generic_signature",
                "ConstMethod::_has_generic_signature",
            )?,
            annotations: [
                flag("ConstMethodFlags::_misc_has_method_annotations", "ConstMethod::_has_method_annotations")?,
                flag("ConstMethodFlags::_misc_has_parameter_annotations", "ConstMethod::_has_parameter_annotations")?,
                flag("ConstMethodFlags::_misc_has_type_annotations", "ConstMethod::_has_type_annotations")?,
                flag("ConstMethodFlags::_misc_has_default_annotations", "ConstMethod::_has_default_annotations")?,
            ],
            class_tags: match pool_class {
                PoolClass::Index => [
                    tag("JVM_CONSTANT_Class")?,
                    tag("JVM_CONSTANT_UnresolvedClass")?,
                    tag("JVM_CONSTANT_UnresolvedClassInError")?,
                ],
                PoolClass::Pointer => CLASS_TAGS_OF_8,
            },
        })
    }

    /// Whether a method with these flags has an exception table.
    pub(super) const fn has_rows(&self, flags: u32) -> bool {
        flags & self.exception_table != 0
    }

    /// Whether a tag of a constant pool is that of a class.
    pub(super) fn is_class(&self, tag: u8) -> bool {
        self.class_tags.contains(&tag)
    }

    /// Reads the rows from what lies behind the head of a `ConstMethod`, to its end, of a method with so many bytes of code. None where
    /// they do not fit together.
    pub(super) fn rows(&self, behind: &[u8], flags: u32, code_bytes: u16) -> Option<Vec<Row>> {
        let pointers = self.annotations.iter().filter(|flag| flags & **flag != 0).count();
        let mut tail = behind.get(usize::from(code_bytes)..)?;
        cut(&mut tail, pointers * POINTER_BYTES)?;
        if flags & self.generic_signature != 0 {
            cut(&mut tail, 2)?;
        }
        for (flag, bytes) in [(self.method_parameters, PARAMETER_BYTES), (self.checked_exceptions, DECLARED_BYTES)] {
            if flags & flag != 0 {
                table(&mut tail, bytes)?;
            }
        }
        let rows = table(&mut tail, ROW_BYTES)?;
        if rows.len() > MAX_ROWS * ROW_BYTES {
            return None;
        }
        rows.chunks_exact(ROW_BYTES).map(|row| Row::read(row, code_bytes)).collect()
    }
}

impl Row {
    fn read(bytes: &[u8], code_bytes: u16) -> Option<Self> {
        let [begin, end, handler, class] =
            [at::u16(bytes, 0)?, at::u16(bytes, 2)?, at::u16(bytes, 4)?, at::u16(bytes, 6)?];
        let fits = begin < end && end <= code_bytes && handler < code_bytes;
        fits.then_some(Self { begin, end, handler, class })
    }
}

/// Takes bytes off the end, and gives them.
fn cut<'a>(tail: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (rest, last) = tail.split_at_checked(tail.len().checked_sub(bytes)?)?;
    *tail = rest;
    Some(last)
}

/// Takes a table off the end: its length, and so many elements.
fn table<'a>(tail: &mut &'a [u8], element_bytes: usize) -> Option<&'a [u8]> {
    let elements = at::u16(cut(tail, 2)?, 0)?;
    cut(tail, usize::from(elements) * element_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::vmstructs::VmStructs;

    const CODE_BYTES: u16 = 20;
    const ROW: [u16; 4] = [1, 9, 12, 7];

    fn tables() -> Tables {
        Tables::from_tables(Fields(&VmStructs::of_release(25)), PoolClass::Index).unwrap()
    }

    /// What lies behind the head of a method with everything, all flags set.
    fn everything(rows: &[[u16; 4]]) -> (Vec<u8>, u32) {
        let tables = tables();
        let mut words: Vec<u16> = rows.concat();
        words.push(u16::try_from(rows.len()).unwrap());
        // Two declared exceptions, one parameter, a signature.
        words.extend([3, 4, 2, 5, 0x10, 1, 6]);
        let mut bytes = vec![0xb1; usize::from(CODE_BYTES) + 5];
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend([0xee; 4 * POINTER_BYTES]);
        let flags = tables.annotations.iter().fold(0, |flags, flag| flags | flag);
        let others = tables.exception_table | tables.checked_exceptions | tables.method_parameters;
        (bytes, flags | others | tables.generic_signature)
    }

    #[test]
    fn rows_are_found_in_front_of_all_other_tables() {
        let (bytes, flags) = everything(&[ROW, [0, 20, 3, 0]]);
        let rows = tables().rows(&bytes, flags, CODE_BYTES).unwrap();
        assert_eq!(rows[0], Row { begin: 1, end: 9, handler: 12, class: 7 });
        assert_eq!(rows[1], Row { begin: 0, end: 20, handler: 3, class: 0 });
    }

    #[test]
    fn what_does_not_fit_is_no_table() {
        for row in [[9, 9, 12, 7], [1, 21, 12, 7], [1, 9, 20, 7]] {
            let (bytes, flags) = everything(&[ROW, row]);
            assert_eq!(tables().rows(&bytes, flags, CODE_BYTES), None, "{row:?}");
        }
        let (bytes, flags) = everything(&[ROW]);
        for len in 0..bytes.len() - 1 {
            let rows = tables().rows(&bytes[..len], flags, CODE_BYTES);
            assert!(rows.is_none_or(|rows| rows.len() <= MAX_ROWS), "{len}");
        }
        let (bytes, flags) = everything(&[ROW; MAX_ROWS + 1]);
        assert_eq!(tables().rows(&bytes, flags, CODE_BYTES), None);
    }

    #[test]
    fn fuzz_exception_tables() {
        let tables = tables();
        let whole = everything(&[ROW, ROW, ROW]).0;
        crate::fuzz::each("exception_tables", usize::MAX, |dice| {
            let mut bytes = if dice.once_in(2) { dice.bytes(200) } else { whole.clone() };
            for _ in 0..dice.below(4) {
                if !bytes.is_empty() {
                    let at = dice.below(bytes.len());
                    bytes[at] = dice.byte();
                }
            }
            let (flags, code_bytes) =
                (u32::from(dice.byte()) << 4 | u32::from(dice.byte() % 16), u16::from(dice.byte()));
            let rows = crate::fuzz::metered(64 * 1024, || tables.rows(&bytes, flags, code_bytes));
            for row in rows.into_iter().flatten() {
                assert!(row.begin < row.end && row.end <= code_bytes && row.handler < code_bytes, "{row:?}");
            }
        });
    }
}
