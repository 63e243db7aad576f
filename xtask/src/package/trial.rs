//! Each package installed and used here: it attaches to a JVM of this machine, and leaves nothing when it is removed.

use std::{fs, path::Path, process::Command};

use ::tests::{demo, jdk::Jdk, report::Report};
use anyhow::{Context as _, Result, ensure};

use super::{Made, image, tree::Tree};
use crate::{process, workloads, workspace};

/// Where a package puts jtrace.
const INSTALLED: &str = "/usr/bin/jtrace";

pub(super) fn run(made: &Made) -> Result<()> {
    workloads::compile_one("demo")?;
    let jvm = demo::start(&Jdk { release: 17, home: workspace::jdk_home() })?;
    let folder = tempfile::tempdir().context("cannot make a folder for reports")?;
    attach(process::as_root(&made.binary), jvm.pid(), folder.path(), "the static binary")?;
    deb(&made.deb, jvm.pid(), folder.path())?;
    rpm(made, jvm.pid(), folder.path())?;
    container(&made.image, jvm.pid(), folder.path())
}

/// Attaches with a jtrace, and reads what it says.
fn attach(mut jtrace: Command, pid: u32, folder: &Path, name: &str) -> Result<()> {
    let file = folder.join("report.json");
    let output = jtrace.args(["attach", &pid.to_string(), "-d", "3s", "--json"]).output();
    let output = output.with_context(|| format!("cannot start {name}"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(&file, &output.stdout)?;
    let report = Report::parse(&output.stdout)?;
    let (events, lost) = (report.completeness("delivered")?, report.completeness("lost")?);
    ensure!(events > 0, "{name} saw nothing");
    println!("package: {name} attached to JVM {pid}: {events} events, {lost} lost");
    Ok(())
}

/// Installs, attaches, removes.
fn deb(package: &Path, pid: u32, folder: &Path) -> Result<()> {
    ensure!(!Path::new(INSTALLED).exists(), "{INSTALLED} is there already, and would be replaced");
    let mut install = process::as_root("apt-get");
    process::output(install.args(["install", "--yes", "--no-install-recommends"]).arg(package))?;
    let attached = attach(process::as_root(INSTALLED), pid, folder, "the .deb");
    let listed = process::output(process::command("dpkg").args(["--listfiles", "jtrace"]));
    process::output(process::as_root("apt-get").args(["purge", "--yes", "jtrace"]))?;
    attached?;
    let files: Vec<String> = listed?.lines().filter(|path| path.contains("jtrace")).map(str::to_owned).collect();
    let left: Vec<&String> = files.iter().filter(|path| Path::new(path).exists()).collect();
    ensure!(left.is_empty(), "the .deb left {left:?}");
    println!("package: the .deb installed {} files and folders of its own, and left none", files.len());
    Ok(())
}

/// Unpacks; Debian cannot install it beside its own.
fn rpm(made: &Made, pid: u32, folder: &Path) -> Result<()> {
    let listed = process::output(process::command("rpm").args(["--query", "--list", "--package"]).arg(&made.rpm))?;
    let mut files: Vec<&str> = listed.lines().collect();
    files.sort_unstable();
    let tree = Tree { root: super::folder().join("root") };
    ensure!(files == tree.files()?, "the .rpm has {files:?}");
    let root = folder.join("rpm");
    fs::create_dir(&root)?;
    let script = "rpm2cpio \"$1\" | cpio --quiet -idm --directory \"$2\"";
    process::run(process::command("sh").args(["-c", script, "sh"]).arg(&made.rpm).arg(&root))?;
    attach(process::as_root(root.join("usr/bin/jtrace")), pid, folder, "the .rpm")
}

/// Runs the image with a root of its own, and what `docs/kubernetes.md` says that it is to see of the host.
fn container(image: &Path, pid: u32, folder: &Path) -> Result<()> {
    let into = folder.join("image");
    image::unpack(image, &into)?;
    let root = into.join("root");
    for name in ["proc", "sys"] {
        fs::create_dir_all(root.join(name))?;
    }
    let script = "mount --rbind /proc \"$1/proc\" && mount --rbind /sys \"$1/sys\" && shift_root=\"$1\" && shift && \
                  exec chroot \"$shift_root\" /usr/bin/jtrace \"$@\"";
    let mut unshare = process::as_root("unshare");
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]).arg(&root);
    attach(unshare, pid, folder, "the image")
}
