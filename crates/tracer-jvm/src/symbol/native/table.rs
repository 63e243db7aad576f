//! The symbols of one file, by address.

use std::{fmt::Write as _, ops::Range, path::Path};

use crate::{
    jvm::elf::{self, Elf},
    stack::shared_text::SharedText,
};

/// Most symbols of one file that are kept.
pub(super) const MAX_SYMBOLS: usize = 1 << 20;
/// Most bytes of names of one file that are kept; a libjvm.so has a tenth of them.
pub(super) const MAX_NAME_BYTES: usize = 64 << 20;
/// Code between symbols is padding up to this many bytes; a return address can lie there.
const PADDING_BYTES: u64 = 16;
/// How far code that has no size in the table can reach: it is written by hand, and short.
const MAX_UNSIZED_BYTES: u64 = 4096;
/// The note in which linkers say which build a file is, and whose note it is.
const BUILD_ID: (&str, &[u8], u32) = (".note.gnu.build-id", b"GNU", 3);
/// Longest build id that is taken; a hash has 16 or 20 bytes.
const MAX_BUILD_ID_BYTES: usize = 64;
/// How many symbols before an address are looked at for one that reaches over it: functions hardly ever nest.
const MAX_NESTED: usize = 8;

/// Symbols of code by rising addresses, and their names one after another.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    code: Vec<Symbol>,
    names: Vec<u8>,
    /// In hexadecimal digits.
    pub(super) build_id: Option<SharedText>,
    /// How many symbols there were, those of data included.
    pub(super) looked_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u64,
    bytes: u32,
    name: u32,
    name_bytes: u32,
}

impl Symbol {
    fn reaches(&self, address: u64) -> bool {
        let within = address.wrapping_sub(self.start);
        within < u64::from(self.bytes)
    }
}

impl Symbols {
    /// Reads `.symtab` and `.dynsym` of a file. `code` is where its code lies: symbols elsewhere are data.
    pub(super) fn read(path: &Path, code: &[Range<u64>]) -> Result<Self, elf::Error> {
        let data = elf::read_tables(path)?;
        Ok(Self::of(&Elf::parse(&data)?, code))
    }

    /// The symbols of a file that is in memory.
    pub(super) fn parse(data: &[u8], code: &[Range<u64>]) -> Result<Self, elf::Error> {
        Ok(Self::of(&Elf::parse(data)?, code))
    }

    fn of(elf: &Elf<'_>, code: &[Range<u64>]) -> Self {
        let is_code = |address: u64| address != 0 && code.iter().any(|range| range.contains(&address));
        let mut looked_at = 0;
        let symbols =
            elf.symbols().inspect(|_| looked_at += 1).filter(|(_, symbol)| is_code(symbol.address)).take(MAX_SYMBOLS);
        let mut best: Vec<(u64, u32, &[u8])> = symbols
            .map(|(name, symbol)| (symbol.address, u32::try_from(symbol.size).unwrap_or(u32::MAX), name))
            .collect();
        // Of several symbols at one address, the one is kept that says most: a size, few underscores, the first.
        best.sort_by(|(a, a_bytes, a_name), (b, b_bytes, b_name)| {
            a.cmp(b).then_with(|| rank(*a_bytes, a_name).cmp(&rank(*b_bytes, b_name)))
        });
        best.dedup_by_key(|(address, ..)| *address);
        let mut all = Self { looked_at, build_id: build_id(elf).map(Into::into), ..Self::default() };
        for (start, bytes, text) in best {
            let (Ok(name), Ok(name_bytes)) = (u32::try_from(all.names.len()), u32::try_from(text.len())) else { break };
            if all.names.len() + text.len() > MAX_NAME_BYTES {
                break;
            }
            all.names.extend_from_slice(text);
            all.code.push(Symbol { start, bytes, name, name_bytes });
        }
        all
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.code.len() * size_of::<Symbol>() + self.names.len()
    }

    /// The mangled name of the function around an address of the file.
    pub(super) fn name(&self, address: u64) -> Option<&[u8]> {
        let behind = self.code.partition_point(|symbol| symbol.start <= address);
        let before = &self.code[..behind];
        let around = before.iter().rev().take(MAX_NESTED).find(|symbol| symbol.reaches(address));
        let symbol = around.or_else(|| before.last().filter(|symbol| nearly_reaches(symbol, address)))?;
        let start = symbol.name as usize;
        self.names.get(start..start + symbol.name_bytes as usize)
    }
}

