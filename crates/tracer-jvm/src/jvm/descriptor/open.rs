//! How many descriptors a process has open and may have, and which it has opened of late.

use std::{fs, os::unix::fs::MetadataExt as _};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::of_socket;
use crate::jvm::find::process::read_bounded;

/// Most descriptors that are read of the list of a process.
const MOST_LISTED: usize = 65_536;

/// Most descriptors that are looked at for files that are written.
const MOST_WRITTEN: usize = 1024;
/// The owner's right to write.
const WRITE: u32 = 0o200;
/// Where files are none of a disk.
const OF_KERNEL: [&str; 5] = ["/dev/", "/proc/", "/sys/", "/memfd:", "/anon"];

/// How many are open. Since Linux 6.2 the directory's size says it; before, they are counted, up to a bound.
///
/// Source: <https://www.kernel.org/doc/html/v6.12/filesystems/proc.html#proc-pid-fd-list-of-symlinks-to-open-files>.
pub fn count(pid: u32) -> Option<u64> {
    let path = format!("/proc/{pid}/fd");
    let known = statx(CWD, &path, AtFlags::STATX_DONT_SYNC, StatxFlags::SIZE).ok()?;
    if known.stx_size > 0 {
        return Some(known.stx_size);
    }
    Some(fs::read_dir(path).ok()?.take(MOST_LISTED).count() as u64)
}

/// How many there may be: the soft limit in `/proc/PID/limits`; absent where there is none.
pub fn limit(pid: u32) -> Option<u64> {
    of_limits(&String::from_utf8_lossy(&read_bounded(&format!("/proc/{pid}/limits")).ok()?))
}

pub(in crate::jvm) fn of_limits(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The open ones with the highest numbers, up to so many: the lowest free number is taken first, so what stays open has the highest ones.
pub fn highest(pid: u32, most: usize) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().take(MOST_LISTED);
    let mut numbers: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers.truncate(most);
    numbers
}

/// Files that are open for writing, with their descriptors: up to so many are looked at.
pub fn written(pid: u32) -> impl Iterator<Item = (u32, String)> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().take(MOST_WRITTEN);
    entries.filter_map(|entry| {
        let entry = entry.ok()?;
        // The link itself can be written through where the descriptor can.
        let is_written = entry.path().symlink_metadata().ok()?.mode() & WRITE != 0;
        let leads_to = fs::read_link(entry.path()).ok().filter(|_| is_written)?;
        let leads_to = leads_to.to_string_lossy().into_owned();
        let is_file = leads_to.starts_with('/') && !OF_KERNEL.iter().any(|place| leads_to.starts_with(place));
        is_file.then_some((entry.file_name().to_str()?.parse().ok()?, leads_to))
    })
}

/// The inodes of the sockets among them.
pub(super) fn sockets(pid: u32) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().take(MOST_LISTED);
    entries.filter_map(|entry| of_socket(&fs::read_link(entry.ok()?.path()).ok()?.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        os::fd::AsRawFd as _,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn what_a_process_has_open_is_counted_and_its_limit_read() {
        let script = "exec 801</dev/null 802</dev/null 803</dev/null; ulimit -Sn 900; exec sleep 600";
        let mut opens = Command::new("bash").args(["-c", script]).stdin(Stdio::null()).spawn().expect("a shell");
        let pid = opens.id();
        let is_asleep = || fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| !path.ends_with("bash"));
        while !is_asleep() {
            std::thread::yield_now();
        }
        let numbers = highest(pid, 3);
        let (counted, limit) = (count(pid), limit(pid));
        opens.kill().expect("it is there");
        opens.wait().expect("it ends");
        assert_eq!((limit, numbers), (Some(900), vec![803, 802, 801]));
        // Besides these standard input, output and error, and what this process may have handed on.
        assert!(counted.is_some_and(|counted| counted >= 6), "{counted:?}");
        assert_eq!(count(u32::MAX), None);
    }

    #[test]
    fn files_that_are_written_are_told_from_those_that_are_read() {
        let directory = tempfile::tempdir().expect("a folder");
        let path = |name: &str| directory.path().join(name);
        let _written = File::create(path("written")).expect("a file");
        fs::write(path("read"), "").expect("a file");
        let _read = File::open(path("read")).expect("a file");
        let found: Vec<String> = written(std::process::id()).map(|(_, path)| path).collect();
        let has = |name: &str| found.iter().any(|found| *found == path(name).to_string_lossy());
        assert!(has("written") && !has("read"), "{found:?}");
    }

    #[test]
    fn one_more_that_is_open_counts() {
        let pid = std::process::id();
        let file = File::open("/proc/self/exe").expect("it can be opened");
        let number = file.as_raw_fd().cast_unsigned();
        assert!(highest(pid, MOST_LISTED).contains(&number));
        assert!(count(pid) > Some(3));
    }

    #[test]
    fn a_limit_that_is_none_is_none() {
        let text = |soft: &str| {
            format!("Limit   Soft Limit   Hard Limit   Units\nMax open files            {soft}   4096   files\n")
        };
        assert_eq!(of_limits(&text("1024")), Some(1024));
        assert_eq!(of_limits(&text("unlimited")), None);
        assert_eq!(of_limits("Max open files"), None);
    }
}
