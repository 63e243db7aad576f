//! What JNI gives and takes back: references that live until they are deleted, frames, monitors, and the contents of strings
//! and arrays. What is given more often than taken back is left.
//!
//! Numbers of calls alone: which reference a call is about is not told. Local references are not here; a native method gives
//! all of them back by returning.

use std::collections::BTreeMap;

use super::super::table::column;
use crate::{
    jni::Function,
    report::{Cell, Shape, Table, Unit},
};

/// Functions that give something, those that take it back, and what it is.
const PAIRS: [(&str, &str, &str); 7] = [
    ("NewGlobalRef", "DeleteGlobalRef", "global references"),
    ("NewWeakGlobalRef", "DeleteWeakGlobalRef", "weak global references"),
    ("PushLocalFrame", "PopLocalFrame", "frames of local references"),
    ("MonitorEnter", "MonitorExit", "monitors"),
    ("GetStringChars", "ReleaseStringChars", "contents of strings"),
    ("GetStringUTFChars", "ReleaseStringUTFChars", "contents of strings in UTF-8"),
    ("Get*ArrayElements", "Release*ArrayElements", "contents of arrays"),
];

/// A row for each pair of which something was called; nothing where there was none.
pub(in super::super) fn table(calls: impl Iterator<Item = (Function, u64)>) -> Option<Shape> {
    let mut sums: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for (function, count) in calls {
        let side = |at: usize, pattern: &str, side: usize| is(pattern, function.name()).then_some((at, side));
        let found = PAIRS.iter().enumerate().find_map(|(at, (give, take, _))| side(at, give, 0).or(side(at, take, 1)));
        if let Some((at, side)) = found {
            let sum = &mut sums.entry(at).or_default()[side];
            *sum = sum.saturating_add(count);
        }
    }
    let row = |(at, [given, taken]): (usize, [u64; 2])| -> Vec<Cell> {
        let (give, take, what) = PAIRS[at];
        vec![what.into(), give.into(), take.into(), given.into(), taken.into(), given.saturating_sub(taken).into()]
    };
    let rows: Vec<_> = sums.into_iter().map(row).collect();
    let columns = vec![
        column("what", "What", Unit::Text),
        column("gives", "Given by", Unit::Text),
        column("takes", "Taken back by", Unit::Text),
        column("given", "Given", Unit::Count),
        column("taken", "Taken back", Unit::Count),
        column("left", "Left", Unit::Count),
    ];
    let title = "What JNI gave and took back".to_owned();
    (!rows.is_empty()).then_some(Shape::Table(Table { id: "jni_balance", title, columns, rows }))
}

/// Whether a name fits a pattern of at most one `*`.
fn is(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
    }
}
