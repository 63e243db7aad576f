//! Methods and functions out of stacks: how much is their own, and how much is theirs with what they call.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use super::{
    profile::Amount,
    rare::Replaced,
    table::{Merge, OTHERS, REPORT_ROWS, column},
};
use crate::{
    event::StackId,
    report::{Cell, Column, Shape, Table, Unit},
    stack::{Frame, Stacks},
};

/// Amounts of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares {
    /// Of stacks whose innermost frame it is.
    pub(super) own: Amount,
    /// Of stacks whose innermost Java frame it is; 0 for what is not Java.
    pub(super) java_own: Amount,
    /// Of stacks that it is in; a stack counts once, however often the method is in it.
    pub(super) total: Amount,
}

impl Merge for Shares {
    fn merge(&mut self, other: &Self) {
        self.own.merge(&other.own);
        self.java_own.merge(&other.java_own);
        self.total.merge(&other.total);
    }
}

impl Shares {
    fn without(self, other: Self) -> Self {
        Self {
            own: self.own.without(other.own),
            java_own: self.java_own.without(other.java_own),
            total: self.total.without(other.total),
        }
    }
}

/// A method with its amounts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// One of its frames; the line is that of any of them.
    pub(super) frame: &'a Frame,
    /// Its amounts.
    pub(super) shares: Shares,
    /// Of these what is not its own, but of stacks that took the place of others.
    less: Shares,
    /// Number of the frame.
    number: u32,
}

/// What methods have beside what the stacks say that are left: they were in stacks whose place others took. By the number of one of
/// a method's frames: what it had there, and what it would have by those others.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside(BTreeMap<u32, [Shares; 2]>);

impl Beside {
    /// Others take the place of stacks with these amounts.
    pub(super) fn replace(
        &mut self,
        stacks: &Stacks,
        replaced: &Replaced,
        amounts: impl Iterator<Item = (StackId, Amount)>,
    ) {
        let mut methods = Methods::new(stacks, self);
        for (stack, amount) in amounts {
            if let Some(by) = replaced.get(stack) {
                methods.add(stack, of_stacks, amount);
                methods.add(by, of_others, amount);
            }
        }
        let both = |row: &Row<'_>| [row.shares.without(row.less), row.less.without(row.shares)];
        let rows = methods.rows.iter().map(|row| (row.number, both(row)));
        self.0 = rows.filter(|(_, both)| *both != [Shares::default(); 2]).collect();
    }
}

/// A frame without what differs within a method.
type Identity<'a> = (bool, &'a str, Option<&'a str>, Option<&'a str>);

fn identity(frame: &Frame) -> Identity<'_> {
    // An overloaded method is another one; how it runs is not.
    (frame.kind == crate::stack::Kind::Kernel, &frame.name, frame.signature.as_deref(), frame.module.as_deref())
}

/// The methods of these stacks, and of those whose place they took, those with the most of their own first.
pub(super) fn rows<'a>(
    stacks: &'a Stacks,
    beside: &Beside,
    amounts: impl Iterator<Item = (StackId, Amount)>,
) -> Vec<Row<'a>> {
    let mut methods = Methods::new(stacks, beside);
    for (stack, amount) in amounts {
        methods.add(stack, of_stacks, amount);
    }
    let mut rows = methods.rows;
    for row in &mut rows {
        row.shares = row.shares.without(row.less);
    }
    rows.retain(|row| row.shares.total.count > 0);
    // Names decide among equals, so that the order does not depend on that of the stacks.
    rows.sort_by_cached_key(|row| {
        let Shares { own, total, .. } = row.shares;
        (Reverse(own.value), Reverse(total.value), row.frame.name.clone(), row.frame.signature.clone())
    });
    rows
}

fn of_stacks<'r>(row: &'r mut Row<'_>) -> &'r mut Shares {
    &mut row.shares
}

fn of_others<'r>(row: &'r mut Row<'_>) -> &'r mut Shares {
    &mut row.less
}

struct Methods<'a> {
    stacks: &'a Stacks,
    by_identity: HashMap<Identity<'a>, usize>,
    /// Method of each frame of the table, by the frame's number, once it was met.
    by_frame: Vec<Option<usize>>,
    rows: Vec<Row<'a>>,
    /// The last stack that each method was counted for.
    counted: Vec<u64>,
    stack: u64,
}

