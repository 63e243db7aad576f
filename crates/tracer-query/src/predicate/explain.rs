//! A predicate's cost in words: what is decided before the trap, in the kernel and in user space.

use std::fmt::Write as _;

use super::{
    Predicate,
    field::Kind,
    graph,
    split::{Armed, Moment, Split, Why},
};
use crate::text::{
    column::{duration, percent},
    escape,
};

/// What is known about the machine and the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Nanoseconds that a trap takes here.
    pub trap_ns: f64,
    /// Events per second of what is armed, if that was measured.
    pub events_per_s: Option<f64>,
    /// The things (methods, classes, functions) whose events can be wanted, and all of them, if they were counted.
    pub armed: Option<(u64, u64)>,
}

/// The three levels and the expected cost, as text of several lines; harmless on a terminal.
pub fn explain(predicate: &Predicate, split: &Split, costs: &Costs) -> String {
    let mut lines = Vec::new();
    before(predicate, costs, &mut lines);
    kernel(split, &mut lines);
    user(predicate, split, &mut lines);
    cost(split, costs, &mut lines);
    let mut text = String::new();
    for line in lines {
        // Writing to a string does not fail.
        let _: std::fmt::Result = writeln!(text, "{}", escape::terminal(&line));
    }
    text
}

fn before(predicate: &Predicate, costs: &Costs, lines: &mut Vec<String>) {
    let subjects = predicate.kind.subjects();
    lines.push("before the trap".to_owned());
    match predicate.armed() {
        Armed::If(condition) => lines.push(format!("  {subjects} that can match: {}", graph::short(&condition))),
        Armed::All => lines.push(format!("  no name rules any of the {subjects} out: all must be armed")),
        Armed::None => lines.push(format!("  the predicate cannot hold: none of the {subjects} need be armed")),
    }
    match costs.armed {
        Some((matching, total)) => lines.push(format!(
            "  {matching} of {total} {subjects} can match; {} need not be armed",
            total.saturating_sub(matching)
        )),
        None => lines.push(format!("  how many of the {subjects} can match was not counted")),
    }
}

fn kernel(split: &Split, lines: &mut Vec<String>) {
    let when = match (split.kind, split.moment) {
        (Kind::Allocation, _) => "at the allocation",
        (_, Moment::Entry) => "at entry",
        (_, Moment::Return) => "at return, because duration is known only then",
    };
    if split.is_left_whole() {
        lines.push(format!("in the kernel, {when}"));
        let why = if split.left.is_empty() {
            "tests that count must see all that comes to them"
        } else {
            "where one part is decided, all is"
        };
        lines.push(format!("  only what names decide; all else goes to user space, because {why}"));
        return;
    }
    let mut graph = |heading: String, filter| {
        lines.push(heading);
        let questions = graph::lines(filter, &split.names);
        match (questions.is_empty(), filter.start == tracer_common::filter::REJECT) {
            (true, true) => lines.push("  nothing: all rejected".to_owned()),
            (true, false) => lines.push("  nothing: all wanted".to_owned()),
            (false, _) => lines.extend(questions.into_iter().map(|question| format!("  {question}"))),
        }
    };
    if let Some(entry) = &split.entry {
        graph("in the kernel, at entry: what is rejected here is not looked at again at return".to_owned(), entry);
    }
    graph(format!("in the kernel, {when}"), &split.filter);
}

fn user(predicate: &Predicate, split: &Split, lines: &mut Vec<String>) {
    lines.push("in user space".to_owned());
    if split.is_left_whole() {
        lines.extend(predicate.expr.as_ref().map(|whole| format!("  the whole predicate: {}", graph::short(whole))));
    } else {
        lines.push(
            "  what the kernel met before it was told of its method, class or thread: the whole predicate".to_owned(),
        );
    }
    if split.left.is_empty() && predicate.expr.is_none() {
        lines.push("  nothing".to_owned());
    }
    for left in &split.left {
        let why = match left.why {
            Why::Line => "the kernel does not know lines",
            Why::NoRoom => "the kernel's graph has no room for it",
            Why::CountsBehind => "it counts what comes to it, and what stands before it is decided here",
            Why::BehindCount => "what stands before it counts here, and must see what this rejects",
            Why::OneDraw => "an event is drawn once, and another part needs the draw here",
        };
        lines.push(format!("  {}  ({why})", graph::short(&left.expr)));
    }
}

fn cost(split: &Split, costs: &Costs, lines: &mut Vec<String>) {
    lines.push("cost".to_owned());
    let (event, events) = match split.kind {
        Kind::Allocation => ("allocation", "allocations"),
        Kind::HeapObject => ("object", "objects"),
        Kind::MethodEntry | Kind::MethodReturn | Kind::Jni => ("call", "calls"),
        Kind::Point | Kind::Region => ("mark", "marks"),
    };
    let traps = match split.moment {
        Moment::Entry => 1.0,
        Moment::Return => 2.0,
    };
    let each = costs.trap_ns * traps;
    let pair = if traps > 1.0 { "entry and return are two traps, " } else { "" };
    lines.push(format!("  {pair}an armed {event} costs {} whatever the answer is", duration(each)));
    match costs.events_per_s {
        Some(rate) => {
            let share = percent(rate * each / 1e7);
            lines.push(format!("  {rate:.0} {events} a second take {share} of one core"));
        }
        None if each > 0.0 => {
            lines.push(format!("  1 % of one core is {:.0} {events} a second; their rate is not known", 1e7 / each));
        }
        None => lines.push(format!("  the rate of {events} is not known")),
    }
    if split.is_left_whole() {
        lines.push(
            "  what names do not decide is sent to user space in addition, also where it is rejected there".to_owned(),
        );
    }
}
