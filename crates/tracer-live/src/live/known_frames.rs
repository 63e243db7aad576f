//! Numbers of frames by what the kernel says of them: new stacks are mostly made of frames that others have had, and finding the names of
//! one takes several look-ups, or reads of the target's memory.

use std::collections::HashMap;

use tracer_common::stack::RawFrame;

/// Most frames that are kept; a target decides how many there are.
const MAX_KEPT: usize = 1 << 14;

/// Frames that have their numbers.
#[derive(Debug, Default)]
pub(super) struct KnownFrames {
    lasting: HashMap<(u64, u64), Box<[u32]>>,
    /// What may have another meaning a moment later: where code has no number, and what could not be named.
    passing: HashMap<(u64, u64), Box<[u32]>>,
}

impl KnownFrames {
    /// The numbers of a frame, innermost first.
    pub(super) fn get(&self, RawFrame { tag, address }: RawFrame) -> Option<&[u32]> {
        let key = (tag, address);
        self.lasting.get(&key).or_else(|| self.passing.get(&key)).map(|numbers| &**numbers)
    }

    /// Keeps the numbers of a frame: until something is unloaded where they are `lasting`, else for a moment.
    pub(super) fn keep(&mut self, RawFrame { tag, address }: RawFrame, numbers: &[u32], lasting: bool) {
        let kept = if lasting { &mut self.lasting } else { &mut self.passing };
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert((tag, address), numbers.into());
    }

    /// A moment is over.
    pub(super) fn forget_passing(&mut self) {
        self.passing.clear();
    }

    /// Addresses may have got another meaning.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn frame(address: u64) -> RawFrame {
        RawFrame { tag: 1, address }
    }

    #[test]
    fn what_passes_is_kept_for_a_moment_and_the_rest_until_something_is_unloaded() {
        let mut known = KnownFrames::default();
        known.keep(frame(1), &[7, 8], true);
        known.keep(frame(2), &[9], false);
        assert_eq!((known.get(frame(1)), known.get(frame(2))), (Some(&[7, 8][..]), Some(&[9][..])));
        assert_eq!(known.get(RawFrame { tag: 2, address: 1 }), None);
        known.forget_passing();
        assert_eq!((known.get(frame(1)), known.get(frame(2))), (Some(&[7, 8][..]), None));
        known.forget();
        assert_eq!(known.get(frame(1)), None);
    }

    #[test]
    fn a_target_cannot_make_us_keep_any_number() {
        let mut known = KnownFrames::default();
        for address in 0..3 * MAX_KEPT as u64 {
            known.keep(frame(address), &[0], address % 2 == 0);
        }
        assert!(known.lasting.len() <= MAX_KEPT && known.passing.len() <= MAX_KEPT);
    }
}
