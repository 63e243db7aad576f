//! A target that parks as often as it can is held within the budget of the default lenses, whatever the machine does meanwhile.
//! The rule itself runs against a clock of its own in `crates/tracer-governor/src/guard/tests.rs`; how fast the target stays is measured by
//! `cargo xtask bench --only parking`.

use anyhow::{Context as _, Result, ensure};
use tests::{
    budget::{USUAL_BURST_S, USUAL_PERCENT, within_budget},
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::Launch,
    patience::until,
    report::Report,
};

/// Parks in a piece of work: about a second of them.
const PARKS: &str = "200000";

/// Watches a program that parks 200,000 times a second until the guard has taken parks away in one session; how long that takes is
/// for the machine to say.
fn guarded(jdk: &Jdk, options: &[&str]) -> Result<Report> {
    let mut jvm = Launch::new(jdk, "hotpark", "HotPark").arguments(&[PARKS, PARKS]).start()?;
    let mut pieces = 2;
    let report = until("the rate guard takes parks away", || {
        let session = Session::attach(jvm.pid(), options)?;
        for _ in 0..pieces {
            jvm.work()?;
        }
        let report = session.report()?;
        pieces *= 2;
        Ok(is_guarded(&report, "thread__park__begin").then_some(report))
    })?;
    jvm.finish()?;
    Ok(report)
}

fn is_guarded(report: &Report, probe: &str) -> bool {
    let sites = report.sites(probe);
    !sites.is_empty()
        && sites.iter().all(|site| site["state"].as_str().is_some_and(|state| state.contains("rate guard")))
}

/// The report holds itself to the budget, and says what it does not count.
fn keeps_and_says(report: &Report) -> Result<()> {
    within_budget(report, USUAL_PERCENT, USUAL_BURST_S)?;
    ensure!(is_guarded(report, "thread__unpark"), "{:?}", report.sites("thread__unpark"));
    let notes = format!("{:?} {:?}", report.missing(), report.section("locks")?["notes"]);
    ensure!(notes.contains("park"), "the report does not say that parks are not counted: {notes}");
    Ok(())
}

#[test]
fn a_hot_target_is_held_within_its_budget_on_every_jdk() -> Result<()> {
    for jdk in jdk::all()? {
        keeps_and_says(&guarded(&jdk, &[])?).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

/// Where the reader is woken all the time and events are lost all the same, lost ones count.
#[test]
fn what_a_ring_of_4_kib_cannot_hold_counts_for_the_budget() -> Result<()> {
    keeps_and_says(&guarded(&jdk::any()?, &["--ring-size", "4k"])?)
}
