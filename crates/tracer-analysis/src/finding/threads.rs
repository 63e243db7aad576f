//! Rules about threads that start and stop.

use super::{Evidence, Row};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// Threads of one pattern start and hardly any of them stop.
pub(super) fn leak(evidence: &Evidence<'_>) -> Option<Finding> {
    let growth = |started: u64, stopped: u64| started.saturating_sub(stopped);
    let row = evidence
        .rows(Threads, "patterns")
        .filter(|row| row.whole("started") >= 10 && row.whole("stopped") * 5 <= row.whole("started"))
        .max_by_key(|row| {
            let may_leak = filling(evidence, &row.text("pattern")).is_none();
            (may_leak, growth(row.whole("started"), row.whole("stopped")))
        })?;
    let (started, stopped) = (row.whole("started"), row.whole("stopped"));
    if let Some(pool) = filling(evidence, &row.text("pattern")) {
        return Some(fills(evidence, started, pool));
    }
    let mut support: Vec<String> = place(evidence).into_iter().collect();
    if let Some(alive) = evidence.whole(Threads, "alive") {
        support.push(format!("{} alive", format::plural(alive, "thread", "threads")));
    }
    if evidence.span.duration_ns > 0 {
        let rate = growth(started, stopped) as f64 * 1e9 / evidence.span.duration_ns as f64;
        support.push(format!("growing by {}", format::rate(rate)));
    }
    Some(Finding {
        id: "thread-leak",
        severity: if started >= 100 { Severity::Critical } else { Severity::Warning },
        score: growth(started, stopped) as f64,
        title: format!(
            "{} started, {} stopped: names `{}`{}",
            format::plural(started, "thread", "threads"),
            format::count(stopped),
            row.text("pattern"),
            at(evidence, "alive", "started ")
        ),
        shown_in: "threads.patterns",
        when: evidence.when(Threads, "threads", |step| step.amount("started") > step.amount("stopped")),
        evidence: support,
        next_step: "Look for an executor that is made per request and never shut down; it is normal only while a pool \
                    fills up."
            .to_owned(),
    })
}

/// Most threads of a pool whose bound is one: others say that they have none by a number that is never reached.
const BOUND: u64 = 1000;

/// The only executor whose threads have these names, where it says how many it may have.
fn filling<'a>(evidence: &Evidence<'a>, pattern: &str) -> Option<Row<'a>> {
    evidence.rows(Threads, "executors").find(|row| {
        let may_have = row.whole("may_have");
        row.text("pattern") == pattern && row.whole("executors") == 1 && (1..=BOUND).contains(&may_have)
    })
}

/// A pool that has a bound gets more threads: no leak, however many they are.
fn fills(evidence: &Evidence<'_>, started: u64, pool: Row<'_>) -> Finding {
    Finding {
        id: "pool-fills",
        severity: Severity::Info,
        score: started as f64,
        title: format!(
            "A pool fills: {} started, `{}` has {} of the {} that it may have{}",
            format::plural(started, "thread", "threads"),
            pool.text("pattern"),
            format::count(pool.whole("threads")),
            format::count(pool.whole("may_have")),
            at(evidence, "alive", "started ")
        ),
        shown_in: "threads.executors",
        when: evidence.when(Threads, "threads", |step| step.amount("started") > step.amount("stopped")),
        evidence: place(evidence).into_iter().collect(),
        next_step: "Nothing, where it is meant to have so many threads. Each takes memory for its stack.".to_owned(),
    }
}

/// Those who started most of the threads that `count` counts.
fn starter<'a>(evidence: &Evidence<'a>, count: &str) -> Option<Row<'a>> {
    let row = evidence.rows(Threads, "started_by").max_by_key(|row| row.whole(count))?;
    (row.whole(count) > 0).then_some(row)
}

/// Where that was, for a title.
fn at(evidence: &Evidence<'_>, count: &str, before: &str) -> String {
    let site = starter(evidence, count).and_then(|row| row.known("site"));
    site.map(|site| format!(", {before}at {site}")).unwrap_or_default()
}

/// The same in words, with who started them.
fn place(evidence: &Evidence<'_>) -> Option<String> {
    let row = starter(evidence, "alive")?;
    Some(format!(
        "{} at {} by `{}`, {} still alive",
        format::plural(row.whole("started"), "thread was started", "threads were started"),
        row.text("site"),
        row.text("starter"),
        format::count(row.whole("alive"))
    ))
}

