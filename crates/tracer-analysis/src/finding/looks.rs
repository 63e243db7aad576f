//! Rules about threads that wait for each other, as looks at all threads have seen it: locks of `java.util.concurrent`, and pools
//! that wait for themselves.

use super::{Evidence, Row, when};
use crate::{
    analysis::{library, threads::HAS_ENDED},
    lens::Lens::{Locks, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Threads of one circle that a finding names.
const NAMED: usize = 6;
/// Looks that are needed before anything is said that one moment could show by chance.
pub(super) const LOOKS: u64 = 3;
/// Threads on average from which on those are told that went on where others wait.
const WENT_ON: f64 = 0.1;
/// Virtual threads at one place from which on one look less is enough.
pub(super) const CROWD: f64 = 10.0;

/// Threads wait for each other in a circle in which a lock of `java.util.concurrent` is; circles of monitors are [`super::waiting`]'s
/// where the lens `locks` is shown.
pub(super) fn deadlock(evidence: &Evidence<'_>) -> Option<Finding> {
    let with_lock = evidence.rows(Threads, "circles").find(|row| is_told_here(evidence, row))?.whole("circle");
    let rows: Vec<_> = evidence.rows(Threads, "circles").filter(|row| row.whole("circle") == with_lock).collect();
    let one = |row: &Row<'_>| {
        let (thread, site, what, holder) = (row.text("thread"), row.text("site"), row.text("what"), row.text("holder"));
        match row.text("kind").as_str() {
            "join" => format!("`{thread}` at {site} waits for the end of `{holder}`"),
            _ => format!("`{thread}` at {site} waits for `{what}`, which `{holder}` holds"),
        }
    };
    let mut support: Vec<String> = rows.iter().take(NAMED).map(one).collect();
    if rows.len() > NAMED {
        support.push(format!("and {} more of the same circle", rows.len() - NAMED));
    }
    support.push("read from the JVM's own threads and locks, while none of these threads ran".to_owned());
    Some(Finding {
        id: "deadlock",
        severity: Severity::Critical,
        score: 1e6,
        title: format!(
            "{} are deadlocked{}: each waits for the next one",
            format::plural(rows.len() as u64, "thread", "threads"),
            if rows.iter().any(|row| row.text("kind") == "lock") { " over a lock of java.util.concurrent" } else { "" },
        ),
        shown_in: "threads.circles",
        when: Vec::new(),
        evidence: support,
        next_step: "Only a restart frees these threads; then take these locks in the same order everywhere.".to_owned(),
    })
}

/// Whether a row is about a lock of `java.util.concurrent`, or the end of a thread; monitors are told of by the lens `locks`, where it is shown.
fn is_told_here(evidence: &Evidence<'_>, row: &Row<'_>) -> bool {
    match row.text("kind").as_str() {
        "lock" | "join" => true,
        "monitor" => !evidence.shows(Locks),
        _ => false,
    }
}

/// Threads wait for a notify that may have gone to the wrong one of them.
pub(super) fn lost_notify(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Threads, "unnotified").find(|row| row.whole("looks") > LOOKS)?;
    let (class, looks) = (row.text("class"), row.whole("looks"));
    let (threads, others) = (row.whole("threads"), row.whole("other_threads"));
    let (site, other_site) = (row.text("site"), row.text("other_site"));
    Some(Finding {
        id: "lost-notify",
        // They may all have nothing to do: only who knows the program can tell.
        severity: Severity::Info,
        score: 100.0 * (threads + others) as f64,
        title: format!(
            "{threads} threads at {site} and {others} at {other_site} wait to be notified of one `{class}`, and none of them was"
        ),
        shown_in: "threads.unnotified",
        when: Vec::new(),
        evidence: vec![
            format!("the same threads in each of the last {looks} looks, and none of them had run in between"),
            "`notify` wakes any one of them: if that waits for something else, nobody who could go on is woken"
                .to_owned(),
        ],
        next_step: "Where these wait for what those do, use `notifyAll`, or a lock with a condition for each side; \
                    `jtrace threads PID` shows them all."
            .to_owned(),
    })
}

/// What to do about a lock, and about permits, of which nobody knows who has them.
const LOCK: &str =
    "Hold this lock shorter, split it, or use a structure without one; `jtrace threads PID` shows who holds it.";
const PERMITS: &str =
    "Hold permits shorter, have more of them, and give each back in a `finally`: one that is not given back is lost.";

