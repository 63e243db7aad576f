//! What arrays of numbers and boxed numbers hold: two numbers for each, so that jtrace can tell which are equal and which are empty.
//!
//! Objects lie where their addresses say, and nothing changes there: this is for the copy alone. Contents do not leave the JVM, but for the
//! first bytes of some arrays, where the user has asked for them (`values`).
#![expect(unsafe_code, reason = "objects by their addresses")]

use std::slice;

use jvmti_bindings::sys::jni::{jint, jlong};
use tracer_weave::content::{self, Content};

use crate::jvm::ArrayLayout;

/// Bytes before all else in an object, which differ between equal ones: locks, hashes, ages.
const MARK_BYTES: usize = 8;
/// Classes whose objects are looked at: eight of arrays and eight of boxed numbers, each loaded once.
const MOST_CLASSES: usize = 16;

/// Classes of boxed numbers.
const BOXES: [&str; 8] = [
    "Ljava/lang/Boolean;",
    "Ljava/lang/Byte;",
    "Ljava/lang/Character;",
    "Ljava/lang/Short;",
    "Ljava/lang/Integer;",
    "Ljava/lang/Float;",
    "Ljava/lang/Long;",
    "Ljava/lang/Double;",
];

/// What objects of a class hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// Elements of so many bytes.
    Elements(usize),
    /// One number.
    Number,
}

/// What objects hold whose class has this signature.
pub(super) fn held_by(signature: &str) -> Option<Held> {
    Some(match signature {
        "[Z" | "[B" => Held::Elements(1),
        "[C" | "[S" => Held::Elements(2),
        "[I" | "[F" => Held::Elements(4),
        "[J" | "[D" => Held::Elements(8),
        boxed if BOXES.contains(&boxed) => Held::Number,
        _ => return None,
    })
}

/// What one object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The same for equal contents.
    pub(super) digest: u64,
    /// Bytes at the end that are zero.
    pub(super) zeros: u64,
    /// Where the bytes of a text can lie, and how many they are.
    pub(super) text: Option<(usize, usize)>,
}

/// Looks at what objects hold.
pub(super) struct Contents {
    /// Others each time.
    keys: [u64; 2],
    /// By the tags of classes.
    held: Vec<(jlong, Held)>,
    /// Bytes before the elements of arrays.
    elements_at: usize,
}

impl Contents {
    pub(super) fn new(layout: ArrayLayout, mut held: Vec<(jlong, Held)>) -> Self {
        held.truncate(MOST_CLASSES);
        Self { keys: content::keys(), held, elements_at: usize::try_from(layout.elements_at).unwrap_or(usize::MAX) }
    }

    /// What an object holds; nothing of objects that hold something else.
    ///
    /// # Safety
    ///
    /// An object of that class, size and length lies at the address, and nobody changes it.
    pub(super) unsafe fn of(&self, object: usize, class: jlong, size: jlong, length: jint) -> Option<Known> {
        let (_, held) = self.held.iter().find(|(of, _)| *of == class)?;
        let size = usize::try_from(size).ok()?;
        let (first, bytes) = match held {
            Held::Elements(width) => {
                let first = self.elements_at.next_multiple_of(*width);
                (first, usize::try_from(length).ok()?.checked_mul(*width)?)
            }
            Held::Number => (MARK_BYTES, size.checked_sub(MARK_BYTES)?),
        };
        if first.checked_add(bytes)? > size {
            return None;
        }
        // SAFETY: these bytes are within the object.
        let bytes_of = unsafe { slice::from_raw_parts(std::ptr::with_exposed_provenance(object + first), bytes) };
        let mut content = Content::new(self.keys, class.cast_unsigned());
        content.add(bytes_of);
        let text = matches!(held, Held::Elements(1 | 2)).then_some((object + first, bytes));
        Some(Known { digest: content.digest(), zeros: content.zeros(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: ArrayLayout = ArrayLayout { alignment: 8, elements_at: 20, reference: 4 };

    /// An array with its length and elements behind 20 bytes, then what was there before.
    fn array(mark: u8, elements: &[u8], rest: u8) -> Vec<u8> {
        let mut object = vec![mark; 20];
        object.extend_from_slice(elements);
        object.resize(object.len().next_multiple_of(8), rest);
        object
    }

    fn look(contents: &Contents, class: jlong, object: &[u8], length: jint) -> Option<(u64, u64)> {
        let size = jlong::try_from(object.len()).expect("short");
        // SAFETY: the bytes are there.
        let known = unsafe { contents.of(object.as_ptr().expose_provenance(), class, size, length) };
        known.map(|known| (known.digest, known.zeros))
    }

    #[test]
    fn equal_elements_are_equal_whatever_lies_around_them() {
        let contents = Contents::new(LAYOUT, vec![(4, Held::Elements(1)), (5, Held::Elements(8)), (6, Held::Number)]);
        let one = look(&contents, 4, &array(1, &[7, 8, 0], 9), 3).expect("bytes");
        assert_eq!(look(&contents, 4, &array(2, &[7, 8, 0], 3), 3), Some(one));
        assert_eq!(one.1, 1);
        assert_ne!(look(&contents, 4, &array(1, &[7, 8, 1], 9), 3).map(|(digest, _)| digest), Some(one.0));
        // Elements of eight bytes begin at a multiple of eight.
        let mut longs = array(1, &[0; 12], 0);
        longs[20..24].fill(0xff);
        longs[24..32].fill(3);
        let aligned = look(&contents, 5, &longs, 1).expect("a long");
        longs[20..24].fill(0);
        assert_eq!(look(&contents, 5, &longs, 1), Some(aligned));
        let boxed = |mark: u8, number: u8| look(&contents, 6, &[[mark; 8], [number; 8]].concat(), -1);
        assert_eq!(boxed(1, 4), boxed(2, 4));
        assert_ne!(boxed(1, 4), boxed(1, 5));
    }

    #[test]
    fn what_does_not_lie_within_the_object_is_not_looked_at() {
        let contents = Contents::new(LAYOUT, vec![(4, Held::Elements(1)), (5, Held::Elements(8)), (6, Held::Number)]);
        let object = array(1, &[7, 8, 9], 0);
        assert_eq!(look(&contents, 4, &object, 5), None);
        assert_eq!(look(&contents, 4, &object, -1), None);
        assert_eq!(look(&contents, 5, &object, jint::MAX), None);
        assert_eq!(look(&contents, 6, &object[..7], -1), None);
        assert_eq!(look(&contents, 7, &object, 3), None);
        // All arrays without elements hold the same.
        assert_eq!(look(&contents, 4, &object, 0), look(&contents, 4, &array(2, &[], 0), 0));
    }
}
