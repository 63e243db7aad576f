//! How long it takes to attach, to see the first event, and to detach, on a JVM that fires events all the time.

use std::{fs, time::Instant};

use anyhow::{Context as _, Result};
use tests::{
    jdk::Jdk,
    jtrace::{self, LIMIT},
    jvm::{Jvm, Launch},
    process::{Process, Signal},
    report::Report,
};

use super::{budget::Figure, statistics::median};

/// More work than the measurement takes; the JVM is ended in the middle of it.
const WORK: usize = 500;

pub(crate) fn measure(jdk: &Jdk, times: usize) -> Result<Vec<Figure>> {
    let mut jvm = Launch::new(jdk, "alloc", "Alloc").start()?;
    for _ in 0..WORK {
        jvm.go()?;
    }
    let mut firsts = Vec::new();
    let mut attaches = Vec::new();
    let mut detaches = Vec::new();
    for _ in 0..times {
        let Times { first_event, attach, detach } = once(&jvm)?;
        firsts.push(first_event);
        attaches.push(attach);
        detaches.push(detach);
    }
    let note = |values: &[f64]| {
        let worst = values.iter().copied().fold(0.0, f64::max);
        format!("median of {}, worst {worst:.0} ms", values.len())
    };
    Ok(vec![
        Figure::new("first_event_ms", median(&firsts), note(&firsts)),
        Figure::new("attach_ms", median(&attaches), note(&attaches)),
        Figure::new("detach_ms", median(&detaches), note(&detaches)),
    ])
}

/// All in milliseconds.
struct Times {
    first_event: f64,
    attach: f64,
    detach: f64,
}

fn once(jvm: &Jvm) -> Result<Times> {
    let file = jvm.directory().join("report.json");
    let pid = jvm.pid().to_string();
    let mut command = jtrace::command(&["attach", &pid, "--events", "-o"])?;
    command.arg(&file).env("JTRACE_LOG", "info");
    let start = Instant::now();
    let mut process = Process::spawn(&mut command)?;
    process.stdout.wait_for_line("{", 0, LIMIT)?;
    let first_event = start.elapsed().as_secs_f64() * 1e3;
    process.signal(Signal::INT)?;
    process.wait(LIMIT)?;
    let report = Report::parse(&fs::read(&file)?)?;
    let attach_ns = report.0["cost"]["attach_ns"].as_f64().context("the report has no attach_ns")?;
    let log = process.stderr.text();
    let detached = log.lines().find_map(|line| line.strip_prefix("info: detached in ")?.strip_suffix(" s"));
    let detached: f64 = detached.with_context(|| format!("jtrace does not say when it detached: {log}"))?.parse()?;
    Ok(Times { first_event, attach: attach_ns / 1e6, detach: detached * 1e3 })
}
