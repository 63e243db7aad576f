//! What is woven into a JVM: markers and properties become rules of woven code, and the library that weaves them is loaded.
//!
//! [`Weaving`] is all that is asked for. A JVM that runs is woven at once ([`Weaving::weave`]), one that is about to start when it is up
//! ([`WeavingAtStart`]).

mod looping;
mod refused;

use std::ffi::OsString;

use tracer_common::marks::switch;
use tracer_weave::{
    Rule,
    control::{DEAD, MachineTable, Order},
};

use self::refused::{check, not_slow, not_too_many, not_without_symbols};
use super::Error;
use crate::{
    inside::{
        compiled::{self, Decision},
        library,
        visit::{self, Found, Visit},
    },
    jvm::find::Jvm,
    lens::Lens,
    live::{
        inside::{InsideLane, Telling},
        thread_gate::Questions,
    },
    mark::Asked,
    marker::{Spec, Wish},
    probe::plan::{Plan, PlannedSite},
    standard_error,
    typestate::{Property, machine::Machine},
};

/// How marks are told, and how much may be woven.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct WeavingOptions {
    /// Whether it is asked who calls whom, too.
    pub callers: bool,
    /// Whether calls are told one by one, where they could be counted.
    pub one_by_one: bool,
    /// Whether symbols that leave an object in its state may be left out.
    pub adaptive: bool,
    /// One of so many objects of each class is followed.
    pub one_in: u32,
    /// Whether patterns may match nothing yet.
    pub later: bool,
    /// Whether much may be woven, and the program may be slow for a while.
    pub yes: bool,
}

/// What is to be woven.
#[derive(Debug)]
pub struct Weaving {
    asked: Asked,
    rules: Vec<Rule>,
    telling: Vec<Telling>,
    machines: Vec<MachineTable>,
    symbols: Vec<(u32, u8, u8)>,
    options: WeavingOptions,
}

impl Weaving {
    /// The markers of a specification, and properties.
    pub fn new(spec: &Spec, properties: &[Property], options: WeavingOptions) -> Result<Self, Error> {
        let telling: Vec<Telling> = spec.wishes.iter().map(|wish| telling(spec, wish, options)).collect();
        let mut rules = spec.rules();
        for rule in &mut rules {
            let telling = telling.get(rule.marker as usize);
            rule.counted = telling.is_some_and(|telling| telling.switch & switch::COUNT != 0);
        }
        let (machines, symbols) = (Vec::new(), Vec::new());
        let mut weaving = Self { asked: spec.asked(), rules, telling, machines, symbols, options };
        for property in properties {
            weaving.add(property.clone())?;
        }
        Ok(weaving)
    }

    /// The same, with everything switched off.
    #[must_use]
    pub fn switched_off(mut self) -> Self {
        self.telling.iter_mut().for_each(|telling| telling.switch = 0);
        self
    }

    /// The markers and properties.
    pub fn asked(&self) -> Asked {
        self.asked.clone()
    }

    /// Whether some of them need something in the JVM.
    pub fn is_woven(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether there is nothing to follow, neither in woven code nor from outside.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.asked.properties.is_empty()
    }

    /// What markers ask of threads.
    pub(super) fn questions(&self) -> Option<Questions> {
        Questions::of(&self.asked, self.telling.iter().any(|telling| telling.receiver))
    }

    /// Adds a property: its symbols are numbered behind the markers and the properties before.
    fn add(&mut self, property: Property) -> Result<(), Error> {
        if !property.key.is_woven() {
            // Its symbols have numbers, and nothing is switched by them.
            self.telling.extend(property.machine.symbols.iter().map(|_| Telling::default()));
            self.asked.properties.push(property);
            return Ok(());
        }
        let before: usize = self.asked.properties.iter().map(|of| of.machine.symbols.len()).sum();
        let first = u32::try_from(self.asked.markers.len() + before).unwrap_or(u32::MAX);
        let number = u8::try_from(self.asked.properties.len() + 1).map_err(|_| too_many())?;
        if property.machine.states.len() > usize::from(DEAD) || property.machine.symbols.len() > usize::from(DEAD) {
            return Err(Error::usage(
                format!("the property `{}` has more states than woven code can follow", property.name),
                format!("at most {DEAD}, the dead one included"),
            ));
        }
        let rules = property.rules(first);
        let mode = switch::ON | if self.options.adaptive { switch::ADAPTIVE } else { 0 };
        for (symbol, marker) in (0..property.machine.symbols.len()).zip(first..) {
            self.symbols.push((marker, number, u8::try_from(symbol).unwrap_or(u8::MAX)));
            self.telling.push(Telling { switch: mode, ..Telling::default() });
        }
        self.machines.push(table(number, &property.machine, self.options.one_in));
        self.rules.extend(rules);
        self.asked.properties.push(property);
        Ok(())
    }

    /// Loads the library, weaves, and adds its sites to the plan.
    pub(super) fn weave(self, jvm: &Jvm, plan: &mut Plan, lenses: &[Lens]) -> Result<InsideLane, Error> {
        let Self { asked, mut rules, telling, machines, symbols, options } = self;
        let WeavingOptions { one_in, later, yes, .. } = options;
        let sites = sites_of_library(lenses)?;
        if jvm.target.jdk_release >= 21 {
            standard_error::line(format_args!(
                "the JVM will print a warning that an agent was loaded into it: that is jtrace's library"
            ));
        }
        let mut visit = Visit::begin(jvm)?;
        let mut found = visit.matched(&rules)?;
        let left_out = if yes { Vec::new() } else { looping::leave_out(&mut rules, &found.looping) };
        if !left_out.is_empty() {
            let before = found;
            found = visit.matched(&rules)?;
            looping::something_is_left(&before, &found, !machines.is_empty())?;
        }
        let Found { rules: matched, methods, .. } = found;
        check(&mut visit, &asked, &rules, &matched, methods, later, yes)?;
        let Decision { order: compiled, said } = compiled::decide(jvm, &matched, yes);
        if !yes {
            not_slow(&said)?;
            if !machines.is_empty() {
                not_without_symbols(&said)?;
            }
        }
        looping::say(&left_out);
        visit.weave(&Order::Weave { rules, machines, symbols, compiled }, Some(said), left_out)?;
        plan.sites.extend(sites);
        Ok(InsideLane::new(visit, &asked, telling, one_in))
    }

