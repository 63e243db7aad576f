//! What must hold of the objects of a heap: a bound, or that some are reached only through others.

use std::fmt;

use super::{
    error::Error,
    field::Type,
    parse,
    tree::{Comparison, Expr},
};

/// An assertion.
#[derive(Clone, Debug, PartialEq)]
pub enum Assertion {
    /// Something about the objects of which a predicate holds is less, or more, than a number.
    Bound {
        /// What.
        measure: Measure,
        /// Which objects.
        of: Expr,
        /// How it compares.
        comparison: Comparison,
        /// With what.
        value: u64,
    },
    /// Every way from a root to one of these objects passes another one of those before.
    Through {
        /// These.
        every: Expr,
        /// Those.
        through: Expr,
    },
}

/// What is measured of objects together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How many they are.
    Count,
    /// Their own bytes.
    Size,
    /// Bytes that would be freed with all of them.
    Retained,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Count, Self::Size, Self::Retained];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Size => "size",
            Self::Retained => "retained",
        }
    }

    /// What it is.
    pub const fn holds(self) -> Type {
        match self {
            Self::Count => Type::Number,
            Self::Size | Self::Retained => Type::Bytes,
        }
    }
}

impl Assertion {
    /// Reads one.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse::assertion(text)
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound { measure, of, comparison, value } => {
                let value = super::tree::amount(measure.holds(), *value);
                write!(f, "{}({of}) {} {value}", measure.name(), comparison.symbol())
            }
            Self::Through { every, through } => write!(f, "every ({every}) through ({through})"),
        }
    }
}
