//! Who is blocked and by whom, as looks at all threads found it. Events alone cannot tell: a thread that takes a monitor
//! which nobody holds makes none, and threads can have blocked before jtrace came.

use super::{
    super::{
        Context,
        pairing::Open,
        site,
        table::{FastMap, column},
    },
    Blocked,
};
use crate::{
    event::{Event, Holder, NameId, Tid},
    report::{Shape, Table, Unit},
};

/// Most threads that are followed.
const THREADS: usize = 16_384;
/// Most rows of the table.
const SHOWN: usize = 100;
/// Most threads of a chain that are shown.
const CHAIN: usize = 8;

/// A thread that looks found blocked, without any event of it in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stuck {
    pub(super) monitor: u64,
    pub(super) class: NameId,
    pub(super) holder: Holder,
    pub(super) first_ns: u64,
    last_ns: u64,
}

/// What looks found.
#[derive(Debug, Default)]
pub(super) struct Looks {
    stuck: FastMap<Tid, Stuck>,
    latest_ns: u64,
    count: u64,
}

impl Looks {
    /// A look found this event's thread blocked.
    pub(super) fn blocked(&mut self, event: &Event, monitor: u64, class: NameId, holder: Holder) {
        let time_ns = event.time_ns;
        let new = Stuck { monitor, class, holder, first_ns: time_ns, last_ns: time_ns };
        let room = self.stuck.len() < THREADS;
        match self.stuck.get_mut(&event.tid) {
            Some(stuck) if stuck.monitor == monitor && stuck.holder == holder => stuck.last_ns = time_ns,
            Some(stuck) => *stuck = new,
            None if room => {
                self.stuck.insert(event.tid, new);
            }
            None => {}
        }
    }

    /// A look is over: whoever it did not find blocked is not blocked any more.
    pub(super) fn looked(&mut self, time_ns: u64) {
        self.count += 1;
        self.latest_ns = time_ns;
        self.stuck.retain(|_, stuck| stuck.last_ns == time_ns);
    }

    /// A thread did something at this time that a blocked thread cannot do.
    pub(super) fn moves(&mut self, tid: Tid, time_ns: u64) {
        if !self.stuck.is_empty() && self.stuck.get(&tid).is_some_and(|stuck| time_ns > stuck.first_ns) {
            self.stuck.remove(&tid);
        }
    }

    /// How many looks there were.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// What the last look says of a thread, if it is blocked.
    pub(super) fn get(&self, tid: Tid) -> Option<&Stuck> {
        self.stuck.get(&tid).filter(|stuck| stuck.last_ns == self.latest_ns)
    }

    /// Threads that two looks found blocked on the same monitor of the same holder, and that did nothing in between.
    pub(super) fn lasting(&self) -> impl Iterator<Item = (Tid, &Stuck)> {
        let lasting = |stuck: &&Stuck| stuck.last_ns == self.latest_ns && stuck.first_ns < stuck.last_ns;
        self.stuck.iter().filter(move |(_, stuck)| lasting(stuck)).map(|(tid, stuck)| (*tid, stuck))
    }

    /// Since when a thread is blocked, at least, and where.
    pub(super) fn since(tid: Tid, stuck: &Stuck, open: &Open<Blocked>, context: Context<'_>) -> (u64, String) {
        match open.get(tid).filter(|open| open.monitor == stuck.monitor) {
            Some(open) => (open.time_ns.min(stuck.first_ns), site::label(context.stacks, open.stack)),
            None => (stuck.first_ns, "<blocked before it was watched>".to_owned()),
        }
    }

    /// Who is blocked at the last look, the longest first; nothing where nobody is.
    pub(super) fn table(&self, open: &Open<Blocked>, context: Context<'_>) -> Option<Shape> {
        let end_ns = context.span.start_ns.saturating_add(context.span.duration_ns);
        let mut blocked: Vec<_> = self
            .stuck
            .keys()
            .filter_map(|tid| self.get(*tid).map(|stuck| (*tid, stuck)))
            .map(|(tid, stuck)| (Self::since(tid, stuck, open, context), tid, stuck))
            .collect();
        blocked.sort_by_key(|((since_ns, _), tid, _)| (*since_ns, *tid));
        let row = |((since_ns, place), tid, stuck): ((u64, String), Tid, &Stuck)| {
            let held_at = stuck.holder.thread().and_then(|holder| Some((holder, self.get(holder)?)));
            let held_at = held_at.map_or_else(
                || "<not blocked on a monitor>".to_owned(),
                |(holder, stuck)| Self::since(holder, stuck, open, context).1,
            );
            vec![
                context.names.thread(tid).into(),
                u64::from(tid.0).into(),
                context.names.class(stuck.class).into(),
                stuck.monitor.into(),
                place.into(),
                end_ns.saturating_sub(since_ns).into(),
                holder(stuck.holder, context).into(),
                if stuck.holder.thread().is_some() { held_at } else { String::new() }.into(),
                self.chain(tid, context).into(),
            ]
        };
        let rows: Vec<_> = blocked.into_iter().take(SHOWN).map(row).collect();
        let table = Table {
            id: "blocked_threads",
            title: "Threads blocked at the last look".to_owned(),
            columns: vec![
                column("thread", "Thread", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("class", "Waits for", Unit::Text),
                column("monitor", "Monitor", Unit::Address),
                column("site", "Place", Unit::Text),
                column("blocked_ns", "Blocked", Unit::Ns),
                column("holder", "Held by", Unit::Text),
                column("holder_site", "Which is blocked at", Unit::Text),
                column("chain", "Chain", Unit::Text),
            ],
            rows,
        };
        (!table.rows.is_empty()).then_some(Shape::Table(table))
    }

    /// A thread, the one that it waits for, the one that that one waits for, and so on.
    fn chain(&self, tid: Tid, context: Context<'_>) -> String {
        let mut path = vec![tid];
        let mut text = context.names.thread(tid);
        let mut at = tid;
        while let Some(stuck) = self.get(at) {
            text.push_str(" \u{2192} ");
            text.push_str(&holder(stuck.holder, context));
            let Holder::Thread(next) = stuck.holder else { break };
            if path.contains(&next) || path.len() >= CHAIN {
                text.push_str(" \u{2192} ...");
                break;
            }
            path.push(next);
            at = next;
        }
        text
    }
}

/// The name of the holder, or why there is none.
pub(super) fn holder(holder: Holder, context: Context<'_>) -> String {
    match holder {
        Holder::Thread(tid) => context.names.thread(tid),
        Holder::Unknown(reason) => reason.text().to_owned(),
    }
}
