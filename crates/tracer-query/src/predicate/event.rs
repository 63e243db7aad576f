//! An event as a predicate sees it in user space: with its names.

use super::field::Field;
use crate::text::class_name;

/// A method, the class of a new object, or a JNI function, with its names as Java writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    class: String,
    package: String,
    method: String,
    signature: String,
    full: String,
}

impl Subject {
    /// A method, from its names as the JVM stores them or as Java writes them.
    pub fn method(class: &str, method: &str, signature: &str) -> Self {
        let class = class_name::class(class);
        Self {
            package: class_name::package(&class).to_owned(),
            full: format!("{class}.{method}"),
            method: method.to_owned(),
            signature: signature.replace('/', "."),
            class,
        }
    }

    /// The class of a new object.
    pub fn class(class: &str) -> Self {
        let class = class_name::class(class);
        Self { package: class_name::package(&class).to_owned(), class, ..Self::default() }
    }

    /// A function of JNI.
    pub fn function(name: &str) -> Self {
        Self { method: name.to_owned(), full: name.to_owned(), ..Self::default() }
    }

    /// The text of a field; nothing where the field is no name of a subject or caller.
    pub(super) fn text(&self, field: Field) -> Option<&str> {
        match field {
            Field::Class | Field::CallerClass => Some(&self.class),
            Field::Package => Some(&self.package),
            Field::Method | Field::CallerMethod => Some(&self.method),
            Field::Signature => Some(&self.signature),
            Field::Caller => Some(&self.full),
            _ => None,
        }
    }
}

/// What a predicate can ask of a thread's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Whether the JVM ends without waiting for it.
    pub daemon: bool,
}

/// An event; a number that its kind does not have is 0 and not asked for.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The method, class or function.
    pub subject: &'a Subject,
    /// The calling method, where it is known.
    pub caller: Option<&'a Subject>,
    /// The thread.
    pub thread: &'a Thread,
    /// Its number, as the kernel counts them outside of containers.
    pub tid: u64,
    /// The CPU.
    pub cpu: u64,
    /// Bytes of the new object.
    pub size: u64,
    /// Nanoseconds between entry and return.
    pub duration: u64,
    /// Calls of chosen methods below which the event lies, itself included.
    pub depth: u64,
    /// The line of the call, where it is known.
    pub line: Option<u64>,
    /// The event's random number: drawn once, by whoever evaluates `sample`.
    pub random: u32,
}

impl Event<'_> {
    /// The text of a field, where it is known.
    pub(super) fn text(&self, field: Field) -> Option<&str> {
        match field {
            Field::Thread => Some(&self.thread.name),
            Field::Caller | Field::CallerClass | Field::CallerMethod => self.caller?.text(field),
            _ => self.subject.text(field),
        }
    }

    /// The number of a field, where it is known.
    pub(super) const fn number(&self, field: Field) -> Option<u64> {
        match field {
            Field::Tid => Some(self.tid),
            Field::Cpu => Some(self.cpu),
            Field::Size => Some(self.size),
            Field::Duration => Some(self.duration),
            Field::Depth => Some(self.depth),
            Field::Line => self.line,
            _ => None,
        }
    }
}
