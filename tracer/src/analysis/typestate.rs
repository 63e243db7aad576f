//! Lens `typestate`: whether objects are used as their protocols say.
//!
//! Every symbol of an object comes with the state in which the object was, so what it means does not depend on the order in which
//! buffers of different threads arrive. Threads, monitors and classes have their states here (`outside`).

mod outside;

use std::collections::{BTreeMap, HashMap};

use tracer_common::marks::WordKind;
use tracer_weave::control::{DEAD, Sampled};

use self::outside::Outside;
use super::{
    Analysis, Context, Lens,
    profile::{self, Amounts},
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Event, NameId, Payload, StackId, Tid},
    mark::{Asked, Inside, Mark, MarkBatch, Meaning, What, Woven},
    report::{Cell, Column, Section, Shape, Summary, Unit},
    session::GuardAction,
    subject::SubjectDefinition,
    typestate::{
        Property,
        machine::{State, Symbol},
        outside::States,
    },
};

/// Most violations that are told apart.
const ROWS: usize = 65_536;
/// Most classes whose sampling is listed.
const ROWS_OF_CLASSES: usize = 1000;
/// Bits of a symbol in a history.
const HISTORY_BITS: u32 = 8;

/// The analysis.
#[derive(Debug)]
pub struct Typestate {
    asked: Asked,
    /// Property and symbol of each place.
    places: HashMap<u32, (usize, Symbol)>,
    classes: HashMap<u32, String>,
    seen: Vec<Seen>,
    violations: Keyed<Violation, Times>,
    stacks: Amounts,
    woven: Woven,
    lacks: Vec<String>,
    /// Symbols that were counted where they happened, by place: those that left the object in its state, and legal ones that did not.
    suppressed: HashMap<u32, u64>,
    moved: HashMap<u32, u64>,
    /// Symbols of objects that are not tracked, by place.
    ignored: HashMap<u32, u64>,
    /// What was said of objects that are not tracked, by property and class.
    sampled: BTreeMap<(u8, u32), Sampled>,
    outside: Outside,
}

/// Of what a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Of {
    /// An object, by the number of its class.
    Object(u32),
    /// The monitor of an object of this class.
    Name(NameId),
    /// A class, by its number in [`Outside`].
    Class(u32),
    /// A thread.
    Thread,
}

/// What was seen of a property.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The highest number of an object: they are given one after another.
    objects: u64,
    /// Symbols that were told one by one, and those of them that changed a state.
    events: u64,
    transitions: u64,
    illegal: u64,
    dead: u64,
}

/// What violations are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Violation {
    property: usize,
    of: Of,
    object: u32,
    /// More than one where it was not known.
    states: States,
    /// The illegal symbol; `None` where the object died.
    symbol: Option<Symbol>,
    tid: Option<Tid>,
    history: u64,
    stack: StackId,
}

/// How often.
#[derive(Clone, Copy, Debug, Default)]
struct Times(u64);

impl Merge for Times {
    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

impl Default for Typestate {
    fn default() -> Self {
        Self {
            asked: Asked::default(),
            places: HashMap::new(),
            classes: HashMap::new(),
            seen: Vec::new(),
            violations: Keyed::new(ROWS),
            stacks: Amounts::default(),
            woven: Woven::default(),
            lacks: Vec::new(),
            suppressed: HashMap::new(),
            moved: HashMap::new(),
            ignored: HashMap::new(),
            sampled: BTreeMap::new(),
            outside: Outside::default(),
        }
    }
}

impl Typestate {
    /// A state as the machine numbers it.
    fn state(&self, property: usize, state: u8) -> State {
        match self.asked.properties.get(property) {
            Some(of) if state == DEAD => of.machine.dead(),
            _ => state,
        }
    }

