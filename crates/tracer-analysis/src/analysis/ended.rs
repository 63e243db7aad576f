//! Threads that ended and are no longer told apart.

use crate::event::Tid;

/// A sentence where the kernel's counts of such threads were summed up.
pub(super) fn note(mut threads: impl Iterator<Item = Tid>) -> Option<String> {
    threads.any(|tid| tid == Tid::ENDED).then(|| {
        "Threads that ended are one row, `(ended threads)`: there were too many to keep the counts of each.".to_owned()
    })
}
