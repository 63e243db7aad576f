//! A control group for one program: a disk that is slow, or a limit of memory or of threads.
//!
//! On a slow disk what the program forces to it, or writes through, takes its turn among few writes a second. The disks of machines differ by
//! a factor of hundred, and no incident with one would be there on all of them. The kernel's throttling does that
//! (`blkio.throttle.write_iops_device`, cgroup v1). Where it cannot be had, the disk is as it is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::process;

/// Where control groups of disks are, with version 1.
const DISKS: &str = "/sys/fs/cgroup/blkio";
/// Where those of memory and of threads are, with version 1 and 2, and what says how much they may use.
const MEMORY: [(&str, &str); 2] =
    [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
const THREADS: [(&str, &str); 2] = [("/sys/fs/cgroup/pids", "pids.max"), ("/sys/fs/cgroup", "pids.max")];
const WRITES_PER_S: u32 = 40;
/// A group can go when the last of its processes has gone, which the kernel takes a moment for.
const ATTEMPTS: u32 = 100;

/// A control group, until it is dropped.
pub(super) struct Group(PathBuf);

impl Group {
    /// One with few writes to the disk of a folder; none where this machine has no such groups.
    pub(super) fn with_slow_disk(folder: &Path) -> Result<Option<Self>> {
        let Some(group) = Self::below(Path::new(DISKS), folder)? else { return Ok(None) };
        let rule = format!("{} {WRITES_PER_S}", device_of(folder)?);
        fs::write(group.0.join("blkio.throttle.write_iops_device"), rule).context("the disk cannot be slowed down")?;
        Ok(Some(group))
    }

    /// One that may use so much memory.
    pub(super) fn with_memory(folder: &Path, limit: &str) -> Result<Self> {
        Self::limited(&MEMORY, folder, limit)
    }

    /// One that may have so many threads.
    pub(super) fn with_threads(folder: &Path, limit: &str) -> Result<Self> {
        Self::limited(&THREADS, folder, limit)
    }

    fn limited(places: &[(&str, &str)], folder: &Path, limit: &str) -> Result<Self> {
        for (groups, file) in places {
            if let Some(group) = Self::below(Path::new(groups), folder)?
                && fs::write(group.0.join(file), limit).is_ok()
            {
                return Ok(group);
            }
        }
        bail!("this machine has no control groups with such a limit")
    }

    /// A group for the program of a folder; none where none can be made.
    fn below(groups: &Path, folder: &Path) -> Result<Option<Self>> {
        let name = folder.file_name().context("a folder has a name")?.to_string_lossy();
        let group = groups.join(format!("jtrace-incidents{name}"));
        Ok(fs::create_dir(&group).is_ok().then_some(Self(group)))
    }

    /// The command as one that is started in the group.
    pub(super) fn around(&self, command: &Command) -> Command {
        let mut within = Command::new("sh");
        within.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        within.arg(command.get_program()).args(command.get_args());
        within
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..ATTEMPTS {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        println!("incidents: {} cannot be removed", self.0.display());
    }
}

/// The whole disk on which a folder lies, as `major:minor`: parts of one cannot be slowed down.
fn device_of(folder: &Path) -> Result<String> {
    let number = process::output(Command::new("stat").arg("--format=%Hd:%Ld").arg(folder))?;
    let own = Path::new("/sys/dev/block").join(number.trim());
    let disk = if own.join("partition").exists() { own.join("../dev") } else { own.join("dev") };
    Ok(fs::read_to_string(&disk).with_context(|| disk.display().to_string())?.trim().to_owned())
}
