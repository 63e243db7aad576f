//! The JVM's own opcodes: it replaces bytecodes by others as it runs them, and each of those stands for one of the class file.

use super::super::{memory::library::Library, peek::Peek};

/// The first opcode of the JVM's own (the one for breakpoints).
pub(super) const FIRST: u8 = 0xca;
/// How many there can be.
const COUNT: usize = 256 - FIRST as usize;
/// What stands for no bytecode, or for an unknown one.
const NONE: u8 = FIRST;

/// The first release of which it was looked up what its own opcodes stand for.
const FIRST_KNOWN: u32 = 11;
/// The last release before two more came among them.
const LAST_KNOWN: u32 = 27;
/// The first update of 8 of which it was looked up, as it was of 8u504. Older ones may have others.
const FIRST_UPDATE_KNOWN: u32 = 252;
/// The JVM's table of what each opcode stands for, an `int` each. It is in no table of structures, and not exported.
const TABLE: &str = "_ZN9Bytecodes10_java_codeE";

/// What they stood for in the builds of 11, 17, 21, 25 and 27 (`Bytecodes::_java_code`, read there): how many in a row for which. Behind
/// the one for breakpoints they read and write fields, load variables, call, choose, load constants and return.
///
/// <https://github.com/openjdk/jdk/blob/jdk-25-ga/src/hotspot/share/interpreter/bytecodes.cpp>
const KNOWN: [(usize, u8); 15] = [
    (1, NONE),
    (8, 0xb4),
    (9, 0xb5),
    (4, 0x2a),
    (3, 0x15),
    (1, 0xb6),
    (2, 0xab),
    (1, 0x12),
    (1, 0x13),
    (1, 0xb1),
    (1, 0xb6),
    (1, 0xb4),
    (1, 0xb5),
    (1, 0x2a),
    (1, 0x15),
];

/// Which opcode of the class file each of the JVM's own stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcodes {
    own: [u8; COUNT],
}

impl Opcodes {
    /// Of a release; nothing where its opcodes have other numbers, or nobody has looked.
    pub(super) fn of_release(release: u32) -> Option<Self> {
        let known = KNOWN.iter().flat_map(|&(count, opcode)| std::iter::repeat_n(opcode, count));
        (FIRST_KNOWN..=LAST_KNOWN).contains(&release).then(|| Self::new(known))
    }

    /// Of an update of 8, whose own opcodes are those of 11 but for the last ones, which it has not.
    pub(super) fn of_update_of_8(update: u32) -> Option<Self> {
        (update >= FIRST_UPDATE_KNOWN).then(|| Self::of_release(FIRST_KNOWN)).flatten()
    }

    /// From the JVM's own table, where the library's symbols lead to it.
    pub(super) fn read(peek: &impl Peek, libjvm: &Library) -> Option<Self> {
        let address = *libjvm.symbols(&[TABLE]).ok()?.get(TABLE)?;
        Self::in_table(&peek.bytes(address, 256 * size_of::<u32>()).ok()?)
    }

    /// From the bytes of that table, and what lies behind it: how long it is differs. Nothing where it cannot be one.
    fn in_table(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let codes: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (of_class_files, own) = codes.split_at_checked(usize::from(FIRST) + 1)?;
        // Each opcode of the class file stands for itself, and so does the one for breakpoints.
        let is_table = of_class_files.iter().zip(0_u32..).all(|(code, opcode)| *code == opcode);
        // The last of the JVM's own stands for nothing, so for itself, too.
        let of_class_file = |code: &u32| u8::try_from(*code).ok().filter(|code| *code < FIRST);
        let own: Vec<u8> = own.iter().map_while(of_class_file).collect();
        (is_table && !own.is_empty()).then(|| Self::new(std::iter::once(NONE).chain(own)))
    }

    fn new(stand_for: impl IntoIterator<Item = u8>) -> Self {
        let mut own = [NONE; COUNT];
        for (own, opcode) in own.iter_mut().zip(stand_for) {
            *own = opcode;
        }
        Self { own }
    }

    /// The opcode that the class file has where this one stands; nothing where the JVM has put a breakpoint, or something unknown.
    pub(super) fn of_class_file(&self, opcode: u8) -> Option<u8> {
        match opcode.checked_sub(FIRST) {
            None => Some(opcode),
            Some(index) => self.own.get(usize::from(index)).copied().filter(|opcode| *opcode != NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the JVM of 28 has it: one more that reads fields, and one more that writes them.
    fn table(reading: usize, writing: usize) -> Vec<u8> {
        let rows = KNOWN.iter().skip(3).flat_map(|&(count, opcode)| std::iter::repeat_n(u32::from(opcode), count));
        let fields = std::iter::repeat_n(0xb4, reading).chain(std::iter::repeat_n(0xb5, writing));
        let codes: Vec<u32> = (0..=u32::from(FIRST)).chain(fields).chain(rows).collect();
        let last = u32::try_from(codes.len()).unwrap();
        codes
            .into_iter()
            .chain([last])
            .chain(std::iter::repeat(0x0101_0101))
            .take(256)
            .flat_map(u32::to_le_bytes)
            .collect()
    }

    #[test]
    fn the_table_of_a_jvm_is_what_is_known_of_its_release() {
        assert_eq!(Opcodes::in_table(&table(8, 9)), Opcodes::of_release(25));
        assert_eq!(Opcodes::of_release(28), None);
        assert_eq!(Opcodes::of_release(8), None);
        assert_eq!(Opcodes::of_update_of_8(504), Opcodes::of_release(11));
        assert_eq!(Opcodes::of_update_of_8(92), None);
    }

    #[test]
    fn opcodes_of_a_later_release_are_read_and_what_stands_for_none_is_not_known() {
        let opcodes = Opcodes::in_table(&table(9, 10)).unwrap();
        // `_fast_aload_0`, `_fast_invokevfinal` and `_fast_aldc` of 28.
        assert_eq!(
            [0xde, 0xe5, 0xe8].map(|opcode| opcodes.of_class_file(opcode)),
            [Some(0x2a), Some(0xb6), Some(0x12)]
        );
        assert_eq!(opcodes.of_class_file(0xb6), Some(0xb6));
        assert_eq!([0xca, 0xf0, 0xff].map(|opcode| opcodes.of_class_file(opcode)), [None; 3]);
    }

    #[test]
    fn what_is_no_such_table_is_not_taken_for_one() {
        let mut other = table(8, 9);
        other[4 * 0x2a] = 0x2b;
        assert_eq!(Opcodes::in_table(&other), None);
        assert_eq!(Opcodes::in_table(&table(8, 9)[..800]), None);
        assert_eq!(Opcodes::in_table(&[]), None);
    }

    #[test]
    fn fuzz_opcodes() {
        let real = table(9, 10);
        crate::fuzz::each("opcodes", usize::MAX, |dice| {
            let mut bytes = real.clone();
            for _ in 0..dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.byte();
            }
            bytes.truncate(dice.below(bytes.len() + 1));
            if let Some(opcodes) = crate::fuzz::metered(4096, || Opcodes::in_table(&bytes)) {
                let all = (0..=u8::MAX).filter_map(|opcode| opcodes.of_class_file(opcode));
                assert!(all.into_iter().all(|opcode| opcode < FIRST), "one of the JVM's own is none of a class file");
            }
        });
    }
}
