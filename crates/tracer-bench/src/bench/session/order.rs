//! In which order runs are made: in rounds, each with every pair of program and configuration once, shuffled.
//!
//! What drifts while a session lasts (temperature, neighbours, the page cache) then falls on all configurations alike. The
//! order follows from the seed alone, so that a resumed session goes on with the same one.

use crate::random::Random;

/// A run to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Step {
    /// Which repetition.
    pub(super) round: u32,
    /// Index of the program.
    pub(super) program: usize,
    /// Index of the configuration.
    pub(super) configuration: usize,
}

/// All runs of a session.
pub(super) fn steps(seed: u64, rounds: u32, programs: usize, configurations: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
    for round in 0..rounds {
        let from = steps.len();
        for program in 0..programs {
            steps.extend((0..configurations).map(|configuration| Step { round, program, configuration }));
        }
        random.shuffle(&mut steps[from..]);
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_round_has_every_pair_once_and_comes_before_the_next() {
        let steps = steps(7, 3, 4, 5);
        assert_eq!(steps.len(), 3 * 4 * 5);
        assert_eq!(steps.iter().collect::<BTreeSet<_>>().len(), steps.len());
        assert!(steps.is_sorted_by_key(|step| step.round));
    }

    #[test]
    fn the_order_follows_from_the_seed_and_configurations_interleave() {
        assert_eq!(steps(7, 2, 3, 3), steps(7, 2, 3, 3));
        assert_ne!(steps(7, 2, 3, 3), steps(8, 2, 3, 3));
        let rounds: BTreeSet<Vec<_>> =
            steps(7, 20, 1, 3).chunks(3).map(|round| round.iter().map(|step| step.configuration).collect()).collect();
        assert_eq!(rounds.len(), 6, "all orders of three come up in twenty rounds of this seed");
    }
}
