//! A report from its JSON form, which another jtrace, or anybody, may have written.
//!
//! What reads as a report can be drawn by every view: rows are as long as there are columns, numbers of frames and threads
//! lead to some.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use thiserror::Error;

use super::{Number, Profile, Report, SCHEMA, Shape, Summary, Table, Timeline, Word};

/// Longest document.
pub const MAX_DOCUMENT_BYTES: u64 = 1 << 30;
/// Longest word: headings of columns are the longest ones.
const MAX_WORD_BYTES: usize = 256;
/// Most different words in the life of a process: jtrace itself has some hundreds, and fuzzers make up many.
const MAX_WORDS: usize = 1 << 20;

/// Why a document is no report.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No JSON, or not with what a report has.
    #[error(transparent)]
    Json(serde_json::Error),
    /// The document ends before it is whole.
    #[error("it ends in line {line}, before it is whole")]
    Torn {
        /// Its last line.
        line: usize,
    },
    /// Parts that do not belong together.
    #[error("`{shape}` in `{section}` {problem}")]
    Inconsistent {
        /// Id of the section.
        section: Word,
        /// Id of the shape.
        shape: Word,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Report {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// It is none, or one that no jtrace writes.
    pub fn read(json: &[u8]) -> Result<Self, ReadError> {
        // Its limit of 128 levels is more than a report has (`docs/output-formats.md`).
        let report: Self = serde_json::from_slice(json).map_err(|error| {
            let torn = error.is_eof().then(|| ReadError::Torn { line: error.line() });
            torn.unwrap_or(ReadError::Json(error))
        })?;
        for section in &report.sections {
            for shape in &section.shapes {
                if let Some(problem) = problem(shape) {
                    return Err(ReadError::Inconsistent { section: section.id, shape: shape.id(), problem });
                }
            }
        }
        Ok(report)
    }
}

/// What views rely on and this shape does not have.
fn problem(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Table(Table { columns, rows, .. }) => rows
            .iter()
            .any(|row| row.len() != columns.len())
            .then_some("has a row with more or fewer cells than columns"),
        Shape::Timeline(Timeline { step_ns, series, .. }) => {
            let steps = series.first().map_or(0, |series| series.values.len());
            (*step_ns == 0 || series.iter().any(|series| series.values.len() != steps))
                .then_some("has series of different lengths, or steps without a width")
        }
        Shape::Profile(profile) => {
            leads_nowhere(profile).then_some("has a stack of frames or threads that are not there")
        }
        Shape::Tree(_) | Shape::Histogram(_) => None,
    }
}

fn leads_nowhere(profile: &Profile) -> bool {
    let is_there = |index: u32, of: usize| usize::try_from(index).is_ok_and(|index| index < of);
    profile.stacks.iter().any(|stack| {
        stack.frames.iter().any(|frame| !is_there(*frame, profile.frames.len()))
            || stack.thread.is_some_and(|thread| !is_there(thread, profile.threads.len()))
    })
}

/// Words that were read, each once.
static WORDS: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());

fn kept(text: &str) -> Result<Word, &'static str> {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(word) = words.get(text) {
        return Ok(word);
    }
    if text.len() > MAX_WORD_BYTES {
        return Err("an id or a heading is longer than any that jtrace writes");
    }
    if words.len() >= MAX_WORDS {
        return Err("there are more ids and headings than jtrace writes");
    }
    let word = Box::leak(text.to_owned().into_boxed_str());
    words.insert(word);
    Ok(word)
}

pub(super) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    kept(&String::deserialize(from)?).map_err(D::Error::custom)
}

pub(super) fn schema<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    let said = String::deserialize(from)?;
    if said == SCHEMA {
        Ok(SCHEMA)
    } else {
        Err(D::Error::custom(format!("its form is {said:?}, and this jtrace reads {SCHEMA:?}")))
    }
}

/// A number that is none is `null`.
pub(super) fn float<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

pub(super) fn floats<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let values: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

impl<'de> Deserialize<'de> for Summary {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Figures;
        impl<'de> Visitor<'de> for Figures {
            type Value = Summary;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("keys and numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Summary, A::Error> {
                let mut figures = Vec::new();
                while let Some((key, number)) = map.next_entry::<String, Option<Number>>()? {
                    figures.push((kept(&key).map_err(A::Error::custom)?, number.unwrap_or(Number::Float(f64::NAN))));
                }
                Ok(Summary(figures))
            }
        }
        from.deserialize_map(Figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_once_and_bounded() {
        assert!(std::ptr::eq(kept("a word of this test").unwrap(), kept("a word of this test").unwrap()));
        assert!(kept(&"w".repeat(MAX_WORD_BYTES + 1)).is_err());
    }
}
