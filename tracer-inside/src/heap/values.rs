//! The first bytes of those arrays of which copies take most memory: texts above all. They are told where the user has asked for them.
#![expect(unsafe_code, reason = "arrays by their addresses")]

use std::{ptr, slice};

use tracer_weave::{
    content::frequent::{self, Place},
    walk::{self, MAX_VALUE_BYTES},
};

use super::{arena::Arena, told::Out};

/// Places for contents: 2.5 MiB.
const PLACES: usize = 1 << 16;

/// Contents that are there more than once.
pub(super) struct Values {
    places: *mut Place,
}

impl Values {
    /// Nothing yet. All of it is zero, which is no place that is taken.
    pub(super) fn new(arena: &mut Arena) -> Option<Self> {
        Some(Self { places: arena.take(PLACES * size_of::<Place>())?.cast() })
    }

    fn places(&mut self) -> &mut [Place] {
        // SAFETY: so many were taken, at an address that 16 divides, and nobody else has them. Each is numbers, which are zero at first.
        unsafe { slice::from_raw_parts_mut(self.places, PLACES) }
    }

    /// Takes in an array with bytes at an address.
    pub(super) fn add(&mut self, digest: u64, at: usize, bytes: usize) {
        frequent::add(self.places(), digest, at as u64, bytes as u64);
    }

    /// Tells the first bytes of those, up to so many, of which copies take most.
    ///
    /// # Safety
    ///
    /// The arrays that were added lie where they did.
    pub(super) unsafe fn tell(&mut self, most: usize, out: &mut Out) {
        for _ in 0..most {
            let Some((_, place)) = frequent::take_most(self.places()) else { return };
            let (Ok(at), Ok(bytes)) = (usize::try_from(place.at), usize::try_from(place.bytes)) else { continue };
            let shown = bytes.min(MAX_VALUE_BYTES);
            // SAFETY: the array is there, and has at least so many bytes.
            let first = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(at), shown) };
            out.room();
            out.byte(walk::VALUE);
            out.eight(place.digest);
            out.number(place.bytes);
            out.number(shown as u64);
            for byte in first {
                out.byte(*byte);
            }
        }
    }
}
