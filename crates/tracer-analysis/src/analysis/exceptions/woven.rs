//! Exceptions as woven code tells of them in the lane inside: each one that comes to chosen code, with or without a stack trace, where it
//! came from and where it was caught.

mod ways;

use tracer_weave::{PlaceDefinition, handler::Use};

use self::ways::{End, Key, Origin, Told, Way, Ways};
use super::{
    super::{
        scaled::scaled,
        table::{FastMap, Groups, Keyed, Merge, column},
        woven::{Woven, place_label},
    },
    SITES, mean, share,
};
use crate::{
    client::{Client, ClientReport, EndedIndices, Instance, Known, Reporting, Thread},
    mark::{Argument, EXCEPTIONS, Marker},
    report::{Cell, Shape, Summary, Unit},
};

/// The client of exceptions in chosen code.
pub(super) fn woven() -> Woven {
    let client = Box::new(Thrown { rows: Keyed::new(SITES), ways: Ways::default(), by_place: FastMap::default() });
    Woven::of(client, Marker::is_of_exceptions, |thrown| scaled!("thrown", "exceptions", thrown))
}

/// The client.
struct Thrown {
    /// Those whose ways are over.
    rows: Keyed<Key, Sum>,
    ways: Ways,
    /// Those that came from a place, as far as they are new.
    by_place: FastMap<u32, u64>,
}

/// Exceptions of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    /// Chosen methods that all of them left.
    unwound: u64,
    /// Those with a stack trace, and the frames of all of these.
    traced: u64,
    frames: u64,
    /// Those without one.
    untraced: u64,
    /// Those that a handler took.
    caught: u64,
    /// Those that were caught before.
    rethrown: u64,
    /// Those that went on to code that is not chosen.
    left: u64,
}

impl Sum {
    fn of(way: &Way) -> Self {
        let Key { origin, end, .. } = way.key;
        let is = |condition: bool| u64::from(condition);
        Self {
            count: 1,
            unwound: way.unwound,
            traced: is(way.frames.is_some_and(|frames| frames > 0)),
            frames: way.frames.unwrap_or(0).into(),
            untraced: is(way.frames == Some(0)),
            caught: is(matches!(end, End::Caught(_))),
            rethrown: is(origin == Origin::Rethrow),
            left: is(end == End::Left),
        }
    }

    /// Those that are new.
    const fn thrown(&self) -> u64 {
        self.count.saturating_sub(self.rethrown)
    }
}

impl Merge for Sum {
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.unwound = self.unwound.saturating_add(other.unwound);
        self.traced = self.traced.saturating_add(other.traced);
        self.frames = self.frames.saturating_add(other.frames);
        self.untraced = self.untraced.saturating_add(other.untraced);
        self.caught = self.caught.saturating_add(other.caught);
        self.rethrown = self.rethrown.saturating_add(other.rethrown);
        self.left = self.left.saturating_add(other.left);
    }
}

impl Client for Thrown {
    fn name(&self) -> &'static str {
        EXCEPTIONS
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_exceptions()
    }

    /// Each mark has one argument: the hash, and above that how many frames the stack trace has. In the place of the receiver there is
    /// the number of the exception's class.
    fn marker_argument(&mut self, mark: &Instance<'_>, _: u8, value: &Argument) {
        let Argument::Object(value) = *value else { return };
        let Some(raised) = mark.method().and_then(|place| place.definition.raised.as_ref()) else { return };
        let [hash, frames] = [value, value >> 32].map(|half| u32::try_from(half & u64::from(u32::MAX)).unwrap_or(0));
        let frames = i32::try_from(frames).is_ok().then_some(frames);
        let told = Told { place: mark.place, class: mark.object, hash, frames };
        let Self { rows, ways, by_place } = self;
        let in_one_method = |one, other| in_one_method(mark.known, one, other);
        let begins =
            ways.take(mark.thread.index, told, raised, in_one_method, |way| rows.entry(way.key).merge(&Sum::of(way)));
        if begins.is_some_and(|origin| origin != Origin::Rethrow) {
            *by_place.entry(mark.place).or_default() += 1;
        }
    }

    fn stack_lost(&mut self, thread: &Thread) {
        let Self { rows, ways, .. } = self;
        ways.lost(thread.index, |way| rows.entry(way.key).merge(&Sum::of(way)));
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        let Self { rows, ways, .. } = self;
        ways.threads_ended(ended, |way| rows.entry(way.key).merge(&Sum::of(way)));
    }

    fn events(&self, place: u32) -> Option<u64> {
        self.by_place.get(&place).copied()
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let mut rows = self.rows.clone();
        for way in self.ways.under_way() {
            rows.entry(way.key).merge(&Sum::of(way));
        }
        let total = rows.grouped(|_| Some(())).total();
        let summary = Summary::new()
            .int("thrown", total.thrown())
            .int("rethrown", total.rethrown)
            .int("caught", total.caught)
            .int("left_chosen_code", total.left)
            .int("without_trace", total.untraced);
        let shapes = vec![classes_table(&rows, at.known, total), sites_table(&rows, at.known, total)];
        ClientReport { summary, notes: notes(&rows), shapes }
    }
}

