//! The rule about queues of threads that a program has written itself.

use super::Evidence;
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// Looks that must have seen a queue, and so many percent of them its threads busy.
const LOOKS: u64 = 4;
const BUSY_PERCENT: u64 = 80;
/// It grew by so much, and fell in fewer than one of so many looks.
const GROWTH: u64 = 20;
const FELL_IN: u64 = 4;

/// A queue grows while the threads that have it are busy with something.
pub(super) fn grow(evidence: &Evidence<'_>) -> Option<Finding> {
    let rows = evidence.rows(Threads, "queues").filter(|row| {
        let [looks, busy, fell] = ["looks", "looks_busy", "fell"].map(|key| row.whole(key));
        let growth = row.whole("queued_last").saturating_sub(row.whole("queued_first"));
        looks >= LOOKS && busy * 100 >= looks * BUSY_PERCENT && fell * FELL_IN < looks && growth >= GROWTH
    });
    let row = rows.max_by_key(|row| row.whole("queued_last").saturating_sub(row.whole("queued_first")))?;
    let [threads, first, last, looks] = ["threads", "queued_first", "queued_last", "looks"].map(|key| row.whole(key));
    let who = if threads == 1 {
        format!("`{}` is", row.text("pattern"))
    } else {
        format!("{} threads `{}` are", format::count(threads), row.text("pattern"))
    };
    let what = row.known("what").map(|what| format!(", waiting for {what}")).unwrap_or_default();
    let explain = row.method("site").map(|method| {
        format!(" `jtrace explain-call PID '{method}'` says what such a piece of work spends its time on.")
    });
    Some(Finding {
        id: "queue-grows",
        severity: Severity::Warning,
        score: (60.0 * last as f64).min(5_000.0),
        title: format!(
            "The queue `{}` grew from {} to {}: {who} busy at {}{what}",
            row.text("field"),
            format::count(first),
            format::count(last),
            row.text("site"),
        ),
        shown_in: "threads.queues",
        when: Vec::new(),
        evidence: vec![
            format!(
                "in {} of {looks} looks at all threads it was busy, and waited for nothing to come",
                row.whole("looks_busy")
            ),
            format!("the queue was shorter than at the look before in {} of them", row.whole("fell")),
        ],
        next_step: format!(
            "Take from the queue faster, with more threads where that is allowed, or fill it more slowly: a queue with a bound slows down \
             who fills it.{}",
            explain.unwrap_or_default()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn queue([first, last]: [u64; 2], [looks, busy, fell]: [u64; 3]) -> Case {
        let cells = [
            ("field", "com.shop.Reaper.queue".into()),
            ("pattern", "texture-reaper".into()),
            ("threads", 1_u64.into()),
            ("queued_first", first.into()),
            ("queued_last", last.into()),
            ("looks", looks.into()),
            ("looks_busy", busy.into()),
            ("fell", fell.into()),
            ("site", "com.shop.Reaper.free:9".into()),
            ("what", "time".into()),
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

    #[test]
    fn what_rises_and_falls_or_whose_thread_rests_is_no_backlog() {
        for (ends, seen) in
            [([12, 340], [3, 3, 0]), ([12, 340], [8, 6, 0]), ([12, 340], [8, 8, 2]), ([12, 25], [8, 8, 0])]
        {
            assert!(queue(ends, seen).ask(grow).is_none(), "{ends:?} {seen:?}");
        }
        assert!(queue([340, 12], [8, 8, 0]).ask(grow).is_none());
    }
}
