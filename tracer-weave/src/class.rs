//! A class file as its parts: what is read of it, and where in its bytes that stands. Nothing is decoded that weaving leaves
//! as it is, so what is not touched stays the same to the byte, attributes included that nobody knows.
//!
//! The constant pool (and, in [`crate::weave`], stack maps) are read by `ristretto_classfile`. Whole classes are not: it keeps
//! branch targets as numbers of instructions, so code before an instruction cannot be told from code that branches to it run,
//! and it leaves the offsets in type annotations as they were.

use std::ops::{Range, RangeInclusive};

use ristretto_classfile::byte_reader::ByteReader;
use ristretto_classfile::{Constant, ConstantPool};

use crate::weave::Error;

/// First four bytes of a class file.
const MAGIC: u32 = 0xCAFE_BABE;
/// Major versions that are known: JDK 1.1 to 28.
const VERSIONS: RangeInclusive<u16> = 45..=72;
/// Where the number of constants stands.
pub(crate) const POOL_COUNT_AT: usize = 8;

/// Most bytes that the names of a class's interfaces and methods, and their descriptors, may have together.
const MOST_NAMES: usize = 64 << 20;
/// Most bytes that the name of a class may have to be compared with a pattern.
const LONGEST_NAME: usize = 4096;

/// Access flag of a static method.
pub(crate) const STATIC: u16 = 0x0008;
/// Access flag of a method that the compiler made, which calls the one that was written under another descriptor.
pub(crate) const BRIDGE: u16 = 0x0040;
/// Access flag of a native method.
pub(crate) const NATIVE: u16 = 0x0100;

/// A class file.
pub(crate) struct ClassBytes<'a> {
    /// All of it.
    pub(crate) bytes: &'a [u8],
    /// Major version.
    pub(crate) major: u16,
    /// Its constants.
    pub(crate) pool: ConstantPool<'a>,
    /// How many constants the file says, plus one.
    pub(crate) pool_count: u16,
    /// Where its constants end.
    pub(crate) pool_end: usize,
    /// Access flags.
    pub(crate) access: u16,
    /// Constant that names this class.
    pub(crate) this_class: u16,
    /// Name, as the JVM writes it (`java/lang/Object`).
    pub(crate) name: String,
    /// Name of the superclass; `None` for `java/lang/Object`.
    pub(crate) superclass: Option<String>,
    /// Names of its interfaces.
    pub(crate) interfaces: Vec<String>,
    /// Its methods, in their order.
    pub(crate) methods: Vec<MethodBytes>,
}

/// A method of a class file.
pub(crate) struct MethodBytes {
    /// Access flags.
    pub(crate) access: u16,
    /// Name.
    pub(crate) name: String,
    /// Descriptor.
    pub(crate) descriptor: String,
    /// Where its `Code` attribute stands: with name and length.
    pub(crate) code: Option<Range<usize>>,
}

impl MethodBytes {
    /// Whether it is static.
    pub(crate) const fn is_static(&self) -> bool {
        self.access & STATIC != 0
    }

    /// Whether it is a constructor.
    pub(crate) fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }
}

/// A name as Java writes it.
pub(crate) fn java_name(name: &str) -> String {
    name.replace('/', ".")
}

/// What the reader says of bytes that are no class file, or not all of one.
fn cut_off(error: impl std::fmt::Display) -> Error {
    Error::Unreadable(error.to_string())
}

fn unreadable(error: impl Into<String>) -> Error {
    Error::Unreadable(error.into())
}

