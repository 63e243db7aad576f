//! Bounded keyed tables for analyses, and how they become rows of a report. Not a view: it formats nothing.
//!
//! Keys come from a hostile target (class and thread names, addresses), so every table has a limit; what comes after the
//! limit is reached is added up in one row of its own, and a note says so.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::Entry},
    hash::{BuildHasherDefault, Hash, Hasher},
};

use super::{
    ended::{EndedThreads, MANY_ROWS, OfThread},
    rare::{OfStack, Replaced},
};
use crate::{
    event::{StackId, Tid},
    report::{Cell, Column, Shape, Table, Unit},
};

/// Label of the row that adds up what has no row of its own.
pub(crate) const OTHERS: &str = "(others)";

/// Rows of a table in a report, without [`OTHERS`]. Views for people show fewer.
pub(super) const REPORT_ROWS: usize = 2000;

/// A map for small integer keys.
pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;

/// A set of small integer keys.
pub(super) type FastSet<K> = HashSet<K, BuildHasherDefault<FoldHasher>>;

/// Hashes integers by one multiplication each.
///
/// `std`'s default resists chosen keys at five times the price. Here keys are bounded in number by the table's limit, so
/// the worst that chosen keys can do is a probe sequence of that length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves of the product are folded into the hash")]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from((self.0 ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15)) * 0xa076_1d64_78bd_642f_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

/// Something that can be added up.
pub(super) trait Merge: Clone + Default {
    /// Adds another one.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

/// A table from keys to amounts with a limit on its keys.
#[derive(Clone, Debug)]
pub(super) struct Keyed<K, V> {
    rows: FastMap<K, V>,
    limit: usize,
    others: V,
    turned_away: u64,
}

impl<K: Copy + Eq + Hash, V: Merge> Keyed<K, V> {
    /// An empty table for up to `limit` keys.
    pub(super) fn new(limit: usize) -> Self {
        Self { rows: FastMap::default(), limit, others: V::default(), turned_away: 0 }
    }

    /// The amounts of a key, or those of all keys beyond the limit.
    pub(super) fn entry(&mut self, key: K) -> &mut V {
        if self.rows.len() < self.limit || self.rows.contains_key(&key) {
            self.rows.entry(key).or_default()
        } else {
            self.turned_away += 1;
            &mut self.others
        }
    }

    /// Rows of threads that ended become those of [`Tid::ENDED`], where there are many rows; says whether there are.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) -> bool
    where
        K: OfThread,
    {
        let are_many = self.rows.len() > MANY_ROWS.min(self.limit / 2);
        if are_many {
            self.change_keys(|key| if ended.contains(key.tid()) { key.with_tid(Tid::ENDED) } else { key });
        }
        are_many
    }

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced)
    where
        K: OfStack,
    {
        self.change_keys(|key| key.with_stack(replaced.now(key.stack())));
    }

    /// The stacks of the rows with what these amount to, in no order.
    pub(super) fn stack_amounts(&self, amount: impl Fn(&V) -> u64) -> Vec<(StackId, u64)>
    where
        K: OfStack,
    {
        self.rows.iter().map(|(key, value)| (key.stack(), amount(value))).collect()
    }

    /// Keys become others, and amounts of equal ones are added up.
    pub(super) fn change_keys(&mut self, change: impl Fn(K) -> K) {
        let stay = self.rows.keys().filter(|key| change(**key) == **key).count();
        if stay == self.rows.len() {
            return;
        }
        // Made anew: where rows leave and others come without end, places that are neither used nor free double the table in the end.
        let mut rows = FastMap::with_capacity_and_hasher(stay, BuildHasherDefault::default());
        for (key, value) in self.rows.drain() {
            match rows.entry(change(key)) {
                Entry::Occupied(mut sum) => V::merge(sum.get_mut(), &value),
                Entry::Vacant(free) => _ = free.insert(value),
            }
        }
        self.rows = rows;
    }

    /// The keys' amounts, added up by the label that each key gets; `None` labels a key that is left out.
    pub(super) fn grouped<L: Ord>(&self, label: impl Fn(&K) -> Option<L>) -> Groups<L, V> {
        let mut rows: BTreeMap<L, V> = BTreeMap::new();
        for (key, value) in &self.rows {
            if let Some(label) = label(key) {
                rows.entry(label).or_default().merge(value);
            }
        }
        Groups { rows, others: (self.turned_away > 0).then(|| self.others.clone()) }
    }

    /// As [`Self::grouped`], where the key also completes the amounts before they are added up.
    pub(super) fn grouped_by<L: Ord>(&self, complete: impl Fn(&K, &mut V) -> L) -> Groups<L, V> {
        let mut rows: BTreeMap<L, V> = BTreeMap::new();
        for (key, value) in &self.rows {
            let mut value = value.clone();
            let label = complete(key, &mut value);
            rows.entry(label).or_default().merge(&value);
        }
        Groups { rows, others: (self.turned_away > 0).then(|| self.others.clone()) }
    }

