//! What a dead jtrace could leave: code and flags of the target, its descriptors, threads and mounts, files, and processes.

use std::{collections::BTreeMap, fs, io, os::unix::fs::FileExt as _, path::Path};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jvm::Jvm,
    patience::{until, until_true},
};

/// The variable by which processes that come from one jtrace are known. jtrace and the JVM keep it for what they start.
pub(super) const MARK: &str = "XDG_CACHE_HOME";

/// Where files of jtrace could stay behind.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Of memory, in bytes.
const PAGE: usize = 4096;

/// What is open in a target, or mounted for it, beyond what it has itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// What its descriptors stand for, and how often.
    open: BTreeMap<String, usize>,
    mounts: Vec<String>,
}

impl Left {
    /// What there is, once two looks have found it equal.
    pub(crate) fn settled(pid: u32) -> Result<Self> {
        let mut before = None;
        until("the target's descriptors stay as they are", || {
            let now = Self::of(pid)?;
            let same = before.as_ref() == Some(&now);
            before = Some(now.clone());
            Ok(same.then_some(now))
        })
    }

    fn of(pid: u32) -> Result<Self> {
        let mut open = BTreeMap::new();
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let Ok(target) = fs::read_link(entry?.path()) else { continue };
            // Each socket and pipe has a number of its own.
            let name = target.to_string_lossy().split(":[").next().unwrap_or_default().to_owned();
            *open.entry(name).or_default() += 1;
        }
        let mounts = fs::read_to_string(format!("/proc/{pid}/mountinfo"))?.lines().map(str::to_owned).collect();
        Ok(Self { open, mounts })
    }

    /// What is here and was not before.
    pub(crate) fn beyond(&self, before: &Self) -> Vec<String> {
        let count = |left: &Self, name: &str| left.open.get(name).copied().unwrap_or_default();
        let new_mounts = self.mounts.iter().filter(|mount| !before.mounts.contains(mount));
        let mut found: Vec<String> = new_mounts.cloned().collect();
        for name in self.open.keys().chain(before.open.keys()) {
            let (now, then) = (count(self, name), count(before, name));
            if now != then {
                found.push(format!("{name}: {now} open, and {then} before"));
            }
        }
        found.dedup();
        found
    }
}

/// Waits until nothing is armed in a JVM: nothing is owed to it, no site has a breakpoint, and no library is at work.
pub(crate) fn is_clean(pid: u32) -> Result<()> {
    until_true("nothing is owed to the target", || Ok(!is_owed(pid)))?;
    until_true("no jtrace is in the target", || Ok(!has_library_thread(pid)))?;
    until_true("no copy of the target is left", || has_no_child(pid))?;
    until_true("every site is as the file has it", || has_code_of_file(pid))?;
    let request = format!(".attach_pid{pid}");
    let own = Path::new("/proc").join(pid.to_string()).join("cwd");
    ensure!(!own.join(&request).exists(), "{request} is in the target's directory");
    for directory in SHARED {
        ensure!(!Path::new(directory).join(&request).exists(), "{request} is in {directory}");
    }
    Ok(())
}

/// Whether the undo journal has a file for a process.
pub(crate) fn is_owed(pid: u32) -> bool {
    let prefix = format!("{pid}-");
    let mut files = fs::read_dir("/run/jtrace").into_iter().flatten().flatten();
    files.any(|file| {
        file.file_name().to_string_lossy().starts_with(&prefix) && file.metadata().is_ok_and(|file| file.len() > 0)
    })
}

/// How many threads of a process have such a beginning of their names.
pub(crate) fn threads_named(pid: u32, beginning: &str) -> Result<usize> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
    let names = tasks.flat_map(|task| fs::read_to_string(task.path().join("comm")));
    Ok(names.filter(|name| name.starts_with(beginning)).count())
}

pub(crate) fn has_library_thread(pid: u32) -> bool {
    let mut threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.any(|thread| fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim() == "jtrace"))
}

/// A JVM of the tests starts no process, so each child of its threads is a copy that a snapshot was taken of.
fn has_no_child(pid: u32) -> Result<bool> {
    let mut lists = fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
    // A thread can end meanwhile.
    let children = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    Ok(lists.all(|thread| children(thread).trim().is_empty()))
}

