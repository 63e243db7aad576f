//! What the library brings along, so that it loads beside any libc: beside that of the container, which may be old, or musl.
//!
//! `build.rs` names no library that the loader must find, and no version of a symbol. All that std asks for is in musl and in glibc
//! from 2.17 on, but for three functions. `tests/live/inside/any_libc.rs` says which symbols the library may ask for.

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use libc::{Elf64_Ehdr, Elf64_Phdr, PT_GNU_EH_FRAME, PT_LOAD};

/// glibc exports it from 2.33 on: <https://sourceware.org/git/?p=glibc.git;a=commit;h=8ed005daf0ab03e142500324a34087ce179ae78e>.
#[unsafe(no_mangle)]
unsafe extern "C" fn fstat64(file: c_int, to: *mut libc::stat64) -> c_int {
    // SAFETY: the caller's; the kernel's own form is that of `stat64` on 64 bits.
    unsafe { libc::syscall(libc::SYS_fstat, file, to) as c_int }
}

/// See [`fstat64`].
#[unsafe(no_mangle)]
unsafe extern "C" fn stat64(path: *const c_char, to: *mut libc::stat64) -> c_int {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path, to, 0) as c_int }
}

/// `struct dl_find_object` of x86-64 and aarch64: <https://sourceware.org/glibc/manual/2.36/html_node/Dynamic-Linker-Introspection.html>.
#[repr(C)]
struct Found {
    flags: u64,
    start: *const u8,
    end: *const u8,
    link_map: *mut c_void,
    eh_frame: *const u8,
    reserved: [u64; 7],
}

unsafe extern "C" {
    /// The linker's name for the beginning of this library.
    static __ehdr_start: Elf64_Ehdr;
}

/// Where the unwinder finds how to unwind: the libgcc of gcc 12 asks for it, and only glibc from 2.35 on has it. A panic is caught
/// before it leaves this library, so that no other object is asked for.
#[unsafe(no_mangle)]
unsafe extern "C" fn _dl_find_object(address: *const u8, found: *mut Found) -> c_int {
    let header = &raw const __ehdr_start;
    let (mut covers, mut eh_frame) = (None, None);
    // SAFETY: the loader has mapped the header with the table that it points at, and the addresses in it are those of this library.
    unsafe {
        let base = header.cast::<u8>();
        let table = base.add((*header).e_phoff as usize).cast::<Elf64_Phdr>();
        for index in 0..usize::from((*header).e_phnum) {
            let segment = &*table.add(index);
            let start = base.wrapping_add(segment.p_vaddr as usize);
            let end = start.wrapping_add(segment.p_memsz as usize);
            match segment.p_type {
                PT_LOAD if (start..end).contains(&address) => covers = Some((start, end)),
                PT_GNU_EH_FRAME => eh_frame = Some(start),
                _ => {}
            }
        }
        let (Some((start, end)), Some(eh_frame)) = (covers, eh_frame) else { return -1 };
        found.write(Found { flags: 0, start, end, link_map: ptr::null_mut(), eh_frame, reserved: [0; 7] });
    }
    0
}
