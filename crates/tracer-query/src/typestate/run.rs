//! What a machine says of events: the meaning of typestate, without a JVM. The run-time part must say the same.

use std::collections::BTreeMap;

use super::machine::{Machine, State, Symbol};

/// Something that happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A method of it is called that is a symbol.
    Symbol(u64, Symbol),
    /// It dies.
    Death(u64),
}

/// A violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A symbol that is illegal in the object's state. Nothing is said of the object afterwards.
    Illegal(u64, State, Symbol),
    /// The object died, or the program ended, in a state that does not accept.
    Dead(u64, State),
}

/// Whether symbols that are no news are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// All are told.
    All,
    /// Legal ones of an object that is known are not (AOPA): they are counted.
    Adaptive,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The violations, in their order; those found at the end come last, by object.
    pub verdicts: Vec<Verdict>,
    /// Objects that were followed.
    pub objects: u64,
    /// Symbols that were told.
    pub events: u64,
    /// Symbols that were not.
    pub suppressed: u64,
    /// Symbols that changed a state.
    pub transitions: u64,
}

impl Machine {
    /// Follows objects through events to the end of a program.
    pub fn run(&self, events: impl IntoIterator<Item = Event>, telling: Telling) -> Outcome {
        let mut outcome = Outcome::default();
        let mut states: BTreeMap<u64, State> = BTreeMap::new();
        for event in events {
            match event {
                Event::Symbol(object, symbol) => {
                    let known = states.get(&object).copied();
                    let state = known.unwrap_or(self.start);
                    let next = self.step(state, symbol);
                    let is_illegal = next == self.dead() && state != next;
                    if telling == Telling::Adaptive && known.is_some() && !is_illegal {
                        outcome.suppressed += 1;
                    } else {
                        outcome.events += 1;
                    }
                    outcome.objects += u64::from(known.is_none());
                    if is_illegal {
                        outcome.verdicts.push(Verdict::Illegal(object, state, symbol));
                    }
                    outcome.transitions += u64::from(next != state);
                    states.insert(object, next);
                }
                Event::Death(object) => {
                    let ended = states.remove(&object).and_then(|state| self.ended(object, state));
                    outcome.verdicts.extend(ended);
                }
            }
        }
        outcome.verdicts.extend(states.into_iter().filter_map(|(object, state)| self.ended(object, state)));
        outcome
    }

    fn ended(&self, object: u64, state: State) -> Option<Verdict> {
        (!self.may_end(state)).then_some(Verdict::Dead(object, state))
    }
}
