//! `OutOfMemoryError`s are counted as they are thrown, and it is known whether there were some before.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
};
use tracer_jvm::{jvm::find, thread_dump::ThreadReader};

fn is_reported(jvm: &Jvm) -> Result<Option<bool>> {
    Ok(ThreadReader::open(&find::Jvm::open(jvm.pid())?)?.out_of_memory())
}

/// A session in which the program throws some.
fn session(jvm: &mut Jvm, errors: u64) -> Result<Vec<String>> {
    let session = Session::start(&["attach", &jvm.pid().to_string(), "-d", "4s", "--json"])?;
    for _ in 0..errors {
        jvm.work()?;
    }
    let report = session.final_report()?;
    let counted = report.summary("exceptions", "out_of_memory")?;
    ensure!(counted == errors, "{counted} of {errors}");
    Ok(report.titles().into_iter().map(str::to_owned).collect())
}

#[test]
fn errors_of_a_session_are_counted_with_their_place_and_earlier_ones_are_told_on_every_build() -> Result<()> {
    const BEFORE: &str = "The JVM threw an `OutOfMemoryError` before this session, since it started";
    for jdk in jdk::builds()? {
        let mut jvm = Launch::new(&jdk, "threads", "Exhausted").flags(&["-Xmx64m"]).start()?;
        let on = || format!("on {}", jdk.home.display());
        ensure!(is_reported(&jvm).with_context(on)? == Some(false), "{}", on());
        let first = session(&mut jvm, 7).with_context(on)?;
        let title = first.first().map(String::as_str).unwrap_or_default();
        ensure!(title.starts_with("7 `OutOfMemoryError`s in this session, at Exhausted.fits:"), "{first:?} {}", on());
        ensure!(is_reported(&jvm).with_context(on)? == Some(true), "{}", on());
        let then = session(&mut jvm, 0).with_context(on)?;
        ensure!(then.iter().any(|title| title == BEFORE), "{then:?} {}", on());
        jvm.finish()?;
    }
    Ok(())
}
