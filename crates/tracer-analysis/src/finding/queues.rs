//! Rules about queues of threads that a program has written itself.

use super::{Evidence, Row, looks};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// What is found of a queue.
struct Kind {
    id: &'static str,
    severity: Severity,
}

const GROWS: Kind = Kind { id: "queue-grows", severity: Severity::Warning };
const BACKLOG: Kind = Kind { id: "queue-backlog", severity: Severity::Info };

/// Looks that must have seen a queue, and so many percent of them its threads busy.
const LOOKS: u64 = 4;
const BUSY_PERCENT: u64 = 80;
/// It grew by so much, and fell in fewer than one of so many looks.
const GROWTH: u64 = 20;
const FELL_IN: u64 = 4;
/// So much in a queue is told that does not grow.
const MANY: f64 = 100.0;

/// Queues whose threads hardly ever waited for something to come while something was there, in so many looks.
fn busy<'a>(evidence: &Evidence<'a>, looks: u64) -> impl Iterator<Item = Row<'a>> + use<'a> {
    evidence.rows(Threads, "queues").filter(move |row| {
        let [filled, busy] = ["looks_filled", "looks_busy"].map(|key| row.whole(key));
        filled >= looks && busy * 100 >= filled * BUSY_PERCENT
    })
}

/// What is in the fullest queue whose thread is busy, and with what: where others wait for room, that may be the one.
pub(super) fn fullest(evidence: &Evidence<'_>) -> Option<String> {
    let row = busy(evidence, looks::LOOKS).max_by_key(|row| row.whole("queued_last"))?;
    Some(format!(
        "{} wait in the queue `{}`: {}",
        format::count(row.whole("queued_last")),
        row.text("field"),
        who(&row)
    ))
}

fn growth(row: &Row<'_>) -> u64 {
    row.whole("queued_last").saturating_sub(row.whole("queued_first"))
}

fn grows(row: &Row<'_>) -> bool {
    growth(row) >= GROWTH && row.whole("fell") * FELL_IN < row.whole("looks")
}

/// Whether it is told of this queue that it grows.
pub(super) fn grows_in(evidence: &Evidence<'_>, field: &str) -> bool {
    busy(evidence, LOOKS).filter(grows).any(|row| row.text("field") == field)
}

/// A queue grows while the threads that have it are busy with something.
pub(super) fn grow(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = busy(evidence, LOOKS).filter(grows).max_by_key(growth)?;
    let [first, last] = ["queued_first", "queued_last"].map(|key| format::count(row.whole(key)));
    let title = format!("The queue `{}` grew from {first} to {last}: {}", row.text("field"), who(&row));
    Some(finding(GROWS, title, &row))
}

/// Much waits in a queue, though it does not grow: a list of work that is done, or what came all at once and takes minutes.
pub(super) fn backlog(evidence: &Evidence<'_>) -> Option<Finding> {
    let queued = |row: &Row<'_>| row.number("queued").unwrap_or(0.0);
    let row = busy(evidence, LOOKS)
        .filter(|row| queued(row) >= MANY && !grows(row))
        .max_by(|a, b| queued(a).total_cmp(&queued(b)))?;
    let average = format::count(format::whole(queued(&row)));
    let title = format!("{average} wait in the queue `{}` on average: {}", row.text("field"), who(&row));
    Some(finding(BACKLOG, title, &row))
}

/// Who is busy with what.
fn who(row: &Row<'_>) -> String {
    if let Some(places) = row.known("places") {
        return format!("{places}; which of them takes from it is not known");
    }
    let threads = row.whole("threads");
    let names = row.text("pattern");
    let who = if threads == 1 {
        format!("`{names}` is")
    } else {
        format!("{} threads as `{names}` are", format::count(threads))
    };
    format!("{who} busy{}", row.doing())
}

