//! What watching costs: slowdown of each program in each configuration, and what the observers took and saw.

use super::{
    answers,
    document::{Block, Cell, Column, Kind, Row, Runs, Section, Table},
    plot, words,
};
use crate::{
    bench::{
        comparison::{Comparison, Figures, Plain, Quantity},
        configuration::PLAIN,
        statistics::Quartiles,
    },
    text::{column, format::whole},
};

/// Programs and configurations, and the mean over programs.
pub(super) fn slowdown(figures: &Figures, runs: &Runs<'_>) -> Section {
    let mut columns = vec![Column::words("program"), Column::numbers(PLAIN)];
    columns.extend(figures.configurations.iter().map(Column::numbers));
    let mut table = Table::new(format!("Time of an iteration against {PLAIN}"), 1, columns);
    table.rows.extend(figures.programs.iter().map(|program| slowdown_row(figures, program)));
    if !figures.configurations.is_empty() {
        table.rows.push(mean_row(figures));
    }
    table.notes.push(format!("{PLAIN}: the median time, and the quarter below and above it."));
    table.minor = "nothing ran";
    let plots = plot::forests(figures).into_iter().chain(plot::strips(figures, runs));
    Section::new("Slowdown", [Block::Table(table)].into_iter().chain(plots.map(Block::Plot)).collect())
}

fn slowdown_row(figures: &Figures, program: &str) -> Row {
    let plain = figures.plain.iter().find(|plain| plain.program == program);
    let mut cells = vec![Cell::usual(program), plain.map_or_else(|| Cell::quiet("not run"), plain_cell)];
    cells.extend(figures.configurations.iter().map(|configuration| {
        match figures.comparison(program, configuration).map(|comparison| &comparison.slowdown) {
            Some(Some(slowdown)) => words::slowdown(slowdown),
            Some(None) => Cell::quiet("nothing to compare with"),
            None => Cell::quiet("not run"),
        }
    }));
    Row::new(Kind::Usual, cells)
}

fn plain_cell(plain: &Plain) -> Cell {
    Cell::known(plain.wall_ns, |Quartiles { low, median, high }| {
        format!("{} ({} to {})", column::duration(median), column::duration(low), column::duration(high))
    })
}

fn mean_row(figures: &Figures) -> Row {
    let mut cells = vec![Cell::usual("geometric mean"), Cell::quiet("")];
    cells.extend(figures.configurations.iter().map(|configuration| {
        let Some(mean) = figures.mean(configuration, Quantity::Wall) else { return Cell::quiet(column::MISSING) };
        let mut cell = words::slowdown(&mean.ratio);
        if mean.programs < figures.programs.len() {
            cell.text = format!("{}, {} of {} programs", cell.text, mean.programs, figures.programs.len());
        }
        cell
    }));
    Row::new(Kind::Mean, cells)
}

/// A row for each program and configuration that somebody watched.
pub(super) fn observers(figures: &Figures, runs: &Runs<'_>) -> Section {
    let mut columns = vec![Column::words("program"), Column::words("configuration")];
    columns.extend(
        [
            "slowdown",
            "CPU of the JVM",
            "CPU time of the observer",
            "memory of the observer",
            "events seen",
            "lost",
            "an event costs",
        ]
        .map(Column::numbers),
    );
    columns.push(Column::words("answer"));
    let mut table = Table::new("What each observer cost and saw", 2, columns);
    let watched = figures.comparisons.iter().filter_map(|comparison| {
        let runs = runs.get(&(comparison.program.as_str(), comparison.configuration.as_str()))?;
        runs.iter().any(|run| run.observed.is_some()).then_some((comparison, runs))
    });
    table.rows.extend(watched.map(|(comparison, runs)| observer_row(comparison, answers::cell(runs))));
    Section::new("Observers", vec![Block::Table(table)])
}

fn observer_row(comparison: &Comparison, answer: Cell) -> Row {
    let Comparison {
        program,
        configuration,
        runs: _,
        slowdown,
        cpu,
        observer_cpu_ns,
        observer_peak_rss_bytes,
        events,
        lost,
        right: _,
        partial: _,
        wrong: _,
        ns_per_event,
    } = comparison;
    let missing = || Cell::quiet(column::MISSING);
    let lost = match lost {
        Some(lost) if *lost > 0 => Cell::alarm(column::count(*lost)),
        lost => Cell::known(*lost, column::count),
    };
    let cells = vec![
        Cell::usual(program),
        Cell::usual(configuration),
        slowdown.as_ref().map_or_else(missing, words::slowdown),
        cpu.as_ref().map_or_else(missing, words::change),
        Cell::known(*observer_cpu_ns, column::duration),
        Cell::known(*observer_peak_rss_bytes, |bytes| column::bytes(bytes as f64)),
        Cell::known(*events, |events| column::count(whole(events))),
        lost,
        Cell::known(*ns_per_event, |cost| words::time(&cost)),
        answer,
    ];
    Row::new(Kind::Usual, cells)
}
