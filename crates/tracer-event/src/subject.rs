//! Subjects: the methods and classes that events are about, each named once, when it is met first.
//!
//! A source numbers them, so that an address that is used again after class unloading is another subject.

use serde::{Deserialize, Serialize};

use crate::event::SubjectId;

/// A method, as its class file names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MethodPart {
    /// Name (`add`, `<init>`).
    pub name: String,
    /// Descriptor (`(I)V`).
    pub signature: String,
    /// Whether it is native.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
}

/// A method, or a class. Texts are as the target gave them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// Class as Java writes it (`com.shop.Cart`, `byte[]`); a reason in angle brackets where it is not known.
    pub class: String,
    /// The method; absent for a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodPart>,
}

impl Subject {
    /// Package of the class, without its name; empty for the unnamed package and for arrays of primitives.
    pub fn package(&self) -> &str {
        self.class.rsplit_once('.').map_or("", |(package, _)| package)
    }

    /// What its texts take.
    pub fn bytes(&self) -> usize {
        let of_method = |method: &MethodPart| method.name.len() + method.signature.len();
        self.class.len() + self.method.as_ref().map_or(0, of_method)
    }

    /// `com.shop.Cart.add` or `com.shop.Cart`.
    pub fn title(&self) -> String {
        match &self.method {
            Some(method) => format!("{}.{}", self.class, method.name),
            None => self.class.clone(),
        }
    }
}

/// Gives a subject its number; numbers count from 0 in the order of the definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectDefinition {
    /// The number.
    pub id: SubjectId,
    /// What it is.
    pub subject: Subject,
}

/// The subjects of a session.
#[derive(Clone, Debug, Default)]
pub struct Subjects(Vec<Subject>);

impl Subjects {
    /// Takes a definition. Numbers come in order; one out of order is damage, and its subject is left unknown.
    pub fn define(&mut self, definition: SubjectDefinition) {
        let SubjectDefinition { id, subject } = definition;
        if usize::try_from(id.0).is_ok_and(|id| id == self.0.len()) {
            self.0.push(subject);
        }
    }

    /// The subject with this number.
    pub fn get(&self, id: SubjectId) -> Option<&Subject> {
        self.0.get(usize::try_from(id.0).ok()?)
    }

    /// Number of subjects.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
