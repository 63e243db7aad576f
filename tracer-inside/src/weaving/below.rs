//! Rules for classes below those that they name: which class lies below which is asked of the JVM, and of class files before there is a
//! class.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError, RwLock},
};

use jvmti_bindings::sys::jni::jclass;
use tracer_weave::{Rule, outline::outline};

use super::is_never;
use crate::jvm::Jni;

/// A class, as a global reference. It is not given back: a rule names few.
#[derive(Clone, Copy)]
struct Base(jclass);

// SAFETY: global references may be used by any thread.
unsafe impl Send for Base {}

/// What is known of classes that lie below others.
#[derive(Default)]
pub(super) struct Below {
    /// Rules of such classes, by the class's name: indices.
    rules: RwLock<HashMap<String, BTreeSet<usize>>>,
    /// Classes that rules name together with those below them.
    bases: Mutex<Vec<(usize, Base)>>,
}

impl Below {
    /// Rules of a class, by their indices.
    pub(super) fn rules_of(&self, class: &str) -> BTreeSet<usize> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).get(class).cloned().unwrap_or_default()
    }

    /// Takes note of a class that rules name together with those below it.
    pub(super) fn add_base(&self, rules: &[Rule], jni: Jni, class: jclass, name: &str) {
        let named = rules.iter().enumerate().filter(|(_, rule)| rule.subclasses && rule.is_for(name));
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
    pub(super) fn add_below(&self, jni: Jni, class: jclass, name: &str) -> bool {
        let bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        let above = bases.iter().filter(|(_, base)| jni.is_below(class, base.0)).map(|(index, _)| *index);
        self.note_below(name, above.collect())
    }

    /// The same of a class that is being loaded, as far as what it inherits from is known by name.
    pub(super) fn look_above(&self, rules: &[Rule], name: &str, bytes: &[u8]) {
        if is_never(name) || !rules.iter().any(|rule| rule.subclasses) {
            return;
        }
        let Ok(outline) = outline(bytes) else { return };
        let mut above: BTreeSet<usize> = BTreeSet::new();
        {
            let below = self.rules.read().unwrap_or_else(PoisonError::into_inner);
            for parent in outline.superclass.iter().chain(&outline.interfaces) {
                above.extend(below.get(parent).into_iter().flatten());
                let named = rules.iter().enumerate().filter(|(_, rule)| rule.subclasses && rule.is_for(parent));
                above.extend(named.map(|(index, _)| index));
            }
        }
        self.note_below(name, above);
    }

    fn note_below(&self, name: &str, above: BTreeSet<usize>) -> bool {
        if above.is_empty() || is_never(name) {
            return false;
        }
        let mut below = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let known = below.entry(name.to_owned()).or_default();
        let before = known.len();
        known.extend(above);
        known.len() > before
    }
}
