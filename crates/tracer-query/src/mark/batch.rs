//! Batches of marks, and how their words are read.

use tracer_common::marks::{Argument as ArgumentKind, Context, MAX_TEXT_CHARS, Word, WordKind};

use crate::event::Tid;

/// Marks that were handed over at once.
#[derive(Clone, Copy, Debug)]
pub struct MarkBatch<'a> {
    /// When, by `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The thread whose marks they are, where it is known.
    pub tid: Option<Tid>,
    /// Number of its buffer.
    pub buffer: u32,
    /// Words that came out of this buffer before; where more did than were delivered, the difference was lost.
    pub first: u64,
    /// Words that came out of it now, and that the kernel kept back: no marker wants marks of this thread.
    pub kept_back: u32,
    /// Name of the thread, where it is known.
    pub thread_name: Option<&'a str>,
    /// The words, little-endian.
    pub(crate) words: &'a [u8],
}

impl<'a> MarkBatch<'a> {
    /// A batch of these words.
    pub const fn new(time_ns: u64, tid: Option<Tid>, buffer: u32, first: u64, words: &'a [u8]) -> Self {
        Self { time_ns, tid, buffer, first, kept_back: 0, thread_name: None, words }
    }

    /// The same, where the kernel kept so many words back.
    #[must_use]
    pub const fn keeping_back(self, kept_back: u32) -> Self {
        Self { kept_back, ..self }
    }

    /// The same, of a thread with this name.
    #[must_use]
    pub const fn named(self, thread_name: Option<&'a str>) -> Self {
        Self { thread_name, ..self }
    }

    /// How many words there are.
    pub const fn len(&self) -> usize {
        self.words.len() / 8
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The marks.
    pub const fn marks(&self) -> Marks<'a> {
        self.marks_from(None)
    }

    /// The same, where the batch before it out of this buffer ended with marks of that thread.
    pub const fn marks_from(&self, thread: Option<u64>) -> Marks<'a> {
        Marks { words: self.words, thread, undecodable: 0 }
    }
}

/// What was counted in a calling context since the last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InContext {
    /// What the context is.
    pub what: Context,
    /// Number of the context around it; 0: what was around all when counting began.
    pub around: u32,
    /// How often its region was entered, or how many objects its place made; of [`Context::Bytes`] those.
    pub calls: u64,
    /// How often an exception has left it.
    pub errors: u64,
}

/// What an argument of a method was.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// An integer, a truth value (0, 1) or a character.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// The beginning of a `String`.
    Text(String),
    /// `null`.
    Null,
    /// Another object: its identity hash.
    Object(u64),
}

/// What a mark tells.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A point was passed.
    Point,
    /// A region was entered.
    Enter,
    /// A region was left.
    Exit,
    /// An exception has left a region.
    Thrown,
    /// A symbol, in this state of the object.
    Symbol {
        /// The state before.
        state: u8,
    },
    /// An object has died in this state; the place is the number of the property.
    Death {
        /// The last state.
        state: u8,
        /// Number of its class.
        class: u32,
    },
    /// The object has got its number.
    Born {
        /// Number of its class.
        class: u32,
    },
    /// So many marks of this kind were counted.
    Count {
        /// Their kind.
        of: WordKind,
        /// How many.
        count: u64,
    },
    /// What was counted in a calling context, whose number in the buffer's tree is the mark's object.
    Context(InContext),
    /// An argument of the method whose mark was before.
    Argument {
        /// Its index.
        index: u8,
        /// What it was.
        value: Argument,
    },
}

/// One mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The place.
    pub place: u32,
    /// Number of the object; 0: none.
    pub object: u32,
    /// `Thread.getId()`, where it is not that of the batch's thread.
    pub thread: Option<u64>,
    /// `CLOCK_MONOTONIC`, where it was asked for.
    pub time_ns: Option<u64>,
    /// What it tells.
    pub what: What,
}

/// What nearly all marks tell: that a marker was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The place.
    pub place: u32,
    /// Number of the object; 0: none.
    pub object: u32,
    /// `CLOCK_MONOTONIC`, where it was asked for.
    pub time_ns: Option<u64>,
    /// How.
    pub way: Way,
}

/// How a marker is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is a point.
    Point,
    /// A region is entered.
    Enter,
    /// A region is left.
    Exit,
    /// An exception leaves a region.
    Thrown,
}

/// The marks of a batch, one after another.
#[derive(Clone, Debug)]
pub struct Marks<'a> {
    words: &'a [u8],
    /// Whose marks come next.
    pub thread: Option<u64>,
    /// Words that could not be read.
    pub undecodable: u64,
}

