//! `cargo xtask demo` shows what it promises: its three planted problems are named. The command checks its report by the same
//! function.

use anyhow::{Result, ensure};
use tests::{
    demo, jdk,
    jtrace::{self, Session},
    jvm::Launch,
    report::Report,
};

/// As `cargo xtask demo` does it, on each release.
#[test]
fn the_planted_problems_are_named() -> Result<()> {
    for jdk in jdk::all()? {
        let jvm = demo::start(&jdk)?;
        let finished = jtrace::succeed(&["attach", &jvm.pid().to_string(), "-d", "10s", "--json"])?;
        let report = Report::parse(&finished.stdout)?;
        let unnamed = demo::unnamed(&report);
        ensure!(unnamed.is_empty(), "JDK {}: {unnamed:?} in {:?}", jdk.release, report.findings());
    }
    Ok(())
}

#[test]
fn nothing_is_named_that_is_not_there() -> Result<()> {
    let jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let report = Session::attach(jvm.pid(), &[])?.report()?;
    ensure!(demo::unnamed(&report).len() == 3, "{:?}", report.findings());
    Ok(())
}
