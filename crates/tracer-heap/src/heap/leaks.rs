//! What goes on growing over several snapshots, and what holds it.
//!
//! A suspect grows in each interval between two snapshots, and does not slow down. A cache that has reached its bound, and what a program
//! fills when it starts, have stopped; what rises and falls has shrunk. They are listed beside the suspects, with what speaks for them.

mod growth;

use std::collections::HashMap;

use serde::Serialize;

use self::growth::{Growth, judge};
use super::{
    aligned::{Aligned, Held, WayStep},
    census::Amount,
    diff::{Counted, Side, cautions, side},
    graph::{RootKind, is_own},
};
use crate::{report::Word, text::format::plural};

/// Version of the JSON form.
pub const SCHEMA: &str = "jtrace-leaks/1";
/// Less than both is too little to suspect anything.
const LEAST_OBJECTS: u64 = 100;
const LEAST_BYTES: u64 = 64 << 10;
/// Classes of which each suspect says how many are more.
const CLASSES: usize = 3;
/// Places of each of these.
const PLACES: usize = 2;
/// An hour, in milliseconds.
const HOUR_MS: f64 = 3_600_000.0;
/// Shorter than this, times of snapshots are no measure of how fast anything grows.
const LEAST_SPAN_MS: u64 = 1000;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Leaks {
    /// [`SCHEMA`].
    pub schema: Word,
    /// The snapshots, in the order of their times.
    pub snapshots: Vec<Side>,
    /// From the first one to the last one; absent where they do not say when they were taken, or are too near to each other for a rate.
    pub span_ms: Option<u64>,
    /// Why the answer may be another one than the truth.
    pub cautions: Vec<String>,
    /// Two snapshots have one interval, in which nothing can go on, and nothing can stop.
    pub so_far: bool,
    /// What goes on growing, that first which grows most.
    pub suspects: Vec<Suspect>,
    /// How many more there are.
    pub further: usize,
    /// What has grown and is no suspect.
    pub others: Vec<Other>,
    /// By how much what only weak, soft, phantom or final references hold has grown, in bytes: collectors may free it.
    pub only_weak_bytes: i64,
}

/// Something that goes on growing.
#[derive(Clone, Debug, Serialize)]
pub struct Suspect {
    /// The class that the growth is of: the program's own where there is one.
    pub class: String,
    /// The static field or the root that holds it.
    pub holder: String,
    /// From there to what contains it.
    pub way: Vec<WayStep>,
    /// And on to objects of the class.
    pub way_on: Vec<WayStep>,
    /// Objects of the class that are held so, in each snapshot.
    pub class_objects: Vec<u64>,
    /// What is held through the parts that grow, in each snapshot; `retained_bytes` is of what contains them.
    pub amounts: Vec<Amount>,
    /// How many objects came in an hour, had it gone on as from the first snapshot to the last one.
    pub objects_per_hour: Option<f64>,
    /// How many bytes.
    pub bytes_per_hour: Option<f64>,
    /// Which classes it is, those first of which there are most bytes more.
    pub by_class: Vec<Grown>,
    /// Where the program made objects of the class and of these classes while snapshots were taken; absent where nobody looked.
    pub made_at: Option<Vec<Made>>,
}

/// A place at which objects of a class were made, of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Made {
    /// The class.
    pub class: String,
    /// Method of the program and line.
    pub place: String,
    /// Samples of the class at this place.
    pub samples: u64,
    /// Samples of the class at all places.
    pub of: u64,
}

/// Samples of a class at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The class.
    pub class: String,
    /// Method of the program and line.
    pub place: String,
    /// How many samples there are.
    pub samples: u64,
}

/// A class of what grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grown {
    /// Its name.
    pub class: String,
    /// How many objects more.
    pub objects: i64,
    /// How many bytes.
    pub bytes: i64,
}

