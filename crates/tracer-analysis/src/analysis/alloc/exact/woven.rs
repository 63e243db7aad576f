//! Objects as woven code counts them in the lane inside: by allocating instruction, as the program says, whatever becomes of them. What is
//! shown is what the other lane shows, in the same tables.

use std::collections::BTreeMap;

use tracer_common::marks::{Context, WordKind};
use tracer_weave::{Maker, PlaceDefinition};

use super::{
    Made, PAIRS,
    sites::{Bytecode, Place, Sites, cells, columns},
};
use crate::{
    analysis::{
        scaled::scaled,
        table::{FastMap, Groups, Keyed, Merge, column},
        woven::{ThreadLabel, Woven, place_label, thread_label},
    },
    client::{Client, ClientReport, EndedIndices, Instance, Known, Reporting},
    mark::{InContext, Marker, OBJECTS},
    report::{Shape, Summary, Unit},
    text::format::plural,
};

/// Counts objects by place.
pub(in super::super) fn woven() -> Woven {
    Woven::of(Box::new(Objects::default()), Marker::is_of_objects, |objects| scaled!("objects", "objects", objects))
}

/// What was counted at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::analysis) struct Counted {
    pub(in crate::analysis) objects: u64,
    /// Of arrays, as they are laid out.
    pub(in crate::analysis) bytes: u64,
}

impl Counted {
    fn add(&mut self, of: WordKind, count: u64) {
        let sum = if of == WordKind::Bytes { &mut self.bytes } else { &mut self.objects };
        *sum = sum.saturating_add(count);
    }

    /// The same with the size of objects that are no arrays.
    pub(in crate::analysis) fn made(self, known: &Known, place: &PlaceDefinition) -> Option<(Made, Maker, String)> {
        let of = place.made.as_ref()?;
        let Self { objects, bytes } = self;
        let made = if of.by == Maker::New {
            let size = known.size_of(&of.class);
            let not_sized = if size.is_some() { 0 } else { objects };
            let bytes = size.map_or(0, |size| objects.saturating_mul(size));
            Made { objects, bytes, largest_bytes: size, not_sized }
        } else {
            Made { objects, bytes, largest_bytes: None, not_sized: 0 }
        };
        Some((made, of.by, of.class.clone()))
    }
}

impl Merge for Counted {
    fn merge(&mut self, other: &Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The client: objects by place, and by thread and place.
struct Objects {
    places: FastMap<u32, Counted>,
    /// By index of the thread.
    threads: Keyed<(usize, u32), Counted>,
}

impl Default for Objects {
    fn default() -> Self {
        Self { places: FastMap::default(), threads: Keyed::new(PAIRS) }
    }
}

impl Client for Objects {
    fn name(&self) -> &'static str {
        OBJECTS
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_objects()
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        if matches!(of, WordKind::Enter | WordKind::Bytes) {
            self.places.entry(mark.place).or_default().add(of, count);
            self.threads.entry((mark.thread.index, mark.place)).add(of, count);
        }
    }

    fn marker_context(&mut self, mark: &Instance<'_>, _: u32, told: InContext) {
        let of = match told.what {
            Context::Region => WordKind::Enter,
            Context::Bytes => WordKind::Bytes,
            Context::Left => return,
        };
        self.marker_count(mark, of, told.calls);
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        self.threads.change_keys(|(thread, place)| (ended.now(thread), place));
    }

    fn events(&self, place: u32) -> Option<u64> {
        self.places.get(&place).map(|counted| counted.objects)
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let sites = self.sites(at.known);
        let total = sites.total();
        let bytes = total.bytes;
        let summary = Summary::new()
            .int("objects", total.objects)
            .int("bytes", bytes)
            .int("classes", sites.classes().len() as u64)
            .int("sites", sites.places());
        let shapes = vec![
            sites.classes_table(bytes),
            sites.sites_table(bytes),
            sites.packages_table(bytes),
            sites.kinds_table(bytes),
            self.threads_table(at, bytes),
            sites.tree(bytes, true),
        ];
        ClientReport { summary, notes: self.notes(total.not_sized), shapes }
    }
}

impl Objects {
    fn sites(&self, known: &Known) -> Sites {
        let mut by_place: BTreeMap<(String, Place), Made> = BTreeMap::new();
        for (number, counted) in &self.places {
            let Some(place) = known.place(*number) else { continue };
            let Some((made, by, class)) = counted.made(known, &place.definition) else { continue };
            by_place.entry((class, Place::woven(&place.definition, by))).or_default().merge(&made);
        }
        by_place.retain(|_, made| made.objects > 0);
        Sites { by_place, others: None }
    }

    fn threads_table(&self, at: &Reporting<'_>, total: u64) -> Shape {
        let mut groups: Groups<ThreadLabel, Made> = Groups { rows: BTreeMap::new(), others: None };
        for ((thread, place), counted) in self.threads.iter() {
            let Some(place) = at.known.place(*place) else { continue };
            let Some((made, ..)) = counted.made(at.known, &place.definition) else { continue };
            groups.rows.entry(thread_label(at, *thread)).or_default().merge(&made);
        }
        if let Some(Counted { objects, bytes }) = self.threads.others().copied() {
            groups.others = Some(Made { objects, bytes, largest_bytes: None, not_sized: objects });
        }
        groups.filter(|made| made.objects > 0).table(
            "objects_by_thread",
            "Objects by thread",
            columns(vec![column("thread", "Thread", Unit::Text), column("tid", "Thread id", Unit::Count)]),
            |made| made.bytes,
            |(thread, tid)| vec![thread.into(), tid.map(|tid| u64::from(tid.0)).into()],
            |made| cells(made, total),
        )
    }

    fn notes(&self, not_sized: u64) -> Vec<String> {
        let mut notes = vec![
            "As written: every object that the chosen code makes by an instruction of its own, also those that a compiler leaves out \
             because nobody else can see them. Woven code takes numbers, and no object, so these can still be left out; the \
             estimate below is of what reached the heap."
                .to_owned(),
            "Not seen here: objects that are made in other code, as in the JDK's methods that the chosen code calls, and what the JVM \
             and native code make themselves (reflection, `Object.clone`, deserialisation, JNI, strings of `ldc`, lambdas and joined strings of \
             `invokedynamic`, boxes that `valueOf` makes)."
                .to_owned(),
        ];
        if not_sized > 0 {
            notes.push(format!(
                "Of {} the size is not known, as their class or the program was gone before it was asked for, or loaders have different ones of its name: \
                 bytes are lower bounds.",
                plural(not_sized, "object", "objects")
            ));
        }
        notes.extend(self.threads.note("pairs of thread and place"));
        notes
    }
}

impl Place {
    fn woven(of: &PlaceDefinition, by: Maker) -> Self {
        Self::at(place_label(of, of.line), Bytecode { bci: of.bci, by: name(by), signature: of.descriptor.clone() })
    }
}

/// The word for it in tables.
const fn name(by: Maker) -> &'static str {
    match by {
        Maker::New => "new",
        Maker::Array => "array",
        Maker::Inner => "inner array",
        Maker::Clone => "clone",
    }
}

#[cfg(test)]
mod tests;
