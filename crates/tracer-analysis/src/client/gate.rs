//! Which marks are wanted: a predicate, and the regions in which they must or must not lie.

use super::Instance;
use crate::{
    event::Tid,
    mark::Marker,
    marker::spec,
    predicate::{self, Counters, Field, Known as KnownNames, Outlook, Predicate},
};

/// A predicate with what it counts and draws. Two gates never share that, so what one lets through depends on no other.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    predicate: Option<Predicate>,
    inside: Vec<usize>,
    not_under: Vec<usize>,
    counters: Counters,
    draw: u64,
    draws: bool,
    /// Whether it can be decided only when a region has ended.
    pub(super) is_late: bool,
}

impl Gate {
    /// A gate that asks for a predicate.
    pub(super) fn of(predicate: Option<Predicate>) -> Self {
        let draws = |predicate: &Predicate| {
            let expr = predicate.expr.as_ref();
            expr.is_some_and(|expr| {
                expr.any_is(|condition| matches!(condition, predicate::tree::Condition::Sample { .. }))
            })
        };
        Self {
            draws: predicate.as_ref().is_some_and(draws),
            is_late: predicate.as_ref().is_some_and(|predicate| predicate.asks_for(&[Field::Duration])),
            predicate,
            inside: Vec::new(),
            not_under: Vec::new(),
            counters: Counters::default(),
            draw: 0,
        }
    }

    /// The gate of a marker among all; a sentence where its predicate is none, as only a damaged recording has it.
    pub(super) fn of_marker(marker: &Marker, all: &[Marker]) -> (Self, Option<String>) {
        let (predicate, note) = match spec::parsed(marker).transpose() {
            Ok(predicate) => (predicate, None),
            Err(error) => {
                let note = format!(
                    "The predicate of marker {} cannot be read ({}); all its marks are shown.",
                    marker.name, error.what
                );
                (None, Some(note))
            }
        };
        let index = |name: &String| all.iter().position(|marker| marker.name == *name).unwrap_or(usize::MAX);
        let gate = Self {
            inside: marker.inside.iter().map(index).collect(),
            not_under: marker.not_under.iter().map(index).collect(),
            ..Self::of(predicate)
        };
        (gate, note)
    }

    /// Whether it lets everything through.
    pub(super) const fn is_open(&self) -> bool {
        self.predicate.is_none() && self.inside.is_empty() && self.not_under.is_empty()
    }

    /// What is known of its answers for marks of a method.
    pub(super) fn outlook(&self, subject: &predicate::Subject) -> Outlook {
        let predicate = self.predicate.as_ref();
        let outlook = predicate.map_or(Outlook::Always, |predicate| predicate.outlook(KnownNames::Subject(subject)));
        let asks_stack = !(self.inside.is_empty() && self.not_under.is_empty());
        if asks_stack && outlook == Outlook::Always { Outlook::Depends } else { outlook }
    }

    /// Whether a mark is wanted.
    pub(super) fn lets(&mut self, mark: &Asking<'_>) -> bool {
        if !self.inside.iter().all(|marker| mark.instance.is_inside(*marker))
            || !self.not_under.iter().all(|marker| mark.instance.is_not_under(*marker))
        {
            return false;
        }
        let Some(predicate) = &self.predicate else { return true };
        let random = if self.draws { draw(&mut self.draw) } else { 0 };
        let event = predicate::Event {
            subject: mark.subject,
            caller: None,
            thread: mark.thread,
            tid: mark.tid.map_or(0, |tid| u64::from(tid.0)),
            cpu: 0,
            size: 0,
            duration: mark.duration_ns.unwrap_or(0),
            depth: mark.instance.depth() as u64,
            line: mark.instance.method().and_then(|place| place.definition.line).map(u64::from),
            random,
        };
        predicate.eval(&event, &mut self.counters)
    }
}

/// What a gate is asked about.
pub(super) struct Asking<'a> {
    pub(super) instance: Instance<'a>,
    pub(super) subject: &'a predicate::Subject,
    pub(super) thread: &'a predicate::Thread,
    /// The thread whose buffer it is.
    pub(super) tid: Option<Tid>,
    pub(super) duration_ns: Option<u64>,
}

/// A number that looks random and is the same in every replay (splitmix64).
fn draw(state: &mut u64) -> u32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((mixed ^ mixed >> 31) >> 32).unwrap_or(0)
}