/// Something that has grown and is no suspect.
#[derive(Clone, Debug, Serialize)]
pub struct Other {
    /// The static field or the root that holds it.
    pub holder: String,
    /// From there to what contains it.
    pub way: Vec<WayStep>,
    /// What is held, in each snapshot.
    pub amounts: Vec<Amount>,
    /// What speaks for it.
    pub growth: Growth,
}

impl Leaks {
    /// Looks at snapshots, and gives so many rows of each kind.
    pub fn of(counted: &[Counted], rows: usize) -> Self {
        let is_part = |one: &Counted| one.cost.as_ref().is_some_and(|cost| !cost.complete);
        let parts = counted.iter().filter(|one| is_part(one)).count();
        let mut counted: Vec<&Counted> = counted.iter().filter(|one| !is_part(one)).collect();
        let is_sorted = counted.is_sorted_by_key(|one| one.origin.time_ms);
        let have_times = counted.iter().all(|one| one.origin.time_ms > 0);
        let mut said = Vec::new();
        if parts > 0 {
            // What one lacks would seem to have grown in the next one.
            said.push(format!("{} not complete, and left out", plural(parts as u64, "snapshot is", "snapshots are")));
        }
        if have_times && !is_sorted {
            counted.sort_by_key(|one| one.origin.time_ms);
            said.push(
                "the snapshots are looked at in the order of their times, which is another one than they were given in"
                    .to_owned(),
            );
        }
        said.extend(cautions(&counted));
        let times: Option<Vec<u64>> = have_times.then(|| counted.iter().map(|one| one.origin.time_ms).collect());
        let span_ms = times.as_ref().and_then(|times| times.last()?.checked_sub(*times.first()?));
        let span_ms = span_ms.filter(|span| *span >= LEAST_SPAN_MS);
        let censuses: Vec<_> = counted.iter().map(|one| &one.census).collect();
        let look = Look { aligned: Aligned::of(&censuses), times, span_ms };
        let (suspects, others) = look.divided();
        let further = suspects.len().saturating_sub(rows);
        Self {
            schema: SCHEMA,
            snapshots: counted.iter().map(|one| side(one)).collect(),
            span_ms,
            cautions: said,
            so_far: counted.len() < 3,
            suspects: suspects.iter().take(rows).map(|held| look.suspect(held)).collect(),
            further,
            others: others.iter().take(rows).map(|(held, growth)| look.other(held, *growth)).collect(),
            only_weak_bytes: look.only_weak(),
        }
    }

    /// Says of each suspect where objects of its classes were made meanwhile.
    pub fn add_places(&mut self, sampled: &[Sampled]) {
        for suspect in &mut self.suspects {
            let others = suspect.by_class.iter().map(|grown| &grown.class).filter(|class| **class != suspect.class);
            suspect.made_at =
                Some([&suspect.class].into_iter().chain(others).flat_map(|class| made(class, sampled)).collect());
        }
    }
}

/// The places with most samples of a class.
fn made(class: &str, sampled: &[Sampled]) -> Vec<Made> {
    let mut places: Vec<&Sampled> = sampled.iter().filter(|of| of.class == class).collect();
    let all = places.iter().map(|of| of.samples).sum();
    // What the JVM makes by itself has no line of the program.
    places.retain(|of| !of.place.contains('!'));
    places.sort_by_key(|of| (std::cmp::Reverse(of.samples), &of.place));
    let of = |sampled: &&Sampled| Made {
        class: class.to_owned(),
        place: sampled.place.clone(),
        samples: sampled.samples,
        of: all,
    };
    places.iter().take(PLACES).map(of).collect()
}

/// By how much something has grown from the first to the last.
fn grown(of: &[Amount], get: fn(&Amount) -> u64) -> i64 {
    let at = |amount: Option<&Amount>| amount.map_or(0, |amount| get(amount).cast_signed());
    at(of.last()) - at(of.first())
}

fn bytes(of: &Amount) -> u64 {
    of.bytes
}

fn objects(of: &Amount) -> u64 {
    of.objects
}

struct Look {
    aligned: Aligned,
    times: Option<Vec<u64>>,
    span_ms: Option<u64>,
}

