//! Threads that wait for each other in a circle, and so for ever.
//!
//! Each link is read from the JVM: this thread is blocked on that monitor, and that thread owns it. Two looks, about a second
//! apart, found every link of a circle the same, and no thread of it did anything in between that a blocked thread cannot
//! do. A thread that is blocked leaves no monitor that it holds, so all links held together.

use std::collections::{HashMap, HashSet};

use super::{
    super::{Context, pairing::Open, table::column},
    Blocked,
    looks::{Looks, Stuck},
};
use crate::{
    event::Tid,
    report::{Cell, Shape, Table, Unit},
};

/// Most threads in circles that are shown.
const SHOWN: usize = 100;

/// A thread that is blocked, and the one that holds what it waits for.
#[derive(Clone, Copy, Debug)]
struct Link<'a> {
    stuck: &'a Stuck,
    holder: Tid,
}

/// All circles.
pub(super) struct Circles<'a>(Vec<Vec<(Tid, Link<'a>)>>);

impl<'a> Circles<'a> {
    /// Finds them.
    pub(super) fn of(looks: &'a Looks) -> Self {
        Self(circles(&links(looks)))
    }

    /// Threads in circles.
    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|circle| circle.len() as u64).sum()
    }

    /// A row for each thread, circle by circle, each thread waiting for the next one.
    pub(super) fn table(&self, open: &Open<Blocked>, context: Context<'_>) -> Shape {
        table(&self.0, open, context)
    }
}

fn table(circles: &[Vec<(Tid, Link<'_>)>], open: &Open<Blocked>, context: Context<'_>) -> Shape {
    let end_ns = context.span.start_ns.saturating_add(context.span.duration_ns);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (number, circle) in (1_u64..).zip(circles) {
        if rows.len().saturating_add(circle.len()) > SHOWN {
            break;
        }
        rows.extend(circle.iter().map(|(tid, Link { stuck, holder })| {
            let (since_ns, place) = Looks::since(*tid, stuck, open, context);
            let next = circle.iter().find(|(next, _)| next == holder);
            let held_at = next.map(|(next, link)| Looks::since(*next, link.stuck, open, context).1);
            vec![
                number.into(),
                context.names.thread(*tid).into(),
                u64::from(tid.0).into(),
                context.names.class(stuck.class).into(),
                stuck.monitor.into(),
                place.into(),
                end_ns.saturating_sub(since_ns).into(),
                context.names.thread(*holder).into(),
                held_at.unwrap_or_default().into(),
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
        column("holder_site", "Which is blocked at", Unit::Text),
    ];
    Shape::Table(Table {
        id: "deadlocks",
        title: "Threads that wait for each other for ever".to_owned(),
        columns,
        rows,
    })
}

/// Who waits for whom.
fn links(looks: &Looks) -> HashMap<Tid, Link<'_>> {
    looks.lasting().filter_map(|(tid, stuck)| Some((tid, Link { stuck, holder: stuck.holder.thread()? }))).collect()
}

/// The circles, each from its smallest thread id on, in the order of these.
fn circles<'a>(links: &HashMap<Tid, Link<'a>>) -> Vec<Vec<(Tid, Link<'a>)>> {
    let mut starts: Vec<Tid> = links.keys().copied().collect();
    starts.sort_unstable();
    let mut done: HashSet<Tid> = HashSet::new();
    let mut circles = Vec::new();
    for start in starts {
        let mut path: Vec<(Tid, Link<'a>)> = Vec::new();
        let mut at = start;
        // Every step ends the loop or adds a thread to `done`.
        while let Some(link) = links.get(&at) {
            if !done.insert(at) {
                break;
            }
            path.push((at, *link));
            at = link.holder;
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
