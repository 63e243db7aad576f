//! How many entries a collection has, of those that the JDK and two libraries of caches bring: each class says it in a field of its own. What is a view of another
//! one, as a `HashSet` is of a map, or a wrapper around it, leads to the one that says it.
//!
//! The program changes them meanwhile, and a collector may move them. So a number may be a moment old, and what makes no sense is none.

use std::collections::HashMap;

use super::{
    executor::count,
    leads,
    named_fields::{MAX_DEPTH, NamedFields},
    reader::Reader,
};
use crate::{jvm::peek::Peek, text::class_name::is_of_jdk};

/// Where a class says how many entries its objects have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// In this field, a number of 32 bits.
    Number(&'static str),
    /// It has an array in this field that is as long.
    Array(&'static str),
    /// Between `head` and `tail`, in a ring that is as long as the array `elements`.
    Ring,
    /// A number of 64 bits and an array of cells, which threads add to that meet: in these fields.
    Cells(&'static str, &'static str),
    /// Each of the objects in an array has a part of it, as a number of 32 bits: in these fields.
    Parts(&'static str, &'static str),
    /// The `LongAdder` in this field does.
    Adder(&'static str),
    /// The collection in this field does.
    Of(&'static str),
    /// As queues of executors do.
    Queue,
}

use Says::{Adder, Array, Cells, Number, Of, Parts, Queue, Ring};

/// Collections by the class that has the field. Classes that extend them have it as well.
const COLLECTIONS: [(&str, Says); 39] = [
    ("java.util.ArrayList", Number("size")),
    ("java.util.LinkedList", Number("size")),
    ("java.util.Vector", Number("elementCount")),
    ("java.util.ArrayDeque", Ring),
    ("java.util.PriorityQueue", Number("size")),
    ("java.util.HashMap", Number("size")),
    ("java.util.HashSet", Of("map")),
    ("java.util.TreeMap", Number("size")),
    ("java.util.TreeSet", Of("m")),
    // Since 9 they have a map of their own.
    ("java.util.Properties", Of("map")),
    ("java.util.Hashtable", Number("count")),
    ("java.util.IdentityHashMap", Number("size")),
    ("java.util.WeakHashMap", Number("size")),
    ("java.util.concurrent.ConcurrentHashMap", Cells("baseCount", "counterCells")),
    ("java.util.concurrent.ConcurrentHashMap$CollectionView", Of("map")),
    // Since 9; before, it counts its entries when it is asked.
    ("java.util.concurrent.ConcurrentSkipListMap", Adder("adder")),
    ("java.util.concurrent.ConcurrentSkipListSet", Of("m")),
    ("java.util.concurrent.CopyOnWriteArrayList", Array("array")),
    ("java.util.concurrent.CopyOnWriteArraySet", Of("al")),
    ("java.util.Collections$SetFromMap", Of("m")),
    ("java.util.Collections$SynchronizedCollection", Of("c")),
    ("java.util.Collections$SynchronizedMap", Of("m")),
    ("java.util.Collections$UnmodifiableCollection", Of("c")),
    ("java.util.Collections$UnmodifiableMap", Of("m")),
    ("java.util.Collections$CheckedCollection", Of("c")),
    ("java.util.Collections$CheckedMap", Of("m")),
    ("java.util.concurrent.LinkedBlockingQueue", Queue),
    ("java.util.concurrent.ArrayBlockingQueue", Queue),
    ("java.util.concurrent.LinkedBlockingDeque", Queue),
    ("java.util.concurrent.PriorityBlockingQueue", Queue),
    ("java.util.concurrent.DelayQueue", Of("q")),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", Number("size")),
    ("com.github.benmanes.caffeine.cache.BoundedLocalCache$BoundedLocalManualCache", Of("cache")),
    ("com.github.benmanes.caffeine.cache.UnboundedLocalCache$UnboundedLocalManualCache", Of("cache")),
    ("com.github.benmanes.caffeine.cache.BoundedLocalCache", Of("data")),
    ("com.github.benmanes.caffeine.cache.UnboundedLocalCache", Of("data")),
    ("com.google.common.cache.LocalCache$LocalManualCache", Of("localCache")),
    ("com.google.common.cache.LocalCache", Parts("segments", "count")),
    (ADDER, Cells("base", "cells")),
];
/// What is counted with cells and is no collection itself.
const ADDER: &str = "java.util.concurrent.atomic.Striped64";
/// Elements of arrays that lead nowhere.
const PLAIN: [&str; 9] = ["boolean", "byte", "char", "short", "int", "long", "float", "double", "java.lang.String"];
/// Most wrappers around a collection.
const MAX_WRAPPERS: u32 = 4;
/// Most cells, or parts: as many as there are CPUs, and rounded up to a power of two.
const MAX_CELLS: u32 = 4096;

/// What objects of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Collections, as this class says, whose `Klass*` this is.
    Collection(Says, u64),
    /// Objects of the program.
    Program,
    /// Objects that lead to some of the program's, along these ways.
    Leads(&'static [&'static str]),
    /// Arrays of objects that may be one of these.
    Array,
    /// Something else.
    Other,
}

/// Kinds of classes, which are looked up once.
#[derive(Debug, Default)]
pub(super) struct Kinds(HashMap<u64, Kind>);

impl Kinds {
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// What objects of a class are; none where it is no class.
    pub(super) fn of<P: Peek>(&mut self, reader: &Reader<'_, P>, klass: u64) -> Option<Kind> {
        if let Some(known) = self.0.get(&klass) {
            return Some(*known);
        }
        let (class, _) = reader.class(klass)?;
        let kind = match says(reader, klass) {
            Some((ADDER, ..)) => Kind::Other,
            Some((_, says, declared)) => Kind::Collection(says, declared),
            None if class.ends_with("[]") => {
                let is_plain = PLAIN.iter().any(|element| class.strip_suffix("[]") == Some(*element));
                if is_plain { Kind::Other } else { Kind::Array }
            }
            None if is_of_jdk(&class) => {
                let ways = lineage(reader, klass).find_map(|(class, _)| leads::of_class(&class));
                ways.map_or(Kind::Other, Kind::Leads)
            }
            None => Kind::Program,
        };
        self.0.insert(klass, kind);
        Some(kind)
    }

    /// Whether an object is a queue that has a count of its own.
    pub(super) fn is_queue<P: Peek>(&mut self, reader: &Reader<'_, P>, object: u64) -> bool {
        let kind = reader.klass(object).and_then(|klass| self.of(reader, klass));
        matches!(kind, Some(Kind::Collection(Queue, _)))
    }

    /// How many entries a collection has, whose class says it so.
    pub(super) fn entries<P: Peek>(
        &mut self,
        fields: &NamedFields,
        reader: &Reader<'_, P>,
        collection: u64,
        (says, declared): (Says, u64),
    ) -> Option<u64> {
        let (mut object, mut says, mut declared) = (collection, says, declared);
        for _ in 0..MAX_WRAPPERS {
            let Of(field) = says else { return said(fields, reader, object, says, declared) };
            let Some(at) = place(fields, reader, object, declared, field) else {
                // In an older release it says so as what it extends does.
                (_, says, declared) = self::says(reader, reader.class(declared)?.1)?;
                continue;
            };
            object = reader.reference(at)?;
            let Kind::Collection(next, klass) = self.of(reader, reader.klass(object)?)? else { return None };
            (says, declared) = (next, klass);
        }
        None
    }
}

/// Names and `Klass*`s of a class and of those that it extends.
fn lineage<P: Peek>(reader: &Reader<'_, P>, klass: u64) -> impl Iterator<Item = (String, u64)> {
    let parent = move |klass: &u64| Some(reader.class(*klass)?.1).filter(|parent| *parent != 0);
    let named = move |klass: u64| Some((reader.class(klass)?.0, klass));
    std::iter::successors(Some(klass), parent).take(MAX_DEPTH).map_while(named)
}

/// The class in which a class of a collection, or one that it extends, says how much is in it.
fn says<P: Peek>(reader: &Reader<'_, P>, klass: u64) -> Option<(&'static str, Says, u64)> {
    lineage(reader, klass).find_map(|(class, klass)| {
        let (known, says) = COLLECTIONS.iter().find(|(known, _)| *known == class)?;
        Some((*known, *says, klass))
    })
}

/// Where a field lies in an object, which this class declares.
fn place<P: Peek>(
    fields: &NamedFields,
    reader: &Reader<'_, P>,
    object: u64,
    declared: u64,
    name: &'static str,
) -> Option<u64> {
    let field = fields.of_class(reader, declared, name).filter(|field| !field.is_static)?;
    Some(object.wrapping_add(field.offset))
}

fn said<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, object: u64, says: Says, declared: u64) -> Option<u64> {
    let place = |name| place(fields, reader, object, declared, name);
    let number = |name| reader.memory.u32(place(name)?).ok();
    let array = |name| reader.length(reader.reference(place(name)?)?);
    // No collection has fewer entries than none.
    let believed = |count: u32| Some(u64::from(count)).filter(|_| i32::try_from(count).is_ok());
    match says {
        Number(field) => believed(number(field)?),
        Array(field) => believed(array(field)?),
        Ring => {
            let (head, tail, room) = (number("head")?, number("tail")?, array("elements")?);
            let is_within = head < room && tail < room;
            is_within.then(|| u64::from(if tail < head { room - head + tail } else { tail - head }))
        }
        Cells(base, cells) => {
            let base = reader.memory.u64(place(base)?).ok()?.cast_signed();
            let cells = place(cells).and_then(|at| reader.reference(at));
            u64::try_from(cells.map_or(base, |cells| base.wrapping_add(sum(fields, reader, cells)))).ok()
        }
        Parts(parts, field) => {
            let parts = reader.reference(place(parts)?)?;
            let counts = (0..reader.length(parts)?.min(MAX_CELLS)).map(|index| {
                let part = reader.element(parts, index)?;
                believed(fields.int(reader, part, field)?)
            });
            counts.sum()
        }
        Adder(field) => {
            let adder = reader.reference(place(field)?)?;
            let (class, says, declared) = self::says(reader, reader.klass(adder)?)?;
            (class == ADDER).then(|| said(fields, reader, adder, says, declared)).flatten()
        }
        Queue => count(fields, reader, object),
        Of(_) => None,
    }
}

/// What is in cells, all together.
fn sum<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, cells: u64) -> i64 {
    let length = reader.length(cells).unwrap_or(0).min(MAX_CELLS);
    let value = |index: u32| {
        let cell = reader.element(cells, index)?;
        let value = fields.of_object(reader, cell, "value").filter(|value| !value.is_reference)?;
        reader.memory.u64(cell.wrapping_add(value.offset)).ok()
    };
    (0..length).filter_map(value).fold(0, |sum: i64, value| sum.wrapping_add(value.cast_signed()))
}

#[cfg(test)]
mod tests;
