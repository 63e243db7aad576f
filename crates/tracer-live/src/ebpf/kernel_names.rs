//! Names of the kernel's functions, asked of the kernel one by one: a small program writes an address as the kernel does in its own log.
//!
//! The list of all names (`/proc/kallsyms`) takes the kernel longer to write than all else that a session does in its first second, and a
//! session needs a few hundred of its 200,000 names.
//!
//! Minimum kernel: 5.13 (`bpf_snprintf`).
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{
    io, mem,
    os::fd::{AsRawFd as _, OwnedFd},
};

use aya_obj::generated::{__BindgenBitfieldUnit, bpf_attr, bpf_cmd, bpf_insn, bpf_map_type};

use super::verify::{Attaching, Code, bpf, call};

/// Most bytes of a name with its end; the kernel's are shorter.
const NAME_BYTES: usize = 512;
/// Writes a symbol without the distance from its beginning.
const FORMAT: [u8; 8] = *b"%ps\0\0\0\0\0";
/// The program may read the map, and not write to it.
const READ_ONLY: u32 = 1 << 7;
/// The helper that formats.
const SNPRINTF: i32 = 165;

/// An address, and the name that the program gives it.
#[repr(C)]
struct Exchange {
    address: u64,
    name: [u8; NAME_BYTES],
}

/// The program, and the maps by which it is asked.
#[derive(Debug)]
pub struct KernelNames {
    program: OwnedFd,
    exchange: OwnedFd,
}

impl KernelNames {
    /// Loads the program; a kernel that does not give names by it is an error.
    pub fn load() -> io::Result<Self> {
        let exchange = map(size_of::<Exchange>(), 0)?;
        // The program keeps it.
        let format = map(FORMAT.len(), READ_ONLY)?;
        update(&format, FORMAT.as_ptr() as u64)?;
        freeze(&format)?;
        let program = Code::raw_tracepoint("kernel_name", &instructions(&exchange, &format));
        let program = program.load(Attaching::Singly).map_err(io::Error::other)?;
        let names = Self { program, exchange };
        match names.of(0)? {
            None => Ok(names),
            Some(name) => Err(io::Error::other(format!("the kernel calls the address 0 `{name}`"))),
        }
    }

    /// The name of the function around an address of the kernel, for one of a module with the module in brackets behind it.
    pub fn of(&self, address: u64) -> io::Result<Option<String>> {
        let mut exchange = Exchange { address, name: [0; NAME_BYTES] };
        update(&self.exchange, std::ptr::from_ref(&exchange) as u64)?;
        // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
        let mut attr: bpf_attr = unsafe { mem::zeroed() };
        attr.test.prog_fd = self.program.as_raw_fd().cast_unsigned();
        call(bpf_cmd::BPF_PROG_TEST_RUN, &mut attr)?;
        element(bpf_cmd::BPF_MAP_LOOKUP_ELEM, &self.exchange, std::ptr::from_mut(&mut exchange) as u64)?;
        let end = exchange.name.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        let name = String::from_utf8_lossy(&exchange.name[..end]);
        Ok(if name.is_empty() || name.starts_with("0x") { None } else { Some(name.into_owned()) })
    }
}

/// `bpf_snprintf(exchange.name, NAME_BYTES, format, &exchange.address, 8)`, and 0.
fn instructions(exchange: &OwnedFd, format: &OwnedFd) -> Vec<bpf_insn> {
    /// Moves a constant, a register, or 64 bits.
    const CONSTANT: u8 = 0xb7;
    const REGISTER: u8 = 0xbf;
    const WIDE: u8 = 0x18;
    /// Adds a constant; calls a helper; returns.
    const ADD: u8 = 0x07;
    const HELPER: u8 = 0x85;
    const EXIT: u8 = 0x95;
    /// The source register that says that a constant is a map's descriptor, of whose only value the address is meant.
    const VALUE: u8 = 2;
    let name_bytes = i32::try_from(NAME_BYTES).unwrap_or(0);
    vec![
        instruction(WIDE, 4, VALUE, exchange.as_raw_fd()),
        instruction(0, 0, 0, 0),
        instruction(REGISTER, 1, 4, 0),
        instruction(ADD, 1, 0, 8),
        instruction(CONSTANT, 2, 0, name_bytes),
        instruction(WIDE, 3, VALUE, format.as_raw_fd()),
        instruction(0, 0, 0, 0),
        instruction(CONSTANT, 5, 0, 8),
        instruction(HELPER, 0, 0, SNPRINTF),
        instruction(CONSTANT, 0, 0, 0),
        instruction(EXIT, 0, 0, 0),
    ]
}

const fn instruction(code: u8, to: u8, from: u8, constant: i32) -> bpf_insn {
    bpf_insn {
        code,
        _bitfield_align_1: [],
        _bitfield_1: __BindgenBitfieldUnit::new([from << 4 | to]),
        off: 0,
        imm: constant,
    }
}

/// An array of one value.
fn map(value_bytes: usize, flags: u32) -> io::Result<OwnedFd> {
    // SAFETY: as in `KernelNames::of`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: any bytes are valid for this field of the union.
    let create = unsafe { &mut attr.__bindgen_anon_1 };
    create.map_type = bpf_map_type::BPF_MAP_TYPE_ARRAY as u32;
    create.key_size = 4;
    create.value_size = u32::try_from(value_bytes).unwrap_or(u32::MAX);
    create.max_entries = 1;
    create.map_flags = flags;
    bpf(bpf_cmd::BPF_MAP_CREATE, &mut attr)
}

fn update(map: &OwnedFd, value: u64) -> io::Result<()> {
    element(bpf_cmd::BPF_MAP_UPDATE_ELEM, map, value)
}

/// A command about the only value of a map; `value` is the address of as many bytes as it has.
fn element(command: bpf_cmd, map: &OwnedFd, value: u64) -> io::Result<()> {
    let key = 0u32;
    // SAFETY: as in `KernelNames::of`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: any bytes are valid for this field of the union.
    let element = unsafe { &mut attr.__bindgen_anon_2 };
    element.map_fd = map.as_raw_fd().cast_unsigned();
    element.key = std::ptr::from_ref(&key) as u64;
    element.__bindgen_anon_1.value = value;
    call(command, &mut attr).map(|_| ())
}

/// From now on nobody writes to the map, so that the verifier can read the format.
fn freeze(map: &OwnedFd) -> io::Result<()> {
    // SAFETY: as in `KernelNames::of`.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    attr.__bindgen_anon_2.map_fd = map.as_raw_fd().cast_unsigned();
    call(bpf_cmd::BPF_MAP_FREEZE, &mut attr).map(|_| ())
}
