//! Which file systems cannot be a target's user's own. A file system that a program serves can leave whoever reads it waiting
//! for ever, and any user can have one, in namespaces of her own: with it she would hold up jtrace at a page of memory that
//! is mapped from it, or at one of her libraries.
//!
//! Trusted is what is mounted in jtrace's own mount namespace, or in one that belongs to jtrace's user namespace, and is
//! served by no program. What only a namespace of hers has is not, save where the same is mounted here, too, or is memory.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{fs::MetadataExt as _, net::UnixDatagram},
    },
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    fs::{AtFlags, FileType, MemfdFlags, Mode, OFlags, StatxFlags, fstat, major, memfd_create, minor, open, statx},
};

use super::{calls, maps::Mapping};

/// Largest list of mounts that is read, and largest one that a user has made. She can have a hundred thousand, one upon the other, and the kernel
/// takes minutes to list them. What is not read is not trusted.
const MAX_BYTES: u64 = 16 << 20;
const MAX_FOREIGN_BYTES: u64 = 256 << 10;

/// A device, as mounts and mappings name it.
pub(super) type Device = (u32, u32);

/// The file systems that a target can have files of.
#[derive(Debug)]
pub(super) struct FileSystems {
    /// What was read; the kernel says when it has changed.
    lists: Vec<File>,
    mounts: HashMap<u64, bool>,
    devices: HashMap<Device, bool>,
    /// Those that a program of root's serves, which may be slow and is not an enemy.
    of_root: HashSet<Device>,
    /// Mounts of what another machine serves, which need not answer either.
    remote: HashSet<u64>,
}

/// A line of `/proc/PID/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    id: u64,
    device: Device,
    kind: String,
    /// A program of root's serves it, or none does.
    is_of_root: bool,
}

impl FileSystems {
    /// Looks at what jtrace and a process have mounted.
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let (list, own) = read("self", MAX_BYTES)?;
        let of_root = own.iter().filter(|mount| mount.is_of_root).map(|mount| mount.device).collect();
        let (mounts, devices, remote) = (HashMap::new(), internal(), HashSet::new());
        let mut found = Self { lists: vec![list], mounts, devices, of_root, remote };
        found.add(&own, |mount| !is_served(&mount.kind));
        if namespace("self") != namespace(&pid.to_string()) {
            let trusted = belongs_here(pid);
            let (list, theirs) = read(&pid.to_string(), if trusted { MAX_BYTES } else { MAX_FOREIGN_BYTES })?;
            found.lists.push(list);
            let here: HashMap<Device, String> = own.into_iter().map(|mount| (mount.device, mount.kind)).collect();
            found.add(&theirs, |mount| {
                let known = trusted || is_memory(&mount.kind) || here.get(&mount.device) == Some(&mount.kind);
                known && !is_served(&mount.kind)
            });
        }
        Ok(found)
    }

    fn add(&mut self, mounts: &[Mount], is_trusted: impl Fn(&Mount) -> bool) {
        for mount in mounts {
            let is_trusted = is_trusted(mount);
            self.remote.extend(is_remote(&mount.kind).then_some(mount.id));
            self.mounts.insert(mount.id, is_trusted);
            // A device that is trusted here stays so, whatever else it is mounted as.
            self.devices.entry(mount.device).or_insert(is_trusted);
        }
    }

    /// Whether pages of files of a device come from the kernel alone.
    pub(super) fn trusts_device(&self, device: Device) -> bool {
        self.devices.get(&device).copied().unwrap_or(false)
    }

    fn trusts(&self, mount: u64, device: Device) -> bool {
        // Subvolumes have devices of their own, and layers have mounts of their own.
        self.mounts.get(&mount).copied().unwrap_or_else(|| self.trusts_device(device))
    }

    /// Whether the kernel alone answers for a file system, without another machine.
    fn is_local(&self, mount: u64, device: Device) -> bool {
        self.trusts(mount, device) && !self.remote.contains(&mount)
    }

    /// Whether something was mounted or unmounted since this was read; numbers of devices are used again.
    pub(super) fn is_stale(&self) -> bool {
        let mut polled: Vec<PollFd<'_>> = self.lists.iter().map(|list| PollFd::new(list, PollFlags::PRI)).collect();
        !matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
    }
}

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The kernel refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A directory, device, pipe or socket.
    #[error("it is no regular file")]
    NotRegular,
    /// A program may serve it.
    #[error("it lies on a file system that its user may serve herself, and that need not answer")]
    Untrusted,
}

/// Opens a regular file for reading. What it is, and where a file of a target lies, is found out before: opening a device can
/// have effects, and a file system that a program serves need not answer. Links are followed, because `/proc/PID/map_files`
/// consists of them.
pub(crate) fn open_regular(path: &Path) -> Result<File, Refused> {
    let (handle, mount, device) = regular(path)?;
    if let Some(pid) = target_of(path)
        && !known_of(pid)?.trusts(mount, device)
    {
        return Err(Refused::Untrusted);
    }
    let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(again, flags, Mode::empty()).map_err(io::Error::from)?))
}

/// A handle for a regular file of a target that lies on this machine, and its device: what may be asked of its file system is answered.
pub(super) fn local(path: &Path) -> Result<(OwnedFd, Device), Refused> {
    let (handle, mount, device) = regular(path)?;
    let known = known_of(target_of(path).ok_or(Refused::Untrusted)?)?;
    if known.is_local(mount, device) { Ok((handle, device)) } else { Err(Refused::Untrusted) }
}

