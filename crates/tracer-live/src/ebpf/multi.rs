//! Multi-uprobe links through the raw system call: one link for a group of sites, attached and detached as a whole.
//!
//! aya 0.14 knows single uprobes only, each a perf event that the kernel closes one at a time. A program for multi-uprobe
//! links must say so when it is loaded, so `verify` loads it apart.
//!
//! Minimum kernel: 6.10. Links of this kind came with 6.6, but until 6.10 they mistook the pid for a thread's.
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{
    ffi::CString,
    io, mem,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
};

use aya_obj::generated::{bpf_attach_type, bpf_attr, bpf_cmd};

use super::verify::{Attaching, Code, bpf};

/// Whether links of this kind exist and fire for the threads of one process only.
///
/// A kernel before 6.6 loads the program and knows no such link: it does not get so far as to find that `/` is no file to
/// put a uprobe into. Before 6.10 the filter takes the pid for a thread's, and does not mind one that cannot be.
fn check(program: &OwnedFd) -> Result<(), String> {
    let root = Path::new("/");
    let refused = |pid, expected| match link(program, root, pid, &[(0, 0)]) {
        Ok(_) => false,
        Err(error) => error.raw_os_error() == Some(expected),
    };
    if !refused(0, libc::EBADF) {
        return Err("the kernel has no multi-uprobe links; they came with 6.6".to_owned());
    }
    if !refused(u32::MAX, libc::EINVAL) {
        return Err("the kernel's multi-uprobe links cannot be kept to one process; that came with 6.10".to_owned());
    }
    Ok(())
}

/// A program that returns at once, for the same links.
pub(super) fn load_nothing() -> Result<OwnedFd, String> {
    // A kernel without such links does not know what the program is said to be for.
    let program = Code::nothing().load(Attaching::Multi).map_err(|refusal| refusal.reason)?;
    check(&program)?;
    Ok(program)
}

/// Attaches `program` to all `sites` (offset, cookie) of the file at `path`, for the process `pid`.
///
/// The link is undone when the descriptor is closed.
pub(super) fn link(program: &OwnedFd, path: &Path, pid: u32, sites: &[(u64, u64)]) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let (offsets, cookies): (Vec<u64>, Vec<u64>) = sites.iter().copied().unzip();
    // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: any bytes are valid for this field of the union.
    let create = unsafe { &mut attr.link_create };
    create.__bindgen_anon_1.prog_fd = program.as_raw_fd().cast_unsigned();
    create.attach_type = bpf_attach_type::BPF_TRACE_UPROBE_MULTI as u32;
    // SAFETY: any bytes are valid for this field of the union.
    let uprobe = unsafe { &mut create.__bindgen_anon_3.uprobe_multi };
    uprobe.path = path.as_ptr() as u64;
    uprobe.offsets = offsets.as_ptr() as u64;
    uprobe.cookies = cookies.as_ptr() as u64;
    uprobe.cnt = u32::try_from(sites.len()).unwrap_or(u32::MAX);
    uprobe.pid = pid;
    bpf(bpf_cmd::BPF_LINK_CREATE, &mut attr)
}
