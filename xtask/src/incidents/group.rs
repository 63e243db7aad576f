//! A slow disk for one program: what it forces to the disk, or writes through, takes its turn among few writes a second. The disks of
//! machines differ by a factor of hundred, and no incident with one would be there on all of them.
//!
//! The kernel's throttling does that (`blkio.throttle.write_iops_device`, cgroup v1). Where it cannot be had, the disk is as it is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

use crate::process;

/// Where control groups of disks are, with version 1.
const GROUPS: &str = "/sys/fs/cgroup/blkio";
const WRITES_PER_S: u32 = 40;
/// A group can go when the last of its processes has gone, which the kernel takes a moment for.
const ATTEMPTS: u32 = 100;

/// A control group with few writes, until it is dropped.
pub(super) struct SlowDisk(PathBuf);

impl SlowDisk {
    /// Makes one for the disk of a folder; none where this machine has no such groups.
    pub(super) fn of(folder: &Path) -> Result<Option<Self>> {
        let name = folder.file_name().context("a folder has a name")?.to_string_lossy();
        let group = Path::new(GROUPS).join(format!("jtrace-incidents{name}"));
        if fs::create_dir(&group).is_err() {
            return Ok(None);
        }
        let disk = Self(group);
        let rule = format!("{} {WRITES_PER_S}", device_of(folder)?);
        fs::write(disk.0.join("blkio.throttle.write_iops_device"), rule).context("the disk cannot be slowed down")?;
        Ok(Some(disk))
    }

    /// The command as one that is started in the group.
    pub(super) fn around(&self, command: &Command) -> Command {
        let mut within = Command::new("sh");
        within.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs"));
        within.arg(command.get_program()).args(command.get_args());
        within
    }
}

impl Drop for SlowDisk {
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
