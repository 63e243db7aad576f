//! Tables of the lens `locks`.

use super::{
    super::{
        Context,
        distribution::Durations,
        row_steps::COUNT_TOTAL_MAX,
        site,
        table::{Keyed, column},
    },
    Monitor, TimedRows, Waits,
};
use crate::{
    event::{NameId, StackId, Tid},
    lens::Lens,
    report::{Cell, Column, Shape, TableSteps, Unit},
};

/// Contention by monitor.
pub(super) fn monitors(monitors: &Keyed<(NameId, u64), Monitor>, context: Context<'_>) -> Shape {
    let label = |(class, monitor): &(NameId, u64)| Some((context.names.class(*class), *monitor));
    monitors.grouped(label).table(
        "monitors",
        "Contended monitors",
        vec![
            column("class", "Class", Unit::Text),
            column("monitor", "Monitor", Unit::Address),
            column("count", "Enters", Unit::Count),
            column("total_ns", "Blocked", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
            column("threads", "Threads", Unit::Count),
        ],
        |row| row.durations.total_ns,
        |(class, monitor)| vec![class.into(), monitor.into()],
        |row| {
            let Durations { count: _, total_ns, max_ns } = row.durations;
            vec![row.enters.into(), total_ns.into(), max_ns.into(), row.threads.into()]
        },
    )
}

/// Contention by class.
pub(super) fn classes(monitors: &Keyed<(NameId, u64), Monitor>, context: Context<'_>) -> Shape {
    monitors.grouped(|(class, _)| Some(context.names.class(*class))).table(
        "classes",
        "Contended monitors by class",
        vec![
            column("class", "Class", Unit::Text),
            column("count", "Enters", Unit::Count),
            column("total_ns", "Blocked", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
            column("monitors", "Monitors", Unit::Count),
        ],
        |row| row.durations.total_ns,
        |class| vec![class.into()],
        |row| {
            let Durations { count: _, total_ns, max_ns } = row.durations;
            vec![row.enters.into(), total_ns.into(), max_ns.into(), row.monitors.into()]
        },
    )
}

/// Waits by class.
pub(super) fn waits(waits: &Keyed<NameId, Waits>, context: Context<'_>) -> Shape {
    waits.grouped(|class| Some(context.names.class(*class))).table(
        "waits",
        "Waits and notifications by class",
        vec![
            column("class", "Class", Unit::Text),
            column("count", "Waits", Unit::Count),
            column("total_ns", "Waited", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
            column("notifies", "Notifies", Unit::Count),
        ],
        |row| row.durations.total_ns,
        |class| vec![class.into()],
        |row| {
            let Durations { count: _, total_ns, max_ns } = row.durations;
            let notifies = context.target.knows(Lens::Locks, "notifies").then_some(row.notifies);
            vec![row.begun.into(), total_ns.into(), max_ns.into(), notifies.into()]
        },
    )
}

/// Durations by thread as a table.
pub(super) fn threads(rows: &Keyed<Tid, Durations>, context: Context<'_>, id: &'static str, title: &str) -> Shape {
    let columns: Vec<Column> = vec![
        column("thread", "Thread", Unit::Text),
        column("tid", "Thread id", Unit::Count),
        column("count", "Count", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("max_ns", "Max", Unit::Ns),
    ];
    rows.grouped(|tid| Some((context.names.thread(*tid), *tid))).table(
        id,
        title,
        columns,
        |durations| durations.total_ns,
        |(name, tid)| vec![name.into(), u64::from(tid.0).into()],
        |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
    )
}

/// Blocked time by class and place in the program; nothing where no stack was asked for.
pub(super) fn waiters(rows: &Keyed<(NameId, StackId), Durations>, context: Context<'_>) -> Option<Shape> {
    let table =
        rows.grouped(|(class, stack)| Some((context.names.class(*class), site::label(context.stacks, *stack)))).table(
            "waiters",
            "Places where threads were blocked",
            vec![
                column("class", "Class", Unit::Text),
                column("site", "Place", Unit::Text),
                column("count", "Count", Unit::Count),
                column("total_ns", "Blocked", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
            ],
            |durations| durations.total_ns,
            |(class, site)| vec![class.into(), site.into()],
            |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
        );
    site::any_asked(rows.iter().map(|((_, stack), _)| *stack)).then_some(table)
}

/// When the amounts of these tables came.
pub(super) fn steps(timed: &TimedRows, context: Context<'_>) -> Vec<TableSteps> {
    let class = |class: &NameId| context.names.class(*class);
    let thread = |tid: &Tid| Some((context.names.thread(*tid), *tid));
    let of_thread = |(name, tid): (String, Tid)| vec![Cell::from(name), u64::from(tid.0).into()];
    let place = |(of, stack): &(NameId, StackId)| Some((class(of), site::label(context.stacks, *stack)));
    let id = |table| (Lens::Locks.id(), table);
    vec![
        timed.monitors.table(
            id("monitors"),
            &COUNT_TOTAL_MAX,
            |(of, monitor)| Some((class(of), *monitor)),
            |(class, monitor)| vec![class.into(), monitor.into()],
        ),
        timed.monitors.table(id("classes"), &COUNT_TOTAL_MAX, |(of, _)| Some(class(of)), |class| vec![class.into()]),
        timed.threads.table(id("threads"), &COUNT_TOTAL_MAX, thread, of_thread),
        timed.waiters.table(id("waiters"), &COUNT_TOTAL_MAX, place, |(class, site)| vec![class.into(), site.into()]),
        timed.waits.table(id("waits"), &COUNT_TOTAL_MAX, |of| Some(class(of)), |class| vec![class.into()]),
        timed.parks.table(id("parks"), &COUNT_TOTAL_MAX, thread, of_thread),
    ]
}
