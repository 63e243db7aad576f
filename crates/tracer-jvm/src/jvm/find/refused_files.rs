//! Files that processes of jtrace never reach, and that the kernel refuses them from some point on (Landlock).
//!
//! This is for work whose files are all known: reading a recording, and reaching files of a target. A session and whoever looks
//! into processes cannot have it: under any such rule the kernel also refuses to read the memory of other processes.
//! <https://github.com/torvalds/linux/blob/v6.18/security/landlock/task.c>

use std::{io, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, RulesetStatus, path_beneath_rules,
};

/// The version whose kinds of access are asked for: 6.10. A kernel that knows fewer refuses fewer.
const VERSION: ABI = ABI::V5;

/// How much of it the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// Everything.
    Whole,
    /// Those kinds of access that it knows.
    Partly,
    /// Nothing: it has no Landlock, or was not started with it.
    Nothing,
}

/// Has the kernel refuse the calling thread, and all that it starts, to open or change any file but those below these directories, for
/// good. What is open stays so. Nothing is executed anywhere. The caller must have `no_new_privs`, or gets it.
pub fn refuse_beyond(directories: &[&Path]) -> io::Result<Enforced> {
    refuse_all_but(directories, &[])
}

/// The same, and these files can be read besides.
pub fn refuse_all_but(directories: &[&Path], read: &[&Path]) -> io::Result<Enforced> {
    restrict(directories, read).map_err(io::Error::other)
}

fn restrict(directories: &[&Path], read: &[&Path]) -> Result<Enforced, RulesetError> {
    let all = AccessFs::from_all(VERSION);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?.create()?;
    let rules = path_beneath_rules(directories, all & !AccessFs::Execute);
    let reading = path_beneath_rules(read, AccessFs::from_read(VERSION) & !AccessFs::Execute);
    let status = ruleset.add_rules(rules)?.add_rules(reading)?.restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Enforced::Whole,
        RulesetStatus::PartiallyEnforced => Enforced::Partly,
        RulesetStatus::NotEnforced => Enforced::Nothing,
    })
}

/// What this kernel would enforce. A thread that ends tries it.
pub fn try_out() -> Enforced {
    std::thread::spawn(|| refuse_beyond(&[])).join().ok().and_then(Result::ok).unwrap_or(Enforced::Nothing)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, process, thread};

    use landlock::LandlockStatus;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

    use super::*;
    use crate::jvm::memory::Memory;

    /// The rules are for a thread: here one tries.
    fn under_rules<T: Send>(directories: &[&Path], tries: impl FnOnce(Enforced) -> T + Send) -> T {
        thread::scope(|scope| scope.spawn(|| tries(refuse_beyond(directories).unwrap())).join().unwrap())
    }

    #[test]
    fn a_file_that_is_read_can_be_read_and_neither_changed_nor_its_neighbours_read() {
        let folder = tempfile::tempdir().unwrap();
        let (read, other) = (folder.path().join("read"), folder.path().join("other"));
        fs::write(&read, "a snapshot").unwrap();
        fs::write(&other, "secret").unwrap();
        let tries = || {
            if refuse_all_but(&[], &[&read]).unwrap() == Enforced::Nothing {
                println!("skipped: this kernel has no Landlock");
                return;
            }
            assert_eq!(fs::read_to_string(&read).unwrap(), "a snapshot");
            for refused in [fs::write(&read, "x"), fs::remove_file(&read), fs::read(&other).map(drop)] {
                assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            }
        };
        thread::scope(|scope| scope.spawn(tries).join().unwrap());
    }

    #[test]
    fn a_file_outside_can_be_neither_read_nor_made_nor_removed() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) = (inside.path().join("file"), outside.path().join("file"));
        fs::write(&other, "secret").unwrap();
        let open = fs::File::open(&other).unwrap();
        under_rules(&[inside.path()], |enforced| {
            if enforced == Enforced::Nothing {
                println!("skipped: this kernel has no Landlock");
                return;
            }
            let refused = |result: io::Result<()>| {
                assert_eq!(result.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            };
            refused(fs::read(&other).map(drop));
            refused(fs::write(outside.path().join("new"), ""));
            refused(fs::remove_file(&other));
            refused(fs::read_dir("/").map(drop));
            fs::write(&own, "x").unwrap();
            fs::rename(&own, inside.path().join("renamed")).unwrap();
            // What was open before can still be read.
            assert_eq!(io::read_to_string(&open).unwrap(), "secret");
        });
        assert_eq!(fs::read_to_string(&other).unwrap(), "secret", "others are not bound");
    }

    #[test]
    fn how_much_is_enforced_follows_from_the_version_that_the_kernel_has() {
        let first = || Ruleset::default().handle_access(AccessFs::from_all(ABI::V1))?.create()?.restrict_self();
        let version = thread::scope(|scope| scope.spawn(first).join().unwrap()).unwrap().landlock;
        let expected = match version {
            LandlockStatus::Available { effective_abi, .. } if effective_abi >= VERSION => Enforced::Whole,
            LandlockStatus::Available { .. } => Enforced::Partly,
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => Enforced::Nothing,
        };
        assert_eq!(try_out(), expected, "{version:?}");
    }

    /// The answer of a kernel that has no Landlock is that it does not know the call.
    #[test]
    fn a_kernel_without_the_rules_enforces_nothing_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("file");
        fs::write(&outside, "read all the same").unwrap();
        let tries = || {
            let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
            let calls = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
            let filter = SeccompFilter::new(calls, SeccompAction::Allow, unknown, TargetArch::x86_64).unwrap();
            let program: BpfProgram = filter.try_into().unwrap();
            apply_filter(&program).unwrap();
            (refuse_beyond(&[]).unwrap(), fs::read_to_string(&outside).unwrap())
        };
        let (enforced, text) = thread::scope(|scope| scope.spawn(tries).join().unwrap());
        assert_eq!((enforced, &*text), (Enforced::Nothing, "read all the same"));
    }

    /// Why a session has no such rules. Should a kernel allow it one day, a session can have them.
    #[test]
    fn nobody_reads_the_memory_of_others_under_such_rules() {
        let mut child = process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        let before = Memory::open(pid).map(drop);
        let (enforced, after) = under_rules(&[Path::new("/")], |enforced| (enforced, Memory::open(pid).map(drop)));
        child.kill().unwrap();
        child.wait().unwrap();
        before.unwrap();
        if enforced != Enforced::Nothing {
            after.unwrap_err();
        }
    }
}
