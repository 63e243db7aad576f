//! Rules about executors: tasks that wait in a queue, and threads that wait for what only that queue can do.

use super::{
    Evidence, Row,
    looks::{LOOKS, called_from, place},
};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// All threads of a pool wait for other tasks, and nobody is left to run them.
pub(super) fn starved(evidence: &Evidence<'_>) -> Option<Finding> {
    wait_for_results(evidence).or_else(|| wait_for_the_queue(evidence))
}

/// All threads of a pool, whatever it is, wait for results.
fn wait_for_results(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Threads, "starved_pools").find(|row| row.whole("looks") >= LOOKS)?;
    let title = format!("{} for results of other tasks, at {}", all_wait(&row), place(&row));
    Some(starvation(title, &row.text("class"), row.whole("looks"), &row))
}

/// All threads of an executor wait for tasks or latches, while tasks wait for them.
fn wait_for_the_queue(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Threads, "executors").find(|row| row.whole("looks_stuck") >= LOOKS)?;
    let title = format!(
        "{} for other tasks, and {} for the pool, at {}",
        all_wait(&row),
        format::plural(row.whole("queued_last"), "task waits", "tasks wait"),
        place(&row)
    );
    Some(starvation(title, &row.text("what"), row.whole("looks_stuck"), &row))
}

/// Whose threads wait.
fn all_wait(row: &Row<'_>) -> String {
    let (threads, pool) = (row.whole("threads"), row.text("pattern"));
    if threads == 1 {
        format!("The only thread of the pool `{pool}` waits")
    } else {
        format!("All {} threads of the pool `{pool}` wait", format::count(threads))
    }
}

fn starvation(title: String, parked_for: &str, looks: u64, row: &Row<'_>) -> Finding {
    Finding {
        id: "starved-pool",
        severity: Severity::Critical,
        score: 1e5,
        title,
        shown_in: "threads.executors",
        when: Vec::new(),
        evidence: vec![
            format!("all of them are parked for a `{parked_for}`"),
            format!("the same in each of the last {}", format::plural(looks, "look", "looks")),
            "tasks that are queued in this pool cannot run while its threads wait for them".to_owned(),
        ]
        .into_iter()
        .chain(called_from(row))
        .collect(),
        next_step:
            "Run the inner tasks in a pool of their own, or compose them without waiting (`CompletableFuture`); \
                    `jtrace threads PID` shows each thread."
                .to_owned(),
    }
}

/// More tasks come than the threads of an executor get done.
pub(super) fn backlog(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_full = |row: &Row<'_>| row.whole("looks_full") >= LOOKS && 2 * row.whole("looks_full") >= row.whole("looks");
    let rows = evidence.rows(Threads, "executors").filter(is_full);
    let row = rows.max_by(|a, b| queued(a).total_cmp(&queued(b)))?;
    let (queued, threads) = (queued(&row), row.whole("threads"));
    if queued < 1.0 {
        return None;
    }
    let (first, last) = (row.whole("queued_first"), row.whole("queued_last"));
    let grows = last > first + LOOKS;
    let growth = if grows {
        format!(", which grew from {} to {}", format::count(first), format::count(last))
    } else {
        String::new()
    };
    let what = row.waiting_for();
    Some(Finding {
        id: "executor-backlog",
        severity: if grows || queued >= threads as f64 { Severity::Warning } else { Severity::Info },
        score: (60.0 * queued).min(5_000.0),
        title: format!(
            "{queued:.1} tasks on average wait in the queue of `{}`{growth}: {} {}{what}",
            row.text("pattern"),
            all_are_busy(threads, row.number("at_site")),
            place(&row)
        ),
        shown_in: "threads.executors",
        when: Vec::new(),
        evidence: vec![
            format!(
                "{} waited at the first look and {} at the last, {} at most",
                format::count(first),
                format::count(last),
                format::count(row.whole("queued_most"))
            ),
            format!("no thread was idle in {} of {} looks at all threads", row.whole("looks_full"), row.whole("looks")),
        ]
        .into_iter()
        .chain(pace(&row))
        .chain(called_from(&row))
        .collect(),
        next_step: format!(
            "Make these tasks shorter, take fewer, or give the executor more threads if what they wait for allows \
             it; a bounded queue slows down who fills it.{}",
            row.explain_call("site")
        ),
    })
}

/// So much of all threads are all: one that runs meanwhile has no place.
const NEARLY_ALL: f64 = 0.9;

