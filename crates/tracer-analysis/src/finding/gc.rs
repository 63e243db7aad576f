//! Rules about garbage collection.

use super::{Evidence, Row, alloc, looks};
use crate::{
    lens::Lens::{Alloc, Gc},
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
    let site = top.and_then(|top| evidence.rows(Alloc, "sites").find(|row| row.text("class") == top.text("class")));
    let title = [
        Some(format!("GC takes {} of wall time", format::percent(share))),
        worst,
        cause.map(|row| format!(", cause `{}`", row.text("cause"))),
        top.map(|row| {
            let part = format::percent(row.number("share_percent").unwrap_or(0.0));
            format!("; top allocating class `{}` ({part} of bytes, estimated)", row.text("class"))
        }),
        site.map(|row| format!(", most at {}", looks::place(&row))),
    ];
    let support = [
        cause.map(|row| {
            let pauses = format::plural(row.whole("count"), "pause", "pauses");
            format!("`{}`: {} in {pauses}", row.text("cause"), format::duration(row.whole("total_ns")))
        }),
        evidence.rate(Alloc, "estimated_bytes_per_s").map(|rate| format!("allocation at {}", alloc::said(rate))),
        site.map(|row| alloc::most_at(&row)),
        site.and_then(|row| looks::called_from(&row)),
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
        evidence: support.into_iter().flatten().chain(serial(evidence)).collect(),
        next_step,
    })
}

/// Where one thread collects alone, though there are several CPUs: small machines and containers get that collector by themselves.
fn serial(evidence: &Evidence<'_>) -> Option<String> {
    let (collector, cpus) = (&evidence.target.collector, evidence.target.cpus);
    (cpus > 1 && collector.contains("Serial")).then(|| {
        format!(
            "the serial collector has one thread, and there are {cpus} CPUs: the JVM takes it by itself where it sees one CPU or less than \
             1.8 GB of memory; -XX:+UseParallelGC or -XX:+UseG1GC have several"
        )
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
        evidence: p99.into_iter().chain(serial(evidence)).collect(),
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

#[cfg(test)]
pub(super) mod tests {
    use super::{super::testing::Case, *};

    pub(in crate::finding) fn cause(case: Case, cause: &str, kind: &str, count: u64, max_ns: u64) -> Case {
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

    #[test]
    fn a_large_share_names_pause_cause_and_class() {
        let case = Case::default().number("gc", "pause_share_percent", 31.0).number("gc", "pause_max_ns", 412e6);
        let case = cause(case, "G1 Evacuation Pause", "other", 9, 412_000_000).row(
            "alloc",
            "classes",
            &[("class", "byte[]".into()), ("share_percent", 64.0.into())],
        );
        let title = "GC takes 31 % of wall time, worst pause 412 ms, cause `G1 Evacuation Pause`; top allocating class \
                     `byte[]` (64 % of bytes, estimated)";
        assert_eq!(case.said(share), (Severity::Critical, title.to_owned()));
        let site = |class: &'static str, site: &'static str| -> [(&'static str, crate::report::Cell); 3] {
            [("class", class.into()), ("site", site.into()), ("share_percent", 40.0.into())]
        };
        let case = case.row("alloc", "sites", &site("int[]", "a.Sums.add:3")).row(
            "alloc",
            "sites",
            &site("byte[]", "a.Mail.read:7"),
        );
        assert_eq!(case.said(share).1, format!("{title}, most at a.Mail.read:7"), "where that class is made");
        assert_eq!(Case::default().number("gc", "pause_share_percent", 12.0).said(share).0, Severity::Warning);
    }

    #[test]
    fn a_small_or_unknown_share_is_no_finding() {
        assert_eq!(Case::default().number("gc", "pause_share_percent", 10.0).ask(share), None);
        assert_eq!(Case::default().ask(share), None);
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
}