    /// Takes rows away, which make room for others.
    pub(super) fn take(&mut self, goes: impl Fn(&K) -> bool) -> Vec<(K, V)> {
        let taken = self.rows.extract_if(|key, _| goes(key)).collect();
        self.rows.shrink_to(self.rows.len().saturating_mul(2));
        taken
    }

    /// The keys with rows of their own, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.rows.iter()
    }

    /// The amounts of the keys beyond the limit.
    pub(super) const fn others(&self) -> Option<&V> {
        if self.turned_away > 0 { Some(&self.others) } else { None }
    }

    /// A sentence where the limit was reached.
    pub(super) fn note(&self, what: &str) -> Option<String> {
        (self.turned_away > 0).then(|| {
            format!(
                "Only the first {} {what} were told apart; {} events of further ones are counted in rows `{OTHERS}`.",
                self.limit, self.turned_away
            )
        })
    }
}

/// Labelled amounts that become rows.
pub(super) struct Groups<L, V> {
    /// The amounts by label.
    pub(super) rows: BTreeMap<L, V>,
    /// Those of the keys beyond the limit.
    pub(super) others: Option<V>,
}

impl<L: Ord, V: Merge> Groups<L, V> {
    /// The groups that satisfy a condition.
    pub(super) fn filter(mut self, keep: impl Fn(&V) -> bool) -> Self {
        self.rows.retain(|_, value| keep(value));
        self
    }

    /// All amounts, added up.
    pub(super) fn total(&self) -> V {
        let mut total = V::default();
        for value in self.rows.values().chain(&self.others) {
            total.merge(value);
        }
        total
    }

    /// A table with the largest groups first; ties are in the order of the labels. `labels` gives a row's first cells
    /// (for [`OTHERS`] the remaining ones are [`Cell::Missing`]), `amounts` the others.
    pub(super) fn table(
        self,
        id: &'static str,
        title: &str,
        columns: Vec<Column>,
        rank: impl Fn(&V) -> u64,
        labels: impl Fn(L) -> Vec<Cell>,
        amounts: impl Fn(&V) -> Vec<Cell>,
    ) -> Shape {
        let mut groups: Vec<(L, V)> = self.rows.into_iter().collect();
        // Stable, so that the labels' order decides among equals.
        groups.sort_by_key(|(_, value)| std::cmp::Reverse(rank(value)));
        let rest = groups.split_off(groups.len().min(REPORT_ROWS));
        let mut others = self.others;
        for (_, value) in &rest {
            others.get_or_insert_default().merge(value);
        }
        let mut rows: Vec<Vec<Cell>> = groups
            .into_iter()
            .map(|(label, value)| {
                let mut row = labels(label);
                row.extend(amounts(&value));
                row
            })
            .collect();
        if let Some(others) = others {
            let amounts = amounts(&others);
            let mut row = vec![Cell::from(OTHERS)];
            row.resize(columns.len().saturating_sub(amounts.len()), Cell::Missing);
            row.extend(amounts);
            rows.push(row);
        }
        Shape::Table(Table { id, title: title.to_owned(), columns, rows })
    }
}

/// A column.
pub const fn column(key: &'static str, title: &'static str, unit: Unit) -> Column {
    Column { key, title, unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(shape: Shape) -> Vec<Vec<Cell>> {
        match shape {
            Shape::Table(table) => table.rows,
            other => panic!("not a table: {other:?}"),
        }
    }

    #[test]
    fn keys_beyond_the_limit_are_added_up_apart() {
        let mut keyed = Keyed::<u64, u64>::new(2);
        for key in [1, 2, 3, 1, 4] {
            *keyed.entry(key) += 10;
        }
        assert!(keyed.note("things").is_some_and(|note| note.contains("first 2 things") && note.contains("2 events")));
        let columns = vec![column("key", "Key", Unit::Text), column("count", "Count", Unit::Count)];
        let shape = keyed.grouped(|key| Some(*key)).table(
            "t",
            "T",
            columns,
            |value| *value,
            |key| vec![Cell::Int(key)],
            |value| vec![Cell::Int(*value)],
        );
        assert_eq!(
            rows(shape),
            [
                vec![Cell::Int(1), Cell::Int(20)],
                vec![Cell::Int(2), Cell::Int(10)],
                vec![Cell::from(OTHERS), Cell::Int(20)]
            ]
        );
    }

    #[test]
    fn rows_beyond_the_reports_are_added_up() {
        let keys = REPORT_ROWS as u64 + 10;
        let mut keyed = Keyed::<u64, u64>::new(10_000);
        for key in 0..keys {
            *keyed.entry(key) += 1;
        }
        assert_eq!(keyed.note("things"), None);
        let columns = vec![column("key", "Key", Unit::Text), column("count", "Count", Unit::Count)];
        let table = keyed.grouped(|key| Some(*key)).table(
            "t",
            "T",
            columns,
            |value| *value,
            |key| vec![Cell::Int(key)],
            |value| vec![Cell::Int(*value)],
        );
        let rows = rows(table);
        assert_eq!((rows.len(), rows[REPORT_ROWS][1].clone()), (REPORT_ROWS + 1, Cell::Int(10)));
    }
}
