//! What is woven into a JVM: its options, and what comes before it is.

mod refused;

use std::ffi::OsString;

use tracer_common::marks::switch;
use tracer_weave::{
    Rule,
    control::{DEAD, MachineTable, Order},
};

use self::refused::{check, not_slow, not_too_many, not_without_symbols};
use super::{Failure, attach::say, markers::MarkerOptions};
use crate::{
    inside::{
        compiled::{self, Decision},
        library,
        visit::{self, Visit},
    },
    jvm::find::Jvm,
    lens::Lens,
    live::{
        inside::{InsideLane, Telling},
        thread_gate::Questions,
    },
    mark::Asked,
    marker::{Spec, Wish},
    probe::plan::Plan,
    typestate::{Property, machine::Machine},
};

/// Smallest share of objects that can be asked for is one of so many: hashes have 31 bits.
const MOST_ONE_IN: u32 = 1 << 20;

/// Options of what needs a library in the JVM.
#[derive(Clone, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct InsideOptions {
    /// Load jtrace's library into the JVM, for the lenses markers and typestate; it leaves when jtrace does
    #[arg(long)]
    pub(super) inside: bool,

    #[command(flatten)]
    pub(super) markers: MarkerOptions,

    /// A property: a file, or a name of `jtrace typestate list`; can be repeated
    #[arg(short, long, value_name = "FILE|NAME")]
    pub(super) property: Vec<String>,

    /// What these are: they are read once.
    #[arg(skip)]
    pub(super) properties: Vec<Property>,

    /// The marker of methods that are chosen for `--lane inside`
    #[arg(skip)]
    pub(super) calls: Option<Wish>,
    /// The marker of allocations in them.
    #[arg(skip)]
    pub(super) objects: Option<Wish>,
    /// The markers of calls whose costs are asked for, and of what is told of within them.
    #[arg(skip)]
    pub(super) explained: Vec<Wish>,
    /// Whether it is asked who calls whom, too.
    #[arg(skip)]
    pub(super) callers: bool,

    /// Tell also of symbols that leave an object in its state
    #[arg(long)]
    pub(super) no_adaptive: bool,

    /// Weave, and leave everything switched off: what woven code costs by itself
    #[arg(long, hide = true)]
    pub(super) off: bool,

    /// Follow one of N objects of each class from the beginning on: `1/N`. The others are ignored for all of their life
    #[arg(long, value_name = "1/N", value_parser = one_in)]
    pub(super) sample: Option<u32>,

    /// Accept patterns that match nothing yet: classes are woven when they are loaded
    #[arg(long)]
    pub(super) later: bool,
}

/// What is to be woven.
#[derive(Debug)]
pub(super) struct Wanted {
    asked: Asked,
    rules: Vec<Rule>,
    telling: Vec<Telling>,
    one_in: u32,
    machines: Vec<MachineTable>,
    symbols: Vec<(u32, u8, u8)>,
    later: bool,
    yes: bool,
}

impl InsideOptions {
    /// The lenses of what is named.
    pub(super) fn lenses(&self) -> Vec<Lens> {
        let chosen = self.calls.iter().chain(&self.objects).chain(&self.explained).next();
        let markers = self.markers.is_named() || chosen.is_some();
        let named = [(markers, Lens::Markers), (!self.property.is_empty(), Lens::Typestate)];
        named.into_iter().filter(|(is_named, _)| self.inside && *is_named).map(|(_, lens)| lens).collect()
    }

