//! `cargo xtask dist`: jtrace as it is shipped. `target/dist/jtrace` has no symbols, `target/dist/jtrace.debug` has them all,
//! and debuggers find the second by the first. The size of what is shipped has a budget, `tests/budgets/size.txt`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::{build, process, workspace};

/// Takes no options.
#[derive(Args, Default)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    build::run(&build::Options::default())?;
    check()
}

/// The binary that is shipped.
pub(crate) fn binary() -> PathBuf {
    workspace::target().join("dist/jtrace")
}

/// Divides the built jtrace into what is shipped and what only debuggers read. Does nothing where that was done already.
pub(crate) fn divide() -> Result<()> {
    let (whole, shipped) = (workspace::jtrace(), binary());
    let debug = shipped.with_extension("debug");
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let built = changed(&whole).with_context(|| format!("the build left no {}", whole.display()))?;
    if [&shipped, &debug].iter().all(|path| changed(path).is_ok_and(|made| made > built)) {
        return Ok(());
    }
    let folder = shipped.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    process::run(process::command("objcopy").arg("--only-keep-debug").arg(&whole).arg(&debug))?;
    let mut strip = process::command("objcopy");
    // The link is a name alone, which is looked for beside the binary, so both files can go anywhere together.
    strip.current_dir(folder).args(["--strip-all", "--add-gnu-debuglink=jtrace.debug"]);
    process::run(strip.arg(&whole).arg(&shipped))?;
    println!("build: {} ({} KiB), symbols in {}", shipped.display(), size(&shipped)? / 1024, debug.display());
    Ok(())
}

/// Compares the size of what is shipped with its budget.
pub(crate) fn check() -> Result<()> {
    let shipped = binary();
    if !shipped.is_file() {
        println!("size: no {}; `cargo xtask dist` makes it", shipped.display());
        return Ok(());
    }
    let path = workspace::root().join("tests/budgets/size.txt");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (size, budget) = (size(&shipped)?, budget(&text)?);
    println!("size: {} has {size} bytes (budget {budget})", shipped.display());
    ensure!(size <= budget, "{} has {size} bytes, more than the {budget} of {}", shipped.display(), path.display());
    Ok(())
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?.len())
}

/// Reads `jtrace BYTES`.
fn budget(text: &str) -> Result<u64> {
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    match (lines.next().and_then(|line| line.split_once(' ')), lines.next()) {
        (Some(("jtrace", bytes)), None) => bytes.trim().parse().with_context(|| format!("no number: `{bytes}`")),
        _ => bail!("not one line `jtrace BYTES`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_one_number() {
        assert_eq!(budget("# most bytes\njtrace 123\n").unwrap(), 123);
        assert!(budget("jtrace x\n").is_err() && budget("").is_err() && budget("jtrace 1\njtrace 2\n").is_err());
        let path = workspace::root().join("tests/budgets/size.txt");
        assert!(budget(&fs::read_to_string(path).unwrap()).is_ok());
    }
}
