//! That a flag chooses a compiler does not prove that it compiled: the JVM's own tables say what code the counted calls went to.

use anyhow::{Context as _, Result, ensure};
use tests::{jdk, jtrace::Session, report::Report};
use tracer_jvm::jvm::{
    arming::snapshot::{Compilation, Snapshot},
    find,
};

use super::{COMPLETE, Expected, Mode, Run, calls_agree};

/// What runs the code, and at which level; no level is the interpreter.
const WAYS: [(Mode, Option<u8>); 4] = [
    (("the interpreter", &["-Xint"]), None),
    (("C1", &["-XX:TieredStopAtLevel=1", "-Xbatch"]), Some(1)),
    (("C2", &["-XX:-TieredCompilation", "-Xbatch"]), Some(4)),
    (("the default", &["-Xbatch"]), Some(4)),
];

/// The code that calls of `fib` go to: its number, its level, and whether it calls the stub.
fn code(pid: u32) -> Result<Option<(u32, u8, bool)>> {
    let now = Snapshot::take(&find::Jvm::open(pid)?)?;
    let is_fib = |code: &&Compilation| code.name.class == "Fib" && code.name.method == "fib" && code.osr_bci.is_none();
    let told = |code: &Compilation| (code.code.compile_id, code.level, code.calls.is_some_and(|calls| calls.entry));
    Ok(now.in_use().find(is_fib).map(told))
}

/// The same code before and after: no call in between can have gone to other code.
#[test]
fn calls_are_counted_in_code_of_the_level_that_is_claimed() -> Result<()> {
    for jdk in jdk::all()? {
        for ((mode, flags), level) in WAYS {
            let place = || format!("on JDK {} by {mode}", jdk.release);
            let mut run = Run::new(&jdk, "Fib", &[]).flags(flags).times(40, 1);
            run.arguments = &["16"];
            let mut jvm = run.start()?;
            let before = code(jvm.pid())?;
            ensure!(before.map(|(_, level, _)| level) == level, "{before:?} {}, not level {level:?}", place());
            ensure!(before.is_none_or(|(_, _, calls)| calls), "its code calls no stub {}", place());
            let printed = jvm.stdout().text().len();
            // What reports by itself needs no arming, which would make the JVM throw the code away.
            let options = [&COMPLETE[..], &["-l", "methods", "-I", "Fib::*", "--arm", "off"]].concat();
            let session = Session::attach(jvm.pid(), &options)?;
            jvm.work()?;
            let report: Report = session.report()?;
            ensure!(code(jvm.pid())? == before, "other code ran meanwhile {}", place());
            let mut expected = Expected::default();
            expected.add(&jvm.stdout().text()[printed..])?;
            calls_agree(&report, &expected).with_context(place)?;
            jvm.finish()?;
        }
    }
    Ok(())
}
