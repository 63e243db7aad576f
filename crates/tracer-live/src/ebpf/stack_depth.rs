//! How much stack a program takes by the rules of kernels that give all frames of a call chain one stack of 512 bytes. It
//! asks no kernel: newer ones, which give a program a stack of its own, would not refuse what these do.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of stack that all frames of a chain may take together.
pub const MAX_STACK_BYTES: u32 = 512;
/// Functions that can be under way at once.
pub const MAX_FRAMES: usize = 8;
/// What 6.1 rounds each frame up to, an empty one too; later kernels round to 16.
const FRAME_BYTES: u32 = 32;

/// The frames of a call chain, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Bytes of stack of each function.
    pub frames: Vec<u32>,
}

impl Chain {
    /// What all frames take together.
    pub fn bytes(&self) -> u32 {
        self.frames.iter().map(|frame| frame.max(&1).next_multiple_of(FRAME_BYTES)).sum()
    }
}

/// The chain that takes most. `calls` says which instruction calls a function that begins where, and `stack` how much each
/// function takes, in the order in which they lie in the program. Nothing where these do not fit together.
pub(super) fn deepest(calls: &BTreeMap<usize, usize>, instructions: usize, stack: &[u32]) -> Option<Chain> {
    let starts: BTreeSet<usize> = std::iter::once(0).chain(calls.values().copied()).collect();
    let starts: Vec<usize> = starts.into_iter().collect();
    if starts.len() != stack.len() || starts.last().is_some_and(|last| *last >= instructions) {
        return None;
    }
    let number = |start: &usize| starts.binary_search(start).ok();
    let ends = starts.iter().skip(1).copied().chain([instructions]);
    let called: Vec<BTreeSet<usize>> = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| calls.range(*start..end).filter_map(|(_, to)| number(to)).collect())
        .collect();
    // What a function and the calls below it take is known after one round more than calls nest.
    let mut below = vec![Chain::default(); stack.len()];
    for _ in 0..=MAX_FRAMES {
        below = (0..stack.len())
            .map(|function| {
                let deepest = called[function].iter().map(|to| &below[*to]).max_by_key(|chain| chain.bytes());
                let rest = deepest.map(|chain| chain.frames.clone()).unwrap_or_default();
                Chain { frames: std::iter::once(stack[function]).chain(rest).collect() }
            })
            .collect();
    }
    below.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_chain_is_found_and_each_frame_rounded() {
        // 0 calls 10 and 20, 10 calls 20 and 30.
        let calls = BTreeMap::from([(1, 10), (2, 20), (11, 20), (12, 30)]);
        let chain = deepest(&calls, 40, &[376, 136, 80, 0]).unwrap();
        assert_eq!(chain.frames, [376, 136, 80]);
        assert_eq!(chain.bytes(), 384 + 160 + 96);
        assert_eq!(Chain { frames: vec![0, 1, 33] }.bytes(), 32 + 32 + 64);
    }

    #[test]
    fn what_does_not_fit_together_is_not_guessed() {
        let calls = BTreeMap::from([(1, 10)]);
        assert_eq!(deepest(&calls, 40, &[8]), None);
        assert_eq!(deepest(&calls, 10, &[8, 8]), None);
        assert_eq!(deepest(&BTreeMap::new(), 1, &[8]), Some(Chain { frames: vec![8] }));
    }

    #[test]
    fn a_program_that_calls_itself_ends() {
        let calls = BTreeMap::from([(1, 0)]);
        assert!(deepest(&calls, 2, &[8]).unwrap().frames.len() > MAX_FRAMES);
    }
}
