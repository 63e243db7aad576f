//! `cargo xtask bench`: measures what jtrace promises, on this machine, and compares it with `tests/budgets/bench.txt`;
//! `cargo xtask bench guard` holds it to ratios alone. Neither is part of `cargo xtask test`: the machine decides them.
//!
//! Needs root, as jtrace does. Times depend on what else the machine does; the figures that must hold anywhere are ratios,
//! growth, and limits with plenty of room.

mod attach;
mod budget_inside;
mod busy;
mod code;
mod decode;
mod distinct;
mod estimates;
mod guard;
mod inside;
mod list;
mod methods;
mod own;
mod page;
mod parking;
mod rounds;
mod unwinding;

mod budget;
pub(crate) mod statistics;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Result, bail};
use clap::Args;
use tests::jdk;

use self::{
    budget::{Budget, Figure},
    inside::What,
};
use crate::{build, jdks, process, workloads, workspace};

/// What to measure, and how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Fewer repetitions: less than ten minutes, and less of the suite
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Measure only these, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Part>,

    /// Another jtrace, which takes turns with this one where its own CPU time is measured
    #[arg(long, value_name = "JTRACE")]
    before: Option<PathBuf>,

    #[command(subcommand)]
    command: Option<Subcommand>,
}

/// What else can be measured.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
enum Subcommand {
    /// Hold jtrace to the ratios of `tests/budgets/programs.txt` and `events.txt`, in three to five minutes.
    Guard,
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Attaching, the first event, detaching; on real programs jtrace's own CPU time for it, and in ten seconds
    Attach,
    /// Looking at a machine with fifty JVMs
    List,
    /// Attaching and detaching many times
    Rounds,
    /// Decoding and analysing a recording
    Decode,
    /// jtrace's own CPU and memory
    Own,
    /// The slowdown of a busy target
    Slowdown,
    /// The slowdown of a target that the rate guard has to relieve
    Parking,
    /// Unwinding in the kernel
    Unwind,
    /// CPU samples: the slowdown of a busy target, and jtrace's own CPU
    Cpu,
    /// Memory for 100,000 stacks
    Distinct,
    /// Attaching to a JVM with much compiled code
    Code,
    /// Opening a page of 100,000 stacks, and one of 10 minutes of 5,000 events a second
    Page,
    /// What a hit costs where methods are looked at, beside the least possible and bpftrace
    Methods,
    /// How often intervals of what is sampled cover the truth. Only where it is named
    Estimates,
    /// All of the inside lane: hot loop, iterators, weaving, File, and the suite
    Inside,
    /// A hot loop with a marker: off, counted, sent, and restored
    InsideHot,
    /// A program that is bound by iterators, under properties of them
    InsideIterators,
    /// Coming, weaving a thousand methods, and leaving
    InsideWeaving,
    /// How slow a large program is while it is woven and when jtrace has left, and for how long
    InsideTransient,
    /// The events of File Main, with and without adaptation
    InsideFile,
    /// Markers on shares of the methods of the packaged suite; hours, and with --quick half of one. Only where it is named
    InsideSuite,
    /// The inside lane within its budget, and what marks and symbols cost
    InsideBudget,
}

const PARTS: [Part; 21] = [
    Part::Attach,
    Part::List,
    Part::Rounds,
    Part::Decode,
    Part::Own,
    Part::Slowdown,
    Part::Parking,
    Part::Unwind,
    Part::Cpu,
    Part::Distinct,
    Part::Code,
    Part::Page,
    Part::Methods,
    Part::Estimates,
    Part::InsideHot,
    Part::InsideIterators,
    Part::InsideWeaving,
    Part::InsideTransient,
    Part::InsideFile,
    Part::InsideSuite,
    Part::InsideBudget,
];

/// What the names of figures of [`Part::InsideSuite`] begin with.
const SUITE: &str = "inside_suite_";

