//! Who asked for VM operations: `vmops__request` fires on the thread that asks, with the stack from which it does.

use std::collections::HashSet;

use super::{
    Context,
    ended::EndedThreads,
    site,
    table::{Keyed, column},
};
use crate::{
    event::{Event, NameId, StackId, Tid},
    report::{Shape, Unit},
};

/// Most combinations of operation, stack and thread.
const ROWS: usize = 16_384;

/// Requests by operation, stack and thread.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    rows: Keyed<(NameId, StackId, Tid), u64>,
}

impl Default for Requests {
    fn default() -> Self {
        Self { rows: Keyed::new(ROWS) }
    }
}

impl Requests {
    /// Takes a request.
    pub(super) fn take(&mut self, event: &Event, name: NameId) {
        *self.rows.entry((name, event.stack, event.tid)) += 1;
    }

    /// Threads that ended become one where there are many.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.rows.sum_up(ended);
    }

    /// A sentence where the limit was reached.
    pub(super) fn note(&self) -> Option<String> {
        self.rows.note("combinations of VM operation, stack and thread")
    }

    /// The requests of these operations, or of all, as a table; nothing where no request was seen.
    pub(super) fn table(&self, of: Option<&HashSet<NameId>>, context: Context<'_>) -> Option<Shape> {
        let label = |(name, stack, tid): &(NameId, StackId, Tid)| {
            let operation = context.names.text(*name);
            let (site, top) = (site::label(context.stacks, *stack), site::top_label(context.stacks, *stack));
            let via = site::called(context.stacks, *stack).map(ToString::to_string);
            of.is_none_or(|names| names.contains(name))
                .then(|| (operation, site, via, top, context.names.thread(*tid), *tid))
        };
        let groups = self.rows.grouped(label);
        if groups.rows.is_empty() {
            return None;
        }
        Some(groups.table(
            "requests",
            "Who asked for VM operations",
            vec![
                column("operation", "Operation", Unit::Text),
                column("site", "Place", Unit::Text),
                column("via", "By calling", Unit::Text),
                column("top", "In", Unit::Text),
                column("thread", "Thread", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("count", "Requests", Unit::Count),
            ],
            |count| *count,
            |(operation, site, via, top, thread, tid)| {
                vec![operation.into(), site.into(), via.into(), top.into(), thread.into(), u64::from(tid.0).into()]
            },
            |count| vec![(*count).into()],
        ))
    }
}
