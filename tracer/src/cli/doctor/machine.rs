//! What jtrace needs from the kernel and from its user's privileges.

use std::{fs, path::Path};

use tracer_common::names::{
    PROGRAM_CPU_SAMPLE, PROGRAM_FRAME_UNWOUND, PROGRAM_JNI, PROGRAM_MARKS, PROGRAM_METHOD_ENTRY, PROGRAM_METHOD_RETURN,
    PROGRAM_OBJECT_ALLOC, PROGRAM_SCHED_SWITCH, PROGRAM_SCHED_WAKEUP,
};

use super::{super::apart, Check, State};
use crate::{
    ebpf::{Error, trial::Trial},
    jvm::{
        find::{
            privileges::Privileges,
            refused_files::{self, Enforced},
        },
        journal::Journal,
    },
    priority::{self, Standing},
};

/// What looking into processes of others takes, and nothing else.
const PTRACE: &str = "CAP_SYS_PTRACE";

/// All checks of the machine.
pub(super) fn checks() -> Vec<Check> {
    let own = Privileges::own();
    let mut checks = vec![Check::ok("kernel", rustix::system::uname().release().to_string_lossy())];
    checks.push(bpf());
    checks.push(uprobe_pmu());
    checks.push(btf());
    checks.push(tracefs());
    checks.extend(privileges(own));
    // What is missing so far would be said once more, in the kernel's words.
    if checks.iter().all(|check| check.state != State::Missing) {
        checks.extend(match apart::who_holds_up(None) {
            Ok(Some(pid)) => vec![Check::missing("programs", apart::in_the_way(pid), "end that process")],
            Ok(None) | Err(_) => programs(Trial::run()),
        });
    }
    checks.push(priority());
    checks.extend(ptrace_scope());
    checks.extend(lockdown());
    checks.push(landlock(refused_files::try_out()));
    checks.push(journal());
    checks
}

/// What came of loading every program, and of attaching one to jtrace itself.
fn programs(trial: Result<Trial, Error>) -> Vec<Check> {
    let Trial { hit_cost_ps, why_single, refused } = match trial {
        Ok(trial) => trial,
        Err(error) => return vec![Check::missing("programs", error.to_string(), KERNELS)],
    };
    let attached = match hit_cost_ps {
        Some(cost_ps) => Check::ok(
            "programs",
            format!("attached to jtrace itself, where a hit costs {:.2} us", cost_ps as f64 / 1e6),
        ),
        None => {
            Check::limited("programs", "jtrace's own code was not found", "nothing: the cost of traps is not known")
        }
    };
    let of_lenses = refused.iter().map(|refusal| {
        let lenses = lenses(&refusal.program);
        Check::limited("programs", refusal.to_string(), format!("no {lenses} here; {KERNELS}"))
    });
    let links = match why_single {
        None => Check::ok("multi-uprobe links", "of one process"),
        Some(reason) => Check::limited(
            "multi-uprobe links",
            reason,
            "nothing: one link a site is used, detaching takes longer; 6.10 or later is faster",
        ),
    };
    std::iter::once(attached).chain(of_lenses).chain([links]).collect()
}

/// Where all programs load.
const KERNELS: &str = "use Linux 6.1 or later";

/// What needs a program.
fn lenses(program: &str) -> &'static str {
    match program {
        PROGRAM_METHOD_ENTRY | PROGRAM_METHOD_RETURN | PROGRAM_FRAME_UNWOUND => "lenses methods and calls",
        PROGRAM_OBJECT_ALLOC => "alloc --exact",
        PROGRAM_JNI => "lens jni",
        PROGRAM_MARKS => "markers and protocols inside",
        PROGRAM_CPU_SAMPLE => "lenses cpu and wall",
        PROGRAM_SCHED_SWITCH | PROGRAM_SCHED_WAKEUP => "lenses offcpu and wall",
        _ => "lens",
    }
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
        } else if name == PTRACE {
            let change = format!("for JVMs of others run with sudo, or grant {name}");
            Check::limited(name, "not granted, so only JVMs of your own can be watched", change)
        } else {
            Check::missing(name, "not granted", format!("run with sudo, or grant {name}"))
        }
    };
    own.needed().into_iter().map(check).collect()
}

