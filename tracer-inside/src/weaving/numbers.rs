//! Numbers of places. There are as many as the shared memory has room for, and who asks for more gets none.

use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

use tracer_common::marks::FIRST_PLACE;

use crate::memory::PLACES;

/// The end of all numbers.
#[expect(clippy::cast_possible_truncation, reason = "they have 32 bits in woven code")]
const END: u32 = PLACES as u32;

/// The number of the next place. A method that began in an earlier visit runs the code of that visit to its end, so numbers are not used
/// again, but for those of long ago.
pub(super) struct Numbers(AtomicU32);

impl Numbers {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(FIRST_PLACE))
    }

    /// The first number of a new visit: where more than half of them were used, from the beginning again.
    pub(super) fn first(&self) -> u32 {
        let next = self.0.load(Ordering::Relaxed);
        if next < END / 2 {
            return next;
        }
        self.0.store(FIRST_PLACE, Ordering::Relaxed);
        FIRST_PLACE
    }

    /// The next one; none where there are no more. It never goes beyond them: what is counted is read up to it.
    pub(super) fn next(&self) -> Option<u32> {
        let next = |at: u32| (at < END).then_some(at + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
    }

    /// Those that were given since this one.
    pub(super) fn since(&self, first: u32) -> Range<u32> {
        first..self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_memory_ends() {
        let numbers = Numbers::new();
        let first = numbers.first();
        assert_eq!((first, numbers.since(first).len()), (FIRST_PLACE, 0));
        let given = std::iter::from_fn(|| numbers.next()).count();
        assert_eq!((given, numbers.next()), (PLACES - first as usize, None));
        assert_eq!(numbers.since(first), first..END, "nobody reads behind it, however many asked");
        assert_eq!(numbers.first(), FIRST_PLACE, "the next visit has all of them");
    }

    #[test]
    fn a_visit_begins_behind_the_one_before() {
        let numbers = Numbers::new();
        assert_eq!(numbers.next(), Some(FIRST_PLACE));
        assert_eq!(numbers.first(), FIRST_PLACE + 1);
    }
}
