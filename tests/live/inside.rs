//! The library in the JVM: what woven code tells equals the closed form that programs print, and every class gets back what it had.

// What holds a session within its budget, and what is sampled.
mod budget;
// What becomes of compiled code.
mod compiled;
// How often methods are entered and left.
mod counts;
// Every kind of place.
mod kinds;
// Coming, going, and what is refused.
mod visits;
// One class in several loaders, and loading meanwhile.
mod loaders;
// Many objects that move and die.
mod objects;
// Containers, refusals and sudden ends.
mod places;
// The classes of the library by themselves.
mod recorder;
// Regions of threads that sleep and move.
mod regions;
// Classes get back what they had, also beside other agents.
pub(crate) mod restored;
// What runs while its class is exchanged.
mod running;
// Whose marks they are.
mod threads;
// Several jtraces at once.
mod together;
// Programs that begin woven.
mod started;
// What is taken out of the code before the end.
mod taken_out;
// Objects and their protocols.
mod typestate;

use anyhow::Result;
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::{Report, Row},
};

/// Nothing is taken away, a burst has room, and compiled code may go where a method leaves no trace in it.
const COMPLETE: [&str; 6] = ["--inside", "--yes", "--max-overhead", "100000%", "--ring-size", "64m"];

/// What runs the code: the interpreter, C1, C2, or all of them in turn.
const MODES: [&[&str]; 4] = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation"], &[]];

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn start(jdk: &Jdk, feature: &str, main: &str, arguments: &[&str], flags: &[&str]) -> Result<Jvm> {
    Launch::new(jdk, feature, main).flags(flags).arguments(arguments).start()
}

fn attach(jvm: &Jvm, lens: &str, options: &[&str]) -> Result<Session> {
    let options: Vec<&str> = COMPLETE.into_iter().chain(["-l", lens]).chain(options.iter().copied()).collect();
    Session::attach(jvm.pid(), &options)
}

/// Lets a program work while its methods are woven; everything has arrived.
fn watch(jvm: Jvm, lens: &str, options: &[&str]) -> Result<(Report, Expected)> {
    watch_rounds(jvm, 1, lens, options)
}

/// The same where it works so often.
fn watch_rounds(mut jvm: Jvm, rounds: usize, lens: &str, options: &[&str]) -> Result<(Report, Expected)> {
    let session = attach(&jvm, lens, options)?;
    for _ in 0..rounds {
        jvm.work()?;
    }
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    report.nothing_lost()?;
    Ok((report, expected))
}