    fn take(&mut self, mark: &Mark) {
        match mark.what {
            What::Symbol { state } => {
                let Some((property, symbol)) = self.places.get(&mark.place).copied() else { return };
                let state = self.state(property, state);
                let next = self.asked.properties.get(property).map(|of| of.machine.step(state, symbol));
                if let Some(seen) = self.seen.get_mut(property) {
                    seen.events += 1;
                    seen.objects = seen.objects.max(mark.object.into());
                    seen.transitions += u64::from(next != Some(state));
                }
            }
            What::Count { of: WordKind::Enter, count } => *self.ignored.entry(mark.place).or_default() += count,
            What::Count { of: WordKind::Exit, count } => *self.moved.entry(mark.place).or_default() += count,
            What::Count { of: WordKind::Symbol, count } => *self.suppressed.entry(mark.place).or_default() += count,
            What::Death { state, class } => {
                // Properties are numbered from 1 on.
                let Some(property) = usize::try_from(mark.place).ok().and_then(|number| number.checked_sub(1)) else {
                    return;
                };
                let state = self.state(property, state);
                if let Some(seen) = self.seen.get_mut(property) {
                    seen.dead += 1;
                    self.violations
                        .entry(Violation {
                            property,
                            of: Of::Object(class),
                            object: mark.object,
                            states: States::only(state),
                            symbol: None,
                            tid: None,
                            history: 0,
                            stack: StackId::default(),
                        })
                        .0 += 1;
                }
            }
            _ => {}
        }
    }

    /// Symbols that were held back, or are of objects that are not tracked: the sum over the places of symbols.
    fn sum(&self, by_place: &HashMap<u32, u64>) -> u64 {
        by_place.iter().filter(|(place, _)| self.places.contains_key(place)).map(|(_, count)| count).sum()
    }

    /// Class of what a violation is about.
    fn class(&self, of: Of, context: Context<'_>) -> String {
        let name = match of {
            Of::Object(class) => self.classes.get(&class).cloned(),
            Of::Class(class) => self.outside.class(class).cloned(),
            Of::Name(name) => return context.names.class(name),
            Of::Thread => Some("(thread)".to_owned()),
        };
        name.unwrap_or_else(|| "<unknown>".to_owned())
    }

    fn violated(&mut self, violation: Violation) {
        // Of what has died there is no stack.
        if let (Some(_), Some(tid)) = (violation.symbol, violation.tid) {
            self.stacks.add(violation.stack, tid, 1);
        }
        self.violations.entry(violation).0 += 1;
    }

    /// Such a sum by property.
    fn by_its_property(&self, by_place: &HashMap<u32, u64>) -> Vec<u64> {
        let mut sums = vec![0; self.seen.len()];
        for (place, count) in by_place {
            if let Some(of) = self.places.get(place).and_then(|(property, _)| sums.get_mut(*property)) {
                *of += count;
            }
        }
        sums
    }

    /// Objects of a property that are not tracked, as far as that was seen.
    fn not_tracked(&self, property: usize) -> u64 {
        let of = self.sampled.values().filter(|sampled| usize::from(sampled.property) == property + 1);
        of.map(|sampled| sampled.not_tracked).sum()
    }

    fn by_property(&self) -> Shape {
        let [held, moved, ignored] = [&self.suppressed, &self.moved, &self.ignored].map(|of| self.by_its_property(of));
        let counted = held.into_iter().zip(moved).zip(ignored);
        let rows = self.asked.properties.iter().zip(&self.seen).zip(counted).enumerate().map(
            |(index, ((property, seen), ((held, moved), ignored)))| {
                let suppressed = held + moved;
                vec![
                    property.name.clone().into(),
                    seen.objects.into(),
                    self.not_tracked(index).into(),
                    (seen.events + suppressed).into(),
                    suppressed.into(),
                    ignored.into(),
                    (seen.transitions + moved).into(),
                    seen.illegal.into(),
                    seen.dead.into(),
                ]
            },
        );
        Shape::Table(crate::report::Table {
            id: "properties",
            title: "Properties".to_owned(),
            columns: vec![
                column("property", "Property", Unit::Text),
                column("objects", "Objects", Unit::Count),
                column("not_tracked", "Not tracked", Unit::Count),
                column("symbols", "Symbols", Unit::Count),
                column("suppressed", "Held back", Unit::Count),
                column("ignored", "Ignored", Unit::Count),
                column("transitions", "Transitions", Unit::Count),
                column("illegal_transitions", "Illegal", Unit::Count),
                column("dead_violations", "Dead", Unit::Count),
            ],
            rows: rows.collect(),
        })
    }