impl Look {
    /// What goes on growing, and what has grown besides, both by how much.
    fn divided(&self) -> (Vec<Held>, Vec<(Held, Growth)>) {
        let times = self.times.as_deref();
        let goes_on = |numbers: &[u64]| judge(numbers, times) == Growth::GoesOn;
        let mut suspects = self.aligned.holders(goes_on);
        suspects.retain(|held| self.is_enough(held) && self.verdict(held) == Growth::GoesOn);
        let has_grown = |numbers: &[u64]| numbers.last() > numbers.first();
        let is_apart = |held: &Held| {
            let near = |suspect: &Held| {
                self.aligned.is_at_or_above(suspect.at, held.at) || self.aligned.is_at_or_above(held.at, suspect.at)
            };
            !suspects.iter().any(near)
        };
        let mut others: Vec<(Held, Growth)> = self
            .aligned
            .holders(has_grown)
            .into_iter()
            .filter(|held| self.is_enough(held) && is_apart(held))
            .map(|held| {
                let growth = self.verdict(&held);
                (held, growth)
            })
            .collect();
        // Where parts take turns, none of them goes on, and all of them together do.
        let together = others.extract_if(.., |(_, growth)| *growth == Growth::GoesOn).map(|(held, _)| held);
        suspects.extend(together.collect::<Vec<_>>());
        let key = |held: &Held| (std::cmp::Reverse(grown(&held.amounts, bytes)), held.at);
        suspects.sort_by_key(key);
        others.sort_by_key(|(held, _)| key(held));
        (suspects, others)
    }

    /// Whether it is something that keeps objects, and has grown by more than chance has.
    fn is_enough(&self, held: &Held) -> bool {
        let root = self.aligned.beginning(held.at).root;
        let is_kept = !matches!(root, Some(RootKind::OnlyWeak | RootKind::Unreached));
        // More frames of a method are there where more threads are, which are told of themselves.
        let are_frames = root.is_some_and(RootKind::is_passing) && held.parts.contains(&held.at);
        let more = |get, least: u64| grown(&held.amounts, get) >= least.cast_signed();
        is_kept && (more(bytes, LEAST_BYTES) || !are_frames && more(objects, LEAST_OBJECTS))
    }

    /// How all that it holds has grown: parts can take turns.
    fn verdict(&self, held: &Held) -> Growth {
        let of = |get: fn(&Amount) -> u64| held.amounts.iter().map(get).collect::<Vec<u64>>();
        let get = if grown(&held.amounts, objects) > 0 { objects } else { bytes };
        judge(&of(get), self.times.as_deref())
    }

    fn per_hour(&self, more: i64) -> Option<f64> {
        self.span_ms.map(|span| more as f64 * HOUR_MS / span as f64)
    }

    fn suspect(&self, held: &Held) -> Suspect {
        let chosen = self.class(held);
        let way = self.aligned.way(held.at);
        let mut way_on = chosen.map_or_else(Vec::new, |row| self.aligned.way(row));
        way_on.drain(..way.len().min(way_on.len()));
        let row = &self.aligned.rows[chosen.unwrap_or(held.at) as usize];
        Suspect {
            class: row.class.to_string(),
            class_objects: row.own.iter().map(objects).collect(),
            holder: self.aligned.beginning(held.at).by.to_string(),
            way,
            way_on,
            amounts: held.amounts.clone(),
            objects_per_hour: self.per_hour(grown(&held.amounts, objects)),
            bytes_per_hour: self.per_hour(grown(&held.amounts, bytes)),
            by_class: self.by_class(held),
            made_at: None,
        }
    }

    fn other(&self, held: &Held, growth: Growth) -> Other {
        Other {
            holder: self.aligned.beginning(held.at).by.to_string(),
            way: self.aligned.way(held.at),
            amounts: held.amounts.clone(),
            growth,
        }
    }

