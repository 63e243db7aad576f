//! Where a program counter lies, and how a frame there is passed: from the tables of files, or from the JVM's code blobs.
//! Found out once per program counter and CPU, and remembered until code may have changed.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use tracer_common::{
    stack::{FrameKind, StackEnd},
    unwind::{CHUNK_ROWS, CodeLayout, MAX_REGIONS, Region, RegionKind, Remembered, Row, Rule, RuleBase},
};

use super::blob;
use crate::{
    args::forget,
    maps::{CODE, GENERATION, REGIONS, REMEMBERED, ROWS},
};

/// Most places that a CPU remembers; fewer where there are many CPUs ([`CodeLayout::places`]).
pub(crate) const PLACES: usize = 8192;

/// Steps of a binary search over all regions, and over all rows of a file.
const REGION_STEPS: usize = MAX_REGIONS.ilog2() as usize + 1;
const ROW_STEPS: usize = 23;

/// What is known about a program counter.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// [`FrameKind`] as a number, or [`INTERPRETER`].
    pub(crate) kind: u32,
    /// How to get to the caller.
    pub(crate) rule: Rule,
    /// `compile_id` of a compiled method.
    pub(crate) compile_id: u32,
    /// Where the frame of deoptimised code keeps the address at which it would have gone on, in bytes above rsp plus 1; 0
    /// where the program counter is the true one.
    pub(crate) original_pc: u32,
}

/// [`Place::kind`] of the interpreter's code, whose frames name their methods themselves.
pub(crate) const INTERPRETER: u32 = 100;
/// [`Place::kind`] of the code to which the outermost frame of a virtual thread returns while its callers lie in the heap.
pub(crate) const RETURN_BARRIER: u32 = 101;

/// The place of a return address, or of the next instruction where `interrupted`.
///
/// A rule that holds between two calls need not hold before and after: the machine code of files is looked up by the call
/// itself, which lies before its return address.
#[inline(always)]
pub(crate) fn find(pc: u64, interrupted: u64, layout: &CodeLayout) -> Result<Place, StackEnd> {
    let key = (pc << 1) | interrupted;
    let generation = match GENERATION.get(0) {
        Some(generation) => *generation,
        None => 0,
    };
    let slot = ((pc ^ (pc >> 13)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as u32;
    let remembered = REMEMBERED.get_ptr_mut(slot & layout.places.wrapping_sub(1));
    if let Some(remembered) = remembered
        && let Some(place) = recall(remembered, key, generation)
    {
        return Ok(place);
    }
    let place = search(pc, interrupted, layout)?;
    if let Some(remembered) = remembered
        && (place.kind == FrameKind::Native as u32 || layout.remember != 0)
    {
        remember(remembered, key, generation, place);
    }
    Ok(place)
}

/// Reads an entry, and then once more whether it still is the one: a program that preempts this one may replace it.
#[inline(always)]
fn recall(remembered: *mut Remembered, key: u64, generation: u64) -> Option<Place> {
    // SAFETY: the pointer leads into a map value; volatile, so that the reads stay in this order.
    unsafe {
        if (&raw const (*remembered).pc).read_volatile() != key
            || (&raw const (*remembered).generation).read_volatile() != generation
        {
            return None;
        }
        let place = Place {
            kind: (&raw const (*remembered).kind).read_volatile(),
            rule: Rule((&raw const (*remembered).rule).read_volatile()),
            compile_id: (&raw const (*remembered).compile_id).read_volatile(),
            original_pc: (&raw const (*remembered).original_pc).read_volatile(),
        };
        if (&raw const (*remembered).pc).read_volatile() == key { Some(place) } else { None }
    }
}

#[inline(always)]
fn remember(remembered: *mut Remembered, key: u64, generation: u64, place: Place) {
    // SAFETY: as above. No key is 0, so a half-written entry is nobody's.
    unsafe {
        (&raw mut (*remembered).pc).write_volatile(0);
        (&raw mut (*remembered).generation).write_volatile(generation);
        (&raw mut (*remembered).kind).write_volatile(place.kind);
        (&raw mut (*remembered).rule).write_volatile(place.rule.0);
        (&raw mut (*remembered).compile_id).write_volatile(place.compile_id);
        (&raw mut (*remembered).original_pc).write_volatile(place.original_pc);
        (&raw mut (*remembered).pc).write_volatile(key);
    }
}

#[inline(always)]
fn search(pc: u64, interrupted: u64, layout: &CodeLayout) -> Result<Place, StackEnd> {
    let region = region(pc).ok_or(StackEnd::UnknownCode)?;
    if region.kind == RegionKind::CodeHeap as u32 {
        return blob::place(pc, layout);
    }
    let call = pc - (1 - (interrupted & 1));
    let address = call.wrapping_sub(region.bias);
    let mut rule = rule(address, region);
    if rule.0 == Rule::NONE.0 && interrupted != 0 {
        // A system call may be a function's last instruction, and the next one is another's or nobody's.
        rule = self::rule(address.wrapping_sub(1), region);
    }
    if rule.base() == RuleBase::Unsupported as u8 {
        return Err(StackEnd::UnsupportedRule);
    }
    Ok(Place { kind: FrameKind::Native as u32, rule, compile_id: 0, original_pc: 0 })
}

/// The region that holds an address.
#[inline(always)]
pub(crate) fn region(pc: u64) -> Option<&'static Region> {
    REGIONS.get((unwind_region(pc) as u32).wrapping_sub(1))
}

/// Number of the region that holds an address, from 1; 0 where there is none.
///
/// This and its like are global functions of numbers, because the verifier looks at such a one once, and at any other
/// again for each call.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_region(pc: u64) -> u64 {
    let Some(layout) = CODE.get(0) else { return 0 };
    // The last region that begins at or below the address lies in `low..high`.
    let (mut low, mut high) = (0u32, layout.regions);
    for _ in 0..REGION_STEPS {
        if low >= high {
            break;
        }
        let middle = (low + high) / 2;
        let Some(region) = REGIONS.get(middle) else { return 0 };
        if region.start <= pc {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    match REGIONS.get(low.wrapping_sub(1)) {
        Some(region) if pc < region.end => u64::from(low),
        _ => 0,
    }
}

/// The rule that holds at an address of a file.
#[inline(always)]
fn rule(address: u64, region: &Region) -> Rule {
    Rule(unwind_rule(address, u64::from(region.first_row), u64::from(region.rows)) as u32)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_rule(address: u64, first_row: u64, rows: u64) -> u64 {
    let first_row = first_row as u32;
    let (mut low, mut high) = (0u32, rows as u32);
    for _ in 0..ROW_STEPS {
        if low >= high {
            break;
        }
        let middle = (low + high) / 2;
        let Some(row) = row(first_row.wrapping_add(middle)) else { return 0 };
        if u64::from(row.address) <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
        // Or each step would be walked through once for each half that the steps before it could have chosen.
        (low, high) = (forget(u64::from(low), address) as u32, forget(u64::from(high), address) as u32);
    }
    if low == 0 {
        return 0;
    }
    match row(first_row.wrapping_add(low - 1)) {
        Some(row) => u64::from(row.rule.0),
        None => 0,
    }
}

#[inline(always)]
fn row(index: u32) -> Option<Row> {
    let chunk = ROWS.get(index / CHUNK_ROWS as u32)?;
    Some(chunk[index as usize % CHUNK_ROWS])
}
