//! jtrace's eBPF programs.
//!
//! Rules for everything here: constant work per hit and no unbounded loop; reject before reserving, cheapest test first;
//! count every outcome; send a text once, as a definition; wake the reader in batches, never per event.
#![cfg_attr(target_arch = "bpf", no_std, no_main, feature(asm_experimental_arch))]

#[cfg(target_arch = "bpf")]
mod args;
#[cfg(target_arch = "bpf")]
mod contexts;
#[cfg(target_arch = "bpf")]
mod define;
#[cfg(target_arch = "bpf")]
mod emit;
#[cfg(target_arch = "bpf")]
mod filter;
#[cfg(target_arch = "bpf")]
mod maps;
#[cfg(target_arch = "bpf")]
mod probes;
#[cfg(target_arch = "bpf")]
mod shadow;
#[cfg(target_arch = "bpf")]
mod shared_stack;
#[cfg(target_arch = "bpf")]
mod unwind;
#[cfg(target_arch = "bpf")]
mod user;

#[cfg(target_arch = "bpf")]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The GPL part of the dual licence is what the kernel's GPL-only functions ask for.
#[cfg(target_arch = "bpf")]
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[cfg(not(target_arch = "bpf"))]
fn main() {}
