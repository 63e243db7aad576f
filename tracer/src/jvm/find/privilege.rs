//! Which capabilities jtrace has, which it lacks, and giving up those that a process of it does not need.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::process::Status;

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

const SYS_PTRACE: (u32, &str) = (19, "CAP_SYS_PTRACE");
const SYS_ADMIN: u32 = 21;
const PERFMON: (u32, &str) = (38, "CAP_PERFMON");
const BPF: (u32, &str) = (39, "CAP_BPF");

/// The effective capabilities of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privileges {
    mask: u64,
}

impl Privileges {
    /// Reads them; none where the kernel does not tell.
    pub fn own() -> Self {
        Self { mask: Status::read("self").map(|status| status.capabilities).unwrap_or_default() }
    }

    /// Those that jtrace needs, each with whether it has it. `CAP_SYS_ADMIN` stands for `CAP_BPF` and `CAP_PERFMON`.
    pub fn needed(self) -> [(&'static str, bool); 3] {
        let has = |bit: u32| self.mask & (1 << bit) != 0;
        [
            (SYS_PTRACE.1, has(SYS_PTRACE.0)),
            (BPF.1, has(BPF.0) || has(SYS_ADMIN)),
            (PERFMON.1, has(PERFMON.0) || has(SYS_ADMIN)),
        ]
    }

    /// Names of those that are missing.
    pub fn missing(self) -> Vec<&'static str> {
        self.needed().into_iter().filter(|(_, has)| !has).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        assert_eq!(Privileges { mask: 0 }.missing(), ["CAP_SYS_PTRACE", "CAP_BPF", "CAP_PERFMON"]);
        assert_eq!(Privileges { mask: 1 << 21 }.missing(), ["CAP_SYS_PTRACE"]);
        assert_eq!(Privileges { mask: 1 << 19 | 1 << 39 }.missing(), ["CAP_PERFMON"]);
        assert!(Privileges { mask: u64::MAX }.missing().is_empty());
    }
}
