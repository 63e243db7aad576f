//! Decisions of the governor in words, the same in the log and in a report.

use std::fmt;

use super::{GuardDecision, Narrowing};

impl fmt::Display for GuardDecision {
    /// What follows the name of a group.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detach { rate_per_s } => write!(out, "fires {rate_per_s} times a second: detached"),
            Self::Attach => write!(out, "is attached again"),
            Self::Look => write!(out, "was looked at"),
            Self::Narrow { what, rate_per_s } => write!(out, "fires {rate_per_s} times a second: {what}"),
            Self::Stop { rate_per_s } => write!(out, "fires {rate_per_s} times a second: stopped"),
            Self::Hold => write!(out, "is switched off"),
            Self::Release => write!(out, "is switched on again"),
        }
    }
}

impl fmt::Display for Narrowing {
    /// What holds from now on.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stacks => write!(out, "its events have no stacks"),
            Self::FewerStacks { one_in } => {
                write!(out, "one of {one_in} of its events has a stack and stands for all of them")
            }
            Self::Times => write!(out, "only beginnings of calls are seen, and no durations and exceptions"),
            Self::Each => write!(out, "its marks are counted in the JVM and not sent, without nesting and times"),
            Self::Objects { one_in: 0 } => write!(out, "no new object is tracked"),
            Self::Objects { one_in } => {
                write!(out, "one new object of {one_in} is tracked, of a class that has many")
            }
        }
    }
}

#[test]
fn a_decision_is_told_in_words() {
    let narrowed = GuardDecision::Narrow { what: Narrowing::FewerStacks { one_in: 16 }, rate_per_s: 1547 };
    let expected = "fires 1547 times a second: one of 16 of its events has a stack and stands for all of them";
    assert_eq!(narrowed.to_string(), expected);
    assert_eq!(GuardDecision::Hold.to_string(), "is switched off");
}
