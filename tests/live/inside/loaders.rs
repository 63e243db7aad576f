//! A class of one name in several loaders, and classes that are loaded while jtrace weaves.

use anyhow::{Context as _, Result, ensure};
use tests::{expected::Expected, jdk, report::Report};

use super::{counts, start, text, watch};

/// Hidden classes have names that begin alike, and cannot be woven.
const MARKER: [&str; 2] = ["--marker", "once=Copied*::once"];

fn agree(report: &Report, expected: &Expected) -> Result<()> {
    counts::agree_with(report, expected, |all| all)?;
    let rows = report.table("markers", "marker_places")?;
    ensure!(rows.iter().all(|row| text(row, "class") == "Copied"), "other classes were woven: {rows:?}");
    Ok(())
}

#[test]
fn a_class_of_three_loaders_is_counted_in_all_of_them() -> Result<()> {
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        let place = || format!("on JDK {}", jdk.release);
        let way: &[&str] = if release % 2 == 0 { &["--each"] } else { &[] };
        let jvm = start(jdk, "loaders", "Loaders", &["three"], &[])?;
        let (report, expected) = watch(jvm, "markers", &[&MARKER, way].concat()).with_context(place)?;
        agree(&report, &expected).with_context(place)?;
    }
    Ok(())
}

/// Whatever moment a class is loaded at, none of its calls is missing.
#[test]
fn classes_that_come_while_jtrace_weaves_are_woven() -> Result<()> {
    for jdk in jdk::all()? {
        let place = || format!("on JDK {}", jdk.release);
        let jvm = start(&jdk, "loaders", "Loaders", &["many"], &["-Xmx512m"])?;
        let (report, expected) = watch(jvm, "markers", &MARKER).with_context(place)?;
        ensure!(expected.one("calls", "Copied.once")? > 1, "nothing was loaded on JDK {}", jdk.release);
        agree(&report, &expected).with_context(place)?;
    }
    Ok(())
}
