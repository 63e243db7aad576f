//! `cargo xtask demo` shows what it promises: its three planted problems are named. The command checks its report by the same
//! function.

use anyhow::{Result, ensure};
use tests::{
    demo, jdk,
    jtrace::{self, Session},
    jvm::Launch,
    patience::until,
    report::Report,
};

/// Seconds of the first look. Each further one is twice as long: how much of the problems falls into a look is for the machine to say.
const FIRST_LOOK_S: u64 = 5;

/// As `cargo xtask demo` does it.
#[test]
fn the_planted_problems_are_named() -> Result<()> {
    for jdk in jdk::oldest_and_newest()? {
        let jvm = demo::start(&jdk)?;
        let mut seconds = FIRST_LOOK_S;
        until(&format!("the problems are named on JDK {}", jdk.release), || {
            let length = format!("{seconds}s");
            let finished = jtrace::succeed(&["attach", &jvm.pid().to_string(), "-d", &length, "--json"])?;
            let report = Report::parse(&finished.stdout)?;
            let unnamed = demo::unnamed(&report);
            println!("JDK {}, {length}: {unnamed:?} are not in {:?}", jdk.release, report.findings());
            seconds *= 2;
            Ok(unnamed.is_empty().then_some(()))
        })?;
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
