//! How long `jtrace list` takes on a machine with fifty JVMs.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::Jdk,
    jtrace,
    jvm::{Jvm, Launch},
};

use super::{budget::Figure, statistics::median};

const JVMS: usize = 50;
const SMALL: [&str; 3] = ["-Xmx16m", "-XX:+UseSerialGC", "-Xshare:auto"];

pub(crate) fn measure(jdk: &Jdk, times: usize) -> Result<Vec<Figure>> {
    let small = || Launch::new(jdk, "idle", "Idle").flags(&SMALL).start();
    let jvms: Vec<Jvm> = (0..JVMS).map(|_| small()).collect::<Result<_>>()?;
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let finished = jtrace::succeed(&["list", "--json"])?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
        let list: Value = serde_json::from_slice(&finished.stdout)?;
        let rows = list["jvms"].as_array().context("no list")?;
        let is_read = |jvm: &Jvm| rows.iter().any(|row| row["pid"] == jvm.pid() && row["problem"].is_null());
        ensure!(jvms.iter().all(is_read), "not every JVM was looked into: {list}");
    }
    let worst = took.iter().copied().fold(0.0, f64::max);
    let note = format!("median of {times}, worst {worst:.0} ms");
    Ok(vec![Figure::new("list_50_jvms_ms", median(&took), note)])
}
