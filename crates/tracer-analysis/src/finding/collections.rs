//! Rules about collections that the program keeps in fields.

use super::{Evidence, Row, heap, queues};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// How often a collection must have been seen, and by how many entries have grown meanwhile.
const SEEN: u64 = 4;
const GROWTH: u64 = 50;
/// Of the times that it was seen again, one of so many at least saw more in it than before.
const ROSE_IN: u64 = 2;

/// Collections that got larger and never smaller, what grew most first.
pub(super) fn growing<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = Row<'a>> + use<'a> {
    evidence.rows(Threads, "collections").filter(|row| {
        let [seen, rose, fell] = ["seen", "rose", "fell"].map(|key| row.whole(key));
        seen >= SEEN && rose * ROSE_IN >= seen - 1 && fell == 0 && growth(row) >= GROWTH
    })
}

fn growth(row: &Row<'_>) -> u64 {
    row.whole("entries_last").saturating_sub(row.whole("entries_first"))
}

/// `com.shop.Registry.CALLS` and what it has.
fn grew(row: &Row<'_>) -> String {
    let [first, last] = ["entries_first", "entries_last"].map(|key| format::count(row.whole(key)));
    format!("`{}` grew from {first} to {last} entries", row.text("field"))
}

/// The first of them in words, for rules about memory.
pub(super) fn grown(evidence: &Evidence<'_>) -> impl Iterator<Item = String> {
    growing(evidence).take(3).map(|row| grew(&row))
}

/// A collection in a field only grows. Where the heap grows as well, or a queue whose threads are known, that is told with this.
pub(super) fn only_grows(evidence: &Evidence<'_>) -> Option<Finding> {
    if heap::growth(evidence).is_some() {
        return None;
    }
    let mut rows = growing(evidence).filter(|row| !queues::grows_in(evidence, &row.text("field")));
    let row = rows.next()?;
    let of_all = [Some(how(&row)), row.known("root").map(|root| format!("the static field `{root}` leads to it"))];
    Some(Finding {
        id: "collection-grows",
        severity: Severity::Info,
        score: 30.0,
        title: format!("{} in {}, and never got smaller, so far", grew(&row), format::duration(row.whole("span_ns"))),
        shown_in: "threads.collections",
        when: Vec::new(),
        evidence: of_all.into_iter().flatten().chain(rows.take(3).map(|row| grew(&row))).collect(),
        next_step: "Normal while a cache fills, up to its bound. Else what is put in must be taken out again: \
                    `jtrace leaks PID` names what goes on growing, and what holds it."
            .to_owned(),
    })
}

/// How it grew.
fn how(row: &Row<'_>) -> String {
    let per_s = row.number("entries_per_s").map(|per_s| format!(", {} a second", format::count(format::whole(per_s))));
    format!(
        "a `{}`, seen {} times, of which {} had more entries than the time before{}",
        row.text("class"),
        format::count(row.whole("seen")),
        format::count(row.whole("rose")),
        per_s.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn collection(case: Case, field: &'static str, [first, last]: [u64; 2], [seen, rose, fell]: [u64; 3]) -> Case {
        let cells = [
            ("field", field.into()),
            ("class", "java.util.HashMap".into()),
            ("root", Cell::Missing),
            ("entries_first", first.into()),
            ("entries_last", last.into()),
            ("entries_per_s", 775.0.into()),
            ("span_ns", 4_000_000_000_u64.into()),
            ("seen", seen.into()),
            ("rose", rose.into()),
            ("fell", fell.into()),
        ];
        case.row("threads", "collections", &cells)
    }

    fn calls(ends: [u64; 2], numbers: [u64; 3]) -> Case {
        collection(Case::seconds(10), "com.shop.Registry.CALLS", ends, numbers)
    }

    #[test]
    fn a_collection_that_only_grows_is_named() {
        let (severity, title) = calls([1200, 4300], [5, 4, 0]).said(only_grows);
        assert_eq!(severity, Severity::Info);
        assert_eq!(
            title,
            "`com.shop.Registry.CALLS` grew from 1,200 to 4,300 entries in 4.0 s, and never got smaller, so far"
        );
        let two = collection(calls([1200, 4300], [5, 4, 0]), "com.shop.Log.LINES", [0, 90], [5, 4, 0]);
        let evidence = two.ask(only_grows).expect("a finding").evidence;
        assert!(evidence[0].starts_with("a `java.util.HashMap`, seen 5 times, of which 4 had more"), "{evidence:?}");
        assert_eq!(evidence[1], "`com.shop.Log.LINES` grew from 0 to 90 entries");
    }

    #[test]
    fn what_shrinks_or_hardly_grows_or_was_hardly_seen_is_none() {
        for (ends, numbers) in
            [([1200, 4300], [5, 4, 1]), ([1200, 1240], [5, 4, 0]), ([1200, 4300], [3, 2, 0]), ([1200, 4300], [9, 1, 0])]
        {
            assert_eq!(calls(ends, numbers).ask(only_grows), None, "{ends:?} {numbers:?}");
        }
    }

    #[test]
    fn where_threads_are_known_that_take_from_a_queue_that_is_told() {
        let queue = |busy: u64| {
            let cells = [
                ("field", "com.shop.Registry.CALLS".into()),
                ("queued_first", 1200_u64.into()),
                ("queued_last", 4300_u64.into()),
                ("looks", 8_u64.into()),
                ("looks_filled", 8_u64.into()),
                ("looks_busy", busy.into()),
                ("fell", 0_u64.into()),
            ];
            calls([1200, 4300], [5, 4, 0]).row("threads", "queues", &cells)
        };
        assert_eq!(queue(8).ask(only_grows), None);
        assert!(queue(2).ask(only_grows).is_some(), "nothing is said of the queue");
    }
}
