//! Which contents take most bytes by being there more than once: found in one pass, in memory of a fixed size.
//!
//! A digest has eight places, which it shares with others. Where all are taken, who has one loses as many bytes as the newcomer brings, and
//! goes when it has none left ([Misra and Gries](https://doi.org/10.1016/0167-6423(82)90012-0), for each eight places apart). So contents
//! stay that take more than a ninth of the bytes that come to their places, whatever the order.

/// Places that a digest can have, one behind the other.
const WAYS: usize = 8;
/// Bytes of an array besides those that it holds: about so many, and the same for all.
const HEADER: u64 = 16;

/// Where contents lie of which one is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Their digest.
    pub digest: u64,
    /// Where the first of them lies, as whoever adds it says.
    pub at: u64,
    /// Bytes of one of them.
    pub bytes: u64,
    /// Times that they were seen while they have the place: no more often than they are there.
    pub copies: u64,
    /// What is left of their bytes beside those of others.
    left: u64,
}

impl Place {
    /// Bytes of all but one.
    const fn spare(&self) -> u64 {
        self.bytes.saturating_add(HEADER).saturating_mul(self.copies.saturating_sub(1))
    }
}

/// Takes contents in, of which a place is kept in a list whose length is a power of two, and eight or more; says which place they have got
/// just now.
pub fn add(places: &mut [Place], digest: u64, at: u64, bytes: u64) -> Option<usize> {
    let first = usize::try_from(digest).unwrap_or_default() & places.len().checked_sub(1)? & !(WAYS - 1);
    let weight = bytes.saturating_add(HEADER);
    let own = places.get_mut(first..first + WAYS)?;
    if let Some(place) = own.iter_mut().find(|place| place.digest == digest && place.copies > 0) {
        place.copies += 1;
        place.left = place.left.saturating_add(weight);
        return None;
    }
    let lost = own.iter().map(|place| place.left).min()?.min(weight);
    for place in own.iter_mut() {
        place.left -= lost;
    }
    let left = Some(weight - lost).filter(|left| *left > 0)?;
    let way = own.iter().position(|place| place.left == 0)?;
    *own.get_mut(way)? = Place { digest, at, bytes, copies: 1, left };
    Some(first + way)
}

/// Takes out the contents of which all but one copy have most bytes, with the number of their place; nothing where none is left that is
/// there twice.
pub fn take_most(places: &mut [Place]) -> Option<(usize, Place)> {
    let twice = places.iter_mut().enumerate().filter(|(_, place)| place.copies > 1);
    let (number, most) = twice.max_by_key(|(_, place)| place.spare())?;
    Some((number, std::mem::take(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(places: &mut [Place]) -> Vec<(u64, u64, u64)> {
        std::iter::from_fn(|| take_most(places)).map(|(_, place)| (place.digest, place.copies, place.bytes)).collect()
    }

    #[test]
    fn those_of_which_copies_have_most_bytes_come_first() {
        let mut places = [Place::default(); 16];
        for (digest, bytes, copies) in [(1, 10, 5), (2, 1000, 2), (3, 500, 1), (4, 1, 900)] {
            for copy in 0..copies {
                add(&mut places, digest, 100 * digest + copy, bytes);
            }
        }
        assert_eq!(places.iter().find(|place| place.digest == 1).map(|place| place.at), Some(100), "the first one");
        assert_eq!(all(&mut places), [(4, 900, 1), (2, 2, 1000), (1, 5, 10)]);
    }

    /// However many there are that are there once, and however large some of these are.
    #[test]
    fn what_is_there_often_stays_among_others_that_are_there_once() {
        let mut places = [Place::default(); 16];
        for number in 0..30_000_u64 {
            let bytes = if number.is_multiple_of(10_000) { 100_000 } else { 50 };
            add(&mut places, 16 * number + 17, number, bytes);
            if number.is_multiple_of(3) {
                add(&mut places, 1, number, 40);
            }
        }
        let found = all(&mut places);
        assert_eq!(found.first().map(|(digest, ..)| *digest), Some(1), "{found:?}");
        assert!(found[0].1 > 9_000 && found[0].1 <= 10_000, "never more often than it is there: {found:?}");
    }

    #[test]
    fn the_digest_zero_is_one_like_others_and_no_place_is_no_fault() {
        let mut places = [Place::default(); 16];
        add(&mut places, 0, 7, 8);
        add(&mut places, 0, 8, 8);
        assert_eq!(all(&mut places), [(0, 2, 8)]);
        assert_eq!(add(&mut places, 13, 1, 1), Some(8));
        assert_eq!((add(&mut places, 13, 1, 1), add(&mut [], 1, 1, 1)), (None, None));
        assert_eq!(take_most(&mut []), None);
    }
}
