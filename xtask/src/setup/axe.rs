//! The checker of the page's accessibility, axe-core from npm, into `target/axe`. Only tests run it, in a browser beside the page:
//! neither the repository nor jtrace has a copy.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::{process, workspace};

const VERSION: &str = "4.14.1";
/// Of the package as npm serves it.
const SHA256: &str = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745";
/// What tests want of it.
const SCRIPT: &str = "package/axe.min.js";

pub(super) fn run() -> Result<()> {
    let folder = workspace::target().join("axe");
    let archive = folder.join(format!("axe-core-{VERSION}.tgz"));
    if archive.is_file() && folder.join("axe.min.js").is_file() {
        println!("setup: axe-core {VERSION} present");
        return Ok(());
    }
    println!("setup: fetching axe-core {VERSION} (tests check the page's accessibility by it)");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // Where there is no such folder yet, npm would take its name for a file's.
    let mut npm = process::command("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(&folder).arg(format!("axe-core@{VERSION}"));
    process::run_with_retries(&mut npm)?;
    let said = process::output(process::command("sha256sum").arg("--").arg(&archive))?;
    let found = said.split_whitespace().next().unwrap_or_default();
    if found != SHA256 {
        fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))?;
    }
    ensure!(found == SHA256, "{} had the SHA-256 {found}, not {SHA256}", archive.display());
    let mut tar = process::command("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(&archive).arg("--directory").arg(&folder).arg(SCRIPT);
    process::run(&mut tar)
}
