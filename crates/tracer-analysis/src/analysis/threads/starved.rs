//! Pools all of whose threads wait for results of tasks, from looks at all threads: nobody is left to run these tasks. Where one of them
//! goes on between two looks, somebody does run them.

use std::collections::BTreeMap;

use super::{
    super::{pattern::last_number, site, table::column},
    reason::Kind,
};
use crate::{
    event::StackId,
    item::look::{ThreadLook, Waits},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Most pools that are shown.
const ROWS: usize = 100;

/// Where workers of pools begin their work.
const WORKERS: [&str; 3] = [
    "java.util.concurrent.ThreadPoolExecutor.runWorker",
    "java.util.concurrent.ForkJoinPool.runWorker",
    "java.util.concurrent.ForkJoinWorkerThread.run",
];

/// A pool all of whose threads wait for results of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Starved {
    pattern: String,
    threads: u64,
    site: String,
    class: String,
    callers: Option<String>,
    /// In how many looks, up to the last one.
    looks: u64,
}

/// Those of the last look.
#[derive(Debug, Default)]
pub(super) struct StarvedPools(Vec<Starved>);

impl StarvedPools {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        let before = std::mem::replace(&mut self.0, starved(look, stacks));
        for pool in &mut self.0 {
            let same = |known: &&Starved| known.pattern == pool.pattern && known.site == pool.site;
            pool.looks += before.iter().find(same).map_or(0, |known| known.looks);
        }
    }

    pub(super) fn table(&self) -> Shape {
        let row = |pool: &Starved| {
            let Starved { pattern, threads, site, class, callers, looks } = pool.clone();
            let callers = callers.map_or(Cell::Missing, Into::into);
            vec![pattern.into(), threads.into(), class.into(), site.into(), looks.into(), callers]
        };
        Shape::Table(Table {
            id: "starved_pools",
            title: "Pools all of whose threads wait for results of tasks".to_owned(),
            columns: vec![
                column("pattern", "Names", Unit::Text),
                column("threads", "Threads", Unit::Count),
                column("class", "What for", Unit::Text),
                column("site", "Place", Unit::Text),
                column("looks", "Last looks", Unit::Count),
                column("callers", "From", Unit::Text),
            ],
            rows: self.0.iter().map(row).collect(),
        })
    }
}

/// Pools all of whose threads wait for results of tasks in this look. Threads of one pool have names that differ in a number.
fn starved(look: &ThreadLook, stacks: &Stacks) -> Vec<Starved> {
    let mut all = BTreeMap::<String, u64>::new();
    let names = look.groups.iter().flat_map(|group| &group.names).chain(&look.others);
    for name in names.filter(|name| name.bytes().any(|byte| byte.is_ascii_digit())) {
        *all.entry(last_number(name)).or_default() += 1;
    }
    let mut pools = BTreeMap::<String, Starved>::new();
    for group in &look.groups {
        let Some(waits @ Waits::Unpark { class, .. }) = &group.waits else { continue };
        if group.ran > 0 || Kind::of(waits) != Kind::Task || !is_worker(stacks, group.stack) {
            continue;
        }
        for name in &group.names {
            let (pattern, site) = (last_number(name), site::label(stacks, group.stack));
            let callers = site::callers(stacks, group.stack);
            let new = Starved { pattern: pattern.clone(), threads: 0, site, class: class.clone(), callers, looks: 1 };
            pools.entry(pattern).or_insert(new).threads += 1;
        }
    }
    pools.into_values().filter(|pool| all.get(&pool.pattern) == Some(&pool.threads)).take(ROWS).collect()
}

/// Whether a stack is that of a pool's worker.
fn is_worker(stacks: &Stacks, stack: StackId) -> bool {
    stacks.frames_of(stack).any(|frame| WORKERS.contains(&frame.name.as_str()))
}
