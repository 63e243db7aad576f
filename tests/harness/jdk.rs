//! The JDKs that the tests run on, and the collectors that each has.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

use crate::location;

/// The releases that jtrace is tested on.
pub const RELEASES: [u32; 4] = [11, 17, 21, 25];

/// An installed JDK or JRE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// Feature release.
    pub release: u32,
    /// Its directory.
    pub home: PathBuf,
}

impl Jdk {
    /// The `java` launcher.
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The JVM itself.
    pub fn libjvm(&self) -> PathBuf {
        self.home.join("lib/server/libjvm.so")
    }

    /// A copy of it in `directory`; hard links nothing, so that the copy can be changed or deleted.
    ///
    /// # Errors
    /// `cp` fails.
    pub fn copy_to(&self, directory: &Path) -> anyhow::Result<Self> {
        let home = directory.join(format!("jdk-{}", self.release));
        let status = Command::new("cp").arg("-aL").arg(&self.home).arg(&home).status()?;
        anyhow::ensure!(status.success(), "cannot copy {} to {}", self.home.display(), home.display());
        Ok(Self { release: self.release, home })
    }

    /// The collectors that it was built with. Asks the JDK once, because several tests want to know.
    pub fn collectors(&self) -> Vec<Collector> {
        static KNOWN: Mutex<BTreeMap<PathBuf, Vec<Collector>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || Collector::ALL.into_iter().filter(|collector| self.has(*collector)).collect();
        known.entry(self.home.clone()).or_insert_with(found).clone()
    }

    fn has(&self, collector: Collector) -> bool {
        Command::new(self.java())
            .args(collector.flags())
            .args(["-Xmx64m", "-version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// The directory with one JDK per release.
pub fn directory() -> PathBuf {
    location("JTRACE_JDKS", "jdks")
}

/// All JDKs of [`RELEASES`] that are there; says which are not.
///
/// # Errors
/// There is none at all.
#[expect(clippy::print_stderr, reason = "a skipped release is said in the test's output")]
pub fn all() -> anyhow::Result<Vec<Jdk>> {
    let mut found = Vec::new();
    for release in RELEASES {
        let home = directory().join(release.to_string());
        let jdk = Jdk { release, home };
        if jdk.java().is_file() {
            found.push(jdk);
        } else {
            eprintln!("skipped JDK {release}: no {}", jdk.java().display());
        }
    }
    anyhow::ensure!(!found.is_empty(), "no JDK in {}: run `cargo xtask jdks`", directory().display());
    Ok(found)
}

/// One JDK for tests that do not depend on the release: 17, else the first.
///
/// # Errors
/// There is none at all.
pub fn any() -> anyhow::Result<Jdk> {
    let all = all()?;
    let preferred = all.iter().position(|jdk| jdk.release == 17).unwrap_or(0);
    Ok(all[preferred].clone())
}

/// A garbage collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// Garbage first.
    G1,
    /// Parallel.
    Parallel,
    /// Serial.
    Serial,
    /// ZGC.
    Z,
    /// Shenandoah.
    Shenandoah,
}

impl Collector {
    /// Every collector.
    pub const ALL: [Self; 5] = [Self::G1, Self::Parallel, Self::Serial, Self::Z, Self::Shenandoah];

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::G1 => "G1",
            Self::Parallel => "Parallel",
            Self::Serial => "Serial",
            Self::Z => "ZGC",
            Self::Shenandoah => "Shenandoah",
        }
    }

    /// Flags of the JVM that choose it.
    pub const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::G1 => &["-XX:+UseG1GC"],
            Self::Parallel => &["-XX:+UseParallelGC"],
            Self::Serial => &["-XX:+UseSerialGC"],
            // Experimental in 11; the unlocking flag does no harm in later releases. Proactive cycles come at times of their own.
            Self::Z => &[
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:+UseZGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-ZProactive",
            ],
            Self::Shenandoah => &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"],
        }
    }

    /// Whether it collects while the program runs, in several pauses a cycle.
    pub const fn is_concurrent(self) -> bool {
        matches!(self, Self::Z | Self::Shenandoah)
    }
}
