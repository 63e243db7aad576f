//! Names of the test's own code, of the libraries around it, and of a process that is gone.

use std::process::{Child, Command, Stdio};

use super::*;

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
