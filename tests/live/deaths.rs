//! Death at any moment of any command, by any signal. After the next start nothing is armed, woven, mounted or open in the
//! target, no process is left of the dead jtrace, and the target counts as before.
//!
//! `JTRACE_DEATHS` says how many, and `JTRACE_DEATHS_SEED` repeats the choice of a run; moments are never quite the same again.

pub(crate) mod left;
mod tally;

use std::{
    env,
    ffi::OsString,
    process::Command,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, LIMIT, Session},
    jvm::{Counts, Jvm, Launch},
    patience::until,
    process::{Process, Signal},
};

use self::{
    left::Left,
    tally::{Stage, Tally},
};
use super::ending::SIGNALS;

/// How many where nobody says it, and from how many on a measurement is among the commands: it takes seconds.
const USUAL: u64 = 100;
const WITH_MEASUREMENTS: u64 = 200;

/// Signals that end a process at once, as a fault in jtrace would.
const FAULTS: [Signal; 5] = [Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE, Signal::SYS];

/// Whose JVM a command watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watches {
    /// One that runs already.
    Running,
    /// All of the machine, of which that is one.
    All,
    /// One that it starts, and that outlives it.
    Started,
    /// Those of a measurement, which end with it.
    Own,
}

/// A command, and what comes behind the pid.
type Row = (&'static str, Watches, &'static [&'static str]);

const COMMANDS: [Row; 18] = [
    ("attach", Watches::Running, &["--json", "-d", "400ms"]),
    ("record", Watches::Running, &["-d", "400ms"]),
    ("methods", Watches::Running, &["-I", "Fib::*", "--json", "-d", "400ms"]),
    ("calls", Watches::Running, &["-I", "Fib::*", "--json", "-d", "400ms"]),
    ("alloc", Watches::Running, &["-I", "java.lang.*", "--json", "-d", "400ms"]),
    ("methods", Watches::Running, &["--lane", "inside", "-I", "Fib::*", "--yes", "--json", "-d", "400ms"]),
    ("calls", Watches::Running, &["--lane", "inside", "-I", "Fib::*", "--yes", "--json", "-d", "400ms"]),
    ("alloc", Watches::Running, &["--lane", "inside", "-I", "Session*::*", "--yes", "--json", "-d", "400ms"]),
    ("jni", Watches::Running, &["--json", "-d", "400ms"]),
    ("markers", Watches::Running, &["--inside", "--marker", "fib=Fib::fib", "--json", "-d", "400ms"]),
    ("typestate", Watches::Running, &["--inside", "-p", "hasnext", "--later", "--json", "-d", "400ms"]),
    ("heap", Watches::Running, &["--json"]),
    ("leaks", Watches::Running, &["-d", "400ms", "-n", "2", "--json"]),
    ("top", Watches::All, &["-d", "400ms", "--json"]),
    ("perf-map", Watches::Running, &[]),
    ("run", Watches::Started, &["-l", "locks,methods,alloc", "-I", "Fib::*", "-d", "400ms"]),
    ("run", Watches::Started, &["--inside", "--marker", "fib=Fib::fib", "-d", "400ms"]),
    ("bench", Watches::Own, BENCH),
];

/// A JVM of its own, and a jtrace that watches that.
const BENCH: &[&str] = &[
    "--suite",
    "micro",
    "--programs",
    "micro:park",
    "--size",
    "small",
    "--configurations",
    "every:locks",
    "--runs",
    "1",
    "--warm-up",
    "0",
];

/// Numbers that look random and follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap_or(0)]
    }

    /// Half of the deaths are those that no process can do anything about.
    fn signal(&mut self) -> Signal {
        match self.below(10) {
            0..5 => Signal::KILL,
            5 => self.pick(&FAULTS),
            _ => self.pick(&SIGNALS),
        }
    }
}

/// A jtrace that is to die; all processes that come from it have its directory in their environment.
struct Victim {
    process: Process,
    watches: Watches,
    directory: tempfile::TempDir,
}

