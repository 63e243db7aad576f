//! The classes of the micro-programs: compiled once, when they are first asked for.

use std::{
    cell::OnceCell,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::SOURCE;
use crate::bench::{Error, folder::Folder};

/// Where JDKs of distributions are.
const JDKS: &str = "/usr/lib/jvm";

/// A folder with the classes, once it was needed.
#[derive(Debug, Default)]
pub(super) struct Compiled(OnceCell<Folder>);

impl Compiled {
    /// The folder, as a word for `-cp`.
    pub(super) fn folder(&self) -> Result<PathBuf, Error> {
        if let Some(folder) = self.0.get() {
            return Ok(folder.path().to_owned());
        }
        let folder = compile()?;
        Ok(self.0.get_or_init(|| folder).path().to_owned())
    }
}

/// Runs `javac` for the oldest release that is measured.
fn compile() -> Result<Folder, Error> {
    let javac = javac()?;
    let folder = Folder::new("micro")?;
    let source = folder.file("Micro.java");
    fs::write(&source, SOURCE).map_err(Error::system(format!("write {}", source.display())))?;
    let output = Command::new(&javac)
        .args(["--release", "11", "-nowarn", "-d"])
        .args([folder.path(), &source])
        .stdin(Stdio::null())
        .output()
        .map_err(Error::system(format!("run {}", javac.display())))?;
    if output.status.success() {
        return Ok(folder);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("without a word").to_owned();
    Err(Error::program(javac.display().to_string(), format!("does not compile the micro-programs: {first}")))
}

/// `javac` of `JAVA_HOME`, of the path, or of a JDK of the distribution.
fn javac() -> Result<PathBuf, Error> {
    let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = home.into_iter().chain(std::env::split_paths(&path)).collect();
    folders.extend(fs::read_dir(JDKS).into_iter().flatten().flatten().map(|entry| entry.path().join("bin")));
    folders.into_iter().map(|folder| folder.join("javac")).find(|file| file.is_file()).ok_or_else(|| Error::Missing {
        what: "javac, which compiles the micro-programs,".to_owned(),
        hint: "install a JDK (apt-get install openjdk-17-jdk-headless) or set JAVA_HOME".to_owned(),
    })
}
