//! The copy of this library that a JVM has loaded first.
//!
//! Each visit loads a copy, and HotSpot never lets an agent go. It looks for a native method in all of them and takes that of the first one
//! (`NativeLookup::lookup_style`). So the first copy is the one that defines the classes and does the work, also where it was loaded for
//! something that needs no class.
#![expect(unsafe_code, reason = "the loader's list, and memory of libraries that it has mapped")]

use std::{
    ffi::{c_int, c_void},
    ptr, slice,
};

use jvmti_bindings::sys::jni::{JavaVM, jint};
use libc::{Elf64_Phdr, PF_W, PF_X, PT_LOAD, dl_phdr_info};

use crate::session;

/// How a session begins in a copy, for one that came later.
pub(crate) type Again = extern "system" fn(*mut JavaVM) -> jint;

/// What the loader's list is searched for.
struct Search {
    /// An address in this copy.
    own: usize,
    /// Where other objects begin that came before this copy, with their segments.
    before: Vec<(usize, &'static [Elf64_Phdr])>,
    /// The same of this copy.
    this: Option<(usize, &'static [Elf64_Phdr])>,
}

/// The first copy, if it is another one.
pub(crate) fn first() -> Option<Again> {
    let own = session::again as Again as usize;
    let mut search = Search { own, before: Vec::new(), this: None };
    // SAFETY: the callback has this very signature, and is passed what it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    let this = search.this?;
    let (base, _) = search.before.into_iter().find(|other| is_copy(this, *other))?;
    let again = ptr::with_exposed_provenance::<()>(base + (own - this.0));
    // SAFETY: the code there is this library's, byte for byte.
    Some(unsafe { std::mem::transmute::<*const (), Again>(again) })
}

/// Libraries that do not change are listed in the order in which they were loaded; what is listed behind this copy came later.
unsafe extern "C" fn look(object: *mut dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes an object with its segments, and what `first` gave it.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
    let Ok(base) = usize::try_from(object.dlpi_addr) else { return 0 };
    if object.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: as above. Objects stay mapped while nobody unloads them: no agent is, and others are read only here.
    let segments = unsafe { slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let has_own = loaded(segments).any(|segment| of(base, segment).is_some_and(|bytes| bytes.contains(&search.own)));
    if has_own {
        search.this = Some((base, segments));
        return 1;
    }
    search.before.push((base, segments));
    0
}

fn loaded(segments: &[Elf64_Phdr]) -> impl Iterator<Item = &Elf64_Phdr> {
    segments.iter().filter(|segment| segment.p_type == PT_LOAD)
}

/// Addresses of a segment.
fn of(base: usize, segment: &Elf64_Phdr) -> Option<std::ops::Range<usize>> {
    let start = base.checked_add(usize::try_from(segment.p_vaddr).ok()?)?;
    Some(start..start.checked_add(usize::try_from(segment.p_memsz).ok()?)?)
}

/// Whether an object is this library: the same segments, with the same bytes where nobody writes. Among these are its symbols, and how its
/// code is unwound. The code itself is not compared: the kernel writes breakpoints there.
fn is_copy(this: (usize, &[Elf64_Phdr]), other: (usize, &[Elf64_Phdr])) -> bool {
    let alike = |one: &Elf64_Phdr, two: &Elf64_Phdr| {
        (one.p_type, one.p_flags, one.p_vaddr, one.p_memsz) == (two.p_type, two.p_flags, two.p_vaddr, two.p_memsz)
    };
    if this.1.len() != other.1.len() || !this.1.iter().zip(other.1).all(|(one, two)| alike(one, two)) {
        return false;
    }
    loaded(this.1).filter(|segment| segment.p_flags & (PF_W | PF_X) == 0).all(|segment| {
        let bytes = |base| {
            let range = of(base, segment)?;
            // SAFETY: the loader has mapped it, readable as all that it maps here, and nobody writes to it.
            Some(unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(range.start), range.len()) })
        };
        bytes(this.0).is_some_and(|bytes_here| bytes(other.0) == Some(bytes_here))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_program_has_loaded_is_a_copy_of_it() {
        assert!(first().is_none());
    }

    #[test]
    fn objects_are_copies_where_their_segments_and_bytes_are_equal() {
        let segment = |flags| Elf64_Phdr {
            p_type: PT_LOAD,
            p_flags: flags,
            p_offset: 0,
            p_vaddr: 0,
            p_paddr: 0,
            p_filesz: 8,
            p_memsz: 8,
            p_align: 1,
        };
        let (one, two, other) = (*b"library.", *b"library.", *b"another.");
        let at = |bytes: &[u8; 8]| bytes.as_ptr().expose_provenance();
        let [tables, data, code] = [libc::PF_R, libc::PF_R | PF_W, libc::PF_R | PF_X].map(|flags| [segment(flags)]);
        assert!(is_copy((at(&one), &tables), (at(&two), &tables)));
        assert!(!is_copy((at(&one), &tables), (at(&other), &tables)));
        assert!(!is_copy((at(&one), &tables), (at(&two), &data)));
        assert!(is_copy((at(&one), &data), (at(&other), &data)), "what is written differs");
        assert!(is_copy((at(&one), &code), (at(&other), &code)), "there are breakpoints in one");
    }
}
