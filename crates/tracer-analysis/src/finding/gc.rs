//! Rules about garbage collection.

use super::{Evidence, Row, alloc, heap::made_at};
use crate::{
    lens::Lens::{Alloc, Gc, Safepoint},
    report::{Finding, Severity},
    text::format,
};

/// Pauses take a large share of wall time.
pub(super) fn share(evidence: &Evidence<'_>) -> Option<Finding> {
    let share = evidence.number(Gc, "pause_share_percent").filter(|share| *share > 10.0)?;
    let severity = if share > 25.0 { Severity::Critical } else { Severity::Warning };
    let worst = evidence.whole(Gc, "pause_max_ns").map(|ns| format!(", worst pause {}", format::duration(ns)));
    let cause = evidence.rows(Gc, "causes").next();
    let top = evidence.rows(Alloc, "classes").next();
    let title = [
        Some(format!("GC takes {} of wall time", format::percent(share))),
        worst,
        cause.map(|row| format!(", cause `{}`", row.text("cause"))),
        top.map(|row| {
            let part = format::percent(row.number("share_percent").unwrap_or(0.0));
            format!("; top allocating class `{}` ({part} of bytes, estimated)", row.text("class"))
        }),
    ];
    let support = [
        cause.map(|row| {
            let pauses = format::plural(row.whole("count"), "pause", "pauses");
            format!("`{}`: {} in {pauses}", row.text("cause"), format::duration(row.whole("total_ns")))
        }),
        evidence.rate(Alloc, "estimated_bytes_per_s").map(|rate| format!("allocation at {}", alloc::said(rate))),
    ];
    let first = top.map(|row| format!(", first of `{}`", row.text("class"))).unwrap_or_default();
    let next_step = format!(
        "Give the heap more room (-Xmx) or cut allocation{first}; check in lens `gc` how much each collection frees."
    );
    Some(Finding {
        id: "gc-share",
        severity,
        score: share,
        title: title.into_iter().flatten().collect(),
        shown_in: "gc.causes",
        when: evidence.when(Gc, "pause", |step| step.per_second("pause_ns") > 0.1e9),
        evidence: support.into_iter().flatten().collect(),
        next_step,
    })
}

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

/// One pause is long by itself.
pub(super) fn long_pause(evidence: &Evidence<'_>) -> Option<Finding> {
    let worst = evidence.whole(Gc, "pause_max_ns").filter(|ns| *ns > 200_000_000)?;
    let row = evidence.rows(Gc, "causes").max_by_key(|row| row.whole("max_ns"));
    let cause = row.map(|row| format!(", cause `{}`, {}", row.text("cause"), row.text("kind"))).unwrap_or_default();
    let severity = if worst > 1_000_000_000 { Severity::Critical } else { Severity::Warning };
    let p99 =
        evidence.whole(Gc, "pause_p99_ns").map(|ns| format!("99 % of pauses last up to {}", format::duration(ns)));
    Some(Finding {
        id: "gc-long-pause",
        severity,
        score: worst as f64 / 1e7,
        title: format!("A GC pause lasted {}{cause}", format::duration(worst)),
        shown_in: "gc.causes",
        when: evidence.at(Gc, "pause_max_at_ns", "pause_max_ns"),
        evidence: p99.into_iter().collect(),
        next_step:
            "Compare with latency outliers of the same time; for shorter pauses lower -XX:MaxGCPauseMillis (G1) \
                    or use ZGC or Shenandoah."
                .to_owned(),
    })
}

