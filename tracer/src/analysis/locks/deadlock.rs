//! Threads that wait for each other in a circle at the end of the span.
//!
//! Who holds a monitor is known from the last event that showed it, and a thread can have left since without an event. So a
//! link of a circle must stand three tests: the holder was not seen to leave; it is itself blocked, for a long time; and
//! the method in which it had the monitor is still on its stack, called from the same place. Even so a circle is what
//! events suggest, not a proof, and what the report says is worded like that.

use std::collections::{HashMap, HashSet};

use super::{
    super::{Context, pairing::Open, site, table::column},
    Blocked,
    holder::{Holders, Owner},
};
use crate::{
    event::{StackId, Tid},
    report::{Cell, Shape, Table, Unit},
    stack::{Frame, Stacks},
};

/// Threads of a circle have been blocked at least this long: less is contention.
const LONG_NS: u64 = 1_000_000_000;
/// Most threads in circles that are shown.
const SHOWN: usize = 100;

/// A thread that is blocked, and the one that seems to hold what it waits for.
#[derive(Clone, Copy, Debug)]
struct Link {
    blocked: Blocked,
    holder: Owner,
}

/// The circles as a table: a row for each thread, circle by circle, each thread waiting for the next one.
pub(super) fn table(blocked: &Open<Blocked>, holders: &Holders, context: Context<'_>) -> Shape {
    let end_ns = context.span.start_ns.saturating_add(context.span.duration_ns);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (number, circle) in (1_u64..).zip(circles(&links(blocked, holders, context.stacks, end_ns))) {
        if rows.len().saturating_add(circle.len()) > SHOWN {
            break;
        }
        rows.extend(circle.into_iter().map(|(tid, Link { blocked, holder })| {
            vec![
                number.into(),
                context.names.thread(tid).into(),
                u64::from(tid.0).into(),
                context.names.class(blocked.class).into(),
                blocked.monitor.into(),
                site::label(context.stacks, blocked.stack).into(),
                end_ns.saturating_sub(blocked.time_ns).into(),
                context.names.thread(holder.tid).into(),
                site::label(context.stacks, holder.stack).into(),
            ]
        }));
    }
    let columns = vec![
        column("circle", "Circle", Unit::Count),
        column("thread", "Thread", Unit::Text),
        column("tid", "Thread id", Unit::Count),
        column("class", "Waits for", Unit::Text),
        column("monitor", "Monitor", Unit::Address),
        column("site", "Place", Unit::Text),
        column("blocked_ns", "Blocked", Unit::Ns),
        column("holder", "Held by", Unit::Text),
        column("holder_site", "Since it was at", Unit::Text),
    ];
    Shape::Table(Table {
        id: "deadlocks",
        title: "Threads that seem to wait for each other at the end".to_owned(),
        columns,
        rows,
    })
}

/// Who waits for whom, as far as the tests above are stood.
fn links(blocked: &Open<Blocked>, holders: &Holders, stacks: &Stacks, end_ns: u64) -> HashMap<Tid, Link> {
    let long: HashMap<Tid, Blocked> = blocked
        .iter()
        .filter(|(tid, blocked)| {
            end_ns.saturating_sub(blocked.time_ns) >= LONG_NS && holders.is_waiting(**tid, blocked.monitor)
        })
        .map(|(tid, blocked)| (*tid, *blocked))
        .collect();
    long.iter()
        .filter_map(|(tid, blocked)| {
            let holder = holders.last_owner(blocked.monitor)?;
            let stuck = long.get(&holder.tid)?;
            let other = stuck.monitor != blocked.monitor && stuck.time_ns >= holder.time_ns;
            (other && still_there(stacks, holder.stack, stuck.stack))
                .then_some((*tid, Link { blocked: *blocked, holder }))
        })
        .collect()
}

/// Whether the method at the top of the Java frames of `then` is still running in `now`, called from the same place. Its own
/// line may differ. Nothing is said where either stack is not known to its root.
fn still_there(stacks: &Stacks, then: StackId, now: StackId) -> bool {
    let whole = |id| stacks.get(id).is_some_and(|stack| stack.end.root);
    let java = |id| -> Vec<&Frame> {
        let mut frames: Vec<&Frame> = stacks.frames_of(id).filter(|frame| frame.kind.is_java()).collect();
        frames.reverse();
        frames
    };
    // A thread comes back from Object.wait, and notifies, below the method that has the monitor.
    let (then, now) =
        (if whole(then) { java(then) } else { Vec::new() }, if whole(now) { java(now) } else { Vec::new() });
    let mut then = then;
    while then.last().is_some_and(|top| top.name.starts_with("java.lang.Object.")) {
        then.pop();
    }
    // How a method runs can change under it; where it is cannot.
    let place = |frame: &Frame| (frame.name.clone(), frame.signature.clone(), frame.line, frame.bci);
    match then.split_last() {
        Some((top, callers)) => {
            now.len() >= then.len()
                && callers.iter().zip(&now).all(|(a, b)| place(a) == place(b))
                && now
                    .get(callers.len())
                    .is_some_and(|frame| (&frame.name, &frame.signature) == (&top.name, &top.signature))
        }
        None => false,
    }
}

/// The circles, each from its smallest thread id on, in the order of these.
fn circles(links: &HashMap<Tid, Link>) -> Vec<Vec<(Tid, Link)>> {
    let mut starts: Vec<Tid> = links.keys().copied().collect();
    starts.sort_unstable();
    let mut done: HashSet<Tid> = HashSet::new();
    let mut circles = Vec::new();
    for start in starts {
        let mut path: Vec<(Tid, Link)> = Vec::new();
        let mut at = start;
        // Every step ends the loop or adds a thread to `done`.
        while let Some(link) = links.get(&at) {
            if !done.insert(at) {
                break;
            }
            path.push((at, *link));
            at = link.holder.tid;
        }
        if let Some(begin) = path.iter().position(|(tid, _)| *tid == at) {
            let mut circle = path.split_off(begin);
            let smallest = circle.iter().enumerate().min_by_key(|(_, (tid, _))| *tid).map_or(0, |(index, _)| index);
            circle.rotate_left(smallest);
            circles.push(circle);
        }
    }
    circles
}
