//! What the JVM knows of a method: class, name, descriptor, source file and lines, from the address of its `Method`.
//!
//! An address that a stack holds may be stale when it is looked at: the class was unloaded, its memory given to something
//! else. So nothing is believed that does not fit together, and what does not fit has a [`Reason`].

mod bytecode;

mod exception_table;

mod fields;

mod layout;
mod opcodes;

mod pool;

pub(super) mod lines;

mod loaded;

pub(super) mod unsigned5;

use std::fmt;

use self::{exception_table::Row, opcodes::Opcodes, pool::Pool};
pub use self::{
    fields::{Field, FieldsLayout},
    layout::{MetadataLayout, release},
    lines::Lines,
    loaded::LoadedLayout,
};
use super::peek::{Peek, at};
use crate::{
    stack::{
        handlers::{Handler, Handlers},
        shared_text::{SharedText, SharedTexts},
    },
    text::class_name,
};

/// Longest text that is read of a symbol; longer ones are cut.
const MAX_TEXT_BYTES: usize = 4096;
/// How much of a symbol is read at first.
const FIRST_TEXT_BYTES: usize = 96;
/// Largest `ConstMethod`: 64 KiB of bytecode, and tables that can be several times as large.
const MAX_CONST_METHOD_BYTES: u64 = 1 << 20;
const POINTER_BYTES: u64 = 8;
/// The first and the last of the five bytecodes that call a method.
const INVOKE_VIRTUAL: u8 = 0xb6;
const INVOKE_DYNAMIC: u8 = 0xba;

/// Why a method has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The target's memory could not be read where the method was.
    Unreadable,
    /// The method is gone, or another one stands there.
    Unloaded,
    /// It cannot be a method; the field says why.
    Nonsense(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("<method unreadable>"),
            Self::Unloaded => f.write_str("<class unloaded>"),
            Self::Nonsense(field) => write!(f, "<no method: {field}>"),
        }
    }
}

/// A method with all that is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// `ConstMethod*`: the part of the method that never changes.
    pub const_method: u64,
    /// Its class as Java writes it; a hidden one without its address.
    pub class: SharedText,
    /// Its name behind that of its class: `com.shop.Cart.add`.
    pub qualified: SharedText,
    /// Its descriptor.
    pub signature: SharedText,
    /// Source file.
    pub file: Option<SharedText>,
    /// Bytecode, as the JVM has rewritten it; none for native and abstract methods.
    pub code: Box<[u8]>,
    /// What the JVM's own opcodes in it stand for, where that is known.
    opcodes: Option<Opcodes>,
    /// Lines, where the class file has them.
    pub lines: Option<Lines>,
    /// Its exception handlers, where they could be read; empty where it has none.
    pub handlers: Option<Handlers>,
}

impl Method {
    /// Its name.
    pub fn name(&self) -> &str {
        self.qualified.get(self.class.len() + 1..).unwrap_or_default()
    }

    /// Its class, name and descriptor, for who keeps them for himself.
    pub fn names(&self) -> [String; 3] {
        [&self.class, self.name(), &self.signature].map(str::to_owned)
    }

    /// What a stack keeps of a `ConstMethod*` to see whether a `Method*` still means the same.
    pub fn check(&self) -> u32 {
        check(self.const_method)
    }

    /// The line of a bytecode index.
    pub fn line(&self, bci: u32) -> Option<u32> {
        self.lines.as_ref()?.line(bci)
    }

    /// Its exception handlers, where one of them is for a bytecode index.
    pub fn handlers_at(&self, bci: u32) -> Option<Handlers> {
        Some(self.handlers.as_ref()?.at(bci))
    }

    /// Whether a bytecode index can be that of a call of another method.
    pub fn calls_at(&self, bci: u32) -> bool {
        let opcode = usize::try_from(bci).ok().and_then(|bci| self.code.get(bci));
        opcode.is_some_and(|&opcode| matches!(opcode, INVOKE_VIRTUAL..=INVOKE_DYNAMIC) || opcode >= opcodes::FIRST)
    }

    /// The opcode at a bytecode index as the class file has it. None where the JVM has put a breakpoint, or one of its own that is not known.
    pub fn opcode_at(&self, bci: u32) -> Option<u8> {
        let opcode = *self.code.get(usize::try_from(bci).ok()?)?;
        self.opcodes
            .map_or_else(|| Some(opcode).filter(|opcode| *opcode < opcodes::FIRST), |known| known.of_class_file(opcode))
    }

