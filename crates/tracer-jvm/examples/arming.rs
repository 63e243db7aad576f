//! What runs in a JVM without calling HotSpot's method stubs: `arming PID [CLASS..]`. With classes it has them recompiled
//! (JDK 25) or sets the flag, until its input ends. For trying things out; commands of jtrace say it in their reports.

use std::{io::Read, time::Instant};

use tracer_jvm::jvm::{
    arming::{
        self, ArmMode, Wish,
        coverage::{Probes, coverage, residue},
        snapshot::Snapshot,
    },
    find::Jvm,
    journal::Journal,
};

#[expect(clippy::print_stdout, reason = "a program for trying things out")]
fn show(jvm: &Jvm, before: &Snapshot, classes: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let now = Snapshot::take(jvm)?;
    let took = began.elapsed();
    let found = coverage(Probes::Methods, before, &now);
    for code in now.in_use().filter(|code| classes.contains(&code.name.class)) {
        println!("  {} level {} {}: {:?}", code.code.compile_id, code.level, code.name.method, code.calls);
    }
    for native in [false, true] {
        let all: Vec<_> = now.in_use().filter(|code| code.native == native).filter_map(|code| code.calls).collect();
        let entry = all.iter().filter(|calls| calls.entry).count();
        let allocation = all.iter().filter(|calls| calls.allocation).count();
        println!("native {native}: {} in use, {entry} call at entry, {allocation} at allocation", all.len());
    }
    let left: Vec<_> = residue(Probes::Methods, before, &now).map(|code| &code.name).collect();
    println!("interpreter {:?}, {} methods not covered, {took:?}", found.interpreter, found.not_covered().count());
    println!("{} compiled since call: {:?}", left.len(), left.iter().map(|name| &name.class).collect::<Vec<_>>());
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program for trying things out")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let jvm = Jvm::open(arguments.next().ok_or("usage: arming PID [CLASS..]")?.parse()?)?;
    let classes: Vec<String> = arguments.collect();
    let before = Snapshot::take(&jvm)?;
    show(&jvm, &before, &classes)?;
    if classes.is_empty() {
        return Ok(());
    }
    let began = Instant::now();
    let wish = Wish { mode: ArmMode::Auto, probes: Probes::Methods, classes: &classes };
    let armed = arming::arm(&Journal::for_this_user()?, &jvm, wish)?;
    println!("armed after {:?}: {:?}", began.elapsed(), armed.outcome);
    show(&jvm, &before, &classes)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let began = Instant::now();
    let left = armed.disarm(&jvm)?;
    println!("disarmed after {:?}, {} methods go on calling", began.elapsed(), left.len());
    show(&jvm, &before, &classes)
}