/// Full collections come again and again.
pub(super) fn repeated_full(evidence: &Evidence<'_>) -> Option<Finding> {
    let full = evidence.whole(Gc, "full_collections").filter(|full| *full >= 3)?;
    let rows = || evidence.rows(Gc, "causes").filter(|row| row.text("kind").starts_with("full"));
    // Those that the program asks for have a rule of their own.
    let explicit: u64 =
        rows().filter(|row| row.text("cause") == "System.gc()").map(|row| row.whole("collections")).sum();
    let full = full.checked_sub(explicit).filter(|full| *full >= 3)?;
    let top = rows().find(|row| row.text("cause") != "System.gc()");
    let cause = top.map(|row| format!(", cause `{}`", row.text("cause"))).unwrap_or_default();
    let time: u64 = rows().map(|row| row.whole("total_ns")).fold(0, u64::saturating_add);
    let asked = top.and_then(|row| asked_for(evidence, &row));
    let place =
        asked.and_then(|row| row.known("site")).map(|site| format!(", asked for at {site}")).unwrap_or_default();
    let who = asked.map(|row| {
        let times = format::plural(row.whole("count"), "time", "times");
        format!("{times} on `{}`, by {}", row.text("thread"), row.text("top"))
    });
    let took = format!("all full collections together took {}", format::duration(time));
    Some(Finding {
        id: "gc-full",
        severity: Severity::Critical,
        score: full as f64,
        title: format!("{} full collections{cause}{place}", format::count(full)),
        shown_in: "gc.causes",
        when: evidence.when(Gc, "pause_counts", |step| step.amount("full") > 0.0),
        evidence: [took].into_iter().chain(who).collect(),
        next_step: if asked.is_some() {
            "Ask for histograms and dumps of the heap less often: each collects it first, and stops all threads."
        } else {
            "Look at the old pool after collections in lens `gc`: if it stays full, the heap is too small or something \
             leaks; `jtrace heap PID` shows what holds most."
        }
        .to_owned(),
    })
}

/// Who asked for something that begins with a collection: a histogram of the heap, or a dump of it.
fn asked_for<'a>(evidence: &Evidence<'a>, cause: &Row<'a>) -> Option<Row<'a>> {
    // Other collections have a thread that needed room at a bad moment, which says nothing.
    let operation = cause.known("operation").filter(|_| cause.text("cause").ends_with(" Initiated GC"))?;
    evidence.rows(Gc, "requests").find(|row| row.text("operation") == operation)
}

/// Collections that the program asks for: how many, how long they took in all, and who asked.
struct Explicit<'a> {
    calls: u64,
    total_ns: u64,
    callers: Vec<Row<'a>>,
}

impl<'a> Explicit<'a> {
    fn of(evidence: &Evidence<'a>) -> Option<Self> {
        let rows = || evidence.rows(Gc, "causes").filter(|row| row.text("cause") == "System.gc()");
        let calls: u64 = rows().map(|row| row.whole("collections")).sum();
        let total_ns = rows().map(|row| row.whole("total_ns")).fold(0, u64::saturating_add);
        (calls > 0).then(|| Self { calls, total_ns, callers: callers(evidence) })
    }

    /// `java.nio.Bits` asks where the limit of direct buffers is reached.
    fn for_direct_memory(&self) -> bool {
        self.callers.first().is_some_and(|row| row.text("via").starts_with("java.nio."))
    }

    fn severity(&self) -> Severity {
        if self.calls >= 3 { Severity::Warning } else { Severity::Info }
    }

    fn sentence(&self) -> String {
        let place = self.callers.first().map(|row| format!(", at {}", row.text("site"))).unwrap_or_default();
        let times = format::plural(self.calls, "time", "times");
        format!("System.gc() was called {times}, which took {}{place}", format::duration(self.total_ns))
    }

    fn support(&self) -> Vec<String> {
        let caller = |row: &Row<'_>| {
            let times = format::plural(row.whole("count"), "time", "times");
            format!("{times} at {} on `{}`", row.text("site"), row.text("thread"))
        };
        self.callers.iter().take(3).map(caller).collect()
    }
}

