//! A root tool among hostile users: each test attacks as an ordinary user could, in namespaces of her own.

mod held_up;
mod listed;
mod outputs;
mod owed;
pub(crate) mod spoken_for;
mod tables;
mod talks;

use std::{
    ffi::OsString,
    fs,
    io::ErrorKind,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch, child_of},
    patience::until_true,
    process::Finished,
};
use tracer_jvm::jvm::{find::process::Identity, target_files};

pub(crate) use self::held_up::{java_below, with_a_silent_tmp};
use crate::privileges::{is_filtered, mask, of_document};

/// A user who has nothing on this machine.
const UID: u32 = 61_234;

/// A command that goes on as the user.
fn as_user() -> Command {
    let mut command = Command::new("setpriv");
    let uid = UID.to_string();
    // setpriv starts a program while it still has root's rights; what that one starts is the user's.
    command.args(["--reuid", &uid, "--regid", &uid, "--clear-groups", "--", "env"]).current_dir("/");
    command
}

/// Where what lies at `/tmp` is found when something else is mounted there: this repository and the JDKs may lie below it.
const ELSEWHERE: &str = "/mnt";

/// A command line that finds its files there.
fn from_elsewhere(words: Vec<OsString>) -> Vec<OsString> {
    let moved = |word: OsString| match Path::new(&word).strip_prefix("/tmp") {
        Ok(below) => Path::new(ELSEWHERE).join(below).into_os_string(),
        Err(_) => word,
    };
    words.into_iter().map(moved).collect()
}

/// A JVM of the user, who sees another directory at `/tmp`: she has mounted it there, in namespaces of her own.
fn with_another_tmp(launch: &Launch, tmp: &Path) -> Result<Jvm> {
    with_mounts(launch, tmp, "mount --bind \"$0\" /tmp")
}

/// A JVM of the user, who mounts what she likes in namespaces of her own before it starts; `$0` is a path for that, and `$$` the JVM's pid.
fn with_mounts(launch: &Launch, path: &Path, mounts: &str) -> Result<Jvm> {
    let script = format!("set -e; mount --rbind /tmp {ELSEWHERE}; {mounts}; exec \"$@\"");
    let directory = tempfile::tempdir()?;
    let mut words = vec![path.as_os_str().to_owned()];
    words.extend(launch.command(directory.path()));
    let mut command = as_user();
    command.args(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script]).args(from_elsewhere(words));
    launch.start_by(&mut command, directory)
}

/// A directory that everybody may enter and only root may write to.
fn of_root() -> Result<tempfile::TempDir> {
    let directory = tempfile::tempdir()?;
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
    Ok(directory)
}

/// What is in a directory, and when it was changed: by what was made there and removed, too.
fn state(directory: &Path) -> Result<(usize, i64, i64)> {
    let metadata = fs::metadata(directory)?;
    Ok((fs::read_dir(directory)?.count(), metadata.mtime(), metadata.mtime_nsec()))
}

#[test]
fn what_a_user_mounts_at_tmp_is_not_written_to_with_roots_rights() -> Result<()> {
    let victim = of_root()?;
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let mut jvm = with_another_tmp(&launch, victim.path())?;
    let before = state(victim.path())?;
    let pid = jvm.pid().to_string();
    let said = jtrace::refuse(&["perf-map", &pid], 1)?;
    assert!(said.contains("Permission denied"), "{said}");
    assert_eq!(state(victim.path())?, before, "the map was written as root");
    // The file that asks for attaching, and the library.
    let said = jtrace::refuse(&["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--text"], 1)?;
    assert!(said.contains("Permission denied"), "{said}");
    assert_eq!(state(victim.path())?, before, "the file that asks for attaching was written as root");
    jvm.finish()?;
    Ok(())
}

/// Nothing in it can be run, so the JVM takes no library there and jtrace tries the next places.
const NOTHING_RUNS_IN_TMP: &str = "mount -t tmpfs -o noexec none /tmp";

