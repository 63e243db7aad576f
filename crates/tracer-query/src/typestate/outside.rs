//! Properties that are followed from outside: threads, monitors, classes and calls of JNI are in the events that jtrace gets
//! without anything in the JVM.
//!
//! Nobody saw what came before jtrace did, so a key that may be older has every state that is possible ([`States`]) until
//! its symbols tell which one it is. What is reported is wrong in all of them.

use super::{
    At, Key, Property,
    machine::{Machine, State, Symbol},
};
use crate::{
    event::{Edge, MonitorAction},
    jni::Function,
    subject::Subject,
};

/// The names that a property can use for the symbols of a key; nothing where they are methods.
pub fn names(key: Key) -> Option<std::vec::IntoIter<&'static str>> {
    let names: Vec<&str> = match key {
        Key::Jni => Function::all().map(Function::name).collect(),
        Key::Monitor => MonitorAction::WORDS.to_vec(),
        Key::Object | Key::Thread | Key::Class => return None,
    };
    Some(names.into_iter())
}

impl Property {
    /// The symbol of a function of JNI, or of what is done with a monitor.
    pub fn symbol_named(&self, name: &str) -> Option<Symbol> {
        self.symbol(|symbol| symbol.methods.iter().any(|method| method.name.matches(name)))
    }

    /// The symbol that a method is at its entry or return. Classes below those of the property are not known from outside.
    pub fn symbol_of_method(&self, subject: &Subject, edge: Edge) -> Option<Symbol> {
        let called = subject.method.as_ref()?;
        if !self.classes.iter().any(|class| class.matches(&subject.class)) {
            return None;
        }
        let at = match edge {
            Edge::Begin => At::Entry,
            Edge::End => At::Return,
        };
        let is = |method: &super::Method| {
            method.name.matches(&called.name)
                && method.descriptor().is_none_or(|descriptor| descriptor.matches(&called.signature))
        };
        self.symbol(|symbol| symbol.at == at && symbol.methods.iter().any(is))
    }

    fn symbol(&self, is: impl Fn(&super::Symbol) -> bool) -> Option<Symbol> {
        Symbol::try_from(self.symbols.iter().position(is)?).ok()
    }
}

/// States that something may be in, as bits; the dead one is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct States(pub u64);

impl States {
    /// That one.
    pub const fn only(state: State) -> Self {
        Self(1 << (state % 64))
    }

    /// All from which something is legal.
    pub fn any(machine: &Machine) -> Self {
        Self((1 << machine.dead()) - 1)
    }

    /// Where a symbol leads to; nothing where it is illegal in every state.
    pub fn step(self, machine: &Machine, symbol: Symbol) -> Option<Self> {
        let next = self.list().map(|state| machine.step(state, symbol)).filter(|state| *state != machine.dead());
        let next = next.fold(0, |set, state| set | 1 << state);
        (next != 0).then_some(Self(next))
    }

    /// Whether it may end, as far as is known.
    pub fn may_end(self, machine: &Machine) -> bool {
        self.list().any(|state| machine.may_end(state))
    }

    /// The states.
    pub fn list(self) -> impl Iterator<Item = State> {
        (0..64).filter(move |state| self.0 >> state & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typestate::library::{ENTRIES, Entry};

    fn property(name: &str) -> Property {
        let Entry { file, text } = Entry::find(name).expect("it is in the library");
        Property::parse(file, text).expect("it can be read")
    }

    #[test]
    fn what_is_older_than_jtrace_is_in_all_states_until_its_symbols_tell() {
        let property = property("jnicritical");
        let machine = &property.machine;
        let [get, release, other] = ["GetStringCritical", "ReleasePrimitiveArrayCritical", "FindClass"]
            .map(|name| property.symbol_named(name).unwrap());
        let unknown = States::any(machine);
        assert!(unknown.step(machine, release).is_some(), "a section may have been open");
        let outside = unknown.step(machine, other).expect("legal outside of a section");
        assert!(outside.may_end(machine));
        assert_eq!(outside.step(machine, release), None);
        let within = outside.step(machine, get).unwrap();
        assert_eq!((within.may_end(machine), within.step(machine, other)), (false, None));
        assert_eq!(within.step(machine, release), Some(States::only(machine.start)));
    }

    #[test]
    fn every_function_is_one_symbol_of_the_critical_sections() {
        let property = property("jnicritical");
        let without_one: Vec<&str> =
            names(Key::Jni).unwrap().filter(|name| property.symbol_named(name).is_none()).collect();
        // Those that are about the JVM.
        assert_eq!(
            without_one,
            ["CreateJavaVM", "GetCreatedJavaVMs", "GetDefaultJavaVMInitArgs", "GetEnv", "GetJavaVM"]
        );
    }

    #[test]
    fn properties_from_outside_weave_nothing() {
        for entry in ENTRIES {
            let property = Property::parse(entry.file, entry.text).unwrap();
            assert_eq!(property.rules(0).is_empty(), !property.key.is_woven(), "{}", property.name);
        }
    }
}
