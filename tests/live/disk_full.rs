//! A file system on which the program writes is told when it is full.

use std::{fs, path::Path, process::Command};

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    report::{Report, cell},
};

/// Has a file open, and becomes another program.
const WITH_FILE: &str = "exec 9> \"$0\" && exec \"$@\"";
const SIZE: u64 = 4 << 20;

/// A small file system in memory, while it is there.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn at(folder: &'a Path) -> Result<Self> {
        let size = format!("size={SIZE}");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).status()?;
        ensure!(status.success(), "nothing can be mounted");
        Ok(Self(folder))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_file_system_is_told_with_a_file_that_the_program_has_open_there() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let volume = Mounted::at(folder.path())?;
    let log = folder.path().join("shop.log");
    let launch = Launch::new(&jdk::debian()?, "idle", "Idle");
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("sh");
    command.args(["-c", WITH_FILE]).arg(&log).args(launch.command(directory.path()));
    let mut jvm = launch.start_by(&mut command, directory)?;
    let pid = jvm.pid().to_string();
    let report = || Report::parse(&jtrace::succeed(&["attach", &pid, "-l", "threads", "-d", "1s", "--json"])?.stdout);
    let before = report()?;
    ensure!(before.table("threads", "volumes").map_or(0, |rows| rows.len()) == 0, "there is room");
    let filler = folder.path().join("old.log");
    fs::write(&filler, vec![7; usize::try_from(SIZE)? - 40_960])?;
    let nearly = report()?;
    let rows = nearly.table("threads", "volumes")?;
    ensure!(rows.len() == 1 && cell(&rows[0], "size_bytes")? == SIZE, "{rows:?}");
    ensure!(cell(&rows[0], "free_bytes")? == 40_960, "{rows:?}");
    ensure!(rows[0].get("file").and_then(Value::as_str) == log.to_str(), "{rows:?}");
    let title = format!("The file system of `{}` has 40 KiB left of 4.0 MiB", log.display());
    ensure!(nearly.titles().contains(&title.as_str()), "{:?}", nearly.titles());
    jvm.finish()?;
    drop(volume);
    Ok(())
}