    /// What it takes in memory, about.
    pub fn weight(&self) -> usize {
        let file = self.file.as_ref().map_or(0, |file| file.len());
        let texts = self.class.len() + self.qualified.len() + self.signature.len() + file;
        let handlers = self.handlers.as_ref().map_or(0, Handlers::bytes);
        size_of::<Self>() + texts + self.code.len() + self.lines.as_ref().map_or(0, Lines::len) + handlers
    }

    /// Lets it hold its texts with others that have them too.
    pub fn share(&mut self, texts: &mut SharedTexts) {
        let Self { class, qualified, signature, file, handlers, .. } = self;
        for text in [class, qualified, signature].into_iter().chain(file) {
            texts.share(text);
        }
        if let Some(handlers) = handlers {
            handlers.share(texts);
        }
    }

    /// Reads the method at an address.
    pub fn read(peek: &impl Peek, layout: &MetadataLayout, address: u64) -> Result<Self, Reason> {
        // Code whose class was unloaded forgets its method before it goes itself.
        if address == 0 {
            return Err(Reason::Unloaded);
        }
        let reader = Reader { peek, layout };
        let const_method = reader.const_method(address)?;
        let ConstMethod { address: const_address, pool, name, signature, code, lines, rows } = const_method;
        let pool = reader.pool(pool)?;
        let handlers = rows.and_then(|rows| {
            rows.iter().map(|row| reader.handler(&pool, &code, lines.as_ref(), *row)).collect::<Option<Vec<_>>>()
        });
        let (class, file) = reader.class(&pool)?;
        let class = class_name::class(&class);
        let name = reader.pool_text(&pool, name, "ConstMethod::_name_index")?;
        Ok(Self {
            const_method: const_address,
            qualified: format!("{class}.{name}").into(),
            class: class.into(),
            signature: reader.pool_text(&pool, signature, "ConstMethod::_signature_index")?.into(),
            file: file.map(Into::into),
            code,
            opcodes: layout.opcodes,
            lines,
            handlers: handlers.map(Into::into),
        })
    }
}

/// Name of the class at an address, as Java writes it.
pub fn class_of(peek: &impl Peek, layout: &MetadataLayout, klass: u64) -> Result<String, Reason> {
    if klass == 0 {
        return Err(Reason::Unreadable);
    }
    let reader = Reader { peek, layout };
    let symbol = peek.u64(klass.wrapping_add(layout.class_name)).map_err(|_| Reason::Unreadable)?;
    Ok(class_name::class(&reader.symbol(symbol, "Klass::_name")?))
}

/// The `ConstMethod*` that a `Method*` has now.
pub fn const_method_of(peek: &impl Peek, layout: &MetadataLayout, method: u64) -> Option<u64> {
    peek.u64(method.checked_add(layout.const_method)?).ok()
}

/// The `ConstantPool*` of a `ConstMethod*`.
pub fn pool_of(peek: &impl Peek, layout: &MetadataLayout, const_method: u64) -> Option<u64> {
    peek.u64(const_method.checked_add(layout.constants)?).ok()
}

