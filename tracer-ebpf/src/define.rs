//! Names: turns a text in the target into its id, and sends the text once, as a definition.
#![expect(unsafe_code, reason = "the counters' and the records' memory need raw pointers")]

use core::mem::MaybeUninit;

use aya_ebpf::helpers::generated::bpf_probe_read_user_str;
use tracer_common::{
    record::{
        DEFINITION_HEADER_BYTES, DEFINITION_TEXT_BYTES, DefinitionHeader, HEADER_BYTES, KIND_DEFINITION,
        MAX_NAME_BYTES, MAX_TEXT_BYTES, NAME_BAD_LENGTH, NAME_CHUNK_BYTES, NAME_UNREADABLE, name_hash_finish,
        name_hash_start, name_hash_step,
    },
    site::TargetLayout,
};

use crate::{
    args::{Unreadable, read, word, zero},
    emit::{Hit, Reservation, count},
    maps::DEFINED,
};

const CHUNK_WORDS: usize = NAME_CHUNK_BYTES / 8;

/// Id of the `bytes` bytes of text at `address`; defines it where that was not done yet.
#[inline(never)]
pub(crate) fn name(address: u64, bytes: u64, hit: &Hit) -> u64 {
    if bytes > MAX_NAME_BYTES as u64 {
        return NAME_BAD_LENGTH;
    }
    let Ok(id) = hash(address, bytes) else {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*hit.stats).unreadable });
        return NAME_UNREADABLE;
    };
    // SAFETY: the value is not used, only its being there.
    if unsafe { DEFINED.get(&id) }.is_none() {
        define(id, address, bytes, hit);
    }
    id
}

/// Id of the NUL-terminated text at `address`, of which only the first chunk counts.
#[inline(always)]
pub(crate) fn c_string(address: u64, hit: &Hit) -> u64 {
    let mut room = MaybeUninit::<[u64; CHUNK_WORDS]>::uninit();
    let chunk = zero(&mut room);
    // SAFETY: the buffer has room for the bytes; the helper checks the address in user space.
    let length =
        unsafe { bpf_probe_read_user_str(chunk.as_mut_ptr().cast(), NAME_CHUNK_BYTES as u32, address as *const _) };
    if length < 1 {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*hit.stats).unreadable });
        return NAME_UNREADABLE;
    }
    name(address, length as u64 - 1, hit)
}

/// Id of the name of the class whose `Klass*` is `klass`.
#[inline(always)]
pub(crate) fn klass(klass: u64, hit: &Hit) -> u64 {
    match symbol(klass, &hit.target) {
        Ok((address, bytes)) => name(address, bytes, hit),
        Err(Unreadable) => {
            // SAFETY: `stats` points into a map value.
            count(unsafe { &raw mut (*hit.stats).unreadable });
            NAME_UNREADABLE
        }
    }
}

#[inline(always)]
fn symbol(klass: u64, target: &TargetLayout) -> Result<(u64, u64), Unreadable> {
    if target.symbol_body == 0 {
        return Err(Unreadable);
    }
    let symbol = word(klass.wrapping_add(u64::from(target.klass_name)))?;
    let mut length = 0u16;
    read((&raw mut length).cast(), 2, symbol.wrapping_add(u64::from(target.symbol_length)))?;
    Ok((symbol.wrapping_add(u64::from(target.symbol_body)), u64::from(length)))
}

#[inline(always)]
fn hash(address: u64, bytes: u64) -> Result<u64, Unreadable> {
    let mut hash = name_hash_start(bytes);
    let mut offset = 0u64;
    let mut room = MaybeUninit::<[u64; CHUNK_WORDS]>::uninit();
    for _ in 0..MAX_TEXT_BYTES / NAME_CHUNK_BYTES {
        if offset >= bytes {
            break;
        }
        let chunk = zero(&mut room);
        let length = (bytes - offset).min(NAME_CHUNK_BYTES as u64);
        read(chunk.as_mut_ptr().cast(), length as u32, address.wrapping_add(offset))?;
        for word in chunk {
            hash = name_hash_step(hash, *word);
        }
        offset += NAME_CHUNK_BYTES as u64;
    }
    Ok(name_hash_finish(hash))
}

#[inline(always)]
fn define(id: u64, address: u64, bytes: u64, hit: &Hit) {
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*hit.stats).definitions_emitted });
    let [small, medium, _] = DEFINITION_TEXT_BYTES;
    let sent = if bytes <= small as u64 {
        send::<{ DEFINITION_TEXT_BYTES[0] }, { DEFINITION_HEADER_BYTES + DEFINITION_TEXT_BYTES[0] }>(
            id, address, bytes, hit,
        )
    } else if bytes <= medium as u64 {
        send::<{ DEFINITION_TEXT_BYTES[1] }, { DEFINITION_HEADER_BYTES + DEFINITION_TEXT_BYTES[1] }>(
            id, address, bytes, hit,
        )
    } else {
        send::<{ DEFINITION_TEXT_BYTES[2] }, { DEFINITION_HEADER_BYTES + DEFINITION_TEXT_BYTES[2] }>(
            id, address, bytes, hit,
        )
    };
    if sent {
        let _: Result<(), _> = DEFINED.insert(&id, &1, 0);
    } else {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*hit.stats).definitions_lost });
    }
}

/// Sends one definition whose text has room for `ROOM` bytes; a longer text is cut.
#[inline(always)]
fn send<const ROOM: usize, const BYTES: usize>(id: u64, address: u64, bytes: u64, hit: &Hit) -> bool {
    let Some(mut record) = Reservation::new::<BYTES>() else {
        return false;
    };
    record.write_header(KIND_DEFINITION, 0, hit);
    let stored = (bytes as u32).min(ROOM as u32);
    let start = record.as_mut_ptr();
    // SAFETY: both lie within the `BYTES` bytes that were reserved; texts that turn unreadable meanwhile stay empty.
    let read_again = unsafe { read(start.add(DEFINITION_HEADER_BYTES), stored, address) };
    let stored_bytes = if read_again.is_ok() { stored } else { 0 };
    // SAFETY: as above; the offset is a multiple of 8.
    unsafe {
        start.add(HEADER_BYTES).cast::<DefinitionHeader>().write(DefinitionHeader {
            id,
            text_bytes: bytes as u32,
            stored_bytes,
        });
    }
    record.submit(hit);
    true
}
