//! Tables of JNI calls: by function, by function and caller, by thread.

use std::collections::BTreeSet;

use super::{
    super::{
        Context,
        table::{Keyed, Merge, column},
    },
    Key,
};
use crate::report::{Cell, Column, Shape, Unit};

/// Sums of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) calls: u64,
    /// Calls that have a duration.
    pub(super) timed: u64,
    pub(super) total_ns: u64,
    pub(super) self_ns: u64,
    pub(super) longest_ns: u64,
}

impl Sums {
    /// Takes a call's duration.
    pub(super) fn record(&mut self, total_ns: u64, self_ns: u64) {
        self.merge(&Self { calls: 0, timed: 1, total_ns, self_ns, longest_ns: total_ns });
    }
}

impl Merge for Sums {
    fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// Number of functions that were called.
pub(super) fn functions_called(calls: &Keyed<Key, Sums>) -> u64 {
    let functions: BTreeSet<_> = calls.iter().map(|(key, _)| key.function).collect();
    functions.len() as u64
}

fn columns(mut first: Vec<Column>) -> Vec<Column> {
    first.extend([
        column("calls", "Calls", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("self_ns", "Self", Unit::Ns),
        column("mean_ns", "Mean", Unit::Ns),
        column("longest_ns", "Longest", Unit::Ns),
        column("self_percent", "Share", Unit::Percent),
    ]);
    first
}

/// The numbers of a row; its share is that of the time in all calls.
fn cells(sums: &Sums, all: &Sums) -> Vec<Cell> {
    let Sums { calls, timed, total_ns, self_ns, longest_ns } = *sums;
    let known = |ns: u64| Cell::from((timed > 0).then_some(ns));
    let share = (all.self_ns > 0).then(|| 100.0 * self_ns as f64 / all.self_ns as f64);
    vec![
        calls.into(),
        known(total_ns),
        known(self_ns),
        total_ns.checked_div(timed).into(),
        known(longest_ns),
        share.into(),
    ]
}

/// A row a function.
pub(super) fn functions(calls: &Keyed<Key, Sums>) -> Shape {
    let groups = calls.grouped(|key| Some(key.function.name()));
    let all = groups.total();
    groups.table(
        "jni_functions",
        "JNI functions",
        columns(vec![column("function", "Function", Unit::Text)]),
        |sums| sums.self_ns,
        |function| vec![function.into()],
        |sums| cells(sums, &all),
    )
}

/// A row for each function and caller.
pub(super) fn callers(calls: &Keyed<Key, Sums>, context: Context<'_>) -> Shape {
    let groups = calls.grouped(|key| Some((key.function.name(), context.names.text(key.caller))));
    let all = groups.total();
    let first = vec![column("function", "Function", Unit::Text), column("caller", "Caller", Unit::Text)];
    groups.table(
        "jni_callers",
        "JNI functions by caller",
        columns(first),
        |sums| sums.self_ns,
        |(function, caller)| vec![function.into(), caller.into()],
        |sums| cells(sums, &all),
    )
}

/// A row a thread.
pub(super) fn threads(calls: &Keyed<Key, Sums>, context: Context<'_>) -> Shape {
    let groups = calls.grouped(|key| Some((context.names.thread(key.tid), key.tid)));
    let all = groups.total();
    let first = vec![column("thread", "Thread", Unit::Text), column("tid", "Thread id", Unit::Count)];
    groups.table(
        "jni_threads",
        "JNI calls by thread",
        columns(first),
        |sums| sums.self_ns,
        |(thread, tid)| vec![thread.into(), u64::from(tid.0).into()],
        |sums| cells(sums, &all),
    )
}
