//! Whether numbers go on growing.

use serde::Serialize;

/// What goes on grows in its last interval by no less than this share of the most that it has grown in one.
const PART: f64 = 0.25;

/// How something has grown from the first snapshot to the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// In each interval, and not much slower at last.
    GoesOn,
    /// It was larger in between, or smaller again.
    RoseAndFell,
    /// Not in the last interval.
    Stopped,
    /// In an interval before the last one not at all.
    InSteps,
    /// In each interval, but by much less in the last one than in another one.
    SlowsDown,
    /// It has not grown.
    NotAtAll,
}

impl Growth {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::GoesOn => "grows in each interval",
            Self::RoseAndFell => "rises and falls",
            Self::Stopped => "has stopped growing",
            Self::InSteps => "does not grow in each interval",
            Self::SlowsDown => "grows more and more slowly",
            Self::NotAtAll => "has not grown",
        }
    }
}

/// Says it of numbers, and of the times at which they were so, where these are known.
///
/// It slows down where it does so both from one snapshot to the next and in time: snapshots may be taken at events and not by the clock.
pub(super) fn judge(numbers: &[u64], times: Option<&[u64]>) -> Growth {
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] as f64 - pair[0] as f64).collect();
    let Some(last) = steps.last().copied().filter(|_| numbers.last() > numbers.first()) else {
        return Growth::NotAtAll;
    };
    if steps.iter().any(|step| *step < 0.0) {
        return Growth::RoseAndFell;
    }
    if last == 0.0 {
        return Growth::Stopped;
    }
    if steps.contains(&0.0) {
        return Growth::InSteps;
    }
    let slows = |steps: &[f64]| {
        let most = steps.iter().copied().fold(0.0, f64::max);
        steps.last().is_some_and(|last| *last < most * PART)
    };
    let in_time = times.is_none_or(|times| {
        let lengths = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).max(1) as f64);
        let rates: Vec<f64> = steps.iter().zip(lengths).map(|(step, length)| step / length).collect();
        slows(&rates)
    });
    if slows(&steps) && in_time { Growth::SlowsDown } else { Growth::GoesOn }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_told_from_what_has_an_end() {
        for (numbers, expected) in [
            (&[0, 10, 20, 30][..], Growth::GoesOn),
            (&[0, 10], Growth::GoesOn),
            (&[0, 100, 200, 225], Growth::GoesOn),
            (&[0, 100, 200, 224], Growth::SlowsDown),
            (&[0, 1000, 1000, 1000], Growth::Stopped),
            (&[0, 500, 100, 600], Growth::RoseAndFell),
            (&[0, 0, 100, 200], Growth::InSteps),
            (&[5, 7, 5], Growth::NotAtAll),
            (&[5], Growth::NotAtAll),
            (&[], Growth::NotAtAll),
        ] {
            assert_eq!(judge(numbers, None), expected, "{numbers:?}");
        }
    }

    #[test]
    fn a_short_last_interval_is_no_slowing_down() {
        let numbers = [0, 1000, 2000, 2100];
        assert_eq!(judge(&numbers, None), Growth::SlowsDown);
        // As fast as before, looked at after a tenth of the time.
        assert_eq!(judge(&numbers, Some(&[0, 1000, 2000, 2100])), Growth::GoesOn);
        assert_eq!(judge(&numbers, Some(&[0, 1000, 2000, 3000])), Growth::SlowsDown);
        // As much as before, in a longer time: what is counted at events does not depend on a clock.
        assert_eq!(judge(&[0, 100, 200], Some(&[0, 1, 100_000])), Growth::GoesOn);
    }
}
