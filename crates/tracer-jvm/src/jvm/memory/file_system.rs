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
        let mut found = Self { lists: vec![list], mounts: HashMap::new(), devices: internal(), of_root };
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
    let handle = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?;
    let wanted = StatxFlags::TYPE | StatxFlags::MNT_ID;
    let stat = statx(&handle, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, wanted).map_err(io::Error::from)?;
    if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::RegularFile {
        return Err(Refused::NotRegular);
    }
    if let Some(pid) = target_of(path)
        && !known_of(pid)?.trusts(stat.stx_mnt_id, (stat.stx_dev_major, stat.stx_dev_minor))
    {
        return Err(Refused::Untrusted);
    }
    let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&handle));
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(again, flags, Mode::empty()).map_err(io::Error::from)?))
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
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_line_is_read_whatever_its_paths_are() {
        let line = r"36 35 98:3 /a\040b /mnt rw,noatime master:1 shared:2 - fuse.evil /dev/root rw,errors=continue";
        let expected = Mount { id: 36, device: (98, 3), kind: "fuse.evil".to_owned(), is_of_root: false };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse("36 35 98 / / rw - ext4 x rw"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_line_that_was_cut_names_no_mount() {
        let text = "36 35 98:3 / /mnt rw - ext4 x rw\n37 35 98:4 / /srv rw - fuse.s x rw\n";
        assert_eq!(mounts_in(text).len(), 2);
        // It would be another kind of file system.
        let cut = text.find(".s x").unwrap();
        assert_eq!(mounts_in(&text[..cut]).len(), 1);
    }

    #[test]
    fn what_a_program_serves_is_not_trusted() {
        assert!(["fuse", "fuseblk", "fuse.sshfs"].into_iter().all(is_served));
        assert!(!["ext4", "overlay", "tmpfs", "xfs", "fusectl"].into_iter().any(is_served));
    }

    #[test]
    fn whose_program_serves_a_file_system_is_known() {
        let of = |behind: &str| parse(&format!("36 35 98:3 / /mnt rw - {behind}")).unwrap().is_of_root;
        assert!(of("ext4 /dev/vda rw") && of("fuse.juicefs juice rw,user_id=0,group_id=0,allow_other"));
        assert!(!of("fuse.sshfs host: rw,user_id=1000,group_id=1000") && !of("fuse x") && !of("fuse x user_id=01"));
    }

    #[test]
    fn regular_files_are_opened_and_nothing_else_is() {
        assert!(open_regular(Path::new("/proc/self/exe")).is_ok());
        assert!(open_regular(Path::new(&format!("/proc/{}/exe", std::process::id()))).is_ok());
        for other in ["/dev/zero", "/dev/null", "/tmp"] {
            assert!(matches!(open_regular(Path::new(other)), Err(Refused::NotRegular)), "{other}");
        }
        assert!(matches!(open_regular(Path::new("/nowhere")), Err(Refused::Io(_))));
    }

    /// Opening can have effects: of a device, and of a pipe for who waits at its other end. The kernel tells who watches of each.
    #[test]
    fn what_is_no_file_is_not_opened_to_find_that_out() {
        use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, &fifo, WatchFlags::OPEN).unwrap();
        let mut room = [std::mem::MaybeUninit::uninit(); 512];
        let mut opened = Reader::new(&watch, &mut room);
        assert!(matches!(open_regular(&fifo), Err(Refused::NotRegular)));
        assert!(opened.next().is_err(), "it was opened");
        drop(open(&fifo, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap());
        assert!(opened.next().is_ok(), "nothing is told of that");
    }

    #[test]
    fn a_mount_of_which_nobody_here_knows_is_not_trusted() {
        let own = FileSystems::of(std::process::id()).unwrap();
        assert!(!own.trusts(u64::MAX, (0, 0xfffff)) && !own.is_stale());
        assert!(internal().into_keys().all(|device| own.trusts_device(device)));
    }

    /// A thousand files of a user with a hundred thousand mounts took minutes, as her list was read for each.
    #[test]
    fn what_is_mounted_is_read_once_for_many_files_and_anew_in_another_namespace() {
        let own = std::process::id();
        // Something may be mounted on this machine just then.
        let twice = |pid: u32| {
            let is_same = |_| Arc::ptr_eq(&known_of(pid).unwrap(), &known_of(pid).unwrap());
            assert!((0..100).any(is_same), "it is read for each");
        };
        twice(own);
        if let Some(other) = of_a_user("") {
            twice(other.0.id());
            assert_eq!(known_of(other.0.id()).unwrap().lists.len(), 2, "it is of this namespace");
        }
    }

    /// With 22,000 mounts one upon the other the kernel took 23 s to list them all.
    #[test]
    fn of_a_list_that_a_user_has_made_a_bounded_part_is_read() {
        const DOUBLE: &str = "mount -t tmpfs none /mnt && for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do \
                              mkdir /mnt/$i && mount --rbind /mnt /mnt/$i || exit; done;";
        let Some(other) = of_a_user(DOUBLE) else { return };
        let whole = fs::read(format!("/proc/{}/mountinfo", other.0.id())).unwrap();
        assert!(whole.len() as u64 > 2 * MAX_FOREIGN_BYTES, "{} bytes", whole.len());
        let known = FileSystems::of(other.0.id()).unwrap();
        let lines = whole.split(|byte| *byte == b'\n').count();
        assert!((100..lines / 2).contains(&known.mounts.len()), "{} of {lines}", known.mounts.len());
        let last = mounts_in(&String::from_utf8_lossy(&whole)).pop().unwrap();
        assert!(!known.mounts.contains_key(&last.id), "the last one was read");
    }

    /// A process that ends with its test.
    struct Other(Child);

    impl Drop for Other {
        fn drop(&mut self) {
            self.0.kill().unwrap_or_default();
            self.0.wait().unwrap();
        }
    }

    /// One in namespaces of its own, which has done this; none where users may have no namespaces here.
    fn of_a_user(script: &str) -> Option<Other> {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]).arg(format!("{script} exec cat"));
        let other = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut other) = other.map(Other) else {
            println!("skipped: there is no unshare");
            return None;
        };
        // Its answer shows that it is there.
        io::Write::write_all(other.0.stdin.as_mut().unwrap(), b"x").unwrap_or_default();
        other.0.stdout.as_mut().unwrap().read_exact(&mut [0]).is_ok().then_some(other)
    }

    /// Asked in the same way as for a file that never answers: her own file system is one of the kernel's here, so that the test ends.
    #[test]
    fn of_a_users_own_file_systems_only_memory_is_opened() {
        const MOUNTS: &str = "mount -t tmpfs none /mnt && mkdir /mnt/in /mnt/over /mnt/work /mnt/layers && echo x > /mnt/in/file && \
                              mount -t overlay -o lowerdir=/mnt/in,upperdir=/mnt/over,workdir=/mnt/work none /mnt/layers || exit;";
        let Some(other) = of_a_user(MOUNTS) else { return };
        let hers = |path: &str| PathBuf::from(format!("/proc/{}/root/{path}", other.0.id()));
        let layered = hers("mnt/layers/file");
        assert_eq!(fs::read(&layered).unwrap(), b"x\n");
        let opened = open_regular(&layered);
        assert!(matches!(opened, Err(Refused::Untrusted)), "{opened:?}");
        assert!(open_regular(&hers("mnt/in/file")).is_ok(), "memory has its pages from the kernel");
        let passwords = open_regular(&hers("etc/passwd"));
        assert!(passwords.is_ok(), "an administrator has mounted it: {passwords:?}");
    }

    #[test]
    fn only_paths_of_processes_are_a_targets() {
        assert_eq!(target_of(Path::new("/proc/42/map_files/1-2")), Some(42));
        assert_eq!((target_of(Path::new("/proc/self/exe")), target_of(Path::new("/opt/libjvm.so"))), (None, None));
    }

    #[test]
    fn fuzz_mounts() {
        crate::fuzz::texts("mounts", |text| {
            for mount in mounts_in(text) {
                assert!(mount.kind.len() < text.len());
            }
        });
    }
}