fn finding(Kind { id, severity }: Kind, title: String, row: &Row<'_>) -> Finding {
    let [filled, busy, fell] = ["looks_filled", "looks_busy", "fell"].map(|key| row.whole(key));
    let [first, last] = ["queued_first", "queued_last"].map(|key| format::count(row.whole(key)));
    Finding {
        id,
        severity,
        score: (60.0 * row.whole("queued_last") as f64).min(5_000.0),
        title,
        shown_in: "threads.queues",
        when: Vec::new(),
        evidence: vec![
            format!("nobody waited for something to come in {busy} of {filled} looks in which something was there"),
            format!(
                "{first} were in it at the first look and {last} at the last; it was shorter than before in {fell}"
            ),
        ],
        next_step: format!(
            "Take from the queue faster, with more threads where that is allowed, or fill it more slowly: a queue with a bound slows down \
             who fills it.{}",
            row.explain_call("site")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn queue(ends: [u64; 2], seen: [u64; 3]) -> Case {
        queue_of(ends, seen, Cell::Missing)
    }

    fn queue_of([first, last]: [u64; 2], [looks, busy, fell]: [u64; 3], places: Cell) -> Case {
        let cells = [
            ("field", "com.shop.Reaper.queue".into()),
            ("pattern", "texture-reaper".into()),
            ("threads", 1_u64.into()),
            ("queued", ((first + last) as f64 / 2.0).into()),
            ("queued_first", first.into()),
            ("queued_last", last.into()),
            ("looks", looks.into()),
            ("looks_filled", looks.into()),
            ("looks_busy", busy.into()),
            ("fell", fell.into()),
            ("site", "com.shop.Reaper.free:9".into()),
            ("what", "time".into()),
            ("places", places),
        ];
        Case::seconds(10).row("threads", "queues", &cells)
    }

    #[test]
    fn a_queue_that_grows_names_what_its_thread_does() {
        let (severity, title) = queue([12, 340], [8, 8, 0]).said(grow);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            title,
            "The queue `com.shop.Reaper.queue` grew from 12 to 340: `texture-reaper` is busy at com.shop.Reaper.free:9, waiting for time"
        );
        let step = queue([12, 340], [8, 8, 0]).ask(grow).expect("a finding").next_step;
        assert!(step.contains("`jtrace explain-call PID 'com.shop.Reaper::free'`"), "{step}");
    }

    /// Who fills a queue has it as well, and nothing tells it from who takes.
    #[test]
    fn all_that_may_take_are_named_where_they_do_different_things() {
        let places = "`producer` at com.shop.Till.ring:20, waiting for time; `consumer` at com.shop.Desk.serve:33";
        let (_, title) = queue_of([12, 340], [8, 8, 0], places.into()).said(grow);
        let expected = format!(
            "The queue `com.shop.Reaper.queue` grew from 12 to 340: {places}; which of them takes from it is not known"
        );
        assert_eq!(title, expected);
    }

    #[test]
    fn what_rises_and_falls_or_whose_thread_rests_is_no_backlog() {
        for (ends, seen) in
            [([12, 340], [3, 3, 0]), ([12, 340], [8, 6, 0]), ([12, 340], [8, 8, 2]), ([12, 25], [8, 8, 0])]
        {
            assert!(queue(ends, seen).ask(grow).is_none(), "{ends:?} {seen:?}");
        }
        assert!(queue([340, 12], [8, 8, 0]).ask(grow).is_none());
    }

    #[test]
    fn much_that_waits_is_told_though_it_does_not_grow() {
        let (severity, title) = queue([5084, 4985], [9, 9, 8]).said(backlog);
        assert_eq!(severity, Severity::Info);
        assert!(
            title.starts_with("5,035 wait in the queue `com.shop.Reaper.queue` on average: `texture-reaper` is busy"),
            "{title}"
        );
        for (ends, seen) in [([5084, 4985], [9, 5, 8]), ([90, 90], [9, 9, 0]), ([500, 900], [9, 9, 0])] {
            // It rests, it is little, or it grows.
            assert!(queue(ends, seen).ask(backlog).is_none(), "{ends:?} {seen:?}");
        }
    }
}
