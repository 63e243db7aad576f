//! How often the interval of an estimate covers the truth on real JVMs: programs that say how much they have allocated, or how
//! often they have called, under budgets so small that what is seen of them is sampled.
//!
//! No test is decided by this: one interval of twenty may miss.

use ::tests::{
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::Report,
};
use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, statistics::median};

/// A program, and what is estimated of it.
struct Case {
    name: &'static str,
    feature: &'static str,
    main: &'static str,
    arguments: &'static [&'static str],
    flags: &'static [&'static str],
    options: &'static [&'static str],
    lens: &'static str,
    key: &'static str,
}

const ALLOC: &[&str] = &["-l", "alloc", "--max-overhead", "0.1%"];
const METHODS: &[&str] = &["-l", "methods", "-I", "Paced::*"];
/// Small buffers make many events, as many threads do.
const SMALL: &[&str] = &["-XX:TLABSize=64k", "-XX:-ResizeTLAB", "-XX:MinTLABSize=2k", "-Xmx256m"];

const CASES: [Case; 4] = [
    Case {
        name: "alloc_steady",
        feature: "alloc",
        main: "Bursty",
        arguments: &["400", "1", "0", "20000"],
        flags: SMALL,
        options: ALLOC,
        lens: "alloc",
        key: "estimated_bytes",
    },
    Case {
        name: "alloc_bursts",
        feature: "alloc",
        main: "Bursty",
        arguments: &["800", "200", "600", "20000"],
        flags: SMALL,
        options: ALLOC,
        lens: "alloc",
        key: "estimated_bytes",
    },
    Case {
        name: "alloc_on_off",
        feature: "alloc",
        main: "Bursty",
        arguments: &["600", "1500", "1500", "20000"],
        flags: SMALL,
        options: ALLOC,
        lens: "alloc",
        key: "estimated_bytes",
    },
    Case {
        name: "methods_steady",
        feature: "methods",
        main: "Paced",
        arguments: &["100000", "20000"],
        flags: &["-XX:+DTraceMethodProbes"],
        options: METHODS,
        lens: "methods",
        key: "calls",
    },
];

/// What one session said.
struct Said {
    covers: bool,
    /// What the estimate is off, and how wide its interval is, in percent of the truth.
    off: f64,
    width: f64,
    attached: f64,
}

pub(super) fn measure(jdk: &Jdk, sessions: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for case in &CASES {
        let mut said = Vec::new();
        let mut jvm = Launch::new(jdk, case.feature, case.main).flags(case.flags).arguments(case.arguments).start()?;
        for _ in 0..sessions {
            said.extend(case.watch(&mut jvm)?);
        }
        jvm.finish()?;
        figures.extend(case.figures(sessions, &said));
    }
    Ok(figures)
}

impl Case {
    /// Watches one piece of work; nothing where there was no estimate.
    fn watch(&self, jvm: &mut Jvm) -> Result<Option<Said>> {
        let printed = jvm.stdout().text().len();
        let session = Session::attach(jvm.pid(), self.options)?;
        jvm.work()?;
        let report = session.report()?;
        let truth = truth(&jvm.stdout().text()[printed..])?;
        let number = |prefix: &str| summary(&report, self.lens, &format!("{prefix}{}", self.key));
        let Some(about) = number("extrapolated_") else {
            eprintln!("bench: {}: {truth}, no estimate: {:?}", self.name, summary(&report, self.lens, "windows"));
            return Ok(None);
        };
        let (low, high) =
            (number("extrapolated_low_").context("no low")?, number("extrapolated_high_").context("no high")?);
        let attached = summary(&report, self.lens, "attached_percent").context("no share")?;
        ensure!(low <= about && about <= high, "{low} {about} {high}");
        eprintln!("bench: {}: {truth}, seen in {attached:.1} %, about {about} ({low} to {high})", self.name);
        let percent = |number: f64| 100.0 * number / truth;
        Ok(Some(Said {
            covers: (low..=high).contains(&truth),
            off: percent(about) - 100.0,
            width: percent(high - low),
            attached,
        }))
    }

    fn figures(&self, sessions: usize, said: &[Said]) -> Vec<Figure> {
        let covered = said.iter().filter(|said| said.covers).count();
        let of = |value: fn(&Said) -> f64| median(&said.iter().map(value).collect::<Vec<_>>());
        let name = |what: &str| format!("estimates_{}_{what}", self.name);
        if said.is_empty() {
            return vec![Figure::new(
                name("covered_percent"),
                f64::NAN,
                format!("none of {sessions} sessions had an estimate"),
            )];
        }
        let note = format!("{covered} of {} intervals; {sessions} sessions", said.len());
        vec![
            Figure::new(name("covered_percent"), 100.0 * covered as f64 / said.len() as f64, note),
            Figure::new(name("off_percent"), of(|said| said.off.abs()), "median of how far the estimate is off"),
            Figure::new(name("width_percent"), of(|said| said.width), "median width of the interval, by the truth"),
            Figure::new(name("attached_percent"), of(|said| said.attached), "median part of the span that was seen"),
        ]
    }
}

fn summary(report: &Report, lens: &str, key: &str) -> Option<f64> {
    let sections = report.0["sections"].as_array()?;
    sections.iter().find(|section| section["id"] == lens)?["summary"][key].as_f64()
}

/// What a program says that it has made, or called.
fn truth(text: &str) -> Result<f64> {
    let calls = text.lines().find_map(|line| line.strip_prefix("expected calls Paced.step "));
    let bytes = text.lines().find_map(|line| line.strip_prefix("DONE bytes="));
    calls.or(bytes).with_context(|| format!("no truth in {text}"))?.trim().parse().context("no number")
}
