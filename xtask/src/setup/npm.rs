//! Programs of others from npm that only tests run, into `target`: neither the repository nor jtrace has a copy.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::{process, workspace};

/// A package of which tests want some files.
struct Package {
    name: &'static str,
    version: &'static str,
    why: &'static str,
    /// Of the package as npm serves it.
    sha256: &'static str,
    /// Folder in `target`.
    folder: &'static str,
    files: &'static [&'static str],
}

const PACKAGES: [Package; 2] = [
    Package {
        name: "axe-core",
        version: "4.14.1",
        why: "tests check the page's accessibility by it, in the browser",
        sha256: "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
        folder: "axe",
        files: &["axe.min.js"],
    },
    Package {
        name: "@firefox-devtools/profiler-cli",
        version: "0.10.0",
        why: "a test reads jtrace's profiles by Firefox Profiler's own code",
        sha256: "41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2",
        folder: "firefox-profiler",
        files: &["dist/profiler-cli.js", "dist/mappings.wasm"],
    },
];

pub(super) fn run() -> Result<()> {
    PACKAGES.iter().try_for_each(fetch)
}

fn fetch(package: &Package) -> Result<()> {
    let Package { name, version, why, sha256, folder, files } = package;
    let folder = workspace::target().join(folder);
    // As npm calls what it packs.
    let archive = folder.join(format!("{}-{version}.tgz", name.trim_start_matches('@').replace('/', "-")));
    if archive.is_file() && files.iter().all(|file| folder.join(file).is_file()) {
        println!("setup: {name} {version} present");
        return Ok(());
    }
    println!("setup: fetching {name} {version} ({why})");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut npm = process::command("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(&folder).arg(format!("{name}@{version}"));
    process::run_with_retries(&mut npm)?;
    let said = process::output(process::command("sha256sum").arg("--").arg(&archive))?;
    let found = said.split_whitespace().next().unwrap_or_default();
    if found != *sha256 {
        fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))?;
    }
    ensure!(found == *sha256, "{} had the SHA-256 {found}, not {sha256}", archive.display());
    let mut tar = process::command("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(&archive).arg("--directory").arg(&folder);
    process::run(tar.args(files.iter().map(|file| format!("package/{file}"))))
}
