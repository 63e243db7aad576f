//! Beginnings and ends in the order in which they happened. A file has an event where it ends, and those of one thread
//! apart from those of another.

use std::cmp::Reverse;

use tracer_common::record::EventKind;

use crate::{
    event::{SiteId, StackId, Tid},
    source::encode::encode_event_with_stack,
};

/// Most words of an event that is made of a file.
pub(super) const WORDS: usize = 5;

/// A beginning or an end.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) time_ns: u64,
    pub(super) place: Place,
    pub(super) kind: EventKind,
    pub(super) site: SiteId,
    pub(super) tid: Tid,
    pub(super) stack: StackId,
    pub(super) words: [u64; WORDS],
}

/// Where an edge stands among those of the same moment. What began before ends first, the innermost before what is
/// around it; then begins what begins now, the outermost first. What takes no time at all is last, and never apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Whether it belongs to what begins in this moment.
    begins: bool,
    /// Of ends, the one that began last comes first; of beginnings, the one that ends last.
    other_ns: Reverse<u64>,
    /// What is around others of the same time begins before them, and ends after them.
    rank: u8,
    number: u32,
    is_end: bool,
}

/// How far a stretch is inside of others, where both take the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Safepoint,
    Operation,
    Pause,
    Thread,
}

/// The places of both edges of a stretch, whose number tells it from others.
pub(super) fn places((start_ns, end_ns): (u64, u64), within: Within, number: u32) -> [Place; 2] {
    let rank = within as u8;
    let begin = Place { begins: true, other_ns: Reverse(end_ns), rank, number, is_end: false };
    let end = if end_ns > start_ns {
        Place { begins: false, other_ns: Reverse(start_ns), rank: u8::MAX - rank, number, is_end: true }
    } else {
        Place { is_end: true, ..begin }
    };
    [begin, end]
}

/// The place of a moment.
pub(super) const fn moment(time_ns: u64, number: u32) -> Place {
    Place { begins: true, other_ns: Reverse(time_ns), rank: Within::Thread as u8, number, is_end: false }
}

/// Puts them in order.
pub(super) fn sort(edges: &mut [Edge]) {
    edges.sort_unstable_by_key(|edge| (edge.time_ns, edge.place));
}

impl Edge {
    /// As a record of a live session.
    pub(super) fn record(&self) -> Vec<u8> {
        encode_event_with_stack(self.kind, self.site, self.tid, self.time_ns, self.stack, &self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of stretches, each a name, its edges and how far inside it is.
    fn ordered(stretches: &[(&'static str, u64, u64, Within)]) -> Vec<String> {
        let mut all = Vec::new();
        for ((name, start_ns, end_ns, within), number) in stretches.iter().zip(0..) {
            let [begin, end] = places((*start_ns, *end_ns), *within, number);
            all.push((*start_ns, begin, format!("+{name}")));
            all.push((*end_ns, end, format!("-{name}")));
        }
        all.sort();
        all.into_iter().map(|(.., name)| name).collect()
    }

    #[test]
    fn what_is_inside_begins_later_and_ends_earlier() {
        use Within::{Operation, Pause, Safepoint, Thread};
        let stretches = [("gc", 5, 9, Pause), ("op", 5, 9, Operation), ("safe", 5, 9, Safepoint)];
        assert_eq!(ordered(&stretches), ["+safe", "+op", "+gc", "-gc", "-op", "-safe"]);
        let stretches = [("inner", 5, 8, Thread), ("outer", 5, 9, Thread), ("last", 7, 9, Thread)];
        assert_eq!(ordered(&stretches), ["+outer", "+inner", "+last", "-inner", "-last", "-outer"]);
    }

    #[test]
    fn one_ends_before_the_next_begins_and_what_takes_no_time_is_not_torn_apart() {
        use Within::Thread;
        let stretches = [("b", 5, 9, Thread), ("a", 1, 5, Thread), ("none", 5, 5, Thread), ("nil", 5, 5, Thread)];
        assert_eq!(ordered(&stretches), ["+a", "-a", "+b", "+none", "-none", "+nil", "-nil", "-b"]);
    }
}
