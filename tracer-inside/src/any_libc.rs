//! What the library brings along, so that it loads beside any libc: beside that of the container, which may be old, or musl.
//!
//! `build.rs` names no library that the loader must find, and no version of a symbol. All that std asks for is in musl and in glibc
//! from 2.17 on, but for three functions. `crates/tracer-live/src/inside/library.rs` says which symbols the library may ask for.

use std::{
    ffi::{c_char, c_int, c_long, c_void},
    ops::Range,
    ptr::{self, with_exposed_provenance},
};

use libc::{PT_GNU_EH_FRAME, PT_LOAD};

use crate::mapped::{addresses, this};

/// glibc exports it from 2.33 on: <https://sourceware.org/git/?p=glibc.git;a=commit;h=8ed005daf0ab03e142500324a34087ce179ae78e>.
#[unsafe(no_mangle)]
unsafe extern "C" fn fstat64(file: c_int, to: *mut libc::stat64) -> c_int {
    // SAFETY: the caller's; the kernel's own form is that of `stat64` on 64 bits.
    unsafe { outcome(libc::syscall(libc::SYS_fstat, file, to)) }
}

/// See [`fstat64`].
#[unsafe(no_mangle)]
unsafe extern "C" fn stat64(path: *const c_char, to: *mut libc::stat64) -> c_int {
    // SAFETY: as above.
    unsafe { outcome(libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path, to, 0)) }
}

/// 0, or -1 with the reason in `errno`, where `syscall` has put it.
const fn outcome(returned: c_long) -> c_int {
    if returned == 0 { 0 } else { -1 }
}

/// `struct dl_find_object` of x86-64 and aarch64: <https://sourceware.org/glibc/manual/2.36/html_node/Dynamic-Linker-Introspection.html>.
#[repr(C)]
struct Found {
    flags: u64,
    start: *const c_void,
    end: *const c_void,
    link_map: *mut c_void,
    eh_frame: *const c_void,
    reserved: [u64; 7],
}

/// Where the unwinder finds how to unwind: the libgcc of gcc 12 asks for it, and only glibc from 2.35 on has it. A panic is caught
/// before it leaves this library, so that no other object is asked for.
#[unsafe(no_mangle)]
unsafe extern "C" fn _dl_find_object(address: *const c_void, found: *mut Found) -> c_int {
    let (base, segments) = this();
    let (mut covers, mut eh_frame) = (None, None);
    for segment in segments {
        let range = addresses(base, segment);
        match segment.p_type {
            PT_LOAD if range.contains(&address.addr()) => covers = Some(range),
            PT_GNU_EH_FRAME => eh_frame = Some(with_exposed_provenance(range.start)),
            _ => {}
        }
    }
    let (Some(Range { start, end }), Some(eh_frame)) = (covers, eh_frame) else { return -1 };
    let [start, end] = [start, end].map(with_exposed_provenance);
    // SAFETY: the caller passes where it wants the answer.
    unsafe { found.write(Found { flags: 0, start, end, link_map: ptr::null_mut(), eh_frame, reserved: [0; 7] }) };
    0
}
