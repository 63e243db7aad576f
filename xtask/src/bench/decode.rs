//! How fast a recording is decoded and analysed.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, measure_binary, statistics::median};
use crate::{process, workspace};

/// Clock ticks of `/proc` in a second.
const TICKS_PER_S: f64 = 100.0;

pub(crate) fn measure(events: u64, times: usize) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir_in(workspace::target())?;
    let file = folder.path().join("large.jtrace");
    let mut make = process::command(measure_binary());
    let made = process::output(make.arg("recording").arg(&file).arg(events.to_string()))?;
    let events: f64 = made.trim().strip_prefix("events ").context("the recording has no events")?.parse()?;
    let mut rates = Vec::new();
    for _ in 0..times {
        let before = children_cpu_s()?;
        let report = process::output(process::command(workspace::jtrace()).arg("report").arg(&file).arg("--json"))?;
        ensure!(report.contains("jtrace-report/1"), "no report");
        rates.push(events / 1e6 / (children_cpu_s()? - before));
    }
    let megabytes = fs::metadata(&file)?.len() / 1_000_000;
    let note = format!("{:.1} M events in {megabytes} MB, user and system time, median of {times}", events / 1e6);
    Ok(vec![Figure::new("decode_million_events_per_s", median(&rates), note)])
}

/// CPU time of all children that ended.
fn children_cpu_s() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(") ").context("an odd /proc/self/stat")?;
    // cutime and cstime are the fields 16 and 17, and the state is the third.
    let ticks: f64 = after_name.split(' ').skip(13).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS_PER_S)
}
