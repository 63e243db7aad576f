//! How slow a large program is while it is woven and after jtrace has left, until it is as fast as before: where its compiled code is kept, and
//! where all of it goes.
//!
//! The program is the JDK's own compiler. It is asked for one unit of work after the other, so its speed is known at each moment.

use std::time::{Duration, Instant};

use ::tests::{
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::{Jvm, Launch},
    process::Signal,
};
use anyhow::{Context as _, Result, ensure};

use super::figure;
use crate::bench::{budget::Figure, statistics::median};

/// Until the program's code is warm.
const WARM_UP: Duration = Duration::from_secs(30);
/// The end of that, which says how fast the program is.
const BASE: Duration = Duration::from_secs(5);
/// How long jtrace stays, and how long the program is watched after it has left.
const STAYS: Duration = Duration::from_secs(12);
const AFTER: Duration = Duration::from_secs(15);
/// Nearly as fast as before: woven code and noise take a part.
const SETTLED: f64 = 1.2;
/// One method of a large class that the program uses all the time.
const MARKER: &str = "one=com.sun.tools.javac.code.Types::memberType";

/// When a unit of work ended, and how long it took, in ns.
type Unit = (Instant, f64);

/// A phase, by its seconds.
struct Phase {
    /// The slowest second, as a multiple of before.
    worst: f64,
    /// Until the program was as fast as before, in seconds; the length of the phase where it never was.
    settles: f64,
}

pub(in crate::bench) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    // Of the JDKs that are here only this one has a compiler.
    let jdk = jdk::debian()?;
    let mut figures = Vec::new();
    // The method is so short that it may be missed where code is kept: `--yes` has all of it go.
    for (name, options) in [("kept", &[][..]), ("gone", &["--yes"][..])] {
        let rounds: Vec<[Phase; 2]> = (0..rounds).map(|_| round(&jdk, options)).collect::<Result<_>>()?;
        for (index, phase) in ["attach", "leave"].into_iter().enumerate() {
            let of = |value: fn(&Phase) -> f64| rounds.iter().map(|phases| value(&phases[index])).collect::<Vec<f64>>();
            let note = ": compiled code is ";
            let [worst, settles] = [format!("{phase}_{name}_worst_second_ratio"), format!("{phase}_{name}_settles_s")];
            figures.push(figure(&worst, &jdk, &of(|phase| phase.worst), "", &format!("{note}{name}")));
            figures.push(figure(&settles, &jdk, &of(|phase| phase.settles), " s", &format!("{note}{name}")));
        }
    }
    Ok(figures)
}

fn round(jdk: &Jdk, options: &[&str]) -> Result<[Phase; 2]> {
    let mut jvm = Launch::new(jdk, "compiling", "Compiling").flags(&["-Xmx1g"]).start()?;
    let warm = work(&mut jvm, WARM_UP)?;
    let from = Instant::now().checked_sub(BASE).context("the machine has just started")?;
    let base: Vec<f64> = warm.into_iter().filter(|(when, _)| *when > from).map(|(_, ns)| ns).collect();
    ensure!(!base.is_empty(), "a unit of work takes longer than {BASE:?}");
    let base = median(&base);
    let pid = jvm.pid().to_string();
    let words = [&["markers", &pid, "--json", "--inside", "--marker", MARKER][..], options].concat();
    let begun = Instant::now();
    let mut session = Session::start(&words)?;
    let attach = phase(&work(&mut jvm, STAYS)?, begun, base);
    let left = Instant::now();
    session.process().signal(Signal::INT)?;
    let leave = phase(&work(&mut jvm, AFTER)?, left, base);
    let report = session.final_report()?;
    ensure!(report.summary("markers", "events")? > 0, "the marker was never passed");
    jvm.finish()?;
    Ok([attach, leave])
}

/// Has the program work for a while.
fn work(jvm: &mut Jvm, span: Duration) -> Result<Vec<Unit>> {
    let begun = Instant::now();
    let mut units = Vec::new();
    while begun.elapsed() < span {
        jvm.process().send_line("1")?;
        let ns = jvm.done()?.get("ns")? as f64;
        units.push((Instant::now(), ns));
    }
    Ok(units)
}

fn phase(units: &[Unit], begun: Instant, base: f64) -> Phase {
    let mut seconds: Vec<Vec<f64>> = Vec::new();
    for (when, ns) in units {
        let second = usize::try_from(when.duration_since(begun).as_secs()).unwrap_or(0);
        seconds.resize_with(seconds.len().max(second + 1), Vec::new);
        seconds[second].push(ns / base);
    }
    // The last second is a part of one.
    seconds.pop();
    let worst = seconds.iter().map(|units| units.iter().sum::<f64>() / (units.len().max(1)) as f64).fold(0.0, f64::max);
    // A collection makes one unit slow, and not the program. A second in which none ended was as slow as the one before.
    let slow = seconds.iter().rposition(|units| !units.is_empty() && median(units) > SETTLED);
    let shown = |units: &Vec<f64>| if units.is_empty() { "-".to_owned() } else { format!("{:.2}", median(units)) };
    let medians: Vec<String> = seconds.iter().map(shown).collect();
    eprintln!("bench: second by second {}", medians.join(" "));
    Phase { worst, settles: slow.map_or(0.0, |second| (second + 1) as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_has_a_worst_second_and_an_end() {
        let begun = Instant::now();
        let at = |ms: u64, ns: f64| (begun + Duration::from_millis(ms), ns);
        let units =
            [at(500, 400.0), at(900, 200.0), at(1500, 130.0), at(2500, 100.0), at(3500, 101.0), at(4100, 300.0)];
        let Phase { worst, settles } = phase(&units, begun, 100.0);
        assert!((worst - 3.0).abs() < 1e-9 && (settles - 2.0).abs() < 1e-9);
        let Phase { settles, .. } = phase(&units[3..], begun, 100.0);
        assert!(settles.abs() < 1e-9, "it was never slow");
    }
}
