//! Which addresses were seen: a bit for each 8 bytes of those parts of the heap that have objects.
#![expect(unsafe_code, reason = "bits by address")]

use super::arena::Arena;

/// Bytes of heap that one block of bits is for.
const BLOCK_SHIFT: u32 = 21;
/// Bytes of a block of bits.
const BLOCK_BYTES: usize = 1 << (BLOCK_SHIFT - 3 - 3);
/// Places for blocks: enough for a heap of a terabyte, each behind a hash.
const PLACES: usize = 1 << 20;

#[derive(Clone, Copy)]
struct Place {
    /// Number of the block plus 1.
    key: usize,
    bits: *mut u8,
}

/// The bits.
pub(super) struct Seen {
    places: *mut Place,
    last: Place,
}

impl Seen {
    pub(super) fn new(arena: &mut Arena) -> Option<Self> {
        let places = arena.take(PLACES * size_of::<Place>())?.cast();
        Some(Self { places, last: Place { key: 0, bits: std::ptr::null_mut() } })
    }

    /// The bits of the block around an address; makes room for them where that is wanted.
    fn bits(&mut self, address: usize, mut arena: Option<&mut Arena>) -> Option<*mut u8> {
        let key = (address >> BLOCK_SHIFT) + 1;
        if self.last.key == key {
            return Some(self.last.bits);
        }
        let first = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        for at in first..first + PLACES {
            // SAFETY: `at` stays below the number of places.
            let place = unsafe { &mut *self.places.add(at & (PLACES - 1)) };
            if place.key == 0 {
                *place = Place { key, bits: arena.take()?.take(BLOCK_BYTES)? };
            }
            if place.key == key {
                self.last = *place;
                return Some(place.bits);
            }
        }
        None
    }

    /// Where the bit of an address lies in its block.
    const fn bit(address: usize) -> (usize, u8) {
        let unit = (address >> 3) & ((1 << (BLOCK_SHIFT - 3)) - 1);
        (unit >> 3, 1 << (unit & 7))
    }

    /// Notes an address; says whether it is new. `None`: there is no memory.
    pub(super) fn mark(&mut self, address: usize, arena: &mut Arena) -> Option<bool> {
        let bits = self.bits(address, Some(arena))?;
        let (at, bit) = Self::bit(address);
        // SAFETY: `at` is less than the length of a block.
        let byte = unsafe { &mut *bits.add(at) };
        let is_new = *byte & bit == 0;
        *byte |= bit;
        Some(is_new)
    }

    /// Whether an address was noted.
    pub(super) fn has(&mut self, address: usize) -> bool {
        let Some(bits) = self.bits(address, None) else { return false };
        let (at, bit) = Self::bit(address);
        // SAFETY: as above.
        unsafe { *bits.add(at) & bit != 0 }
    }
}
