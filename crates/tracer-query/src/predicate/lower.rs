//! From a tree to the questions that a graph can ask.
//!
//! Negations move down to the questions, which leaves their order as it is. What concerns the names of one thing alone
//! becomes one question, however long it is: user space answers it once for the thing.

use tracer_common::filter::{Input, Test};

use super::{
    field::{Field, Whose},
    tree::{Comparison, Condition, Expr, Tree},
};

/// A question about an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    /// Whether an expression holds that looks at the names of one thing only.
    Names(Whose, Expr),
    /// Whether a number passes a test.
    Number(Field, Input, Test, u64),
    /// Whether the event's random number is a multiple.
    Draw(u64),
    /// Whether the number of events that came here passes a test; the counter is the predicate's.
    Tally(Test, u64, usize),
    /// Something that only user space knows.
    User,
}

/// Questions in their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lowered {
    /// Known before any question.
    Known(bool),
    /// A question, and the answer that makes this hold.
    Leaf(Question, bool),
    /// All of them, from the left; never empty.
    All(Vec<Self>),
    /// One of them, from the left; never empty.
    Any(Vec<Self>),
}

/// The questions of an expression, or of its contrary.
pub(super) fn lower(expr: &Expr, wanted: bool) -> Lowered {
    if let Some(whose) = names_of(expr) {
        return Lowered::Leaf(Question::Names(whose, expr.clone()), wanted);
    }
    let parts = |parts: &[Expr]| parts.iter().map(|part| lower(part, wanted)).collect();
    match &expr.tree {
        Tree::Not(part) => lower(part, !wanted),
        Tree::And(all) if wanted => Lowered::all(parts(all)),
        Tree::And(all) => Lowered::any(parts(all)),
        Tree::Or(any) if wanted => Lowered::any(parts(any)),
        Tree::Or(any) => Lowered::all(parts(any)),
        Tree::Test(condition) => test(condition, wanted),
    }
}

/// Whose names an expression looks at, if it looks at nothing else.
fn names_of(expr: &Expr) -> Option<Whose> {
    let (mut whose, mut only) = (None, true);
    expr.each(&mut |condition| {
        let about = condition.field().and_then(Field::whose);
        only &= about.is_some() && (whose.is_none() || whose == about);
        whose = about;
    });
    whose.filter(|_| only)
}

fn test(condition: &Condition, wanted: bool) -> Lowered {
    let leaf = Lowered::Leaf;
    match condition {
        Condition::Number { field, comparison, value } => number(*field, *comparison, *value, wanted),
        Condition::OneOf { field, wanted: in_it, values } => {
            let wanted = wanted == *in_it;
            let parts = values.iter().map(|value| number(*field, Comparison::Equal, *value, wanted)).collect();
            if wanted { Lowered::any(parts) } else { Lowered::all(parts) }
        }
        Condition::Sample { one_in } => leaf(Question::Draw(*one_in), wanted),
        Condition::Nth { nth, counter } => leaf(Question::Tally(Test::Multiple, *nth, *counter), wanted),
        Condition::First { count, counter } => match count.checked_add(1) {
            Some(limit) => leaf(Question::Tally(Test::Less, limit, *counter), wanted),
            // No counter comes so far; but it is asked nevertheless, because its events are counted.
            None => leaf(Question::Tally(Test::Less, u64::MAX, *counter), wanted),
        },
        // Names are dealt with where expressions are.
        Condition::Text { .. } | Condition::Daemon { .. } => leaf(Question::User, wanted),
    }
}

/// The question that a comparison asks: whether a number is equal or below.
fn number(field: Field, comparison: Comparison, value: u64, wanted: bool) -> Lowered {
    let input = match field {
        Field::Tid => Input::Tid,
        Field::Cpu => Input::Cpu,
        Field::Size => Input::Size,
        Field::Duration => Input::Duration,
        Field::Depth => Input::Depth,
        // A line is found by looking the call up in the method's tables.
        _ => return Lowered::Leaf(Question::User, wanted),
    };
    let leaf = |test, value, wanted| Lowered::Leaf(Question::Number(field, input, test, value), wanted);
    let below = |limit: Option<u64>, wanted: bool| match limit {
        Some(0) => Lowered::Known(!wanted),
        Some(limit) => leaf(Test::Less, limit, wanted),
        None => Lowered::Known(wanted),
    };
    match comparison {
        Comparison::Equal => leaf(Test::Equal, value, wanted),
        Comparison::Unequal => leaf(Test::Equal, value, !wanted),
        Comparison::Less => below(Some(value), wanted),
        Comparison::AtLeast => below(Some(value), !wanted),
        Comparison::AtMost => below(value.checked_add(1), wanted),
        Comparison::More => below(value.checked_add(1), !wanted),
    }
}

