//! Rules about monitors and parking.

use super::{
    Evidence, Row,
    looks::{self, called_from},
    when,
};
use crate::{
    lens::Lens::{Locks, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Threads on average from which on a monitor is told of that only looks at all threads know of.
const BLOCKED_IN_LOOKS: f64 = 0.5;

/// Threads spend much time blocked on contended monitors.
pub(super) fn contention(evidence: &Evidence<'_>) -> Option<Finding> {
    let known = by_events(evidence);
    // Blocking that has not ended is of no monitor in the table: where it is most of all, the first one there is not what matters.
    if known.is_some() && is_mostly_open(evidence) {
        return by_looks(evidence).or(known);
    }
    known.or_else(|| by_looks(evidence))
}

/// Whether the monitor that was waited for most explains less than half of all blocking.
fn is_mostly_open(evidence: &Evidence<'_>) -> bool {
    let number = |key| evidence.whole(Locks, key).unwrap_or(0);
    let most = evidence.rows(Locks, "monitors").next().map_or(0, |row| row.whole("total_ns"));
    let open = number("blocked_open_ns");
    open > 0 && most.saturating_mul(2) < number("blocked_total_ns").saturating_add(open)
}

/// Threads that were blocked before they were watched, and stay so: there is no event of them.
fn by_looks(evidence: &Evidence<'_>) -> Option<Finding> {
    let in_circle = |class: &str| {
        evidence.rows(Locks, "deadlocks").any(|row| row.text("class") == class)
            || evidence.rows(Threads, "circles").any(|row| row.text("what") == class)
    };
    let is_it = |row: &Row<'_>| {
        // Who waits behind a deadlock waits because of it, and that has a rule of its own.
        row.text("kind") == "monitor" && row.whole("looks") >= looks::LOOKS && !in_circle(&row.text("what"))
    };
    let row = looks::of_kind(evidence, is_it)?;
    let average = row.number("average").filter(|average| *average >= BLOCKED_IN_LOOKS)?;
    let (class, site) = (row.text("what"), looks::place(&row));
    let holder = looks::holder(evidence, &row).map(|holder| format!("; {holder}")).unwrap_or_default();
    Some(Finding {
        id: "lock-contention",
        severity: if average >= 1.0 { Severity::Critical } else { Severity::Warning },
        score: 100.0 * average,
        title: format!("{} are blocked on one `{class}`, at {site}{holder}", looks::threads(evidence, &row, average)),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: looks::seen(evidence, &row),
        next_step: format!(
            "Look at what the holder waits for: do not wait while holding `{class}`; `jtrace threads PID` shows it."
        ),
    })
}

/// A sentence, behind a space, about classes of which equal constants are one object, whoever writes them.
pub(super) fn shared_constant(class: &str) -> &'static str {
    const SHARED: [&str; 5] =
        ["java.lang.String", "java.lang.Integer", "java.lang.Long", "java.lang.Boolean", "java.lang.Class"];
    if !SHARED.contains(&class) {
        return "";
    }
    " Equal constants are one object, so code that knows nothing of this one may lock it, too: lock a private `new Object()`."
}

