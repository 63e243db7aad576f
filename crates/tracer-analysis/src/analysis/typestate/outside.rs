//! Properties of threads, monitors and classes, followed by events.

use std::collections::{HashMap, HashSet};

use super::{HISTORY_BITS, Of, Seen, Violation};
use crate::{
    event::{Edge, Event, MonitorAction, NameId, Payload, StackId, SubjectId, Tid},
    item::GuardAction,
    lens::Lens,
    subject::SubjectDefinition,
    typestate::{
        Key, Property,
        machine::Symbol,
        outside::{States, names},
    },
};

/// Most threads, monitors and classes with a state, of all properties.
const FOLLOWED: usize = 65_536;
/// Most threads of which it is known that they began while jtrace watched.
const BEGUN: usize = 65_536;

/// What has a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Who {
    Thread(Tid),
    /// By the address of its structure, and the class of its object: a structure that rests is used again for other objects.
    Monitor(u64, NameId),
    /// By the number that it got here.
    Class(u32),
}

/// What is known of it.
#[derive(Clone, Copy, Debug)]
struct Followed {
    states: States,
    history: u64,
    of: Of,
    number: u32,
}

/// What the entry or return of a method is.
#[derive(Clone, Debug)]
struct Called {
    /// Number of its class.
    class: u32,
    /// Symbols of properties.
    symbols: Vec<(usize, Symbol)>,
}

/// The properties that are followed so, and how far everything is.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// All of the session, by their numbers; those that are woven are passed over.
    properties: Vec<Property>,
    followed: HashMap<(usize, Who), Followed>,
    methods: HashMap<(SubjectId, Edge), Called>,
    /// Symbols of functions of JNI and of what is done with monitors: all their names are known beforehand.
    named: HashMap<(Key, &'static str), Vec<(usize, Symbol)>>,
    classes: Vec<String>,
    begun: HashSet<Tid>,
    /// Properties whose events were not all seen.
    interrupted: Vec<bool>,
    /// Symbols of what found no room.
    others: u64,
}

/// Which events the symbols of a key come from.
const fn lens(key: Key) -> Option<Lens> {
    match key {
        Key::Object => None,
        Key::Thread | Key::Class => Some(Lens::Methods),
        Key::Monitor => Some(Lens::Locks),
        Key::Jni => Some(Lens::Jni),
    }
}

impl Outside {
    pub(super) fn new(properties: &[Property]) -> Self {
        let mut named: HashMap<_, Vec<_>> = HashMap::new();
        for (property, of) in properties.iter().enumerate() {
            for name in names(of.key).into_iter().flatten() {
                if let Some(symbol) = of.symbol_named(name) {
                    named.entry((of.key, name)).or_default().push((property, symbol));
                }
            }
        }
        let interrupted = vec![false; properties.len()];
        Self { properties: properties.to_vec(), named, interrupted, ..Self::default() }
    }

    /// Name of a class, by the number that violations have.
    pub(super) fn class(&self, number: u32) -> Option<&String> {
        self.classes.get(usize::try_from(number).ok()?)
    }

    /// A method that events will be about.
    pub(super) fn subject(&mut self, definition: &SubjectDefinition) {
        for edge in [Edge::Begin, Edge::End] {
            let symbol = |(property, of): (usize, &Property)| {
                let symbol = of.symbol_of_method(&definition.subject, edge)?;
                (lens(of.key) == Some(Lens::Methods)).then_some((property, symbol))
            };
            let symbols: Vec<_> = self.properties.iter().enumerate().filter_map(symbol).collect();
            if !symbols.is_empty() {
                let class = self.class_number(&definition.subject.class);
                self.methods.insert((definition.id, edge), Called { class, symbols });
            }
        }
    }

