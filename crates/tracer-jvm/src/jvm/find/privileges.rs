//! Which capabilities jtrace has, and which it lacks.

use super::process::Status;

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
