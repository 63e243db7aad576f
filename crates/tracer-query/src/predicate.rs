//! Which events are wanted, and which objects of a heap: one language for all.
//!
//! A text is read once, with its types checked ([`Predicate::parse`]); `-I` and `-X` add patterns of names. What it says of an event
//! is [`tree::Expr::eval`]; for the kernel it is [`Predicate::split`] into a graph over masks of names and numbers
//! ([`tracer_common::filter`]) and what is left for user space. `docs/predicates.md` is for users.
//!
//! Nothing here attaches or reads a target.

pub mod assertion;
pub mod error;
pub mod eval;
pub mod event;
pub mod explain;
pub mod field;
mod glob;
mod graph;
mod literal;
mod lower;
mod parse;
pub mod random;
mod shorthand;
pub mod split;
#[cfg(test)]
mod tests;
mod token;
pub mod tree;

pub use assertion::Assertion;
pub use error::Error;
pub use eval::{Counters, Known, Outlook};
pub use event::{Event, Subject, Thread};
pub use field::{Field, Kind};
pub use parse::{MAX_CONDITIONS, MAX_NESTING, MAX_SAMPLE, MAX_TEXT};

pub use shorthand::MAX_PATTERN;
pub use split::{Moment, Split};

use tree::{Condition, Expr, Span};

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

    /// Reads patterns of what is included (all, where there are none) and excluded, and a predicate; all must agree.
    pub fn combine(include: &[String], exclude: &[String], predicate: Option<&str>, kind: Kind) -> Result<Self, Error> {
        let mut left = MAX_CONDITIONS;
        let mut pattern = |option, text: &String| {
            let expr = shorthand::parse(option, text, kind)?;
            let mut conditions = 0;
            expr.each(&mut |_| conditions += 1);
            left = left.checked_sub(conditions).ok_or_else(|| Error {
                option,
                text: text.clone(),
                span: Span { start: 0, end: text.len() },
                what: format!("the patterns make more than {MAX_CONDITIONS} conditions"),
                hint: Some("a pattern with * can stand for many names".to_owned()),
            })?;
            Ok(expr)
        };
        let included: Vec<Expr> = include.iter().map(|text| pattern("--include", text)).collect::<Result<_, _>>()?;
        let excluded: Vec<Expr> = exclude.iter().map(|text| pattern("--exclude", text)).collect::<Result<_, _>>()?;
        let mut parts: Vec<Expr> = Expr::any(included).into_iter().collect();
        parts.extend(excluded.into_iter().map(Expr::negated));
        parts.extend(predicate.map(|text| parse::parse(text, kind)).transpose()?);
        Ok(Self { kind, expr: Expr::all(parts) })
    }

    /// Whether it asks for one of these fields.
    pub fn asks_for(&self, fields: &[Field]) -> bool {
        let asks = |condition: &Condition| condition.field().is_some_and(|field| fields.contains(&field));
        self.expr.as_ref().is_some_and(|expr| expr.any_is(asks))
    }

    /// Whether names of the method or class alone decide.
    pub fn asks_for_names_alone(&self) -> bool {
        let names = [Field::Class, Field::Method, Field::Signature, Field::Package];
        let other = |condition: &Condition| condition.field().is_none_or(|field| !names.contains(&field));
        self.expr.as_ref().is_none_or(|expr| !expr.any_is(other))
    }

    /// Whether the event is wanted.
    pub fn eval(&self, event: &Event<'_>, counters: &mut Counters) -> bool {
        self.expr.as_ref().is_none_or(|expr| expr.eval(event, counters))
    }

    /// What is known of the answers when the names of one thing are.
    pub fn outlook(&self, known: Known<'_>) -> Outlook {
        self.expr.as_ref().map_or(Outlook::Always, |expr| expr.outlook(known))
    }
}
