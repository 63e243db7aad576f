//! Names of the test's own code, of the libraries around it, and of a process that is gone.

use std::process::{Child, Command, Stdio};

use object::elf;

use super::*;
use crate::jvm::elf::hostile;

fn own() -> NativeSymbols {
    NativeSymbols::new(&Memory::open(std::process::id()).unwrap())
}

#[inline(never)]
fn landmark() -> u64 {
    landmark as fn() -> u64 as usize as u64
}

#[test]
fn own_functions_have_readable_names_and_their_file() {
    let frame = own().frame(landmark(), false);
    assert!(frame.name.ends_with("symbol::native::tests::landmark"), "{frame}");
    let file = std::env::current_exe().unwrap();
    assert_eq!(frame.module.as_deref(), file.file_name().and_then(|name| name.to_str()));
    assert_eq!(frame.kind, Kind::Native);
}

#[test]
fn a_return_address_belongs_to_the_call_before_it() {
    let mut symbols = own();
    let start = landmark();
    assert_ne!(symbols.frame(start, true).name, symbols.frame(start, false).name);
    assert_eq!(symbols.frame(start + 1, true), symbols.frame(start, false));
}

#[test]
fn functions_of_libc_and_of_the_kernels_library_are_named() {
    let mut symbols = own();
    let memory = Memory::open(std::process::id()).unwrap();
    let mappings = maps::read(memory.pid()).unwrap();
    let libc = mappings.iter().find(|mapping| mapping.executable && mapping.path.ends_with("libc.so.6")).unwrap();
    let library = Library::open(memory.pid(), libc).unwrap();
    let address = library.exported(&["getenv"]).unwrap()["getenv"];
    assert_eq!(symbols.frame(address, false).to_string(), "libc.so.6!getenv");
    let vdso = mappings.iter().find(|mapping| is_vdso(mapping)).unwrap();
    let named: Vec<_> = (vdso.start..vdso.end).step_by(16).map(|pc| symbols.frame(pc, false).to_string()).collect();
    assert!(named.iter().any(|name| name == "[vdso]!clock_gettime"), "{named:?}");
}

#[test]
fn what_is_unknown_says_why() {
    let mut symbols = own();
    for address in [0, 8, u64::MAX, std::ptr::from_ref(&symbols) as u64] {
        assert_eq!(symbols.frame(address, false).to_string(), "<code of no file>");
    }
    // Headers are no code.
    let mappings = maps::read(std::process::id()).unwrap();
    let vdso = mappings.iter().find(|mapping| is_vdso(mapping)).unwrap();
    assert_eq!(symbols.frame(vdso.start + 2, false).to_string(), "[vdso]!<no symbol>+0x2");
}

/// A process that waits for its input.
fn waiting() -> Child {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Its answer shows that it was loaded.
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"x").unwrap();
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    child
}

#[test]
fn names_can_be_had_after_the_process_has_gone() {
    let mut child = waiting();
    let memory = Memory::open(child.id()).unwrap();
    let mut symbols = NativeSymbols::new(&memory);
    let mappings = maps::read(child.id()).unwrap();
    let libc = mappings.iter().find(|mapping| mapping.executable && mapping.path.ends_with("libc.so.6")).unwrap();
    let address = Library::open(child.id(), libc).unwrap().exported(&["getenv"]).unwrap()["getenv"];
    child.kill().unwrap();
    child.wait().unwrap();
    symbols.refresh();
    assert_eq!(symbols.frame(address, false).to_string(), "libc.so.6!getenv");
}

#[test]
fn a_file_that_was_mapped_later_is_found_after_a_refresh() {
    let mut symbols = own();
    let known = symbols.mapped.len();
    symbols.mapped.clear();
    assert_eq!(symbols.frame(landmark(), false).name, "<code of no file>");
    symbols.refresh();
    assert_eq!(symbols.mapped.len(), known);
    assert!(symbols.frame(landmark(), false).name.ends_with("landmark"));
}

