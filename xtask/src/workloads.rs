//! `cargo xtask workloads`: compiles the Java programs of tests and demo, each folder of `tests/workloads` by itself into
//! the folder of the same name below `target/workloads`, for the oldest JDK that jtrace supports. Their native methods, if they have
//! any, become a library beside the classes, by the compiler that Rust links with. A folder with a manifest has an agent: its
//! classes are packed, too.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::{process, workspace};

/// The oldest release that all workloads run on.
const RELEASE: &str = "11";
/// The oldest release that jtrace knows, and the workloads that run on it, too. Classes for it are others: they have no nests, and
/// join strings by calls.
pub(crate) const OLDEST: &str = "8";
const OF_OLDEST: [&str; 15] = [
    "agents",
    "alloc",
    "classes",
    "clock",
    "demo",
    "dump",
    "exceptions",
    "gc",
    "idle",
    "inside",
    "jit",
    "jni",
    "locks",
    "methods",
    "threads",
];
/// Of these folders some files alone: the others use what is newer.
const SOME_OF_OLDEST: [(&str, &[&str]); 2] =
    [("heap", &["Planted.java"]), ("typestate", &["HasNextOnce.java", "Protocol.java"])];

/// Holds the sources that a folder was compiled from. They are small, so they are compared as they are.
const STAMP: &str = ".sources";

/// Says which class of a folder is an agent.
const MANIFEST: &str = "MANIFEST.MF";

/// Takes no options.
#[derive(Args, Default)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    let target = Target { release: RELEASE, classes: &workspace::workloads() };
    for feature in entries(&features())?.into_iter().filter(|path| path.is_dir()) {
        target.compile_folder(&feature)?;
    }
    Ok(())
}

/// Compiles the programs of one folder.
pub(crate) fn compile_one(feature: &str) -> Result<()> {
    Target { release: RELEASE, classes: &workspace::workloads() }.compile_folder(&features().join(feature))
}

/// Compiles those that the oldest release runs, into a folder of their own.
pub(crate) fn compile_for_oldest(classes: &Path) -> Result<()> {
    let target = Target { release: OLDEST, classes };
    OF_OLDEST.into_iter().try_for_each(|feature| target.compile_folder(&features().join(feature)))?;
    SOME_OF_OLDEST.into_iter().try_for_each(|(feature, files)| {
        let folder = features().join(feature);
        let sources: Vec<_> = files.iter().map(|file| folder.join(file)).collect();
        target.compile(&folder, &sources, &[])
    })
}

fn features() -> PathBuf {
    workspace::root().join("tests/workloads")
}

/// For which release, and where to.
struct Target<'a> {
    release: &'a str,
    classes: &'a Path,
}

impl Target<'_> {
    fn compile_folder(&self, feature: &Path) -> Result<()> {
        let sources = |extension| -> Result<Vec<_>> {
            let is_one = |path: &PathBuf| path.extension() == Some(OsStr::new(extension));
            Ok(entries(feature)?.into_iter().filter(is_one).collect())
        };
        let (java, c) = (sources("java")?, sources("c")?);
        if java.is_empty() { Ok(()) } else { self.compile(feature, &java, &c) }
    }

    fn compile(&self, feature: &Path, sources: &[PathBuf], natives: &[PathBuf]) -> Result<()> {
        let name = feature.file_name().unwrap_or_default();
        let classes = self.classes.join(name);
        let name = name.to_string_lossy();
        let manifest = Some(feature.join(MANIFEST)).filter(|manifest| manifest.is_file());
        let stamp = stamp(self.release, sources.iter().chain(natives).chain(&manifest))?;
        if fs::read(classes.join(STAMP)).is_ok_and(|old| old == stamp) {
            println!("workloads: {name} present");
            return Ok(());
        }
        println!("workloads: compiling {name} ({} files)", sources.len() + natives.len());
        if classes.exists() {
            // A class whose source is gone must not be found by a test.
            fs::remove_dir_all(&classes).with_context(|| format!("cannot remove {}", classes.display()))?;
        }
        fs::create_dir_all(&classes).with_context(|| format!("cannot make {}", classes.display()))?;
        let mut javac = process::command(workspace::jdk_tool("javac"));
        javac
            .args(["--release", self.release, "-g", "-nowarn", "-encoding", "UTF-8", "-d"])
            .arg(&classes)
            .args(sources);
        process::run(&mut javac)?;
        for native in natives {
            link(&name, native, &classes)?;
        }
        if let Some(manifest) = manifest {
            pack(&name, &manifest, &classes)?;
        }
        fs::write(classes.join(STAMP), stamp).with_context(|| format!("cannot write the stamp of {name}"))
    }
}

/// Packs the classes of the folder `agents` into `agents.jar`, as `-javaagent` wants them.
fn pack(feature: &str, manifest: &Path, classes: &Path) -> Result<()> {
    let mut jar = process::command(workspace::jdk_tool("jar"));
    jar.arg("cfm").arg(classes.join(format!("{feature}.jar"))).arg(manifest).arg("-C").arg(classes).arg(".");
    process::run(&mut jar)
}

/// How C is compiled.
const C_FLAGS: [&str; 6] = ["-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-nodefaultlibs"];

/// Compiles `work.c` of the folder `jni` to `libjniwork.so`. Debug information would not help: jtrace reads symbols. It finds the C
/// library in the JVM, whichever that has: an older one than this machine's, or musl.
fn link(feature: &str, source: &Path, classes: &Path) -> Result<()> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let include = workspace::jni_headers()?;
    let mut cc = process::command("cc");
    cc.args(C_FLAGS).arg("-I").arg(&include).arg("-I").arg(include.join("linux"));
    cc.arg("-o").arg(classes.join(format!("lib{feature}{stem}.so"))).arg(source);
    process::run(&mut cc)
}

/// Names and texts of all sources.
fn stamp<'a>(release: &str, sources: impl Iterator<Item = &'a PathBuf>) -> Result<Vec<u8>> {
    let mut stamp = format!("release {release}, {}\n", C_FLAGS.join(" ")).into_bytes();
    for source in sources {
        stamp.extend_from_slice(format!("{}\n", source.display()).as_bytes());
        stamp.extend(fs::read(source).with_context(|| format!("cannot read {}", source.display()))?);
    }
    Ok(stamp)
}

/// The entries of a folder in a fixed order.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
