//! The rule about what threads lend to each other, connections or buffers, of which there are too few.

use super::{
    Evidence, Row,
    looks::{self, CROWD, called_from, is_librarys_own},
    pools,
};
use crate::{
    lens::Lens::{Locks, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Waits that must have been ended by somebody, so that it is known by whom.
const WAKES: u64 = 8;
/// Of these, how many by threads that gave something back, in per cent.
const RETURNS_PERCENT: u64 = 80;
/// Threads that must wait for one object: each for one of its own would be a chain of queues.
const TOGETHER: u64 = 2;

/// Threads wait until others give back what they took on the same way.
pub(super) fn exhausted(evidence: &Evidence<'_>) -> Option<Finding> {
    const TOLD: f64 = 0.5;
    const WARNING: f64 = 1.5;
    let span = evidence.span.duration_ns.max(1) as f64;
    let row = evidence.rows(Locks, "lent").find(|row| {
        let wakes = row.whole("wakes");
        let is_known = || pools::is_told(evidence, &row.text("site"));
        let returns = 100 * row.whole("returns") >= RETURNS_PERCENT * wakes;
        wakes >= WAKES && returns && together(evidence, row) >= TOGETHER && !is_librarys_own(row) && !is_known()
    })?;
    let average = row.whole("total_ns") as f64 / span;
    if average < TOLD {
        return None;
    }
    // A loop that takes what it itself has put is a worker that finds its own work.
    let is_loop = 2 * row.whole("in_loop") > row.whole("returns");
    let method = row.known("method").map(|method| format!(", as `{method}` does")).unwrap_or_default();
    Some(Finding {
        id: "pool-exhausted",
        severity: if average >= WARNING && !is_loop { Severity::Warning } else { Severity::Info },
        score: 100.0 * average,
        title: format!(
            "{average:.1} threads on average wait at {} until others give back what they took{method}: there is too little of it",
            looks::place(&row)
        ),
        shown_in: "locks.lent",
        when: Vec::new(),
        evidence: [format!(
            "{}, {} in all; of {} that woke a thread there {} gave something back",
            format::plural(row.whole("waits"), "wait", "waits"),
            format::duration(row.whole("total_ns")),
            format::count(row.whole("wakes")),
            format::count(row.whole("returns"))
        )]
        .into_iter()
        .chain(called_from(&row))
        .collect(),
        next_step: "Give it back sooner (no other calls in between), or make the pool larger if what is behind it can bear that; \
                    `jtrace threads PID` shows who waits and who has it."
            .to_owned(),
    })
}

/// The same of virtual threads, of which no event tells who wakes them: that many of them wait at one place, where few would be enough to
/// do what comes, is worth knowing.
pub(super) fn crowd(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_crowd = |row: &Row<'_>| row.text("kind") == "condition" && row.number("virtual_average") >= Some(CROWD);
    let row = looks::of_kind(evidence, is_crowd)?;
    let average = row.number("average")?;
    Some(Finding {
        id: "pool-exhausted",
        severity: Severity::Info,
        score: average,
        title: format!(
            "{} wait at {} until something is put there",
            looks::threads(evidence, &row, average),
            looks::place(&row)
        ),
        shown_in: "threads.waiting",
        when: Vec::new(),
        evidence: looks::seen(evidence, &row)
            .into_iter()
            .chain(["normal where each waits for messages of its own; else there is too little of what they take"
                .to_owned()])
            .collect(),
        next_step: "Look who gives back what they take, and what it does meanwhile: `jtrace threads PID`.".to_owned(),
    })
}

/// Threads that looks have seen wait for one object at the place of a row.
fn together(evidence: &Evidence<'_>, row: &Row<'_>) -> u64 {
    let place = row.text("site");
    let same = evidence.rows(Threads, "waiting").filter(|other| other.text("site") == place);
    same.map(|other| other.whole("together")).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn case(wakes: u64, returns: u64, in_loop: u64, together: u64) -> Case {
        let lent = [
            ("site", "a.Pool.borrow:20".into()),
            ("waits", 400_u64.into()),
            ("total_ns", 80_000_000_000_u64.into()),
            ("wakes", wakes.into()),
            ("returns", returns.into()),
            ("in_loop", in_loop.into()),
            ("method", "a.Dao.count".into()),
            ("callers", "a.Dao.count:9".into()),
        ];
        let waiting = [("site", "a.Pool.borrow:20".into()), ("together", together.into())];
        Case::seconds(10).row("locks", "lent", &lent).row("threads", "waiting", &waiting)
    }

    #[test]
    fn a_pool_without_room_is_named_with_who_takes_and_gives_back() {
        let (severity, title) = case(390, 390, 0, 8).said(exhausted);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            title,
            "8.0 threads on average wait at a.Pool.borrow:20 until others give back what they took, as `a.Dao.count` does: there is \
             too little of it"
        );
    }

    #[test]
    fn a_crowd_of_virtual_threads_at_one_place_is_worth_knowing() {
        let case = |of_virtual: f64| {
            let cells = [
                ("kind", "condition".into()),
                ("what", "C".into()),
                ("site", "a.Pool.borrow:20".into()),
                ("average", of_virtual.into()),
                ("virtual_average", of_virtual.into()),
                ("looks", 5_u64.into()),
            ];
            Case::seconds(10).number("threads", "looks", 5.0).row("threads", "waiting", &cells)
        };
        let (severity, title) = case(200.0).said(crowd);
        assert_eq!(severity, Severity::Info);
        assert_eq!(title, "200.0 virtual threads on average wait at a.Pool.borrow:20 until something is put there");
        assert!(case(4.0).ask(crowd).is_none());
    }

    #[test]
    fn workers_without_work_are_no_pool_without_room() {
        assert!(case(390, 100, 0, 8).ask(exhausted).is_none(), "others bring work");
        assert!(case(390, 390, 0, 1).ask(exhausted).is_none(), "each at a queue of its own");
        assert!(case(4, 4, 0, 8).ask(exhausted).is_none());
        assert_eq!(case(390, 390, 390, 8).said(exhausted).0, Severity::Info, "it brings its own work");
        let row = |callers: &'static str| {
            let lent = [
                ("site", "org.eclipse.jetty.util.BlockingArrayQueue.poll:382".into()),
                ("total_ns", 80_000_000_000_u64.into()),
                ("wakes", 400_u64.into()),
                ("returns", 400_u64.into()),
                ("method", "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run".into()),
                ("callers", callers.into()),
            ];
            let waiting =
                [("site", "org.eclipse.jetty.util.BlockingArrayQueue.poll:382".into()), ("together", 8_u64.into())];
            Case::seconds(10).row("locks", "lent", &lent).row("threads", "waiting", &waiting).ask(exhausted)
        };
        let idle = "org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run:3";
        assert!(row(idle).is_none(), "threads of a library, which hand each other what comes");
        assert!(row("a.Own.take:4").is_some());
    }
}
