//! Where the JVM's library calls the C library: slots that the loader has filled in. The copy, and only the copy, fills them in anew.
//!
//! In the copy no other thread lives. What one of them held at that moment stays held: a lock of `malloc`, above all. So the copy takes
//! memory elsewhere. And what the JVM would call once the walk is over ends the copy instead.
#![expect(unsafe_code, reason = "the tables that the loader has read")]

use std::{
    ffi::{CStr, c_char},
    ops::ControlFlow,
};

use libc::{Elf64_Phdr, PT_DYNAMIC, PT_LOAD};

use crate::{
    jvm::{Failure, Vm},
    mapped::{self, addresses},
};

/// What is called, in the order of [`Slots`].
pub(super) const NAMES: [&CStr; 12] = [
    c"malloc",
    c"calloc",
    c"realloc",
    c"free",
    c"posix_memalign",
    c"pthread_mutex_lock",
    c"pthread_cond_wait",
    c"pthread_cond_timedwait",
    c"pthread_cond_signal",
    c"pthread_cond_broadcast",
    c"mprotect",
    c"syscall",
];
/// Without these there is no copy: memory, and some end.
const NEEDED: [usize; 4] = [0, 2, 3, 6];
/// Most slots of one function.
const MAX_SLOTS: usize = 4;

/// Tags of the dynamic section.
const JUMP_TABLE: u64 = 23;
const JUMP_BYTES: u64 = 2;
const TABLE: u64 = 7;
const TABLE_BYTES: u64 = 8;
const SYMBOLS: u64 = 6;
const NAMES_AT: u64 = 5;
/// Kinds of relocations that fill in an address.
const JUMP_SLOT: u64 = 7;
const GLOBAL_DATA: u64 = 6;

/// Addresses of the slots of each function; 0: none.
#[derive(Clone, Copy, Default)]
pub(super) struct Slots(pub(super) [[usize; MAX_SLOTS]; NAMES.len()]);

/// Finds the slots of the library that the JVM lies in.
pub(super) fn find(vm: Vm) -> Result<Slots, Failure> {
    let code = vm.code();
    let slots = mapped::find(|(base, segments)| {
        let is_within = |segment: &Elf64_Phdr| segment.p_type == PT_LOAD && addresses(base, segment).contains(&code);
        if !segments.iter().any(is_within) {
            return ControlFlow::Continue(());
        }
        let dynamic = segments.iter().find(|segment| segment.p_type == PT_DYNAMIC);
        ControlFlow::Break(dynamic.map(|dynamic| {
            let mut slots = Slots::default();
            // SAFETY: it is loaded, and stays.
            unsafe { read(base, addresses(base, dynamic).start, &mut slots) };
            slots
        }))
    });
    let slots = slots.flatten().ok_or("the JVM's library was not found")?;
    for needed in NEEDED {
        if slots.0[needed][0] == 0 {
            let name = NAMES[needed].to_string_lossy();
            return Err(format!("the JVM's library does not call `{name}`, so a copy of it could not be walked"));
        }
    }
    Ok(slots)
}

/// Reads the tables of a library.
///
/// # Safety
///
/// It is loaded, and its dynamic section lies there.
unsafe fn read(base: usize, dynamic: usize, slots: &mut Slots) {
    let mut values = [0_usize; 32];
    let mut at = std::ptr::with_exposed_provenance::<[u64; 2]>(dynamic);
    // SAFETY: the section ends with a zero.
    unsafe {
        while (*at)[0] != 0 {
            if let Some(value) = usize::try_from((*at)[0]).ok().and_then(|tag| values.get_mut(tag)) {
                *value = usize::try_from((*at)[1]).unwrap_or(0);
            }
            at = at.add(1);
        }
    }
    let value = |tag: u64| values[usize::try_from(tag).unwrap_or(0)];
    // Some loaders write addresses there, others leave distances.
    let address = |tag: u64| if value(tag) < base { base + value(tag) } else { value(tag) };
    let (symbols, names) = (address(SYMBOLS), address(NAMES_AT));
    for (table, bytes) in [(JUMP_TABLE, JUMP_BYTES), (TABLE, TABLE_BYTES)] {
        if value(table) == 0 {
            continue;
        }
        let entries = std::ptr::with_exposed_provenance::<[u64; 3]>(address(table));
        for entry in 0..value(bytes) / size_of::<[u64; 3]>() {
            // SAFETY: the table has so many entries; each names a symbol of the same library, and its name.
            let ([offset, info, _], name) = unsafe {
                let entry = *entries.add(entry);
                let symbol = std::ptr::with_exposed_provenance::<libc::Elf64_Sym>(symbols)
                    .add(usize::try_from(entry[1] >> 32).unwrap_or(0));
                let name = usize::try_from((*symbol).st_name).unwrap_or(0);
                (entry, CStr::from_ptr(std::ptr::with_exposed_provenance::<c_char>(names + name)))
            };
            if !matches!(info & 0xffff_ffff, JUMP_SLOT | GLOBAL_DATA) {
                continue;
            }
            let Some(of) = NAMES.iter().position(|one| *one == name) else { continue };
            if let Some(free) = slots.0[of].iter_mut().find(|slot| **slot == 0) {
                *free = base.wrapping_add(usize::try_from(offset).unwrap_or(0));
            }
        }
    }
}
