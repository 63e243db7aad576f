//! What the process spends its wall time on: how many threads run, wait and for what, on average, and how long all stood still.
//!
//! Samples of the clock say what runs, looks at all threads what the program's threads wait for. A part whose lens is not shown
//! is left out.

use std::collections::BTreeMap;

use super::{
    Evidence, Row,
    looks::{is_librarys_own, own_caller},
    safepoint::stops_all,
};
use crate::{
    lens::Lens::{Cpu, Safepoint, Threads},
    report::Doing,
};

/// Most reasons to wait that are told apart.
const REASONS: usize = 6;
/// A smaller part of a thread is not worth a line.
const LEAST: f64 = 0.005;
/// Some wait for a CPU is everywhere.
const LEAST_QUEUED: f64 = 0.05;

/// Running first, then what was stopped, then waiting: for a CPU, then by how many threads wait. Who sleeps comes last.
pub(super) fn spent(evidence: &Evidence<'_>) -> Vec<Doing> {
    let mut all = running(evidence);
    all.extend(stopped(evidence));
    all.extend(queued(evidence));
    all.extend(waiting(evidence));
    all.extend(asleep(evidence));
    all
}

fn running(evidence: &Evidence<'_>) -> Vec<Doing> {
    let (samples, span_ns) = (evidence.number(Cpu, "samples").unwrap_or(0.0), evidence.span.duration_ns as f64);
    let Some(sampled_ns) = evidence.number(Cpu, "sampled_ns").filter(|_| samples > 0.0 && span_ns > 0.0) else {
        return Vec::new();
    };
    let place = evidence.rows(Cpu, "places").next().and_then(|row| row.known("place"));
    let doing = |row: Row<'_>| Doing {
        state: "runs",
        // Of code the place where most of it was is known, whatever the state.
        place: place.clone().filter(|_| row.text("state") == "Java"),
        what: row.text("state"),
        threads: row.number("samples").unwrap_or(0.0) / samples * sampled_ns / span_ns,
        pool: None,
    };
    evidence.rows(Cpu, "states").map(doing).filter(|doing| doing.threads >= LEAST).collect()
}

/// While the JVM stops all threads, none of the program's runs.
fn stopped(evidence: &Evidence<'_>) -> Option<Doing> {
    let percent = evidence.number(Safepoint, "safepoint_share_percent").filter(|percent| *percent >= 100.0 * LEAST)?;
    let mut operations = evidence.rows(Safepoint, "operations").map(|row| row.text("operation"));
    let operation = operations.find(|operation| stops_all(operation));
    let what = operation.map_or_else(|| "at safepoints".to_owned(), |name| format!("at safepoints, most for {name}"));
    Some(Doing { state: "stopped", what, threads: percent / 100.0, place: None, pool: None })
}

/// Threads that are ready and have no CPU: without them the parts would not add up to what a busy thread spends.
fn queued(evidence: &Evidence<'_>) -> Option<Doing> {
    let threads = evidence.number(Threads, "cpu_queue_average").filter(|threads| *threads >= LEAST_QUEUED)?;
    Some(Doing { state: "waits", what: "for a CPU".to_owned(), threads, place: None, pool: None })
}

/// Whether a library's own thread rests here, as those of the JDK do that are no rows at all: what comes next is not there yet.
fn rests(row: &Row<'_>) -> bool {
    let waits_for_work = ["call", "condition", "notify", "park", "sleep"].contains(&row.text("kind").as_str());
    waits_for_work && is_librarys_own(row)
}

/// Threads of the program that sleep, with the place of most of them.
fn asleep(evidence: &Evidence<'_>) -> Option<Doing> {
    let mut rows = evidence.rows(Threads, "waiting").filter(|row| is_asleep(row) && !rests(row)).peekable();
    let (place, pool) = rows.peek().map(|row| (own_caller(row).or_else(|| row.known("site")), row.known("pool")))?;
    let threads: f64 = rows.filter_map(|row| row.number("average")).sum();
    (threads >= LEAST).then(|| Doing { state: "sleeps", what: "Thread.sleep".to_owned(), threads, place, pool })
}

fn is_asleep(row: &Row<'_>) -> bool {
    row.text("kind") == "sleep"
}