impl<'a> Methods<'a> {
    fn new(stacks: &'a Stacks, beside: &Beside) -> Self {
        let mut methods = Self {
            stacks,
            by_identity: HashMap::new(),
            by_frame: vec![None; stacks.frames().len()],
            rows: Vec::new(),
            counted: Vec::new(),
            stack: 0,
        };
        for (number, [more, less]) in &beside.0 {
            let Some((method, _)) = methods.method(*number) else { continue };
            if let Some(row) = methods.rows.get_mut(method) {
                row.shares.merge(more);
                row.less.merge(less);
            }
        }
        methods
    }

    /// Adds an amount to the methods of a stack.
    fn add(&mut self, id: StackId, to: for<'r> fn(&'r mut Row<'a>) -> &'r mut Shares, amount: Amount) {
        let stacks = self.stacks;
        let Some(stack) = stacks.get(id) else { return };
        self.stack += 1;
        let mut java_seen = false;
        for (depth, number) in stack.frames.iter().enumerate() {
            let Some((method, frame)) = self.method(*number) else { continue };
            let innermost_java = frame.kind.is_java() && !java_seen;
            java_seen |= innermost_java;
            let (Some(row), Some(counted)) = (self.rows.get_mut(method), self.counted.get_mut(method)) else {
                continue;
            };
            let shares = to(row);
            if depth == 0 {
                shares.own.merge(&amount);
            }
            if innermost_java {
                shares.java_own.merge(&amount);
            }
            if *counted != self.stack {
                *counted = self.stack;
                shares.total.merge(&amount);
            }
        }
    }

    fn method(&mut self, number: u32) -> Option<(usize, &'a Frame)> {
        let frame = self.stacks.frame(number)?;
        let known = self.by_frame.get_mut(usize::try_from(number).ok()?)?;
        let (by_identity, rows, counted) = (&mut self.by_identity, &mut self.rows, &mut self.counted);
        let method = *known.get_or_insert_with(|| {
            *by_identity.entry(identity(frame)).or_insert_with(|| {
                rows.push(Row { frame, shares: Shares::default(), less: Shares::default(), number });
                counted.push(0);
                rows.len() - 1
            })
        });
        Some((method, frame))
    }
}

/// What a table of methods counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Samples, of which there are so many in all.
    Samples(u64),
    /// Time, so much in all.
    Time(u64),
}

impl Measure {
    const fn of(self, amount: Amount) -> u64 {
        match self {
            Self::Samples(_) => amount.count,
            Self::Time(_) => amount.value,
        }
    }

    const fn all(self) -> u64 {
        match self {
            Self::Samples(all) | Self::Time(all) => all,
        }
    }

    fn columns(self) -> Vec<Column> {
        let (own, java_own, total, unit) = match self {
            Self::Samples(_) => ("self", "java_self", "total", Unit::Count),
            Self::Time(_) => ("self_ns", "java_self_ns", "total_ns", Unit::Ns),
        };
        let mut columns = vec![
            column("method", "Method", Unit::Text),
            column("signature", "Signature", Unit::Text),
            column(own, "Self", unit),
            column("self_percent", "Self", Unit::Percent),
        ];
        if matches!(self, Self::Samples(_)) {
            columns.push(column("self_interval_percent", "±", Unit::Percent));
        }
        columns.extend([
            column(total, "Total", unit),
            column("total_percent", "Total", Unit::Percent),
            column(java_own, "Top of Java", unit),
        ]);
        columns
    }

    fn cells(self, own: Amount, total: Option<Amount>, java_own: Option<Amount>) -> Vec<Cell> {
        let percent = |part: u64| (self.all() > 0).then(|| 100.0 * part as f64 / self.all() as f64);
        let own = self.of(own);
        let total = total.map(|amount| self.of(amount));
        let mut cells: Vec<Cell> = vec![own.into(), percent(own).into()];
        if let Self::Samples(all) = self {
            cells.push(interval_percent(own, all).into());
        }
        cells.extend([total.into(), total.and_then(percent).into(), java_own.map(|amount| self.of(amount)).into()]);
        cells
    }
}

/// Half the width of the 95 % interval (Wilson's) of a share of `part` out of `all` independent samples, in percentage
/// points. Other than the usual estimate it is sound for small counts.
pub(crate) fn interval_percent(part: u64, all: u64) -> Option<f64> {
    const Z: f64 = 1.96;
    let (n, p) = (all as f64, part as f64 / all as f64);
    (all > 0).then(|| 100.0 * Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt())
}

