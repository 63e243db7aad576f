//! Properties of threads, monitors and classes need nothing in the JVM: their symbols are events of other lenses.

use super::{Failure, options::WatchOptions, typestate};
use crate::{
    lens::Lens,
    typestate::{Key, Property},
};

/// What is asked for as a property and is none: it is about pairs of monitors, and a finding of the lens `locks`.
pub(super) const LOCK_ORDER: &str = "lockorder";
/// What it finds, for the list of properties.
pub(super) const LOCK_ORDER_MESSAGE: &str =
    "two monitors are taken in both orders by different threads (a finding of the lens locks)";

impl WatchOptions {
    /// With the properties that are named, and with the lenses and the events that those need which are followed from outside.
    pub(super) fn with_properties(mut self) -> Result<Self, Failure> {
        if self.inside.property.is_empty() {
            return Ok(self);
        }
        if self.lens.is_empty() {
            self.lens = self.lenses();
        }
        let named = std::mem::take(&mut self.inside.property);
        let (order, named): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|named| named.eq_ignore_ascii_case(LOCK_ORDER));
        if !order.is_empty() {
            self.lens.push(Lens::Locks);
        }
        if named.is_empty() {
            self.lens.retain(|lens| *lens != Lens::Typestate);
        } else {
            self.lens.push(Lens::Typestate);
        }
        let is_chosen = !self.demand.wanted.is_empty();
        for named in &named {
            let property = typestate::property(named)?;
            self.see(&property);
            if is_chosen && matches!(property.key, Key::Thread | Key::Class | Key::Jni) {
                return Err(Failure::usage(
                    format!("the property `{}` needs all events of its symbols, and others are chosen", property.name),
                    "leave out -I, -X and --where".to_owned(),
                ));
            }
            self.inside.properties.push(property);
        }
        self.inside.property = named;
        Ok(self)
    }

    fn see(&mut self, property: &Property) {
        let methods = property.symbols.iter().flat_map(|symbol| &symbol.methods);
        match property.key {
            Key::Object => {}
            Key::Monitor => self.lens.push(Lens::Locks),
            Key::Jni => {
                self.lens.extend([Lens::Jni, Lens::Threads]);
                self.demand.each = true;
                self.demand.wanted.include.extend(methods.map(|method| method.name.as_str().to_owned()));
            }
            Key::Thread | Key::Class => {
                self.lens.extend([Lens::Methods, Lens::Threads]);
                self.demand.each = true;
                for method in methods {
                    let patterns =
                        property.classes.iter().map(|class| format!("{}::{}", class.as_str(), method.name.as_str()));
                    self.demand.wanted.include.extend(patterns);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        watch: WatchOptions,
    }

    fn with(arguments: &[&str]) -> Result<WatchOptions, Failure> {
        Command::try_parse_from([&["jtrace"], arguments].concat()).unwrap().watch.with_properties()
    }

    #[test]
    fn a_property_brings_the_lenses_of_its_symbols() {
        let watch = with(&["-l", "typestate", "-p", "jniframes"]).unwrap();
        assert_eq!(watch.lenses(), [Lens::Threads, Lens::Jni, Lens::Typestate]);
        assert_eq!(
            (watch.demand.each, watch.demand.wanted.include),
            (true, vec!["PushLocalFrame".to_owned(), "PopLocalFrame".to_owned()])
        );
        assert_eq!(with(&["-l", "typestate", "-p", "hasnext"]).unwrap().lenses(), [Lens::Typestate]);
        assert_eq!(
            with(&["--inside", "-p", "hasnext"]).unwrap().lenses(),
            [Lens::Typestate],
            "the lens of what is named"
        );
        let order = with(&["-l", "typestate", "-p", "LockOrder"]).unwrap();
        assert_eq!((order.lenses(), order.inside.property), (vec![Lens::Locks], Vec::new()));
    }

    #[test]
    fn what_a_property_needs_cannot_be_left_out() {
        let failure = with(&["-p", "jniframes", "-X", "Pop*"]).unwrap_err();
        assert!(failure.lines().join("\n").contains("leave out -I"), "{:?}", failure.lines());
    }
}