    /// Rows of the parts of what is held and all that is below them, with how many steps below.
    fn below(&self, held: &Held) -> Vec<(u32, u32)> {
        let mut depth: HashMap<u32, u32> = held.parts.iter().map(|part| (*part, 0)).collect();
        let mut rows: Vec<(u32, u32)> = held.parts.iter().map(|part| (*part, 0)).collect();
        // What holds comes before what is held.
        let first = held.parts.iter().min().copied().unwrap_or(u32::MAX);
        for (row, at) in self.aligned.rows.iter().zip(0_u32..).skip(first as usize) {
            if let Some(above) = row.above.and_then(|above| depth.get(&above)).copied()
                && !depth.contains_key(&at)
            {
                depth.insert(at, above + 1);
                rows.push((at, above + 1));
            }
        }
        rows
    }

    /// The row whose class the growth is of: the nearest one of the program's own that grows as much as the parts do, else what the JDK's
    /// collections hold.
    fn class(&self, held: &Held) -> Option<u32> {
        let parts = held.parts.iter().map(|part| grown(&self.aligned.rows[*part as usize].own, objects)).sum::<i64>();
        let own = self.below(held).into_iter().filter(|(row, _)| {
            let row = &self.aligned.rows[*row as usize];
            !is_foreign(&row.class) && grown(&row.own, objects) * 2 >= parts
        });
        let key = |(row, depth): &(u32, u32)| {
            (*depth, std::cmp::Reverse(grown(&self.aligned.rows[*row as usize].own, objects)), *row)
        };
        if let Some((row, _)) = own.min_by_key(key) {
            return Some(row);
        }
        let most = |rows: &mut dyn Iterator<Item = u32>| {
            rows.max_by_key(|row| (grown(&self.aligned.rows[*row as usize].below, bytes), std::cmp::Reverse(*row)))
        };
        let mut row = most(&mut held.parts.iter().copied())?;
        while is_part_of_collection(&self.aligned.rows[row as usize].class) {
            let below = |(at, of): (u32, &super::aligned::Row)| (of.above == Some(row)).then_some(at);
            match most(&mut (0_u32..).zip(&self.aligned.rows).filter_map(below)) {
                Some(next) if grown(&self.aligned.rows[next as usize].own, objects) > 0 => row = next,
                _ => break,
            }
        }
        Some(row)
    }

    fn by_class(&self, held: &Held) -> Vec<Grown> {
        let mut by_class: HashMap<&str, (i64, i64)> = HashMap::new();
        let mut add = |at: u32| {
            let row = &self.aligned.rows[at as usize];
            let (of_objects, of_bytes) = by_class.entry(&row.class).or_default();
            *of_objects += grown(&row.own, objects);
            *of_bytes += grown(&row.own, bytes);
        };
        if held.parts.is_empty() {
            add(held.at);
        }
        self.below(held).into_iter().for_each(|(at, _)| add(at));
        let mut rows: Vec<Grown> = by_class
            .into_iter()
            .map(|(class, (objects, bytes))| Grown { class: class.to_owned(), objects, bytes })
            .filter(|row| row.objects > 0 || row.bytes > 0)
            .collect();
        rows.sort_by(|one, other| {
            (other.bytes, other.objects, &one.class).cmp(&(one.bytes, one.objects, &other.class))
        });
        rows.truncate(CLASSES);
        rows
    }

    fn only_weak(&self) -> i64 {
        let rows = self.aligned.rows.iter().filter(|row| row.root == Some(RootKind::OnlyWeak));
        rows.map(|row| grown(&row.below, bytes)).sum()
    }
}

/// Whether a class, or the elements of an array, are the JDK's, or no objects.
fn is_foreign(class: &str) -> bool {
    !is_own(class.trim_start_matches("class "))
}

/// Whether a class is what collections are made of, and not what somebody puts into them.
fn is_part_of_collection(class: &str) -> bool {
    class.starts_with("java.") && (class.contains('$') || class.ends_with("[]"))
}

#[cfg(test)]
mod tests;
