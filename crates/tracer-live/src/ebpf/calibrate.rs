//! Measures what one hit of a probe costs on this machine, on jtrace itself.
#![expect(unsafe_code, reason = "the traced function is written in assembly, so that its first instruction is known")]

use std::{fs, num::NonZeroU32, path::PathBuf, time::Instant};

use tracer_common::{
    record::EventKind,
    site::{Field, MAX_FIELDS, Operand, Register, SiteSpec, TargetLayout},
};

use crate::clock::{self, ClockId};

use super::{
    Error,
    attach::{Attached, Group, NOBODY, Place},
    load::Kernel,
    rings::Rings,
};

/// Hits of one batch; the fastest batch counts, as the others were disturbed.
const BATCH: u32 = 16;
const BATCHES: u32 = 64;
/// Batches of a later measurement, whose median counts: what disturbs most of them disturbs the target as well.
const BATCHES_AGAIN: u32 = 9;

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
    let Some(calibration) = Calibration::begin(kernel, rings)? else { return Ok(None) };
    let cost_ps = calibration.cost_ps;
    calibration.into_attached().detach();
    Ok(Some(cost_ps))
}

/// A trap on jtrace itself that stays for the session, so that its cost can be measured again: a machine that gets busy, warm
/// or slow makes traps dearer.
pub struct Calibration {
    attached: Attached,
    cost_ps: u64,
    /// A batch of hits that the program turns down, as it does while another process is the target.
    turned_down_ns: u64,
}

impl Calibration {
    /// Measures for the first time; nothing where jtrace's own code cannot be found. Nobody is the target afterwards.
    pub fn begin(kernel: &mut Kernel, rings: &mut Rings) -> Result<Option<Self>, Error> {
        let Some((path, offset)) = own_site() else {
            return Ok(None);
        };
        let Some(pid) = NonZeroU32::new(std::process::id()) else {
            return Ok(None);
        };
        kernel.set_target(TargetLayout::default())?;
        // No session gets to the last one.
        let site = kernel.last_site();
        kernel.set_site(site, calibration_spec())?;
        let plain = fastest_batch(rings);
        let group = Group { name: "calibration".to_owned(), sites: vec![(offset, site)], path: None };
        let attached = kernel.attach(group, &Place { path, pid })?;
        let traced = fastest_batch(rings);
        kernel.set_target(TargetLayout { tgid: NOBODY, ..TargetLayout::default() })?;
        let cost_ps = traced.saturating_sub(plain) * 1000 / u64::from(BATCH);
        Ok(Some(Self { attached, cost_ps, turned_down_ns: median_batch() }))
    }

    /// What a hit cost when it was measured for the first time, in ps.
    pub const fn cost_ps(&self) -> u64 {
        self.cost_ps
    }

    /// What it costs now, by how much dearer a hit has become that is turned down; never less than at first. Only while
    /// another process is the target.
    pub fn again_ps(&self) -> u64 {
        dearer(self.cost_ps, self.turned_down_ns, median_batch())
    }

    /// What is to be detached at the end.
    pub fn into_attached(self) -> Attached {
        self.attached
    }
}

/// A cost after something that was measured beside it has changed.
fn dearer(cost_ps: u64, before_ns: u64, now_ns: u64) -> u64 {
    let scaled = u128::from(cost_ps) * u128::from(now_ns) / u128::from(before_ns.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX).max(cost_ps)
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
        fastest = fastest.min(batch());
        rings.drain(usize::MAX, |_| {});
    }
    fastest
}

/// By the thread's own clock: on a machine that is overloaded others run in between, and that is no cost of a trap.
fn median_batch() -> u64 {
    let mut batches: Vec<u64> = (0..BATCHES_AGAIN)
        .map(|_| {
            let before_ns = cpu_of_thread_ns();
            batch();
            cpu_of_thread_ns().saturating_sub(before_ns)
        })
        .collect();
    batches.sort_unstable();
    batches[batches.len() / 2]
}

fn cpu_of_thread_ns() -> u64 {
    clock::read_ns(ClockId::ThreadCPUTime)
}

fn batch() -> u64 {
    let start = Instant::now();
    for value in 0..u64::from(BATCH) {
        jtrace_calibration_site(value);
    }
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_is_as_much_dearer_as_one_that_is_turned_down_and_never_cheaper_than_at_first() {
        assert_eq!(dearer(600_000, 9_000, 18_000), 1_200_000);
        assert_eq!(dearer(600_000, 9_000, 4_000), 600_000);
        assert_eq!(dearer(600_000, 0, u64::MAX), u64::MAX);
    }
}