/// The methods as a table. Totals of those without a row overlap, so only what is their own is added up.
pub(super) fn table(id: &'static str, title: &str, measure: Measure, rows: &[Row<'_>]) -> Shape {
    let (shown, rest) = rows.split_at(rows.len().min(REPORT_ROWS));
    let mut cells: Vec<Vec<Cell>> = shown
        .iter()
        .map(|Row { frame, shares: Shares { own, java_own, total }, .. }| {
            let java_own = frame.kind.is_java().then_some(*java_own);
            let mut row = vec![label(frame).into(), frame.signature.as_deref().into()];
            row.extend(measure.cells(*own, Some(*total), java_own));
            row
        })
        .collect();
    if !rest.is_empty() {
        let mut own = Amount::default();
        for row in rest {
            own.merge(&row.shares.own);
        }
        let mut row = vec![Cell::from(OTHERS), Cell::Missing];
        row.extend(measure.cells(own, None, None));
        cells.push(row);
    }
    Shape::Table(Table { id, title: title.to_owned(), columns: measure.columns(), rows: cells })
}

/// A frame's text without its line: `com.shop.Cart.add`, `libjvm.so!JVM_Sleep`.
pub(super) fn label(frame: &Frame) -> String {
    match frame.line {
        Some(_) => Frame { line: None, ..frame.clone() }.to_string(),
        None => frame.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Play, *};

    fn found(play: &Play, amounts: &[(StackId, u64)]) -> Vec<(String, u64, u64, u64)> {
        let amounts = amounts.iter().map(|(stack, value)| (*stack, Amount { value: *value, count: 1 }));
        rows(&play.stacks, &Beside::default(), amounts)
            .iter()
            .map(|Row { frame, shares, .. }| {
                (label(frame), shares.own.value, shares.java_own.value, shares.total.value)
            })
            .collect()
    }

    #[test]
    fn a_recursive_method_counts_once_a_stack() {
        let mut play = Play::default();
        let recursive = play.stack(&["a.Main.main:1", "a.Fib.fib:3", "a.Fib.fib:4", "inlined a.Fib.fib:4"]);
        let native = play.stack(&["a.Main.main:2", "libc.so.6 read"]);
        assert_eq!(
            found(&play, &[(recursive, 5), (native, 3), (StackId(999), 100)]),
            [
                ("a.Fib.fib".to_owned(), 5, 5, 5),
                ("libc.so.6!read".to_owned(), 3, 0, 3),
                ("a.Main.main".to_owned(), 0, 3, 8)
            ]
        );
    }

    #[test]
    fn intervals_shrink_with_the_root_of_the_samples() {
        let close = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 0.005);
        assert!(close(interval_percent(500, 1000), 3.093) && close(interval_percent(5000, 10_000), 0.98));
        assert!(close(interval_percent(0, 100), 1.85), "none seen is not none");
        assert_eq!(interval_percent(0, 0), None);
    }

    #[test]
    fn the_rest_is_added_up_by_what_is_its_own() {
        let mut play = Play::default();
        let stacks: Vec<StackId> =
            (0..REPORT_ROWS + 10).map(|n| play.stack(&["a.Main.main:1", &format!("a.B.m{n}:1")])).collect();
        let rows =
            rows(&play.stacks, &Beside::default(), stacks.iter().map(|stack| (*stack, Amount { value: 7, count: 1 })));
        let all = stacks.len() as u64;
        let Shape::Table(table) = table("t", "T", Measure::Samples(all), &rows) else { panic!("no table") };
        assert_eq!((table.rows.len(), table.columns.len()), (REPORT_ROWS + 1, 8));
        let rest = &table.rows[REPORT_ROWS];
        assert_eq!(rest[2..4], [Cell::Int(10), Cell::Float(1000.0 / all as f64)]);
        assert_eq!((&rest[5], &rest[7]), (&Cell::Missing, &Cell::Missing));
    }

    #[test]
    fn the_same_name_in_two_files_is_two_functions() {
        let mut play = Play::default();
        let stack = play.stack(&["libc.so.6 read", "libfoo.so read", "kernel read"]);
        assert_eq!(found(&play, &[(stack, 1)]).len(), 3);
    }
}
