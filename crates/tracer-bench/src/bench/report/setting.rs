//! On what and how it was measured: machine, JVM, method, programs, commands, what was skipped, and how figures are made.

use super::{
    document::{Block, Cell, Column, Kind, Row, Runs, Section, Table, cut},
    words,
};
use crate::{
    bench::{
        comparison::Figures,
        configuration::PLAIN,
        results::{Environment, Method, Program, Results, Skipped},
        statistics::{FEWEST, RESAMPLES},
    },
    text::column,
};

/// The name of the whole.
pub(super) fn title(results: &Results) -> String {
    format!("jtrace bench: what watching costs, {}", column::wall_clock(results.started_s.saturating_mul(1000)))
}

pub(super) fn environment(results: &Results) -> Section {
    let Environment { jtrace, kernel, cpu, cpus, memory_bytes, jvm, vendor, collector, max_heap_bytes, flags, tools } =
        &results.environment;
    let Method { runs, warm_up, iterations, settle_ms, size, seed } = &results.method;
    let warm_up = if *settle_ms == 0 {
        format!("{warm_up} that are not timed")
    } else {
        let most = column::duration(settle_ms.saturating_mul(1_000_000) as f64);
        let unsettled = results.runs.iter().filter(|run| run.settled == Some(false)).count();
        format!(
            "{warm_up} or more that are not timed, until compilers are idle ({most} at most; {unsettled} runs were timed before that)"
        )
    };
    let timed = match iterations {
        1 => "one timed iteration".to_owned(),
        several => format!("the mean of {several} timed iterations"),
    };
    let flags = if flags.is_empty() { "none beyond those of programs".to_owned() } else { words::command(flags) };
    let mut facts = vec![
        ("JVM", jvm.clone()),
        ("vendor", vendor.clone()),
        ("collector", collector.clone()),
        ("largest heap", amount(*max_heap_bytes)),
        ("JVM flags", flags),
        ("kernel", kernel.clone()),
        ("CPU", format!("{cpu}, {cpus} cores")),
        ("memory", amount(*memory_bytes)),
        ("jtrace", jtrace.clone()),
    ];
    // It watches, too, and as a rule it is this one.
    let others = tools.iter().filter(|(name, version)| (name.as_str(), *version) != ("jtrace", jtrace));
    facts.extend(others.map(|(name, version)| (name.as_str(), version.clone())));
    let further = results.configuration_flags.iter().map(|(name, flags)| (name.as_str(), words::command(flags)));
    facts.extend(further.map(|(name, flags)| (name, format!("with {flags}"))));
    let order = format!("rounds, each with every program in every configuration once, shuffled with seed {seed}");
    facts.extend([
        ("runs", format!("{runs} of each program in each configuration asked for, {} made", results.runs.len())),
        ("a run", format!("{timed} in a JVM of its own, after {warm_up}")),
        ("size of inputs", size.clone()),
        ("order", order),
    ]);
    let facts = facts.into_iter().map(|(name, value)| (cut(name.to_owned()), cut(value))).collect();
    Section::new("Environment and method", vec![Block::Facts(facts)])
}

/// An amount of memory; 0 stands for one that could not be found out.
fn amount(bytes: u64) -> String {
    if bytes == 0 { "unknown".to_owned() } else { column::bytes(bytes as f64) }
}

pub(super) fn programs(results: &Results) -> Section {
    let columns = vec![
        Column::words("program"),
        Column::words("what it does"),
        Column::words("source"),
        Column::numbers("application methods executed"),
    ];
    let mut table = Table::new("What was run", 1, columns);
    table.rows.extend(results.programs.iter().map(|program| {
        let Program { name, what, source, command: _, application_methods } = program;
        let methods = Cell::known(*application_methods, column::count);
        Row::new(Kind::Usual, vec![Cell::usual(name), Cell::usual(what), Cell::usual(source), methods])
    }));
    Section::new("Programs", vec![Block::Table(table)])
}

/// The commands of the programs, and of each configuration that of its first run with an observer.
pub(super) fn commands(results: &Results, figures: &Figures, runs: &Runs<'_>) -> Section {
    let has_command = |program: &&Program| !program.command.is_empty();
    let programs = results.programs.iter().filter(has_command);
    let programs = programs.map(|program| (cut(program.name.clone()), cut(words::command(&program.command))));
    let observers = figures.configurations.iter().filter_map(|configuration| {
        let mut runs = figures.programs.iter().filter_map(|program| runs.get(&(program.as_str(), configuration)));
        let (program, words) = runs.find_map(|runs| {
            runs.iter().find_map(|run| {
                let words = &run.observed.as_ref()?.command;
                (!words.is_empty()).then_some((&run.program, words))
            })
        })?;
        Some((cut(format!("{configuration}, watching {program}")), cut(words::command(words))))
    });
    let parts = [
        (
            "Programs, without the flags of the session and of the configuration, which stand behind java:",
            programs.collect::<Vec<_>>(),
        ),
        ("Observers, each as it was run first; paths and process ids are those of that run:", observers.collect()),
    ];
    let parts = parts.into_iter().filter(|(_, commands)| !commands.is_empty());
    let blocks =
        parts.flat_map(|(what, commands)| [Block::Paragraph(what.to_owned()), Block::Commands(commands)]).collect();
    Section::new("Commands", blocks)
}

pub(super) fn skipped(results: &Results) -> Section {
    let columns = vec![Column::words("program"), Column::words("configuration"), Column::words("why")];
    let mut table = Table::new("What could not be run", 2, columns);
    let or_all = |name: &Option<String>| name.as_ref().map_or_else(|| Cell::quiet("all"), Cell::usual);
    table.rows.extend(results.skipped.iter().map(|Skipped { program, configuration, why }| {
        Row::new(Kind::Usual, vec![or_all(program), or_all(configuration), Cell::usual(why)])
    }));
    Section::new("Skipped", vec![Block::Table(table)])
}

/// How the figures are made, and what they do not say.
pub(super) fn notes() -> Section {
    let notes = [
        format!(
            "A slowdown is the median, over the rounds, of the time in a configuration over the time of the same program \
             {PLAIN} in the same round. Its interval is the middle 95 % of what comes out when the rounds are drawn again, \
             {RESAMPLES} times (percentile bootstrap of paired ratios). Where too few rounds have both, it is the ratio of \
             the medians."
        ),
        "\"cannot be told from 0\" means that the interval holds no difference at all: whatever the true one is, it is below \
         the limit that is named, in one direction or the other. No number is given then."
            .to_owned(),
        format!("Fewer than {FEWEST} runs make no interval, and without an interval no difference is named."),
        "The geometric mean is over all programs that ran in the configuration; its interval says how certain the \
         measurements make it, not what other programs would give."
            .to_owned(),
        "An event costs the difference of the median times over the events that were seen, where there is a difference. \
         Events and the observer's CPU are medians over the runs; losses and memory are the most of any run."
            .to_owned(),
        "An answer is right where it equals what the program counted of its own work (a closed form in the \
         micro-programs). It is partial where it does not and the observer said itself that it lost or did not watch \
         something, and wrong where it did not say so."
            .to_owned(),
    ];
    Section::new("How to read this", notes.into_iter().map(Block::Paragraph).collect())
}