    fn class_number(&mut self, name: &str) -> u32 {
        let index = self.classes.iter().position(|known| known == name).unwrap_or_else(|| {
            self.classes.push(name.to_owned());
            self.classes.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// Sites went away, or tell less: what happens meanwhile is not known.
    pub(super) fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        for (property, of) in self.properties.iter().enumerate().filter(|(_, of)| lens(of.key) == Some(action.lens)) {
            if let Some(interrupted) = self.interrupted.get_mut(property) {
                *interrupted = true;
            }
            let followed = self.followed.iter_mut().filter(|((other, _), _)| *other == property);
            followed.for_each(|(_, followed)| followed.states = States::any(&of.machine));
        }
    }

    /// Takes an event; gives the violations that it is, and adds to what was seen.
    pub(super) fn event(&mut self, event: &Event, seen: &mut [Seen]) -> Vec<Violation> {
        let thread = Who::Thread(event.tid);
        match event.payload {
            Payload::JniCall { function, .. } => {
                self.named((Key::Jni, function.name()), (thread, Of::Thread), event, seen)
            }
            Payload::Monitor { action, monitor, class } => {
                self.named((Key::Monitor, action.word()), (Who::Monitor(monitor, class), Of::Name(class)), event, seen)
            }
            Payload::Method { edge, method, wanted: true, .. } => self.method((method, edge), event, seen),
            Payload::Thread { edge: Edge::Begin, .. } => {
                if self.begun.len() < BEGUN {
                    self.begun.insert(event.tid);
                }
                Vec::new()
            }
            Payload::Thread { edge: Edge::End, .. } => {
                self.begun.remove(&event.tid);
                self.ended(Some(thread), event, seen)
            }
            Payload::VmShutdown => self.ended(None, event, seen),
            _ => Vec::new(),
        }
    }

    /// A function of JNI, or what was done with a monitor.
    fn named(&mut self, name: (Key, &'static str), who: (Who, Of), event: &Event, seen: &mut [Seen]) -> Vec<Violation> {
        let Some(symbols) = self.named.get(&name).cloned() else { return Vec::new() };
        symbols.into_iter().filter_map(|symbol| self.take(symbol, who, event, seen)).collect()
    }

    fn method(&mut self, at: (SubjectId, Edge), event: &Event, seen: &mut [Seen]) -> Vec<Violation> {
        let Some(Called { class, symbols }) = self.methods.get(&at).cloned() else { return Vec::new() };
        let taken = symbols.into_iter().filter_map(|(property, symbol)| {
            let who = match self.properties.get(property)?.key {
                Key::Class => (Who::Class(class), Of::Class(class)),
                _ => (Who::Thread(event.tid), Of::Thread),
            };
            self.take((property, symbol), who, event, seen)
        });
        taken.collect()
    }

    /// Takes a symbol; a violation if it is illegal wherever its key may be.
    fn take(
        &mut self,
        (property, symbol): (usize, Symbol),
        (who, of): (Who, Of),
        event: &Event,
        seen: &mut [Seen],
    ) -> Option<Violation> {
        let machine = &self.properties.get(property)?.machine;
        let seen = seen.get_mut(property)?;
        seen.events += 1;
        if self.followed.len() >= FOLLOWED && !self.followed.contains_key(&(property, who)) {
            self.others += 1;
            return None;
        }
        let followed = self.followed.entry((property, who)).or_insert_with(|| {
            seen.objects += 1;
            let begins_here = match who {
                Who::Thread(tid) => self.begun.contains(&tid),
                // What it ends began before.
                Who::Monitor(..) => !matches!(
                    event.payload,
                    Payload::Monitor {
                        action: MonitorAction::Waited | MonitorAction::ContendedEntered | MonitorAction::ContendedExit,
                        ..
                    }
                ),
                Who::Class(_) => false,
            };
            let is_new = begins_here && self.interrupted.get(property) == Some(&false);
            let states = if is_new { States::only(machine.start) } else { States::any(machine) };
            let number = match who {
                Who::Thread(tid) => tid.0,
                Who::Monitor(..) | Who::Class(_) => u32::try_from(seen.objects).unwrap_or(u32::MAX),
            };
            Followed { states, history: 0, of, number }
        });
        let before = *followed;
        followed.history = before.history << HISTORY_BITS | (u64::from(symbol) + 1);
        let next = before.states.step(machine, symbol);
        // What was illegal is reported and changes nothing: the thread, monitor or class goes on living.
        followed.states = next.unwrap_or(before.states);
        seen.transitions += u64::from(followed.states != before.states);
        seen.illegal += u64::from(next.is_none());
        next.is_none().then(|| violation(property, &before, Some(symbol), Some(event.tid), event.stack))
    }

    /// A thread, or everything, has ended.
    fn ended(&mut self, who: Option<Who>, event: &Event, seen: &mut [Seen]) -> Vec<Violation> {
        let is_over = |key: &(usize, Who)| who.is_none_or(|who| key.1 == who);
        let mut over: Vec<_> = self.followed.extract_if(|key, _| is_over(key)).collect();
        over.sort_unstable_by_key(|(key, _)| *key);
        let mut violations = Vec::new();
        for ((property, who), followed) in over {
            let Some(of) = self.properties.get(property) else { continue };
            if followed.states.may_end(&of.machine) {
                continue;
            }
            if let Some(seen) = seen.get_mut(property) {
                seen.dead += 1;
            }
            let tid = match who {
                Who::Thread(tid) => Some(tid),
                Who::Monitor(..) | Who::Class(_) => None,
            };
            violations.push(violation(property, &followed, None, tid, event.stack));
        }
        violations
    }

    /// What could not be followed, as sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let interrupted = self.properties.iter().zip(&self.interrupted).filter(|(_, interrupted)| **interrupted);
        let mut notes: Vec<String> = interrupted
            .map(|(of, _)| {
                format!(
                    "{}: its sites were away for a while; what was known before was forgotten, and violations may have been \
                     missed.",
                    of.name
                )
            })
            .collect();
        if self.others > 0 {
            notes.push(format!(
                "{} symbols of threads, monitors and classes beyond the first {FOLLOWED} were not followed.",
                self.others
            ));
        }
        notes
    }
}

const fn violation(
    property: usize,
    followed: &Followed,
    symbol: Option<Symbol>,
    tid: Option<Tid>,
    stack: StackId,
) -> Violation {
    let Followed { states, history, of, number } = *followed;
    Violation { property, of, object: number, states, symbol, tid, history, stack }
}

#[cfg(test)]
mod tests;
