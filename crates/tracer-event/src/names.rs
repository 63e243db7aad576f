//! Names behind ids: a side table fed by definition records, resolved when a report is built.
//!
//! Naming never fails: an id without a text carries the reason ([`Unnamed`]).

use std::{borrow::Cow, collections::HashMap, fmt};

use tracer_common::record::{NAME_ABSENT, NAME_BAD_LENGTH, NAME_UNREADABLE};

use crate::{
    event::{NameId, Tid},
    text::class_name::java_class_name,
};

/// Why an id has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// The kernel could not read the text from the target.
    Unreadable,
    /// The target gave a length that no name can have.
    BadLength,
    /// The site does not give this name.
    Absent,
    /// The definition was lost on its way.
    DefinitionLost,
}

impl fmt::Display for Unnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "<name unreadable>",
            Self::BadLength => "<name has an impossible length>",
            Self::Absent => "<name not given>",
            Self::DefinitionLost => "<name lost>",
        })
    }
}

/// A text as the target gave it: any bytes, possibly cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    bytes: Box<[u8]>,
    cut: bool,
}

/// The side table of names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: HashMap<NameId, Text>,
    threads: HashMap<Tid, String>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a definition; the first one of an id stays.
    pub fn define(&mut self, id: NameId, bytes: &[u8], text_bytes: usize) {
        let cut = text_bytes > bytes.len();
        self.texts.entry(id).or_insert_with(|| Text { bytes: bytes.into(), cut });
    }

    /// Names a thread; the latest name wins.
    pub fn define_thread(&mut self, tid: Tid, name: String) {
        self.threads.insert(tid, name);
    }

    /// How many threads have names.
    pub fn named_threads(&self) -> usize {
        self.threads.len()
    }

    /// A thread has no name any more; tells the one that it had.
    pub fn forget_thread(&mut self, tid: Tid) -> Option<String> {
        self.threads.remove(&tid)
    }

    /// The text of an id or the reason why there is none.
    pub fn get(&self, id: NameId) -> Result<Cow<'_, str>, Unnamed> {
        if let Some(Text { bytes, cut }) = self.texts.get(&id) {
            let text = String::from_utf8_lossy(bytes);
            return Ok(if *cut { Cow::Owned(text.into_owned() + "…") } else { text });
        }
        Err(match id.0 {
            NAME_UNREADABLE => Unnamed::Unreadable,
            NAME_BAD_LENGTH => Unnamed::BadLength,
            NAME_ABSENT => Unnamed::Absent,
            _ => Unnamed::DefinitionLost,
        })
    }

    /// The text of an id, or its reason in angle brackets.
    pub fn text(&self, id: NameId) -> String {
        self.get(id).map_or_else(|reason| reason.to_string(), Cow::into_owned)
    }

    /// A class as Java writes it: dots for slashes, `byte[]` for `[B`.
    pub fn class(&self, id: NameId) -> String {
        self.get(id).map_or_else(|reason| reason.to_string(), |text| java_class_name(&text))
    }

    /// The name of a thread, where it has one.
    pub fn named_thread(&self, tid: Tid) -> Option<&str> {
        self.threads.get(&tid).map(String::as_str)
    }

    /// The name of a thread, or its number.
    pub fn thread(&self, tid: Tid) -> String {
        let without_name = || if tid == Tid::ENDED { "(ended threads)".to_owned() } else { format!("tid {}", tid.0) };
        self.threads.get(&tid).cloned().unwrap_or_else(without_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_without_text_says_why() {
        let names = Names::new();
        assert_eq!(names.text(NameId(NAME_UNREADABLE)), "<name unreadable>");
        assert_eq!(names.text(NameId(12345)), "<name lost>");
    }

    #[test]
    fn a_cut_text_is_marked() {
        let mut names = Names::new();
        names.define(NameId(20), b"abc", 5);
        assert_eq!(names.text(NameId(20)), "abc…");
    }
}
