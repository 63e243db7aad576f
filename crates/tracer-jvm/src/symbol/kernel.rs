//! Names of the kernel's functions, from `/proc/kallsyms`.
//!
//! The list is the second way, where the kernel does not name one function after another, and is read when the first address
//! is asked for. Where the kernel hides its addresses, or the list cannot be read, every frame says so.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::stack::{Frame, Kind};

const LIST: &str = "/proc/kallsyms";
/// Most of the list that is read; that of a kernel with everything built in has a fifth of it.
const MAX_BYTES: u64 = 64 << 20;
/// Most symbols that are kept.
const MAX_SYMBOLS: usize = 1 << 20;
/// Longest line that is looked at; the kernel cuts names at 512 bytes.
const MAX_LINE_BYTES: u64 = 1024;
/// The list has no sizes; no function is as long as this.
const MAX_FUNCTION_BYTES: u64 = 64 << 10;

/// What a frame is called where no function of the kernel lies around its address.
pub const NO_SYMBOL: &str = "<no symbol of the kernel>";
/// The same where nobody can be asked.
pub const NOT_READ: &str = "<the kernel's symbols cannot be read>";

/// The frame of a function as the kernel writes it: `futex_wait`, or the module behind it in brackets.
pub fn frame_of(text: &str) -> Frame {
    let (name, module) = text.split_once([' ', '\t']).map_or((text, None), |(name, module)| (name, Some(module)));
    Frame { module: module.map(Into::into), ..Frame::named(Kind::Kernel, name) }
}

/// The kernel's symbols.
#[derive(Debug)]
pub struct KernelSymbols {
    path: PathBuf,
    loaded: Option<Result<List, &'static str>>,
}

impl Default for KernelSymbols {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelSymbols {
    /// The symbols of the running kernel; nothing is read yet.
    pub fn new() -> Self {
        Self::at(Path::new(LIST))
    }

    fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), loaded: None }
    }

    /// Reads the symbols now, instead of at the first frame.
    pub fn load(&mut self) {
        let path = &self.path;
        let _: &mut Result<List, &'static str> = self.loaded.get_or_insert_with(|| load(path));
    }

    /// The frame of an address of the kernel.
    pub fn frame(&mut self, pc: u64) -> Arc<Frame> {
        let path = &self.path;
        let frame = match self.loaded.get_or_insert_with(|| load(path)) {
            Ok(list) => list.frame(pc),
            Err(reason) => Frame::named(Kind::Kernel, *reason),
        };
        Arc::new(frame)
    }
}

/// Symbols of code, by rising addresses. The names lie in one text, so that a symbol costs 16 bytes and its name.
#[derive(Debug, Default)]
struct List {
    symbols: Vec<Symbol>,
    names: String,
}

/// Where a symbol begins, and where its name lies: `futex_wait` or `nf_hook\t[nf_tables]`.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    address: u64,
    name: u32,
    name_bytes: u16,
    /// Which one counts where several begin at one address: the lower.
    rank: u8,
}

impl List {
    fn frame(&self, pc: u64) -> Frame {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= pc);
        let symbol = behind.checked_sub(1).and_then(|place| self.symbols.get(place));
        let Some(symbol) = symbol.filter(|symbol| pc - symbol.address < MAX_FUNCTION_BYTES) else {
            return Frame::named(Kind::Kernel, NO_SYMBOL);
        };
        let start = symbol.name as usize;
        let text = self.names.get(start..start + usize::from(symbol.name_bytes)).unwrap_or_default();
        frame_of(text)
    }

    fn add(&mut self, address: u64, local: bool, text: &str) {
        let (Ok(name), Ok(name_bytes)) = (u32::try_from(self.names.len()), u16::try_from(text.len())) else { return };
        // Aliases for code that runs before addresses are known say less than what they stand for.
        let rank = u8::from(local) + 2 * u8::from(text.starts_with("__pi_"));
        self.symbols.push(Symbol { address, name, name_bytes, rank });
        self.names.push_str(text);
    }
}

fn load(path: &Path) -> Result<List, &'static str> {
    let list = File::open(path).and_then(|file| read(BufReader::new(file.take(MAX_BYTES))));
    let list = list.map_err(|_| NOT_READ)?;
    if list.symbols.iter().all(|symbol| symbol.address == 0) {
        return Err("<the kernel hides its symbols>");
    }
    Ok(list)
}

