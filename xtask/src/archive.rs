//! Debian's packages of all its suites, fetched and unpacked without installing anything: from an apt root of their own, whose lists are
//! kept once they were fetched.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// From the oldest that jtrace was tried on to what comes. Of a package that several have, the newest is fetched.
const SUITES: [&str; 6] = ["bullseye", "bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid"];
/// Releases that get packages with mended faults.
const SECURITY: [&str; 3] = ["bullseye", "bookworm", "trixie"];

/// The apt root.
pub(crate) struct Archive {
    root: PathBuf,
}

impl Archive {
    /// Fetches the lists where there are none.
    pub(crate) fn open() -> Result<Self> {
        let archive = Self { root: workspace::cache()?.join("apt") };
        let complete = archive.root.join("complete");
        if !complete.is_file() {
            println!("fetching the lists of Debian's packages");
            archive.prepare()?;
            process::run_with_retries(archive.apt("apt-get").args(["-qq", "update"]))?;
            fs::write(complete, "")?;
        }
        Ok(archive)
    }

    /// Names of all packages that begin so.
    pub(crate) fn names(&self, beginning: &str) -> Result<Vec<String>> {
        let names = process::output(self.apt("apt-cache").args(["pkgnames", beginning]))?;
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// Fetches a package and unpacks its files into a folder.
    pub(crate) fn unpack(&self, package: &str, folder: &Path) -> Result<()> {
        let download = tempfile::tempdir_in(&self.root)?;
        // As root, apt would fetch as another user, who may not write here.
        let mut get = self.apt("apt-get");
        get.args(["-qq", "-o", "APT::Sandbox::User=root", "download", package]).current_dir(download.path());
        process::run_with_retries(&mut get)?;
        let file = fs::read_dir(download.path())?.flatten().map(|entry| entry.path()).next();
        let file = file.with_context(|| format!("{package} did not come"))?;
        process::run(process::command("dpkg-deb").arg("-x").arg(file).arg(folder))
    }

    /// A root of apt that knows nothing of the machine's packages.
    fn prepare(&self) -> Result<()> {
        let root = &self.root;
        for folder in ["etc/apt.conf.d", "etc/preferences.d", "lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(root.join(folder))?;
        }
        let line = |url: &str, suite: &str| {
            format!("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {url} {suite} main\n")
        };
        let archive = address("Debian")?.context("this machine's apt knows no archive of Debian")?;
        let mut sources = SUITES.map(|suite| line(&archive, suite)).concat();
        if let Some(archive) = address("Debian-Security")? {
            sources += &SECURITY.map(|suite| line(&archive, &format!("{suite}-security"))).concat();
        }
        fs::write(root.join("etc/sources.list"), sources)?;
        fs::write(root.join("status"), "")?;
        let at = root.display();
        let configuration = format!(
            "Dir::Etc \"{at}/etc\";\nDir::Etc::sourceparts \"-\";\nDir::State \"{at}\";\nDir::State::status \"{at}/status\";\n\
             Dir::Cache \"{at}/cache\";\nAcquire::Check-Valid-Until \"false\";\nAcquire::Languages \"none\";\n"
        );
        fs::write(root.join("apt.conf"), configuration).context("cannot write apt's configuration")
    }

    fn apt(&self, program: &str) -> Command {
        let mut command = process::command(program);
        command.env("APT_CONFIG", self.root.join("apt.conf"));
        command
    }
}

/// Where this machine's own apt fetches from, by the archive's label.
fn address(label: &str) -> Result<Option<String>> {
    let mut list = process::command("apt-get");
    let targets = process::output(list.args(["indextargets", "--format", "$(LABEL) $(REPO_URI)"]))?;
    let mut archives = targets.lines().filter_map(|line| line.split_once(' '));
    Ok(archives.find(|(of, _)| *of == label).map(|(_, archive)| archive.to_owned()))
}