#[test]
fn what_a_user_mounts_where_the_library_goes_is_not_written_to_with_roots_rights() -> Result<()> {
    let mounts = format!("{NOTHING_RUNS_IN_TMP}; mount --bind \"$0\" /var/tmp; mount --bind \"$0\" /dev/shm");
    let victim = of_root()?;
    for jdk in jdk::all()? {
        let launch = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]);
        let mut jvm = with_mounts(&launch, victim.path(), &mounts)?;
        let before = state(victim.path())?;
        let pid = jvm.pid().to_string();
        let Finished { code, stderr, .. } =
            jtrace::run(&["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--text"])?;
        let release = jdk.release;
        assert!(code == 1 && stderr.contains("was not loaded"), "JDK {release} took it in /tmp: {stderr}");
        assert_eq!(stderr.matches("Permission denied").count(), 2, "JDK {release}: {stderr}");
        assert_eq!(state(victim.path())?, before, "the library was written as root");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_jvm_that_can_run_nothing_in_its_tmp_takes_the_library_elsewhere() -> Result<()> {
    for jdk in jdk::all()? {
        let launch = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "5"]);
        let mut jvm = with_mounts(&launch, Path::new("/"), NOTHING_RUNS_IN_TMP)?;
        jtrace::succeed(&["markers", &jvm.pid().to_string(), "--marker", "all=Locks::*", "-d", "1s", "--text"])?;
        jvm.finish()?;
    }
    Ok(())
}

/// Where the JVM would listen she puts a socket of root's, which she could not connect to.
#[test]
fn a_socket_of_roots_in_place_of_the_jvms_is_not_connected_to() -> Result<()> {
    const MOUNTS: &str = "mount -t tmpfs none /tmp; touch /tmp/.java_pid$$; mount --bind \"$0\" /tmp/.java_pid$$";
    let directory = of_root()?;
    let socket = directory.path().join("socket");
    let listener = UnixListener::bind(&socket)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let mut jvm = with_mounts(&launch, &socket, MOUNTS)?;
    let pid = jvm.pid().to_string();
    let said = jtrace::refuse(&["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--text"], 1)?;
    let came = listener.accept();
    ensure!(came.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "{came:?}: {said}");
    jvm.finish()?;
    Ok(())
}

/// So that the tests above are about rights and nothing else.
#[test]
fn what_the_user_may_do_herself_is_done_as_her() -> Result<()> {
    let own = tempfile::tempdir()?;
    std::os::unix::fs::chown(own.path(), Some(UID), Some(UID))?;
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let mut jvm = with_another_tmp(&launch, own.path())?;
    let pid = jvm.pid().to_string();
    jtrace::succeed(&["perf-map", &pid])?;
    let map = fs::metadata(own.path().join(format!("perf-{pid}.map")))?;
    assert_eq!((map.uid(), map.gid(), map.mode() & 0o777), (UID, UID, 0o644));
    jtrace::succeed(&["markers", &pid, "--marker", "all=Locks::*", "-d", "1s", "--text"])?;
    let left: Vec<String> = fs::read_dir(own.path())?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    assert!(!left.iter().any(|name| name.starts_with(".attach_pid") || name.contains("jtrace")), "{left:?}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_map_of_a_process_in_another_pid_namespace_does_not_replace_one_of_the_hosts() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let directory = tempfile::tempdir()?;
    let words = launch.command(directory.path());
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]).args(words);
    let mut outer = launch.start_by(&mut command, directory)?;
    let pid = child_of(outer.process().pid())?;
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let within = status.lines().find_map(|line| line.strip_prefix("NSpid:")).context("no NSpid")?;
    let within = within.split_whitespace().next_back().context("no pid")?.to_owned();
    let of_host = PathBuf::from(format!("/tmp/perf-{within}.map"));
    let before = fs::read(&of_host).ok();
    let said = jtrace::refuse(&["perf-map", &pid.to_string()], 1)?;
    assert!(said.contains("another process") && said.contains("--stdout"), "{said}");
    assert_eq!(fs::read(&of_host).ok(), before);
    ensure!(jtrace::succeed(&["perf-map", "--stdout", &pid.to_string()])?.text().contains("Interpreter"));
    outer.finish()?;
    Ok(())
}

