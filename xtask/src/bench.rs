//! `cargo xtask bench`: measures what jtrace promises, on this machine, and compares it with `tests/budgets/bench.txt`;
//! `cargo xtask bench guard` holds it to ratios alone, and CI runs that.
//!
//! Needs root, as jtrace does. Times depend on what else the machine does; the figures that must hold anywhere are ratios,
//! growth, and limits with plenty of room.

mod attach;
mod budget_inside;
mod busy;
mod code;
mod decode;
mod distinct;
mod guard;
mod methods;
mod page;
mod rounds;
mod unwinding;

mod budget;
mod statistics;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Result, bail};
use clap::Args;
use tests::jdk;

use self::budget::{Budget, Figure};
use crate::{build, jdks, process, workloads, workspace};

/// What to measure, and how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Fewer repetitions: less than four minutes
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Measure only these, separated by commas
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Part>,

    #[command(subcommand)]
    command: Option<Subcommand>,
}

/// What else can be measured.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
enum Subcommand {
    /// Hold jtrace to the ratios of `tests/budgets/programs.txt` and `events.txt`, in three to five minutes.
    Guard,
}

/// Holds jtrace to its ratios; needs what `cargo xtask test` has made before.
pub(crate) fn guard() -> Result<()> {
    guard::run()
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Attaching, the first event, detaching
    Attach,
    /// Attaching and detaching many times
    Rounds,
    /// Decoding and analysing a recording
    Decode,
    /// jtrace's own CPU and memory
    Own,
    /// The slowdown of a busy target
    Slowdown,
    /// Unwinding in the kernel
    Unwind,
    /// CPU samples: the slowdown of a busy target, and jtrace's own CPU
    Cpu,
    /// Memory for 100,000 stacks
    Distinct,
    /// Attaching to a JVM with much compiled code
    Code,
    /// Opening a page of 100,000 stacks
    Page,
    /// What a hit costs where methods are looked at, beside the least possible and bpftrace
    Methods,
    /// The inside lane within its budget, and what marks and symbols cost
    BudgetInside,
}

const PARTS: [Part; 12] = [
    Part::Attach,
    Part::Rounds,
    Part::Decode,
    Part::Own,
    Part::Slowdown,
    Part::Unwind,
    Part::Cpu,
    Part::Distinct,
    Part::Code,
    Part::Page,
    Part::Methods,
    Part::BudgetInside,
];

/// Parts for which a program is built with jtrace's library.
const NEEDS_LIBRARY: [Part; 4] = [Part::Rounds, Part::Decode, Part::Page, Part::Methods];

/// How often things are measured.
struct Effort {
    attaches: usize,
    rounds: usize,
    events: u64,
    decodes: usize,
    watch: Duration,
    pairs: usize,
    unwindings: usize,
    pages: usize,
    hits: usize,
    inside: usize,
}

const FULL: Effort = Effort {
    attaches: 9,
    rounds: 200,
    events: 5_000_000,
    decodes: 5,
    watch: Duration::from_secs(30),
    pairs: 16,
    unwindings: 15,
    pages: 5,
    hits: 15,
    inside: 7,
};
const QUICK: Effort = Effort {
    attaches: 5,
    rounds: 20,
    events: 2_000_000,
    decodes: 3,
    watch: Duration::from_secs(10),
    pairs: 6,
    unwindings: 5,
    pages: 3,
    hits: 5,
    inside: 3,
};

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if !process::is_root() {
        bail!("measuring needs root, as attaching does: run it with sudo -E");
    }
    jdks::run(&jdks::Options::default())?;
    workloads::run(&workloads::Options::default())?;
    // A binary that is named is measured as it is.
    if std::env::var_os("JTRACE_BIN").is_none() {
        build::run(&build::Options::default())?;
    }
    if let Some(Subcommand::Guard) = options.command {
        return guard().map(|()| ExitCode::SUCCESS);
    }
    if options.only.is_empty() || options.only.iter().any(|part| NEEDS_LIBRARY.contains(part)) {
        build_measure()?;
    }
    let effort = if options.quick { QUICK } else { FULL };
    let mut figures = Vec::new();
    for part in PARTS {
        if options.only.is_empty() || options.only.contains(&part) {
            eprintln!("bench: {part:?}");
            figures.extend(measure(part, &effort)?);
        }
    }
    let budget = Budget::read(&workspace::root().join("tests/budgets/bench.txt"))?;
    if options.only.is_empty() && !budget.unused(&figures).is_empty() {
        bail!("the budget names figures that there are not: {}", budget.unused(&figures).join(", "));
    }
    if options.json {
        print_json(&figures, &budget);
    } else {
        print_text(&figures, &budget);
    }
    let holds =
        |figure: &Figure| figure.is_absent() || budget.limit(figure.name).is_none_or(|limit| limit.holds(figure.value));
    Ok(if figures.iter().all(holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(part: Part, effort: &Effort) -> Result<Vec<Figure>> {
    let jdk = jdk::any()?;
    let Effort { attaches, rounds, events, decodes, watch, pairs, unwindings, pages, hits, inside } = effort;
    match part {
        Part::Attach => attach::measure(&jdk, *attaches),
        Part::Rounds => rounds::measure(&jdk, *rounds),
        Part::Decode => decode::measure(*events, *decodes),
        Part::Own => busy::own_cost(&jdk, *watch),
        Part::Slowdown => busy::slowdown(&jdk, *pairs),
        Part::Unwind => unwinding::measure(&jdk, *unwindings),
        Part::Cpu => busy::cpu_lens(&jdk, *watch, *pairs),
        Part::Distinct => distinct::measure(&jdk),
        Part::Code => code::measure(&jdk, *attaches),
        Part::Page => page::measure(*pages),
        Part::Methods => methods::measure(&jdk, *hits),
        Part::BudgetInside => budget_inside::measure(&jdk, *inside),
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