impl Lowered {
    /// All of these, as simple as it can be written.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        Self::chain(parts, false)
    }

    /// One of these, as simple as it can be written.
    pub(super) fn any(parts: Vec<Self>) -> Self {
        Self::chain(parts, true)
    }

    /// Parts of which the first that is `until` decides.
    fn chain(parts: Vec<Self>, until: bool) -> Self {
        let mut simple: Vec<Self> = Vec::with_capacity(parts.len());
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::All(inner) if !until => inner,
            Self::Any(inner) if until => inner,
            part => vec![part],
        });
        for part in flat.filter(|part| *part != Self::Known(!until)) {
            let decided = part == Self::Known(until);
            simple.push(part);
            if decided {
                // What comes behind is not reached; what comes before may count.
                break;
            }
        }
        // Parts that count nothing change nothing where the answer behind them is known.
        if simple.last() == Some(&Self::Known(until)) {
            simple.pop();
            while simple.last().is_some_and(|part| !part.counts()) {
                simple.pop();
            }
            simple.push(Self::Known(until));
        }
        let mut parts = gather(simple, until);
        match parts.len() {
            0 => Self::Known(!until),
            1 => parts.remove(0),
            _ if until => Self::Any(parts),
            _ => Self::All(parts),
        }
    }

    /// Whether one of its questions counts what comes to it.
    pub(super) fn counts(&self) -> bool {
        self.any_is(&|question| matches!(question, Question::Tally(..)))
    }

    /// Whether one of its questions is such.
    pub(super) fn any_is(&self, is: &impl Fn(&Question) -> bool) -> bool {
        match self {
            Self::Known(_) => false,
            Self::Leaf(question, _) => is(question),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.any_is(is)),
        }
    }

    /// Calls a function for each question, from the left.
    pub(super) fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Question)) {
        match self {
            Self::Known(_) => {}
            Self::Leaf(question, _) => visit(question),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each(visit)),
        }
    }

    /// How many questions there are.
    pub(super) fn size(&self) -> usize {
        let mut size = 0;
        self.each(&mut |_| size += 1);
        size
    }

    /// Something that holds at least where this holds, and where a question of this that counts is reached; it asks only
    /// questions that are `known` and count nothing.
    pub(super) fn weakened(&self, known: &impl Fn(&Question) -> bool) -> Self {
        match self {
            Self::Known(known) => Self::Known(*known),
            Self::Leaf(question, _) if matches!(question, Question::Tally(..)) || !known(question) => Self::Known(true),
            Self::Leaf(..) => self.clone(),
            Self::All(parts) => {
                // What comes behind a question that counts must not keep an event from it.
                let end = parts.iter().position(Self::counts).map_or(parts.len(), |at| at + 1);
                Self::all(parts.iter().take(end).map(|part| part.weakened(known)).collect())
            }
            Self::Any(parts) => Self::any(parts.iter().map(|part| part.weakened(known)).collect()),
        }
    }
}

/// Makes one question of all that concern the names of the same thing, as far as none that counts lies between.
fn gather(parts: Vec<Lowered>, until: bool) -> Vec<Lowered> {
    let mut gathered: Vec<Lowered> = Vec::with_capacity(parts.len());
    let mut from = 0;
    for part in parts {
        if let Lowered::Leaf(Question::Names(whose, expr), wanted) = &part {
            let same = gathered.iter_mut().skip(from).find_map(|earlier| match earlier {
                Lowered::Leaf(Question::Names(other, earlier), wanted) if other == whose => Some((earlier, wanted)),
                _ => None,
            });
            if let Some((earlier, earlier_wanted)) = same {
                let both = [(earlier.clone(), *earlier_wanted), (expr.clone(), *wanted)];
                let both = both.map(|(expr, wanted)| if wanted { expr } else { expr.negated() });
                *earlier = Expr::made(if until { flat_or(both) } else { flat_and(both) });
                *earlier_wanted = true;
                continue;
            }
        }
        let counts = part.counts();
        gathered.push(part);
        if counts {
            from = gathered.len();
        }
    }
    gathered
}

fn flat_and(both: [Expr; 2]) -> Tree {
    Tree::And(
        both.into_iter()
            .flat_map(|expr| match expr.tree {
                Tree::And(parts) => parts,
                _ => vec![expr],
            })
            .collect(),
    )
}

fn flat_or(both: [Expr; 2]) -> Tree {
    Tree::Or(
        both.into_iter()
            .flat_map(|expr| match expr.tree {
                Tree::Or(parts) => parts,
                _ => vec![expr],
            })
            .collect(),
    )
}