/// A handle for a regular file, with which it is not opened, and where it lies.
fn regular(path: &Path) -> Result<(OwnedFd, u64, Device), Refused> {
    let handle = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?;
    let wanted = StatxFlags::TYPE | StatxFlags::MNT_ID;
    let stat = statx(&handle, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, wanted).map_err(io::Error::from)?;
    if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::RegularFile {
        return Err(Refused::NotRegular);
    }
    Ok((handle, stat.stx_mnt_id, (stat.stx_dev_major, stat.stx_dev_minor)))
}

/// Whether any of a process's mappings is of a file that its user may serve herself.
pub(crate) fn has_others(pid: u32, mappings: &[Mapping]) -> io::Result<bool> {
    let of_files = mappings.iter().filter(|mapping| mapping.inode != 0);
    let devices: HashSet<Option<Device>> = of_files.map(Mapping::device_numbers).collect();
    // Looked at only now: it takes a moment, and most mappings are of a few file systems.
    let known = known_of(pid)?;
    let is_others = |device| !known.trusts_device(device) && !known.of_root.contains(&device);
    Ok(devices.into_iter().any(|device| device.is_none_or(is_others)))
}

/// The file systems of the process that was asked about last, by its mount namespace. The open list keeps the namespace, so no other one
/// gets its number.
static LAST: Mutex<Option<(PathBuf, Arc<FileSystems>)>> = Mutex::new(None);

/// What a process has mounted: as it was known before, unless something was mounted since. A user can have a hundred thousand mounts, and
/// as many files as she likes that are opened one after the other.
fn known_of(pid: u32) -> io::Result<Arc<FileSystems>> {
    let namespace = namespace(&pid.to_string());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, known)) = &*last
        && namespace.as_ref() == Some(of)
        && !known.is_stale()
    {
        return Ok(Arc::clone(known));
    }
    let known = Arc::new(FileSystems::of(pid)?);
    *last = namespace.map(|namespace| (namespace, Arc::clone(&known)));
    Ok(known)
}

/// The process below whose part of `/proc` a path lies. Any other path was named by jtrace's own user.
fn target_of(path: &Path) -> Option<u32> {
    let mut parts = path.strip_prefix("/proc").ok()?.components();
    match parts.next()? {
        Component::Normal(pid) => pid.to_str()?.parse().ok(),
        _ => None,
    }
}

fn read(pid: &str, most: u64) -> io::Result<(File, Vec<Mount>)> {
    let mut list = File::open(format!("/proc/{pid}/mountinfo"))?;
    let mut text = Vec::new();
    (&mut list).take(most).read_to_end(&mut text)?;
    Ok((list, mounts_in(&String::from_utf8_lossy(&text))))
}

/// Of a list that was cut, the last line may be one only in part.
fn mounts_in(text: &str) -> Vec<Mount> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().filter_map(parse).collect()
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw`: nothing before the dash holds a space.
fn parse(line: &str) -> Option<Mount> {
    let (before, behind) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let id = fields.next()?.parse().ok()?;
    let (major, minor) = fields.nth(1)?.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let mut behind = behind.split(' ');
    let kind = behind.next()?.to_owned();
    // Whoever has mounted it, the kernel and `fusermount` write down whose program serves it.
    let mut options = behind.nth(1).unwrap_or_default().split(',');
    let is_of_root = !is_served(&kind) || options.any(|option| option == "user_id=0");
    Some(Mount { id, device, kind, is_of_root })
}

/// Whether a program serves such file systems, or may.
fn is_served(kind: &str) -> bool {
    matches!(kind, "fuse" | "fuseblk") || kind.starts_with("fuse.")
}

/// Whether another machine serves such file systems.
fn is_remote(kind: &str) -> bool {
    matches!(
        kind,
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "afs" | "lustre" | "gpfs" | "beegfs" | "glusterfs"
    )
}

/// Whether all of such a file system is memory, whoever has mounted it.
fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "hugetlbfs")
}

/// What the kernel keeps for itself, with no mount that anybody sees: memory that has the form of files, and files without a place,
/// as those of events and of packets are.
fn internal() -> HashMap<Device, bool> {
    let kinds = [MemfdFlags::CLOEXEC, MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB];
    let made = kinds.into_iter().filter_map(|flags| memfd_create("jtrace", flags).ok());
    let made = made.chain(eventfd(0, EventfdFlags::CLOEXEC));
    let made = made.chain(UnixDatagram::unbound().map(OwnedFd::from));
    let devices = made.filter_map(|file| fstat(file.as_fd()).ok()).map(|stat| stat.st_dev);
    devices.map(|device| ((major(device), minor(device)), true)).collect()
}

/// A process's mount namespace.
fn namespace(pid: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/mnt")).ok()
}

/// Whether a process's mount namespace belongs to jtrace's own user namespace, so that an administrator has made its mounts.
fn belongs_here(pid: u32) -> bool {
    let theirs = File::open(format!("/proc/{pid}/ns/mnt")).and_then(|namespace| calls::owner_of(&namespace));
    let theirs = theirs.and_then(|owner| File::from(owner).metadata());
    let own = fs::metadata("/proc/self/ns/user");
    theirs.is_ok_and(|theirs| own.is_ok_and(|own| (own.dev(), own.ino()) == (theirs.dev(), theirs.ino())))
}

#[cfg(test)]
mod tests;
