//! Becomes the user of a target, in its mount namespace, for good. For a process of one thread that does nothing else.

use std::{fs, io, os::fd::AsFd as _, path::Path};

use rustix::{
    fs::{AtFlags, Mode, OFlags, StatxFlags, open, statx},
    process::{
        DumpableBehavior, Gid, Pid, PidfdFlags, Resource, Rlimit, Uid, chdir, chroot, fchdir, geteuid, pidfd_open,
        set_dumpable_behavior, setrlimit,
    },
    thread::{
        CapabilitySet, ThreadNameSpaceType, move_into_thread_name_spaces, set_thread_groups, set_thread_res_gid,
        set_thread_res_uid,
    },
};

use super::super::find::{
    process::{Identity, read_bounded},
    refused_calls::{Work, refuse_beyond},
    refused_files,
};
use crate::privilege::{bound, keep_only};

/// Where a JVM and those who talk to it have their files: its counters, requests to attach, maps for `perf`, the library.
const DIRECTORIES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Whose process the target is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct User {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
}

/// Enters the target's mount namespace and root directory, and gives up everything that its user does not have.
pub(super) fn enter(target: Identity) -> io::Result<()> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    let pid = i32::try_from(target.pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let root =
        open(format!("/proc/{}/root", target.pid), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let user = User::of(target.pid)?;
    let other_mounts = namespace("self") != namespace(&target.pid.to_string());
    let own_root = open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let other_root = other_mounts || place(&root)? != place(&own_root)?;
    // Only now is it known that all of this was said of the target.
    if !target.is_alive() {
        return Err(gone());
    }
    if other_mounts {
        move_into_thread_name_spaces(handle.as_fd(), ThreadNameSpaceType::MOUNT)?;
    }
    if other_root {
        fchdir(&root)?;
        chroot(".")?;
    }
    chdir("/")?;
    drop((root, own_root));
    become_user(&user)
}

impl User {
    fn of(pid: u32) -> io::Result<Self> {
        let text = read_bounded(&format!("/proc/{pid}/status"))?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// A process with several ids is on its way from one user to another: which one it acts for cannot be known.
    fn parse(text: &str) -> io::Result<Self> {
        let numbers = |key: &str| -> Vec<u32> {
            let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
        };
        let one = |ids: &[u32]| match ids {
            [first, rest @ ..] if ids.len() == 4 && rest.iter().all(|id| id == first) => Ok(*first),
            _ => Err(io::Error::other("the target has the ids of several users")),
        };
        Ok(Self { uid: one(&numbers("Uid:"))?, gid: one(&numbers("Gid:"))?, groups: numbers("Groups:") })
    }
}

/// The mount namespace of a process.
fn namespace(pid: &str) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/mnt")).ok()
}

/// Which directory this is. A file system of the target is not asked.
fn place(directory: &impl std::os::fd::AsFd) -> io::Result<(u64, u64)> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let stat = statx(directory, "", flags, StatxFlags::INO | StatxFlags::MNT_ID)?;
    Ok((stat.stx_mnt_id, stat.stx_ino))
}

/// Gives up ids, groups and capabilities, none of which can be had again.
fn become_user(user: &User) -> io::Result<()> {
    let own = geteuid();
    if own.is_root() {
        bound(CapabilitySet::empty())?;
        let groups: Vec<Gid> = user.groups.iter().map(|&id| Gid::from_raw(id)).collect();
        set_thread_groups(&groups)?;
        let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
    } else if own.as_raw() != user.uid {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    // Where the target's user is root, only this takes them.
    keep_only(CapabilitySet::empty())?;
    refuse_beyond(Work::Looking)?;
    refused_files::refuse_beyond(&DIRECTORIES.map(Path::new))?;
    // The user can signal this process now; she cannot look into it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_with_one_user_is_that_users_and_one_with_two_is_nobodys() {
        let text = "Uid:\t1000\t1000\t1000\t1000\nGid:\t7\t7\t7\t7\nGroups:\t7 12 \n";
        assert_eq!(User::parse(text).unwrap(), User { uid: 1000, gid: 7, groups: vec![7, 12] });
        assert!(User::parse(&text.replacen("1000\n", "0\n", 1)).is_err());
        assert!(User::parse(&text.replacen("1000\t1000", "1000\t0", 1)).is_err());
        assert!(User::parse("").is_err());
    }

    #[test]
    fn fuzz_user_of_target() {
        crate::fuzz::texts("process", |text| {
            if let Ok(user) = User::parse(text) {
                assert!(user.groups.len() <= text.len());
            }
        });
    }
}