    /// Makes the library ready for a JVM that is to start with it, and adds its sites to the plan.
    pub(super) fn at_start(self, plan: &mut Plan, lenses: &[Lens]) -> Result<(WeavingAtStart, InsideLane), Error> {
        let Self { asked, rules, telling, machines, symbols, options } = self;
        plan.sites.extend(sites_of_library(lenses)?);
        let library = visit::Coming::place()?;
        let lane = InsideLane::coming(library.path().to_owned(), &asked, telling, options.one_in);
        let order = Order::Weave { rules: rules.clone(), machines, symbols, compiled: None };
        Ok((WeavingAtStart { library, order, rules, yes: options.yes }, lane))
    }
}

/// How the marks of a marker are told.
fn telling(spec: &Spec, wish: &Wish, options: WeavingOptions) -> Telling {
    let WeavingOptions { callers, one_by_one, .. } = options;
    let does_count = spec.is_countable(wish);
    // Exact counts are worth more than times of a part of the calls.
    let can_count = does_count || spec.is_countable_without_times(wish);
    // Who calls whom is known of marks that are told one by one, and of those that are counted by what is around them.
    let in_contexts = callers && wish.marker.is_of_calls();
    // What is around objects is known where no call is told one by one.
    let is_counted = |of: &Wish| of.marker.is_of_calls() && spec.is_countable(of);
    let made_in = callers && !one_by_one && wish.marker.is_of_objects() && spec.wishes.iter().any(is_counted);
    let contexts = match (in_contexts, made_in) {
        (true, _) => switch::CONTEXTS,
        (false, true) => switch::MADE_IN,
        (false, false) => 0,
    };
    let counted = switch::COUNT | contexts;
    let is_each = one_by_one && !wish.marker.is_of_objects();
    let now = if does_count && !is_each { counted } else { 0 };
    let time = if wish.marker.time { switch::TIME } else { 0 };
    Telling {
        switch: switch::ON | now | time,
        counted: if can_count { counted } else { 0 },
        receiver: wish.receiver,
        arguments: wish.arguments,
    }
}

fn too_many() -> Error {
    Error::usage("too many properties", "at most 255 at a time".to_owned())
}

/// A machine as woven code sees it.
fn table(property: u8, machine: &Machine, one_in: u32) -> MachineTable {
    let numbered = |state: u8| if state == machine.dead() { DEAD } else { state };
    let states = 0..u8::try_from(machine.states.len()).unwrap_or(DEAD);
    let symbols = 0..u8::try_from(machine.symbols.len()).unwrap_or(DEAD);
    let mut next: Vec<Vec<u8>> =
        symbols.map(|symbol| states.clone().map(|state| numbered(machine.step(state, symbol))).collect()).collect();
    let mut may_end: Vec<bool> = states.map(|state| machine.may_end(state)).collect();
    may_end.resize(usize::from(DEAD) + 1, true);
    for row in &mut next {
        row.resize(usize::from(DEAD) + 1, DEAD);
    }
    MachineTable { property, next, may_end, one_in }
}

/// The sites of the library that lenses need.
fn sites_of_library(lenses: &[Lens]) -> Result<Vec<PlannedSite>, Error> {
    library::sites(lenses).map_err(|reason| Error::refused(format!("the library in jtrace: {reason}"), None))
}

/// What is to be woven into a JVM that jtrace starts.
pub(super) struct WeavingAtStart {
    library: visit::Coming,
    order: Order,
    rules: Vec<Rule>,
    yes: bool,
}

impl WeavingAtStart {
    /// The JVM's option that loads the library.
    pub(super) fn option(&self) -> OsString {
        self.library.option()
    }

    /// Weaves when the JVM is up. Of the program nothing is loaded then, so that a pattern matches nothing yet says nothing.
    pub(super) fn weave(self, jvm: &Jvm) -> Result<Visit, Error> {
        let Self { library, order, rules, yes } = self;
        let mut visit = library.arrive(jvm)?;
        let Found { methods, .. } = visit.matched(&rules)?;
        if !yes {
            not_too_many(methods)?;
        }
        visit.weave(&order, None, Vec::new())?;
        Ok(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typestate::library::Entry;

    #[test]
    fn a_machine_is_told_with_its_dead_state_last() {
        let entry = Entry::find("hasnext").expect("it is in the library");
        let property = Property::parse(entry.file, entry.text).expect("it is right");
        let MachineTable { next, may_end, .. } = table(1, &property.machine, 1);
        assert_eq!(next.len(), property.machine.symbols.len());
        for (symbol, states) in (0..).zip(&next) {
            assert_eq!(states.len(), usize::from(DEAD) + 1);
            for (state, to) in (0..property.machine.dead()).zip(states) {
                let step = property.machine.step(state, symbol);
                assert_eq!(*to, if step == property.machine.dead() { DEAD } else { step });
            }
            assert_eq!(states[usize::from(DEAD)], DEAD, "nothing leads out of it");
        }
        assert!(may_end[usize::from(DEAD)], "it was reported already");
    }
}