    /// The classes of which not all objects are tracked; nothing where all are.
    fn sampling(&self) -> Option<Shape> {
        let mut sampled: Vec<&Sampled> = self.sampled.values().filter(|sampled| sampled.one_in != 1).collect();
        sampled.sort_by_key(|sampled| std::cmp::Reverse(sampled.tracked.saturating_add(sampled.not_tracked)));
        let row = |sampled: &Sampled| {
            let of = usize::from(sampled.property).checked_sub(1).and_then(|index| self.asked.properties.get(index));
            let cells: Vec<Cell> = vec![
                of.map(|of| of.name.clone()).into(),
                self.classes.get(&sampled.class).cloned().unwrap_or_else(|| "(others)".to_owned()).into(),
                sampled.tracked.into(),
                sampled.not_tracked.into(),
                sampled.one_in.into(),
            ];
            cells
        };
        let rows: Vec<Vec<Cell>> = sampled.into_iter().take(ROWS_OF_CLASSES).map(row).collect();
        let columns = vec![
            column("property", "Property", Unit::Text),
            column("class", "Class", Unit::Text),
            column("tracked", "Tracked", Unit::Count),
            column("not_tracked", "Not tracked", Unit::Count),
            column("one_in", "One in", Unit::Count),
        ];
        let title = "Classes of which not all objects are tracked".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(crate::report::Table { id: "sampled_classes", title, columns, rows }))
    }

    fn violations(&self, context: Context<'_>) -> Shape {
        let label = |violation: &Violation| {
            let Violation { property, of: whose, object, states, symbol, tid, history, stack } = *violation;
            let of = self.asked.properties.get(property);
            let state = of.map_or_else(String::new, |of| {
                states.list().map(|state| of.machine.state(state)).collect::<Vec<_>>().join(" or ")
            });
            let what = match (of, symbol) {
                (Some(of), Some(symbol)) => of.machine.symbol(symbol).to_owned(),
                _ => "(death)".to_owned(),
            };
            let place = if symbol.is_some() { super::site::label(context.stacks, stack) } else { String::new() };
            Some((
                of.map_or_else(String::new, |of| of.name.clone()),
                self.class(whose, context),
                u64::from(object),
                state,
                what,
                tid.map_or_else(String::new, |tid| context.names.thread(tid)),
                of.map_or_else(String::new, |of| told(of, history)),
                place,
            ))
        };
        self.violations.grouped(label).table(
            "violations",
            "Violations",
            columns(),
            |times| times.0,
            |(property, class, object, state, symbol, thread, history, place)| {
                vec![
                    property.into(),
                    class.into(),
                    object.into(),
                    state.into(),
                    symbol.into(),
                    thread.into(),
                    history.into(),
                    place.into(),
                ]
            },
            |times| vec![times.0.into()],
        )
    }

    fn skipped(&self) -> Option<Shape> {
        let rows: Vec<Vec<Cell>> = self
            .woven
            .skipped
            .iter()
            .map(|skipped| {
                let (method, descriptor) = skipped.method.clone().unwrap_or_default();
                vec![skipped.class.clone().into(), method.into(), descriptor.into(), skipped.reason.clone().into()]
            })
            .collect();
        let columns = vec![
            column("class", "Class", Unit::Text),
            column("method", "Method", Unit::Text),
            column("signature", "Signature", Unit::Text),
            column("reason", "Reason", Unit::Text),
        ];
        let title = "Left as they are".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(crate::report::Table { id: "skipped_methods", title, columns, rows }))
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("property", "Property", Unit::Text),
        column("class", "Class", Unit::Text),
        column("object", "Object", Unit::Count),
        column("state", "State", Unit::Text),
        column("symbol", "Symbol", Unit::Text),
        column("thread", "Thread", Unit::Text),
        column("history", "Symbols before", Unit::Text),
        column("place", "Place", Unit::Text),
        column("count", "Count", Unit::Count),
    ]
}

