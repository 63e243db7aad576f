//! Main of the Marker Tracing Framework's micro-tests: two files that are read to their ends, 6,000,008 calls of which four
//! change a state.

use ::tests::{expected::Expected, jdk::Jdk, jtrace::Session, jvm::Launch, report::Report};
use anyhow::{Context as _, Result, ensure};

use super::{UNGUARDED, named};
use crate::bench::budget::Figure;

pub(super) fn measure(jdk: &Jdk) -> Result<Vec<Figure>> {
    let (adaptive, calls) = once(jdk, &[])?;
    // Where all are told, a burst has room.
    let (all, _) = once(jdk, &["--no-adaptive", "--ring-size", "64m"])?;
    let told = |report: &Report| report.summary("typestate", "events");
    let held_back = adaptive.summary("typestate", "suppressed")?;
    ensure!(told(&adaptive)? + held_back == calls, "{} told and {held_back} held back of {calls}", told(&adaptive)?);
    let figure = |name, report: &Report, note: &str| {
        let events = told(report)?;
        let lost = report.completeness("lost")?;
        anyhow::Ok(Figure::new(named(name, jdk), events as f64, format!("{note} of {calls} calls, {lost} lost")))
    };
    Ok(vec![
        figure("file_all_events", &all, "told without adaptation,")?,
        figure("file_adaptive_events", &adaptive, "told with adaptation,")?,
    ])
}

/// Lets it run once; gives the report, and how many calls the program made.
fn once(jdk: &Jdk, how: &[&str]) -> Result<(Report, u64)> {
    let mut jvm = Launch::new(jdk, "typestate", "FilePrograms").arguments(&["Main"]).start()?;
    let pid = jvm.pid().to_string();
    // Its class is loaded when it begins.
    let session = Session::start(&[&["typestate", &pid, "-p", "file", "--later", "--json"], how, &UNGUARDED].concat())?;
    jvm.work()?;
    let report = session.report()?;
    let calls = Expected::parse(&jvm.stdout().text())?.one("events", "File").context("the program counts its calls")?;
    jvm.finish()?;
    Ok((report, calls))
}
