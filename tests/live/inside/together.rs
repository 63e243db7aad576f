//! Several jtraces come inside one JVM at once, and some are killed. One is served, the others are refused in one line, and the JVM goes on.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result, anyhow, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{LIMIT, command},
    process::{Process, Signal},
};

use super::{attach, start};

const AT_ONCE: usize = 3;
/// Commands of each of them.
const ROUNDS: usize = 48;
const COMMANDS: [&[&str]; 6] = [
    &["heap"],
    &["markers", "--marker", "fib=Fib::fib", "-d", "200ms"],
    &["typestate", "-p", "hasnext", "--later", "-d", "200ms"],
    &["exceptions", "-I", "Fib::*", "--lane", "inside", "-d", "200ms"],
    &["calls", "-I", "Fib::*", "--lane", "inside", "-d", "200ms"],
    &["heap", "--stop"],
];
/// One of so many is killed, at the latest after so many milliseconds.
const KILLED_OF: usize = 4;
const MOST_MS: usize = 600;

#[test]
#[ignore = "takes minutes"]
fn several_at_once_are_served_or_refused_and_the_jvm_counts_as_before() -> Result<()> {
    for jdk in jdk::all()? {
        several(&jdk).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

fn several(jdk: &Jdk) -> Result<()> {
    let mut jvm = start(jdk, "methods", "Fib", &[], &[])?;
    let pid = jvm.pid().to_string();
    let coming: Vec<_> = (0..AT_ONCE)
        .map(|number| {
            let pid = pid.clone();
            thread::spawn(move || come(&pid, number))
        })
        .collect();
    for one in coming {
        one.join().map_err(|_| anyhow!("a thread panicked"))??;
    }
    let session = attach(&jvm, "markers", &["--marker", "fib=Fib::fib"])?;
    jvm.work()?;
    let expected = Expected::parse(&jvm.stdout().text())?.one("calls", "Fib.fib")?;
    let counted = session.report()?.summary("markers", "events")?;
    ensure!(counted == 2 * expected, "{counted} marks, and {expected} calls");
    jvm.finish().map(drop)
}

/// Gives commands one behind the other; each of those who come begins with another one, and they do not go the same way round.
fn come(pid: &str, number: usize) -> Result<()> {
    for round in 0..ROUNDS {
        let step = if number.is_multiple_of(2) { round } else { round * (COMMANDS.len() - 1) };
        let [name, options @ ..] = COMMANDS[(step + 2 * number) % COMMANDS.len()] else { continue };
        let mut process = Process::spawn(&mut command(&[&[*name, pid], options].concat())?)?;
        if round % KILLED_OF == number {
            thread::sleep(Duration::from_millis(u64::try_from(round * 37 % MOST_MS)?));
            // It may be over.
            let _ = process.signal(Signal::KILL);
            process.wait_for_exit(LIMIT)?;
            continue;
        }
        let status = process.wait(LIMIT)?;
        let is_refused = process.stderr.text().contains("another jtrace is inside");
        ensure!(status.success() || is_refused, "{name}: {}", process.transcript());
    }
    Ok(())
}
