//! What woven code tells: words in a buffer of its thread, which one hit hands over to the kernel many at a time.
//!
//! A word is `kind` (4 bits), `state` (8 bits), `place` (20 bits) and `value` (32 bits), from the lowest bit up. Some kinds are
//! followed by raw words. Java code writes them, so the layout is spelled here for all sides.

use crate::record::HEADER_BYTES;

/// What follows the header of a [`crate::record::EventKind::Marks`], before the words: the words of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MarksHeader {
    /// Number of the buffer; a thread has one until it ends.
    pub buffer: u32,
    /// Bits of [`hand`].
    pub hand: u32,
    /// Words that came out of this buffer before, also those that were lost.
    pub first: u64,
    /// Words that follow.
    pub words: u32,
    /// Words that would follow, had the kernel not kept them back: nobody wants marks of this thread.
    pub kept_back: u32,
}

/// Bits of [`MarksHeader::hand`]: who hands over what.
pub mod hand {
    /// The thread of the record is the one whose buffer it is, and not one that looks after idle buffers.
    pub const OWNER: u32 = 1;
    /// The thread has carried virtual threads, whose marks may be among these.
    pub const CARRIER: u32 = 2;
}

/// Bytes of a batch's two headers.
pub const MARKS_HEADER_BYTES: usize = HEADER_BYTES + size_of::<MarksHeader>();
/// Most words in a batch.
pub const MAX_MARKS_WORDS: usize = 4096;
/// Bytes of words in the sizes of batches.
pub const MARKS_BYTES: [usize; 3] = [256, 4096, 8 * MAX_MARKS_WORDS];

/// Number of the first place; 0 is none.
pub const FIRST_PLACE: u32 = 1;
/// Most places: as many as the field has room for.
pub const MAX_PLACES: u32 = 1 << 20;

/// What a word says. Numbers are part of the recording format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WordKind {
    /// A point was passed; the value is the receiver's number, or 0.
    Point = 1,
    /// A region was entered; value as above.
    Enter = 2,
    /// A region was left; value as above.
    Exit = 3,
    /// An exception has left a region; value as above.
    Thrown = 4,
    /// A symbol; the value is the object's number, the state the one in which it was.
    Symbol = 5,
    /// An object has died; the place is the number of the property, the value the object's number, the state its last one. A raw word
    /// follows: the number of its class. Of properties, only deaths in states in which an object must not die are told.
    Death = 6,
    /// An object has got its number, which is the value. A raw word follows: the number of its class, which is an object, too.
    Born = 7,
    /// Marks that were counted and not sent: the place, what they were (a number of this enumeration) as the state. A raw word follows:
    /// how many, since the last such word of this place and buffer. At the place of a symbol they are symbols: of objects that are not
    /// tracked (`Enter`), legal ones that changed their object's state (`Exit`), and those that left it (`Symbol`).
    Count = 8,
    /// A raw word follows: `CLOCK_MONOTONIC` in nanoseconds at which the mark before was made.
    Time = 9,
    /// A raw word follows: what follows from here on belongs to the thread with this `Thread.getId()`.
    Thread = 10,
    /// An argument of the method whose mark is before: its index as the state, an [`Argument`] as the place, bytes of text as the value.
    /// The text follows in raw words, or one with the number.
    Argument = 11,
    /// No word of its own: what a `Count` counts at a place of an allocation, besides objects (`Enter`): bytes of its arrays, as they
    /// are laid out.
    Bytes = 12,
    /// What was counted in a calling context since the last such word of it: the place of its innermost region, and its number in the
    /// tree of this buffer as the value; the state is a [`Context`]. Three raw words follow: the number of the context around it, how
    /// often it was entered, and how often an exception has left it. Around the outermost ones is 0, and what was never told after a
    /// pause: what is around them is not known then.
    Context = 13,
}

/// What a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Context {
    /// A region of the place, within what is around it.
    Region = 0,
    /// What is around everything after a region of the place has ended that was under way when counting began.
    Left = 1,
    /// Bytes of the arrays that the place made in its context, instead of how often that was entered.
    Bytes = 2,
}

impl Context {
    /// The one with this number.
    #[inline]
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Region, Self::Left, Self::Bytes].into_iter().find(|what| *what as u8 == number)
    }
}

impl WordKind {
    /// All, in the order of their numbers.
    pub const ALL: &'static [Self] = &[
        Self::Point,
        Self::Enter,
        Self::Exit,
        Self::Thrown,
        Self::Symbol,
        Self::Death,
        Self::Born,
        Self::Count,
        Self::Time,
        Self::Thread,
        Self::Argument,
        Self::Bytes,
        Self::Context,
    ];

    /// The kind with this number.
    #[inline]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| *kind as u8 == number)
    }
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Argument {
    /// An integer, a truth value or a character: 64 bits.
    Integer = 1,
    /// A floating-point number: its 64 bits.
    Float = 2,
    /// The beginning of a `String`: two bytes a character (UTF-16, little-endian).
    Text = 3,
    /// `null`; nothing follows.
    Null = 4,
    /// Another object; a raw word follows: its identity hash.
    Object = 5,
}

/// Most characters of a `String` that are told.
pub const MAX_TEXT_CHARS: usize = 64;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    /// A word of these parts; what does not fit is cut.
    #[inline]
    pub const fn new(kind: WordKind, state: u8, place: u32, value: u32) -> Self {
        Self(kind as u64 | (state as u64) << 4 | ((place & (MAX_PLACES - 1)) as u64) << 12 | (value as u64) << 32)
    }

    /// Number of the kind.
    #[inline]
    pub const fn kind(self) -> u8 {
        (self.0 & 0xf) as u8
    }

    /// The state.
    #[inline]
    pub const fn state(self) -> u8 {
        (self.0 >> 4 & 0xff) as u8
    }

    /// The place.
    #[inline]
    pub const fn place(self) -> u32 {
        (self.0 >> 12 & 0xffff_ffff) as u32 & (MAX_PLACES - 1)
    }

    /// The value.
    #[inline]
    pub const fn value(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Bits of the switch of a place: the byte that woven code tests.
pub mod switch {
    /// The place tells, or counts, or takes transitions.
    pub const ON: u8 = 1;
    /// Its marks are counted by thread and not sent.
    pub const COUNT: u8 = 2;
    /// Its marks have their time.
    pub const TIME: u8 = 4;
    /// Legal symbols of an object that is known are counted and not sent.
    pub const ADAPTIVE: u8 = 8;
    /// What is counted is counted by what is around it.
    pub const CONTEXTS: u8 = 16;
    /// Objects are counted by what is around them: by the regions of places that have the bit above.
    pub const MADE_IN: u8 = 32;
}

const _: () = assert!(size_of::<MarksHeader>() == 24 && MARKS_HEADER_BYTES.is_multiple_of(8));
