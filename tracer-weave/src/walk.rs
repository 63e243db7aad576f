//! What the library in a JVM tells of its heap: the form of the stream, which the library writes and jtrace reads.
//!
//! Records follow each other without a head: a byte that says what comes, then numbers in LEB128. Addresses are told as differences, in
//! units of 8 bytes, because neighbours in a heap point to each other. Nothing here makes room by itself, because the library writes
//! where nothing may be allocated.

/// A loaded class: number, flags ([`CLASS_INTERFACE`], ...), number of the superclass (0: none), numbers of its interfaces behind their
/// count, signature (`Ljava/lang/String;`), fields behind their count: flags ([`FIELD_STATIC`]) and name.
pub const CLASS: u8 = 1;
/// A thread: number as Java gives it, name.
pub const THREAD: u8 = 2;
/// An object that was not told of before: difference to the address of the one before, number of its class, size in units of 8
/// bytes, length of an array plus 1.
pub const OBJECT: u8 = 3;
/// The same of an object that stands for a class; the number of that class comes last.
pub const CLASS_OBJECT: u8 = 4;
/// What follows are references of this object: difference to the one before.
pub const FROM: u8 = 5;
/// What the array or boxed number holds that was just told of: its [digest](crate::content), as eight bytes, the lowest first; then how
/// many bytes at its end are zero.
pub const CONTENT: u8 = 6;
/// The end: [`End`], as ten numbers.
pub const END: u8 = 7;
/// What arrays hold that are there more than once, where that was asked for: the digest as above, how many bytes they hold, then the
/// first of these behind their number, which is [`MAX_VALUE_BYTES`] at most.
pub const VALUE: u8 = 8;
/// In addition to a kind of reference: to an object that was told of before. Difference to the address of the object that refers, or
/// for roots to the one before; then the index, or what [`root_words`] says.
pub const TO_KNOWN: u8 = 0x20;
/// In addition to a kind of reference: to the object that was just told of. Then the index, or what [`root_words`] says.
pub const TO_LAST: u8 = 0x40;
/// The bits of a kind.
pub const KIND_MASK: u8 = 0x1f;

/// Flags of a class.
pub const CLASS_INTERFACE: u64 = 1;
/// Its fields are known.
pub const CLASS_HAS_FIELDS: u64 = 2;
/// A flag of a field.
pub const FIELD_STATIC: u64 = 1;

/// Kinds of references that JVMTI knows, by its numbers.
pub mod kind {
    /// An object refers to its class.
    pub const CLASS: u8 = 1;
    /// By a field of the object.
    pub const FIELD: u8 = 2;
    /// By an element of an array.
    pub const ELEMENT: u8 = 3;
    /// A class refers to its loader.
    pub const LOADER: u8 = 4;
    /// By a static field.
    pub const STATIC: u8 = 8;
    /// By a constant of a class.
    pub const CONSTANT: u8 = 9;
    /// A class refers to its superclass.
    pub const SUPER: u8 = 10;
    /// First of the roots: held by native code.
    pub const JNI_GLOBAL: u8 = 21;
    /// A class of the JVM itself.
    pub const SYSTEM_CLASS: u8 = 22;
    /// A monitor that threads use.
    pub const MONITOR: u8 = 23;
    /// A variable of a frame.
    pub const STACK_LOCAL: u8 = 24;
    /// A variable of native code.
    pub const JNI_LOCAL: u8 = 25;
    /// A thread that lives.
    pub const THREAD: u8 = 26;
    /// Something else of the JVM's.
    pub const OTHER: u8 = 27;
    /// Last of the kinds.
    pub const LAST: u8 = OTHER;
}

/// How many numbers follow a reference of a kind: thread, depth and method of what is on a stack, and the variable's slot; nothing for
/// other roots; else the index of the field or element.
pub const fn root_words(of: u8) -> usize {
    match of {
        kind::STACK_LOCAL => 4,
        kind::JNI_LOCAL => 3,
        kind::FIELD | kind::ELEMENT | kind::STATIC | kind::CONSTANT => 1,
        _ => 0,
    }
}

/// Why a walk has ended.
pub mod ended {
    /// The JVM has walked to the end.
    pub const DONE: u64 = 0;
    /// The copy wanted more memory than it may have.
    pub const MEMORY: u64 = 1;
    /// The copy waits for a lock that nobody in it can give back.
    pub const LOCKED: u64 = 2;
    /// The JVM passes objects in another way than was seen at first.
    pub const LAYOUT: u64 = 3;
    /// The copy could not make itself the first to be killed.
    pub const UNSAFE: u64 = 4;
    /// It took longer than it may.
    pub const LATE: u64 = 5;
}

/// What is told at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// One of [`ended`].
    pub reason: u64,
    /// Objects, without those that stand for classes.
    pub objects: u64,
    /// Objects of these that were looked into: as many where the walk is complete.
    pub visited: u64,
    /// Objects that stand for classes.
    pub class_objects: u64,
    /// References, also those of objects to their classes.
    pub references: u64,
    /// Roots.
    pub roots: u64,
    /// Objects of classes that nobody has a number for: they were loaded meanwhile.
    pub unknown_class: u64,
    /// Bytes that the copy has asked for while it walked.
    pub allocated: u64,
    /// Nanoseconds.
    pub took_ns: u64,
    /// CPU time in them.
    pub cpu_ns: u64,
}

impl End {
    /// As it is written.
    pub const fn words(&self) -> [u64; 10] {
        [
            self.reason,
            self.objects,
            self.visited,
            self.class_objects,
            self.references,
            self.roots,
            self.unknown_class,
            self.allocated,
            self.took_ns,
            self.cpu_ns,
        ]
    }

    /// From what was read.
    pub const fn of(words: [u64; 10]) -> Self {
        let [reason, objects, visited, class_objects, references, roots, unknown_class, allocated, took_ns, cpu_ns] =
            words;
        Self { reason, objects, visited, class_objects, references, roots, unknown_class, allocated, took_ns, cpu_ns }
    }
}

/// Most bytes of what an array holds that are told.
pub const MAX_VALUE_BYTES: usize = 96;
/// Most arrays of which that is told.
pub const MAX_VALUES: usize = 128;

/// Most bytes of a number.
pub const MAX_NUMBER_BYTES: usize = 10;

/// Writes a number; gives its length, 0 where there is no room.
pub fn put(to: &mut [u8], mut number: u64) -> usize {
    let mut len = 0;
    for byte in to {
        len += 1;
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            *byte = low;
            return len;
        }
        *byte = low | 0x80;
    }
    0
}

/// Reads a number: it, and its length. `None` where it is cut or too long.
pub fn get(from: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (at, byte) in from.iter().take(MAX_NUMBER_BYTES).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if at == MAX_NUMBER_BYTES - 1 && bits > 1 {
            return None;
        }
        number |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

/// A difference, small where it is near to nothing on either side.
pub const fn fold(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// Undoes [`fold`].
pub const fn unfold(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_differences_come_back() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1_u64 << shift) - 1, !(1_u64 << shift), u64::MAX] {
                let mut room = [0; MAX_NUMBER_BYTES];
                let len = put(&mut room, number);
                assert_eq!(get(&room[..len]), Some((number, len)));
                assert_eq!(fold(unfold(number)), number);
                assert_eq!(get(&room[..len - 1]), None);
            }
        }
        assert_eq!(get(&[0xff; 10]), None);
        assert_eq!(put(&mut [0], 128), 0);
    }
}