/// The program itself asks for collections.
pub(super) fn explicit(evidence: &Evidence<'_>) -> Option<Finding> {
    let explicit = Explicit::of(evidence).filter(|explicit| !explicit.for_direct_memory())?;
    Some(Finding {
        id: "gc-explicit",
        severity: explicit.severity(),
        score: explicit.calls as f64,
        title: explicit.sentence(),
        shown_in: "gc.requests",
        when: Vec::new(),
        evidence: explicit.support(),
        next_step: "Find the caller (RMI and direct buffers call it too); -XX:+DisableExplicitGC or \
                    -XX:+ExplicitGCInvokesConcurrent takes the pauses away."
            .to_owned(),
    })
}

/// Collections are asked for because direct buffers have reached their limit.
pub(super) fn direct_memory(evidence: &Evidence<'_>) -> Option<Finding> {
    let explicit = Explicit::of(evidence).filter(Explicit::for_direct_memory)?;
    Some(Finding {
        id: "direct-memory",
        severity: explicit.severity(),
        score: explicit.calls as f64,
        title: format!("Direct buffers are at their limit: {}", explicit.sentence()),
        shown_in: "gc.requests",
        when: Vec::new(),
        evidence: explicit.support(),
        next_step: "Use direct buffers again instead of making new ones; -XX:MaxDirectMemorySize raises the limit."
            .to_owned(),
    })
}

/// Who called it, where the stacks of requests show it.
fn callers<'a>(evidence: &Evidence<'a>) -> Vec<Row<'a>> {
    let asked = |lens| {
        let is_gc = |row: &Row<'_>| {
            ["java.lang.Runtime.gc", "java.lang.System.gc"].iter().any(|gc| row.text("top").starts_with(gc))
        };
        evidence.rows(lens, "requests").filter(is_gc).collect::<Vec<_>>()
    };
    let callers = asked(Gc);
    if callers.is_empty() { asked(Safepoint) } else { callers }
}

