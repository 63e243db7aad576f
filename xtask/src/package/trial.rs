//! Each package installed and used on this machine: it attaches to a JVM, and leaves nothing when it is removed.

mod container;
mod shells;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use ::tests::{demo, jdk::Jdk, report::Report};
use anyhow::{Context as _, Result, ensure};

use super::Made;
use crate::{process, workloads, workspace};

/// Where a package puts jtrace.
const INSTALLED: &str = "/usr/bin/jtrace";

/// The files of a package: mode and content by path.
type Files = BTreeMap<String, (String, Vec<u8>)>;

pub(super) fn run(made: &Made) -> Result<()> {
    workloads::compile_one("demo")?;
    let jvm = demo::start(&jdk())?;
    let folder = tempfile::tempdir().context("cannot make a folder for packages")?;
    attach(process::as_root(&made.binary), jvm.pid(), "the static binary")?;
    deb(&made.deb, jvm.pid())?;
    rpm(made, jvm.pid(), folder.path())?;
    drop(jvm);
    container::run(&made.image, folder.path())
}

fn jdk() -> Jdk {
    Jdk { release: 17, home: workspace::jdk_home() }
}

/// Attaches with a jtrace, and reads what it says.
fn attach(mut jtrace: Command, pid: u32, name: &str) -> Result<()> {
    let output = jtrace.args(["attach", &pid.to_string(), "-d", "3s", "--json"]).output();
    let report = reported(output, name)?;
    let (events, lost) = (report.completeness("delivered")?, report.completeness("lost")?);
    ensure!(events > 0, "{name} saw nothing");
    println!("package: {name} attached to JVM {pid}: {events} events, {lost} lost");
    Ok(())
}

/// The report that a jtrace printed.
fn reported(output: std::io::Result<std::process::Output>, name: &str) -> Result<Report> {
    let output = output.with_context(|| format!("cannot start {name}"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Report::parse(&output.stdout).with_context(|| format!("what {name} printed"))
}

/// Installs, attaches, looks for manual page and completions as their readers do, removes.
fn deb(package: &Path, pid: u32) -> Result<()> {
    ensure!(!is_there(INSTALLED), "{INSTALLED} is there already, and would be replaced");
    let script = "dpkg-deb --fsys-tarfile \"$1\" | tar --list";
    let listed = process::output(process::command("sh").args(["-c", script, "sh"]).arg(package))?;
    let all = listed.lines().map(|line| line.trim_start_matches('.'));
    let new: Vec<&str> = all.filter(|path| !is_there(path)).collect();
    apt_get(&["install", "--no-install-recommends", &package.to_string_lossy()])?;
    let missing: Vec<&&str> = new.iter().filter(|path| !is_there(path)).collect();
    let tried = attach(process::as_root(INSTALLED), pid, "the .deb").and_then(|()| shells::find_all());
    // Whatever was seen: the machine is left as it was.
    apt_get(&["remove", "jtrace"])?;
    tried?;
    ensure!(missing.is_empty(), "the .deb did not install {missing:?}");
    let left: Vec<&&str> = new.iter().filter(|path| is_there(path)).collect();
    ensure!(left.is_empty(), "the .deb left {left:?}");
    let known = process::succeeds(process::command("dpkg").args(["--status", "jtrace"]));
    ensure!(!known, "dpkg still knows jtrace");
    println!("package: the .deb installed {} files and folders, and `apt-get remove` left none of them", new.len());
    Ok(())
}

fn is_there(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_ok()
}

fn apt_get(words: &[&str]) -> Result<()> {
    let mut apt_get = process::as_root("env");
    apt_get.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "-qq"]).args(words);
    process::output(&mut apt_get).map(drop)
}

/// Unpacks both packages, compares all files, and attaches with the one of the `.rpm`, which Debian cannot install beside its own.
fn rpm(made: &Made, pid: u32, folder: &Path) -> Result<()> {
    let (from_deb, from_rpm) = (folder.join("deb"), folder.join("rpm"));
    fs::create_dir(&from_rpm)?;
    process::run(process::command("dpkg-deb").arg("--extract").arg(&made.deb).arg(&from_deb))?;
    let script = "rpm2cpio \"$1\" | cpio --quiet -idm --directory \"$2\"";
    process::run(process::command("sh").args(["-c", script, "sh"]).arg(&made.rpm).arg(&from_rpm))?;
    let (in_deb, in_rpm) = (files(&from_deb)?, files(&from_rpm)?);
    for path in in_deb.keys().chain(in_rpm.keys()) {
        ensure!(in_deb.get(path) == in_rpm.get(path), "{path} is not the same in the .deb and the .rpm");
    }
    ensure!(in_rpm.contains_key(INSTALLED), "the .rpm has no {INSTALLED}");
    let required =
        process::output(process::command("rpm").args(["--query", "--requires", "--package"]).arg(&made.rpm))?;
    let other = required.lines().find(|line| !line.starts_with("rpmlib("));
    ensure!(other.is_none(), "the .rpm wants {other:?}");
    println!("package: the .rpm has the {} files of the .deb, with the same modes and bytes", in_rpm.len());
    attach(process::as_root(from_rpm.join(INSTALLED.trim_start_matches('/'))), pid, "the .rpm")
}

/// All files below a folder.
fn files(root: &Path) -> Result<Files> {
    let listed =
        process::output(process::command("find").arg(root).args(["!", "-type", "d", "-printf", "%y%m /%P\\n"]))?;
    let read = |line: &str| {
        let (mode, path) = line.split_once(' ').context("no path")?;
        let file: PathBuf = root.join(path.trim_start_matches('/'));
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok((path.to_owned(), (mode.to_owned(), bytes)))
    };
    listed.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_compared_by_path_mode_and_content() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::create_dir_all(folder.path().join(name).join("usr/bin")).unwrap();
            fs::write(folder.path().join(name).join("usr/bin/jtrace"), "x").unwrap();
        }
        let of = |name: &str| files(&folder.path().join(name)).unwrap();
        assert_eq!(of("a").keys().collect::<Vec<_>>(), ["/usr/bin/jtrace"]);
        assert_eq!(of("a"), of("b"));
        fs::write(folder.path().join("b/usr/bin/jtrace"), "y").unwrap();
        assert_ne!(of("a"), of("b"));
    }
}
