//! Offsets in methods, constant pools, classes and symbols, from the JVM's tables, for 8 and every release from 11 on.

use super::super::{
    code_cache::{
        Error,
        fields::{Fields, Slot},
    },
    memory::library::Library,
    peek::Peek,
    vmstructs::VmStructs,
};
use super::{exception_table::Tables, opcodes::Opcodes};

/// The first release whose compressed numbers leave out the byte 0.
const EXCLUDES_ZERO: u32 = 20;

/// The first release whose constant pools have the index of its name for each class.
const NAMES_CLASSES_BY_INDEX: u32 = 9;

/// What an entry of a constant pool has of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolClass {
    /// The index of its name, in the upper half of the lower word.
    Index,
    /// Up to 8, where the class lies; where it was not looked up, where its name lies, and 1 (`CPSlot`).
    Pointer,
}

/// Where in a class or its pool the name of the source file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceFile {
    /// `ConstantPool::_source_file_name_index`, since 15.
    Pool(u64),
    /// `InstanceKlass::_source_file_name_index`.
    Class(u64),
}

/// Offsets that lead from a `Method*` to its name and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataLayout {
    pub(super) method_bytes: u64,
    pub(super) const_method: u64,
    pub(super) const_method_bytes: u64,
    pub(super) const_method_words: u64,
    pub(super) constants: u64,
    pub(super) code_size: u64,
    pub(super) flags: u64,
    pub(super) has_lines: u32,
    pub(super) name_index: u64,
    pub(super) signature_index: u64,
    pub(super) pool_bytes: u64,
    pub(super) pool_holder: u64,
    pub(super) pool_tags: u64,
    pub(super) pool_length: u64,
    pub(super) tag_text: u8,
    pub(super) tags_data: u64,
    pub(super) source_file: SourceFile,
    pub(super) class_name: u64,
    pub(super) class_constants: u64,
    pub(super) class_bytes: u64,
    pub(super) symbol_length: Slot,
    pub(super) symbol_body: u64,
    /// Byte values that compressed numbers leave out.
    pub(in super::super) excluded: u8,
    /// Where its exception table is.
    pub(super) tables: Option<Tables>,
    pub(super) pool_class: PoolClass,
    /// What the JVM's own opcodes stand for. What handlers do is not known without.
    pub(super) opcodes: Option<Opcodes>,
}

/// The feature release of the JVM.
///
/// Up to 8 HotSpot counted its own releases: that of 8 is 25, as the one of 25 is. `JDK_Version` tells them apart, which later tables do
/// not have.
pub fn release(peek: &impl Peek, tables: &VmStructs) -> Result<u32, Error> {
    let fields = Fields(tables);
    if let (Ok(current), Some(major)) =
        (fields.address("JDK_Version", "_current"), fields.optional(&[("JDK_Version", "_major")])?)
    {
        let (field, value) = ("JDK_Version::_major", peek.u8(current.wrapping_add(major))?);
        return if (8..100).contains(&value) { Ok(value.into()) } else { Err(absurd(field, value.into())) };
    }
    let value = peek.u32(fields.address("Abstract_VM_Version", "_vm_major_version")?)?;
    if (9..1000).contains(&value) { Ok(value) } else { Err(absurd("Abstract_VM_Version::_vm_major_version", value)) }
}

/// Which update a JVM of 8 is: HotSpot counts them as its minor versions.
fn update_of_8(peek: &impl Peek, fields: Fields<'_>) -> Option<u32> {
    let address = fields.address("Abstract_VM_Version", "_vm_minor_version").ok()?;
    peek.u32(address).ok()
}

fn absurd(field: &str, value: u32) -> Error {
    Error::Absurd { field: field.to_owned(), value: value.into() }
}

impl MetadataLayout {
    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(peek: &impl Peek, tables: &VmStructs) -> Result<Self, Error> {
        let fields = Fields(tables);
        let one = |owner, name| fields.offset(&[(owner, name)]);
        let major = release(peek, tables)?;
        let pool_class = if major >= NAMES_CLASSES_BY_INDEX { PoolClass::Index } else { PoolClass::Pointer };
        Ok(Self {
            method_bytes: fields.size("Method")?,
            const_method: one("Method", "_constMethod")?,
            const_method_bytes: fields.size("ConstMethod")?,
            const_method_words: one("ConstMethod", "_constMethod_size")?,
            constants: one("ConstMethod", "_constants")?,
            code_size: one("ConstMethod", "_code_size")?,
            // A structure of its own since 21; what is asked for is in its lowest byte everywhere.
            flags: fields.offset(&[("ConstMethod", "_flags._flags"), ("ConstMethod", "_flags")])?,
            has_lines: fields
                .constant(&["ConstMethodFlags::_misc_has_linenumber_table", "ConstMethod::_has_linenumber_table"])?,
            name_index: one("ConstMethod", "_name_index")?,
            signature_index: one("ConstMethod", "_signature_index")?,
            pool_bytes: fields.size("ConstantPool")?,
            pool_holder: one("ConstantPool", "_pool_holder")?,
            pool_tags: one("ConstantPool", "_tags")?,
            pool_length: one("ConstantPool", "_length")?,
            // Not in the tables of 8; the number is the class file format's.
            tag_text: fields.constant(&["JVM_CONSTANT_Utf8"]).ok().and_then(|tag| u8::try_from(tag).ok()).unwrap_or(1),
            tags_data: fields.offset(&[("Array<u1>", "_data"), ("Array<int>", "_data")])?,
            source_file: match fields.optional(&[("ConstantPool", "_source_file_name_index")])? {
                Some(offset) => SourceFile::Pool(offset),
                None => SourceFile::Class(one("InstanceKlass", "_source_file_name_index")?),
            },
            class_name: one("Klass", "_name")?,
            class_constants: one("InstanceKlass", "_constants")?,
            class_bytes: fields.size("InstanceKlass")?,
            symbol_length: Slot::new(one("Symbol", "_length")?, 2),
            symbol_body: fields.offset(&[("Symbol", "_body[0]"), ("Symbol", "_body")])?,
            excluded: u8::from(major >= EXCLUDES_ZERO),
            tables: Tables::from_tables(fields, pool_class).ok(),
            pool_class,
            opcodes: match major {
                8 => update_of_8(peek, fields).and_then(Opcodes::of_update_of_8),
                _ => Opcodes::of_release(major),
            },
        })
    }

    /// Finds through the library's symbols what its own opcodes stand for, where that is not known of the release.
    pub fn find_opcodes(&mut self, peek: &impl Peek, libjvm: &Library) {
        self.opcodes = self.opcodes.or_else(|| Opcodes::read(peek, libjvm));
    }
}