impl Marks<'_> {
    /// The next mark, if it is a pass; otherwise it is left. Those who need speed ask for these first.
    #[inline]
    pub fn next_pass(&mut self) -> Option<Pass> {
        const POINT: u8 = WordKind::Point as u8;
        const ENTER: u8 = WordKind::Enter as u8;
        const EXIT: u8 = WordKind::Exit as u8;
        const THROWN: u8 = WordKind::Thrown as u8;
        let word = self.peek()?;
        let way = match word.kind() {
            POINT => Way::Point,
            ENTER => Way::Enter,
            EXIT => Way::Exit,
            THROWN => Way::Thrown,
            _ => return None,
        };
        self.word();
        Some(Pass { place: word.place(), object: word.value(), time_ns: self.time(), way })
    }

    /// The next word, which is no pass; nothing where it is no mark by itself.
    pub fn next_rare(&mut self) -> Option<Mark> {
        let word = Word(self.word()?);
        let what = self.rare(word)?;
        let is_argument = matches!(what, What::Argument { .. });
        let (place, object) = if is_argument { (0, 0) } else { (word.place(), word.value()) };
        Some(Mark { place, object, thread: self.thread, time_ns: self.time(), what })
    }

    /// Whether all words were taken.
    pub const fn is_empty(&self) -> bool {
        self.words.len() < 8
    }

    #[inline]
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.words.split_first_chunk()?;
        self.words = rest;
        Some(u64::from_le_bytes(*word))
    }

    #[inline]
    fn peek(&self) -> Option<Word> {
        self.words.first_chunk().map(|word| Word(u64::from_le_bytes(*word)))
    }

    /// The time behind a mark, where there is one.
    #[inline]
    fn time(&mut self) -> Option<u64> {
        self.peek().filter(|word| word.kind() == WordKind::Time as u8)?;
        self.word();
        self.word()
    }

    fn argument(&mut self, word: Word) -> Option<Argument> {
        let kind = word.place();
        Some(match kind {
            _ if kind == ArgumentKind::Integer as u32 => Argument::Integer(self.word()?.cast_signed()),
            _ if kind == ArgumentKind::Float as u32 => Argument::Float(f64::from_bits(self.word()?)),
            _ if kind == ArgumentKind::Object as u32 => Argument::Object(self.word()?),
            _ if kind == ArgumentKind::Null as u32 => Argument::Null,
            _ if kind == ArgumentKind::Text as u32 => {
                let bytes = usize::try_from(word.value()).ok().filter(|bytes| *bytes <= 2 * MAX_TEXT_CHARS)?;
                let (text, rest) = self.words.split_at_checked(bytes.next_multiple_of(8))?;
                self.words = rest;
                let (units, _) = text.get(..bytes)?.as_chunks();
                let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
                Argument::Text(
                    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect(),
                )
            }
            _ => return None,
        })
    }

    /// What a word tells that is none of the usual ones; `None` where that is nothing by itself.
    #[cold]
    fn rare(&mut self, word: Word) -> Option<What> {
        if word.kind() == WordKind::Thread as u8 {
            // 0 is the thread whose buffer it is.
            self.thread = self.word().filter(|id| *id != 0);
            return None;
        }
        let what = self.what(word);
        self.undecodable += u64::from(what.is_none());
        what
    }

    /// What a word tells with those that follow it; `None` where it is unknown, or cut.
    fn what(&mut self, word: Word) -> Option<What> {
        let state = word.state();
        Some(match WordKind::from_number(word.kind())? {
            WordKind::Point => What::Point,
            WordKind::Enter => What::Enter,
            WordKind::Exit => What::Exit,
            WordKind::Thrown => What::Thrown,
            WordKind::Symbol => What::Symbol { state },
            WordKind::Death => What::Death { state, class: u32::try_from(self.word()?).ok()? },
            WordKind::Born => What::Born { class: u32::try_from(self.word()?).ok()? },
            WordKind::Count => What::Count { of: WordKind::from_number(state)?, count: self.word()? },
            WordKind::Argument => What::Argument { index: state, value: self.argument(word)? },
            WordKind::Context => What::Context(InContext {
                what: Context::from_number(state)?,
                around: u32::try_from(self.word()?).ok()?,
                calls: self.word()?,
                errors: self.word()?,
            }),
            WordKind::Time | WordKind::Thread | WordKind::Bytes => return None,
        })
    }
}

impl Iterator for Marks<'_> {
    type Item = Mark;

    fn next(&mut self) -> Option<Mark> {
        while !self.is_empty() {
            if let Some(Pass { place, object, time_ns, way }) = self.next_pass() {
                let what = match way {
                    Way::Point => What::Point,
                    Way::Enter => What::Enter,
                    Way::Exit => What::Exit,
                    Way::Thrown => What::Thrown,
                };
                return Some(Mark { place, object, thread: self.thread, time_ns, what });
            }
            if let Some(mark) = self.next_rare() {
                return Some(mark);
            }
        }
        None
    }
}
