//! Where things are: the workspace's crates and folders, those that xtask fills, and the machine's JDK.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Chooses the crates whose tests need no root, kernel or JVM. What else is built with the same choice finds all crates compiled.
pub(crate) fn choose_units(cargo: &mut Command) {
    cargo.arg("--workspace");
    for other in ["tests", "tracer-ebpf", "tracer-inside", "tracer-weave"] {
        cargo.args(["--exclude", other]);
    }
}

/// Cargo's target folder, which a developer may have moved.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |target| root().join(target))
}

/// The built jtrace.
pub(crate) fn jtrace() -> PathBuf {
    target().join("release/jtrace")
}

/// The JDKs of the live tests, one folder a release.
pub(crate) fn jdks() -> PathBuf {
    target().join("jdks")
}

/// The compiled workloads, one folder a feature.
pub(crate) fn workloads() -> PathBuf {
    target().join("workloads")
}

/// Where downloads are kept so that a fresh clone does not repeat them.
pub(crate) fn cache() -> Result<PathBuf> {
    let caches = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| Some(env::home_dir()?.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME says where to keep downloads")?;
    Ok(caches.join("jtrace"))
}

/// Where Debian's JDK 17 is, the one JDK of the tests that has a compiler.
pub(crate) fn jdk_home() -> PathBuf {
    let architecture = match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    Path::new("/usr/lib/jvm").join(format!("java-17-openjdk-{architecture}"))
}

/// A program of that JDK; else the one on `PATH`.
pub(crate) fn jdk_tool(name: &str) -> PathBuf {
    let tool = jdk_home().join("bin").join(name);
    if tool.is_file() { tool } else { PathBuf::from(name) }
}

/// The folder with `jni.h`: of the JDK that compiles the workloads, or of one that the tests look into.
pub(crate) fn jni_headers() -> Result<PathBuf> {
    let homes =
        std::iter::once(jdk_home()).chain([25, 21, 17, 11].map(|release: u32| jdks().join(release.to_string())));
    let mut folders = homes.map(|home| home.join("include"));
    folders.find(|folder| folder.join("jni.h").is_file()).context("no JDK has include/jni.h: run `cargo xtask setup`")
}