/// Whether a JVM's code is that of its library's file, byte for byte: a site that is watched begins with a breakpoint.
fn has_code_of_file(pid: u32) -> Result<bool> {
    Ok(changed_code(pid)?.is_empty())
}

/// Where a JVM's code is not that of its library's file, by offsets in the file: the bytes that are there instead.
pub(crate) fn changed_code(pid: u32) -> Result<BTreeMap<u64, u8>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let memory = fs::File::open(format!("/proc/{pid}/mem"))?;
    let (mut compared, mut changed) = (0, BTreeMap::new());
    for line in maps.lines().filter(|line| line.ends_with("/libjvm.so")) {
        let mut words = line.split_whitespace();
        let (range, rights, offset) =
            (words.next().context("a range")?, words.next().context("rights")?, words.next().context("an offset")?);
        if !rights.contains('x') {
            continue;
        }
        let (start, end) = range.split_once('-').context("a range")?;
        let (start, end) = (u64::from_str_radix(start, 16)?, u64::from_str_radix(end, 16)?);
        let file = fs::File::open(&line[line.find('/').context("a path")?..])?;
        let length = usize::try_from(end - start)?;
        let (mut there, mut here) = (vec![0; length], vec![0; length]);
        memory.read_exact_at(&mut there, start)?;
        let offset = u64::from_str_radix(offset, 16)?;
        let read = read_up_to(&file, &mut here, offset)?;
        // Nearly all pages are equal, which a comparison of whole ones says a hundred times as fast as one byte by byte.
        let pages = there[..read].chunks(PAGE).zip(here[..read].chunks(PAGE));
        for (at, (there, here)) in (offset..).step_by(PAGE).zip(pages).filter(|(_, (there, here))| there != here) {
            let pairs = (at..).zip(there.iter().zip(here));
            changed.extend(pairs.filter(|(_, (there, here))| there != here).map(|(at, (there, _))| (at, *there)));
        }
        compared += read;
    }
    ensure!(compared > 1 << 20, "only {compared} bytes of code were compared");
    Ok(changed)
}

/// The last page of a mapping can go beyond the file's end.
fn read_up_to(file: &fs::File, into: &mut [u8], from: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match file.read_at(&mut into[read..], from + read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    Ok(read)
}

/// Classes in which a session of each kind weaves something. Others are exchanged for themselves, as the JVM hands out a class's
/// bytes in no other way, and then there is nothing to give back; and the flight recorder exchanges its own.
const WOVEN: [&str; 4] = ["Fib", "Session", "java.util.ArrayList$Itr", "java.util.HashMap$KeyIterator"];

/// Each class that was woven was given back: the JVM has logged an even number of exchanges of it.
pub(crate) fn nothing_is_woven(jvm: &Jvm) -> Result<()> {
    until_true("every class that was woven is given back", || {
        let log = jvm.log()?;
        let mut exchanges = BTreeMap::new();
        for line in log.lines() {
            if let Some(name) = line.split("redefined name=").nth(1).and_then(|rest| rest.split([',', ' ']).next()) {
                *exchanges.entry(name.to_owned()).or_insert(0_u32) += 1;
            }
        }
        ensure!(exchanges.contains_key("Fib"), "no class was ever woven");
        Ok(WOVEN.iter().all(|name| exchanges.get(*name).is_none_or(|times| times % 2 == 0)))
    })
}

/// Processes that a jtrace, or what it started, has started.
fn descendants(directory: &Path) -> Vec<u32> {
    let mark = format!("{MARK}={}", directory.display()).into_bytes();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    let is_marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| *entry == mark[..])
    };
    pids.filter(is_marked).collect()
}

/// The JVM that a jtrace has started.
pub(super) fn java_of(directory: &Path) -> Result<u32> {
    let is_java = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "java");
    descendants(directory).into_iter().find(is_java).context("the JVM is not found")
}

pub(super) fn nobody_is_left(directory: &Path) -> Result<()> {
    until_true("no process is left of a dead jtrace", || Ok(descendants(directory).is_empty()))
}
