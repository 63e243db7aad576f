//! Who is told of a mark whose names alone do not decide that.

use super::{
    super::{
        gate::{Asking, Gate},
        stack::Entry,
    },
    Site, Tap,
};

/// Clients that are told of a mark now, and those that can be told only at the end of the region.
pub(super) fn decide(
    gates: &mut [Gate],
    taps: &mut [Tap],
    site: Site,
    asking: &Asking<'_>,
    has_end: bool,
) -> (u64, u64) {
    if let Some(gate) = gates.get_mut(site.marker as usize) {
        if gate.is_late && has_end {
            return (0, site.clients);
        }
        if !gate.is_open() && !gate.lets(asking) {
            return (0, 0);
        }
    }
    let (mut told, mut pending) = (0, 0);
    for (bit, tap) in taps.iter_mut().enumerate() {
        let bit = 1 << bit;
        if site.clients & bit == 0 {
            continue;
        }
        match &mut tap.gate {
            None => told |= bit,
            Some(gate) if gate.is_late && has_end => pending |= bit,
            Some(gate) => told |= if gate.lets(asking) { bit } else { 0 },
        }
    }
    (told, pending)
}

/// Of the clients that wait for the end of a region, those that want it.
pub(super) fn decide_late(gates: &mut [Gate], taps: &mut [Tap], entry: Entry, asking: &Asking<'_>) -> u64 {
    let mut wanted = entry.pending;
    if let Some(gate) = gates.get_mut(entry.marker as usize)
        && gate.is_late
        && !gate.lets(asking)
    {
        return 0;
    }
    for (bit, tap) in taps.iter_mut().enumerate() {
        let bit = 1 << bit;
        if wanted & bit != 0
            && let Some(gate) = &mut tap.gate
            && !gate.lets(asking)
        {
            wanted &= !bit;
        }
    }
    wanted
}
