//! jtrace's stacks equal the program's own: on every JDK, in every compiler mode, with every collector, in all shapes of stacks.

use std::{env, fmt::Write as _, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{
    jdk::{self, Collector, Jdk},
    jtrace::Session,
    jvm::Launch,
};

use crate::{
    compare::{Tally, Verdict},
    recorded::Recorded,
    truth,
};

/// How the JVM compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Interpreter,
    C1,
    C2,
    Tiered,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Interpreter, Self::C1, Self::C2, Self::Tiered];

    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Interpreter => &["-Xint"],
            Self::C1 => &["-XX:TieredStopAtLevel=1"],
            Self::C2 => &["-XX:-TieredCompilation"],
            Self::Tiered => &[],
        }
    }
}

/// How long a cell may take on a loaded machine: threads that wait for each other to block take turns of milliseconds.
const LIMIT: Duration = Duration::from_mins(15);

/// Probes on platform threads.
const PLATFORM: &[&str] = &["park", "sleep", "enter", "load", "start"];
/// Probes on virtual threads.
const VIRTUAL: &[&str] = &["virtual-load", "virtual-enter"];

/// What `JTRACE_ORACLE` asks for: the whole matrix, or a number of events.
fn asked() -> Option<String> {
    env::var("JTRACE_ORACLE").ok()
}

/// Whether the whole matrix was asked for.
fn is_full() -> bool {
    asked().is_some_and(|asked| asked == "full")
}

/// Events of each kind in a cell.
fn events() -> u64 {
    let number = asked().and_then(|asked| asked.parse().ok());
    number.unwrap_or(if is_full() { 10_000 } else { 400 })
}

