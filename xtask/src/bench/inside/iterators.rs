//! A program that is bound by its iterators, under properties of iterators: each call of `hasNext()` and `next()` is a symbol.
//!
//! Its lists are as long, and the work between two calls is as much, as MTF's table says of bloat: 157 calls for each event of `HasNextOnce`
//! (147,604,481 to 941,270), and 45 calls a microsecond (in 3,277 ms). With short lists the cost of following one more object shows, which
//! long ones hide.

use std::fs;

use ::tests::{
    jdk::Jdk,
    jvm::{Jvm, Launch},
};
use anyhow::{Context as _, Result, ensure};

use super::{UNGUARDED, Work, block, events, figure, visit};
use crate::bench::{
    budget::Figure,
    methods,
    statistics::{Random, median},
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(in crate::bench) struct Size {
    /// JVMs.
    pub(in crate::bench) rounds: usize,
    /// Whether the program with short lists is measured as well.
    pub(in crate::bench) short: bool,
    /// Blocks before those that are timed, and those.
    pub(in crate::bench) blocks: [usize; 2],
    /// Passes of a block where every symbol is told: that takes jtrace longer than the program.
    pub(in crate::bench) passes_told: u64,
}

/// Passes of a block: more than a tenth of a second where nobody watches. Not each has a collection; means have all of them.
const PASSES: u64 = 100;
const WORK: Work = Work { units: PASSES, other: None };
/// Every symbol is told: the burst needs room.
const TOLD: [&str; 3] = ["--no-adaptive", "--ring-size", "64m"];

/// A property, and how it is told.
#[derive(Clone, Copy, Debug)]
struct Watcher {
    figure: &'static str,
    property: &'static str,
    how: &'static [&'static str],
}

/// A program, by the length of its lists.
#[derive(Clone, Copy, Debug)]
struct Program {
    /// What the names of its figures begin with.
    prefix: &'static str,
    length: &'static str,
}

const PROGRAMS: [Program; 2] = [Program { prefix: "", length: "75" }, Program { prefix: "short_", length: "12" }];

const WATCHERS: [Watcher; 4] = [
    Watcher { figure: "hasnext_adaptive_ratio", property: "hasnext", how: &[] },
    Watcher { figure: "hasnext_ratio", property: "hasnext", how: &TOLD },
    Watcher { figure: "hasnextonce_adaptive_ratio", property: "hasnextonce", how: &[] },
    Watcher { figure: "hasnextonce_ratio", property: "hasnextonce", how: &TOLD },
];

/// What one JVM found.
struct Round {
    /// Nanoseconds for each pass, of the best block and in the mean of all, before anybody came, and after all have left.
    never: [f64; 2],
    restored: [f64; 2],
    /// The same for each watcher, and what it saw.
    watched: [Watched; WATCHERS.len()],
    /// Calls of iterators in a pass, by the program's own count.
    calls: f64,
}

#[derive(Clone, Copy, Default)]
struct Watched {
    ns: [f64; 2],
    /// In a pass: objects that were followed, symbols that were told one by one, and those that were counted in the JVM.
    objects: f64,
    events: f64,
    suppressed: f64,
    lost: u64,
}

pub(super) fn measure(jdk: &Jdk, size: &Size) -> Result<Vec<Figure>> {
    let mut random = Random::from_clock();
    let mut all = Vec::new();
    for program in PROGRAMS.iter().take(if size.short { PROGRAMS.len() } else { 1 }) {
        let rounds: Vec<Round> =
            (0..size.rounds).map(|_| round(jdk, program, size, &mut random)).collect::<Result<_>>()?;
        all.extend(figures(jdk, program, &rounds));
    }
    Ok(all)
}