/// By kind and what for, with the place and the pool of the largest part.
fn waiting(evidence: &Evidence<'_>) -> Vec<Doing> {
    let mut reasons: BTreeMap<(String, String), (f64, Row<'_>)> = BTreeMap::new();
    for row in evidence.rows(Threads, "waiting").filter(|row| !rests(row) && !is_asleep(row)) {
        let average = row.number("average").unwrap_or(0.0);
        // Rows come with the largest first.
        reasons.entry((row.text("kind"), row.text("what"))).or_insert((0.0, row)).0 += average;
    }
    let mut reasons: Vec<_> = reasons.into_iter().filter(|(_, (threads, _))| *threads >= LEAST).collect();
    reasons.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let rest = reasons.split_off(reasons.len().min(REASONS));
    let doing = |((kind, what), (threads, row)): ((String, String), (f64, Row<'_>))| Doing {
        state: "waits",
        what: format!("{kind}: {what}"),
        threads,
        place: own_caller(&row).or_else(|| row.known("site")),
        pool: row.known("pool"),
    };
    let others: f64 = rest.iter().map(|(_, (threads, _))| threads).sum();
    let others = (!rest.is_empty()).then(|| Doing {
        state: "waits",
        what: format!("{} other reasons", rest.len()),
        threads: others,
        place: None,
        pool: None,
    });
    reasons.into_iter().map(doing).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn spent_in(case: &Case) -> Vec<Doing> {
        spent(&Evidence { span: &case.span, target: &case.target, sections: &case.sections })
    }

    #[test]
    fn running_stopped_and_waiting_are_threads_on_average() {
        let wait = |site: &str, average: f64| {
            [
                ("kind", "monitor".into()),
                ("what", "com.shop.Cart".into()),
                ("site", site.into()),
                ("average", average.into()),
                ("pool", "http-worker-*".into()),
            ]
        };
        let state = |name: &str, samples: u64| [("state", name.into()), ("samples", samples.into())];
        // Ten seconds in which 990 samples stood for 15 s of CPU time.
        let case = Case::seconds(10)
            .number("cpu", "samples", 990.0)
            .number("cpu", "sampled_ns", 15e9)
            .row("cpu", "states", &state("Java", 660))
            .row("cpu", "states", &state("GC", 330))
            .row("cpu", "states", &state("JIT", 0))
            .number("safepoint", "safepoint_share_percent", 12.0)
            .number("threads", "cpu_queue_average", 0.97)
            .row("threads", "waiting", &wait("com.shop.Cart.add:12", 6.0))
            .row("threads", "waiting", &wait("com.shop.Cart.sum:9", 1.5));
        let said: Vec<_> = spent_in(&case)
            .iter()
            .map(|doing| {
                format!("{} {} {:.2} {}", doing.state, doing.what, doing.threads, doing.place.as_deref().unwrap_or("-"))
            })
            .collect();
        assert_eq!(
            said,
            [
                "runs Java 1.00 -",
                "runs GC 0.50 -",
                "stopped at safepoints 0.12 -",
                "waits for a CPU 0.97 -",
                "waits monitor: com.shop.Cart 7.50 com.shop.Cart.add:12",
            ]
        );
        assert_eq!(spent_in(&case)[4].pool.as_deref(), Some("http-worker-*"));
    }

    #[test]
    fn a_librarys_threads_without_work_spend_nothing_and_its_calls_are_the_programs() {
        let wait = |kind: &'static str, site: &'static str, callers: &'static str| {
            [
                ("kind", kind.into()),
                ("what", kind.into()),
                ("site", site.into()),
                ("average", 2.0.into()),
                ("callers", callers.into()),
            ]
        };
        let case = Case::seconds(10)
            .row(
                "threads",
                "waiting",
                &wait("condition", "org.apache.tomcat.TaskQueue.take:9", "org.apache.tomcat.Own.run:1"),
            )
            .row(
                "threads",
                "waiting",
                &wait("socket", "org.postgresql.PGStream.receive:9", "a.Orders.find:4, from a.B.c:1"),
            )
            .row("threads", "waiting", &wait("call", "a.Own.accept:9", "a.Own.run:1"));
        let said: Vec<_> =
            spent_in(&case).into_iter().map(|doing| (doing.what, doing.place.unwrap_or_default())).collect();
        let expected = [("call: call", "a.Own.accept:9"), ("socket: socket", "a.Orders.find:4")];
        assert_eq!(said, expected.map(|(what, place)| (what.to_owned(), place.to_owned())));
    }

    #[test]
    fn what_lets_threads_run_has_stopped_nobody() {
        let operation = |case: Case, name: &str| case.row("safepoint", "operations", &[("operation", name.into())]);
        let case = Case::default().number("safepoint", "safepoint_share_percent", 8.0);
        let case = operation(operation(case, "HandshakeAllThreads"), "ZRelocateStartYoung");
        assert_eq!(spent_in(&case)[0].what, "at safepoints, most for ZRelocateStartYoung");
    }

    #[test]
    fn reasons_beyond_the_first_are_one_line() {
        let mut case = Case::seconds(10);
        for at in 0..9_u64 {
            let cells =
                [("kind", "lock".into()), ("what", format!("L{at}").into()), ("average", (10.0 - at as f64).into())];
            case = case.row("threads", "waiting", &cells);
        }
        let spent = spent_in(&case);
        assert_eq!((spent.len(), spent[0].what.as_str(), spent[6].what.as_str()), (7, "lock: L0", "3 other reasons"));
        assert!((spent[6].threads - 9.0).abs() < 1e-9);
        assert_eq!(spent_in(&Case::default()), []);
    }
}
