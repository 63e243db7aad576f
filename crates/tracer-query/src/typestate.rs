//! Protocols of objects: which methods of an object may be called in which order, and where it may end.
//!
//! A property is read from a file ([`Property::parse`]) or is one of the built-in [`library`]. It binds symbols to methods and
//! says by a regular expression, or by states, what is legal; either becomes a minimal [`Machine`], which is shared by all
//! objects. [`Property::rules`] says what must be woven. What a machine says of events is [`Machine::run`]; the run-time part
//! lies elsewhere. Nothing here does I/O. `docs/typestate.md` is for users.

pub mod drawing;
mod error;
mod expression;
pub mod library;
mod located;
pub mod machine;
mod method;
mod nfa;
pub mod outside;
mod read;
pub mod run;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use tracer_weave::{Kind, Pattern, Place, Rule};

pub use error::Error;
pub use machine::{MAX_STATES, MAX_SYMBOLS, Machine, State};
pub use method::Method;
pub use read::MAX_BYTES;

/// What has a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// Every object whose methods are the symbols.
    #[default]
    Object,
    /// Every thread that calls them.
    Thread,
    /// Every monitor; symbols are what threads do with it ([`MonitorAction::WORDS`](crate::event::MonitorAction::WORDS)).
    Monitor,
    /// Every class that declares them.
    Class,
    /// Every thread that calls functions of JNI, which are the symbols.
    Jni,
}

impl Key {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Object, Self::Thread, Self::Monitor, Self::Class, Self::Jni];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Thread => "thread",
            Self::Monitor => "monitor",
            Self::Class => "class",
            Self::Jni => "jni",
        }
    }

    /// Whether its symbols must be woven, because no event tells of the receiver. All others are followed from outside.
    pub const fn is_woven(self) -> bool {
        matches!(self, Self::Object)
    }

    /// Whether symbols are methods of Java.
    pub const fn has_methods(self) -> bool {
        match self {
            Self::Object | Self::Thread | Self::Class => true,
            Self::Monitor | Self::Jni => false,
        }
    }
}

/// When a symbol happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum At {
    /// When the method is called.
    #[default]
    Entry,
    /// When it returns.
    Return,
    /// When an exception leaves it.
    Throw,
}

impl At {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Entry, Self::Return, Self::Throw];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Return => "return",
            Self::Throw => "throw",
        }
    }
}

impl From<At> for Kind {
    fn from(at: At) -> Self {
        match at {
            At::Entry => Self::Entry,
            At::Return => Self::Return,
            At::Throw => Self::Throw,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A symbol, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name in the expression.
    pub name: String,
    /// The methods.
    pub methods: Vec<Method>,
    /// When it happens.
    pub at: At,
}

/// A property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What a violation means, for people.
    pub message: String,
    /// Patterns of the classes that declare the methods.
    pub classes: Vec<Pattern>,
    /// Whether classes below them are meant, too.
    pub subclasses: bool,
    /// What has a state.
    pub key: Key,
    /// The symbols, by their numbers in the machine.
    pub symbols: Vec<Symbol>,
    /// The regular expression as it was written; none where states were.
    pub expression: Option<String>,
    /// Whether an object may end in every state.
    pub ends_anywhere: bool,
    /// What is legal.
    pub machine: Machine,
}

impl Property {
    /// Reads a property file. `file` is what errors call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        read::property(text).map_err(|wrong| Error::new(file, text, wrong))
    }

    /// What must be woven for it, with symbols numbered from `first_symbol` on. A method may be named by several of the rules,
    /// as where one of its classes lies below another: who weaves puts a symbol once at a place. Properties that are
    /// followed from outside have none.
    pub fn rules(&self, first_symbol: u32) -> Vec<Rule> {
        let mut rules = Vec::new();
        if !self.key.is_woven() {
            return rules;
        }
        for (symbol, marker) in self.symbols.iter().zip(first_symbol..) {
            for class in &self.classes {
                rules.extend(symbol.methods.iter().map(|method| Rule {
                    marker,
                    class: class.clone(),
                    subclasses: self.subclasses,
                    method: method.name.clone(),
                    descriptor: method.descriptor(),
                    except: Vec::new(),
                    place: Place::Method,
                    kind: symbol.at.into(),
                    receiver: true,
                    arguments: false,
                    counted: false,
                }));
            }
        }
        rules
    }
}
