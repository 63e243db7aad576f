//! Rules about threads that wait for threads that wait: circles and chains.

use super::{Evidence, Row, locks, looks::called_from};
use crate::{
    lens::Lens::{Locks, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Threads of one circle that a finding names.
const NAMED: usize = 6;

/// Threads wait for each other in a circle, as the JVM's own structures say.
pub(super) fn deadlock(evidence: &Evidence<'_>) -> Option<Finding> {
    let circles = evidence.rows(Locks, "deadlocks").map(|row| row.whole("circle")).max()?;
    let rows: Vec<_> = evidence.rows(Locks, "deadlocks").filter(|row| row.whole("circle") == 1).collect();
    let blocked_ns = rows.iter().map(|row| row.whole("blocked_ns")).min().unwrap_or(0);
    let threads = format::plural(rows.len() as u64, "thread", "threads");
    let mut support: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|row| {
            format!(
                "`{}` at {} waits for `{}`, which `{}` holds, blocked at {}",
                row.text("thread"),
                place(evidence, &row.text("thread"), row.text("site")),
                row.text("class"),
                row.text("holder"),
                place(evidence, &row.text("holder"), row.text("holder_site"))
            )
        })
        .collect();
    if rows.len() > NAMED {
        support.push(format!("and {} more of the same circle", rows.len() - NAMED));
    }
    if circles > 1 {
        support.push(format!("{circles} circles in all"));
    }
    support.push("read from the JVM's own monitors, twice, with no event of these threads in between".to_owned());
    Some(Finding {
        id: "deadlock",
        severity: Severity::Critical,
        // Whatever else is wrong, this comes first.
        score: 1e6,
        title: format!(
            "{threads} are deadlocked: each waits for the next one, for at least {}",
            format::duration(blocked_ns)
        ),
        shown_in: "locks.deadlocks",
        when: Vec::new(),
        evidence: support,
        next_step: "Only a restart frees these threads; then take these monitors in the same order everywhere."
            .to_owned(),
    })
}

/// Where a thread of a circle is: by its event, or by looks at all threads where it was blocked before it was watched.
fn place(evidence: &Evidence<'_>, thread: &str, known: String) -> String {
    if !known.starts_with('<') {
        return known;
    }
    let seen = evidence.rows(Threads, "circles").find(|row| row.text("thread") == thread);
    seen.map_or(known, |row| row.text("site"))
}

/// Threads wait for a monitor whose holder waits for something else.
pub(super) fn chain(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Locks, "chains").next()?;
    let (class, was) = (row.text("class"), row.text("holder_was"));
    let alike = || {
        let is_alike = |row: &Row<'_>| row.text("class") == class && row.text("holder_was") == was;
        evidence.rows(Locks, "chains").filter(is_alike)
    };
    let total = alike().map(|row| row.whole("total_ns")).fold(0, u64::saturating_add);
    let span = evidence.span.duration_ns;
    if span == 0 || total < span / 20 || total < 100_000_000 {
        return None;
    }
    // Whose stack was not taken says least, however often it is.
    let row = alike().find(|row| !row.text("site").starts_with('<')).unwrap_or(row);
    let elsewhere =
        match alike().map(|row| row.whole("count")).fold(0, u64::saturating_add).saturating_sub(row.whole("count")) {
            0 => String::new(),
            times => format!("; at others, or where no stack was taken, {}", format::plural(times, "time", "times")),
        };
    let mut support = vec![format!(
        "the holder was at {}, {}, longest {}{elsewhere}",
        row.text("site"),
        format::plural(row.whole("count"), "time", "times"),
        format::duration(row.whole("max_ns"))
    )];
    support.extend(called_from(&row).map(|callers| format!("it was {callers}")));
    support.extend(locks::seen_at(evidence, &class));
    support
        .push("holders are those that were seen to leave the monitor afterwards, while the others waited".to_owned());
    Some(Finding {
        id: "lock-chain",
        severity: Severity::Warning,
        score: 100.0 * total as f64 / span as f64,
        title: format!(
            "Threads were blocked {}{} on `{class}` while its holder was itself {}",
            evidence.at_least(Locks, "contended"),
            format::duration(total),
            was
        ),
        shown_in: "locks.chains",
        when: Vec::new(),
        evidence: support,
        next_step: format!(
            "Do not wait while holding `{class}`: move that out of the synchronized code.{}",
            locks::shared_constant(&class)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn waits(case: Case, circle: u64, thread: &str, holder: &str) -> Case {
        let cells = [
            ("circle", circle.into()),
            ("thread", thread.into()),
            ("class", "com.shop.Account".into()),
            ("site", "com.shop.Account.add:9".into()),
            ("blocked_ns", 2_960_000_000_u64.into()),
            ("holder", holder.into()),
            ("holder_site", "com.shop.Bank.transfer:70".into()),
        ];
        case.row("locks", "deadlocks", &cells)
    }

    #[test]
    fn a_deadlock_names_its_threads_and_says_how_it_is_known() {
        let case = waits(waits(Case::default(), 1, "worker-1", "worker-2"), 1, "worker-2", "worker-1");
        let (severity, title) = case.said(deadlock);
        assert_eq!(severity, Severity::Critical);
        assert_eq!(title, "2 threads are deadlocked: each waits for the next one, for at least 3.0 s");
        let evidence = case.ask(deadlock).expect("as above").evidence;
        assert_eq!(
            evidence[0],
            "`worker-1` at com.shop.Account.add:9 waits for `com.shop.Account`, which `worker-2` holds, \
             blocked at com.shop.Bank.transfer:70"
        );
        assert!(evidence.len() == 3 && evidence[2].starts_with("read from the JVM's own monitors"));
    }

    #[test]
    fn a_second_circle_is_counted() {
        let case = waits(waits(Case::default(), 1, "a", "b"), 2, "c", "d");
        let finding = case.ask(deadlock).expect("two circles");
        assert!(finding.evidence.iter().any(|line| line == "2 circles in all"));
    }

    #[test]
    fn without_a_circle_there_is_no_deadlock() {
        let blocked =
            Case::default().number("locks", "blocked_open_threads", 2.0).number("locks", "blocked_open_ns", 2e10);
        assert_eq!(blocked.ask(deadlock), None);
    }

    fn chained(total_ns: u64) -> Case {
        held(Case::seconds(10), "com.shop.Cart", "com.shop.Db.ask:3", 4, total_ns)
    }

    fn held(case: Case, class: &str, site: &str, count: u64, total_ns: u64) -> Case {
        let cells = [
            ("class", class.into()),
            ("holder_was", "blocked on com.shop.Db".into()),
            ("site", site.into()),
            ("callers", "com.shop.Cart.pay:8, from com.shop.Main.main:2".into()),
            ("count", count.into()),
            ("total_ns", total_ns.into()),
            ("max_ns", 300_000_000_u64.into()),
        ];
        case.row("locks", "chains", &cells)
    }

    /// Where a rate limit leaves out most stacks, those that were taken are what helps.
    #[test]
    fn a_place_is_named_although_most_stacks_were_not_taken() {
        let case = held(Case::seconds(10), "com.shop.Cart", "<no stack taken>", 9, 700_000_000);
        let case = held(case, "com.shop.Cart", "com.shop.Db.ask:3", 2, 200_000_000);
        let case = held(case, "com.shop.Other", "com.shop.Db.ask:9", 5, 100_000_000);
        let finding = case.ask(chain).expect("900 ms of 10 s");
        assert!(finding.title.starts_with("Threads were blocked 900 ms on `com.shop.Cart`"), "{}", finding.title);
        assert_eq!(
            finding.evidence[0],
            "the holder was at com.shop.Db.ask:3, 2 times, longest 300 ms; at others, or where no stack was taken, \
             9 times"
        );
        let unknown = held(Case::seconds(10), "com.shop.Cart", "<no stack taken>", 9, 700_000_000);
        let finding = unknown.ask(chain).expect("700 ms of 10 s");
        assert_eq!(finding.evidence[0], "the holder was at <no stack taken>, 9 times, longest 300 ms");
    }

    #[test]
    fn a_chain_names_what_its_holder_did() {
        assert_eq!(
            chained(800_000_000).said(chain),
            (
                Severity::Warning,
                "Threads were blocked 800 ms on `com.shop.Cart` while its holder was itself blocked on com.shop.Db"
                    .to_owned()
            )
        );
    }

    /// Where the holder waits in a method that serves all, its caller is what has to change.
    #[test]
    fn a_chain_says_from_where_its_holder_came() {
        let found = chained(800_000_000).ask(chain).expect("800 ms of 10 s");
        assert_eq!(found.evidence[1], "it was called by com.shop.Cart.pay:8, from com.shop.Main.main:2");
        assert!(!found.next_step.contains("constant"));
        let string = held(Case::seconds(10), "java.lang.String", "com.shop.Db.ask:3", 4, 800_000_000);
        assert!(string.ask(chain).is_some_and(|found| found.next_step.contains("constant")));
    }

    /// What lasts longer than a window is never seen whole.
    #[test]
    fn a_chain_that_was_seen_in_windows_is_at_least_so_long() {
        let sampled = |group: &str| chained(800_000_000).row("locks", "sampled", &[("group", group.into())]);
        let title = |group| sampled(group).said(chain).1;
        assert!(title("contended").starts_with("Threads were blocked at least 800 ms on "), "{}", title("contended"));
        assert!(title("park").starts_with("Threads were blocked 800 ms on "));
    }

    #[test]
    fn a_short_chain_is_normal() {
        assert_eq!(chained(400_000_000).ask(chain), None);
        assert_eq!(Case::default().ask(chain), None);
    }
}
