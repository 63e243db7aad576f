//! Reads objects of a running JVM. They can be moved meanwhile, so each must be of the class that it should be, and lengths are
//! bounded.

use std::{cell::RefCell, collections::HashMap};

use tracer_common::tally::ObjectLayout;

use super::places::{Places, References};
use crate::jvm::{
    metadata::{MetadataLayout, class_of},
    objects::address_in,
    peek::Peek,
};

/// Longest name that is read, in bytes.
pub(super) const MAX_NAME_BYTES: u32 = 2048;

/// Names of classes, and the classes that they extend, by `Klass*`: read once for all objects of a look at the JVM.
#[derive(Debug, Default)]
pub(super) struct Classes(RefCell<HashMap<u64, (String, u64)>>);

impl Classes {
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    /// With these, which extend nothing.
    #[cfg(test)]
    pub(super) fn with(known: &[(u64, &str)]) -> Self {
        Self(RefCell::new(known.iter().map(|(klass, name)| (*klass, ((*name).to_owned(), 0))).collect()))
    }
}

pub(super) struct Reader<'a, P> {
    pub(super) memory: &'a P,
    pub(super) metadata: &'a MetadataLayout,
    pub(super) places: &'a Places,
    pub(super) classes: &'a Classes,
}

impl<'a, P> Reader<'a, P> {
    /// The same, which reads another memory: pages that hold what lies near.
    pub(super) const fn near<'b, Q>(&self, memory: &'b Q) -> Reader<'b, Q>
    where
        'a: 'b,
    {
        let Self { metadata, places, classes, .. } = *self;
        Reader { memory, metadata, places, classes }
    }
}

impl<P: Peek> Reader<'_, P> {
    pub(super) fn thread_object(&self, thread: u64) -> Option<u64> {
        let object = self.memory.u64(thread.wrapping_add(self.places.thread_object)).ok()?;
        if self.places.is_handle { self.wide(object) } else { Some(object).filter(|object| *object != 0) }
    }

    /// The object that a reference of full width leads to.
    pub(super) fn wide(&self, at: u64) -> Option<u64> {
        Some(address_in(self.memory.u64(at).ok()?)).filter(|object| *object != 0)
    }

    /// The object that a reference in an object leads to.
    pub(super) fn reference(&self, at: u64) -> Option<u64> {
        match self.places.references {
            References::Wide => self.wide(at),
            References::Narrow { base, shift } => {
                let narrow = self.memory.u32(at).ok().filter(|narrow| *narrow != 0)?;
                Some(base.wrapping_add(u64::from(narrow) << shift))
            }
        }
    }

    /// Elements of an array.
    pub(super) fn length(&self, array: u64) -> Option<u32> {
        self.memory.u32(array.wrapping_add(u64::from(self.places.objects.length))).ok()
    }

    /// The object that an element of an array of references leads to.
    pub(super) fn element(&self, array: u64, index: u32) -> Option<u64> {
        self.reference(self.place_of_element(array, index))
    }

    /// Whether there is memory where an element would lie.
    pub(super) fn has_element(&self, array: u64, index: u32) -> bool {
        self.memory.u32(self.place_of_element(array, index)).is_ok()
    }

    fn place_of_element(&self, array: u64, index: u32) -> u64 {
        let bytes = match self.places.references {
            References::Wide => 8,
            References::Narrow { .. } => 4,
        };
        let first = (u64::from(self.places.objects.length) + 4).next_multiple_of(bytes);
        array.wrapping_add(first).wrapping_add(u64::from(index) * bytes)
    }

    /// What has the fields that only threads of the platform have: an object of its own, or the thread object. Absent for virtual
    /// threads.
    pub(super) fn platform(&self, thread: u64) -> Option<u64> {
        match self.places.holder {
            Some(holder) => self.reference(thread.wrapping_add(holder)),
            None => Some(thread),
        }
    }

    pub(super) fn is_daemon(&self, thread: u64) -> Option<bool> {
        let at = self.platform(thread)?.wrapping_add(self.places.daemon);
        self.memory.u8(at).ok().filter(|byte| *byte <= 1).map(|byte| byte == 1)
    }

    pub(super) fn name(&self, thread: u64) -> Option<String> {
        self.string(self.reference(thread.wrapping_add(self.places.name))?)
    }

    /// The text of a string.
    pub(super) fn string(&self, string: u64) -> Option<String> {
        self.check(string, "java.lang.String")?;
        let value = self.reference(string.wrapping_add(self.places.value))?;
        let length = || self.length(value);
        let elements =
            |bytes| self.memory.bytes(value.wrapping_add(self.places.bytes), usize::try_from(bytes).ok()?).ok();
        let Some(coder) = self.places.coder else {
            self.check(value, "char[]")?;
            return Some(utf16(&elements(length()?.min(MAX_NAME_BYTES / 2) * 2)?));
        };
        self.check(value, "byte[]")?;
        let bytes = elements(length()?.min(MAX_NAME_BYTES))?;
        match self.memory.u8(string.wrapping_add(coder)).ok()? {
            0 => Some(bytes.into_iter().map(char::from).collect()),
            1 => Some(utf16(&bytes)),
            _ => None,
        }
    }

    /// Whether an object is of this class.
    fn check(&self, object: u64, class: &str) -> Option<()> {
        self.class(self.klass(object)?).filter(|(name, _)| name == class).map(drop)
    }

    /// Names of an object's class and of those that it extends, up to so many.
    pub(super) fn classes(&self, object: u64, most: usize) -> Vec<String> {
        let next = |(_, parent): &(String, u64)| {
            Some(*parent).filter(|parent| *parent != 0).and_then(|parent| self.class(parent))
        };
        let classes = std::iter::successors(self.klass(object).and_then(|klass| self.class(klass)), next);
        classes.take(most).map(|(name, _)| name).collect()
    }

    /// Name of a class, as Java writes it, and the `Klass*` of the one that it extends.
    pub(super) fn class(&self, klass: u64) -> Option<(String, u64)> {
        if let Some(known) = self.classes.0.borrow().get(&klass) {
            return Some(known.clone());
        }
        let parent = self.memory.u64(klass.wrapping_add(self.places.super_class)).ok()?;
        let class = (class_of(self.memory, self.metadata, klass).ok()?, parent);
        self.classes.0.borrow_mut().insert(klass, class.clone());
        Some(class)
    }

    pub(super) fn klass(&self, object: u64) -> Option<u64> {
        let ObjectLayout { klass_base, klass_shift, klass_low_bit, klass_offset, klass_bytes, .. } =
            self.places.objects;
        let at = object.wrapping_add(u64::from(klass_offset));
        let klass = if klass_low_bit > 0 {
            self.memory.u64(at).ok()? >> klass_low_bit
        } else if klass_bytes == 4 {
            u64::from(self.memory.u32(at).ok()?)
        } else {
            self.memory.u64(at).ok()?
        };
        Some(if klass_bytes == 4 { klass_base.wrapping_add(klass << klass_shift) } else { klass })
    }
}

fn utf16(bytes: &[u8]) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    String::from_utf16_lossy(&units)
}