/// Whether the thread that empties ring buffers comes before a target that is always runnable.
fn priority() -> Check {
    let name = "real-time priority";
    let change = "grant CAP_SYS_NICE, and a share in cpu.rt_runtime_us where the cgroup has none; else a very busy target may \
                  cost events";
    match priority::try_out() {
        Standing::RealTime | Standing::Given => {
            Check::ok(name, "SCHED_RR 1 for the thread that empties ring buffers, up to a quarter of a core")
        }
        Standing::Nice(error) => Check::limited(name, format!("refused ({error}); nice -20 instead"), change),
        Standing::Usual(error) => Check::limited(name, format!("refused ({error}), and so is nice -20"), change),
    }
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

fn landlock(enforced: Enforced) -> Check {
    let change = "nothing: jtrace gives up what it can without it";
    match enforced {
        Enforced::Whole => Check::ok("Landlock", "for `jtrace report`, and for what reaches files of a target"),
        Enforced::Partly => {
            Check::limited("Landlock", "the kernel knows fewer kinds of access; 6.10 knows all", change)
        }
        Enforced::Nothing => Check::limited("Landlock", "the kernel has none, or was started without it", change),
    }
}

fn journal() -> Check {
    let journal = match Journal::for_this_user() {
        Ok(journal) if !journal.exists() => return Check::ok("undo journal", "empty"),
        Ok(journal) => journal,
        Err(error) => {
            return Check::limited("undo journal", error.to_string(), "set XDG_RUNTIME_DIR; no flag is armed without");
        }
    };
    let targets = journal.targets().map(|targets| {
        // One that another jtrace works on is whole, or will be.
        let locked = targets.iter().filter_map(|target| journal.try_lock(*target).transpose());
        let errors = locked.filter_map(|locked| locked.and_then(|locked| locked.entry()).err()).collect::<Vec<_>>();
        (targets.len(), errors)
    });
    match targets {
        Ok((targets, errors)) => match errors.first() {
            Some(error) => Check::limited("undo journal", error.to_string(), "look at that file, then delete it"),
            None => Check::ok("undo journal", format!("{targets} targets")),
        },
        Err(error) => {
            Check::limited("undo journal", error.to_string(), "repair or delete it; no flag is armed without")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracer_common::names::PROGRAM_SITE;

    use crate::ebpf::Refusal;

    fn refusal(program: &str) -> Refusal {
        let reason = "combined stack size of 2 calls is 528. Too large".to_owned();
        Refusal { program: program.to_owned(), reason, kernel: "6.12.117+deb13-cloud-amd64".to_owned() }
    }

    #[test]
    fn a_refusal_of_what_all_need_is_the_sentence_with_which_attaching_fails() {
        let checks = programs(Err(refusal(PROGRAM_SITE).into()));
        assert_eq!(checks.len(), 1);
        assert_eq!(checks[0].state, State::Missing);
        assert_eq!(checks[0].found, Error::from(refusal(PROGRAM_SITE)).to_string());
        let sentence =
            "Linux 6.12.117+deb13-cloud-amd64 refuses the eBPF program `site_hit`: combined stack size of 2 calls";
        assert!(checks[0].found.starts_with(sentence), "{checks:?}");
    }

    #[test]
    fn how_much_of_the_rules_for_files_a_kernel_enforces_is_said() {
        assert_eq!(landlock(Enforced::Whole).state, State::Ok);
        let (partly, nothing) = (landlock(Enforced::Partly), landlock(Enforced::Nothing));
        assert_eq!([partly.state, nothing.state], [State::Limited; 2], "jtrace works all the same");
        assert!(partly.found.contains("fewer kinds of access") && nothing.found.contains("has none"));
    }

    #[test]
    fn a_program_of_some_lenses_names_what_will_be_missing() {
        let refused = vec![refusal(PROGRAM_SCHED_SWITCH)];
        let checks = programs(Ok(Trial { hit_cost_ps: Some(570_000), why_single: None, refused }));
        let states: Vec<_> = checks.iter().map(|check| check.state).collect();
        assert_eq!(states, [State::Ok, State::Limited, State::Ok]);
        assert!(checks[0].found.ends_with("costs 0.57 us"), "{checks:?}");
        assert!(checks[1].change.as_deref().unwrap().starts_with("no lenses offcpu and wall here"), "{checks:?}");
    }

    #[test]
    fn one_link_a_site_is_a_limit_with_its_reason() {
        let why_single = Some("the kernel has no multi-uprobe links; they came with 6.6".to_owned());
        let checks = programs(Ok(Trial { hit_cost_ps: None, why_single, refused: Vec::new() }));
        assert!(checks.iter().all(|check| check.state == State::Limited), "{checks:?}");
    }
}