/// What events say of threads that met a monitor that was taken.
fn by_events(evidence: &Evidence<'_>) -> Option<Finding> {
    let done = evidence.whole(Locks, "blocked_total_ns")?;
    let open = evidence.whole(Locks, "blocked_open_ns").unwrap_or(0);
    let blocked = done.saturating_add(open);
    let span = evidence.span.duration_ns;
    // One thread that is blocked for a tenth of the time, or many for parts of it.
    if span == 0 || blocked < span / 10 || blocked < 100_000_000 {
        return None;
    }
    let threads_blocked = blocked as f64 / span as f64;
    let at_least = evidence.at_least(Locks, "contended");
    let top = evidence.rows(Locks, "monitors").next();
    let title = match &top {
        Some(row) if row.whole("total_ns") > 0 => format!(
            "{} blocked {at_least}{} on one `{}`",
            format::plural(row.whole("threads"), "thread", "threads"),
            format::duration(row.whole("total_ns")),
            row.text("class")
        ),
        Some(_) | None => format!("Threads were blocked {at_least}{} on monitors", format::duration(blocked)),
    };
    // Its line comes first: a text of one screen has room for no more.
    let mut support: Vec<String> =
        seen_at(evidence, &top.as_ref().map(|row| row.text("class")).unwrap_or_default()).into_iter().collect();
    support.push(format!(
        "{at_least}{} of blocked time in all over {}: {threads_blocked:.1} threads blocked on average",
        format::duration(blocked),
        format::duration(span)
    ));
    if let Some(row) = &top {
        support.push(format!(
            "that monitor: {}, longest {}",
            format::plural(row.whole("count"), "contended enter", "contended enters"),
            format::duration(row.whole("max_ns"))
        ));
    }
    support.extend(holder(evidence));
    if open > 0 {
        let threads = evidence.whole(Locks, "blocked_open_threads").unwrap_or(0);
        let time = format::duration(open);
        support.push(if evidence.span.end == "running" {
            format!("{} blocked now, for {time} in all", format::plural(threads, "thread is", "threads are"))
        } else {
            let threads = format::plural(threads, "thread was", "threads were");
            format!("{threads} still blocked at the end, for {time} in all by then")
        });
    }
    let class = top.map_or_else(|| "the class".to_owned(), |row| format!("`{}`", row.text("class")));
    Some(Finding {
        id: "lock-contention",
        severity: if threads_blocked >= 1.0 { Severity::Critical } else { Severity::Warning },
        score: 100.0 * threads_blocked,
        title,
        shown_in: "locks.monitors",
        when: evidence.when(Locks, "blocked_time", |step| step.per_second("blocked_ns") > 0.1e9),
        evidence: support,
        next_step: format!(
            "Look at the synchronized code on {class}: hold the monitor shorter, split it, or use a concurrent \
             structure; jcmd PID Thread.print shows who holds it.{}",
            top.map(|row| shared_constant(&row.text("class"))).unwrap_or_default()
        ),
    })
}

/// Who was waited for most, where that was seen.
fn holder(evidence: &Evidence<'_>) -> Option<String> {
    let row = evidence.rows(Locks, "holders").next()?;
    Some(format!(
        "waited for most: `{}`, {} on `{}`, which it left at {}",
        row.text("holder"),
        format::duration(row.whole("blocked_ns")),
        row.text("class"),
        row.text("site")
    ))
}

/// Where looks at all threads have seen them blocked on this class, and who held it.
pub(super) fn seen_at(evidence: &Evidence<'_>, class: &str) -> Option<String> {
    let is_it = |row: &Row<'_>| row.text("kind") == "monitor" && row.text("what") == class;
    let row = evidence.rows(Threads, "waiting").find(is_it)?;
    let callers = called_from(&row).map(|callers| format!(", {callers}")).unwrap_or_default();
    let holder = looks::holder(evidence, &row).map(|holder| format!("; {holder}")).unwrap_or_default();
    Some(format!("seen blocked at {}{callers}{holder}", looks::place(&row)))
}

