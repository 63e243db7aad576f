//! The compressed table of a method that leads from bytecode indices to lines.
//!
//! It is a list of steps: a byte of 5 bits of bytecode and 3 bits of lines, or 255 and two signed numbers, up to a byte 0.
//! Indices may go down again (code of a `finally` block), so the whole table is gone through.

use super::unsigned5::Reader;

/// A line table as the JVM holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    bytes: Box<[u8]>,
    excluded: u8,
}

impl Lines {
    /// Takes the table at the start of these bytes. What does not end is none: it was cut, or it is something else.
    pub(super) fn new(bytes: &[u8], excluded: u8) -> Option<Self> {
        let mut steps = Steps::new(bytes, excluded);
        steps.by_ref().for_each(drop);
        let end = steps.end?;
        Some(Self { bytes: bytes.get(..end)?.into(), excluded })
    }

    /// The line of a bytecode index: that of its first entry, else of the last one of the nearest index before it, as the
    /// JVM itself answers.
    pub fn line(&self, bci: u32) -> Option<u32> {
        let mut best: Option<(u32, u32)> = None;
        for (at, line) in Steps::new(&self.bytes, self.excluded) {
            if at == bci {
                return Some(line);
            }
            if at < bci && best.is_none_or(|(best, _)| at >= best) {
                best = Some((at, line));
            }
        }
        best.map(|(_, line)| line)
    }

    /// Size in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// The entries of a table, each a bytecode index and a line.
struct Steps<'a> {
    reader: Reader<'a>,
    bci: u32,
    line: u32,
    /// Where the table ended, once it did.
    end: Option<usize>,
}

impl<'a> Steps<'a> {
    const fn new(bytes: &'a [u8], excluded: u8) -> Self {
        Self { reader: Reader::new(bytes, excluded), bci: 0, line: 0, end: None }
    }
}

impl Iterator for Steps<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        if self.end.is_some() {
            return None;
        }
        match self.reader.byte()? {
            0 => {
                self.end = Some(self.reader.position());
                return None;
            }
            255 => {
                self.bci = self.bci.wrapping_add_signed(self.reader.signed()?);
                self.line = self.line.wrapping_add_signed(self.reader.signed()?);
            }
            step => {
                self.bci = self.bci.wrapping_add(u32::from(step >> 3));
                self.line = self.line.wrapping_add(u32::from(step & 7));
            }
        }
        Some((self.bci, self.line))
    }
}

/// Writes a table the way HotSpot does.
#[cfg(any(test, feature = "testing"))]
pub(in super::super) fn encode(entries: &[(u32, u32)], excluded: u8) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), (0, 0));
    for &(bci, line) in entries {
        let steps = (i64::from(bci) - i64::from(last.0), i64::from(line) - i64::from(last.1));
        match steps {
            (bci @ 0..32, line @ 0..8) if bci * 8 + line != 255 && bci * 8 + line != 0 => {
                out.push(u8::try_from(bci * 8 + line).expect("small"));
            }
            (bci, line) => {
                out.push(255);
                for number in [bci, line] {
                    let number = i32::try_from(number).expect("small");
                    let zigzag = (number << 1 ^ number >> 31).cast_unsigned();
                    super::unsigned5::encode(zigzag, excluded, &mut out);
                }
            }
        }
        last = (bci, line);
    }
    out.push(0);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_entry_before_an_index_has_its_line() {
        for excluded in [0, 1] {
            let table = encode(&[(0, 10), (8, 12), (40, 11), (41, 900)], excluded);
            let lines = Lines::new(&table, excluded).unwrap();
            let found: Vec<_> = [0, 7, 8, 39, 40, 41, 60_000].map(|bci| lines.line(bci).unwrap()).into();
            assert_eq!(found, [10, 10, 12, 12, 11, 900, 900]);
        }
    }

    #[test]
    fn entries_may_go_back() {
        let table = encode(&[(20, 30), (5, 7), (10, 8)], 1);
        let lines = Lines::new(&table, 1).unwrap();
        assert_eq!([4, 5, 12, 25].map(|bci| lines.line(bci)), [None, Some(7), Some(8), Some(30)]);
    }

    #[test]
    fn what_follows_the_table_is_not_part_of_it() {
        let mut bytes = encode(&[(0, 3)], 0);
        let len = bytes.len();
        bytes.extend([7; 9]);
        assert_eq!(Lines::new(&bytes, 0).unwrap().len(), len);
    }

    #[test]
    fn a_table_without_end_is_none() {
        let table = encode(&[(0, 10), (50, 1000)], 0);
        for len in 0..table.len() {
            assert_eq!(Lines::new(&table[..len], 0), None);
        }
    }

    #[test]
    fn fuzz_lines() {
        crate::fuzz::each("lines", usize::MAX, |dice| {
            let (bytes, excluded) = (dice.bytes(100), dice.byte() % 2);
            let bci = u32::from_le_bytes(std::array::from_fn(|_| dice.byte()));
            let len = crate::fuzz::metered(64 * bytes.len() + 4096, || {
                let lines = Lines::new(&bytes, excluded)?;
                lines.line(bci);
                Some(lines.len())
            });
            assert!(len.is_none_or(|len| len <= bytes.len()));
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn every_exact_index_gives_the_first_of_its_lines(
            entries in prop::collection::vec((0_u32..65_536, 0_u32..65_536), 1..40), excluded in 0_u8..=1
        ) {
            let lines = Lines::new(&encode(&entries, excluded), excluded).unwrap();
            for &(bci, _) in &entries {
                let first = entries.iter().find(|entry| entry.0 == bci).unwrap().1;
                prop_assert_eq!(lines.line(bci), Some(first));
            }
        }
    }
}
