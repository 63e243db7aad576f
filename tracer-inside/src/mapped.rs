//! What the loader has mapped of this library: where it begins, and its segments.
#![expect(unsafe_code, reason = "the header of this library, as the loader has mapped it")]

use std::slice;

use libc::{Elf64_Ehdr, Elf64_Phdr};

/// Where something that the loader has mapped begins, with its segments.
pub(crate) type Object<'a> = (usize, &'a [Elf64_Phdr]);

unsafe extern "C" {
    /// The linker's name for the beginning of this library.
    static __ehdr_start: Elf64_Ehdr;
}

/// This library.
pub(crate) fn this() -> Object<'static> {
    let header = &raw const __ehdr_start;
    // SAFETY: the loader has mapped the header with the table that it points at.
    let segments = unsafe {
        let table = header.cast::<u8>().wrapping_add(usize::try_from((*header).e_phoff).unwrap_or(0));
        slice::from_raw_parts(table.cast(), usize::from((*header).e_phnum))
    };
    (header.expose_provenance(), segments)
}
