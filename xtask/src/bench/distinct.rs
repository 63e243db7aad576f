//! Memory for 100,000 stacks of which no two are equal: jtrace's largest resident size from its start to its end, with the
//! report as JSON, the largest of the forms.

use std::{fs, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tests::{jdk::Jdk, jtrace::Session, jvm::Launch};

use super::budget::Figure;

/// How many, how deep, and how fast: what the kernel holds back for jtrace is not asked here.
const STACKS: &str = "100000";
const CALLS: &str = "27";
const PER_SECOND: &str = "20000";

/// How often the size is looked at. It never falls, so that only the last moment can be missed.
const LOOK_EVERY: Duration = Duration::from_millis(1);

pub(crate) fn measure(jdk: &Jdk) -> Result<Vec<Figure>> {
    let mut jvm = Launch::new(jdk, "figures", "Distinct").arguments(&[STACKS, CALLS, PER_SECOND]).start()?;
    let arguments = ["-l", "locks", "--max-overhead", "100%", "--ring-size", "4m"];
    let mut session = Session::attach(jvm.pid(), &arguments)?;
    let pid = session.process().pid();
    jvm.work()?;
    let (report, peak_kib) = thread::scope(|scope| {
        let peak = scope.spawn(|| watch(pid));
        let report = session.report();
        (report, peak.join().unwrap_or_default())
    });
    let report = report?;
    ensure!(peak_kib > 0, "jtrace's memory was never seen");
    let own = report.0["cost"]["own_memory_bytes"].as_f64().context("the report has no own_memory_bytes")?;
    let mut shapes = report.section("locks")?["shapes"].as_array().into_iter().flatten();
    let profile = shapes.find(|shape| shape["id"] == "park_stacks").context("no stack was taken")?;
    let stacks = profile["stacks"].as_array().context("no stacks")?;
    let frames: usize = stacks.iter().filter_map(|stack| Some(stack["frames"].as_array()?.len())).sum();
    let wanted: usize = STACKS.parse()?;
    let note = format!(
        "{} stacks arrived, of {:.0} frames each; {} events lost; {:.0} MiB before the report",
        stacks.len(),
        frames as f64 / stacks.len().max(1) as f64,
        report.completeness("lost")?,
        own / 1_048_576.0
    );
    let missing = wanted.saturating_sub(stacks.len());
    Ok(vec![
        Figure::new("stacks_100000_memory_mib", peak_kib as f64 / 1024.0, note),
        Figure::new("stacks_100000_missing", missing as f64, "stacks that did not arrive"),
    ])
}

/// The largest resident size of a process, at its end.
fn watch(pid: u32) -> u64 {
    let mut peak_kib = 0;
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let seen =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        // What has ended has no memory, though it may still be there as a zombie.
        let Some(seen) = seen else { return peak_kib };
        peak_kib = seen;
        thread::sleep(LOOK_EVERY);
    }
}
