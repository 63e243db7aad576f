//! Two snapshots against each other: what is new, gone, more and less, by class and by what holds it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Serialize;

use super::{
    aligned::{Aligned, Held, WayStep},
    census::{Amount, Census},
    facts::Facts,
    summary::Origin,
};
use crate::report::Word;

/// Version of the JSON form.
pub const SCHEMA: &str = "jtrace-heap-diff/1";
/// Classes of which each row of holders says how many are more or less.
const PARTS: usize = 3;

/// A snapshot that was counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Where it is from.
    pub origin: Origin,
    /// What it cost; absent of dumps that others wrote.
    pub cost: Option<Facts>,
    /// What there is.
    pub census: Census,
}

/// What two snapshots differ in.
#[derive(Clone, Debug, Serialize)]
pub struct HeapDiff {
    /// [`SCHEMA`].
    pub schema: Word,
    /// The snapshot that the other one is compared with.
    pub before: Side,
    /// The other one.
    pub after: Side,
    /// Why differences may have another reason than what the program does.
    pub cautions: Vec<String>,
    /// Classes that differ, those first whose own bytes differ most.
    pub by_class: Vec<ClassChange>,
    /// How many more classes differ.
    pub further_classes: usize,
    /// What holds something that differs, those first whose bytes differ most.
    pub holders: Vec<HolderChange>,
    /// How many more there are.
    pub further_holders: usize,
}

/// One of the snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Where it is from.
    pub origin: Origin,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all of the heap was seen; absent where nobody says so, as of dumps.
    pub complete: Option<bool>,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Only the second snapshot has it.
    New,
    /// Only the first one has it.
    Gone,
    /// There is more of it: of bytes, or of objects where there are as many bytes, or of what they retain.
    Grown,
    /// There is less.
    Shrunk,
}

/// Objects of a class in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassChange {
    /// Its name.
    pub class: String,
    /// What became of it.
    pub fate: Fate,
    /// In the first snapshot.
    pub before: Amount,
    /// In the second one.
    pub after: Amount,
}

/// What something holds in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HolderChange {
    /// The way to the holder, from a static field or a root on.
    pub way: Vec<WayStep>,
    /// What became of what differs.
    pub fate: Fate,
    /// What differs and all that is held through it, in the first snapshot; `retained_bytes` is of the holder.
    pub before: Amount,
    /// In the second one.
    pub after: Amount,
    /// What of it is right below the holder, by class.
    pub parts: Vec<ClassChange>,
}

impl HeapDiff {
    /// Compares two, with so many rows in each table.
    pub fn of(before: &Counted, after: &Counted, rows: usize) -> Self {
        let mut by_class = classes(&before.census, &after.census);
        let mut holders = holders(&before.census, &after.census);
        let (further_classes, further_holders) =
            (by_class.len().saturating_sub(rows), holders.len().saturating_sub(rows));
        by_class.truncate(rows);
        holders.truncate(rows);
        Self {
            schema: SCHEMA,
            before: side(before),
            after: side(after),
            cautions: cautions(&[before, after]),
            by_class,
            further_classes,
            holders,
            further_holders,
        }
    }
}

/// What became of something of which there was and is so much; `None`: nothing.
fn fate(before: Amount, after: Amount) -> Option<Fate> {
    if before == after {
        return None;
    }
    let is_none = |amount: Amount| amount.objects == 0 && amount.bytes == 0;
    let key = |amount: Amount| (amount.bytes, amount.objects, amount.retained_bytes);
    Some(match (is_none(before), is_none(after)) {
        (true, false) => Fate::New,
        (false, true) => Fate::Gone,
        _ if key(after) > key(before) => Fate::Grown,
        _ => Fate::Shrunk,
    })
}

/// The largest change first, in both directions alike.
fn size(before: Amount, after: Amount) -> Reverse<[u64; 3]> {
    let by = |get: fn(Amount) -> u64| get(before).abs_diff(get(after));
    Reverse([by(|amount| amount.bytes), by(|amount| amount.retained_bytes), by(|amount| amount.objects)])
}

