//! Rules about room in the heap: little is left, or threads wait for it.

use super::{Evidence, heap::made_at};
use crate::{
    lens::Lens::Gc,
    report::{Finding, Severity},
    text::format,
};

/// Threads that allocate had to wait until a concurrent collector freed memory. Its pauses stay short meanwhile.
pub(super) fn stalls(evidence: &Evidence<'_>) -> Option<Finding> {
    /// As ZGC calls a collection that begins because a thread found no memory.
    const CAUSE: &str = "Allocation Stall";
    const OFTEN_PER_S: f64 = 1.0;
    let rows = evidence.rows(Gc, "causes").filter(|row| row.text("cause") == CAUSE);
    let stalled = rows.fold(0_u64, |sum, row| sum.saturating_add(row.whole("collections")));
    let stalled = Some(stalled).filter(|stalled| *stalled >= 3)?;
    let all = evidence.whole(Gc, "collections").unwrap_or(stalled).max(stalled);
    let seconds = evidence.span.duration_ns as f64 / 1e9;
    let heap = evidence.target.max_heap_bytes.map(|bytes| format!("the heap may grow to {}", format::bytes(bytes)));
    let collections = format::plural(all, "collection", "collections");
    Some(Finding {
        id: "allocation-stall",
        severity: if stalled as f64 >= OFTEN_PER_S * seconds { Severity::Critical } else { Severity::Warning },
        score: 100.0 * stalled as f64 / all as f64,
        title: format!(
            "{} of {collections} began because threads that allocate had to wait for memory (`{CAUSE}`)",
            format::count(stalled)
        ),
        shown_in: "gc.causes",
        when: Vec::new(),
        evidence: heap.into_iter().chain(made_at(evidence)).collect(),
        next_step:
            "Give the heap more room (-Xmx): a concurrent collector needs some for what is made while it works. \
                    Or make less at the places above; `jtrace heap PID` shows what is kept."
                .to_owned(),
    })
}

/// Little room is left in the old pool after collections.
pub(super) fn nearly_full(evidence: &Evidence<'_>) -> Option<Finding> {
    let old = |name: &str| name.contains("Old") || name.contains("Tenured");
    let whole = |name: &str| matches!(name, "ZHeap" | "Shenandoah");
    let mut worst: Option<(f64, String, u64, u64)> = None;
    let rows: Vec<_> =
        evidence.rows(Gc, "pools").filter(|row| old(&row.text("pool")) || whole(&row.text("pool"))).collect();
    for row in &rows {
        // A pool has a row for every manager that collects it; which of them is the latest is not known, so the
        // smallest is taken.
        let pool = row.text("pool");
        let after =
            rows.iter().filter(|other| other.text("pool") == pool).filter_map(|other| other.number("used_after_bytes"));
        let Some(used) = after.map(format::whole).min() else { continue };
        let max = row.whole("max_bytes");
        if max == 0 {
            continue;
        }
        let share = 100.0 * used as f64 / max as f64;
        if worst.as_ref().is_none_or(|(known, ..)| share > *known) {
            worst = Some((share, pool, used, max));
        }
    }
    let (share, pool, used, max) = worst.filter(|(share, ..)| *share > 85.0)?;
    Some(Finding {
        id: "heap-nearly-full",
        severity: if share > 95.0 { Severity::Critical } else { Severity::Warning },
        score: share,
        title: format!("`{pool}` is {} full after collections", format::percent(share)),
        shown_in: "gc.pools",
        when: Vec::new(),
        evidence: [format!("{} of {} in use", format::bytes(used), format::bytes(max))]
            .into_iter()
            .chain(made_at(evidence))
            .collect(),
        next_step: "Raise -Xmx, or find what is kept alive: `jtrace heap PID`.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{gc::tests::cause, testing::Case},
        *,
    };
    use crate::report::Cell;

    fn pool(case: Case, pool: &str, manager: &str, used: u64, max: Cell) -> Case {
        case.row(
            "gc",
            "pools",
            &[
                ("pool", pool.into()),
                ("manager", manager.into()),
                ("used_after_bytes", used.into()),
                ("max_bytes", max),
            ],
        )
    }

    #[test]
    fn collections_for_which_threads_waited_are_found() {
        let case = |stalled: u64| {
            let case = cause(Case::seconds(10).number("gc", "collections", 90.0), "Allocation Rate", "other", 50, 1);
            let case = cause(case, "Allocation Stall", "mark start, young", stalled, 1);
            case.row(
                "alloc",
                "sites",
                &[
                    ("share_percent", 99.0.into()),
                    ("class", "byte[]".into()),
                    ("site", "com.shop.Page.render:25".into()),
                ],
            )
        };
        let title = |stalled| {
            format!(
                "{stalled} of 90 collections began because threads that allocate had to wait for memory (`Allocation Stall`)"
            )
        };
        assert_eq!(case(40).said(stalls), (Severity::Critical, title(40)));
        assert_eq!(case(9).said(stalls), (Severity::Warning, title(9)));
        assert!(case(9).ask(stalls).is_some_and(|found| found.evidence[0].contains("com.shop.Page.render:25")));
        assert_eq!(case(2).ask(stalls), None);
    }

    #[test]
    fn a_full_old_pool_is_found_by_its_smallest_state() {
        let case = pool(Case::default(), "G1 Old Gen", "G1 Young Generation", 970, 1000_u64.into());
        assert_eq!(
            case.said(nearly_full),
            (Severity::Critical, "`G1 Old Gen` is 97 % full after collections".to_owned())
        );
        let case = pool(case, "G1 Old Gen", "G1 Old Generation", 300, 1000_u64.into());
        assert_eq!(case.ask(nearly_full), None, "the full collection freed it");
        assert_eq!(pool(Case::default(), "G1 Eden Space", "m", 999, 1000_u64.into()).ask(nearly_full), None);
        assert_eq!(pool(Case::default(), "G1 Old Gen", "m", 999, Cell::Missing).ask(nearly_full), None);
    }
}
