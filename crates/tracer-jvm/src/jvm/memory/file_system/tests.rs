//! Lists of mounts, real ones and made-up ones, and files that are opened or not.

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

/// Asking how full they are could take for ever.
#[test]
fn what_a_program_or_another_machine_serves_is_not_asked() {
    let line = |id: u32, kind: &str| format!("{id} 35 98:{id} / /mnt rw - {kind} x rw\n");
    let kinds = ["ext4", "nfs4", "cifs", "9p", "fuse.sshfs", "tmpfs"];
    let text: String = (0..).zip(kinds).map(|(id, kind)| line(id, kind)).collect();
    let mut found = FileSystems {
        lists: Vec::new(),
        mounts: HashMap::new(),
        devices: HashMap::new(),
        of_root: HashSet::new(),
        remote: HashSet::new(),
    };
    found.add(&mounts_in(&text), |mount| !is_served(&mount.kind));
    let asked = (0..6).filter(|id| found.is_local(*id, (98, u32::try_from(*id).unwrap())));
    assert_eq!(asked.collect::<Vec<_>>(), [0, 5]);
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
