//! Which classes are woven, with what.
//!
//! Classes that are there are exchanged ([`crate::exchange`]): the JVM offers the original bytes to [`hook`], which answers with woven
//! ones while there are rules for the class, and with nothing when there are none any more. A class that is loaded later is offered
//! to the same function.
#![expect(unsafe_code, reason = "a callback of JVMTI")]

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ffi::{CStr, c_char},
    ops::Range,
    slice,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
};

use jvmti_bindings::sys::{
    jni::{JNIEnv, jclass, jint, jobject},
    jvmti::jvmtiEnv,
};
use tracer_common::marks::FIRST_PLACE;
use tracer_weave::{
    PlaceDefinition, Rule, Skipped,
    control::{Done, MAX_NAMED, Matched, NEEDED, Told},
    outline::outline,
    weave::{Woven, weave},
};

use crate::{
    exchange::{exchange, is_exchanging},
    jvm::{Failure, Jni, Jvmti, java_name},
    memory::PLACES,
    recorder::memory,
    session,
};

/// Most entries of what was left out.
const MAX_SKIPPED: usize = 1000;
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

/// Number of the next place. A method that began in an earlier visit runs the code of that visit to its end, so numbers are not used
/// again, but for those of long ago.
static NEXT_PLACE: AtomicU32 = AtomicU32::new(FIRST_PLACE);

/// What is woven at present.
static WEAVING: RwLock<Option<Arc<Weaving>>> = RwLock::new(None);

/// What is to be woven, and what was.
pub(crate) struct Weaving {
    rules: Vec<Rule>,
    /// Property and symbol of markers that are symbols.
    symbols: HashMap<u32, (u8, u8)>,
    /// Rules of classes that lie below others, by the class's name.
    below: RwLock<HashMap<String, BTreeSet<usize>>>,
    /// Classes that rules name together with those below them.
    bases: Mutex<Vec<(usize, Base)>>,
    /// Number of the first place of this visit.
    first_place: u32,
    /// Of each name that rules name: classes whose bytes came here and that are not linked yet.
    passed: Mutex<HashMap<String, u32>>,
    /// Markers that are to be in no code any more.
    taken_out: RwLock<HashSet<u32>>,
    state: Mutex<State>,
}

/// A class, as a global reference. It is not given back: a rule names few.
#[derive(Clone, Copy)]
struct Base(jclass);