#[test]
fn an_attached_jtrace_and_its_child_can_do_what_the_table_says_and_no_more() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let own = tempfile::tempdir()?;
    std::os::unix::fs::chown(own.path(), Some(UID), Some(UID))?;
    let mut jvm = with_another_tmp(&launch, own.path())?;
    let mut session = jtrace::Session::attach(jvm.pid(), &["--inside", "--marker", "all=Locks::*"])?;
    let pid = session.process().pid();
    let allowed = of_document("a session, once it is attached")?;
    // A thread that has just been started gives up what it has as the first thing it does.
    until_true("every thread has given up the rest", || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"))?;
        let statuses = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok());
        let is_bounded = |status: String| -> Result<bool> {
            let sets = ["CapEff", "CapPrm", "CapBnd", "CapInh"].iter();
            let masks = sets.map(|set| mask(&status, set)).collect::<Result<Vec<_>>>()?;
            Ok(masks.iter().all(|mask| mask & !allowed == 0) && is_filtered(&status))
        };
        Ok(statuses.map(is_bounded).collect::<Result<Vec<_>>>()?.into_iter().all(|bounded| bounded))
    })?;
    let main = fs::read_to_string(format!("/proc/{pid}/status"))?;
    assert_eq!(mask(&main, "CapEff")?, allowed, "the table says more than is so");
    session.stop()?;
    jvm.finish()?;
    Ok(())
}

/// The child lives as long as what it reaches files for is wanted, so it is started by itself here.
#[test]
fn who_reaches_a_users_files_is_that_user_in_her_namespace_and_has_no_capability() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]);
    let own = tempfile::tempdir()?;
    std::os::unix::fs::chown(own.path(), Some(UID), Some(UID))?;
    let mut jvm = with_another_tmp(&launch, own.path())?;
    target_files::use_program(&jtrace::binary()?);
    let identity = Identity::of(jvm.pid()).context("it runs")?;
    let files = target_files::TargetFiles::open(identity)?;
    let child = served_by(std::process::id(), jvm.pid())?;
    // It is no copy of this one: nothing that this one has in memory is in reach of the user whose it is.
    assert_eq!(fs::read_link(format!("/proc/{child}/exe"))?, jtrace::binary()?.canonicalize()?);
    let status = fs::read_to_string(format!("/proc/{child}/status"))?;
    for set in ["CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"] {
        assert_eq!(mask(&status, set)?, 0, "{status}");
    }
    let ids = format!("{UID}\t{UID}\t{UID}\t{UID}");
    assert!(status.contains(&format!("Uid:\t{ids}")) && status.contains(&format!("Gid:\t{ids}")), "{status}");
    assert!(is_filtered(&status), "{status}");
    let namespace = |pid: u32| fs::read_link(format!("/proc/{pid}/ns/mnt"));
    assert_eq!(namespace(child)?, namespace(jvm.pid())?);
    // Its user can look neither into its memory nor at its descriptors.
    for file in ["mem", "fd", "exe", "maps"] {
        let mut look = as_user();
        look.args(["cat", &format!("/proc/{child}/{file}")]);
        assert_ne!(Finished::of(&mut look, jtrace::LIMIT)?.code, 0, "{file}");
    }
    // Nor can it make files where its user may, but nobody wants one.
    let hers = tempfile::tempdir_in("/run")?;
    std::os::unix::fs::chown(hers.path(), Some(UID), Some(UID))?;
    let make = |directory: &str| files.create(target_files::At { directory, name: "made" }, 0o600, true, b"x");
    make("/tmp")?;
    let made = make(hers.path().to_str().context("UTF-8")?);
    ensure!(made.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied), "Landlock let it");
    drop(files);
    jvm.finish()?;
    Ok(())
}

/// The child of a process that reaches the files of a target.
pub(crate) fn served_by(parent: u32, target: u32) -> Result<u32> {
    for entry in fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        let serves = words.get(1) == Some(&&b"as-target-user"[..])
            && words.get(2).is_some_and(|word| *word == target.to_string().as_bytes());
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        if serves && after_name.split(' ').nth(1) == Some(&parent.to_string()) {
            return Ok(pid);
        }
    }
    anyhow::bail!("nobody reaches the files of process {target}")
}