/// Threads park and are unparked at a very high rate.
pub(super) fn parking(evidence: &Evidence<'_>) -> Option<Finding> {
    const OFTEN_PER_S: f64 = 20_000.0;
    let rate = evidence.rate_of(Locks, "parks").filter(|rate| rate.low > OFTEN_PER_S)?;
    let mut support = Vec::new();
    if let Some(unparks) = evidence.rate_of(Locks, "unparks") {
        support.push(format!("unparks: {}", unparks.said(format::rate)));
    }
    if let Some(row) = evidence.rows(Locks, "parks").max_by_key(|row| row.whole("count")) {
        support.push(format!(
            "`{}` parked {}",
            row.text("thread"),
            format::plural(row.whole("count"), "time", "times")
        ));
    }
    Some(Finding {
        id: "parking",
        severity: Severity::Warning,
        score: rate.low / 1000.0,
        title: format!("Threads park at {}: work comes in pieces too small for its hand-over", rate.said(format::rate)),
        shown_in: "locks.parks",
        when: Vec::new(),
        evidence: support,
        next_step: "Hand over work in batches, or use fewer threads for it.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{Case, waiting},
        *,
    };

    fn monitor(case: Case, total_ns: u64) -> Case {
        case.row(
            "locks",
            "monitors",
            &[
                ("class", "com.shop.Cart".into()),
                ("count", 500_u64.into()),
                ("total_ns", total_ns.into()),
                ("max_ns", 20_000_000_u64.into()),
                ("threads", 14_u64.into()),
            ],
        )
    }

    #[test]
    fn contention_names_the_worst_monitor() {
        let case = monitor(Case::seconds(10).number("locks", "blocked_total_ns", 3.5e9), 3_200_000_000);
        assert_eq!(
            case.said(contention),
            (Severity::Warning, "14 threads blocked 3.2 s on one `com.shop.Cart`".to_owned())
        );
        let case = monitor(Case::seconds(10).number("locks", "blocked_total_ns", 35e9), 32_000_000_000);
        assert_eq!(case.said(contention).0, Severity::Critical);
    }

    #[test]
    fn contention_names_who_was_waited_for() {
        let cells = [
            ("holder", "worker-3".into()),
            ("class", "com.shop.Cart".into()),
            ("site", "com.shop.Cart.sum:9".into()),
            ("blocked_ns", 2_000_000_000_u64.into()),
        ];
        let case = Case::seconds(10).number("locks", "blocked_total_ns", 3.5e9).row("locks", "holders", &cells);
        let line = "waited for most: `worker-3`, 2.0 s on `com.shop.Cart`, which it left at com.shop.Cart.sum:9";
        assert!(case.ask(contention).expect("contention").evidence.iter().any(|found| found == line));
    }

    #[test]
    fn threads_that_never_got_the_monitor_are_found_too() {
        let case = Case::seconds(10)
            .number("locks", "blocked_total_ns", 0.0)
            .number("locks", "blocked_open_ns", 18e9)
            .number("locks", "blocked_open_threads", 2.0);
        let finding = case.ask(contention).expect("blocked for the whole span");
        assert_eq!(
            (finding.severity, finding.title.as_str()),
            (Severity::Critical, "Threads were blocked 18 s on monitors")
        );
        assert!(finding.evidence.iter().any(|line| line.starts_with("2 threads were still blocked")));
    }

    #[test]
    fn threads_that_were_blocked_before_are_seen_in_looks() {
        let blocked = |average: f64, looks: u64| {
            let case = waiting("monitor", "com.shop.Post", average, looks).number("locks", "blocked_total_ns", 0.0);
            case.number("locks", "blocked_open_ns", 0.0)
        };
        assert_eq!(
            blocked(5.0, 10).said(contention),
            (
                Severity::Critical,
                "5.0 threads on average are blocked on one `com.shop.Post`, at com.shop.Cart.add:12; `worker-1` held it at \
                 com.shop.Cart.sum:9"
                    .to_owned()
            )
        );
        assert_eq!(blocked(0.4, 4).ask(contention), None);
        assert_eq!(blocked(0.6, 2).ask(contention), None, "two looks can be chance");
        let circle = blocked(5.0, 10).row("locks", "deadlocks", &[("class", "com.shop.Post".into())]);
        assert_eq!(circle.ask(contention), None, "a deadlock says it");
    }

    #[test]
    fn a_monitor_that_was_hardly_waited_for_does_not_stand_for_one_that_many_wait_for() {
        let case = monitor(waiting("monitor", "com.shop.Post", 5.0, 10), 2_400_000);
        let case = case.number("locks", "blocked_total_ns", 2.4e6).number("locks", "blocked_open_ns", 8.6e9);
        let title = case.said(contention).1;
        assert!(title.starts_with("5.0 threads on average are blocked on one `com.shop.Post`"), "{title}");
        let done = monitor(waiting("monitor", "com.shop.Post", 5.0, 10), 3_200_000_000);
        let done = done.number("locks", "blocked_total_ns", 3.5e9).number("locks", "blocked_open_ns", 1e8);
        assert!(done.said(contention).1.ends_with("on one `com.shop.Cart`"));
    }

    #[test]
    fn a_little_blocking_is_normal() {
        assert_eq!(monitor(Case::seconds(10).number("locks", "blocked_total_ns", 0.9e9), 1).ask(contention), None);
        assert_eq!(Case::seconds(10).ask(contention), None);
    }

    #[test]
    fn parking_counts_from_20_000_a_second() {
        let case = Case::seconds(10).number("locks", "parks", 2e6).number("locks", "unparks", 2e6);
        assert!(case.said(parking).1.starts_with("Threads park at 200 k/s"));
        assert_eq!(Case::seconds(10).number("locks", "parks", 1e5).ask(parking), None);
    }

    #[test]
    fn parks_that_were_seen_in_windows_count_by_the_lower_end_of_their_estimate() {
        let seen = |low: f64| {
            Case::seconds(10)
                .number("locks", "parks", 30_000.0)
                .number("locks", "attached_percent", 8.0)
                .number("locks", "extrapolated_parks", 400_000.0)
                .number("locks", "extrapolated_low_parks", low)
                .number("locks", "extrapolated_high_parks", 500_000.0)
        };
        assert!(seen(250_000.0).said(parking).1.starts_with("Threads park at about 40 k/s: "));
        assert_eq!(seen(190_000.0).ask(parking), None);
    }
}
