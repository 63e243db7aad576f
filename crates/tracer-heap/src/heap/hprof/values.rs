//! The first bytes of those arrays of a dump of which copies take most memory.

use tracer_weave::{
    content::frequent::{self, Place},
    walk::MAX_VALUES,
};

use crate::heap::{build::Builder, contents::Value};

/// Places for contents that are there more than once.
const PLACES: usize = 1 << 16;

/// What those arrays hold of which copies take most memory.
#[derive(Default)]
pub(super) struct Values {
    places: Vec<Place>,
    /// The first bytes of what has each place.
    heads: Vec<Vec<u8>>,
}

impl Values {
    pub(super) fn new() -> Self {
        Self { places: vec![Place::default(); PLACES], heads: vec![Vec::new(); PLACES] }
    }

    pub(super) fn add(&mut self, digest: u64, bytes: u64, head: &[u8]) {
        let taken = frequent::add(&mut self.places, digest, 0, bytes).and_then(|number| self.heads.get_mut(number));
        if let Some(known) = taken {
            known.clear();
            known.extend_from_slice(head);
        }
    }

    pub(super) fn tell(mut self, builder: &mut Builder) {
        for _ in 0..MAX_VALUES {
            let Some((number, Place { digest, bytes, .. })) = frequent::take_most(&mut self.places) else { return };
            builder.value(digest, Value { first: self.heads.get(number).cloned().unwrap_or_default(), bytes });
        }
    }
}
