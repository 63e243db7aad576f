//! What samples of allocation come to: those of a class, of a place, or of all.

use super::super::table::Merge;
use crate::event::StackId;

/// Samples of a class, or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampled {
    pub(super) tlabs: u64,
    /// Bytes in TLABs that samples stand for.
    pub(super) tlab_bytes: u64,
    /// Sum of their squares.
    pub(super) squares: f64,
    pub(super) outside: u64,
    pub(super) outside_bytes: u64,
    pub(super) largest_object_bytes: u64,
}

impl Sampled {
    pub(super) fn tlab(&mut self, tlab_bytes: u64, object_bytes: u64) {
        self.tlabs += 1;
        self.in_tlabs(tlab_bytes);
        self.largest_object_bytes = self.largest_object_bytes.max(object_bytes);
    }

    pub(super) fn in_tlabs(&mut self, bytes: u64) {
        self.tlab_bytes = self.tlab_bytes.saturating_add(bytes);
        self.squares += (bytes as f64) * (bytes as f64);
    }

    /// One that stands for so many, and for bytes in TLABs besides.
    pub(super) fn outside(&mut self, object_bytes: u64, tlab_bytes: u64, stands_for: u64) {
        self.outside += 1;
        self.in_tlabs(tlab_bytes.saturating_mul(stands_for));
        self.outside_bytes = self.outside_bytes.saturating_add(object_bytes.saturating_mul(stands_for));
        if stands_for > 1 {
            let bytes = object_bytes.saturating_mul(stands_for) as f64;
            self.squares += bytes * bytes;
        }
        self.largest_object_bytes = self.largest_object_bytes.max(object_bytes);
    }

    pub(super) const fn samples(&self) -> u64 {
        self.tlabs + self.outside
    }

    pub(super) const fn estimated_bytes(&self) -> u64 {
        self.tlab_bytes.saturating_add(self.outside_bytes)
    }

    /// Relative standard error of the estimate; nothing where there is no estimate.
    pub(super) fn error_percent(&self) -> Option<f64> {
        let estimated = self.estimated_bytes() as f64;
        (estimated > 0.0).then(|| 100.0 * self.squares.sqrt() / estimated)
    }
}

impl Merge for Sampled {
    fn merge(&mut self, other: &Self) {
        self.tlabs += other.tlabs;
        self.tlab_bytes = self.tlab_bytes.saturating_add(other.tlab_bytes);
        self.squares += other.squares;
        self.outside += other.outside;
        self.outside_bytes = self.outside_bytes.saturating_add(other.outside_bytes);
        self.largest_object_bytes = self.largest_object_bytes.max(other.largest_object_bytes);
    }
}

/// Samples of a place, with the stack that has most of them, and how much.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    pub(super) sampled: Sampled,
    pub(super) most: (u64, StackId),
}

impl Placed {
    pub(super) const fn new(sampled: Sampled, stack: StackId) -> Self {
        Self { sampled, most: (sampled.estimated_bytes(), stack) }
    }
}

impl Merge for Placed {
    fn merge(&mut self, other: &Self) {
        self.sampled.merge(&other.sampled);
        // Ids decide among equals, so that two replays say the same.
        self.most = self.most.max(other.most);
    }
}
