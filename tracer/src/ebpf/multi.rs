//! Multi-uprobe links through the raw system call: one link for a group of sites, attached and detached as a whole.
//!
//! aya 0.14 knows single uprobes only, each a perf event that the kernel closes one at a time. A program for multi-uprobe
//! links must say so when it is loaded, so it is relocated here against the maps that aya made, and loaded apart.
//!
//! Minimum kernel: 6.10. Links of this kind came with 6.6, but until 6.10 they mistook the pid for a thread's.
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{
    collections::HashMap,
    ffi::CString,
    io, mem,
    os::{
        fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
};

use aya_obj::{
    Object,
    generated::{bpf_attach_type, bpf_attr, bpf_cmd, bpf_insn, bpf_prog_type},
};

/// Bytes of the verifier's log that are kept when it refuses a program.
const LOG_BYTES: usize = 1 << 20;

/// Loads `program` of `object` for multi-uprobe links, with the maps that exist already.
pub(super) fn load(object: &[u8], program: &str, maps: &HashMap<String, RawFd>) -> Result<OwnedFd, String> {
    let mut object = Object::parse(object).map_err(|error| error.to_string())?;
    let types = load_types(&mut object)?;
    let definitions = mem::take(&mut object.maps);
    let text_sections = object.functions.keys().map(|(section, _)| *section).collect();
    let relocated = definitions.iter().filter_map(|(name, map)| Some((name.as_str(), *maps.get(name)?, map)));
    object.relocate_maps(relocated, &text_sections).map_err(|error| error.to_string())?;
    object.relocate_calls(&text_sections).map_err(|error| error.to_string())?;
    object.sanitize_functions(aya::features());
    let definition = object.programs.get(program).ok_or("the object has no such program")?;
    let function = object.functions.get(&definition.function_key()).ok_or("the program has no code")?;
    let code = Code {
        instructions: &function.instructions,
        functions: function.func_info.func_info_bytes(),
        function_bytes: function.func_info_rec_size,
        types,
        license: &definition.license,
    };
    let program = load_code(program, &code)?;
    check(&program)?;
    Ok(program)
}

/// What the kernel takes to load a program.
struct Code<'a> {
    instructions: &'a [bpf_insn],
    /// Where each function begins and which type it has: a function that is handed to a helper must have one.
    functions: Vec<u8>,
    function_bytes: usize,
    types: Option<OwnedFd>,
    license: &'a CString,
}

/// Gives the kernel the object's type information, where both have it.
fn load_types(object: &mut Object) -> Result<Option<OwnedFd>, String> {
    let Some(features) = aya::features().btf() else { return Ok(None) };
    let Some(types) = object.fixup_and_sanitize_btf(features).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let bytes = types.to_bytes();
    // SAFETY: as in `prog_load`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: as in `prog_load`.
    let load = unsafe { &mut attr.__bindgen_anon_7 };
    load.btf = bytes.as_ptr() as u64;
    load.btf_size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bpf(bpf_cmd::BPF_BTF_LOAD, &mut attr).map(Some).map_err(|error| format!("type information: {error}"))
}

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
    // r0 = 0; exit
    let instructions = [(0xb7, 0), (0x95, 0)].map(|(code, imm)| bpf_insn {
        code,
        _bitfield_align_1: [],
        _bitfield_1: bpf_insn::new_bitfield_1(0, 0),
        off: 0,
        imm,
    });
    let license = CString::from(c"GPL");
    let code =
        Code { instructions: &instructions, functions: Vec::new(), function_bytes: 0, types: None, license: &license };
    let program = load_code("nothing", &code)?;
    check(&program)?;
    Ok(program)
}

fn load_code(name: &str, code: &Code<'_>) -> Result<OwnedFd, String> {
    match prog_load(name, code, None) {
        Ok(program) => Ok(program),
        // A kernel without multi-uprobe links does not know the attach type: no use in asking the verifier.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Err(error.to_string()),
        Err(error) => {
            let mut log = vec![0; LOG_BYTES];
            let _: io::Result<OwnedFd> = prog_load(name, code, Some(&mut log));
            let text = String::from_utf8_lossy(&log);
            let text = text.trim_end_matches('\0');
            log::debug!("verifier: {text}");
            let last = text.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
            Err(format!("{error} ({last})"))
        }
    }
}

fn prog_load(name: &str, code: &Code<'_>, log: Option<&mut [u8]>) -> io::Result<OwnedFd> {
    let Code { instructions, functions, function_bytes, types, license } = code;
    // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: any bytes are valid for this field of the union.
    let load = unsafe { &mut attr.__bindgen_anon_3 };
    load.prog_type = bpf_prog_type::BPF_PROG_TYPE_KPROBE as u32;
    load.expected_attach_type = bpf_attach_type::BPF_TRACE_UPROBE_MULTI as u32;
    load.insns = instructions.as_ptr() as u64;
    load.insn_cnt = u32::try_from(instructions.len()).unwrap_or(u32::MAX);
    load.license = license.as_ptr() as u64;
    if let Some(types) = types
        && *function_bytes > 0
    {
        load.prog_btf_fd = types.as_raw_fd().cast_unsigned();
        load.func_info = functions.as_ptr() as u64;
        load.func_info_cnt = u32::try_from(functions.len() / function_bytes).unwrap_or(u32::MAX);
        load.func_info_rec_size = u32::try_from(*function_bytes).unwrap_or(u32::MAX);
    }
    for (to, from) in load.prog_name.iter_mut().zip(name.bytes().take(15)) {
        *to = from.cast_signed();
    }
    if let Some(log) = log {
        load.log_level = 1;
        load.log_size = u32::try_from(log.len()).unwrap_or(u32::MAX);
        load.log_buf = log.as_mut_ptr() as u64;
    }
    bpf(bpf_cmd::BPF_PROG_LOAD, &mut attr)
}

/// Attaches `program` to all `sites` (offset, cookie) of the file at `path`, for the process `pid`.
///
/// The link is undone when the descriptor is closed.
pub(super) fn link(program: &OwnedFd, path: &Path, pid: u32, sites: &[(u64, u64)]) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let (offsets, cookies): (Vec<u64>, Vec<u64>) = sites.iter().copied().unzip();
    // SAFETY: as in `prog_load`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: as in `prog_load`.
    let create = unsafe { &mut attr.link_create };
    create.__bindgen_anon_1.prog_fd = program.as_raw_fd().cast_unsigned();
    create.attach_type = bpf_attach_type::BPF_TRACE_UPROBE_MULTI as u32;
    // SAFETY: as in `prog_load`.
    let uprobe = unsafe { &mut create.__bindgen_anon_3.uprobe_multi };
    uprobe.path = path.as_ptr() as u64;
    uprobe.offsets = offsets.as_ptr() as u64;
    uprobe.cookies = cookies.as_ptr() as u64;
    uprobe.cnt = u32::try_from(sites.len()).unwrap_or(u32::MAX);
    uprobe.pid = pid;
    bpf(bpf_cmd::BPF_LINK_CREATE, &mut attr)
}

fn bpf(command: bpf_cmd, attr: &mut bpf_attr) -> io::Result<OwnedFd> {
    // SAFETY: `attr` and everything that it points to outlive the call, and its size is given.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command as libc::c_long, std::ptr::from_mut(attr), size_of::<bpf_attr>())
    };
    let descriptor = RawFd::try_from(result).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both commands return a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