    /// What is to be woven, where some of the lenses need that.
    pub(super) fn wanted(&self, lenses: &[Lens], each: bool, yes: bool) -> Result<Option<Wanted>, Failure> {
        if lenses.contains(&Lens::Explain) && self.explained.is_empty() {
            return Err(Failure::usage(
                "the lens explain is about a call, and none is named",
                "use `jtrace explain-call PID 'CLASS::METHOD'`".to_owned(),
            ));
        }
        if !lenses.iter().any(|lens| lens.is_inside()) {
            return Ok(None);
        }
        let mut spec = self.markers.read()?;
        self.add_chosen(&mut spec)?;
        let telling: Vec<Telling> = spec.wishes.iter().map(|wish| self.telling(&spec, wish, each)).collect();
        let mut rules = spec.rules();
        for rule in &mut rules {
            let telling = telling.get(rule.marker as usize);
            rule.counted = telling.is_some_and(|telling| telling.switch & switch::COUNT != 0);
        }
        let mut wanted = Wanted {
            telling,
            one_in: self.sample.unwrap_or(1),
            asked: spec.asked(),
            rules,
            machines: Vec::new(),
            symbols: Vec::new(),
            later: self.later,
            yes,
        };
        for property in &self.properties {
            wanted.add(property.clone(), !self.no_adaptive)?;
        }
        if !self.inside && !wanted.rules.is_empty() {
            return Err(Failure::usage(
                "markers, and typestate of objects, need a library in the JVM",
                "add --inside if it may be loaded: it weaves what you name, and restores it when jtrace ends"
                    .to_owned(),
            ));
        }
        if self.off {
            wanted.telling.iter_mut().for_each(|telling| telling.switch = 0);
        }
        if wanted.rules.is_empty() && wanted.asked.properties.is_empty() {
            return Err(Failure::usage(
                "nothing is named that could be woven",
                "name markers (--marker, --spec) or properties (-p); `jtrace typestate list` shows some".to_owned(),
            ));
        }
        Ok(Some(wanted))
    }

    /// How the marks of a marker are told.
    fn telling(&self, spec: &Spec, wish: &Wish, each: bool) -> Telling {
        let does_count = spec.is_countable(wish);
        // Exact counts are worth more than times of a part of the calls.
        let can_count = does_count || spec.is_countable_without_times(wish);
        // Who calls whom is known of marks that are told one by one, and of those that are counted by what is around them.
        let in_contexts = self.callers && wish.marker.is_of_calls();
        // What is around objects is known where no call is told one by one.
        let is_counted = |of: &Wish| of.marker.is_of_calls() && spec.is_countable(of);
        let made_in = self.callers && !each && wish.marker.is_of_objects() && spec.wishes.iter().any(is_counted);
        let contexts = match (in_contexts, made_in) {
            (true, _) => switch::CONTEXTS,
            (false, true) => switch::MADE_IN,
            (false, false) => 0,
        };
        let counted = switch::COUNT | contexts;
        let is_each = each && !wish.marker.is_of_objects();
        let now = if does_count && !is_each { counted } else { 0 };
        let time = if wish.marker.time { switch::TIME } else { 0 };
        Telling {
            switch: switch::ON | now | time,
            counted: if can_count { counted } else { 0 },
            receiver: wish.receiver,
            arguments: wish.arguments,
        }
    }
}

impl Wanted {
    /// The markers and properties.
    pub(super) fn asked(&self) -> Asked {
        self.asked.clone()
    }

    /// Whether some of them need something in the JVM.
    pub(super) fn is_woven(&self) -> bool {
        !self.rules.is_empty()
    }

    /// What markers ask of threads.
    pub(super) fn questions(&self) -> Option<Questions> {
        Questions::of(&self.asked, self.telling.iter().any(|telling| telling.receiver))
    }

    /// Adds a property: its symbols are numbered behind the markers and the properties before.
    fn add(&mut self, property: Property, is_adaptive: bool) -> Result<(), Failure> {
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
            return Err(Failure::usage(
                format!("the property `{}` has more states than woven code can follow", property.name),
                format!("at most {DEAD}, the dead one included"),
            ));
        }
        let rules = property.rules(first);
        let mode = switch::ON | if is_adaptive { switch::ADAPTIVE } else { 0 };
        for (symbol, marker) in (0..property.machine.symbols.len()).zip(first..) {
            self.symbols.push((marker, number, u8::try_from(symbol).unwrap_or(u8::MAX)));
            self.telling.push(Telling { switch: mode, ..Telling::default() });
        }
        self.machines.push(table(number, &property.machine, self.one_in));
        self.rules.extend(rules);
        self.asked.properties.push(property);
        Ok(())
    }
}