/// All watchers once, in any order.
fn round(jdk: &Jdk, program: &Program, size: &Size, random: &mut Random) -> Result<Round> {
    let mut jvm = Launch::new(jdk, "inside", "Iterators").arguments(&[program.length]).start()?;
    methods::pin(jvm.pid(), methods::CPUS[0])?;
    let never = best_cpu(&mut jvm, WORK, size.blocks)?;
    jvm.process().send_line(&PASSES.to_string())?;
    let calls = jvm.done()?.get("calls")? as f64 / PASSES as f64;
    let mut round = Round { never, restored: [f64::NAN; 2], watched: <[Watched; WATCHERS.len()]>::default(), calls };
    let mut order: Vec<usize> = (0..WATCHERS.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    for index in order {
        round.watched[index] = watched(&mut jvm, &WATCHERS[index], size, calls)?;
    }
    round.restored = best_cpu(&mut jvm, WORK, size.blocks)?;
    jvm.finish()?;
    Ok(round)
}

fn watched(jvm: &mut Jvm, watcher: &Watcher, size: &Size, calls: f64) -> Result<Watched> {
    let work = if watcher.how.is_empty() { WORK } else { Work { units: size.passes_told, ..WORK } };
    let session = visit(jvm, "typestate", &[&["-p", watcher.property], watcher.how, &UNGUARDED].concat())?;
    let ns = best_cpu(jvm, work, size.blocks)?;
    let report = session.report()?;
    let passes = (work.units * size.blocks.iter().sum::<usize>() as u64) as f64;
    let in_a_pass = |key| Ok::<_, anyhow::Error>(report.summary("typestate", key)? as f64 / passes);
    let (events, lost) = (events(&report, "typestate")? as f64 / passes, report.completeness("lost")?);
    let (objects, suppressed) = (in_a_pass("objects")?, in_a_pass("suppressed")?);
    ensure!(lost > 0 || events + suppressed >= calls, "{watcher:?}: {} of {calls} calls", events + suppressed);
    Ok(Watched { ns, objects, events, suppressed, lost })
}

/// What a block of work takes, in ns of CPU time of the whole JVM for each unit of work, its collectors and jtrace's own thread included: the
/// best of some after others that nobody times, and the mean. The clock on the wall would say what else the machine does.
fn best_cpu(jvm: &mut Jvm, work: Work, [warm_up, blocks]: [usize; 2]) -> Result<[f64; 2]> {
    for _ in 0..warm_up {
        block(jvm, work)?;
    }
    let (mut best, mut sum) = (u64::MAX, 0);
    for _ in 0..blocks {
        let before = cpu_ns(jvm.pid())?;
        block(jvm, work)?;
        let took = cpu_ns(jvm.pid())?.saturating_sub(before);
        (best, sum) = (best.min(took), sum + took);
    }
    Ok([best as f64, sum as f64 / blocks as f64].map(|ns| ns / work.units as f64))
}

/// CPU time of all threads of a process.
fn cpu_ns(pid: u32) -> Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // One that ends meanwhile has nothing more to say.
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else { continue };
        sum += text.split(' ').next().context("an empty schedstat")?.parse::<u64>()?;
    }
    Ok(sum)
}

impl Round {
    /// What all are compared with: the better of both times without anybody, as the JVM does not compile everything equally well each time.
    const fn plain(&self) -> f64 {
        self.never[0].min(self.restored[0])
    }

    /// The same of the means.
    const fn plain_mean(&self) -> f64 {
        self.never[1].min(self.restored[1])
    }
}

fn figures(jdk: &Jdk, program: &Program, rounds: &[Round]) -> Vec<Figure> {
    let of = |value: &dyn Fn(&Round) -> f64| rounds.iter().map(value).collect::<Vec<f64>>();
    let calls = median(&of(&|round| round.calls));
    let per_ms = median(&of(&|round| round.calls / round.plain() * 1e6));
    let named = |name: &str| format!("{}{name}", program.prefix);
    let note = format!(": after jtrace has left; the program makes {per_ms:.0} calls of iterators a ms");
    let restored =
        figure(&named("iterators_restored_ratio"), jdk, &of(&|round| round.restored[0] / round.never[0]), "", &note);
    let ratios = WATCHERS.iter().enumerate().map(|(index, watcher)| {
        let watched = |round: &Round| round.watched[index];
        let ns = median(&of(&|round| (watched(round).ns[0] - round.plain()) / round.calls));
        let [objects, events, suppressed] = [
            &(|round: &Round| watched(round).objects) as &dyn Fn(&Round) -> f64,
            &|round: &Round| watched(round).events,
            &|round: &Round| watched(round).suppressed,
        ]
        .map(|value| median(&of(value)));
        let lost: u64 = rounds.iter().map(|round| watched(round).lost).sum();
        let mean = median(&of(&|round| watched(round).ns[1] / round.plain_mean()));
        let note = format!(
            "; {mean:.2} in the mean of blocks; {ns:.1} ns a call; a pass has {calls:.0} calls: {objects:.0} objects, {events:.0} events told, \
             {suppressed:.0} counted (suppressed), {lost} lost"
        );
        figure(&named(watcher.figure), jdk, &of(&|round| watched(round).ns[0] / round.plain()), "", &note)
    });
    ratios.chain([restored]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_compared_with_its_own_plain_run() {
        let jdk = Jdk { release: 25, home: "/".into() };
        let round = |plain: f64| Round {
            never: [1.2 * plain; 2],
            restored: [plain; 2],
            watched: [1.5, 2.0, 1.1, 1.8].map(|ratio| Watched {
                ns: [plain * ratio, 2.0 * plain * ratio],
                objects: 3.0,
                events: 50.0,
                suppressed: 50.0,
                lost: 0,
            }),
            calls: 100.0,
        };
        let figures = figures(&jdk, &PROGRAMS[0], &[round(1000.0), round(3000.0), round(1000.0)]);
        let found = |name: &str| figures.iter().find(|figure| figure.name == name).unwrap();
        assert!((found("inside_hasnext_adaptive_ratio_25").value - 1.5).abs() < 1e-9);
        assert!((found("inside_hasnextonce_adaptive_ratio_25").value - 1.1).abs() < 1e-9);
        let note = &found("inside_hasnext_ratio_25").note;
        assert!(note.contains("4.00 in the mean of blocks"), "{note}");
        assert!(note.contains("10.0 ns a call; a pass has 100 calls: 3 objects, 50 events told, 50 counted"), "{note}");
    }
}
