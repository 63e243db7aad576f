//! Which classes are woven, with what.
//!
//! Classes that are there are exchanged ([`crate::exchange`]): the JVM offers the original bytes to [`hook`], which answers with woven
//! ones while there are rules for the class, and with nothing when there are none any more. A class that is loaded later is offered
//! to the same function.

mod below;
mod hooks;
mod look;
mod numbers;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use jvmti_bindings::sys::jni::jint;
use tracer_common::marks::switch;
use tracer_weave::{
    PlaceDefinition, Rule, Skipped,
    control::{Done, NEEDED, Told},
    weave::{Woven, weave},
};

use self::{
    below::Below,
    look::{look_below, may_have_places, needed},
    numbers::Numbers,
};
pub(crate) use self::{
    hooks::{hook, prepared},
    look::{classes, loaded, matched},
};
use crate::{
    exchange::exchange,
    jvm::{Failure, Jni, Jvmti},
    memory::{Memory, PLACES},
    recorder::memory,
    telling,
};

/// Most entries of what was left out.
pub(crate) const MAX_SKIPPED: usize = 1000;
/// Names of classes that the recorder needs itself, or that the JVM treats as it treats no others.
const NEVER: [&str; 9] = [
    "java.lang.Jtrace*",
    "java.lang.Object",
    "java.lang.Thread",
    "java.lang.VirtualThread",
    "java.lang.ref.*",
    "java.lang.Class",
    "java.lang.String",
    "jdk.internal.misc.Unsafe",
    "java.lang.invoke.*",
];

static NUMBERS: Numbers = Numbers::new();

/// What is woven at present.
static WEAVING: RwLock<Option<Arc<Weaving>>> = RwLock::new(None);

/// What is to be woven, and what was.
pub(crate) struct Weaving {
    rules: Vec<Rule>,
    /// Property and symbol of markers that are symbols.
    symbols: HashMap<u32, (u8, u8)>,
    /// Which of them are for classes below those that they name.
    below: Below,
    /// Number of the first place of this visit.
    first_place: u32,
    /// Classes that rules name, whose bytes came here and that are not linked yet: how often they came. By loader, as one of the same name in
    /// another loader may have come past here.
    passed: Mutex<HashMap<OfLoader, u32>>,
    /// Markers that are to be in no code any more.
    taken_out: RwLock<HashSet<u32>>,
    state: Mutex<State>,
}

/// A class: the hash of its loader, 0 for the JVM's own, and its name.
pub(crate) type OfLoader = (jint, String);

#[derive(Default)]
struct State {
    bits: HashMap<u32, u8>,
    /// Places by marker.
    places: HashMap<u32, Vec<u32>>,
    /// What is woven at present: places by class.
    classes: HashMap<OfLoader, Vec<PlaceDefinition>>,
    skipped: Vec<Skipped>,
    skipped_count: u64,
}

