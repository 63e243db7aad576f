//! Whether the kernel gave a program of uprobes a stack for each CPU, as kernels since 6.13 do. Where the kernel preempts
//! itself, two threads then write to the same frames, and the kernel stops. jtrace's programs are made so that they get none
//! (`tracer-ebpf/src/shared_stack.rs`); this looks whether that holds on this kernel, in the code that it made.
//!
//! <https://github.com/torvalds/linux/blob/v6.13/arch/x86/net/bpf_jit_comp.c>
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{
    io, mem,
    os::fd::{AsFd as _, AsRawFd as _, BorrowedFd},
};

use aya_obj::generated::{bpf_attr, bpf_cmd, bpf_prog_info};

use super::verify::{Attaching, Code, Refusal, call};

/// Most bytes of machine code that are looked at; jtrace's largest program has some 60 KiB.
const MAX_CODE_BYTES: u32 = 4 << 20;

/// `add r9, gs:[..]`: a function that has a private stack begins by finding that of its CPU, and nothing else is added to
/// r9 in this way.
const ADD_OF_CPU: [u8; 5] = [0x65, 0x4c, 0x03, 0x0c, 0x25];

/// Refuses a program that has a stack for each CPU. Where its code cannot be read, it is taken for what it was made to be.
pub(super) fn refuse(name: &str, program: BorrowedFd<'_>) -> Result<(), Refusal> {
    match of(program) {
        Ok(Some(true)) => Err(Refusal::new(name, "", &REASON)),
        Ok(_) => Ok(()),
        Err(error) => {
            log::debug!("the machine code of `{name}` cannot be read: {error}");
            Ok(())
        }
    }
}

const REASON: &str = "it would get one stack for each CPU, and a kernel that preempts itself may stop then";

/// Whether a program has a stack for each CPU; nothing where the kernel does not show its code.
fn of(program: BorrowedFd<'_>) -> io::Result<Option<bool>> {
    let bytes = info(program, &mut [])?.min(MAX_CODE_BYTES);
    let mut code = vec![0; bytes as usize];
    let shown = info(program, &mut code)?;
    let is_shown = shown > 0 && code.iter().any(|byte| *byte != 0);
    Ok(is_shown.then(|| code.windows(ADD_OF_CPU.len()).any(|bytes| bytes == ADD_OF_CPU)))
}

/// Writes as much of a program's machine code as there is room for, and says how much there is.
fn info(program: BorrowedFd<'_>, code: &mut [u8]) -> io::Result<u32> {
    // SAFETY: the structure has integers only, and 0 asks for nothing.
    let mut info: bpf_prog_info = unsafe { mem::zeroed() };
    info.jited_prog_len = u32::try_from(code.len()).unwrap_or(u32::MAX);
    info.jited_prog_insns = if code.is_empty() { 0 } else { code.as_mut_ptr() as u64 };
    // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    // SAFETY: any bytes are valid for this field of the union.
    attr.info.bpf_fd = program.as_raw_fd().cast_unsigned();
    attr.info.info = (&raw mut info) as u64;
    attr.info.info_len = u32::try_from(size_of::<bpf_prog_info>()).unwrap_or(0);
    call(bpf_cmd::BPF_OBJ_GET_INFO_BY_FD, &mut attr)?;
    // Where reading it is not allowed, the address is 0 afterwards.
    Ok(if !code.is_empty() && info.jited_prog_insns == 0 { 0 } else { info.jited_prog_len })
}

/// What jtrace's own test of this asks: whether a program that uses as many bytes of stack, and makes no tail call, gets a
/// stack for each CPU on this kernel. Nothing where the kernel does not show a program's code.
///
/// # Errors
/// Where the program cannot be loaded or asked about.
pub fn of_a_plain_program(stack_bytes: i16) -> Result<Option<bool>, String> {
    let program =
        Code::with_stack(stack_bytes).load_as_it_is(Attaching::Singly).map_err(|refusal| refusal.to_string())?;
    of(program.as_fd()).map_err(|error| error.to_string())
}