/// A file whose 4,096 functions have names of 4 KiB: 16 MiB, where the symbols of all files may take 128 MiB.
fn of_long_names() -> Arc<File> {
    const NAME: u32 = 4096;
    let texts: Vec<u8> = (0..2048_u32).flat_map(|number| format!("{number:04095}\0").into_bytes()).collect();
    let places: Vec<u32> = (0..4096).map(|number| number / 2 * NAME).collect();
    let mut symbols = hostile::symbols(&places);
    for (symbol, number) in symbols.chunks_exact_mut(24).zip(1_u64..) {
        symbol[8..16].copy_from_slice(&(number * 64).to_le_bytes());
    }
    let bytes = hostile::file(&[(".strtab", hostile::NAMES, 0, texts), (".symtab", elf::SHT_SYMTAB, 1, symbols)]);
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    Arc::new(file)
}

fn with_files(count: usize, file: &Arc<File>) -> NativeSymbols {
    let mut symbols = own();
    let code = || Code {
        name: "made.so".into(),
        state: State::Opened(Arc::clone(file), std::iter::once(0..u64::MAX).collect()),
    };
    symbols.files = (0..count).map(|_| code()).collect();
    symbols
}

fn read(symbols: &NativeSymbols) -> Vec<usize> {
    let bytes = |code: &Code| if let State::Read(symbols) = &code.state { Some(symbols.bytes()) } else { None };
    symbols.files.iter().filter_map(bytes).collect()
}

/// A file with so many functions, whose names are these, one after another and from the first again.
fn of_functions(count: usize, names: &[String]) -> Vec<u8> {
    let texts: Vec<u8> = names.iter().flat_map(|name| format!("{name}\0").into_bytes()).collect();
    let mut places = Vec::new();
    for name in names {
        let next = places.last().map_or(0, |(at, len): &(u32, u32)| at + len);
        places.push((next, u32::try_from(name.len() + 1).unwrap()));
    }
    let places: Vec<u32> = places.iter().map(|(at, _)| *at).cycle().take(count).collect();
    let mut symbols = hostile::symbols(&places);
    for (symbol, number) in symbols.chunks_exact_mut(24).zip(1_u64..) {
        symbol[8..16].copy_from_slice(&(number * 64).to_le_bytes());
    }
    hostile::file(&[(".strtab", hostile::NAMES, 0, texts), (".symtab", elf::SHT_SYMTAB, 1, symbols)])
}

#[test]
fn of_one_file_so_many_symbols_and_bytes_of_names_are_kept() {
    let code = 0..u64::MAX;
    let all = std::slice::from_ref(&code);
    // Names are looked at as long as they are no more than twice their table.
    let file = of_functions(table::MAX_SYMBOLS + 200, &vec!["f".to_owned(); 600_000]);
    let kept = Symbols::parse(&file, all).unwrap();
    assert!(kept.name(64).is_some() && kept.name(64 * table::MAX_SYMBOLS as u64).is_some());
    assert_eq!(kept.name(64 * (table::MAX_SYMBOLS as u64 + 100)), None);
    let names: Vec<String> = (0..8600).map(|number| format!("{number:04095}")).collect();
    let kept = Symbols::parse(&of_functions(2 * names.len(), &names), all).unwrap();
    assert!(
        kept.bytes() <= table::MAX_NAME_BYTES + (1 << 20) && kept.bytes() > table::MAX_NAME_BYTES / 2,
        "{}",
        kept.bytes()
    );
}

/// A target can map as many files as it likes, with as many names.
#[test]
fn names_of_all_files_together_stay_below_their_bound_and_the_rest_says_why() {
    let file = of_long_names();
    let mut symbols = with_files(20, &file);
    symbols.load_all();
    let read = read(&symbols);
    assert!((2..20).contains(&read.len()) && read.iter().all(|bytes| *bytes > 16 << 20), "{read:?}");
    assert!(read.iter().sum::<usize>() <= MAX_BYTES, "{read:?}");
    symbols.mapped = vec![Mapped { range: 0..u64::MAX, bias: 0, file: 19 }];
    let frame = symbols.frame(64, false);
    assert_eq!(frame.to_string(), format!("made.so!{TOO_MANY}+0x40"));
}

#[test]
fn symbols_that_are_looked_at_are_bounded_as_reading_them_takes_time() {
    let mut symbols = with_files(3, &of_long_names());
    symbols.looked_at = MAX_LOOKED_AT - 1;
    symbols.load_all();
    assert_eq!((read(&symbols).len(), symbols.looked_at), (1, MAX_LOOKED_AT - 1 + 4096));
}
