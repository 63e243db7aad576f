//! What jtrace needs from the kernel and from its user's privileges.

use std::{fs, path::Path};

use super::Check;
use crate::jvm::{find::privilege::Privileges, journal::Journal};

/// Major and minor number of a kernel.
type Version = (u32, u32);

/// All checks of the machine.
pub(super) fn checks() -> Vec<Check> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut checks = features(&release);
    checks.push(bpf());
    checks.push(uprobe_pmu());
    checks.push(btf());
    checks.push(tracefs());
    checks.extend(privileges(Privileges::own()));
    checks.extend(ptrace_scope());
    checks.extend(lockdown());
    checks.push(journal());
    checks
}

/// What the kernel's version gives. Distributions port features back, so a version too low is only ever a limit here where
/// a way around exists.
fn features(release: &str) -> Vec<Check> {
    let Some(version) = version(release) else {
        return vec![Check::limited(
            "kernel",
            format!("{release}, not understood"),
            "jtrace needs Linux 5.17 or later",
        )];
    };
    let needed = |name: &str, least: Version| {
        let found = format!("since {}.{}", least.0, least.1);
        let change = format!("use a kernel of {}.{} or later", least.0, least.1);
        if version >= least { Check::ok(name, found) } else { Check::missing(name, found, change) }
    };
    let mut checks = vec![Check::ok("kernel", release)];
    checks.push(needed("ring buffer", (5, 8)));
    checks.push(needed("cookies of uprobes", (5, 15)));
    checks.push(needed("loops in programs, for stacks", (5, 17)));
    checks.push(if version >= (5, 18) {
        Check::ok("scheduler's task state", "since 5.18")
    } else {
        Check::limited("scheduler's task state", "since 5.18", "no lenses offcpu and wall before")
    });
    checks.push(match version {
        (7.., _) | (6, 10..) => Check::ok("multi-uprobe links", "since 6.6, by pid since 6.10"),
        (6, 6..) => Check::limited(
            "multi-uprobe links",
            "6.6 to 6.9 do not filter by pid",
            "nothing: one link a site is used, detaching takes longer; 6.10 or later is faster",
        ),
        _ => Check::limited(
            "multi-uprobe links",
            "since 6.6",
            "nothing: one link a site is used, detaching takes longer; 6.10 or later is faster",
        ),
    });
    checks
}

fn version(release: &str) -> Option<Version> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn bpf() -> Check {
    // The kernel has this setting exactly where it has the system call.
    if Path::new("/proc/sys/kernel/unprivileged_bpf_disabled").exists() {
        Check::ok("BPF", "the kernel has it")
    } else {
        Check::missing("BPF", "the kernel has no bpf system call", "use a kernel with CONFIG_BPF_SYSCALL")
    }
}

fn uprobe_pmu() -> Check {
    match fs::read_to_string("/sys/bus/event_source/devices/uprobe/type") {
        Ok(kind) => Check::ok("uprobes", format!("perf event source {}", kind.trim())),
        Err(_) => Check::missing(
            "uprobes",
            "no perf event source `uprobe`",
            "use a kernel with CONFIG_UPROBE_EVENTS, mount /sys",
        ),
    }
}

fn btf() -> Check {
    if Path::new("/sys/kernel/btf/vmlinux").exists() {
        Check::ok("BTF", "/sys/kernel/btf/vmlinux")
    } else {
        let found = "the kernel does not describe its types";
        Check::limited("BTF", found, "nothing: the default lenses do not need it (CONFIG_DEBUG_INFO_BTF)")
    }
}

fn tracefs() -> Check {
    let place = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .into_iter()
        .find(|place| Path::new(place).join("uprobe_events").exists());
    match place {
        Some(place) => Check::ok("tracefs", place),
        None => Check::limited("tracefs", "not mounted, or not visible", "nothing: jtrace attaches without it"),
    }
}

fn privileges(own: Privileges) -> Vec<Check> {
    let check = |(name, has)| {
        if has {
            Check::ok(name, "granted")
        } else {
            Check::missing(name, "not granted", format!("run with sudo, or grant {name}"))
        }
    };
    own.needed().into_iter().map(check).collect()
}

fn ptrace_scope() -> Option<Check> {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?;
    (scope.trim() == "3").then(|| {
        let change = "set kernel.yama.ptrace_scope below 3 and start the machine again";
        Check::missing("ptrace scope", "3: nobody may read another process's memory", change)
    })
}

fn lockdown() -> Option<Check> {
    let modes = fs::read_to_string("/sys/kernel/security/lockdown").ok()?;
    modes.contains("[confidentiality]").then(|| {
        let change = "boot with lockdown=integrity or none";
        Check::missing("lockdown", "confidentiality: BPF programs may not read memory", change)
    })
}

fn journal() -> Check {
    let journal = match Journal::for_this_user() {
        Ok(journal) if !journal.exists() => return Check::ok("undo journal", "empty"),
        Ok(journal) => journal,
        Err(error) => {
            return Check::limited("undo journal", error.to_string(), "set XDG_RUNTIME_DIR; no flag is armed without");
        }
    };
    match journal.lock().and_then(|locked| locked.entries()) {
        Ok((entries, errors)) => match errors.first() {
            Some(error) => Check::limited("undo journal", error.to_string(), "look at that file, then delete it"),
            None => Check::ok("undo journal", format!("{} targets", entries.len())),
        },
        Err(error) => {
            Check::limited("undo journal", error.to_string(), "repair or delete it; no flag is armed without")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::State, *};

    fn state(release: &str, name: &str) -> State {
        features(release).into_iter().find(|check| check.name == name).unwrap().state
    }

    #[test]
    fn versions_decide_what_there_is() {
        assert_eq!(state("6.18.44-fc", "multi-uprobe links"), State::Ok);
        assert_eq!(state("6.8.0-31-generic", "multi-uprobe links"), State::Limited);
        assert_eq!(state("5.15.0", "multi-uprobe links"), State::Limited);
        assert_eq!(state("5.15.0", "cookies of uprobes"), State::Ok);
        assert_eq!(state("5.10.0-30-amd64", "cookies of uprobes"), State::Missing);
        assert_eq!(state("5.10.0-30-amd64", "ring buffer"), State::Ok);
        assert_eq!(state("5.15.0", "loops in programs, for stacks"), State::Missing);
        assert_eq!(state("5.17.0", "scheduler's task state"), State::Limited);
        assert_eq!(state("unknown", "kernel"), State::Limited);
    }
}