impl Victim {
    fn start(row: Row, jvm: &Jvm, jdk: &Jdk) -> Result<Self> {
        let (name, watches, arguments) = row;
        let directory = tempfile::tempdir()?;
        let output = |name: &str| directory.path().join(name).into_os_string();
        let mut words: Vec<OsString> = vec![jtrace::binary()?.into(), name.into()];
        if watches == Watches::Running {
            words.push(jvm.pid().to_string().into());
        }
        words.extend(arguments.iter().map(OsString::from));
        match name {
            "record" => words.extend(["-o".into(), output("x.jtrace")]),
            "bench" => words.extend(["--java".into(), jdk.java().into(), "-o".into(), output("x.json")]),
            "run" => {
                words.extend(["-o".into(), output("x.json"), "--".into()]);
                words.extend(Launch::new(jdk, "methods", "Fib").command(directory.path()));
            }
            _ => {}
        }
        // A fault would leave a file of its memory behind.
        let mut command = Command::new("prlimit");
        command.arg("--core=0").args(words).env(left::MARK, directory.path()).env("NO_COLOR", "1");
        Ok(Self { process: Process::spawn(&mut command)?, watches, directory })
    }

    fn stage(&self) -> Stage {
        let is_attached = self.process.stderr.text().contains("attached");
        match (self.process.is_running(), is_attached) {
            (true, false) => Stage::Coming,
            (true, true) => Stage::Attached,
            (false, _) => Stage::Over,
        }
    }

    /// Waits until it is dead. What it started goes on where that is a user's program, and must be right.
    fn bury(&mut self, right: &Counts) -> Result<()> {
        if self.watches == Watches::Started
            && let Ok((_, from)) = self.process.stdout.wait_for_line("READY", 0, LIMIT)
        {
            jtrace::succeed(&["list"])?;
            let jvm = left::java_of(self.directory.path())?;
            left::is_clean(jvm)?;
            self.process.send_line("GO")?;
            let (line, _) = self.process.stdout.wait_for_line("DONE", from, LIMIT)?;
            ensure!(Counts::parse(&line)? == *right, "the program counts something else: {line}");
        }
        self.process.close_stdin();
        self.process.wait_for_exit(LIMIT)?;
        left::nobody_is_left(self.directory.path())
    }
}

/// How long a command takes from its start to its end, so that deaths fall on all of it. This also leaves in the target what one
/// complete session of it does.
fn whole(row: Row, jvm: &mut Jvm, jdk: &Jdk, right: &Counts) -> Result<Duration> {
    let began = Instant::now();
    let mut victim = Victim::start(row, jvm, jdk)?;
    if row.1 == Watches::Started {
        victim.process.stderr.wait_for_line("wrote", 0, LIMIT).with_context(|| victim.process.transcript())?;
    } else {
        let status = victim.process.wait(LIMIT)?;
        ensure!(status.success(), "{row:?}: {}", victim.process.transcript());
    }
    let took = began.elapsed();
    victim.bury(right)?;
    Ok(took)
}

/// Kills a command at a random moment, and looks at what is left when another jtrace has started. Where it is over before, less time
/// is all of it from then on: the machine was busy when it was measured.
fn kill(
    row: Row,
    whole: &mut Duration,
    jvm: &mut Jvm,
    jdk: &Jdk,
    dice: &mut Dice,
    right: &Counts,
) -> Result<(Signal, Stage)> {
    let signal = dice.signal();
    // A little beyond the end, as machines are slower at times.
    let moment = Duration::from_micros(dice.below(u64::try_from(whole.as_micros())? * 11 / 10));
    let mut victim = Victim::start(row, jvm, jdk)?;
    jvm.go()?;
    let began = Instant::now();
    if victim.process.wait_for_zombie(moment).is_ok() {
        *whole = began.elapsed().min(*whole);
    }
    let stage = victim.stage();
    // It may be over already.
    let _ = victim.process.signal(signal);
    if FAULTS.contains(&signal) {
        // Rust's runtime hears the first of some of them, which a real fault repeats at once.
        until("a fault ends jtrace", || {
            let _ = victim.process.signal(signal);
            Ok((!victim.process.is_running()).then_some(()))
        })?;
    }
    if signal == Signal::KILL || FAULTS.contains(&signal) {
        // Until the kernel has taken its sites away it is alive for the next one, which then leaves to it what it owes.
        victim.process.wait_for_exit(LIMIT)?;
    }
    let looked = victim.bury(right).and_then(|()| {
        ensure!(jvm.done()? == *right, "the target counts something else");
        jtrace::succeed(&["list"])?;
        left::is_clean(jvm.pid())?;
        ensure!(jvm.work()? == *right, "the target counts something else afterwards");
        Ok(())
    });
    let what = || format!("{row:?}, {signal:?} after {moment:?}, {stage:?}\n{}", victim.process.transcript());
    looked.with_context(what)?;
    Ok((signal, stage))
}

