//! Reads all entries of a hash map, many with each system call: going from key to key takes two calls an entry, and what methods did is
//! read every second.
//!
//! Minimum kernel: 5.6.
#![expect(unsafe_code, reason = "the bpf system call takes a union and raw pointers")]

use std::{io, mem, os::fd::RawFd, slice};

use aya::Pod;
use aya_obj::generated::{bpf_attr, bpf_cmd};

use super::verify::call;

/// Most bytes of values that are read at once.
const MAX_BYTES: usize = 1 << 20;
/// Fewest and most entries that are read at once. The kernel wants room for all entries of one bucket.
const LEAST_ENTRIES: usize = 64;
const MOST_ENTRIES: usize = 4096;

/// Hands over each entry of a map of hashes with keys of 64 bits, as it is when it is read; `values` is how many values an entry has: one, or
/// one for each CPU. An entry that is added or removed meanwhile may be missed.
pub(super) fn each<V: Pod>(map: RawFd, values: usize, mut take: impl FnMut(u64, &[V])) -> io::Result<()> {
    const { assert!(size_of::<V>().is_multiple_of(8) && align_of::<V>() <= 8) };
    let words = values.max(1) * size_of::<V>() / 8;
    let entries = (MAX_BYTES / 8 / words).clamp(LEAST_ENTRIES, MOST_ENTRIES);
    let (mut keys, mut room) = (vec![0u64; entries], vec![0u64; entries * words]);
    // Where the kernel goes on; it says so in 32 bits.
    let mut position = 0u64;
    let mut is_first = true;
    loop {
        let mut next = 0u64;
        // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
        let mut attr: bpf_attr = unsafe { mem::zeroed() };
        let address = |position: &u64| std::ptr::from_ref(position) as u64;
        attr.batch.in_batch = if is_first { 0 } else { address(&position) };
        attr.batch.out_batch = std::ptr::from_mut(&mut next) as u64;
        attr.batch.keys = keys.as_mut_ptr() as u64;
        attr.batch.values = room.as_mut_ptr() as u64;
        attr.batch.count = u32::try_from(entries).unwrap_or(u32::MAX);
        attr.batch.map_fd = map.cast_unsigned();
        let is_last = match call(bpf_cmd::BPF_MAP_LOOKUP_BATCH, &mut attr) {
            Ok(_) => false,
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => true,
            Err(error) => return Err(error),
        };
        // SAFETY: the kernel has written how many entries there were.
        let count = unsafe { attr.batch.count } as usize;
        for (key, words) in keys.iter().zip(room.chunks_exact(words)).take(count) {
            // SAFETY: the words are as many and as aligned as the values, and any bytes are valid for these.
            take(*key, unsafe { slice::from_raw_parts(words.as_ptr().cast::<V>(), values.max(1)) });
        }
        if is_last {
            return Ok(());
        }
        (position, is_first) = (next, false);
    }
}

/// Takes an entry out of such a map, as it is; says whether there was one. Nobody may write it meanwhile.
pub(super) fn take<V: Pod>(map: RawFd, key: u64, value: &mut V) -> bool {
    // SAFETY: `bpf_attr` is a union of integers; the kernel wants unused bytes to be 0.
    let mut attr: bpf_attr = unsafe { mem::zeroed() };
    attr.__bindgen_anon_2.map_fd = map.cast_unsigned();
    attr.__bindgen_anon_2.key = std::ptr::from_ref(&key) as u64;
    attr.__bindgen_anon_2.__bindgen_anon_1.value = std::ptr::from_mut(value) as u64;
    // One call does both only since 5.14.
    if call(bpf_cmd::BPF_MAP_LOOKUP_ELEM, &mut attr).is_err() {
        return false;
    }
    attr.__bindgen_anon_2.__bindgen_anon_1.value = 0;
    call(bpf_cmd::BPF_MAP_DELETE_ELEM, &mut attr).is_ok()
}