fn build_id(elf: &Elf<'_>) -> Option<String> {
    let (section, owner, kind) = BUILD_ID;
    let note = elf.notes(section).flatten().find(|note| note.owner == owner && note.note_type == kind)?;
    let is_one = (1..=MAX_BUILD_ID_BYTES).contains(&note.desc.len());
    is_one.then(|| hexadecimal(note.desc))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

fn nearly_reaches(symbol: &Symbol, address: u64) -> bool {
    let reach = if symbol.bytes == 0 { MAX_UNSIZED_BYTES } else { u64::from(symbol.bytes) + PADDING_BYTES };
    address - symbol.start < reach
}

fn rank(bytes: u32, name: &[u8]) -> (bool, bool, usize) {
    // A leading `_Z` or `_R` is no sign of an alias.
    let mangled = name.starts_with(b"_Z") || name.starts_with(b"_R");
    let underscores = name.iter().take_while(|byte| **byte == b'_').count();
    (bytes == 0, !mangled && underscores > 0, underscores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(all: &[(u64, u32, &str)]) -> Symbols {
        let mut symbols = Symbols::default();
        for (start, bytes, name) in all {
            let at = u32::try_from(symbols.names.len()).unwrap();
            symbols.names.extend_from_slice(name.as_bytes());
            let name_bytes = u32::try_from(name.len()).unwrap();
            symbols.code.push(Symbol { start: *start, bytes: *bytes, name: at, name_bytes });
        }
        symbols
    }

    #[test]
    fn sizes_are_respected() {
        let symbols =
            symbols(&[(0x1000, 0x800, "outer"), (0x1100, 0x10, "inner"), (0x3000, 0, "stub"), (0x9000, 1, "last")]);
        let name = |address| symbols.name(address).map(|name| String::from_utf8_lossy(name).into_owned());
        assert_eq!(name(0xfff), None);
        assert_eq!(name(0x1000).as_deref(), Some("outer"));
        assert_eq!(name(0x110f).as_deref(), Some("inner"));
        assert_eq!(name(0x1110).as_deref(), Some("outer"));
        assert_eq!(name(0x1fff), None);
        assert_eq!(name(0x3fff).as_deref(), Some("stub"));
        assert_eq!(name(0x4000), None);
        assert_eq!(name(0x9010).as_deref(), Some("last"));
        assert_eq!(name(0x9011), None);
        assert_eq!(name(u64::MAX), None);
    }

    #[test]
    fn an_alias_with_fewer_underscores_is_preferred() {
        assert!(rank(16, b"write") < rank(16, b"__write") && rank(16, b"__write") < rank(0, b"write"));
        assert!(rank(16, b"_ZN1a1bEv") < rank(16, b"__b"));
    }

    #[test]
    fn own_functions_are_found_in_the_own_file() {
        let path = Path::new("/proc/self/exe");
        let data = elf::read_file(path).unwrap();
        let main = Elf::parse(&data).unwrap().find_symbols(&["main"])["main"];
        let code = main.address..main.address + main.size;
        let symbols = Symbols::read(path, std::slice::from_ref(&code)).unwrap();
        assert_eq!(symbols.name(code.start), Some(&b"main"[..]));
        // What Debian's `file` and the kernel call the build of it.
        let noted = Elf::parse(&data).unwrap().section_data(".note.gnu.build-id").map(|note| note[16..].to_vec());
        let noted = noted.map(|id| hexadecimal(&id));
        assert!(
            noted.as_ref().is_some_and(|id| id.len() >= 16) && symbols.build_id.as_deref() == noted.as_deref(),
            "{noted:?}"
        );
        // What lies outside of the code that was named is not there.
        assert!(symbols.bytes() < 200, "{}", symbols.bytes());
    }

    #[test]
    fn fuzz_native_symbols() {
        crate::fuzz::samples("elf", |file| {
            let Ok(symbols) = Symbols::parse(file, &[0..0x2000, 1 << 40..u64::MAX]) else { return };
            assert!(symbols.bytes() <= 8 * file.len());
            assert!(symbols.build_id.as_ref().is_none_or(|id| id.len() <= 2 * MAX_BUILD_ID_BYTES));
            for symbol in &symbols.code {
                let _: Option<&[u8]> = symbols.name(symbol.start.wrapping_add(5));
            }
        });
    }
}
