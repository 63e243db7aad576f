//! Which events are wanted: one language for all lenses.
//!
//! A text is read once, with its types checked ([`Predicate::parse`]); `-I` and `-X` add patterns of names. What it says of an event
//! is [`tree::Expr::eval`]; for the kernel it is [`split::split`] into a graph over masks of names and numbers
//! ([`tracer_common::filter`]) and what is left for user space. `docs/predicates.md` is for users.
//!
//! Nothing here attaches or reads a target.

pub mod error;
pub mod eval;
pub mod event;
pub mod field;
mod glob;
mod literal;
mod parse;
mod token;
pub mod tree;

pub use error::Error;
pub use eval::{Counters, Known, Outlook};
pub use event::{Event, Subject, Thread};
pub use field::{Field, Kind};
pub use parse::{MAX_CONDITIONS, MAX_NESTING, MAX_SAMPLE, MAX_TEXT};

use tree::Expr;

/// Which events of a kind are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Of which kind.
    pub kind: Kind,
    /// What is asked of them; nothing where all are wanted.
    pub expr: Option<Expr>,
}

impl Predicate {
    /// Reads a predicate for events of a kind.
    pub fn parse(text: &str, kind: Kind) -> Result<Self, Error> {
        Ok(Self { kind, expr: Some(parse::parse(text, kind)?) })
    }
}
