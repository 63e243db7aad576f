//! The constant pool of a method's class: texts, the class that it belongs to, and classes that it names.

use super::{
    POINTER_BYTES, Reader, Reason, class_of,
    layout::{PoolClass, SourceFile},
};
use crate::{
    jvm::peek::{Peek, at},
    text::class_name,
};

/// Largest constant pool; class files have 16 bits for an index.
const MAX_POOL_LENGTH: u32 = 65_536;

/// What is read of a `ConstantPool`.
pub(super) struct Pool {
    pub(super) address: u64,
    length: u32,
    tags: u64,
    pub(super) holder: u64,
    /// Index of the source file's name, where the pool has it.
    file: Option<u16>,
}

impl<P: Peek> Reader<'_, P> {
    /// The name of a class of the pool, as Java writes it, whether the JVM has looked it up or not.
    pub(super) fn pool_class(&self, pool: &Pool, index: u16) -> Option<String> {
        if u32::from(index) >= pool.length {
            return None;
        }
        let tag = self.pool_tag(pool, index).ok()?;
        self.layout.tables.as_ref().filter(|tables| tables.is_class(tag))?;
        let (entry, field) = (self.pool_entry(pool, index), "ConstMethod::exception_table");
        let name = match self.layout.pool_class {
            // Above the index of the class that was looked up.
            PoolClass::Index => {
                let name = u16::try_from(self.peek.u32(entry).ok()? >> 16).ok()?;
                self.pool_text(pool, name, field).ok()?
            }
            PoolClass::Pointer => match self.peek.u64(entry).ok()? {
                class if class.is_multiple_of(2) => return class_of(self.peek, self.layout, class).ok(),
                name => self.symbol(name - 1, field).ok()?,
            },
        };
        Some(class_name::class(&name))
    }

    pub(super) fn pool(&self, address: u64) -> Result<Pool, Reason> {
        let layout = self.layout;
        let pool = self.structure(address, layout.pool_bytes, "ConstMethod::_constants")?;
        let length = at::u32(&pool, layout.pool_length).filter(|&length| length <= MAX_POOL_LENGTH);
        let pointer = |offset, field| at::u64(&pool, offset).ok_or(Reason::Nonsense(field));
        Ok(Pool {
            address,
            length: length.ok_or(Reason::Nonsense("ConstantPool::_length"))?,
            tags: pointer(layout.pool_tags, "ConstantPool::_tags")?,
            holder: pointer(layout.pool_holder, "ConstantPool::_pool_holder")?,
            file: match layout.source_file {
                SourceFile::Pool(offset) => at::u16(&pool, offset),
                SourceFile::Class(_) => None,
            },
        })
    }

    /// Name and source file of the class that a pool belongs to.
    ///
    /// A class and its pool point to each other; of a redefined class, the old pool and a class made to keep it do. Only
    /// the methods behind method handles have pools of their own, which are not the class's.
    pub(super) fn class(&self, pool: &Pool) -> Result<(String, Option<String>), Reason> {
        let layout = self.layout;
        let class = self.structure(pool.holder, layout.class_bytes, "ConstantPool::_pool_holder")?;
        let own = at::u64(&class, layout.class_constants).ok_or(Reason::Nonsense("InstanceKlass::_constants"))?;
        let name = self.symbol(at::u64(&class, layout.class_name).unwrap_or(0), "Klass::_name")?;
        let other = if own == pool.address { None } else { Some(self.pool(own)?) };
        if other.as_ref().is_some_and(|other| other.holder != pool.holder) {
            return Err(Reason::Nonsense("InstanceKlass::_constants"));
        }
        let own = other.as_ref().unwrap_or(pool);
        let index = match layout.source_file {
            SourceFile::Pool(_) => own.file,
            SourceFile::Class(offset) => at::u16(&class, offset),
        };
        let file = match index.unwrap_or(0) {
            0 => None,
            index => Some(self.pool_text(own, index, "ConstantPool::_source_file_name_index")?),
        };
        Ok((name, file))
    }

    /// A text of the pool.
    pub(super) fn pool_text(&self, pool: &Pool, index: u16, field: &'static str) -> Result<String, Reason> {
        if u32::from(index) >= pool.length || self.pool_tag(pool, index)? != self.layout.tag_text {
            return Err(Reason::Nonsense(field));
        }
        let symbol = self.peek.u64(self.pool_entry(pool, index)).map_err(|_| Reason::Unreadable)?;
        self.symbol(symbol, field)
    }

    /// What an entry of the pool is.
    pub(super) fn pool_tag(&self, pool: &Pool, index: u16) -> Result<u8, Reason> {
        let address = pool.tags.wrapping_add(self.layout.tags_data + u64::from(index));
        self.peek.u8(address).map_err(|_| Reason::Unreadable)
    }

    /// Where an entry of the pool is.
    pub(super) const fn pool_entry(&self, pool: &Pool, index: u16) -> u64 {
        pool.address.wrapping_add(self.layout.pool_bytes + index as u64 * POINTER_BYTES)
    }
}
