//! Rules about protocols that were broken, or will be: monitors in both orders, and what JNI gave and nobody gave back.

use super::Evidence;
use crate::{
    lens::Lens::{Jni, Locks},
    report::{Finding, Severity},
    text::format,
};

/// What is left of JNI's gifts below this is no matter: programs keep some for good.
const LEFT: u64 = 1000;

/// Threads took two monitors in both orders. Where they are deadlocked already, that is said instead.
pub(super) fn lock_order(evidence: &Evidence<'_>) -> Option<Finding> {
    if evidence.rows(Locks, "deadlocks").next().is_some() {
        return None;
    }
    let pairs = evidence.rows(Locks, "lock_order").map(|row| row.whole("pair")).max()?;
    let rows: Vec<_> = evidence.rows(Locks, "lock_order").filter(|row| row.whole("pair") == 1).collect();
    let [first, second] = rows.as_slice() else { return None };
    let mut support: Vec<String> = [first, second]
        .map(|row| {
            format!(
                "`{}` held `{}` and took `{}` at {}",
                row.text("thread"),
                row.text("held_class"),
                row.text("taken_class"),
                row.text("site")
            )
        })
        .to_vec();
    if pairs > 1 {
        support.push(format!("{pairs} such pairs of monitors in all"));
    }
    support.push(
        "a third monitor that is always held around both makes it harmless; it is not known whether there is one"
            .to_owned(),
    );
    Some(Finding {
        id: "lock-order",
        severity: Severity::Warning,
        score: 100.0 + first.whole("count") as f64 / 1000.0,
        title: format!(
            "Threads take monitors of `{}` and `{}` in both orders: they can deadlock",
            first.text("held_class"),
            first.text("taken_class")
        ),
        shown_in: "locks.lock_order",
        when: Vec::new(),
        evidence: support,
        next_step: "Take these monitors in the same order everywhere, or the second only after leaving the first."
            .to_owned(),
    })
}

/// Of something that JNI gives, most was not given back, though some was: both ends were seen.
pub(super) fn left(evidence: &Evidence<'_>) -> Option<Finding> {
    let is_left = |left: u64, taken: u64| left >= LEFT && taken > 0 && left > taken;
    let rows = evidence.rows(Jni, "jni_balance").filter(|row| is_left(row.whole("left"), row.whole("taken")));
    let row = rows.max_by_key(|row| row.whole("left"))?;
    let seconds = evidence.span.duration_ns as f64 / 1e9;
    let left = row.whole("left");
    Some(Finding {
        id: "jni-left",
        severity: Severity::Warning,
        score: left as f64 / 1000.0,
        title: format!("Native code keeps {}: {} more than it gave back", row.text("what"), format::count(left)),
        shown_in: "jni.jni_balance",
        when: Vec::new(),
        evidence: vec![format!(
            "`{}` {} times, `{}` {} times, in {seconds:.1} s",
            row.text("gives"),
            format::count(row.whole("given")),
            row.text("takes"),
            format::count(row.whole("taken"))
        )],
        next_step: "Look at its callers (table jni_callers), and see that every path gives back what it got."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn ordered(case: Case, pair: u64) -> Case {
        let side = |case: Case, thread: &str, held: &str, taken: &str| {
            let cells = [
                ("pair", pair.into()),
                ("thread", thread.into()),
                ("held_class", held.into()),
                ("taken_class", taken.into()),
                ("site", "com.shop.Bank.transfer:70".into()),
                ("count", 3_u64.into()),
            ];
            case.row("locks", "lock_order", &cells)
        };
        side(side(case, "worker-1", "Cart", "Stock"), "worker-2", "Stock", "Cart")
    }

    #[test]
    fn monitors_in_both_orders_are_named_with_their_threads() {
        let case = ordered(ordered(Case::default(), 1), 2);
        let title = "Threads take monitors of `Cart` and `Stock` in both orders: they can deadlock";
        assert_eq!(case.said(lock_order), (Severity::Warning, title.to_owned()));
        let support = case.ask(lock_order).expect("as above").evidence;
        assert_eq!(support[1], "`worker-2` held `Stock` and took `Cart` at com.shop.Bank.transfer:70");
        assert_eq!(support[2], "2 such pairs of monitors in all");
    }

    #[test]
    fn a_deadlock_is_said_instead() {
        let case = ordered(Case::default(), 1).row("locks", "deadlocks", &[("circle", 1_u64.into())]);
        assert_eq!(case.ask(lock_order), None);
        assert_eq!(Case::default().ask(lock_order), None);
    }

    fn balance(given: u64, taken: u64) -> Case {
        let cells = [
            ("what", "global references".into()),
            ("gives", "NewGlobalRef".into()),
            ("takes", "DeleteGlobalRef".into()),
            ("given", given.into()),
            ("taken", taken.into()),
            ("left", given.saturating_sub(taken).into()),
        ];
        Case::default().row("jni", "jni_balance", &cells)
    }

    #[test]
    fn what_is_mostly_left_is_a_finding() {
        let (severity, title) = balance(5000, 1200).said(left);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(title, "Native code keeps global references: 3,800 more than it gave back");
        assert_eq!(balance(5000, 2500).ask(left), None, "as many were given back as are left");
        assert_eq!(balance(1900, 901).ask(left), None, "few");
        assert_eq!(balance(5000, 0).ask(left), None, "the other end may not have been asked for");
    }
}
