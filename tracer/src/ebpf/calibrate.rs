//! Measures what one hit of a probe costs on this machine, on jtrace itself.
#![expect(unsafe_code, reason = "the traced function is written in assembly, so that its first instruction is known")]

use std::{fs, num::NonZeroU32, path::PathBuf, time::Instant};

use tracer_common::{
    record::EventKind,
    site::{Field, MAX_FIELDS, MAX_SITES, Operand, Register, SiteSpec, TargetLayout},
};

use super::{
    Error,
    attach::{Group, Place},
    load::Kernel,
    rings::Rings,
};

/// Hits of one batch; the fastest batch counts, as the others were disturbed.
const BATCH: u32 = 16;
const BATCHES: u32 = 64;

/// Id of the site: the last one, which no session gets to.
const CALIBRATION_SITE: u16 = 1023;
const _: () = assert!(CALIBRATION_SITE as usize == MAX_SITES - 1);

// The site is a `nop`, as HotSpot's sites are. Under another instruction the kernel may have to step through a copy of it,
// which costs ten times as much.
std::arch::global_asm!(
    ".pushsection .text",
    ".globl jtrace_calibration_site",
    ".type jtrace_calibration_site, @function",
    "jtrace_calibration_site:",
    "nop",
    "ret",
    ".size jtrace_calibration_site, . - jtrace_calibration_site",
    ".popsection",
);

unsafe extern "C" {
    safe fn jtrace_calibration_site(value: u64);
}

/// Cost of one hit with an event of two words, in picoseconds: trap, program and record, without the reader.
///
/// Must be called before the target is set, because the programs are told that jtrace is the target meanwhile.
pub fn hit_cost_ps(kernel: &mut Kernel, rings: &mut Rings) -> Result<Option<u64>, Error> {
    let Some((path, offset)) = own_site() else {
        return Ok(None);
    };
    let Some(pid) = NonZeroU32::new(std::process::id()) else {
        return Ok(None);
    };
    kernel.set_target(TargetLayout::default())?;
    kernel.set_site(CALIBRATION_SITE, calibration_spec())?;
    let plain = fastest_batch(rings);
    let group = Group { name: "calibration".to_owned(), sites: vec![(offset, CALIBRATION_SITE)], path: None };
    let attached = kernel.attach(group, &Place { path, pid })?;
    let traced = fastest_batch(rings);
    attached.detach();
    Ok(Some(traced.saturating_sub(plain) * 1000 / u64::from(BATCH)))
}

fn calibration_spec() -> SiteSpec {
    let mut fields = [Field::ZERO; MAX_FIELDS];
    fields[0] = Field::word(Operand::register(Register::Rdi));
    fields[1] = fields[0];
    SiteSpec { kind: EventKind::VmShutdown as u16, field_count: 2, stack: 0, fields }
}

fn fastest_batch(rings: &mut Rings) -> u64 {
    let mut fastest = u64::MAX;
    for _ in 0..BATCHES {
        let start = Instant::now();
        for value in 0..u64::from(BATCH) {
            jtrace_calibration_site(value);
        }
        let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        fastest = fastest.min(elapsed);
        rings.drain(usize::MAX, |_| {});
    }
    fastest
}

fn own_site() -> Option<(PathBuf, u64)> {
    own_place(jtrace_calibration_site as *const () as usize as u64)
}

/// File and offset of a function of jtrace's own, from the mapping that holds it.
pub(super) fn own_place(address: u64) -> Option<(PathBuf, u64)> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let mut parts = line.split_ascii_whitespace();
        let (start, end) = parts.next()?.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let offset = u64::from_str_radix(parts.nth(1)?, 16).ok()?;
        (start..end).contains(&address).then(|| (PathBuf::from("/proc/self/exe"), address - start + offset))
    })
}