/// That all threads are busy, and how many of them at a place.
fn all_are_busy(threads: u64, at_site: Option<f64>) -> String {
    let all = format::count(threads);
    match at_site.filter(|at_site| *at_site < NEARLY_ALL * threads as f64) {
        _ if threads == 1 => "its thread is busy at".to_owned(),
        Some(at_site) => format!("all {all} threads are busy, {at_site:.1} of them at"),
        None => format!("all {all} threads are busy at"),
    }
}

/// How many tasks get done, and how long each waits and works.
fn pace(row: &Row<'_>) -> Option<String> {
    let per_s = row.number("per_s")?;
    Some(format!(
        "{} get done, so a task waits {} in the queue and is at work for {}, on average",
        format::rate(per_s),
        format::duration(row.whole("queue_ns")),
        format::duration(row.whole("work_ns"))
    ))
}

fn queued(row: &Row<'_>) -> f64 {
    row.number("queued").unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn executor(queued: f64, firsts: [u64; 2], full: u64, stuck: u64) -> Case {
        executor_at("com.shop.Mail.send:9", queued, firsts, full, stuck)
    }

    fn executor_at(site: &str, queued: f64, [first, last]: [u64; 2], full: u64, stuck: u64) -> Case {
        let cells = [
            ("pattern", "mail-*".into()),
            ("threads", 2_u64.into()),
            ("queued", queued.into()),
            ("queued_most", last.into()),
            ("queued_first", first.into()),
            ("queued_last", last.into()),
            ("looks", 10_u64.into()),
            ("looks_full", full.into()),
            ("looks_stuck", stuck.into()),
            ("site", site.into()),
            ("what", "time".into()),
        ];
        Case::seconds(10).row("threads", "executors", &cells)
    }

    #[test]
    fn tasks_that_wait_name_what_their_threads_do() {
        let (severity, title) = executor(6.0, [6, 6], 10, 0).said(backlog);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(
            title,
            "6.0 tasks on average wait in the queue of `mail-*`: all 2 threads are busy at com.shop.Mail.send:9, waiting for time"
        );
        assert!(executor(60.0, [10, 110], 10, 0).said(backlog).1.contains("`mail-*`, which grew from 10 to 110: "));
        assert_eq!(executor(1.2, [1, 2], 8, 0).said(backlog).0, Severity::Info);
        assert!(executor(6.0, [6, 6], 2, 0).ask(backlog).is_none(), "a burst");
        assert!(executor(0.5, [0, 1], 6, 0).ask(backlog).is_none());
    }

    #[test]
    fn threads_that_are_busy_elsewhere_are_not_said_to_be_there() {
        assert_eq!(all_are_busy(8, Some(6.25)), "all 8 threads are busy, 6.2 of them at");
        assert_eq!(all_are_busy(8, Some(7.5)), "all 8 threads are busy at");
        assert_eq!(all_are_busy(1, Some(0.5)), "its thread is busy at");
    }

    #[test]
    fn the_next_step_explains_a_call_of_what_the_threads_do() {
        let finding = executor(6.0, [6, 6], 10, 0).ask(backlog).expect("a finding");
        assert!(finding.next_step.contains("`jtrace explain-call PID 'com.shop.Mail::send'`"), "{}", finding.next_step);
        for site in ["libc.so.6!read", "<no stack taken>", "a.B';reboot;'.c:1", "c"] {
            let finding = executor_at(site, 6.0, [6, 6], 10, 0).ask(backlog).expect("a finding");
            assert!(!finding.next_step.contains("explain-call"), "{site}: {}", finding.next_step);
        }
    }

    #[test]
    fn an_executor_that_waits_for_its_own_queue_is_stuck() {
        let (severity, title) = executor(4.0, [4, 4], 10, 10).said(starved);
        assert_eq!(severity, Severity::Critical);
        assert_eq!(
            title,
            "All 2 threads of the pool `mail-*` wait for other tasks, and 4 tasks wait for the pool, at com.shop.Mail.send:9"
        );
        assert!(executor(4.0, [4, 4], 10, 2).ask(starved).is_none());
    }

    #[test]
    fn a_pool_that_waits_for_itself_is_said_after_three_looks() {
        let pool = |looks: u64| {
            let cells = [
                ("pattern", "pool-1-thread-*".into()),
                ("threads", 4_u64.into()),
                ("class", "java.util.concurrent.FutureTask".into()),
                ("site", "com.shop.Report.run:12".into()),
                ("looks", looks.into()),
            ];
            Case::seconds(10).row("threads", "starved_pools", &cells)
        };
        let (severity, title) = pool(3).said(starved);
        assert_eq!(severity, Severity::Critical);
        assert_eq!(
            title,
            "All 4 threads of the pool `pool-1-thread-*` wait for results of other tasks, at com.shop.Report.run:12"
        );
        assert!(pool(2).ask(starved).is_none());
    }
}
