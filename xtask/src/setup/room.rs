//! Whether there is room for what is built. A compiler that finds none fails in the middle of its work, and says so in many ways.

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// What the target folder takes at most, begun from nothing: 6.2 GiB were counted before the live tests were built.
const NEEDED: u64 = 10 << 30;

/// Says where there is less than everything needs, and nothing was built yet.
pub(crate) fn look() -> Result<()> {
    let target = workspace::target();
    let free = free()?;
    if !workspace::jtrace().exists() && free < NEEDED {
        println!(
            "setup: {:.1} GiB are free where {} will be; all that is built and tested takes up to {:.0} GiB",
            gibibytes(free),
            target.display(),
            gibibytes(NEEDED)
        );
    }
    Ok(())
}

fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1_u32 << 30)
}

/// Bytes that are free in the file system of the clone.
fn free() -> Result<u64> {
    let mut df = process::command("df");
    let said = process::output(df.args(["--output=avail", "--block-size=1"]).arg(workspace::root()))?;
    let last = said.lines().next_back().unwrap_or_default();
    last.trim().parse().with_context(|| format!("df does not say how much is free: {said}"))
}
