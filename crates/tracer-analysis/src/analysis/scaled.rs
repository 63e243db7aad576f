//! Numbers that are larger the longer the sites of a group are attached: where they were attached in windows only, what they
//! would be over the whole span can be estimated.
//!
//! Only what one event alone says is among them. A duration is not: it begins at one event and ends at another, and what is
//! longer than a window is never seen whole.

use crate::report::Unit;

/// Such a number, as it is so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// Its key in the summary.
    pub key: &'static str,
    /// What is counted.
    pub what: &'static str,
    /// What it is in.
    pub unit: Unit,
    /// Keys in the summary of the estimate, and of the ends of its interval.
    pub estimate: [&'static str; 3],
    /// The same per second, where the summary has that.
    pub per_s: Option<[&'static str; 3]>,
    /// How many were seen.
    pub seen: u64,
}

/// The keys of the estimates of what a summary has under a key.
macro_rules! extrapolated {
    ($key:literal) => {
        [concat!("extrapolated_", $key), concat!("extrapolated_low_", $key), concat!("extrapolated_high_", $key)]
    };
}

/// A [`Scaled`] of a key of the summary.
macro_rules! scaled {
    ($key:literal, $what:literal, $seen:expr) => {
        $crate::analysis::Scaled {
            key: $key,
            what: $what,
            unit: $crate::report::Unit::Count,
            estimate: $crate::analysis::scaled::extrapolated!($key),
            per_s: None,
            seen: $seen,
        }
    };
}

pub(crate) use extrapolated;
pub(crate) use scaled;

impl Scaled {
    /// Calls of methods.
    pub const fn calls(seen: u64) -> Self {
        scaled!("calls", "calls", seen)
    }

    /// Marks.
    pub const fn events(seen: u64) -> Self {
        scaled!("events", "events", seen)
    }

    /// In bytes.
    #[must_use]
    pub const fn in_bytes(self) -> Self {
        Self { unit: Unit::Bytes, ..self }
    }
}
