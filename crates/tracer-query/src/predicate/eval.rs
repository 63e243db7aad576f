//! What a predicate says of an event, and what it says already when only names are known.
//!
//! A condition on something unknown (a caller, a line) does not hold; `!=`, `!~` and `!in` are its contrary and hold.

use super::{
    event::{Event, Subject, Thread},
    field::{Field, Whose},
    tree::{Comparison, Condition, Expr, Tree},
};

/// How many events came to each test that counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(Vec<u64>);

impl Counters {
    /// Counts one event, and says how many there are.
    pub fn count(&mut self, counter: usize) -> u64 {
        self.set(counter, self.get(counter).saturating_add(1));
        self.get(counter)
    }

    /// How many there are.
    pub fn get(&self, counter: usize) -> u64 {
        self.0.get(counter).copied().unwrap_or(0)
    }

    /// Goes on from a number of events.
    pub fn set(&mut self, counter: usize, events: u64) {
        if self.0.len() <= counter {
            self.0.resize(counter + 1, 0);
        }
        if let Some(count) = self.0.get_mut(counter) {
            *count = events;
        }
    }
}

impl Expr {
    /// Whether the event is wanted. Looks from the left and no further than it must, as tests that count demand.
    pub fn eval(&self, event: &Event<'_>, counters: &mut Counters) -> bool {
        match &self.tree {
            Tree::And(parts) => parts.iter().all(|part| part.eval(event, counters)),
            Tree::Or(parts) => parts.iter().any(|part| part.eval(event, counters)),
            Tree::Not(part) => !part.eval(event, counters),
            Tree::Test(condition) => condition.eval(event, counters),
        }
    }
}

impl Condition {
    fn eval(&self, event: &Event<'_>, counters: &mut Counters) -> bool {
        match self {
            Self::Text { field, wanted, test } => event.text(*field).is_some_and(|text| test.holds(text)) == *wanted,
            Self::Daemon { wanted } => event.thread.daemon == *wanted,
            Self::Number { field, .. } | Self::OneOf { field, .. } => self.holds_for(event.number(*field)),
            Self::Sample { one_in } => u64::from(event.random).is_multiple_of(*one_in),
            Self::Nth { nth, counter } => counters.count(*counter).is_multiple_of(*nth),
            Self::First { count, counter } => counters.count(*counter) <= *count,
        }
    }

    /// What a condition on a number says of one.
    fn holds_for(&self, number: Option<u64>) -> bool {
        match self {
            Self::Number { comparison: Comparison::Unequal, value, .. } => number != Some(*value),
            Self::Number { comparison, value, .. } => number.is_some_and(|number| comparison.holds(number, *value)),
            Self::OneOf { wanted, values, .. } => number.is_some_and(|number| values.contains(&number)) == *wanted,
            _ => false,
        }
    }

    /// The same, where it asks for this field.
    fn of_number(&self, field: Field, number: u64) -> Option<bool> {
        let asks = matches!(self, Self::Number { .. } | Self::OneOf { .. }) && self.field() == Some(field);
        asks.then(|| self.holds_for(Some(number)))
    }
}

/// A thing whose names are known before any event.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// The method, class or function.
    Subject(&'a Subject),
    /// The calling method, or that there is none.
    Caller(Option<&'a Subject>),
    /// The thread.
    Thread(&'a Thread),
    /// The thread, and its number.
    ThreadOf {
        /// The thread.
        thread: &'a Thread,
        /// Its number.
        tid: u64,
    },
}

/// What is known of a predicate's answers to the events of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// All its events are wanted.
    Always,
    /// None is, and none is counted: they need not be seen at all.
    Never,
    /// It depends on the event.
    Depends,
}

/// What an expression can still do.
#[derive(Clone, Copy)]
struct Open {
    hold: bool,
    fail: bool,
    /// Count an event, whatever the answer.
    count: bool,
}

impl Open {
    const fn known(holds: bool) -> Self {
        Self { hold: holds, fail: !holds, count: false }
    }

    /// The first part, and where it does not end at `until`, the next ones.
    fn chain(parts: &[Expr], known: Known<'_>, until: bool) -> Self {
        let (mut ends, mut count) = (false, false);
        for part in parts {
            let open = Self::of(part, known);
            let (goes_on, stops) = if until { (open.fail, open.hold) } else { (open.hold, open.fail) };
            ends |= stops;
            count |= open.count;
            if !goes_on {
                return if until {
                    Self { hold: ends, fail: false, count }
                } else {
                    Self { hold: false, fail: ends, count }
                };
            }
        }
        if until { Self { hold: ends, fail: true, count } } else { Self { hold: true, fail: ends, count } }
    }

    fn of(expr: &Expr, known: Known<'_>) -> Self {
        match &expr.tree {
            Tree::And(parts) => Self::chain(parts, known, false),
            Tree::Or(parts) => Self::chain(parts, known, true),
            Tree::Not(part) => {
                let Self { hold, fail, count } = Self::of(part, known);
                Self { hold: fail, fail: hold, count }
            }
            Tree::Test(condition) => {
                known.answer(condition).map_or(Self { hold: true, fail: true, count: condition.counts() }, Self::known)
            }
        }
    }
}

impl Known<'_> {
    /// Whether a condition holds, if that is known.
    fn answer(self, condition: &Condition) -> Option<bool> {
        if let Self::ThreadOf { thread, tid } = self {
            return condition.of_number(Field::Tid, tid).or_else(|| Known::Thread(thread).answer(condition));
        }
        let whose = condition.field().and_then(Field::whose)?;
        let subject = match self {
            Self::Subject(subject) if whose == Whose::Subject => Some(subject),
            Self::Caller(caller) if whose == Whose::Caller => caller,
            Self::Thread(thread) if whose == Whose::Thread => {
                return match condition {
                    Condition::Daemon { wanted } => Some(thread.daemon == *wanted),
                    Condition::Text { wanted, test, .. } => Some(test.holds(&thread.name) == *wanted),
                    _ => None,
                };
            }
            _ => return None,
        };
        let Condition::Text { field, wanted, test } = condition else { return None };
        Some(subject.and_then(|subject| subject.text(*field)).is_some_and(|text| test.holds(text)) == *wanted)
    }
}

impl Expr {
    /// What is known of the answers when the names of one thing are.
    pub fn outlook(&self, known: Known<'_>) -> Outlook {
        match Open::of(self, known) {
            Open { hold: false, count: false, .. } => Outlook::Never,
            Open { fail: false, count: false, .. } => Outlook::Always,
            _ => Outlook::Depends,
        }
    }
}