/// Checks cells one after another; all of them, so that one failure tells which others there are.
fn check(cells: &[(Jdk, Mode, Collector)], kinds: &[&str]) {
    let mut complaints = String::new();
    for (jdk, mode, collector) in cells {
        let name = format!("JDK {} {mode:?} {}", jdk.release, collector.name());
        if let Err(error) = checked(&name, || cell(jdk, *mode, *collector, kinds), *collector) {
            println!("{name}: {error:#}");
            let _ = writeln!(complaints, "=== {name}: {error:#}");
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

/// Runs a cell; once more, and again, where more frames had gone than usually do. A stack that differs is never forgiven.
fn checked(name: &str, run: impl Fn() -> Result<Tally>, collector: Collector) -> Result<()> {
    let mut too_many = String::new();
    for _ in 0..RUNS {
        let tally = run()?;
        let [equal, cut, heap, gone] = [Verdict::Equal, Verdict::Cut, Verdict::InHeap, Verdict::Gone]
            .map(|verdict| tally.count(|found| *found == verdict));
        let others = tally.others();
        println!(
            "{name}: {equal} equal, {cut} equal up to the limit, {heap} up to the heap, {gone} with frames that had gone, \
             {others} not"
        );
        ensure!(others == 0, "{others} differ, {gone} had gone\n{}{}", tally.gone(), tally.complaint());
        if gone <= most_gone(collector, equal + gone) {
            return Ok(());
        }
        too_many = tally.gone();
    }
    bail!("in each of {RUNS} runs too many frames had gone, in the last one:\n{too_many}")
}

/// Runs in which too many frames may have gone, before that is jtrace's fault and not the machine's.
const RUNS: usize = 3;

/// How many of so many stacks may have frames whose code or class the JVM threw away before jtrace came to look: that is decided
/// by how long the machine lets jtrace wait while the JVM runs on. Such frames say so. At a load of 9 on two processors none of
/// 2,000 had gone with any collector but ZGC, which frees code while the program runs: 22 of 2,000, and 128 once.
fn most_gone(collector: Collector, stacks: u64) -> u64 {
    stacks / if collector == Collector::Z { 10 } else { 200 }
}

/// One run of the oracle under jtrace.
fn cell(jdk: &Jdk, mode: Mode, collector: Collector, kinds: &[&str]) -> Result<Tally> {
    let directory = tempfile::tempdir()?;
    let said = directory.path().join("oracle.txt").to_string_lossy().into_owned();
    let recording = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let events = events().to_string();
    let mut arguments = vec![said.as_str(), events.as_str()];
    arguments.extend(kinds);
    let mut jvm = Launch::new(jdk, "stacks", "Oracle")
        .flags(mode.flags())
        .flags(collector.flags())
        .flags(&["-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Mixed::interpreted*"])
        .arguments(&arguments)
        .start()?;
    let pid = jvm.pid().to_string();
    let session = Session::start(&[
        "record",
        &pid,
        "-l",
        "locks,threads,classes,jit",
        "-o",
        &recording,
        "--max-overhead",
        "100000%",
        "--ring-size",
        "16m",
    ])?;
    jvm.go()?;
    let made = jvm.done_within(LIMIT)?.get("events")?;
    session.stop()?;
    jvm.finish()?;
    let seen = truth::parse(&std::fs::read_to_string(&said)?)?;
    ensure!(seen.len() as u64 == made, "the program made {made} events and told of {}", seen.len());
    ensure!(made > 0 || kinds == VIRTUAL, "the program made no event");
    let recorded = Recorded::open(Path::new(&recording))?;
    ensure!(recorded.lost == 0, "{} records were lost", recorded.lost);
    ensure!(recorded.undecodable == 0, "{} records could not be decoded", recorded.undecodable);
    Tally::of(&seen, &recorded).with_context(|| format!("jtrace says is missing: {:?}", recorded.missing))
}

/// Whether a release is tried in a mode: each is in the mode that programs run in, and in one or two of the others; in all where the
/// whole matrix was asked for.
fn is_tried(row: usize, mode: Mode) -> bool {
    let column = Mode::ALL.iter().position(|one| *one == mode).unwrap_or_default();
    mode == Mode::Tiered || is_full() || jdk::is_in_turn(row, column)
}

/// JDKs in one mode: with their first collector, or with all of them.
fn cells(mode: Mode) -> Result<Vec<(Jdk, Mode, Collector)>> {
    let mut cells = Vec::new();
    for (_, jdk) in jdk::all()?.into_iter().enumerate().filter(|(row, _)| is_tried(*row, mode)) {
        let collectors = jdk.collectors();
        let taken = if is_full() { collectors.len() } else { 1 };
        cells.extend(collectors.into_iter().take(taken).map(|collector| (jdk.clone(), mode, collector)));
    }
    Ok(cells)
}

#[test]
fn interpreted_stacks_equal_the_programs_own() -> Result<()> {
    check(&cells(Mode::Interpreter)?, PLATFORM);
    Ok(())
}

#[test]
fn stacks_of_c1_equal_the_programs_own() -> Result<()> {
    check(&cells(Mode::C1)?, PLATFORM);
    Ok(())
}

#[test]
fn stacks_of_c2_equal_the_programs_own() -> Result<()> {
    check(&cells(Mode::C2)?, PLATFORM);
    Ok(())
}

#[test]
fn tiered_stacks_equal_the_programs_own() -> Result<()> {
    check(&cells(Mode::Tiered)?, PLATFORM);
    Ok(())
}

#[test]
fn every_collector_gives_the_same_stacks() -> Result<()> {
    // The other tests have the first collector of each JDK, and all of them in the whole matrix.
    let mut cells = Vec::new();
    for collector in Collector::ALL.into_iter().skip(1).filter(|_| !is_full()) {
        let newest = jdk::all()?.into_iter().rev().find(|jdk| jdk.collectors().contains(&collector));
        cells.extend(newest.map(|jdk| (jdk, Mode::Tiered, collector)));
    }
    check(&cells, PLATFORM);
    Ok(())
}

#[test]
fn stacks_of_virtual_threads_equal_the_programs_own() -> Result<()> {
    let mut cells = Vec::new();
    for (row, jdk) in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 21).enumerate() {
        let modes = Mode::ALL.into_iter().filter(|mode| is_tried(row, *mode));
        cells.extend(modes.map(|mode| (jdk.clone(), mode, Collector::G1)));
    }
    check(&cells, VIRTUAL);
    Ok(())
}
