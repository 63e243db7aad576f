//! The copy of this library that a JVM has loaded first.
//!
//! Each visit loads a copy, and HotSpot never lets an agent go. It looks for a native method in all of them and takes that of the first one
//! (`NativeLookup::lookup_style`). So the first copy is the one that defines the classes and does the work, also where it was loaded for
//! something that needs no class.
#![expect(unsafe_code, reason = "the loader's list, and memory of libraries that it has mapped")]

use std::{
    ops::{ControlFlow, Range},
    ptr::with_exposed_provenance,
    slice,
    sync::atomic::{AtomicI32, Ordering},
};

use jvmti_bindings::sys::jni::{JavaVM, jint};
use libc::{Elf64_Phdr, PF_W, PF_X, PT_LOAD};

use crate::{
    mapped::{Object, addresses, find, this},
    session,
};

/// How a session begins in a copy, for one that came later.
pub(crate) type Again = extern "system" fn(*mut JavaVM) -> jint;

/// Not 0 once the JVM has this copy among its agents. One that said that it failed is mapped, and is no agent.
static IS_AGENT: AtomicI32 = AtomicI32::new(0);

/// This copy does its work from now on: the JVM keeps it as an agent.
pub(crate) fn is_agent() {
    IS_AGENT.store(1, Ordering::Release);
}

/// The first copy, if it is another one. What was loaded behind this one came later.
pub(crate) fn first() -> Option<Again> {
    let this = this();
    let base = find(|other| match other.0 == this.0 {
        true => ControlFlow::Break(None),
        false if is_copy(this, other) && is_agent_at(other.0, this.0) => ControlFlow::Break(Some(other.0)),
        false => ControlFlow::Continue(()),
    });
    let again = at_same_place(base.flatten()?, this.0, (session::again as Again as *const ()).expose_provenance());
    // SAFETY: what lies there is this function in a copy of this library, which nobody unloads.
    Some(unsafe { std::mem::transmute::<*const (), Again>(with_exposed_provenance(again)) })
}

/// Where something of this copy, which begins at `this`, lies in another one.
const fn at_same_place(other: usize, this: usize, address: usize) -> usize {
    other.wrapping_add(address.wrapping_sub(this))
}

/// Whether the JVM has a copy among its agents.
fn is_agent_at(copy: usize, this: usize) -> bool {
    let is_agent = at_same_place(copy, this, (&raw const IS_AGENT).expose_provenance());
    // SAFETY: a copy has this variable at the same place.
    let is_agent = unsafe { &*with_exposed_provenance::<AtomicI32>(is_agent) };
    is_agent.load(Ordering::Acquire) != 0
}

/// Whether an object is this library: the same segments, with the same bytes where nobody writes. Among these are its symbols, and how its
/// code is unwound. The code itself is not compared: the kernel writes breakpoints there.
fn is_copy(this: Object<'_>, other: Object<'_>) -> bool {
    let alike = |one: &Elf64_Phdr, two: &Elf64_Phdr| {
        (one.p_type, one.p_flags, one.p_vaddr, one.p_memsz) == (two.p_type, two.p_flags, two.p_vaddr, two.p_memsz)
    };
    if this.1.len() != other.1.len() || !this.1.iter().zip(other.1).all(|(one, two)| alike(one, two)) {
        return false;
    }
    let is_read_only = |segment: &&Elf64_Phdr| segment.p_type == PT_LOAD && segment.p_flags & (PF_W | PF_X) == 0;
    this.1.iter().filter(is_read_only).all(|segment| {
        let bytes = |base| {
            let Range { start, end } = addresses(base, segment);
            // SAFETY: the loader has mapped it, readable as all that it maps here, and nobody writes to it.
            unsafe { slice::from_raw_parts(with_exposed_provenance::<u8>(start), end - start) }
        };
        bytes(this.0) == bytes(other.0)
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
