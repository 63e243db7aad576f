//! How large objects are that are made at woven places: read from outside, of the loaded classes of these names. A class is loaded when the
//! first object is made of it at the latest, so it is looked for more than once.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use tracer_weave::{Maker, PlaceDefinition};

use super::unnamed::NAME_BYTES;
use crate::jvm::{
    find::Jvm,
    memory::Memory,
    metadata::{LoadedLayout, MetadataLayout, class_of},
    peek::{Pages, Peek},
};

/// Most bytes of names of classes that are kept.
const MAX_NAMES_BYTES: usize = 16 << 20;
/// Longest time that a look may take; what it has not found by then the next one looks for.
const LONGEST: Duration = Duration::from_secs(1);
/// Shortest and longest time from one look to the next, and how much longer than the look itself it is at least.
const SHORTEST_REST: Duration = Duration::from_millis(500);
const LONGEST_REST: Duration = Duration::from_secs(30);
const REST_PER_LOOK: u32 = 20;

/// Looks for sizes.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    jvm: Option<(Memory, MetadataLayout, LoadedLayout)>,
    /// Classes of which objects are made, and the sizes that were told.
    wanted: HashMap<String, Option<u64>>,
    bytes: usize,
    /// Whether a class was asked for since the last look.
    is_new: bool,
    /// When to look again, and how long to wait after that; nothing before the first look.
    next: Option<(Instant, Duration)>,
}

/// A class, and bytes of one of its objects; nothing where classes of that name differ.
pub(super) type Size = (String, Option<u64>);

impl Sizes {
    pub(super) fn of(jvm: &Jvm) -> Self {
        let metadata = MetadataLayout::from_tables(&jvm.memory, &jvm.tables).ok();
        let loaded = LoadedLayout::from_tables(&jvm.tables).ok();
        let memory = Memory::open(jvm.target.pid).ok();
        let jvm = memory.zip(metadata).zip(loaded).map(|((memory, metadata), loaded)| (memory, metadata, loaded));
        Self { jvm, ..Self::default() }
    }

    /// A place has been woven.
    pub(super) fn woven(&mut self, place: &PlaceDefinition) {
        let Some(made) = place.made.as_ref().filter(|made| made.by == Maker::New) else { return };
        if self.bytes < MAX_NAMES_BYTES && !self.wanted.contains_key(&made.class) {
            self.bytes += made.class.len() + NAME_BYTES;
            self.wanted.insert(made.class.clone(), None);
            self.is_new = true;
        }
    }

    /// Sizes that are news, where it is time to look.
    pub(super) fn due(&mut self) -> Vec<Size> {
        if self.wanted.values().all(Option::is_some) {
            return Vec::new();
        }
        let began = Instant::now();
        let rest = match self.next {
            Some((next, _)) if began < next => return Vec::new(),
            Some((_, rest)) if !self.is_new => rest.saturating_mul(2),
            Some(_) | None => SHORTEST_REST,
        };
        let found = self.look();
        let rest = if found.is_empty() { rest } else { SHORTEST_REST };
        let rest = rest.max(began.elapsed().saturating_mul(REST_PER_LOOK)).min(LONGEST_REST);
        self.next = Some((began + rest, rest));
        found
    }

    /// Sizes that are news, whenever that is.
    pub(super) fn look(&mut self) -> Vec<Size> {
        self.is_new = false;
        let Some((memory, metadata, loaded)) = &self.jvm else { return Vec::new() };
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let (began, pages) = (Instant::now(), Pages::new(memory));
        let found = sizes(&pages, metadata, loaded, &self.wanted, &mut || began.elapsed() < LONGEST);
        let mut news = Vec::new();
        for (class, size) in found {
            let Some(told) = self.wanted.get_mut(&class) else { continue };
            if *told != size {
                *told = size.or(*told);
                news.push((class, size));
            }
        }
        news.sort();
        news
    }
}

/// Sizes of the loaded classes with these names, as long as `goes_on` says so.
fn sizes(
    peek: &impl Peek,
    metadata: &MetadataLayout,
    loaded: &LoadedLayout,
    wanted: &HashMap<String, Option<u64>>,
    goes_on: &mut dyn FnMut() -> bool,
) -> HashMap<String, Option<u64>> {
    let mut found: HashMap<String, Option<u64>> = HashMap::new();
    let mut differing = HashSet::new();
    loaded.classes(peek, &mut |class| {
        if let Some(size) = loaded.instance_bytes(peek, class)
            && let Ok(name) = class_of(peek, metadata, class)
            && wanted.contains_key(&name)
        {
            let known = *found.entry(name.clone()).or_insert(Some(size));
            if known != Some(size) {
                differing.insert(name);
            }
        }
        goes_on()
    });
    for name in differing {
        found.insert(name, None);
    }
    found
}

#[cfg(test)]
mod tests {
    use tracer_weave::Made;

    use super::*;

    #[test]
    fn short_names_of_what_is_made_are_not_kept_without_end() {
        let mut sizes = Sizes::default();
        for number in 0..1 << 20 {
            let (class, method, descriptor) = (String::new(), String::new(), String::new());
            let made = Some(Made { class: format!("{number:x}"), by: Maker::New });
            let (line, raised) = (None, None);
            sizes.woven(&PlaceDefinition { id: 0, marker: 0, class, method, descriptor, bci: 0, line, made, raised });
        }
        let kept = sizes.wanted.len();
        assert!((1..=MAX_NAMES_BYTES / NAME_BYTES).contains(&kept), "{kept} names");
    }
}
