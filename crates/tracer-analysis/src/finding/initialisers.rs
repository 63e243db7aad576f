//! Rules about static initialisers that others wait for.

use super::{Evidence, Row, looks::LOOKS};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// Threads of a circle that are named.
const NAMED: usize = 6;

fn rows<'a>(evidence: &Evidence<'a>, does: &'static str) -> Vec<Row<'a>> {
    evidence
        .rows(Threads, "initialisers")
        .filter(|row| row.text("does") == does && row.whole("looks") >= LOOKS)
        .collect()
}

/// Threads wait for initialisers and all who run one are among them: so they wait for each other.
pub(super) fn deadlock(evidence: &Evidence<'_>) -> Option<Finding> {
    let waiting = rows(evidence, "waits");
    let within: Vec<&Row<'_>> = waiting.iter().filter(|row| row.known("initialiser").is_some()).collect();
    // Any other thread that runs an initialiser may be the one that they wait for.
    let others = evidence.rows(Threads, "initialisers").any(|row| row.text("does") == "runs");
    if within.len() < 2 || others {
        return None;
    }
    let one = |row: &&Row<'_>| {
        let (thread, initialiser, site) = (row.text("thread"), row.text("initialiser"), row.text("site"));
        format!("`{thread}` runs `{initialiser}` and waits at {site} for another class")
    };
    let all: u64 = waiting.iter().map(|row| row.whole("threads")).sum();
    let blocked = all.saturating_sub(within.len() as u64);
    let mut support: Vec<String> = within.iter().take(NAMED).map(one).collect();
    support.push(format!("{} more for these classes", format::plural(blocked, "thread waits", "threads wait")));
    let [first, second] = [within.first()?, within.get(1)?].map(|row| row.text("site"));
    Some(Finding {
        id: "deadlock",
        severity: Severity::Critical,
        score: 1e6,
        title: format!("Static initialisers wait for each other, at {first} and at {second}: these classes can never be used"),
        shown_in: "threads.initialisers",
        when: Vec::new(),
        evidence: support,
        next_step: "Only a restart frees these threads; then let one of these classes do without the other one while it is initialised."
            .to_owned(),
    })
}

/// Threads wait for an initialiser that takes long.
pub(super) fn slow(evidence: &Evidence<'_>) -> Option<Finding> {
    let waiting: u64 = rows(evidence, "waits").iter().map(|row| row.whole("threads")).sum();
    let row = rows(evidence, "runs").into_iter().next().filter(|_| waiting > 0)?;
    Some(Finding {
        id: "slow-initialiser",
        severity: Severity::Warning,
        score: 100.0 * waiting as f64,
        title: format!(
            "{} for a static initialiser; `{}` is under way at {}",
            format::plural(waiting, "thread waits", "threads wait"),
            row.text("initialiser"),
            row.text("site")
        ),
        shown_in: "threads.initialisers",
        when: Vec::new(),
        evidence: vec![
            format!("`{}` runs it, since {} looks at least", row.text("thread"), row.whole("looks")),
            "whoever uses the class meanwhile waits; jstack calls such threads runnable".to_owned(),
        ],
        next_step: "Do such work outside of static initialisers, or before the class is needed.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn seen(
        case: Case,
        thread: &'static str,
        does: &'static str,
        initialiser: Option<&'static str>,
        looks: u64,
    ) -> Case {
        let site = if does == "runs" { "a.Rates.load:9" } else { "a.Web.serve:3" };
        let cells = [
            ("thread", thread.into()),
            ("threads", 1_u64.into()),
            ("site", site.into()),
            ("does", does.into()),
            ("initialiser", initialiser.map_or(Cell::Missing, Into::into)),
            ("looks", looks.into()),
        ];
        case.row("threads", "initialisers", &cells)
    }

    #[test]
    fn initialisers_of_threads_that_all_wait_are_deadlocked() {
        let two = |looks| {
            let case = seen(Case::seconds(10), "a", "waits", Some("a.Rates.<clinit>"), looks);
            seen(seen(case, "b", "waits", Some("a.Lands.<clinit>"), looks), "c", "waits", None, looks)
        };
        assert_eq!(two(5).said(deadlock).0, Severity::Critical);
        assert!(two(2).ask(deadlock).is_none(), "two looks can be chance");
        assert!(seen(two(5), "d", "runs", Some("a.Third.<clinit>"), 1).ask(deadlock).is_none(), "that one may end");
        assert!(seen(Case::seconds(10), "a", "waits", Some("a.Rates.<clinit>"), 5).ask(deadlock).is_none());
    }

    #[test]
    fn a_slow_initialiser_is_named_with_its_place() {
        let case = seen(Case::seconds(10), "boot", "runs", Some("a.Rates.<clinit>"), 5);
        assert!(case.ask(slow).is_none(), "nobody waits for it");
        assert_eq!(
            seen(case, "web-1", "waits", None, 5).said(slow),
            (
                Severity::Warning,
                "1 thread waits for a static initialiser; `a.Rates.<clinit>` is under way at a.Rates.load:9".to_owned()
            )
        );
    }
}
