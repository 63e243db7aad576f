//! Capabilities: which a part of jtrace needs, and giving up all others for good.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// What looking into processes takes: their memory, which files they have mapped, and reading those.
pub const LOOKING: CapabilitySet =
    CapabilitySet::SYS_PTRACE.union(CapabilitySet::CHECKPOINT_RESTORE).union(CapabilitySet::DAC_READ_SEARCH);

/// What a session takes once it is attached: groups of sites that come back, memory and files of the target, names of the
/// kernel, the place of the thread that empties ring buffers, and results in directories of the user who called.
pub const SESSION: CapabilitySet = LOOKING
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::SYSLOG)
    .union(CapabilitySet::DAC_OVERRIDE);

/// What a walk through the heap of a JVM takes once it has begun: what looking takes, and results in directories of others.
pub const WALKING: CapabilitySet = LOOKING.union(CapabilitySet::DAC_OVERRIDE);

/// What a report of a recording takes: results in directories of others.
pub const REPORTING: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

/// Highest number of a capability that any kernel of today could have.
const LAST: u32 = 63;

/// Takes care that no program that is executed could have other capabilities than these; where that is not allowed, it has
/// none to give.
pub fn bound(kept: CapabilitySet) -> io::Result<()> {
    if !capabilities(None)?.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for capability in (0..=LAST).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        if !kept.contains(capability) && capability_is_in_bounding_set(capability).unwrap_or(false) {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    Ok(())
}

/// Gives up all capabilities but these, for good: those of the calling thread, and of threads and processes that it starts.
pub fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    let own = capabilities(None)?;
    bound(kept)?;
    clear_ambient_capability_set()?;
    let kept = own.permitted & kept;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() })?;
    Ok(set_no_new_privs(true)?)
}