/// Threads start and stop all the time.
pub(super) fn churn(evidence: &Evidence<'_>) -> Option<Finding> {
    const OFTEN_PER_S: f64 = 20.0;
    let started = evidence.rate_of(Threads, "started")?;
    let stopped = evidence.rate_of(Threads, "stopped")?;
    if started.low < OFTEN_PER_S || stopped.low < OFTEN_PER_S {
        return None;
    }
    let top = evidence.rows(Threads, "patterns").next();
    let names = top.map(|row| format!(", most of them `{}`", row.text("pattern"))).unwrap_or_default();
    Some(Finding {
        id: "thread-churn",
        severity: Severity::Warning,
        score: started.low,
        title: format!(
            "Threads start at {} and stop at {}{names}{}",
            started.said(format::rate),
            stopped.said(format::rate),
            at(evidence, "started", "")
        ),
        shown_in: "threads.patterns",
        when: evidence.when(Threads, "threads", |step| step.per_second("started") >= OFTEN_PER_S),
        evidence: Vec::new(),
        next_step: "Use a pool, or virtual threads: each start costs a stack, a system call and a safepoint poll."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn pattern(started: u64, stopped: u64) -> Case {
        Case::seconds(10).number("threads", "started", started as f64).number("threads", "stopped", stopped as f64).row(
            "threads",
            "patterns",
            &[("pattern", "pool-*-thread-*".into()), ("started", started.into()), ("stopped", stopped.into())],
        )
    }

    #[test]
    fn threads_that_do_not_stop_leak() {
        assert_eq!(
            pattern(41, 0).said(leak),
            (Severity::Warning, "41 threads started, 0 stopped: names `pool-*-thread-*`".to_owned())
        );
        assert_eq!(pattern(41, 30).ask(leak), None);
        assert_eq!(pattern(9, 0).ask(leak), None);
    }

    #[test]
    fn a_pool_with_a_bound_does_not_leak() {
        let bounded = |executors: u64, may_have: u64| -> [(&'static str, crate::report::Cell); 4] {
            [
                ("pattern", "pool-*-thread-*".into()),
                ("threads", 41_u64.into()),
                ("may_have", may_have.into()),
                ("executors", executors.into()),
            ]
        };
        let pool = |executors, may_have| {
            pattern(41, 0).row("threads", "executors", &bounded(executors, may_have)).ask(leak).expect("threads start")
        };
        let fills = pool(1, 128);
        assert_eq!((fills.id, fills.severity), ("pool-fills", Severity::Info));
        assert_eq!(
            fills.title,
            "A pool fills: 41 threads started, `pool-*-thread-*` has 41 of the 128 that it may have"
        );
        let leaks = [("pattern", "mail-*".into()), ("started", 12_u64.into()), ("stopped", 0_u64.into())];
        let beside = pattern(41, 0).row("threads", "executors", &bounded(1, 128)).row("threads", "patterns", &leaks);
        assert!(beside.said(leak).1.starts_with("12 threads started, 0 stopped: names `mail-*`"));
        assert_eq!(pool(2, 128).id, "thread-leak", "pools of one name, as one for each request");
        assert_eq!(pool(1, u64::from(u32::MAX)).id, "thread-leak", "a cached pool has no bound");
        assert_eq!(pool(1, 0).id, "thread-leak", "it does not say");
    }

    #[test]
    fn a_leak_names_the_place_where_most_of_what_stays_was_started() {
        let row = |site: &str, alive: u64| -> [(&'static str, crate::report::Cell); 4] {
            [("site", site.into()), ("starter", "main".into()), ("started", 30_u64.into()), ("alive", alive.into())]
        };
        let case = pattern(41, 0).row("threads", "started_by", &row("a.Pool.make:3", 2));
        let case = case.row("threads", "started_by", &row("a.Web.serve:7", 30));
        let evidence = case.ask(leak).expect("it leaks").evidence;
        assert_eq!(evidence[0], "30 threads were started at a.Web.serve:7 by `main`, 30 still alive");
        let none = pattern(41, 0).row("threads", "started_by", &row("a.Pool.make:3", 0));
        assert!(none.ask(leak).expect("it leaks").evidence.iter().all(|line| !line.contains("a.Pool")));
    }

    #[test]
    fn threads_that_come_and_go_churn() {
        assert_eq!(
            pattern(500, 490).said(churn).1,
            "Threads start at 50/s and stop at 49/s, most of them `pool-*-thread-*`"
        );
        assert_eq!(pattern(500, 0).ask(churn), None);
        assert_eq!(pattern(100, 100).ask(churn), None);
    }
}