impl<'a> ClassBytes<'a> {
    /// Reads a class file.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = ByteReader::new(bytes);
        if reader.read_u32().map_err(cut_off)? != MAGIC {
            return Err(unreadable("it does not begin with 0xCAFEBABE"));
        }
        let _minor = reader.read_u16().map_err(cut_off)?;
        let major = reader.read_u16().map_err(cut_off)?;
        if !VERSIONS.contains(&major) {
            return Err(unreadable(format!(
                "its version is {major}; known are {} to {}",
                VERSIONS.start(),
                VERSIONS.end()
            )));
        }
        let pool_count = ByteReader::new(reader.remaining_slice()).read_u16().map_err(cut_off)?;
        let pool = ConstantPool::from_bytes(&mut reader).map_err(cut_off)?;
        // Constants that are added would begin one place too early: https://docs.oracle.com/javase/specs/jvms/se25/html/jvms-4.html#jvms-4.4.5
        if matches!(pool.get(pool_count.wrapping_sub(1)), Some(Constant::Long(_) | Constant::Double(_))) {
            return Err(unreadable("its last constant takes two places, and has one"));
        }
        let pool_end = reader.position();
        let access = reader.read_u16().map_err(cut_off)?;
        let this_class = reader.read_u16().map_err(cut_off)?;
        let super_class = reader.read_u16().map_err(cut_off)?;
        let mut class = Self {
            bytes,
            major,
            pool,
            pool_count,
            pool_end,
            access,
            this_class,
            name: String::new(),
            superclass: None,
            interfaces: Vec::new(),
            methods: Vec::new(),
        };
        class.name = class.class_name(this_class).ok_or_else(|| unreadable("it does not say its name"))?;
        class.superclass = class.class_name(super_class);
        class.read_members(&mut reader)?;
        Ok(class)
    }

    fn read_members(&mut self, reader: &mut ByteReader<'_>) -> Result<(), Error> {
        let mut names = 0;
        for _ in 0..reader.read_u16().map_err(cut_off)? {
            let interface = reader.read_u16().map_err(cut_off)?;
            let interface = self.class_name(interface).ok_or_else(|| unreadable("an interface has no name"))?;
            names += interface.len();
            if names > MOST_NAMES {
                return Err(unreadable("its names are too long"));
            }
            self.interfaces.push(interface);
        }
        for _ in 0..reader.read_u16().map_err(cut_off)? {
            reader.skip(6).map_err(cut_off)?;
            self.skip_attributes(reader)?;
        }
        for _ in 0..reader.read_u16().map_err(cut_off)? {
            let access = reader.read_u16().map_err(cut_off)?;
            let name = reader.read_u16().map_err(cut_off)?;
            let descriptor = reader.read_u16().map_err(cut_off)?;
            let code = self.skip_attributes(reader)?;
            let no_name = || unreadable("a method has no name");
            let (name, descriptor) = (self.utf8(name).ok_or_else(no_name)?, self.utf8(descriptor).ok_or_else(no_name)?);
            names += name.len() + descriptor.len();
            if names > MOST_NAMES {
                return Err(unreadable("its names are too long"));
            }
            self.methods.push(MethodBytes { access, name, descriptor, code });
        }
        self.skip_attributes(reader)?;
        if reader.remaining() > 0 {
            return Err(unreadable(format!("{} bytes stand behind its end", reader.remaining())));
        }
        Ok(())
    }

    /// Passes over attributes; says where the one named `Code` stands.
    fn skip_attributes(&self, reader: &mut ByteReader<'_>) -> Result<Option<Range<usize>>, Error> {
        let mut code = None;
        for _ in 0..reader.read_u16().map_err(cut_off)? {
            let start = reader.position();
            let name = reader.read_u16().map_err(cut_off)?;
            let length = reader.read_u32().map_err(cut_off)?;
            reader.read_bytes(usize::try_from(length).map_err(cut_off)?).map_err(cut_off)?;
            if self.is_utf8(name, "Code") {
                code = Some(start..reader.position());
            }
        }
        Ok(code)
    }

    /// A text constant.
    pub(crate) fn utf8(&self, index: u16) -> Option<String> {
        self.pool.try_get_utf8(index).ok().map(|text| text.to_str_lossy().into_owned())
    }

    /// Whether a constant is this text.
    pub(crate) fn is_utf8(&self, index: u16, text: &str) -> bool {
        self.pool.try_get_utf8(index).is_ok_and(|found| found.as_bytes() == text.as_bytes())
    }

    /// The name that a class constant gives.
    pub(crate) fn class_name(&self, index: u16) -> Option<String> {
        match self.pool.get(index)? {
            Constant::Class(name) => self.utf8(*name),
            _ => None,
        }
    }

    /// Class (as the JVM writes it) and name that a constant of a field or method gives.
    pub(crate) fn member(&self, index: u16) -> Option<(&str, &str)> {
        let (class, name, _) = self.member_parts(index)?;
        let Constant::Class(class) = self.pool.get(class)? else { return None };
        let text = |index: u16| self.pool.try_get_utf8(index).ok().filter(|text| text.len() <= LONGEST_NAME)?.as_str();
        Some((text(*class)?, text(name)?))
    }

    /// Whether a constant of a method says that it returns nothing.
    pub(crate) fn returns_nothing(&self, index: u16) -> bool {
        let descriptor =
            self.member_parts(index).and_then(|(_, _, descriptor)| self.pool.try_get_utf8(descriptor).ok());
        descriptor.is_some_and(|descriptor| descriptor.as_bytes().ends_with(b")V"))
    }

    fn member_parts(&self, index: u16) -> Option<(u16, u16, u16)> {
        let (class, name_and_type) = match self.pool.get(index)? {
            Constant::FieldRef { class_index, name_and_type_index }
            | Constant::MethodRef { class_index, name_and_type_index }
            | Constant::InterfaceMethodRef { class_index, name_and_type_index } => (*class_index, *name_and_type_index),
            _ => return None,
        };
        let Constant::NameAndType { name_index, descriptor_index } = self.pool.get(name_and_type)? else { return None };
        Some((class, *name_index, *descriptor_index))
    }
}
