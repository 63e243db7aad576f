//! Constants that woven code needs, appended to those that the class has.

use std::collections::HashMap;

use super::RECORDER;

/// The class has no room for more constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// What is known of a constant that was appended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Class(u16),
    NameAndType(u16, u16),
    Method(u16, u16),
    Integer(i32),
}

/// Constants to append.
pub(crate) struct Additions {
    next: u16,
    bytes: Vec<u8>,
    known: HashMap<Key, u16>,
}

impl Additions {
    /// None yet; the class file says this number of constants, plus one.
    pub(crate) fn new(pool_count: u16) -> Self {
        Self { next: pool_count, bytes: Vec::new(), known: HashMap::new() }
    }

    /// How many constants there are now, plus one.
    pub(crate) const fn count(&self) -> u16 {
        self.next
    }

    /// What is to be appended.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &str) -> Result<u16, Full> {
        let length = u16::try_from(text.len()).map_err(|_| Full)?;
        self.constant(Key::Text(text.to_owned()), |bytes| {
            bytes.push(1);
            bytes.extend(length.to_be_bytes());
            bytes.extend(text.as_bytes());
        })
    }

    /// A class.
    pub(crate) fn class(&mut self, name: &str) -> Result<u16, Full> {
        let name = self.text(name)?;
        self.constant(Key::Class(name), |bytes| {
            bytes.push(7);
            bytes.extend(name.to_be_bytes());
        })
    }

    /// A static method of the recorder.
    pub(crate) fn recorder(&mut self, method: &str, descriptor: &str) -> Result<u16, Full> {
        let class = self.class(RECORDER)?;
        let (name, descriptor) = (self.text(method)?, self.text(descriptor)?);
        let name_and_type = self.constant(Key::NameAndType(name, descriptor), |bytes| {
            bytes.push(12);
            bytes.extend(name.to_be_bytes());
            bytes.extend(descriptor.to_be_bytes());
        })?;
        self.constant(Key::Method(class, name_and_type), |bytes| {
            bytes.push(10);
            bytes.extend(class.to_be_bytes());
            bytes.extend(name_and_type.to_be_bytes());
        })
    }

    /// A number.
    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, Full> {
        self.constant(Key::Integer(value), |bytes| {
            bytes.push(3);
            bytes.extend(value.to_be_bytes());
        })
    }

    fn constant(&mut self, key: Key, write: impl FnOnce(&mut Vec<u8>)) -> Result<u16, Full> {
        if let Some(index) = self.known.get(&key) {
            return Ok(*index);
        }
        let index = self.next;
        self.next = index.checked_add(1).ok_or(Full)?;
        write(&mut self.bytes);
        self.known.insert(key, index);
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_appended_once() {
        let mut pool = Additions::new(10);
        assert_eq!(pool.integer(70_000), Ok(10));
        assert_eq!(pool.integer(70_000), Ok(10));
        assert_eq!(pool.count(), 11);
        assert_eq!(pool.bytes(), [3, 0, 1, 0x11, 0x70]);
    }

    #[test]
    fn a_full_pool_takes_no_more() {
        let mut pool = Additions::new(u16::MAX - 1);
        assert_eq!(pool.integer(1), Ok(u16::MAX - 1));
        assert_eq!(pool.integer(2), Err(Full));
    }
}
