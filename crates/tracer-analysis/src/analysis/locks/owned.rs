//! Who held a monitor at the moment when another thread found it taken, which the kernel side reads at every contended enter.

use super::{
    super::{
        Context,
        ended::EndedThreads,
        site,
        table::{Keyed, Merge, column},
    },
    Blocked,
    holder::Doing,
};
use crate::{
    event::{Holder, NameId, NoHolder, StackId, Tid},
    report::{Shape, Unit},
};

/// Most rows.
const ROWS: usize = 16_384;

/// What the holder was doing, where it did not run.
pub(super) type Was = Option<(Doing, StackId)>;

/// What others had of it.
#[derive(Clone, Copy, Debug, Default)]
struct Owned {
    enters: u64,
    blocked_ns: u64,
    max_ns: u64,
}

impl Merge for Owned {
    fn merge(&mut self, other: &Self) {
        self.enters += other.enters;
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// Holders by class.
#[derive(Debug)]
pub(super) struct Holding {
    rows: Keyed<(NameId, Tid, Was), Owned>,
    known: u64,
    unknown: [u64; NoHolder::ALL.len()],
}

impl Default for Holding {
    fn default() -> Self {
        Self { rows: Keyed::new(ROWS), known: 0, unknown: [0; NoHolder::ALL.len()] }
    }
}

impl Holding {
    /// A thread found a monitor taken.
    pub(super) fn enters(&mut self, blocked: &Blocked) {
        match blocked.holder {
            Holder::Thread(tid) => {
                self.known += 1;
                self.rows.entry((blocked.class, tid, blocked.was)).enters += 1;
            }
            Holder::Unknown(reason) => {
                if let Some(count) = self.unknown.get_mut(reason as usize) {
                    *count += 1;
                }
            }
        }
    }

    /// It has got it.
    pub(super) fn entered(&mut self, begun: &Blocked, ns: u64) {
        if let Holder::Thread(tid) = begun.holder {
            let row = self.rows.entry((begun.class, tid, begun.was));
            row.blocked_ns = row.blocked_ns.saturating_add(ns);
            row.max_ns = row.max_ns.max(ns);
        }
    }

    /// Holders that ended become one where there are many.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.rows.sum_up(ended);
    }

    /// Contended enters whose holder is known.
    pub(super) const fn known(&self) -> u64 {
        self.known
    }

    /// Sentences about holders that are not known.
    pub(super) fn notes(&self) -> Vec<String> {
        let counts = NoHolder::ALL.into_iter().zip(self.unknown).filter(|(_, count)| *count > 0);
        let reasons: Vec<String> = counts.map(|(reason, count)| format!("{} {count}", reason.text())).collect();
        let mut notes = Vec::new();
        if !reasons.is_empty() {
            let unknown: u64 = self.unknown.iter().sum();
            notes.push(format!("The holder is not known at {unknown} contended enters: {}.", reasons.join(", ")));
        }
        notes.extend(self.rows.note("combinations of class and holder"));
        notes
    }

    /// Who held what others wanted.
    pub(super) fn table(&self, context: Context<'_>) -> Shape {
        let label = |(class, tid, was): &(NameId, Tid, Was)| {
            let (doing, place) = match was {
                Some((doing, stack)) => (doing.text(context), site::label(context.stacks, *stack)),
                None => ("not waiting".to_owned(), String::new()),
            };
            Some((context.names.thread(*tid), *tid, context.names.class(*class), doing, place))
        };
        self.rows.grouped(label).table(
            "owners",
            "Threads that held a monitor when others came",
            vec![
                column("holder", "Holder", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("class", "Class", Unit::Text),
                column("holder_was", "Holder was", Unit::Text),
                column("site", "Place", Unit::Text),
                column("count", "Came", Unit::Count),
                column("total_ns", "Blocked", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
            ],
            |owned| owned.blocked_ns.max(owned.enters),
            |(name, tid, class, was, place)| {
                vec![name.into(), u64::from(tid.0).into(), class.into(), was.into(), place.into()]
            },
            |owned| vec![owned.enters.into(), owned.blocked_ns.into(), owned.max_ns.into()],
        )
    }
}
