//! A predicate as a tree, and how it is written.

use std::fmt;

use super::{
    field::{Field, Type},
    glob, literal,
};

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl Span {
    /// From the beginning of this to the end of another.
    pub(super) const fn to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }
}

/// A predicate or a part of one; equal to another that says the same at another place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it says.
    pub tree: Tree,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

/// What an expression says.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// All of them, looked at from the left until one does not hold.
    And(Vec<Expr>),
    /// One of them, looked at from the left until one holds.
    Or(Vec<Expr>),
    /// The contrary.
    Not(Box<Expr>),
    /// A condition.
    Test(Condition),
}

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Self; 6] = [Self::Equal, Self::Unequal, Self::Less, Self::AtMost, Self::More, Self::AtLeast];

    /// How it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether it holds between two numbers.
    pub const fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// A name or a pattern of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As the user wrote it.
    written: String,
    /// As it is compared.
    compared: String,
}

impl Name {
    /// A name or pattern for a field.
    pub fn new(field: Field, written: impl Into<String>) -> Self {
        let written = written.into();
        Self { compared: glob::as_compared(field, &written), written }
    }

    /// As it is compared.
    pub fn compared(&self) -> &str {
        &self.compared
    }

    /// Whether a text is exactly this.
    fn is(&self, text: &str) -> bool {
        self.compared == text
    }
}

/// A question about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    /// `==` and `!=`
    Is(Name),
    /// `~` and `!~`
    Like(Name),
    /// `in (...)` and `!in (...)`
    In(Vec<Name>),
}

impl TextTest {
    /// Whether it holds for a text, which is as Java writes it.
    pub fn holds(&self, text: &str) -> bool {
        match self {
            Self::Is(name) => name.is(text),
            Self::Like(name) => glob::matches(&name.compared, text),
            Self::In(names) => names.iter().any(|name| name.is(text)),
        }
    }
}

/// A condition on an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A name is, or is not, like this.
    Text {
        /// Whose name.
        field: Field,
        /// `false` for `!=`, `!~` and `!in`.
        wanted: bool,
        /// Like what.
        test: TextTest,
    },
    /// The thread is, or is not, a daemon.
    Daemon {
        /// Which of them.
        wanted: bool,
    },
    /// A number compares so.
    Number {
        /// The number.
        field: Field,
        /// How.
        comparison: Comparison,
        /// With what, in bytes or nanoseconds where it has a unit.
        value: u64,
    },
    /// A number is one of these.
    OneOf {
        /// The number.
        field: Field,
        /// `false` for `!in`.
        wanted: bool,
        /// These.
        values: Vec<u64>,
    },
    /// One event in so many, at random.
    Sample {
        /// So many; not 0.
        one_in: u64,
    },
    /// Every so-manieth event that comes here.
    Nth {
        /// So many; not 0.
        nth: u64,
        /// Which counter of the predicate counts them.
        counter: usize,
    },
    /// The first events that come here.
    First {
        /// How many.
        count: u64,
        /// Which counter of the predicate counts them.
        counter: usize,
    },
}

impl Condition {
    /// The field that it is about.
    pub const fn field(&self) -> Option<Field> {
        match self {
            Self::Text { field, .. } | Self::Number { field, .. } | Self::OneOf { field, .. } => Some(*field),
            Self::Daemon { .. } => Some(Field::Daemon),
            Self::Sample { .. } | Self::Nth { .. } | Self::First { .. } => None,
        }
    }

    /// Whether it counts the events that come to it, so that none may be kept from it.
    pub const fn counts(&self) -> bool {
        matches!(self, Self::Nth { .. } | Self::First { .. })
    }
}

impl Expr {
    /// An expression that no text says.
    pub(super) fn made(tree: Tree) -> Self {
        Self { tree, span: Span::default() }
    }

    /// All of these; nothing where there are none.
    pub(super) fn all(mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() > 1 { Some(Self::made(Tree::And(parts))) } else { parts.pop() }
    }

    /// One of these; nothing where there are none.
    pub(super) fn any(mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() > 1 { Some(Self::made(Tree::Or(parts))) } else { parts.pop() }
    }

    /// The contrary.
    pub(super) fn negated(self) -> Self {
        let span = self.span;
        Self { tree: Tree::Not(Box::new(self)), span }
    }

    /// Calls a function for each condition, from the left.
    pub fn each(&self, visit: &mut impl FnMut(&Condition)) {
        match &self.tree {
            Tree::And(parts) | Tree::Or(parts) => parts.iter().for_each(|part| part.each(visit)),
            Tree::Not(part) => part.each(visit),
            Tree::Test(condition) => visit(condition),
        }
    }

    /// Whether one of its conditions is such.
    pub fn any_is(&self, mut is: impl FnMut(&Condition) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |condition| found |= is(condition));
        found
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.written.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Writes a condition with several things, which stand in parentheses with commas between them.
fn list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    field: Field,
    operator: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    write!(f, "{field} {operator} (")?;
    for (at, item) in items.into_iter().enumerate() {
        f.write_str(if at == 0 { "" } else { ", " })?;
        write!(f, "{item}")?;
    }
    f.write_str(")")
}

/// The number as it is written for a field.
pub(super) fn written(field: Field, value: u64) -> String {
    amount(field.holds(), value)
}

/// The number as it is written for a type.
pub(super) fn amount(holds: Type, value: u64) -> String {
    match holds {
        Type::Bytes => literal::bytes(value),
        Type::Time => literal::time(value),
        Type::Number | Type::Text | Type::Flag => value.to_string(),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { field, wanted, test } => match (test, wanted) {
                (TextTest::Is(name), true) => write!(f, "{field} == {name}"),
                (TextTest::Is(name), false) => write!(f, "{field} != {name}"),
                (TextTest::Like(name), true) => write!(f, "{field} ~ {name}"),
                (TextTest::Like(name), false) => write!(f, "{field} !~ {name}"),
                (TextTest::In(names), true) => list(f, *field, "in", names),
                (TextTest::In(names), false) => list(f, *field, "!in", names),
            },
            Self::Daemon { wanted: true } => f.write_str("daemon"),
            Self::Daemon { wanted: false } => f.write_str("daemon == false"),
            Self::Number { field, comparison, value } => {
                write!(f, "{field} {} {}", comparison.symbol(), written(*field, *value))
            }
            Self::OneOf { field, wanted, values } => {
                let operator = if *wanted { "in" } else { "!in" };
                list(f, *field, operator, values.iter().map(|value| written(*field, *value)))
            }
            Self::Sample { one_in } => write!(f, "sample(1/{one_in})"),
            Self::Nth { nth, .. } => write!(f, "nth({nth})"),
            Self::First { count, .. } => write!(f, "first({count})"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Self], between: &str, and: bool| {
            for (at, part) in parts.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { between })?;
                let enclosed = matches!(part.tree, Tree::Or(_)) || and && matches!(part.tree, Tree::And(_));
                if enclosed { write!(f, "({part})")? } else { write!(f, "{part}")? }
            }
            Ok(())
        };
        match &self.tree {
            Tree::And(parts) => join(f, parts, " && ", true),
            Tree::Or(parts) => join(f, parts, " || ", false),
            Tree::Not(part) => match &part.tree {
                Tree::Test(Condition::Daemon { wanted: true }) => f.write_str("!daemon"),
                _ => write!(f, "!({part})"),
            },
            Tree::Test(condition) => write!(f, "{condition}"),
        }
    }
}
