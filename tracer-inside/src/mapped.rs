//! What the loader has mapped: this library, and all others.
#![expect(unsafe_code, reason = "the loader's list, and what it has mapped")]

use std::{
    ffi::{c_int, c_void},
    ops::{ControlFlow, Range},
    slice,
};

use libc::{Elf64_Ehdr, Elf64_Phdr, dl_phdr_info};

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

/// Addresses of a segment of what begins at `base`.
pub(crate) fn addresses(base: usize, segment: &Elf64_Phdr) -> Range<usize> {
    let start = base.wrapping_add(usize::try_from(segment.p_vaddr).unwrap_or(0));
    start..start.saturating_add(usize::try_from(segment.p_memsz).unwrap_or(0))
}

/// Shows all that is mapped, in the order in which it was loaded, until one breaks that off. The loader unloads none meanwhile.
pub(crate) fn find<T>(look: impl FnMut(Object<'_>) -> ControlFlow<T>) -> Option<T> {
    let mut search = Search { look, found: None };
    // SAFETY: the callback has this very signature, and is passed what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(callback(&search)), (&raw mut search).cast()) };
    search.found
}

struct Search<F, T> {
    look: F,
    found: Option<T>,
}

/// What the loader calls.
type Callback = unsafe extern "C" fn(*mut dl_phdr_info, usize, *mut c_void) -> c_int;

/// The callback for a search, whose type nobody can write.
fn callback<T, F: FnMut(Object<'_>) -> ControlFlow<T>>(_: &Search<F, T>) -> Callback {
    show::<T, F>
}

unsafe extern "C" fn show<T, F>(object: *mut dl_phdr_info, _size: usize, search: *mut c_void) -> c_int
where
    F: FnMut(Object<'_>) -> ControlFlow<T>,
{
    // SAFETY: the loader passes an object, and what `find` gave it.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search<F, T>>()) };
    if object.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader describes what it has mapped.
    let segments = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    if let ControlFlow::Break(found) = (search.look)((usize::try_from(object.dlpi_addr).unwrap_or(0), segments)) {
        search.found = Some(found);
    }
    c_int::from(search.found.is_some())
}
