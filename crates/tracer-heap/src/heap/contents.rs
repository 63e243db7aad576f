//! What is known of what arrays and boxed numbers hold: which are equal, and how many zeros are at the end. What some arrays hold is known
//! where that was asked for.

mod value;

pub use value::Value;

use super::graph::Node;
use crate::text::class_name::PRIMITIVES;

/// Classes of `java.lang` whose objects hold one number.
const BOXES: [&str; 8] = ["Boolean", "Byte", "Character", "Short", "Integer", "Float", "Long", "Double"];
/// Bytes at the end of an array that are worth being told of where they are zero.
const ZEROS: u64 = 64;

/// What one array or boxed number holds, as it was told.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Which one.
    pub node: Node,
    /// The same for equal contents.
    pub digest: u64,
    /// Bytes at the end that are zero.
    pub zeros: u64,
}

/// What is known of all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Those that are equal to another one, in their order, with the number of what they hold.
    pub equal: Vec<(Node, u32)>,
    /// Those with many zeros at the end, in their order, with how many bytes that are.
    pub zeros: Vec<(Node, u32)>,
    /// What equal ones hold, by those numbers and in their order, as far as it was told.
    pub values: Vec<(u32, Value)>,
}

impl Contents {
    /// Puts equal ones together. Each object is told of once, in the order of their numbers; values come with their digests.
    pub fn of(told: &[Told], values: Vec<(u64, Value)>) -> Self {
        let mut digests: Vec<u64> = told.iter().map(|told| told.digest).collect();
        digests.sort_unstable();
        // Only what is there twice has a number.
        let mut numbered: Vec<u64> = digests.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        numbered.dedup();
        drop(digests);
        let number = |digest: u64| u32::try_from(numbered.binary_search(&digest).ok()?).ok();
        let mut values: Vec<_> =
            values.into_iter().filter_map(|(digest, value)| Some((number(digest)?, value))).collect();
        values.sort_by_key(|(number, _)| *number);
        values.dedup_by_key(|(number, _)| *number);
        let zeros = told.iter().filter(|told| told.zeros >= ZEROS);
        let mut contents = Self {
            equal: told.iter().filter_map(|told| Some((told.node, number(told.digest)?))).collect(),
            values,
            zeros: zeros.map(|told| (told.node, u32::try_from(told.zeros).unwrap_or(u32::MAX))).collect(),
        };
        contents.equal.shrink_to_fit();
        contents.zeros.shrink_to_fit();
        contents
    }

    /// What those of a number hold, where it is known.
    pub fn value(&self, number: u32) -> Option<&Value> {
        let at = self.values.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.values.get(at).map(|(_, value)| value)
    }

    /// Bytes that it takes in memory.
    pub const fn memory(&self) -> usize {
        size_of::<(Node, u32)>() * (self.equal.capacity() + self.zeros.capacity())
    }
}

/// Bytes of an element of an array of numbers; absent of other classes.
pub fn element_bytes(class: &str) -> Option<u64> {
    let element = class.strip_suffix("[]")?;
    let (_, letter) = PRIMITIVES.into_iter().find(|(name, _)| *name == element)?;
    Some(match letter {
        'Z' | 'B' => 1,
        'C' | 'S' => 2,
        'I' | 'F' => 4,
        _ => 8,
    })
}

/// Whether objects of a class hold one number.
pub fn is_box(class: &str) -> bool {
    class.strip_prefix("java.lang.").is_some_and(|name| BOXES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_have_one_number_and_those_that_are_there_once_have_none() {
        let told = |node, digest, zeros| Told { node, digest, zeros };
        let all =
            [told(2, 900, 0), told(3, 7, 64), told(5, 900, 63), told(6, 1, 1 << 40), told(9, 7, 0), told(10, 7, 0)];
        let value = |first: &[u8]| Value { first: first.to_vec(), bytes: 2 };
        let values = vec![(900, value(b"DE")), (7, value(b"AT")), (1, value(b"CH")), (7, value(b"XX"))];
        let contents = Contents::of(&all, values);
        assert_eq!(contents.equal, [(2, 1), (3, 0), (5, 1), (9, 0), (10, 0)]);
        assert_eq!(contents.zeros, [(3, 64), (6, u32::MAX)]);
        assert_eq!([0, 1, 2].map(|number| contents.value(number)), [Some(&value(b"AT")), Some(&value(b"DE")), None]);
        assert_eq!(Contents::of(&[], Vec::new()), Contents::default());
    }
}
