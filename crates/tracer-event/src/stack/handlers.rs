//! The exception handlers of a method, and which of them takes an exception that reaches one of its instructions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shared_text::{SharedText, SharedTexts};

/// What a handler does with the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It may read it.
    Reads,
    /// No way through it reads it.
    Ignores,
    /// Every way through it throws it again, from this bytecode index: `finally`, `synchronized`, `try` with resources.
    Rethrows(u16),
}

/// One row of a method's exception table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handler {
    /// The first bytecode index that it is for.
    pub begin: u16,
    /// The first one behind them.
    pub end: u16,
    /// Class of what it takes, as Java writes it; everything where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<SharedText>,
    /// Line of its first instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it does.
    pub does: Use,
}

impl Handler {
    /// Whether it is for a bytecode index.
    pub fn covers(&self, bci: u32) -> bool {
        (u32::from(self.begin)..u32::from(self.end)).contains(&bci)
    }
}

/// An exception table, in the order in which the JVM looks through it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handlers(Arc<[Handler]>);

impl From<Vec<Handler>> for Handlers {
    fn from(rows: Vec<Handler>) -> Self {
        Self(rows.into())
    }
}

impl Handlers {
    /// The handler where an exception ends that reaches a bytecode index; none where it leaves the method. `is_of` says whether the
    /// exception is of a class.
    pub fn catching(&self, bci: u32, is_of: impl Fn(&str) -> bool) -> Option<&Handler> {
        let mut at = bci;
        // Each row throws on at most once, unless it throws to itself.
        for _ in 0..=self.0.len() {
            let takes = |row: &&Handler| row.covers(at) && row.class.as_ref().is_none_or(|class| is_of(class.as_str()));
            let found = self.0.iter().find(takes)?;
            match found.does {
                Use::Rethrows(next) => at = next.into(),
                Use::Reads | Use::Ignores => return Some(found),
            }
        }
        None
    }

    /// These, where one of them is for a bytecode index, else none.
    #[must_use]
    pub fn at(&self, bci: u32) -> Self {
        if self.0.iter().any(|row| row.covers(bci)) { self.clone() } else { Self::default() }
    }

    /// The rows.
    pub fn rows(&self) -> &[Handler] {
        &self.0
    }

    /// Lets them hold their texts with others that have them too.
    pub fn share(&mut self, texts: &mut SharedTexts) {
        for class in Arc::make_mut(&mut self.0).iter_mut().filter_map(|row| row.class.as_mut()) {
            texts.share(class);
        }
    }

    /// About what they take in memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|row| size_of::<Handler>() + row.class.as_ref().map_or(0, |class| class.len())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(begin: u16, end: u16, class: Option<&str>, line: u32, does: Use) -> Handler {
        Handler { begin, end, class: class.map(Into::into), line: Some(line), does }
    }

    fn line(handlers: &Handlers, bci: u32, classes: &[&str]) -> Option<u32> {
        handlers.catching(bci, |class| classes.contains(&class))?.line
    }

    #[test]
    fn the_first_row_that_fits_takes_it() {
        let handlers = Handlers::from(vec![
            row(0, 10, Some("java.io.IOException"), 3, Use::Reads),
            row(0, 10, Some("java.lang.Exception"), 5, Use::Ignores),
            row(0, 20, None, 7, Use::Reads),
        ]);
        assert_eq!(line(&handlers, 9, &["java.lang.Exception", "java.io.IOException"]), Some(3));
        assert_eq!(line(&handlers, 9, &["java.lang.Exception"]), Some(5));
        assert_eq!(line(&handlers, 10, &["java.lang.Exception"]), Some(7));
        assert_eq!(line(&handlers, 20, &["java.lang.Exception"]), None);
    }

    /// What one clause of a `try` throws on, the clauses beside it do not take, and those of a `try` around it do.
    #[test]
    fn what_is_thrown_on_is_taken_by_what_lies_around() {
        let mut rows = vec![
            row(0, 10, Some("a.Refused"), 3, Use::Rethrows(12)),
            row(0, 10, Some("java.lang.Exception"), 5, Use::Reads),
        ];
        assert_eq!(line(&rows.clone().into(), 4, &["a.Refused", "java.lang.Exception"]), None);
        assert_eq!(line(&rows.clone().into(), 4, &["java.lang.Exception"]), Some(5));
        rows.push(row(0, 30, Some("a.Refused"), 9, Use::Ignores));
        assert_eq!(line(&rows.into(), 4, &["a.Refused", "java.lang.Exception"]), Some(9));
    }

    #[test]
    fn a_row_that_throws_to_itself_ends() {
        let handlers = Handlers::from(vec![row(0, 30, None, 3, Use::Rethrows(12))]);
        assert_eq!(line(&handlers, 4, &[]), None);
    }

    #[test]
    fn a_place_that_no_row_is_for_has_none() {
        let handlers = Handlers::from(vec![row(4, 9, None, 3, Use::Reads)]);
        assert_eq!([3, 4, 8, 9].map(|bci| handlers.at(bci).rows().len()), [0, 1, 1, 0]);
    }
}
