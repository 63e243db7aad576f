//! Lens `typestate`: whether objects are used as their protocols say.
//!
//! Every symbol of an object comes with the state in which the object was, so what it means does not depend on the order in which
//! buffers of different threads arrive. Threads, monitors and classes have their states here (`outside`).

mod outside;
mod tables;

use std::collections::{BTreeMap, HashMap};

use tracer_common::marks::WordKind;
use tracer_weave::control::{DEAD, Sampled};

use self::outside::Outside;
use super::{
    Analysis, Context, Lens,
    ended::EndedThreads,
    profile::Amounts,
    table::{Keyed, Merge},
};
use crate::{
    event::{Event, NameId, Payload, StackId, Tid},
    item::GuardAction,
    mark::{Asked, CodeBefore, Inside, Mark, MarkBatch, Meaning, What, Woven},
    report::{Section, Summary, Unit},
    subject::SubjectDefinition,
    typestate::{
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
    /// Where there are markers too, theirs is the section that says so.
    fn note_running(&mut self, woven: &Woven, what: &str) {
        if self.asked.markers.is_empty() {
            self.lacks.extend(woven.code_before.as_ref().and_then(CodeBefore::sentence));
            self.lacks.extend(woven.still_running(what));
        }
    }

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

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.stacks.sum_up(ended);
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
            Inside::Woven(woven) => {
                self.woven = woven.clone();
                self.note_running(woven, "weaving");
            }
            Inside::Lacks(what) => self.lacks.push(what.clone()),
            Inside::Sampled(sampled) => {
                let key = (sampled.property, sampled.class);
                if self.sampled.len() < ROWS || self.sampled.contains_key(&key) {
                    self.sampled.insert(key, sampled.clone());
                }
            }
            Inside::Unwoven(woven) => self.note_running(woven, "taking symbols out"),
            Inside::Restored(woven) => self.note_running(woven, "restoring"),
            // Objects are told of by their numbers.
            Inside::Size { .. } => {}
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
        shapes.extend(self.stacks.shape("illegal_stacks", "Illegal transitions by stack", Unit::Count, context));
        shapes.extend(self.sampling());
        shapes.extend(self.skipped());
        let mut notes = self.lacks.clone();
        notes.extend(self.outside.notes());
        notes.extend(self.violations.note("violations"));
        Section { id: Lens::Typestate.id(), title: "Typestate".to_owned(), summary, notes, shapes }
    }
}
