//! Debian's builds of releases that its stable suite does not have. They want a newer C library than this machine may have.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};

use super::{STAMP, libraries::Libraries};
use crate::{archive::Archive, process, workspace};

/// A package with a Java runtime.
pub(super) struct Packaged {
    /// Its own name below the JDKs.
    pub(super) name: &'static str,
    pub(super) release: u32,
    package: &'static str,
    /// Folder of the runtime in the package.
    runtime: &'static str,
}

/// The packages. The one of 8 has neither notes nor symbols.
pub(super) const PACKAGED: [Packaged; 4] = [
    Packaged {
        name: "more/debian-8",
        release: 8,
        package: "openjdk-8-jre-headless",
        runtime: "usr/lib/jvm/java-8-openjdk-amd64/jre",
    },
    packaged("more/debian-26", 26, "openjdk-26-jre-headless", "usr/lib/jvm/java-26-openjdk-amd64"),
    packaged("more/debian-27", 27, "openjdk-27-jre-headless", "usr/lib/jvm/java-27-openjdk-amd64"),
    packaged("more/debian-28", 28, "openjdk-28-jre-headless", "usr/lib/jvm/java-28-openjdk-amd64"),
];

const fn packaged(name: &'static str, release: u32, package: &'static str, runtime: &'static str) -> Packaged {
    Packaged { name, release, package, runtime }
}

impl Packaged {
    /// Downloads and unpacks it, where that has not been done. The package's version is whichever the suites have.
    pub(super) fn fetch(&self) -> Result<()> {
        let jdk = workspace::jdks().join(self.name);
        if jdk.join(STAMP).is_file() {
            return Ok(());
        }
        println!("jdks: fetching {} and its libraries", self.package);
        if jdk.exists() {
            fs::remove_dir_all(&jdk).with_context(|| format!("cannot remove {}", jdk.display()))?;
        }
        let parent = jdk.parent().context("a JDK lies in a folder")?;
        fs::create_dir_all(parent)?;
        let (archive, unpacked) = (Archive::open()?, tempfile::tempdir_in(parent)?);
        archive.unpack(self.package, unpacked.path())?;
        let runtime = unpacked.path().join(self.runtime);
        bring_in(&runtime, unpacked.path())?;
        fs::rename(&runtime, &jdk).with_context(|| format!("{} has no {}", self.package, self.runtime))?;
        Libraries::Newest.bring(&jdk)?;
        let told = jdk.join("release");
        if !told.is_file() {
            // A runtime of 8 has none.
            fs::write(told, format!("JAVA_VERSION=\"1.{}.0\"\n", self.release))?;
        }
        super::verify(&jdk, self.release)?;
        fs::write(jdk.join(STAMP), self.package).context("cannot write the stamp of a JDK")
    }
}

/// Puts what links out of the runtime lead to, such as its settings, in their places.
fn bring_in(folder: &Path, root: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        match fs::read_link(&path) {
            Ok(to) if to.is_absolute() => {
                fs::remove_file(&path)?;
                let inside = root.join(to.strip_prefix("/")?);
                if inside.exists() {
                    process::run(process::command("cp").arg("-r").arg(inside).arg(&path))?;
                }
            }
            Err(_) if path.is_dir() => bring_in(&path, root)?,
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
