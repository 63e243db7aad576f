//! Tables of calls by thread.

use super::{
    super::{
        table::{Groups, column},
        woven::ThreadLabel,
    },
    Labels,
    counted::Sums,
};
use crate::{
    event::SubjectId,
    report::{Cell, Column, Shape, Unit},
};

/// A row a thread.
pub(super) fn threads(calls: Groups<ThreadLabel, Sums>) -> Shape {
    calls.table("threads", "Calls by thread", columns(&[]), |sums| sums.calls, thread_cells, cells)
}

/// A row a thread and method. Methods of the same names in several class loaders are told apart by their numbers.
pub(super) fn methods(calls: Groups<(ThreadLabel, Labels, SubjectId), Sums>) -> Shape {
    let more = [("class", "Class"), ("method", "Method"), ("signature", "Signature")];
    let labels = |(thread, (class, method, signature), _): (ThreadLabel, Labels, SubjectId)| {
        let mut cells = thread_cells(thread);
        cells.extend([class.into(), method.into(), signature.into()]);
        cells
    };
    let title = "Calls by thread and method";
    calls.table("thread_methods", title, columns(&more), |sums| sums.calls, labels, cells)
}

fn thread_cells((thread, tid): ThreadLabel) -> Vec<Cell> {
    vec![thread.into(), tid.map(|tid| u64::from(tid.0)).into()]
}

fn columns(more: &[(&'static str, &'static str)]) -> Vec<Column> {
    let mut columns = vec![column("thread", "Thread", Unit::Text), column("tid", "Thread id", Unit::Count)];
    columns.extend(more.iter().map(|(key, title)| column(key, title, Unit::Text)));
    columns.extend([
        column("calls", "Calls", Unit::Count),
        column("errors", "Errors", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("self_ns", "Self", Unit::Ns),
        column("max_ns", "Longest", Unit::Ns),
    ]);
    columns
}

fn cells(sums: &Sums) -> Vec<Cell> {
    let Sums { calls, errors, timed, total_ns, self_ns, max_ns } = *sums;
    let known = |ns: u64| Cell::from((timed > 0).then_some(ns));
    vec![calls.into(), errors.into(), known(total_ns), known(self_ns), known(max_ns)]
}