/// Threads queue for a lock of `java.util.concurrent`.
pub(super) fn lock_queue(evidence: &Evidence<'_>) -> Option<Finding> {
    // A single look can have seen all threads begin at once.
    let is_queue = |row: &Row<'_>| row.whole("most") >= 2 && row.whole("looks") >= 2;
    let row = of_kind(evidence, |row| is_told_here(evidence, row) && is_queue(row))?;
    let average = row.number("average")?;
    if average < 0.5 {
        return None;
    }
    if row.text("holder_site") == HAS_ENDED {
        return Some(abandoned(evidence, &row, average));
    }
    let (what, site) = (row.text("what"), place(&row));
    let holder = holder(evidence, &row);
    let held = holder.as_ref().map(|holder| format!("; {holder}")).unwrap_or_default();
    Some(Finding {
        id: "lock-queue",
        severity: Severity::Warning,
        score: 100.0 * average,
        title: format!("{} wait for a `{what}`, at {site}{held}", threads(evidence, &row, average)),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: seen(evidence, &row),
        next_step: if what.contains("Semaphore") { PERMITS } else { LOCK }.to_owned(),
    })
}

/// Threads queue for a lock that nobody will release: who holds it has ended.
fn abandoned(evidence: &Evidence<'_>, row: &Row<'_>, average: f64) -> Finding {
    let (what, site, holder) = (row.text("what"), place(row), row.text("holder"));
    Finding {
        id: "lock-queue",
        severity: Severity::Critical,
        score: 100.0 * average,
        title: format!(
            "{} wait for a `{what}` that nobody will release, at {site}: `{holder}` ended while it held it",
            threads(evidence, row, average)
        ),
        shown_in: "threads.waiting",
        when: when::seen(evidence, row),
        evidence: seen(evidence, row),
        next_step: format!(
            "Only a restart frees these threads; then look for what `{holder}` locks and does not unlock in a `finally`."
        ),
    }
}

/// How many threads of a row there are, as it can be said: not all virtual threads are looked at.
pub(super) fn threads(evidence: &Evidence<'_>, row: &Row<'_>, average: f64) -> String {
    let of_virtual = row.number("virtual_average").unwrap_or(0.0);
    let is_partial = of_virtual > 0.0 && evidence.whole(Threads, "looks_partial") > Some(0);
    let noun = if 2.0 * of_virtual > average { "virtual threads" } else { "threads" };
    format!("{average:.1}{} {noun} on average", if is_partial { " or more" } else { "" })
}

/// Who held what a row's threads waited for, where that was, and what is waited for there.
pub(super) fn holder(evidence: &Evidence<'_>, row: &Row<'_>) -> Option<String> {
    let holder = row.known("holder")?;
    let Some(site) = row.known("holder_site") else { return Some(format!("`{holder}` held it")) };
    let what =
        held_up_by(evidence, row, &site).map(|what| format!(", where threads wait for {what}")).unwrap_or_default();
    Some(format!("`{holder}` held it at {site}{what}"))
}

/// What else than a lock threads wait for at the place of a holder, in half as many looks as others waited for it.
fn held_up_by(evidence: &Evidence<'_>, row: &Row<'_>, site: &str) -> Option<String> {
    let is_there = |other: &Row<'_>| {
        let is_lock = ["monitor", "lock"].contains(&other.text("kind").as_str());
        other.text("site") == site && !is_lock && 2 * other.whole("looks") >= row.whole("looks")
    };
    evidence.rows(Threads, "waiting").find(is_there)?.known("what")
}