// SAFETY: global references may be used by any thread.
unsafe impl Send for Base {}

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
            below: RwLock::new(HashMap::new()),
            bases: Mutex::new(Vec::new()),
            first_place: first_place(),
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
        self.first_place..NEXT_PLACE.load(Ordering::Relaxed)
    }

    /// The bytes of a class that is being loaded came here.
    fn pass(&self, name: &str) {
        if !self.rules_of(name).is_empty() {
            let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            *passed.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Whether the bytes of a class that is linked now never came here: it was being loaded when this began.
    fn is_missed(&self, name: &str) -> bool {
        if self.rules_of(name).is_empty() {
            return false;
        }
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        match passed.get_mut(name) {
            Some(left) if *left > 1 => *left -= 1,
            Some(_) => drop(passed.remove(name)),
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
        let below = self.below.read().unwrap_or_else(PoisonError::into_inner);
        let below = below.get(class);
        let taken_out = self.taken_out.read().unwrap_or_else(PoisonError::into_inner);
        let is_for = |(index, rule): &(usize, &Rule)| {
            !taken_out.contains(&rule.marker)
                && (rule.is_for(class) || below.is_some_and(|below| below.contains(index)))
        };
        self.rules.iter().enumerate().filter(is_for).map(|(_, rule)| rule).collect()
    }

    /// Takes note of a class that rules name together with those below it.
    fn add_base(&self, jni: Jni, class: jclass, name: &str) {
        let named = self.rules.iter().enumerate().filter(|(_, rule)| rule.subclasses && rule.is_for(name));
        let indices: Vec<usize> = named.map(|(index, _)| index).collect();
        if !indices.is_empty() {
            let base = Base(jni.global(class));
            let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
            let is_same = |known: &Base| jni.is_below(known.0, class) && jni.is_below(class, known.0);
            if !bases.iter().any(|(_, known)| is_same(known)) {
                bases.extend(indices.into_iter().map(|index| (index, base)));
            }
        }
    }

    /// Takes note of rules for classes above this one; says whether that was not known.
    fn add_below(&self, jni: Jni, class: jclass, name: &str) -> bool {
        let bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        let above = bases.iter().filter(|(_, base)| jni.is_below(class, base.0)).map(|(index, _)| *index);
        self.note_below(name, above.collect())
    }

    /// The same of a class that is being loaded, as far as what it inherits from is known by name.
    fn look_above(&self, name: &str, bytes: &[u8]) {
        if is_never(name) || !self.rules.iter().any(|rule| rule.subclasses) {
            return;
        }
        let Ok(outline) = outline(bytes) else { return };
        let mut above: BTreeSet<usize> = BTreeSet::new();
        {
            let below = self.below.read().unwrap_or_else(PoisonError::into_inner);
            for parent in outline.superclass.iter().chain(&outline.interfaces) {
                above.extend(below.get(parent).into_iter().flatten());
                let named = self.rules.iter().enumerate().filter(|(_, rule)| rule.subclasses && rule.is_for(parent));
                above.extend(named.map(|(index, _)| index));
            }
        }
        self.note_below(name, above);
    }

    fn note_below(&self, name: &str, above: BTreeSet<usize>) -> bool {
        if above.is_empty() || is_never(name) {
            return false;
        }
        let mut below = self.below.write().unwrap_or_else(PoisonError::into_inner);
        let known = below.entry(name.to_owned()).or_default();
        let before = known.len();
        known.extend(above);
        known.len() > before
    }

    /// Sets the switches of a marker's places, also of those to come.
    pub(crate) fn switch(&self, marker: u32, bits: u8) {
        let mut state = self.state();
        state.bits.insert(marker, bits);
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
            weave(bytes, &rules, &mut next_place)
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
            memory.switch(place.id, state.bits.get(&place.marker).copied().unwrap_or(0));
        }
        state.places.entry(place.marker).or_default().push(place.id);
        drop(state);
        session::tell(Told::Place(place));
    }

    /// Takes note of what was left as it was.
    pub(crate) fn skip(&self, skipped: Vec<Skipped>) {
        let mut state = self.state();
        state.skipped_count += skipped.len() as u64;
        let room = MAX_SKIPPED.saturating_sub(state.skipped.len());
        state.skipped.extend(skipped.into_iter().take(room));
    }
}

/// Number of the next place; `None` where there are no more.
fn next_place() -> Option<u32> {
    let place = NEXT_PLACE.fetch_add(1, Ordering::Relaxed);
    ((place as usize) < PLACES).then_some(place)
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
    weave(bytes, rules, &mut || asked.next().and_then(|number| kept.get(&number).copied()).or_else(next_place))
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

/// The JVM offers the bytes of a class.
pub(crate) unsafe extern "system" fn hook(
    jvmti: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _domain: jobject,
    len: jint,
    bytes: *const u8,
    new_len: *mut jint,
    new_bytes: *mut *mut u8,
) {
    let _ = std::panic::catch_unwind(|| {
        let weaving = current()?;
        // Memory of the JVM's own may not be touched outside of these phases.
        if name.is_null() || bytes.is_null() {
            return None;
        }
        // SAFETY: the JVM passes a C string, and as many bytes as it says.
        let (name, bytes) =
            unsafe { (CStr::from_ptr(name).to_str().ok()?, slice::from_raw_parts(bytes, usize::try_from(len).ok()?)) };
        let name = java_name(name)?;
        weaving.look_above(&name, bytes);
        if redefined.is_null() {
            weaving.pass(&name);
        }
        let jvmti = Jvmti(jvmti);
        let woven = weaving.weave((jvmti.hash(loader), name), bytes)?;
        let memory = jvmti.allocate(&woven).ok()?;
        // SAFETY: the JVM passes where it wants the answer.
        unsafe {
            *new_bytes = memory;
            *new_len = jint::try_from(woven.len()).ok()?;
        }
        Some(())
    });
}

/// Classes that are loaded now, with their names.
pub(crate) fn loaded(jvmti: Jvmti) -> Result<Vec<(jclass, String)>, Failure> {
    Ok(jvmti.loaded()?.into_iter().filter_map(|class| Some((class, jvmti.name(class)?))).collect())
}

/// Names of loaded classes.
pub(crate) fn classes(jvmti: Jvmti, jni: Jni) -> Result<Vec<String>, Failure> {
    let loaded = loaded(jvmti)?;
    for (class, _) in &loaded {
        jni.forget(*class);
    }
    Ok(loaded.into_iter().map(|(_, name)| name).collect())
}

/// Finds out which loaded classes lie below those that rules name.
fn look_below(weaving: &Weaving, loaded: &[(jclass, String)], jni: Jni) {
    for (class, name) in loaded {
        weaving.add_base(jni, *class, name);
    }
    for (class, name) in loaded {
        weaving.add_below(jni, *class, name);
    }
}

/// A class was linked. One that lies below a class that a rule names was perhaps not known as such when its bytes came, because
/// what it inherits from was not loaded yet; and one whose bytes came before there were rules may have been too new to be found among
/// those that were loaded. None of its code has run so far.
pub(crate) unsafe extern "system" fn prepared(jvmti: *mut jvmtiEnv, jni: *mut JNIEnv, _thread: jobject, class: jclass) {
    let _ = std::panic::catch_unwind(|| {
        let weaving = current()?;
        let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
        let name = jvmti.name(class)?;
        weaving.add_base(jni, class, &name);
        let is_new = weaving.add_below(jni, class, &name);
        let is_missed = weaving.is_missed(&name) && !is_exchanging();
        if (is_new || is_missed)
            && !weaving.rules_of(&name).is_empty()
            && jvmti.is_modifiable(class)
            && let Err(reason) = jvmti.retransform(&[class])
        {
            weaving.skip(vec![Skipped { class: name, method: None, reason }]);
        }
        Some(())
    });
}

/// How many methods of loaded classes each rule names.
pub(crate) fn matched(jvmti: Jvmti, jni: Jni, rules: Vec<Rule>) -> Result<Told, Failure> {
    let weaving = Weaving::new(rules, &[]);
    let loaded = loaded(jvmti)?;
    look_below(&weaving, &loaded, jni);
    let mut counts = vec![Matched::default(); weaving.rules.len()];
    let mut all = 0;
    for (class, name) in &loaded {
        let rules = weaving.rules_of(name);
        for rule in needed(jvmti, *class, name, &weaving) {
            name_one(&mut counts[rule].needed, name);
        }
        if !rules.is_empty() && jvmti.is_prepared(*class) {
            let methods = jvmti.methods(*class)?;
            let is_named =
                |(name, descriptor): &&(String, String)| rules.iter().any(|rule| rule.is_for_method(name, descriptor));
            if jvmti.is_modifiable(*class) {
                all += methods.iter().filter(is_named).count() as u64;
            }
            for (rule, count) in weaving.rules.iter().zip(&mut counts) {
                if !rules.iter().any(|one| std::ptr::eq(*one, rule)) {
                    continue;
                }
                let of = methods.iter().filter(|(name, descriptor)| rule.is_for_method(name, descriptor)).count();
                if of > 0 && !jvmti.is_modifiable(*class) {
                    name_one(&mut count.fixed, name);
                } else if of > 0 {
                    count.classes += 1;
                    count.methods += of as u64;
                }
            }
        }
        jni.forget(*class);
    }
    Ok(Told::Matched { rules: counts, methods: all })
}

fn name_one(named: &mut Vec<String>, class: &str) {
    if named.len() < MAX_NAMED {
        named.push(class.to_owned());
    }
}

/// Rules that name methods of a class that is never woven, by their indices.
fn needed(jvmti: Jvmti, class: jclass, name: &str, weaving: &Weaving) -> Vec<usize> {
    let of_class = |(_, rule): &(usize, &Rule)| rule.is_for(name);
    let rules: Vec<(usize, &Rule)> = weaving.rules.iter().enumerate().filter(of_class).collect();
    if rules.is_empty() || !is_never(name) || !jvmti.is_prepared(class) {
        return Vec::new();
    }
    let methods = jvmti.methods(class).unwrap_or_default();
    let has = |rule: &Rule| methods.iter().any(|(name, descriptor)| rule.is_for_method(name, descriptor));
    rules.into_iter().filter(|(_, rule)| has(rule)).map(|(index, _)| index).collect()
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
    let (wanted, others): (Vec<_>, Vec<_>) =
        loaded.into_iter().partition(|(_, name)| !weaving.rules_of(name).is_empty());
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

/// Number of the first place of a new visit.
fn first_place() -> u32 {
    let next = NEXT_PLACE.load(Ordering::Relaxed);
    if (next as usize) < PLACES / 2 {
        return next;
    }
    NEXT_PLACE.store(FIRST_PLACE, Ordering::Relaxed);
    FIRST_PLACE
}