/// What a stack keeps of a `ConstMethod*`: its low 32 bits but for those that are 0 anyway.
pub fn check(const_method: u64) -> u32 {
    u32::try_from((const_method >> 3) & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

impl MetadataLayout {
    /// The bytecode index of a pointer into a method's bytecode, which follows its `ConstMethod`. A native method has none, and
    /// some frames of it a pointer to where it would begin.
    pub fn index(&self, method: &Method, pointer: u64) -> Option<u16> {
        let index = pointer.checked_sub(method.const_method.checked_add(self.const_method_bytes)?)?;
        u16::try_from(index).ok().filter(|index| usize::from(*index) < method.code.len().max(1))
    }
}

/// What is read of a `ConstMethod`.
struct ConstMethod {
    address: u64,
    pool: u64,
    name: u16,
    signature: u16,
    code: Box<[u8]>,
    lines: Option<Lines>,
    /// Its exception table, where it could be read.
    rows: Option<Vec<Row>>,
}

struct Reader<'a, P> {
    peek: &'a P,
    layout: &'a MetadataLayout,
}

impl<P: Peek> Reader<'_, P> {
    /// The bytes of a structure at a pointer that can be one.
    fn structure(&self, address: u64, bytes: u64, field: &'static str) -> Result<Vec<u8>, Reason> {
        if address < 4096 || !address.is_multiple_of(POINTER_BYTES) {
            return Err(Reason::Nonsense(field));
        }
        self.peek.bytes(address, usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(|_| Reason::Unreadable)
    }

    fn const_method(&self, method: u64) -> Result<ConstMethod, Reason> {
        let layout = self.layout;
        let head = self.structure(method, layout.method_bytes, "Method")?;
        let address = at::u64(&head, layout.const_method).ok_or(Reason::Nonsense("Method::_constMethod"))?;
        let bytes = self.structure(address, layout.const_method_bytes, "Method::_constMethod")?;
        let words =
            at::u32(&bytes, layout.const_method_words).ok_or(Reason::Nonsense("ConstMethod::_constMethod_size"))?;
        let size = u64::from(words) * POINTER_BYTES;
        let number = |offset, field| at::u16(&bytes, offset).ok_or(Reason::Nonsense(field));
        let code_bytes = number(layout.code_size, "ConstMethod::_code_size")?;
        let tables = layout.const_method_bytes + u64::from(code_bytes);
        if size < tables || size > MAX_CONST_METHOD_BYTES {
            return Err(Reason::Nonsense("ConstMethod::_constMethod_size"));
        }
        let flags = at::u16(&bytes, layout.flags).map(u32::from).ok_or(Reason::Nonsense("ConstMethod::_flags"))?;
        let has_lines = flags & layout.has_lines != 0;
        let tables = layout.tables.as_ref();
        let has_rows = tables.is_some_and(|tables| tables.has_rows(flags));
        // The line table follows the bytecode; where it ends it says itself. The exception table is found from the end.
        let len = if has_lines || has_rows { size - layout.const_method_bytes } else { u64::from(code_bytes) };
        let begin = address.wrapping_add(layout.const_method_bytes);
        let behind = self.peek.bytes(begin, usize::try_from(len).unwrap_or(0)).map_err(|_| Reason::Unreadable)?;
        let (code, table) = behind.split_at_checked(usize::from(code_bytes)).ok_or(Reason::Unreadable)?;
        let lines = if has_lines { Lines::new(table, layout.excluded) } else { None };
        let rows = match tables {
            Some(tables) if has_rows => tables.rows(&behind, flags, code_bytes),
            Some(_) => Some(Vec::new()),
            None => None,
        };
        Ok(ConstMethod {
            address,
            pool: at::u64(&bytes, layout.constants).ok_or(Reason::Nonsense("ConstMethod::_constants"))?,
            name: number(layout.name_index, "ConstMethod::_name_index")?,
            signature: number(layout.signature_index, "ConstMethod::_signature_index")?,
            code: code.into(),
            lines,
            rows,
        })
    }

    /// A row of a method's exception table, with the name of its class, and what its handler does.
    fn handler(&self, pool: &Pool, code: &[u8], lines: Option<&Lines>, row: Row) -> Option<Handler> {
        let Row { begin, end, handler, class } = row;
        let class = if class == 0 { None } else { Some(self.pool_class(pool, class)?.into()) };
        let line = lines.and_then(|lines| lines.line(handler.into()));
        let does = bytecode::does(code, self.layout.opcodes.as_ref()?, handler);
        Some(Handler { begin, end, class, line, does })
    }

    /// The text of a `Symbol`.
    fn symbol(&self, address: u64, field: &'static str) -> Result<String, Reason> {
        let layout = self.layout;
        if address < 4096 || !address.is_multiple_of(POINTER_BYTES) {
            return Err(Reason::Nonsense(field));
        }
        let head = usize::try_from(layout.symbol_body).unwrap_or(usize::MAX);
        let mut bytes =
            self.peek.bytes_up_to(address, head + FIRST_TEXT_BYTES, head).map_err(|_| Reason::Unreadable)?;
        let length = layout.symbol_length.read(&bytes).and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|&length| length > 0).ok_or(Reason::Nonsense(field))?.min(MAX_TEXT_BYTES);
        if bytes.len() < head + length {
            bytes = self.peek.bytes(address, head + length).map_err(|_| Reason::Unreadable)?;
        }
        let text = bytes.get(head..head + length).ok_or(Reason::Unreadable)?;
        // Texts are kept in a form of UTF-8 in which no byte is 0.
        if text.contains(&0) {
            return Err(Reason::Nonsense(field));
        }
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests;