/// Reads lines of the form `address type name`, for a module with a tab and its name in brackets behind.
fn read(mut reader: impl BufRead) -> io::Result<List> {
    let mut list = List::default();
    let mut line = Vec::new();
    while list.symbols.len() < MAX_SYMBOLS {
        line.clear();
        if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        // What is not a line of this form, or the rest of one that is too long, is left out.
        if let Some((address, kind, text)) = std::str::from_utf8(&line).ok().and_then(parts)
            && matches!(kind, "T" | "t" | "W" | "w")
        {
            list.add(address, kind == "t", text);
        }
    }
    list.symbols.sort_by_key(|symbol| (symbol.address, symbol.rank));
    list.symbols.dedup_by_key(|symbol| symbol.address);
    list.symbols.shrink_to_fit();
    list.names.shrink_to_fit();
    Ok(list)
}

fn parts(line: &str) -> Option<(u64, &str, &str)> {
    let (address, rest) = line.trim_end().split_once(' ')?;
    let (kind, text) = rest.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, kind, text))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const TEXT: &str = "ffffffff81000000 t local_alias\nffffffff81000000 T _stext\nffffffff81000000 T __pi__text\n\
        ffffffff81002000 D data\nffffffff81001000 T futex_wait\nffffffffc0001000 t nf_hook\t[nf_tables]\nbroken\n";

    fn symbols(text: &str) -> (tempfile::NamedTempFile, KernelSymbols) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let symbols = KernelSymbols::at(file.path());
        (file, symbols)
    }

    #[test]
    fn a_function_that_the_kernel_writes_alone_says_its_module_too() {
        let frame = frame_of("nf_hook [nf_tables]");
        assert_eq!((frame.name.as_str(), frame.module.as_deref()), ("nf_hook", Some("[nf_tables]")));
        assert_eq!(frame_of("futex_wait").to_string(), "kernel!futex_wait");
    }

    #[test]
    fn an_address_has_the_name_of_the_function_around_it() {
        let (_file, mut symbols) = symbols(TEXT);
        let mut name = |pc| symbols.frame(pc).name.clone();
        assert_eq!(name(0xffff_ffff_8100_0000), "_stext");
        assert_eq!(name(0xffff_ffff_8100_0fff), "_stext");
        assert_eq!(name(0xffff_ffff_8100_1234), "futex_wait");
        // Data is no function, so it ends none.
        assert_eq!(name(0xffff_ffff_8100_2001), "futex_wait");
        assert_eq!(name(0xffff_ffff_80ff_ffff), "<no symbol of the kernel>");
        assert_eq!(name(0xffff_ffff_8101_1000), "<no symbol of the kernel>");
        assert_eq!(name(u64::MAX), "<no symbol of the kernel>");
    }

    #[test]
    fn a_function_of_a_module_says_which() {
        let (_file, mut symbols) = symbols(TEXT);
        let frame = symbols.frame(0xffff_ffff_c000_1010);
        assert_eq!((frame.name.as_str(), frame.module.as_deref()), ("nf_hook", Some("[nf_tables]")));
        assert_eq!((frame.kind, frame.to_string().as_str()), (Kind::Kernel, "kernel!nf_hook"));
    }

    #[test]
    fn hidden_addresses_and_a_missing_list_are_the_reason() {
        let (_file, mut hidden) = symbols("0000000000000000 T _stext\n0000000000000000 T futex_wait\n");
        assert_eq!(hidden.frame(0xffff_ffff_8100_0000).name, "<the kernel hides its symbols>");
        let mut missing = KernelSymbols::at(Path::new("/proc/no_such_list"));
        assert_eq!(missing.frame(1).name, "<the kernel's symbols cannot be read>");
    }

    #[test]
    fn a_line_without_end_is_cut_and_harmless() {
        let text = format!("ffffffff81000000 T {}\nffffffff81001000 T next\n", "x".repeat(100_000));
        let list = read(text.as_bytes()).unwrap();
        assert_eq!(list.symbols.len(), 2);
        assert!(list.names.len() < 1100);
    }

    #[test]
    fn the_running_kernel_has_names_or_says_that_it_hides_them() {
        let text = std::fs::read_to_string(LIST).unwrap_or_default();
        let line = text.lines().find(|line| line.ends_with(" schedule"));
        let address = line.and_then(parts).map_or(0, |(address, _, _)| address);
        let name = KernelSymbols::new().frame(address).name.clone();
        let expected = if address == 0 { "<the kernel" } else { "schedule" };
        assert!(name.starts_with(expected), "{name} at {address:x}");
    }

    #[test]
    fn fuzz_kernel_symbols() {
        crate::fuzz::samples("kallsyms", |text| {
            let list = read(text).unwrap();
            for symbol in &list.symbols {
                let _: Frame = list.frame(symbol.address.wrapping_add(1));
            }
            assert!(list.names.len() <= text.len());
        });
    }
}