/// Little room is left in the old pool after collections.
pub(super) fn heap_nearly_full(evidence: &Evidence<'_>) -> Option<Finding> {
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
    use super::{super::testing::Case, *};
    use crate::report::Cell;

    fn cause(case: Case, cause: &str, kind: &str, count: u64, max_ns: u64) -> Case {
        case.row(
            "gc",
            "causes",
            &[
                ("cause", cause.into()),
                ("kind", kind.into()),
                ("count", count.into()),
                ("collections", count.into()),
                ("total_ns", max_ns.into()),
                ("max_ns", max_ns.into()),
            ],
        )
    }

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
    fn a_large_share_names_pause_cause_and_class() {
        let case = Case::default().number("gc", "pause_share_percent", 31.0).number("gc", "pause_max_ns", 412e6);
        let case = cause(case, "G1 Evacuation Pause", "other", 9, 412_000_000).row(
            "alloc",
            "classes",
            &[("class", "byte[]".into()), ("share_percent", 64.0.into())],
        );
        assert_eq!(
            case.said(share),
            (
                Severity::Critical,
                "GC takes 31 % of wall time, worst pause 412 ms, cause `G1 Evacuation Pause`; top allocating class \
                 `byte[]` (64 % of bytes, estimated)"
                    .to_owned()
            )
        );
        assert_eq!(Case::default().number("gc", "pause_share_percent", 12.0).said(share).0, Severity::Warning);
    }

    #[test]
    fn a_small_or_unknown_share_is_no_finding() {
        assert_eq!(Case::default().number("gc", "pause_share_percent", 10.0).ask(share), None);
        assert_eq!(Case::default().ask(share), None);
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
    fn a_pause_above_200_ms_is_long() {
        let case =
            cause(Case::default().number("gc", "pause_max_ns", 412e6), "Metadata GC Threshold", "full", 1, 412_000_000);
        assert_eq!(
            case.said(long_pause),
            (Severity::Warning, "A GC pause lasted 412 ms, cause `Metadata GC Threshold`, full".to_owned())
        );
        assert_eq!(Case::default().number("gc", "pause_max_ns", 200e6).ask(long_pause), None);
    }

    #[test]
    fn full_collections_count_without_the_explicit_ones() {
        let case = cause(Case::default().number("gc", "full_collections", 10.0), "System.gc()", "full", 7, 1);
        let case = cause(case, "Allocation Failure", "full", 3, 1);
        assert_eq!(
            case.said(repeated_full),
            (Severity::Critical, "3 full collections, cause `Allocation Failure`".to_owned())
        );
        let case = cause(Case::default().number("gc", "full_collections", 7.0), "System.gc()", "full", 7, 1);
        assert_eq!(case.ask(repeated_full), None);
        assert_eq!(Case::default().number("gc", "full_collections", 2.0).ask(repeated_full), None);
    }

    #[test]
    fn who_asks_for_histograms_is_named_with_their_collections() {
        let full = |cause: &'static str| {
            let cells = [
                ("cause", cause.into()),
                ("kind", "full".into()),
                ("operation", "GC_HeapInspection".into()),
                ("count", 14_u64.into()),
                ("collections", 14_u64.into()),
                ("total_ns", 1_400_000_000_u64.into()),
            ];
            let asked = [
                ("operation", "GC_HeapInspection".into()),
                ("site", "com.shop.Metrics.histogram:33".into()),
                ("thread", "metrics".into()),
                ("top", "com.sun.management.internal.DiagnosticCommandImpl.executeDiagnosticCommand".into()),
                ("count", 14_u64.into()),
            ];
            let case = Case::default().number("gc", "full_collections", 14.0).row("gc", "causes", &cells);
            case.row("gc", "requests", &asked).said(repeated_full).1
        };
        assert_eq!(
            full("Heap Inspection Initiated GC"),
            "14 full collections, cause `Heap Inspection Initiated GC`, asked for at com.shop.Metrics.histogram:33"
        );
        assert_eq!(full("Ergonomics"), "14 full collections, cause `Ergonomics`", "whoever needed room");
    }

    #[test]
    fn explicit_collections_are_named() {
        let case = cause(Case::default(), "System.gc()", "full", 7, 70_000_000);
        assert_eq!(
            case.said(explicit),
            (Severity::Warning, "System.gc() was called 7 times, which took 70 ms".to_owned())
        );
        assert_eq!(cause(Case::default(), "Allocation Failure", "full", 7, 1).ask(explicit), None);
        let request = |top: &'static str| {
            [
                ("site", "com.shop.Main.tidy:5".into()),
                ("via", "java.lang.System.gc:1".into()),
                ("top", top.into()),
                ("thread", "main".into()),
                ("count", 7_u64.into()),
            ]
        };
        let case = case.row("safepoint", "requests", &request("java.lang.Thread.getAllStackTraces:1"));
        assert!(case.ask(explicit).expect("as above").evidence.is_empty(), "that was not for the collector");
        let case = case.row("safepoint", "requests", &request("java.lang.Runtime.gc"));
        assert_eq!(case.ask(explicit).expect("as above").evidence, ["7 times at com.shop.Main.tidy:5 on `main`"]);
    }

    #[test]
    fn a_full_old_pool_is_found_by_its_smallest_state() {
        let case = pool(Case::default(), "G1 Old Gen", "G1 Young Generation", 970, 1000_u64.into());
        assert_eq!(
            case.said(heap_nearly_full),
            (Severity::Critical, "`G1 Old Gen` is 97 % full after collections".to_owned())
        );
        let case = pool(case, "G1 Old Gen", "G1 Old Generation", 300, 1000_u64.into());
        assert_eq!(case.ask(heap_nearly_full), None, "the full collection freed it");
        assert_eq!(pool(Case::default(), "G1 Eden Space", "m", 999, 1000_u64.into()).ask(heap_nearly_full), None);
        assert_eq!(pool(Case::default(), "G1 Old Gen", "m", 999, Cell::Missing).ask(heap_nearly_full), None);
    }
}
