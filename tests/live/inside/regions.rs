//! Regions in threads that sleep in the middle of them, and change their carriers.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    report::{Report, cell},
};

use super::{attach, counts, start, text};

const MARKERS: [&str; 5] = ["--marker", "outer=Regions::outer", "--marker", "inner=Regions::inner", "--each"];
/// So many that virtual threads have a choice.
const CARRIERS: [&str; 1] = ["-Djdk.virtualThreadScheduler.parallelism=4"];

#[test]
fn regions_of_virtual_threads_follow_them_to_other_carriers() -> Result<()> {
    for jdk in jdk::all()?.iter().filter(|jdk| jdk.release >= 21) {
        twice(jdk, &["100", "virtual"]).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

#[test]
fn regions_of_64_threads_nest_recur_and_end_by_exceptions() -> Result<()> {
    for jdk in jdk::all()? {
        twice(&jdk, &["64", "platform"]).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

/// The work is done twice: a region that had stayed open would have everything of the second time within it.
fn twice(jdk: &Jdk, arguments: &[&str]) -> Result<()> {
    let mut jvm = start(jdk, "methods", "Regions", arguments, &CARRIERS)?;
    let session = attach(&jvm, "markers", &MARKERS)?;
    jvm.work()?;
    jvm.work()?;
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    report.nothing_lost()?;
    counts::agree_with(&report, &expected, |all| all)?;
    nest(&report, &expected)
}

fn nest(report: &Report, expected: &Expected) -> Result<()> {
    let mut nesting = BTreeMap::new();
    for row in report.table("markers", "marker_nesting")? {
        nesting.insert(text(&row, "nesting").to_owned(), cell(&row, "entered")?);
    }
    let expected = expected.of("nesting")?;
    let nesting: BTreeMap<_, _> = nesting.iter().map(|(path, entered)| (path.as_str(), *entered)).collect();
    ensure!(nesting == expected, "{nesting:?} and not {expected:?}");
    Ok(())
}
