//! Censuses of several moments beside each other, position by position, and what holds what has changed between them.

use std::{collections::HashMap, sync::Arc};

use serde::Serialize;

use super::{
    census::{Amount, Census, Position},
    graph::RootKind,
};

/// Censuses side by side.
#[derive(Debug, Default)]
pub struct Aligned {
    /// How many there are.
    snapshots: usize,
    /// Positions that any of them has; what holds comes before what is held.
    pub rows: Vec<Row>,
}

/// A position in all of them.
#[derive(Debug)]
pub struct Row {
    /// The row of what holds it.
    pub above: Option<u32>,
    /// Of a way's beginning, the root that it is.
    pub root: Option<RootKind>,
    /// How it is held.
    pub by: Arc<str>,
    /// The class of its objects.
    pub class: Arc<str>,
    /// What is there, in each census.
    pub own: Vec<Amount>,
    /// What is there and below; nothing is said of what that retains.
    pub below: Vec<Amount>,
}

/// What holds something that has changed.
#[derive(Debug)]
pub struct Held {
    /// The row of what holds it; of roots that have come or gone their own.
    pub at: u32,
    /// Rows whose number of objects has changed; none where only the size of the holder has.
    pub parts: Vec<u32>,
    /// How much of it there is in each census: what it retains is of the holder.
    pub amounts: Vec<Amount>,
}

/// A step of a way, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WayStep {
    /// A field, `[]`, or what else it is; of the first one how the way begins.
    pub by: String,
    /// The class that is reached.
    pub class: String,
}

impl Aligned {
    /// Lays them beside each other.
    pub fn of(censuses: &[&Census]) -> Self {
        type Key<'a> = (Option<u32>, &'a str, &'a str);
        let mut aligned = Self { snapshots: censuses.len(), rows: Vec::new() };
        let mut index: HashMap<Key<'_>, u32> = HashMap::new();
        for (side, census) in censuses.iter().enumerate() {
            // The row of each of its positions.
            let mut of: Vec<u32> = Vec::with_capacity(census.positions.len());
            for position in &census.positions {
                let above = position.above.and_then(|above| of.get(above as usize).copied());
                let key = (above, &*position.by, &*position.class);
                let row = *index.entry(key).or_insert_with(|| aligned.add(above, position));
                aligned.rows[row as usize].own[side].add(position.amount);
                of.push(row);
            }
        }
        aligned.sum();
        aligned
    }

    fn add(&mut self, above: Option<u32>, position: &Position) -> u32 {
        let none = vec![Amount::default(); self.snapshots];
        let Position { root, by, class, .. } = position;
        let (by, class) = (by.clone(), class.clone());
        self.rows.push(Row { above, root: *root, by, class, own: none.clone(), below: none });
        u32::try_from(self.rows.len() - 1).unwrap_or(0)
    }

    fn sum(&mut self) {
        for at in (0..self.rows.len()).rev() {
            for side in 0..self.snapshots {
                let own = self.rows[at].own[side];
                let below = &mut self.rows[at].below[side];
                below.objects += own.objects;
                below.bytes += own.bytes;
                let Amount { objects, bytes, .. } = *below;
                if let Some(above) = self.rows[at].above {
                    let above = &mut self.rows[above as usize].below[side];
                    above.objects += objects;
                    above.bytes += bytes;
                }
            }
        }
    }

    /// What holds something whose number or size changes, where `changes` says what a change is of numbers in the order of the censuses.
    ///
    /// A number that changes counts with everything below it, for the holder right above it: whatever changes is counted once.
    pub fn holders(&self, changes: impl Fn(&[u64]) -> bool) -> Vec<Held> {
        let series = |of: &[Amount], get: fn(&Amount) -> u64| of.iter().map(get).collect::<Vec<u64>>();
        let mut held: HashMap<u32, Held> = HashMap::new();
        // Whether the row is below one whose number changes, or is one.
        let mut is_part = vec![false; self.rows.len()];
        for (row, at) in self.rows.iter().zip(0_u32..) {
            let is_below = row.above.is_some_and(|above| is_part[above as usize]);
            let is_changed = changes(&series(&row.own, |amount| amount.objects));
            is_part[at as usize] = is_below || is_changed;
            if is_below {
                continue;
            }
            let (holder, counted) = if is_changed {
                (row.above.unwrap_or(at), &row.below)
            } else if changes(&series(&row.own, |amount| amount.bytes)) {
                (at, &row.own)
            } else {
                continue;
            };
            let entry = held.entry(holder).or_insert_with(|| self.nothing(holder));
            entry.parts.extend(is_changed.then_some(at));
            for (sum, amount) in entry.amounts.iter_mut().zip(counted) {
                sum.objects += if is_changed { amount.objects } else { 0 };
                sum.bytes += amount.bytes;
            }
        }
        let mut held: Vec<Held> = held.into_values().collect();
        held.sort_by_key(|held| held.at);
        held
    }

    fn nothing(&self, holder: u32) -> Held {
        let retained = |amount: &Amount| Amount { retained_bytes: amount.retained_bytes, ..Amount::default() };
        let amounts = self.rows[holder as usize].own.iter().map(retained).collect();
        Held { at: holder, parts: Vec::new(), amounts }
    }

    /// How a row's way begins.
    pub fn beginning(&self, at: u32) -> &Row {
        let mut row = &self.rows[at as usize];
        while let Some(above) = row.above {
            row = &self.rows[above as usize];
        }
        row
    }

    /// Whether one row is the other one, or holds it.
    pub fn is_at_or_above(&self, at: u32, below: u32) -> bool {
        let mut next = Some(below);
        while let Some(row) = next.filter(|row| *row > at) {
            next = self.rows[row as usize].above;
        }
        next == Some(at)
    }

    /// A row's way, from its beginning on.
    pub fn way(&self, at: u32) -> Vec<WayStep> {
        let mut way = Vec::new();
        let mut next = Some(at);
        while let Some(row) = next.map(|at| &self.rows[at as usize]) {
            way.push(WayStep { by: row.by.to_string(), class: row.class.to_string() });
            next = row.above;
        }
        way.reverse();
        way
    }
}