/// The symbols of a history, the oldest first.
fn told(property: &Property, history: u64) -> String {
    let symbols = (0..u64::BITS / HISTORY_BITS).rev().filter_map(|at| {
        let symbol = u8::try_from(history >> (at * HISTORY_BITS) & 0xff).ok()?.checked_sub(1)?;
        Some(property.machine.symbol(symbol))
    });
    symbols.collect::<Vec<_>>().join(" ")
}

impl Analysis for Typestate {
    fn lens(&self) -> Lens {
        Lens::Typestate
    }

    fn event(&mut self, event: &Event) {
        let Payload::IllegalTransition { place, state, object, class, history } = event.payload else {
            for violation in self.outside.event(event, &mut self.seen) {
                self.violated(violation);
            }
            return;
        };
        let Some((property, symbol)) = self.places.get(&place).copied() else { return };
        let states = States::only(self.state(property, state));
        if let Some(seen) = self.seen.get_mut(property) {
            seen.illegal += 1;
        }
        let (of, tid, symbol) = (Of::Object(class), Some(event.tid), Some(symbol));
        self.violated(Violation { property, of, object, states, symbol, tid, history, stack: event.stack });
    }

    fn subject(&mut self, subject: &SubjectDefinition) {
        self.outside.subject(subject);
    }

    fn guard(&mut self, action: &GuardAction) {
        self.outside.guard(action);
    }

    fn inside(&mut self, inside: &Inside) {
        match inside {
            Inside::Asked(asked) => {
                self.seen = vec![Seen::default(); asked.properties.len()];
                self.outside = Outside::new(&asked.properties);
                self.asked = asked.clone();
            }
            Inside::Place(place) => {
                if let Some(Meaning::Symbol { property, symbol }) = self.asked.meaning(place.marker) {
                    self.places.insert(place.id, (property, symbol));
                }
            }
            Inside::Class { number, name } => drop(self.classes.insert(*number, name.clone())),
            Inside::Woven(woven) => self.woven = woven.clone(),
            Inside::Lacks(what) => self.lacks.push(what.clone()),
            Inside::Sampled(sampled) => {
                let key = (sampled.property, sampled.class);
                if self.sampled.len() < ROWS || self.sampled.contains_key(&key) {
                    self.sampled.insert(key, sampled.clone());
                }
            }
            Inside::Unwoven(_) | Inside::Restored(_) => {}
        }
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        for mark in batch.marks() {
            self.take(&mark);
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let sum = |of: fn(&Seen) -> u64| self.seen.iter().map(of).sum();
        let summary = Summary::new()
            .int("objects", sum(|seen| seen.objects))
            .int("not_tracked", (0..self.seen.len()).map(|property| self.not_tracked(property)).sum())
            .int("transitions", sum(|seen| seen.transitions) + self.sum(&self.moved))
            .int("events", sum(|seen| seen.events))
            .int("suppressed", self.sum(&self.suppressed) + self.sum(&self.moved))
            .int("ignored", self.sum(&self.ignored))
            .int("illegal_transitions", sum(|seen| seen.illegal))
            .int("dead_violations", sum(|seen| seen.dead))
            .int("properties", self.asked.properties.len() as u64)
            .int("places", self.places.len() as u64)
            .int("skipped_methods", self.woven.skipped_count);
        let mut shapes = vec![self.violations(context), self.by_property()];
        shapes.extend(profile::shape(
            "illegal_stacks",
            "Illegal transitions by stack",
            Unit::Count,
            context,
            self.stacks.iter(),
            self.stacks.others().copied(),
        ));
        shapes.extend(self.sampling());
        shapes.extend(self.skipped());
        let mut notes = self.lacks.clone();
        notes.extend(self.outside.notes());
        notes.extend(self.violations.note("violations"));
        Section { id: Lens::Typestate.id(), title: "Typestate".to_owned(), summary, notes, shapes }
    }
}