/// Nothing is woven any more, and nobody is inside: another one would be refused.
fn can_be_visited(jvm: &Jvm) -> Result<()> {
    let pid = jvm.pid().to_string();
    let inside = ["markers", &pid, "--inside", "--marker", "fib=Fib::fib", "--json"];
    let mut refused = None;
    let visit =
        until("nobody is inside any more", || Ok(Session::start(&inside).map_err(|error| refused = Some(error)).ok()));
    visit.with_context(|| format!("{refused:?}"))?.report().map(drop)
}

/// A number in a variable of the environment, where there is one.
pub(crate) fn number(variable: &str) -> Result<Option<u64>> {
    let Some(value) = env::var_os(variable) else { return Ok(None) };
    let value = value.to_str().and_then(|text| text.parse().ok());
    Ok(Some(value.with_context(|| format!("{variable} is no number"))?))
}

#[test]
fn deaths_at_any_moment_of_any_command_leave_the_target_as_it_was() -> Result<()> {
    let times = number("JTRACE_DEATHS")?.unwrap_or(USUAL);
    let by_clock = u64::from(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos());
    let seed = number("JTRACE_DEATHS_SEED")?.unwrap_or(by_clock);
    println!("deaths: {times}, seed {seed}");
    // A session of each command comes before the deaths of a release, and takes as long as these.
    let jdks = jdk::oldest_and_newest()?;
    let rows: Vec<Row> =
        COMMANDS.into_iter().filter(|row| times >= WITH_MEASUREMENTS || row.1 != Watches::Own).collect();
    let each = times.div_ceil(jdks.len() as u64);
    // Releases go side by side: a death is mostly waiting, and what one jtrace owes to its target is no other target's.
    let outcomes: Vec<_> = thread::scope(|scope| {
        let of_one = |(jdk, number): (_, u64)| {
            let rows = &rows;
            scope.spawn(move || {
                let (mut dice, mut tally) = (Dice(seed.wrapping_add(number)), Tally::default());
                let died = of_release(jdk, rows, each, &mut dice, &mut tally);
                (tally, died.with_context(|| format!("JDK {}, seed {seed}", jdk.release)))
            })
        };
        let all: Vec<_> = jdks.iter().zip(0..).map(of_one).collect();
        all.into_iter().map(|one| one.join().expect("it does not panic")).collect()
    });
    let (tallies, died): (Vec<Tally>, Vec<Result<()>>) = outcomes.into_iter().unzip();
    print!("{}", tallies.into_iter().sum::<Tally>());
    died.into_iter().collect()
}

fn of_release(jdk: &Jdk, rows: &[Row], times: u64, dice: &mut Dice, tally: &mut Tally) -> Result<()> {
    let mut jvm = Launch::new(jdk, "methods", "Fib").log("redefine*=info").start()?;
    let right = jvm.work()?;
    let mut moments = Vec::new();
    for row in rows.iter().copied() {
        moments.push(whole(row, &mut jvm, jdk, &right).with_context(|| format!("{row:?}"))?);
    }
    let before = Left::settled(jvm.pid())?;
    for _ in 0..times {
        let index = usize::try_from(dice.below(rows.len() as u64))?;
        let row = rows[index];
        let (signal, stage) = kill(row, &mut moments[index], &mut jvm, jdk, dice, &right)?;
        tally.add(jdk.release, row.0, signal, stage);
        ensure!(jvm.process().is_running(), "the JVM is gone");
    }
    for flag in super::ending::FLAGS {
        ensure!(jvm.flag(flag)? == "false", "{flag} is up");
    }
    can_be_visited(&jvm)?;
    left::nothing_is_woven(&jvm)?;
    let after = Left::settled(jvm.pid())?;
    if after != before {
        bail!("left in the target: {:#?}", after.beyond(&before));
    }
    jvm.finish().map(drop)
}
