//! The object that a monitor belongs to, and the name of its class.

use tracer_common::record::MAX_TEXT_BYTES;

use super::{JavaThreads, layout::ClassPointer};
use crate::jvm::{objects::address_in, peek::Peek};

impl<P: Peek> JavaThreads<P> {
    /// Address of the object of a monitor.
    pub fn object(&self, monitor: u64) -> Option<u64> {
        let object = self.peek.u64(monitor.wrapping_add(self.layout.object)).ok()?;
        let object = if self.layout.object_is_handle { self.peek.u64(object).ok()? } else { object };
        Some(address_in(object)).filter(|object| *object != 0)
    }

    /// Name of the class of the object of a monitor, with slashes.
    pub fn class_of(&self, monitor: u64) -> Option<Vec<u8>> {
        let object = self.object(monitor)?;
        self.class_named(self.peek.u64(object.wrapping_add(self.layout.object_class()?)).ok()?)
    }

    /// Name of the class that an object's header names by this word, with slashes.
    pub fn class_named(&self, word: u64) -> Option<Vec<u8>> {
        let class = match self.layout.class {
            ClassPointer::Wide { .. } => word,
            ClassPointer::Narrow { low_bit, base, shift, .. } => {
                base.wrapping_add((word >> low_bit & u64::from(u32::MAX)) << shift)
            }
            ClassPointer::Unknown => return None,
        };
        let symbol = self.peek.u64(class.wrapping_add(self.layout.class_name)).ok()?;
        let mut length = [0; 2];
        self.peek.peek(symbol.wrapping_add(self.layout.symbol_length), &mut length).ok()?;
        let length = usize::from(u16::from_ne_bytes(length));
        if length == 0 || length > MAX_TEXT_BYTES {
            return None;
        }
        self.peek.bytes(symbol.wrapping_add(self.layout.symbol_body), length).ok()
    }
}
