//! What a condition says of an object where not all is known: it holds, it does not, or nobody knows.

use crate::predicate::tree::{Comparison, Condition};

/// Whether something holds. What is less true is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not.
    No,
    /// Nobody knows.
    Unknown,
    /// It does.
    Yes,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Truth {
    /// The contrary.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }

    /// This, or the contrary.
    #[must_use]
    pub const fn is(self, wanted: bool) -> Self {
        if wanted { self } else { self.negated() }
    }

    /// This where it speaks for something; where it does not, more could have been seen.
    #[must_use]
    pub const fn at_least(self, is_whole: bool) -> Self {
        if is_whole || matches!(self, Self::Yes) { self } else { Self::Unknown }
    }
}

/// A number between two, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// It is no less.
    pub least: u64,
    /// It is no more; `None`: nobody knows.
    pub most: Option<u64>,
}

impl Bounds {
    /// It is this number.
    pub const fn exactly(number: u64) -> Self {
        Self { least: number, most: Some(number) }
    }

    /// It is this number where all was seen, and else no less.
    pub const fn seen(number: u64, is_whole: bool) -> Self {
        Self { least: number, most: if is_whole { Some(number) } else { None } }
    }

    /// Whether a comparison holds of it.
    pub fn compares(self, comparison: Comparison, value: u64) -> Truth {
        let Self { least, most } = self;
        match comparison {
            Comparison::Equal if most == Some(least) => (least == value).into(),
            Comparison::Equal if value < least || most.is_some_and(|most| value > most) => Truth::No,
            Comparison::Equal => Truth::Unknown,
            Comparison::Unequal => self.compares(Comparison::Equal, value).negated(),
            // Of the others the answer changes once on the way from the least number to the most.
            _ => {
                let (first, last) = (comparison.holds(least, value), comparison.holds(most.unwrap_or(u64::MAX), value));
                if first == last { first.into() } else { Truth::Unknown }
            }
        }
    }

    /// What a condition on a number says of it.
    pub fn answer(self, condition: &Condition) -> Truth {
        match condition {
            Condition::Number { comparison, value, .. } => self.compares(*comparison, *value),
            Condition::OneOf { wanted, values, .. } => {
                let one = values.iter().map(|value| self.compares(Comparison::Equal, *value)).max();
                one.unwrap_or(Truth::No).is(*wanted)
            }
            _ => Truth::No,
        }
    }
}

/// What a condition on a number says of what has none: no more than that it is not that number.
pub fn without_number(condition: &Condition) -> Truth {
    match condition {
        Condition::Number { comparison, .. } => (*comparison == Comparison::Unequal).into(),
        Condition::OneOf { wanted, .. } => (!wanted).into(),
        _ => Truth::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_bounds_holds_of_every_number_within_them() {
        for least in 0..6 {
            for most in (least..6).map(Some).chain([None]) {
                for comparison in Comparison::ALL {
                    for value in 0..8 {
                        let within = least..=most.unwrap_or(20);
                        let holds = within.clone().filter(|number| comparison.holds(*number, value)).count();
                        let expected = match holds {
                            0 => Truth::No,
                            all if all == within.count() => Truth::Yes,
                            _ => Truth::Unknown,
                        };
                        let bounds = Bounds { least, most };
                        assert_eq!(bounds.compares(comparison, value), expected, "{bounds:?} {comparison:?} {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn several_answers_are_joined_by_the_least_and_the_most() {
        assert_eq!(Truth::Unknown.min(Truth::No), Truth::No);
        assert_eq!(Truth::Unknown.max(Truth::Yes), Truth::Yes);
        assert_eq!(Truth::Unknown.negated(), Truth::Unknown);
        assert_eq!([Truth::Yes, Truth::No].map(|truth| truth.at_least(false)), [Truth::Yes, Truth::Unknown]);
    }
}
