//! System calls that processes of jtrace never make, and that the kernel refuses them from some point on.
//!
//! Whoever takes such a process over, by a fault in what reads a target's memory, can neither start a program nor reach the
//! network, another process's execution or the machine. It is a list of what is refused: an allowed list would have to know
//! each call of each version of the C library, and a session that ends in the wrong call would leave its target changed.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads, sock_filter,
};

/// What no process of jtrace needs once it has begun its work.
const NEVER: &[i64] = &[
    // Programs and other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    // What goes past this filter, or makes faults in the kernel easier to use.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_vmsplice,
    // Keys of the kernel, and files by number.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Namespaces, mounts and roots.
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_personality,
];

/// What only a session needs: the kernel's programs and events.
const OF_SESSIONS: &[i64] = &[libc::SYS_bpf, libc::SYS_perf_event_open];

/// A new process or thread that begins in a namespace of its own.
const IN_NEW_NAMESPACE: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Bit of the numbers by which programs with 32-bit pointers call a 64-bit kernel (x32). To a filter these are the same machine, and
/// another number of each call.
const X32_BIT: u32 = 0x4000_0000;

/// What a process of jtrace is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Watching a target: it has its programs in the kernel.
    Session,
    /// Looking into processes, or reaching files of one.
    Looking,
}

/// Has the kernel refuse all that the work does not take, with `EPERM`, in all threads and in what they start, for good. Sockets
/// are those between processes of one machine (`AF_UNIX`). The caller must have `no_new_privs`.
pub fn refuse_beyond(work: Work) -> io::Result<()> {
    for program in [Ok(without_x32()), filter(work), without_clone3()] {
        apply_filter_all_threads(&program.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Refuses every call of x32, whatever it is: no part of jtrace makes one. Rules name single numbers, so this stands in the
/// filter's own words. Those of 32-bit programs are for another machine, and end the process in the other filters.
fn without_x32() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    /// Where the number is in what a filter is told (`seccomp_data`).
    const NUMBER: u32 = 0;
    let plain = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    vec![
        plain(LOAD_WORD, NUMBER),
        sock_filter { code: JUMP_IF_SET, jt: 0, jf: 1, k: X32_BIT },
        plain(RETURN, u32::from(SeccompAction::Errno(libc::EPERM.unsigned_abs()))),
        plain(RETURN, u32::from(SeccompAction::Allow)),
    ]
}

/// The flags of `clone3` lie in memory, where no filter looks; where it is not known, the C library asks for a thread by `clone`.
fn without_clone3() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, unknown, TargetArch::x86_64)?.try_into()
}

fn filter(work: Work) -> Result<BpfProgram, seccompiler::BackendError> {
    let others = if work == Work::Looking { OF_SESSIONS } else { &[] };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        NEVER.iter().chain(others).map(|&number| (number, Vec::new())).collect();
    let is_remote =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.unsigned_abs()))?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![is_remote])?]);
    let in_new_namespace = IN_NEW_NAMESPACE.iter().map(|&flag| {
        let flag = u64::from(flag.unsigned_abs());
        let has = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        SeccompRule::new(vec![has])
    });
    rules.insert(libc::SYS_clone, in_new_namespace.collect::<Result<_, _>>()?);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, TargetArch::x86_64)?.try_into()
}

#[cfg(test)]
mod tests {
    use std::{env, fs::File, net::UdpSocket, os::unix::net::UnixStream, process::Command, thread};

    use aya::{maps::MapType, sys::is_map_supported};
    use rustix::thread::set_no_new_privs;

    use super::*;

    /// Set in the process that tries.
    const TRIES: &str = "TRIES_WHAT_IS_REFUSED";