/// The reason of this kind that most threads had, after enough looks.
pub(super) fn of_kind<'a>(evidence: &Evidence<'a>, is_it: impl Fn(&Row<'a>) -> bool) -> Option<Row<'a>> {
    let looks = evidence.whole(Threads, "looks")?;
    // Looks at many virtual threads take long, so there are few; that a crowd stands at one place in each is no chance.
    let is_crowd = |row: &Row<'_>| row.whole("looks") == looks && row.number("virtual_average") >= Some(CROWD);
    let row = evidence.rows(Threads, "waiting").find(is_it)?;
    (looks >= LOOKS || (looks + 1 == LOOKS && is_crowd(&row))).then_some(row)
}

pub(super) fn seen(evidence: &Evidence<'_>, row: &Row<'_>) -> Vec<String> {
    let looks = evidence.whole(Threads, "looks").unwrap_or(0);
    let often = format!(
        "seen in {} of {looks} looks at all threads, {} at once at most; in {}",
        row.whole("looks"),
        row.whole("most"),
        row.text("called")
    );
    [often].into_iter().chain(called_from(row)).collect()
}

/// A row's place; where that is a library's, the program's line that led there comes first.
pub(super) fn place(row: &Row<'_>) -> String {
    let site = row.text("site");
    match own_caller(row) {
        Some(own) => format!("{own} (in {site})"),
        None => site,
    }
}

/// The line of the program that led to a row's place in a library.
pub(super) fn own_caller(row: &Row<'_>) -> Option<String> {
    let callers = row.known("callers").filter(|_| is_in_library(row))?;
    let nearest = nearest(&callers)?;
    (!library::has(nearest)).then(|| nearest.to_owned())
}

/// The one of these callers that is nearest to the place.
fn nearest(callers: &str) -> Option<&str> {
    callers.split(", from ").next()
}

/// Whether a row is about a library's own threads, on which nothing of the program is: they rest as those of the JDK do.
pub(super) fn is_librarys_own(row: &Row<'_>) -> bool {
    is_in_library(row) && own_caller(row).is_none()
}

/// Whether a row's place is in a library that is known.
pub(super) fn is_in_library(row: &Row<'_>) -> bool {
    library::has(&row.text("site"))
}

/// Where those are that came the same way as a row's threads and went on: they may have what those wait for.
pub(super) fn went_on(evidence: &Evidence<'_>, row: &Row<'_>) -> Option<String> {
    let average = row.number("past").filter(|average| *average >= WENT_ON)?;
    let what = row.known("past_what").map(|what| format!(", waiting for {what}")).unwrap_or_default();
    let callers = row.known("past_callers");
    let from = callers.as_deref().and_then(nearest).map(|nearest| format!(" (called by {nearest})"));
    let (threads, at) = (threads(evidence, row, average), row.known("past_site")? + &from.unwrap_or_default() + &what);
    Some(match row.known("past_through") {
        Some(method) => format!("{threads} that came through `{method}` as well went on, most to {at}"),
        None => format!("{threads} are at work on that, most at {at}"),
    })
}

/// How the program came to a row's place.
pub(super) fn called_from(row: &Row<'_>) -> Option<String> {
    Some(format!("called by {}", row.known("callers")?))
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{Case, waiting},
        *,
    };

    #[test]
    fn a_queue_for_a_lock_names_the_line_and_the_holder() {
        let case = waiting("lock", "java.util.concurrent.locks.ReentrantLock$NonfairSync", 7.2, 10);
        let finding = case.ask(lock_queue).expect("a finding");
        assert!(finding.title.starts_with("7.2 threads on average wait for a `java.util.concurrent.locks.Reentrant"));
        assert!(finding.title.ends_with("at com.shop.Cart.add:12; `worker-1` held it at com.shop.Cart.sum:9"));
        assert!(waiting("lock", "L", 0.2, 10).ask(lock_queue).is_none());
        assert!(waiting("lock", "L", 1.1, 1).ask(lock_queue).is_none(), "all began at once, in one look of ten");
        assert!(waiting("condition", "C", 7.0, 10).ask(lock_queue).is_none(), "workers without work");
        assert!(waiting("monitor", "M", 7.0, 10).ask(lock_queue).is_some(), "where no lens tells of monitors");
        assert!(waiting("monitor", "M", 7.0, 10).number("locks", "waits", 0.0).ask(lock_queue).is_none());
    }

    #[test]
    fn what_is_waited_for_where_a_lock_is_held_is_told_with_its_holder() {
        let title = |kind: &'static str, site: &'static str, looks: u64| {
            let cells = [
                ("kind", kind.into()),
                ("what", "standard output (write)".into()),
                ("site", site.into()),
                ("called", "java.io.X.y".into()),
                ("average", 1.0.into()),
                ("most", 1_u64.into()),
                ("looks", looks.into()),
            ];
            let case = waiting("lock", "L", 7.2, 10).row("threads", "waiting", &cells);
            case.ask(lock_queue).expect("a finding").title
        };
        let there = "com.shop.Cart.sum:9";
        let told = title("pipe", there, 5);
        assert!(
            told.ends_with("held it at com.shop.Cart.sum:9, where threads wait for standard output (write)"),
            "{told}"
        );
        for told in [title("pipe", there, 4), title("monitor", there, 10), title("pipe", "a.B.c:1", 10)] {
            assert!(told.ends_with("held it at com.shop.Cart.sum:9"), "{told}");
        }
    }

    #[test]
    fn a_place_in_a_library_is_told_by_the_programs_line() {
        let of = |site: &str, callers: &str| {
            let cells = [
                ("kind", "lock".into()),
                ("what", "L".into()),
                ("site", site.into()),
                ("called", "x.Y.z".into()),
                ("average", 3.0.into()),
                ("most", 3_u64.into()),
                ("looks", 10_u64.into()),
                ("callers", callers.into()),
            ];
            let case = Case::seconds(10).number("threads", "looks", 10.0).row("threads", "waiting", &cells);
            case.ask(lock_queue).expect("a finding").title
        };
        let own = of("ch.qos.logback.core.Appender.write:9", "a.Cart.add:12, from a.Main.main:3");
        assert!(own.ends_with("at a.Cart.add:12 (in ch.qos.logback.core.Appender.write:9)"), "{own}");
        let alone = of("ch.qos.logback.core.Appender.write:9", "ch.qos.logback.core.Own.run:3");
        assert!(alone.ends_with("at ch.qos.logback.core.Appender.write:9"), "{alone}");
        assert!(of("a.Cart.add:12", "a.Main.main:3").ends_with("at a.Cart.add:12"));
    }

    #[test]
    fn a_lock_whose_holder_has_ended_is_free_for_nobody() {
        let cells = [
            ("kind", "lock".into()),
            ("what", "L".into()),
            ("site", "a.Ledger.book:6".into()),
            ("average", 8.0.into()),
            ("most", 8_u64.into()),
            ("looks", 10_u64.into()),
            ("holder", "import".into()),
            ("holder_site", HAS_ENDED.into()),
        ];
        let case = Case::seconds(10).number("threads", "looks", 10.0).row("threads", "waiting", &cells);
        let title = "8.0 threads on average wait for a `L` that nobody will release, at a.Ledger.book:6: `import` ended while \
                     it held it";
        assert_eq!(case.said(lock_queue), (Severity::Critical, title.to_owned()));
    }

    #[test]
    fn virtual_threads_that_were_left_out_are_said() {
        let cells = [
            ("kind", "lock".into()),
            ("what", "L".into()),
            ("site", "a.Shop.buy:3".into()),
            ("average", 200.0.into()),
            ("virtual_average", 200.0.into()),
            ("most", 200_u64.into()),
            ("looks", 10_u64.into()),
        ];
        let case = Case::seconds(10).number("threads", "looks", 10.0).row("threads", "waiting", &cells);
        let title = |case: &Case| case.said(lock_queue).1;
        assert_eq!(title(&case), "200.0 virtual threads on average wait for a `L`, at a.Shop.buy:3");
        let case = case.number("threads", "looks_partial", 9.0);
        assert_eq!(title(&case), "200.0 or more virtual threads on average wait for a `L`, at a.Shop.buy:3");
    }

    #[test]
    fn a_crowd_of_virtual_threads_is_no_chance() {
        let case = |all: f64, looks: u64, of_virtual: f64| {
            let cells = [
                ("kind", "lock".into()),
                ("what", "L".into()),
                ("site", "a.Shop.buy:3".into()),
                ("average", of_virtual.into()),
                ("virtual_average", of_virtual.into()),
                ("most", 200_u64.into()),
                ("looks", looks.into()),
            ];
            Case::seconds(10).number("threads", "looks", all).row("threads", "waiting", &cells).ask(lock_queue)
        };
        assert!(case(2.0, 2, 150.0).is_some());
        assert!(case(2.0, 1, 150.0).is_none(), "in one of two");
        assert!(case(2.0, 2, 3.0).is_none(), "a few");
        assert!(case(1.0, 1, 150.0).is_none());
    }

    #[test]
    fn both_sides_that_wait_to_be_notified_are_told() {
        let case = |looks: u64| {
            let cells = [
                ("class", "a.Queue".into()),
                ("looks", looks.into()),
                ("site", "a.Queue.put:9".into()),
                ("threads", 6_u64.into()),
                ("other_site", "a.Queue.take:20".into()),
                ("other_threads", 5_u64.into()),
            ];
            Case::seconds(10).row("threads", "unnotified", &cells)
        };
        assert_eq!(
            case(9).said(lost_notify),
            (
                Severity::Info,
                "6 threads at a.Queue.put:9 and 5 at a.Queue.take:20 wait to be notified of one `a.Queue`, and none of them was"
                    .to_owned()
            )
        );
        assert!(case(3).ask(lost_notify).is_none(), "of the first look nobody knows who had run");
    }

    #[test]
    fn a_circle_with_a_lock_is_a_deadlock_and_one_of_monitors_is_told_elsewhere() {
        let circle = |kind: &'static str| {
            let cells = |thread: &'static str, holder: &'static str, kind: &'static str| {
                [
                    ("circle", 1_u64.into()),
                    ("thread", thread.into()),
                    ("site", "com.shop.Cart.add:12".into()),
                    ("kind", kind.into()),
                    ("what", "L".into()),
                    ("holder", holder.into()),
                ]
            };
            let case = Case::seconds(10).row("threads", "circles", &cells("a", "b", "monitor"));
            case.row("threads", "circles", &cells("b", "a", kind))
        };
        assert_eq!(circle("lock").said(deadlock).0, Severity::Critical);
        let joined = circle("join").number("locks", "waits", 0.0).ask(deadlock).expect("no lens tells of ends");
        assert_eq!(joined.evidence[1], "`b` at com.shop.Cart.add:12 waits for the end of `a`");
        assert!(circle("monitor").number("locks", "waits", 0.0).ask(deadlock).is_none());
        let (_, title) = circle("monitor").said(deadlock);
        assert_eq!(title, "2 threads are deadlocked: each waits for the next one", "where no lens tells of monitors");
    }
}
