//! What runs in a JVM without calling HotSpot's method stubs: `arming PID [CLASS..]`. For trying things out; the commands
//! of jtrace say it in their reports.

use tracer::jvm::{
    arming::{
        coverage::{Probes, coverage},
        snapshot::Snapshot,
    },
    find::Jvm,
};

#[expect(clippy::print_stdout, reason = "a program for trying things out")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let jvm = Jvm::open(arguments.next().ok_or("usage: arming PID [CLASS..]")?.parse()?)?;
    let classes: Vec<String> = arguments.collect();
    let began = std::time::Instant::now();
    let now = Snapshot::take(&jvm)?;
    let took = began.elapsed();
    let found = coverage(Probes::Methods, &now, &now);
    for code in now.in_use().filter(|code| classes.contains(&code.name.class)) {
        println!("{code:?}");
    }
    let (calling, all) = (|native| now.in_use().filter(move |code| code.native == native), now.in_use().count());
    for native in [false, true] {
        let calls = calling(native).filter(|code| code.calls.is_some_and(|calls| calls.entry)).count();
        let exits = calling(native).filter(|code| code.calls.is_some_and(|calls| calls.exit)).count();
        let alloc = calling(native).filter(|code| code.calls.is_some_and(|calls| calls.allocation)).count();
        println!(
            "native {native}: {} in use, {calls} call at entry, {exits} at exit, {alloc} at allocation",
            calling(native).count()
        );
    }
    println!(
        "{all} in use of {}, {} unread, interpreter {:?} {:?}, {} methods not covered, {took:?}",
        now.code.len(),
        now.unread,
        now.interpreter,
        found.interpreter,
        found.not_covered().count()
    );
    Ok(())
}