fn in_one_method(known: &Known, one: u32, other: u32) -> bool {
    let method = |place| {
        let of = &known.place(place)?.definition;
        Some((&of.class, &of.method, &of.descriptor))
    };
    method(one).is_some_and(|found| method(other) == Some(found))
}

fn notes(rows: &Keyed<Key, Sum>) -> Vec<String> {
    let mut notes = vec![
        "Every exception that came to a chosen method, with a stack trace or without. Those that other code throws and catches by itself \
         are not seen. `left_chosen_code` went on to code that is not chosen, which caught it or ended its thread with it."
            .to_owned(),
    ];
    notes.extend(rows.note("ways of exceptions"));
    notes
}

fn classes_table(rows: &Keyed<Key, Sum>, known: &Known, total: Sum) -> Shape {
    rows.grouped(|key| Some(class(known, key.class))).table(
        "classes",
        "Exceptions by class",
        vec![
            column("class", "Class", Unit::Text),
            column("thrown", "Thrown", Unit::Count),
            column("share_percent", "Share", Unit::Percent),
            column("rethrown", "Thrown again", Unit::Count),
            column("caught", "Caught", Unit::Count),
            column("without_trace", "Without trace", Unit::Count),
        ],
        Sum::thrown,
        |class| vec![class.into()],
        |sum| {
            vec![
                sum.thrown().into(),
                share(sum.thrown(), total.thrown()).into(),
                sum.rethrown.into(),
                sum.caught.into(),
                sum.untraced.into(),
            ]
        },
    )
}

/// Class, place, origin, what called that, and where it is caught.
type Label = (String, String, &'static str, Option<String>, String);

fn sites_table(rows: &Keyed<Key, Sum>, known: &Known, total: Sum) -> Shape {
    let groups: Groups<Label, Sum> = rows.grouped(|key| Some(label(known, key)));
    groups.table(
        "sites",
        "Exceptions by class and place",
        vec![
            column("class", "Class", Unit::Text),
            column("site", "Place", Unit::Text),
            column("origin", "Origin", Unit::Text),
            column("callers", "Called from", Unit::Text),
            column("caught_at", "Caught at", Unit::Text),
            column("thrown", "Thrown", Unit::Count),
            column("share_percent", "Share", Unit::Percent),
            column("mean_frames", "Frames", Unit::Count),
            column("mean_unwound_frames", "Unwound", Unit::Count),
            column("without_trace", "Without trace", Unit::Count),
        ],
        |sum| sum.count,
        |(class, site, origin, callers, caught)| {
            vec![class.into(), site.into(), origin.into(), callers.into(), caught.into()]
        },
        |sum| -> Vec<Cell> {
            vec![
                sum.count.into(),
                share(sum.count, total.count).into(),
                mean(sum.frames, sum.traced).into(),
                mean(sum.unwound, sum.count).into(),
                sum.untraced.into(),
            ]
        },
    )
}

fn label(known: &Known, key: &Key) -> Label {
    let callers: Vec<String> = key.through.iter().filter(|place| **place != 0).map(|place| at(known, *place)).collect();
    let end = match key.end {
        End::Caught(place) if ignores(known, place) => format!("{}, ignored", handler(known, place)),
        End::Caught(place) => handler(known, place),
        End::Finally(place) => format!("{}, by `finally`", handler(known, place)),
        End::Left => "<leaves the chosen code>".to_owned(),
        End::Unknown => "<not known>".to_owned(),
    };
    let callers = (!callers.is_empty()).then(|| callers.join(", from "));
    (class(known, key.class), at(known, key.place), key.origin.id(), callers, end)
}

fn class(known: &Known, number: u32) -> String {
    known.class_numbered(number).map_or_else(|| "<class not known>".to_owned(), str::to_owned)
}

/// The method of a place, with the line that the exception came from.
fn at(known: &Known, place: u32) -> String {
    method(known, place, |of| of.line)
}

/// The method of a place, with the line of the handler that takes the exception.
fn handler(known: &Known, place: u32) -> String {
    method(known, place, |of| of.raised.as_ref()?.handler.as_ref()?.line)
}

/// Whether nothing in the handler reads the exception.
fn ignores(known: &Known, place: u32) -> bool {
    let raised = known.place(place).and_then(|of| of.definition.raised.as_ref());
    raised.and_then(|raised| raised.handler.as_ref()).is_some_and(|handler| handler.does == Use::Ignores)
}

fn method(known: &Known, place: u32, line: impl Fn(&PlaceDefinition) -> Option<u16>) -> String {
    known
        .place(place)
        .map_or_else(|| "<place not known>".to_owned(), |of| place_label(&of.definition, line(&of.definition)))
}

#[cfg(test)]
mod tests;
