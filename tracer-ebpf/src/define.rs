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
    site::{TargetLayout, Treat},
};

use crate::{
    args::{Unreadable, at_most, forget, read, word, zero},
    emit::{Hit, Reservation, count},
    maps::{DEFINED, STATS, TARGET},
};

const CHUNK_WORDS: usize = NAME_CHUNK_BYTES / 8;

/// Id of the text that an operand leads to, in the way that `treat` says; defines it where that was not done yet.
#[inline(always)]
pub(crate) fn text(a: u64, b: u64, treat: u8, hit: &Hit) -> u64 {
    define_text(a, b, u64::from(treat) << 16 | u64::from(hit.site), u64::from(hit.tid), hit.stack)
}

/// As [`text`], with the way and the site in one number.
///
/// A global function of numbers, which the verifier looks at once; at any other it would look again for each field of a site. So it
/// finds by itself what lies in maps.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn define_text(a: u64, b: u64, treat_and_site: u64, tid: u64, stack: u64) -> u64 {
    let (treat, site) = ((treat_and_site >> 16) as u8, treat_and_site as u16);
    let (Some(stats), Some(target)) = (STATS.get_ptr_mut(u32::from(site)), TARGET.get(0)) else {
        return NAME_UNREADABLE;
    };
    let hit = &Hit { site, stats, target, tid: tid as u32, stack };
    let found = if treat == Treat::Name as u8 {
        Ok((a, b))
    } else if treat == Treat::CString as u8 {
        c_string(a)
    } else {
        symbol(a, target)
    };
    let Ok((address, bytes)) = found else {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).unreadable });
        return NAME_UNREADABLE;
    };
    let bytes = forget(bytes, address);
    if bytes > MAX_NAME_BYTES as u64 {
        return NAME_BAD_LENGTH;
    }
    let Ok(id) = hash(address, bytes) else {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).unreadable });
        return NAME_UNREADABLE;
    };
    // SAFETY: the value is not used, only its being there.
    if unsafe { DEFINED.get(&id) }.is_none() {
        define(id, address, forget(bytes, address), hit);
    }
    id
}

/// The NUL-terminated text at `address`, of which only the first chunk counts.
#[inline(always)]
fn c_string(address: u64) -> Result<(u64, u64), Unreadable> {
    let mut room = MaybeUninit::<[u64; CHUNK_WORDS]>::uninit();
    let chunk = zero(&mut room);
    // SAFETY: the buffer has room for the bytes; the helper checks the address in user space.
    let length =
        unsafe { bpf_probe_read_user_str(chunk.as_mut_ptr().cast(), NAME_CHUNK_BYTES as u32, address as *const _) };
    if length < 1 { Err(Unreadable) } else { Ok((address, length as u64 - 1)) }
}

/// The name of the class whose `Klass*` is `klass`.
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

/// Whole chunks have a constant length, so that the verifier need not know how many bytes are left.
#[inline(always)]
fn hash(address: u64, bytes: u64) -> Result<u64, Unreadable> {
    let mut hash = name_hash_start(bytes);
    let bytes = bytes.min(MAX_TEXT_BYTES as u64);
    let whole = bytes / NAME_CHUNK_BYTES as u64;
    let rest = bytes % NAME_CHUNK_BYTES as u64;
    let mut room = MaybeUninit::<[u64; CHUNK_WORDS]>::uninit();
    let chunk = zero(&mut room);
    let mut address = address;
    for index in 0..(MAX_TEXT_BYTES / NAME_CHUNK_BYTES) as u64 {
        if index >= whole {
            break;
        }
        read(chunk.as_mut_ptr().cast(), NAME_CHUNK_BYTES as u32, address)?;
        hash = take(hash, chunk);
        address = address.wrapping_add(NAME_CHUNK_BYTES as u64);
    }
    if rest != 0 {
        let chunk = zero(&mut room);
        read(chunk.as_mut_ptr().cast(), rest as u32, address)?;
        hash = take(hash, chunk);
    }
    Ok(name_hash_finish(hash))
}

#[inline(always)]
fn take(hash: u64, chunk: &[u64; CHUNK_WORDS]) -> u64 {
    let mut hash = hash;
    for word in chunk {
        hash = name_hash_step(hash, *word);
    }
    hash
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
    let start = record.as_mut_ptr();
    // SAFETY: the header lies within the `BYTES` bytes that were reserved, at a multiple of 8.
    let header = unsafe {
        let header = start.add(HEADER_BYTES).cast::<DefinitionHeader>();
        header.write(DefinitionHeader { id, text_bytes: bytes as u32, stored_bytes: 0 });
        header
    };
    // From the record, so that older verifiers need not look for where it came from: that would be in another function, which
    // they cannot follow, and from then on they would tell all numbers apart.
    // SAFETY: as above.
    let stored = at_most::<ROOM>(u64::from(unsafe { (&raw const (*header).text_bytes).read_volatile() })) as u32;
    // SAFETY: the text lies within the reserved bytes, too; one that turns unreadable meanwhile stays empty.
    unsafe {
        if read(start.add(DEFINITION_HEADER_BYTES), stored, address).is_ok() {
            (*header).stored_bytes = stored;
        }
    }
    record.submit::<BYTES>(hit);
    true
}