/// How often things are measured.
struct Effort {
    attaches: usize,
    programs: usize,
    rounds: usize,
    events: u64,
    decodes: usize,
    watch: Duration,
    pairs: usize,
    unwindings: usize,
    pages: usize,
    hits: usize,
    estimates: usize,
    inside: usize,
    transients: usize,
    iterators: inside::Iterators,
    suite: inside::Size,
}

const FULL: Effort = Effort {
    attaches: 9,
    programs: 5,
    rounds: 200,
    events: 5_000_000,
    decodes: 5,
    watch: Duration::from_secs(30),
    pairs: 16,
    unwindings: 15,
    pages: 5,
    hits: 15,
    estimates: 20,
    inside: 9,
    transients: 5,
    iterators: inside::Iterators { rounds: 9, short: true, blocks: [24, 8], passes_told: 20 },
    suite: inside::Size { words: &["--runs", "5", "--warm-up", "2", "--iterations", "5", "--settle", "2m"] },
};
const QUICK: Effort = Effort {
    attaches: 5,
    programs: 3,
    rounds: 20,
    events: 2_000_000,
    decodes: 3,
    watch: Duration::from_secs(10),
    pairs: 6,
    unwindings: 5,
    pages: 3,
    hits: 5,
    estimates: 5,
    inside: 3,
    transients: 2,
    // Some two minutes, with both JDKs.
    iterators: inside::Iterators { rounds: 2, short: false, blocks: [20, 8], passes_told: 10 },
    suite: inside::Size {
        words: &[
            "--programs",
            "h2,ecj,xalan,sunflow",
            "--size",
            "small",
            "--runs",
            "2",
            "--warm-up",
            "10",
            "--iterations",
            "15",
            "--settle",
            "45s",
        ],
    },
};

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if !process::is_root() {
        bail!("measuring needs root, as attaching does: run it with sudo -E");
    }
    jdks::run(&jdks::Options::default())?;
    workloads::run(&workloads::Options::default())?;
    // Who names a jtrace measures that one.
    if std::env::var_os("JTRACE_BIN").is_none() {
        build::run(&build::Options::default())?;
    }
    if let Some(Subcommand::Guard) = options.command {
        return guard::run().map(|()| ExitCode::SUCCESS);
    }
    let needs_library = |part: Part| !part.is_inside() && !matches!(part, Part::Estimates | Part::List);
    if PARTS.into_iter().any(|part| options.asks_for(part) && needs_library(part)) {
        build_measure()?;
    }
    let effort = if options.quick { QUICK } else { FULL };
    let mut figures = Vec::new();
    let mut failed = Vec::new();
    for part in PARTS {
        if options.asks_for(part) {
            eprintln!("bench: {part:?}");
            match measure(part, &effort, options.before.as_deref()) {
                Ok(measured) => figures.extend(measured),
                // What was measured before it may have taken hours.
                Err(error) => failed.push(format!("{part:?}: {error:#}")),
            }
        }
    }
    let budget = Budget::read(&workspace::root().join("tests/budgets/bench.txt"))?;
    let unused: Vec<&str> = budget.unused(&figures).into_iter().filter(|name| !name.starts_with(SUITE)).collect();
    if options.only.is_empty() && failed.is_empty() && !unused.is_empty() {
        bail!("the budget names figures that there are not: {}", unused.join(", "));
    }
    if options.json {
        print_json(&figures, &budget);
    } else {
        print_text(&figures, &budget);
    }
    if !failed.is_empty() {
        bail!("not everything was measured: {}", failed.join("; "));
    }
    let holds = |figure: &Figure| {
        figure.is_absent() || budget.limit(&figure.name).is_none_or(|limit| limit.holds(figure.value))
    };
    Ok(if figures.iter().all(holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Options {
    /// Whether a part is measured.
    fn asks_for(&self, part: Part) -> bool {
        if self.only.is_empty() {
            return !matches!(part, Part::InsideSuite | Part::Estimates);
        }
        self.only.contains(&part) || part.is_inside() && self.only.contains(&Part::Inside)
    }
}

impl Part {
    /// Whether it is of the inside lane.
    const fn is_inside(self) -> bool {
        use Part::{
            Inside, InsideBudget, InsideFile, InsideHot, InsideIterators, InsideSuite, InsideTransient, InsideWeaving,
        };
        let of_its_own = matches!(self, Inside | InsideHot | InsideIterators | InsideWeaving | InsideFile);
        of_its_own || matches!(self, InsideSuite | InsideTransient | InsideBudget)
    }
}

fn measure(part: Part, effort: &Effort, before: Option<&Path>) -> Result<Vec<Figure>> {
    let jdk = jdk::any()?;
    let Effort { attaches, rounds, events, decodes, watch, pairs, unwindings, pages, hits, .. } = effort;
    match part {
        Part::Attach => {
            let own = own::measure(&jdk, effort.programs, before)?;
            Ok([attach::measure(&jdk, *attaches)?, own].concat())
        }
        Part::List => list::measure(&jdk, *attaches),
        Part::Rounds => rounds::measure(&jdk, *rounds),
        Part::Decode => decode::measure(*events, *decodes),
        Part::Own => busy::own_cost(&jdk, *watch),
        Part::Slowdown => busy::slowdown(&jdk, *pairs),
        Part::Parking => parking::measure(&jdk, *pairs),
        Part::Unwind => unwinding::measure(&jdk, *unwindings),
        Part::Cpu => busy::cpu_lens(&jdk, *watch, *pairs),
        Part::Distinct => distinct::measure(&jdk),
        Part::Code => code::measure(&jdk, *attaches),
        Part::Page => page::measure(*pages),
        Part::Methods => methods::measure(&jdk, *hits),
        Part::Estimates => estimates::measure(&jdk, effort.estimates),
        // Its parts stand for themselves.
        Part::Inside => Ok(Vec::new()),
        Part::InsideHot => inside::measure(What::Hot, effort),
        Part::InsideIterators => inside::measure(What::Iterators, effort),
        Part::InsideWeaving => inside::measure(What::Weaving, effort),
        Part::InsideTransient => inside::transient(effort.transients),
        Part::InsideFile => inside::measure(What::File, effort),
        Part::InsideSuite => inside::measure(What::Suite, effort),
        Part::InsideBudget => budget_inside::measure(&jdk, effort.inside),
    }
}

/// Builds the part that needs jtrace's library.
pub(crate) fn build_measure() -> Result<()> {
    process::run(process::cargo().args(["build", "--quiet", "--locked", "--release"]).args([
        "--package",
        "tracer",
        "--example",
        "measure",
    ]))
}

/// That part.
pub(crate) fn measure_binary() -> PathBuf {
    workspace::target().join("release/examples/measure")
}

fn print_text(figures: &[Figure], budget: &Budget) {
    for figure in figures {
        let Figure { name, value, note } = figure;
        if figure.is_absent() {
            println!("{name:<32} {:>10}  {:<8} {:<8}  {note}", "absent", "", "");
            continue;
        }
        let limit = budget.limit(name);
        let verdict = match limit {
            Some(limit) if limit.holds(*value) => "ok",
            Some(_) => "TOO MUCH",
            None => "",
        };
        let limit = limit.map(budget::Limit::shown).unwrap_or_default();
        println!("{name:<32} {value:>10.2}  {limit:<8} {verdict:<8}  {note}");
    }
}

fn print_json(figures: &[Figure], budget: &Budget) {
    let objects: Vec<_> = figures
        .iter()
        .map(|Figure { name, value, note }| {
            let limit = budget.limit(name);
            let holds = limit.filter(|_| !value.is_nan()).map(|limit| limit.holds(*value));
            serde_json::json!({"name": name, "value": value, "limit": limit.map(budget::Limit::shown), "holds": holds, "note": note})
        })
        .collect();
    println!("{}", serde_json::Value::from(objects));
}