fn classes(before: &Census, after: &Census) -> Vec<ClassChange> {
    let names: BTreeSet<&Arc<str>> = before.classes.keys().chain(after.classes.keys()).collect();
    let of = |census: &Census, name: &Arc<str>| census.classes.get(name).copied().unwrap_or_default();
    let change = |name: &Arc<str>| class_change(name, of(before, name), of(after, name));
    let mut changes: Vec<ClassChange> = names.into_iter().filter_map(change).collect();
    changes.sort_by_cached_key(|change| (size(change.before, change.after), change.class.clone()));
    changes
}

fn class_change(class: &str, before: Amount, after: Amount) -> Option<ClassChange> {
    Some(ClassChange { class: class.to_owned(), fate: fate(before, after)?, before, after })
}

fn holders(before: &Census, after: &Census) -> Vec<HolderChange> {
    let aligned = Aligned::of(&[before, after]);
    let differ = |of: &[u64]| of.first() != of.last();
    let change = |held: Held| {
        let [before, after] = held.amounts[..] else { return None };
        let parts = parts(&aligned, &held);
        Some(HolderChange { way: aligned.way(held.at), fate: fate(before, after)?, before, after, parts })
    };
    let mut changes: Vec<HolderChange> = aligned.holders(differ).into_iter().filter_map(change).collect();
    changes.sort_by_cached_key(|change| (size(change.before, change.after), change.way.clone()));
    changes
}

/// What has changed right below a holder, by class.
fn parts(aligned: &Aligned, held: &Held) -> Vec<ClassChange> {
    let mut by_class: BTreeMap<&str, [Amount; 2]> = BTreeMap::new();
    for row in held.parts.iter().map(|part| &aligned.rows[*part as usize]) {
        for (sum, amount) in by_class.entry(&row.class).or_default().iter_mut().zip(&row.own) {
            sum.add(*amount);
        }
    }
    let change = |(class, [before, after]): (&str, [Amount; 2])| class_change(class, before, after);
    let mut parts: Vec<ClassChange> = by_class.into_iter().filter_map(change).collect();
    parts.sort_by_cached_key(|part| (size(part.before, part.after), part.class.clone()));
    parts.truncate(PARTS);
    parts
}

/// A snapshot without what was counted in it.
pub fn side(counted: &Counted) -> Side {
    let Counted { origin, cost, census } = counted;
    let Amount { objects, bytes, .. } = census.total;
    Side { origin: origin.clone(), objects, bytes, complete: cost.as_ref().map(|cost| cost.complete) }
}

/// How a snapshot among several is called.
fn name(at: usize, of: usize) -> String {
    match (at, of) {
        (0, 2) => "the first snapshot".to_owned(),
        (1, 2) => "the second snapshot".to_owned(),
        _ => format!("snapshot {}", at + 1),
    }
}

/// Why what snapshots differ in may have another reason than what the program does.
pub fn cautions(all: &[&Counted]) -> Vec<String> {
    let mut said = Vec::new();
    for (what, get) in [
        (
            "process ids",
            (|origin| if origin.pid == 0 { String::new() } else { origin.pid.to_string() }) as fn(&Origin) -> String,
        ),
        ("programs", |origin| origin.command.clone()),
        ("JVMs", |origin| origin.jvm.clone()),
        ("collectors", |origin| origin.collector.clone()),
    ] {
        let mut values: Vec<String> =
            all.iter().map(|counted| get(&counted.origin)).filter(|value| !value.is_empty()).collect();
        values.dedup();
        if values.len() > 1 {
            said.push(format!("they are not of the same JVM: the {what} differ ({})", values.join(", ")));
        }
    }
    for (at, counted) in all.iter().enumerate() {
        let Counted { origin, cost, census } = counted;
        let name = name(at, all.len());
        match cost {
            None => said.push(format!(
                "{name} is a dump of the JVM's: of which process is not known, sizes are estimates, and it may hold what nothing leads to"
            )),
            Some(cost) if !cost.complete => {
                said.push(format!("{name} is not complete, and what it lacks seems to be gone: the walk {}", cost.reason));
            }
            Some(cost) if cost.odd > 0 => {
                said.push(format!("{} records of {name} made no sense and were left out", cost.odd));
            }
            Some(_) => {}
        }
        if census.unfollowed > 0 {
            said.push(format!(
                "{} objects of {name} are counted at a holder that is not the nearest",
                census.unfollowed
            ));
        }
        if origin.time_ms == 0 {
            said.push(format!("{name} does not say when it was taken"));
        }
    }
    said
}

#[cfg(test)]
mod tests;