impl Weaving {
    pub(crate) fn new(rules: Vec<Rule>, symbols: &[(u32, u8, u8)]) -> Self {
        Self {
            rules,
            symbols: symbols.iter().map(|(marker, property, symbol)| (*marker, (*property, *symbol))).collect(),
            below: Below::default(),
            first_place: NUMBERS.first(),
            passed: Mutex::new(HashMap::new()),
            taken_out: RwLock::new(HashSet::new()),
            state: Mutex::new(State::default()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers of the places of this visit.
    pub(crate) fn places(&self) -> Range<u32> {
        NUMBERS.since(self.first_place)
    }

    /// The bytes of a class that is being loaded came here.
    fn pass(&self, class: &OfLoader) {
        if !self.rules_of(&class.1).is_empty() {
            let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            *passed.entry(class.clone()).or_default() += 1;
        }
    }

    /// Whether the bytes of a class that is linked now never came here: it was being loaded when this began.
    fn is_missed(&self, class: &OfLoader) -> bool {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        match passed.get_mut(class) {
            Some(left) if *left > 1 => *left -= 1,
            Some(_) => drop(passed.remove(class)),
            None => return true,
        }
        false
    }

    /// The markers that are symbols of a property.
    pub(crate) fn symbols_of(&self, property: u8) -> Vec<u32> {
        let of = |(marker, (of, _)): (&u32, &(u8, u8))| (*of == property).then_some(*marker);
        self.symbols.iter().filter_map(of).collect()
    }

    /// Rules for a class, in their order.
    fn rules_of(&self, class: &str) -> Vec<&Rule> {
        if is_never(class) {
            return Vec::new();
        }
        let below = self.below.rules_of(class);
        let taken_out = self.taken_out.read().unwrap_or_else(PoisonError::into_inner);
        let is_for = |(index, rule): &(usize, &Rule)| {
            !taken_out.contains(&rule.marker) && (rule.is_for(class) || below.contains(index))
        };
        self.rules.iter().enumerate().filter(is_for).map(|(_, rule)| rule).collect()
    }

    /// Sets the switches of a marker's places, also of those to come.
    pub(crate) fn switch(&self, marker: u32, bits: u8) {
        let mut state = self.state();
        let before = state.bits.insert(marker, bits);
        let is_on = |bits: u8| bits & switch::ON != 0;
        if before.is_some_and(|before| (before | bits) & switch::CONTEXTS != 0 && is_on(before) != is_on(bits)) {
            // Who entered before a pause, and has left since, would be told as being around. What is around objects that are made during
            // one is not known.
            memory().into_iter().for_each(Memory::pause_contexts);
        }
        for place in state.places.get(&marker).into_iter().flatten() {
            if let Some(memory) = memory() {
                memory.switch(*place, bits);
            }
        }
    }

    /// From now on no class is woven with these markers.
    pub(crate) fn want_no_more(&self, markers: &[u32]) {
        self.taken_out.write().unwrap_or_else(PoisonError::into_inner).extend(markers);
    }

    /// Names of the classes that are woven at present, and in how many methods: with some of these markers, or with any.
    pub(crate) fn woven_with(&self, markers: Option<&[u32]>) -> (HashSet<String>, u64) {
        let state = self.state();
        let is_asked = |place: &&PlaceDefinition| markers.is_none_or(|markers| markers.contains(&place.marker));
        let (mut names, mut methods) = (HashSet::new(), HashSet::new());
        for ((_, name), places) in &state.classes {
            for place in places.iter().filter(is_asked) {
                if methods.insert((name, &place.method, &place.descriptor)) {
                    names.insert(name.clone());
                }
            }
        }
        (names, methods.len() as u64)
    }

    /// Weaves one class file.
    fn weave(&self, class: OfLoader, bytes: &[u8]) -> Option<Vec<u8>> {
        let name = &class.1;
        let rules = self.rules_of(name);
        let known = self.state().classes.remove(&class).unwrap_or_default();
        if rules.is_empty() {
            return None;
        }
        let woven = if known.is_empty() {
            weave(bytes, &rules, &mut || NUMBERS.next())
        } else {
            weave_again(bytes, &rules, known.clone())
        };
        match woven {
            Ok(Woven { class_file, places, skipped }) => {
                if known.is_empty() {
                    self.skip(skipped);
                }
                let told: HashSet<u32> = known.iter().map(|place| place.id).collect();
                for place in places.iter().filter(|place| !told.contains(&place.id)) {
                    self.place(place.clone());
                }
                if !places.is_empty() {
                    self.state().classes.insert(class, places);
                }
                class_file
            }
            Err(error) => {
                self.skip(vec![Skipped { class: name.clone(), method: None, reason: error.to_string() }]);
                None
            }
        }
    }

    fn place(&self, place: PlaceDefinition) {
        let mut state = self.state();
        if let Some(memory) = memory() {
            if let Some((property, symbol)) = self.symbols.get(&place.marker) {
                memory.set_symbol(place.id, *property, *symbol);
            }
            if place.made.is_some() {
                memory.set_objects(place.id);
            }
            memory.switch(place.id, state.bits.get(&place.marker).copied().unwrap_or(0));
        }
        state.places.entry(place.marker).or_default().push(place.id);
        drop(state);
        telling::tell(Told::Place(place));
    }

    /// Takes note of what was left as it was.
    pub(crate) fn skip(&self, skipped: Vec<Skipped>) {
        let mut state = self.state();
        state.skipped_count += skipped.len() as u64;
        let room = MAX_SKIPPED.saturating_sub(state.skipped.len());
        state.skipped.extend(skipped.into_iter().take(room));
    }
}

/// Weaves a class that is woven already. Places that are there keep their numbers, so that what is counted at them goes on.
fn weave_again(
    bytes: &[u8],
    rules: &[&Rule],
    mut known: Vec<PlaceDefinition>,
) -> Result<Woven, tracer_weave::weave::Error> {
    // Which place asks for a number when is found out with numbers that nobody uses.
    let mut trial = 0..u32::try_from(PLACES).unwrap_or(u32::MAX);
    let places = weave(bytes, rules, &mut || trial.next())?.places;
    let mut kept = HashMap::new();
    for place in places {
        let number = place.id;
        let is_same = |before: &PlaceDefinition| PlaceDefinition { id: before.id, ..place.clone() } == *before;
        if let Some(at) = known.iter().position(is_same) {
            kept.insert(number, known.remove(at).id);
        }
    }
    let mut asked = 0..;
    weave(bytes, rules, &mut || asked.next().and_then(|number| kept.get(&number).copied()).or_else(|| NUMBERS.next()))
}

fn is_never(class: &str) -> bool {
    NEVER.iter().any(|never| never.strip_suffix('*').map_or(class == *never, |prefix| class.starts_with(prefix)))
}

fn current() -> Option<Arc<Weaving>> {
    WEAVING.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// What is woven from now on.
pub(crate) fn set_current(weaving: Option<Arc<Weaving>>) {
    *WEAVING.write().unwrap_or_else(PoisonError::into_inner) = weaving;
}

/// Weaves loaded classes, and those that are loaded from now on.
pub(crate) fn begin(jvmti: Jvmti, jni: Jni, weaving: &Arc<Weaving>) -> Result<Done, Failure> {
    let early = loaded(jvmti)?;
    look_below(weaving, &early, jni);
    for (class, _) in early {
        jni.forget(class);
    }
    set_current(Some(Arc::clone(weaving)));
    // Again: what was loaded until now came past the hook before it was there.
    let loaded = loaded(jvmti)?;
    look_below(weaving, &loaded, jni);
    let (wanted, others): (Vec<_>, Vec<_>) = loaded.into_iter().partition(|(class, name)| {
        let rules = weaving.rules_of(name);
        !rules.is_empty() && may_have_places(jvmti, *class, name, &rules)
    });
    for (class, name) in others {
        if !needed(jvmti, class, &name, weaving).is_empty() {
            weaving.skip(vec![Skipped { class: name, method: None, reason: NEEDED.to_owned() }]);
        }
        jni.forget(class);
    }
    let mut done = exchange(jvmti, jni, wanted);
    weaving.skip(std::mem::take(&mut done.skipped));
    done.methods = weaving.woven_with(None).1;
    let state = weaving.state();
    done.skipped.clone_from(&state.skipped);
    done.skipped_count = state.skipped_count;
    Ok(done)
}
