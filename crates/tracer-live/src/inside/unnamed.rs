//! Names of methods that the library leaves to jtrace: old versions that still run, read from outside where an address that leads
//! nowhere is an error and harms nobody.

use std::collections::{HashMap, HashSet};

use tracer_weave::control::{Done, MAX_UNNAMED, Running};

use crate::jvm::{
    find::Jvm,
    memory::Memory,
    metadata::{MetadataLayout, Method},
};

/// Most bytes of names of classes that are kept.
const MAX_NAMES_BYTES: usize = 16 << 20;
/// What one takes beside its letters: its place in the table, and what an allocator adds. Millions of names can have three letters.
pub(super) const NAME_BYTES: usize = 64;

/// Reads such names.
#[derive(Debug, Default)]
pub(super) struct Namer {
    /// Nothing where the JVM does not describe its methods.
    jvm: Option<(Memory, MetadataLayout)>,
    /// Classes of this visit: others are of no interest.
    classes: HashSet<String>,
    bytes: usize,
}

impl Namer {
    pub(super) fn of(jvm: &Jvm) -> Self {
        let layout = MetadataLayout::from_tables(&jvm.memory, &jvm.tables).ok();
        let memory = Memory::open(jvm.target.pid).ok();
        Self { jvm: memory.zip(layout), ..Self::default() }
    }

    /// A class with places.
    pub(super) fn woven(&mut self, class: &str) {
        if self.bytes < MAX_NAMES_BYTES && self.classes.insert(class.to_owned()) {
            self.bytes += class.len() + NAME_BYTES;
        }
    }

    /// Adds what the library could not name to what it did. A method that has returned meanwhile is freed, perhaps, and then left out.
    pub(super) fn name(&self, done: &mut Done) {
        let unnamed = std::mem::take(&mut done.unnamed);
        let Some((memory, layout)) = &self.jvm else { return };
        let mut named: HashMap<[String; 3], u64> = HashMap::new();
        for of in unnamed.iter().take(MAX_UNNAMED) {
            let Ok(method) = Method::read(memory, layout, of.address) else { continue };
            if self.classes.contains(&*method.class) {
                let times = named.entry(method.names()).or_default();
                *times = times.saturating_add(of.times);
            }
        }
        for ([class, method, descriptor], times) in named {
            let known = |of: &&mut Running| of.class == class && of.method == method && of.descriptor == descriptor;
            if let Some(of) = done.running.iter_mut().find(known) {
                of.times = of.times.saturating_add(times);
            } else {
                done.running_count += 1;
                done.running.push(Running { class, method, descriptor, times });
            }
        }
        done.running.sort_by(|one, other| {
            other.times.cmp(&one.times).then_with(|| (&one.class, &one.method).cmp(&(&other.class, &other.method)))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_without_end_are_not_kept_without_end() {
        let mut namer = Namer::default();
        (0..1 << 20).for_each(|number| namer.woven(&format!("{number:x}")));
        let kept = namer.classes.len();
        assert!((1..=MAX_NAMES_BYTES / NAME_BYTES).contains(&kept), "{kept} names");
    }
}