    /// What a process can still do under a filter. The filter is for good, so another process tries: this test itself, alone.
    fn tried(work: &str) -> String {
        let own = env::current_exe().unwrap();
        let name = "jvm::find::refused_calls::tests::the_one_who_tries";
        let mut command = Command::new(own);
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(TRIES, work);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains('=')).collect::<Vec<_>>().join("\n")
    }

    /// Asks for a process in a user namespace of its own by the way that no rule about `unshare` sees; it would end at once.
    #[expect(unsafe_code, reason = "no library has this call")]
    fn new_namespace() -> io::Result<()> {
        // SAFETY: without shared memory this is a fork, and the child does nothing but end.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0) };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: no handler runs.
            0 => unsafe { libc::_exit(0) },
            _ => Ok(()),
        }
    }

    /// The call that changes least of those that are refused under their usual number. A kernel without x32 knows no such call, and
    /// says so where no filter has refused it before.
    #[expect(unsafe_code, reason = "no library has this call")]
    fn by_x32() -> io::Result<()> {
        // SAFETY: the only argument asks for nothing to change.
        let result = unsafe { libc::syscall(i64::from(X32_BIT) | libc::SYS_unshare, 0) };
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    #[test]
    fn the_one_who_tries() {
        let Ok(work) = env::var(TRIES) else { return };
        let work = if work == "session" { Work::Session } else { Work::Looking };
        set_no_new_privs(true).unwrap();
        refuse_beyond(work).unwrap();
        let says = |what: &str, result: io::Result<()>| {
            println!("{what}={}", result.map_or_else(|error| error.raw_os_error().unwrap_or(-1), |()| 0));
        };
        // The name of the test stands at the beginning of the line.
        println!();
        thread::spawn(move || says("execve", Command::new("/bin/true").spawn().map(drop))).join().unwrap();
        says("thread", thread::Builder::new().spawn(|| ()).map(drop));
        says("namespace", new_namespace());
        says("x32", by_x32());
        says("network", UdpSocket::bind("127.0.0.1:0").map(drop));
        says("local", UnixStream::pair().map(drop));
        says("file", File::open("/proc/self/status").map(drop));
        let map = is_map_supported(MapType::Array).map_err(|error| error.io_error);
        says("bpf", map.and_then(|made| if made { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }));
    }

    /// Each word of the page with the calls that it is about. That the kernel refuses what is listed is tried below.
    #[test]
    fn every_call_that_the_page_names_is_refused() {
        const NAMED: [(&str, &[i64]); 10] = [
            ("starting programs", &[libc::SYS_execve, libc::SYS_execveat]),
            ("tracing and writing to other processes", &[libc::SYS_ptrace, libc::SYS_process_vm_writev]),
            ("namespaces", &[libc::SYS_setns, libc::SYS_unshare]),
            ("mounts", &[libc::SYS_mount, libc::SYS_umount2, libc::SYS_move_mount, libc::SYS_pivot_root]),
            ("keys", &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl]),
            ("modules", &[libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module]),
            ("the clock", &[libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_adjtimex]),
            ("`io_uring`", &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter]),
            // Whatever the call is; it is tried below.
            ("everything by the numbers of x32", &[]),
            ("`bpf` and `perf_event_open` where it is no session", OF_SESSIONS),
        ];
        let page = include_str!("../../../../../docs/security.md");
        let line = page.split("the kernel refuses system calls").nth(1).unwrap().split("\n\n").next().unwrap();
        let line = line.replace('\n', " ");
        for (words, calls) in NAMED {
            assert!(line.contains(words), "the page does not say `{words}`");
            assert!(calls.iter().all(|call| NEVER.contains(call) || OF_SESSIONS.contains(call)), "{words}");
        }
    }

    #[test]
    fn a_session_can_neither_start_a_program_nor_reach_the_network() {
        let eperm = libc::EPERM;
        // Without root the kernel itself refuses.
        let bpf = if rustix::process::geteuid().is_root() { 0 } else { eperm };
        assert_eq!(
            tried("session"),
            format!(
                "execve={eperm}\nthread=0\nnamespace={eperm}\nx32={eperm}\nnetwork={eperm}\nlocal=0\nfile=0\nbpf={bpf}"
            )
        );
    }

    #[test]
    fn who_looks_has_no_programs_in_the_kernel() {
        let eperm = libc::EPERM;
        assert_eq!(
            tried("looking"),
            format!(
                "execve={eperm}\nthread=0\nnamespace={eperm}\nx32={eperm}\nnetwork={eperm}\nlocal=0\nfile=0\nbpf={eperm}"
            )
        );
    }
}
