//! Memory from the kernel, which woven code knows by its addresses.
#![expect(unsafe_code, reason = "memory by address")]

use std::ptr;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Memory of zeros; nothing where there is none.
pub(super) fn map(bytes: usize) -> Option<usize> {
    // SAFETY: a new mapping of its own.
    let mapped = unsafe {
        mmap_anonymous(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    };
    mapped.ok().map(<*mut std::ffi::c_void>::expose_provenance)
}

/// Takes a mapping away that nobody knows any more.
pub(super) fn unmap(base: usize, bytes: usize) {
    // SAFETY: callers have seen to that.
    let _ = unsafe { munmap(ptr::with_exposed_provenance_mut(base), bytes) };
}

/// Gives pages back; they read as 0 from now on.
pub(super) fn discard(base: usize, bytes: usize) {
    // SAFETY: private memory without a file: its pages become zero.
    let _ = unsafe { madvise(ptr::with_exposed_provenance_mut(base), bytes, Advice::LinuxDontNeed) };
}
