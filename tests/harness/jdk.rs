//! The JDKs that the tests run on, and the collectors that each has.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

use anyhow::Context as _;

use crate::location;

/// The releases that jtrace is tested on.
pub const RELEASES: [u32; 4] = [11, 17, 21, 25];
/// The oldest one, whose JVM has no unified logging.
pub(crate) const OLD: u32 = 8;
/// Those that are tested on demand, where they are among the JDKs.
const ON_DEMAND: [u32; 4] = [OLD, 26, 27, 28];

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
        self.home.join(if self.release == OLD { "lib/amd64/server/libjvm.so" } else { "lib/server/libjvm.so" })
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
    let of = |release: u32| Jdk { release, home: directory().join(release.to_string()) };
    let is_there = |jdk: &Jdk| jdk.java().is_file();
    let mut found: Vec<_> = ON_DEMAND.into_iter().map(of).filter(is_there).collect();
    let is_on_demand = !found.is_empty();
    for jdk in RELEASES.map(of) {
        if is_there(&jdk) {
            found.push(jdk);
        } else if !is_on_demand {
            eprintln!("skipped JDK {}: no {}", jdk.release, jdk.java().display());
        }
    }
    found.sort_by_key(|jdk| jdk.release);
    anyhow::ensure!(!found.is_empty(), "no JDK in {}: run `cargo xtask jdks`", directory().display());
    Ok(found)
}

/// Whether the whole matrix is wanted: `JTRACE_MATRIX=full`.
pub fn is_full() -> bool {
    env::var_os("JTRACE_MATRIX").is_some_and(|wanted| wanted == "full")
}

/// The oldest and the newest JDK, for tests that take long and hardly depend on the release; all of them where the whole matrix is
/// wanted.
///
/// # Errors
/// There is no JDK at all.
pub fn oldest_and_newest() -> anyhow::Result<Vec<Jdk>> {
    let mut jdks = all()?;
    if !is_full() && jdks.len() > 2 {
        jdks.drain(1..jdks.len() - 1);
    }
    Ok(jdks)
}

/// JDKs with collectors: every release and every collector, and half of the pairs of both; the other half in another `turn`, all of
/// them where the whole matrix is wanted. Tests of one matter take turns.
///
/// # Errors
/// There is no JDK at all.
pub fn with_collectors(turn: usize) -> anyhow::Result<Vec<(Jdk, Collector)>> {
    let mut pairs = Vec::new();
    for (row, jdk) in all()?.into_iter().enumerate() {
        let collectors = jdk.collectors().into_iter().filter(|collector| is_in_turn(row, collector.column() + turn));
        pairs.extend(collectors.map(|collector| (jdk.clone(), collector)));
    }
    Ok(pairs)
}

/// Whether a cell of a matrix is among those that are tried: every other one, or all where the whole matrix is wanted.
pub fn is_in_turn(row: usize, column: usize) -> bool {
    is_full() || (row + column).is_multiple_of(2)
}

/// Debian's own JDK 17, the one of `java` on the `PATH`: another compiler built it than the others.
///
/// # Errors
/// It is not there: `cargo xtask setup` installs it.
pub fn debian() -> anyhow::Result<Jdk> {
    let home = PathBuf::from("/usr/lib/jvm/java-17-openjdk-amd64");
    anyhow::ensure!(home.join("bin/java").is_file(), "no {}: run `cargo xtask setup`", home.display());
    Ok(Jdk { release: 17, home })
}

/// The builds that tests of counts run on: those of [`all`], and Debian's.
///
/// # Errors
/// One that should be there is not.
pub fn builds() -> anyhow::Result<Vec<Jdk>> {
    let mut builds = all()?;
    builds.push(debian()?);
    Ok(builds)
}

/// Builds of other packagers, which `cargo xtask jdks --all` fetches, in the directory of the JDKs.
///
/// # Errors
/// There is none.
pub fn more_in(jdks: &Path) -> anyhow::Result<Vec<Jdk>> {
    let directory = jdks.join("more");
    let hint = || format!("nothing in {}: run `cargo xtask jdks --all`", directory.display());
    let mut homes: Vec<PathBuf> =
        std::fs::read_dir(&directory).with_context(hint)?.flatten().map(|entry| entry.path()).collect();
    homes.sort();
    homes.retain(|home| home.join("bin/java").is_file());
    anyhow::ensure!(!homes.is_empty(), hint());
    homes.into_iter().map(|home| Ok(Jdk { release: release_of(&home)?, home })).collect()
}

/// The feature release that the file `release` of a JDK tells.
fn release_of(home: &Path) -> anyhow::Result<u32> {
    let text = std::fs::read_to_string(home.join("release"))?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=")).context("no JAVA_VERSION")?;
    let mut numbers = version.trim_matches('"').split(['.', '-', '+']);
    let feature = numbers.find(|number| *number != "1").unwrap_or_default();
    feature.parse().with_context(|| format!("{} has the version {version}", home.display()))
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

    /// Its place among all of them.
    fn column(self) -> usize {
        Self::ALL.iter().position(|collector| *collector == self).unwrap_or_default()
    }

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