impl InsideOptions {
    /// Adds the markers of what `--lane inside` counts to those that were named.
    fn add_chosen(&self, spec: &mut Spec) -> Result<(), Failure> {
        for wish in self.calls.iter().chain(&self.objects).chain(&self.explained) {
            if spec.wishes.iter().any(|other| other.marker.name == wish.marker.name) {
                return Err(Failure::usage(
                    format!("the name `{}` is that of another marker", wish.marker.name),
                    "give the marker another name".to_owned(),
                ));
            }
            spec.wishes.push(wish.clone());
        }
        Ok(())
    }
}

/// Reads `1/N`.
fn one_in(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("1/").and_then(|number| number.parse().ok());
    number
        .filter(|number| (1..=MOST_ONE_IN).contains(number))
        .ok_or_else(|| format!("`{text}` is no share of objects: write 1/N, with N from 1 to {MOST_ONE_IN}, as in 1/4"))
}

fn too_many() -> Failure {
    Failure::usage("too many properties", "at most 255 at a time".to_owned())
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

/// Loads the library, weaves, and adds its sites to the plan.
pub(super) fn lane(
    wanted: Option<Wanted>,
    jvm: &Jvm,
    plan: &mut Plan,
    lenses: &[Lens],
) -> Result<Option<InsideLane>, Failure> {
    let Some(wanted) = wanted.filter(Wanted::is_woven) else { return Ok(None) };
    let Wanted { asked, rules, telling, one_in, machines, symbols, later, yes } = wanted;
    let sites =
        library::sites(lenses).map_err(|reason| Failure::new(format!("the library in jtrace: {reason}"), None))?;
    if jvm.target.jdk_release >= 21 {
        say("the JVM will print a warning that an agent was loaded into it: that is jtrace's library");
    }
    let mut visit = Visit::begin(jvm)?;
    let (matched, methods) = visit.matched(&rules)?;
    check(&mut visit, &asked, &rules, &matched, methods, later, yes)?;
    let Decision { order: compiled, said } = compiled::decide(jvm, &matched, yes);
    if !yes {
        not_slow(&said)?;
        if !machines.is_empty() {
            not_without_symbols(&said)?;
        }
    }
    visit.weave(&Order::Weave { rules, machines, symbols, compiled }, Some(said))?;
    plan.sites.extend(sites);
    Ok(Some(InsideLane::new(visit, &asked, telling, one_in)))
}

/// What is to be woven into a JVM that jtrace starts.
pub(super) struct Coming {
    library: visit::Coming,
    order: Order,
    rules: Vec<Rule>,
    yes: bool,
}

/// Makes the library ready for a JVM that is to start with it, and adds its sites to the plan.
pub(super) fn coming(wanted: Wanted, plan: &mut Plan, lenses: &[Lens]) -> Result<(Coming, InsideLane), Failure> {
    let Wanted { asked, rules, telling, one_in, machines, symbols, later: _, yes } = wanted;
    let sites =
        library::sites(lenses).map_err(|reason| Failure::new(format!("the library in jtrace: {reason}"), None))?;
    plan.sites.extend(sites);
    let library = visit::Coming::place()?;
    let lane = InsideLane::coming(library.path().to_owned(), &asked, telling, one_in);
    let order = Order::Weave { rules: rules.clone(), machines, symbols, compiled: None };
    Ok((Coming { library, order, rules, yes }, lane))
}

impl Coming {
    /// The JVM's option that loads the library.
    pub(super) fn option(&self) -> OsString {
        self.library.option()
    }

    /// Weaves when the JVM is up. Of the program nothing is loaded then, so that a pattern matches nothing yet says nothing.
    pub(super) fn weave(self, jvm: &Jvm) -> Result<Visit, Failure> {
        let Self { library, order, rules, yes } = self;
        let mut visit = library.arrive(jvm)?;
        let (_, methods) = visit.matched(&rules)?;
        if !yes {
            not_too_many(methods)?;
        }
        visit.weave(&order, None)?;
        Ok(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_told_with_its_dead_state_last() {
        let property = crate::cli::typestate::property("hasnext").expect("it is in the library");
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
