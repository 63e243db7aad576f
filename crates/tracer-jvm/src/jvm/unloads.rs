//! Whether what was read of classes and methods may mean something else by now: the JVM counts the classes that it unloads.

use super::{find::Jvm, memory::Memory};

/// Whether the JVM has unloaded classes, so that an address of a method may have got another meaning. It counts them before
/// it gives their memory to others.
pub struct Unloads {
    /// Where the JVM's own counter is; it has none under `-XX:-UsePerfData`.
    counter: Option<u64>,
    known: Option<u64>,
}

impl Unloads {
    /// Looks for the counter.
    pub fn new(jvm: &Jvm) -> Self {
        let counter = jvm.counters.as_ref().ok().and_then(|counters| counters.long_address("java.cls.unloadedClasses"));
        Self { counter, known: None }
    }

    /// Whether the JVM counts the classes that it unloads.
    pub const fn are_counted(&self) -> bool {
        self.counter.is_some()
    }

    /// Whether classes may have been unloaded since this was asked before. Without a counter they always may.
    pub fn may_have_happened(&mut self, memory: &Memory) -> bool {
        let now = self.counter.and_then(|counter| memory.read_u64(counter).ok());
        std::mem::replace(&mut self.known, now) != now || now.is_none()
    }
}
