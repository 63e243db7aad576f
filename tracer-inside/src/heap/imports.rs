//! Where the JVM's library calls the C library: slots that the loader has filled in. The copy, and only the copy, fills them in anew.
//!
//! In the copy no other thread lives. What one of them held at that moment stays held: a lock of `malloc`, above all. So the copy takes
//! memory elsewhere. And what the JVM would call once the walk is over ends the copy instead.
#![expect(unsafe_code, reason = "the tables that the loader has read")]

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::jvm::{Failure, Vm};

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

struct Search {
    /// An address in the library.
    within: usize,
    slots: Slots,
    found: bool,
}

/// Finds the slots of the library that the JVM lies in.
pub(super) fn find(vm: Vm) -> Result<Slots, Failure> {
    let mut search = Search { within: vm.code(), slots: Slots::default(), found: false };
    // SAFETY: the function is called for each library before this returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    if !search.found {
        return Err("the JVM's library was not found".to_owned());
    }
    for needed in NEEDED {
        if search.slots.0[needed][0] == 0 {
            let name = NAMES[needed].to_string_lossy();
            return Err(format!("the JVM's library does not call `{name}`, so a copy of it could not be walked"));
        }
    }
    Ok(search.slots)
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: `find` passes it, and the loader describes a library that stays.
    unsafe {
        let search = &mut *data.cast::<Search>();
        let base = usize::try_from((*info).dlpi_addr).unwrap_or(0);
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let within = |header: &libc::Elf64_Phdr| {
            let start = base.wrapping_add(usize::try_from(header.p_vaddr).unwrap_or(0));
            let len = usize::try_from(header.p_memsz).unwrap_or(0);
            header.p_type == libc::PT_LOAD && search.within.wrapping_sub(start) < len
        };
        if !headers.iter().any(within) {
            return 0;
        }
        if let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
            read(base, base.wrapping_add(usize::try_from(dynamic.p_vaddr).unwrap_or(0)), &mut search.slots);
            search.found = true;
        }
    }
    1
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
