//! Rules about safepoints and VM operations that are no collections.

use std::fmt;

use super::{Evidence, Row};
use crate::{
    analysis::is_collector,
    lens::Lens::Safepoint,
    report::{Finding, Severity},
    text::format,
};

/// Names of VM operations that collect garbage: the rules about that see them already. `Z` and `X` are ZGC's.
const COLLECTIONS: [&str; 8] = ["Collect", "GC", "Shenandoah", "XMark", "XRelocate", "ZMark", "ZRelocate", "G1Pause"];

fn other_operations<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = Row<'a>> + use<'a> {
    let evidence = *evidence;
    evidence.rows(Safepoint, "operations").filter(move |row| {
        let name = row.text("operation");
        !COLLECTIONS.iter().any(|word| name.contains(word)) && !is_asked_for_by_the_collector(&evidence, &name)
    })
}

/// Whether an operation runs while all threads stand still. Some let them run (`VM_Operation::evaluate_at_safepoint`): handshakes meet one
/// thread after the other, and what is about threads of the collector only needs no others.
///
/// <https://github.com/openjdk/jdk/blob/jdk-25-ga/src/hotspot/share/runtime/handshake.cpp>
pub(super) fn stops_all(operation: &str) -> bool {
    const LET_RUN: [&str; 3] = ["HandshakeAllThreads", "HandshakeOneThread", "HeapDumpMerge"];
    let is_of_collector = operation.contains("MarkFlush") || operation.ends_with("RendezvousGCThreads");
    !is_of_collector && !LET_RUN.contains(&operation)
}

/// Whether most requests for an operation came from threads of the collector: concurrent ones shake hands with all threads in each cycle.
fn is_asked_for_by_the_collector(evidence: &Evidence<'_>, operation: &str) -> bool {
    let (mut of_collector, mut all) = (0_u64, 0_u64);
    for row in evidence.rows(Safepoint, "requests").filter(|row| row.text("operation") == operation) {
        all = all.saturating_add(row.whole("count"));
        if is_collector(&row.text("thread")) {
            of_collector = of_collector.saturating_add(row.whole("count"));
        }
    }
    of_collector > all / 2
}

/// The program's line that asked for an operation most often, where the stacks of requests show it.
fn asked_at(evidence: &Evidence<'_>, operation: &str) -> Option<String> {
    let rows = evidence.rows(Safepoint, "requests").filter(|row| row.text("operation") == operation);
    let site = rows.max_by_key(|row| row.whole("count"))?.known("site")?;
    Some(format!(", asked for at {site}"))
}

/// One operation other than a collection, or getting to it, stopped the JVM for long.
pub(super) fn long(evidence: &Evidence<'_>) -> Option<Finding> {
    const LONG_NS: u64 = 100_000_000;
    let row =
        other_operations(evidence).max_by_key(|row| row.whole("max_ns")).filter(|row| row.whole("max_ns") > LONG_NS)?;
    let worst = row.whole("max_ns");
    Some(Finding {
        id: "safepoint-long",
        severity: if worst > 1_000_000_000 { Severity::Critical } else { Severity::Warning },
        score: worst as f64 / 1e7,
        title: format!(
            "VM operation `{}` took up to {}{}",
            row.text("operation"),
            format::duration(worst),
            asked_at(evidence, &row.text("operation")).unwrap_or_default()
        ),
        shown_in: "safepoint.operations",
        when: Vec::new(),
        evidence: vec![format!(
            "{} in all, {}",
            format::plural(row.whole("count"), "time", "times"),
            format::duration(row.whole("total_ns"))
        )],
        next_step: "Find who asks for it (thread dumps, heap inspection, agents, JMX pollers) and ask less often."
            .to_owned(),
    })
}

/// Threads take long to stop: one of them runs code that does not look whether it must.
pub(super) fn slow_stop(evidence: &Evidence<'_>) -> Option<Finding> {
    let worst = evidence.whole(Safepoint, "to_stop_max_ns")?;
    let total = evidence.whole(Safepoint, "to_stop_total_ns")?;
    let row = evidence.rows(Safepoint, "stoppers").next();
    let waited = Waited::of(evidence, worst, total, row.as_ref())?;
    let place = row.map(|row| format!(", while `{}` ran {}", row.text("thread"), row.text("site"))).unwrap_or_default();
    let mut support = vec![format!(
        "{} in all from the requests to stop until all threads had stopped, operations not counted; longest {}",
        format::duration(total),
        format::duration(worst)
    )];
    support.extend(row.map(|row| {
        let samples = format::plural(row.whole("samples"), "sample", "samples");
        format!("{samples} of the CPU meanwhile found it in {}", row.text("top"))
    }));
    Some(Finding {
        id: "slow-stop",
        severity: if worst > 1_000_000_000 { Severity::Critical } else { Severity::Warning },
        score: total as f64 / 1e7,
        title: format!("All threads waited {waited} for the last one to stop{place}"),
        shown_in: "safepoint.stoppers",
        when: evidence.at(Safepoint, "to_stop_max_at_ns", "to_stop_max_ns"),
        evidence: support,
        next_step:
            "Break long counted loops and large copies into pieces (a `long` index makes a loop stop), or start \
                    with -XX:+UseCountedLoopSafepoints."
                .to_owned(),
    })
}

/// What is wrong with waiting for threads to stop.
enum Waited {
    /// Once it took so many nanoseconds.
    Once(u64),
    /// It takes this part of the time, in per cent.
    Often(f64),
}

impl Waited {
    fn of(evidence: &Evidence<'_>, worst: u64, total: u64, stopper: Option<&Row<'_>>) -> Option<Self> {
        const LONG_NS: u64 = 100_000_000;
        /// Less than this is how long it takes a machine whose CPUs are busy.
        const FELT_NS: u64 = 10_000_000;
        const OFTEN_PERCENT: f64 = 5.0;
        /// Fewer do not say that it is this thread.
        const SAMPLES: u64 = 10;
        if worst > LONG_NS {
            return Some(Self::Once(worst));
        }
        let percent = 100.0 * total as f64 / evidence.span.duration_ns.max(1) as f64;
        let is_known = stopper.is_some_and(|row| row.whole("samples") >= SAMPLES);
        (worst >= FELT_NS && percent >= OFTEN_PERCENT && is_known).then_some(Self::Often(percent))
    }
}

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(ns) => write!(f, "up to {}", format::duration(*ns)),
            Self::Often(percent) => write!(f, "{} of the time", format::percent(*percent)),
        }
    }
}

/// The JVM stops all threads very often for the same operation.
pub(super) fn frequent(evidence: &Evidence<'_>) -> Option<Finding> {
    const OFTEN_PER_S: f64 = 20.0;
    /// Part of the span below which they do no harm, as the handshakes of concurrent collectors.
    const HARMLESS_SHARE: f64 = 0.005;
    if evidence.span.duration_ns == 0 {
        return None;
    }
    let seconds = evidence.span.duration_ns as f64 / 1e9;
    let row = other_operations(evidence).max_by_key(|row| row.whole("count")).filter(|row| row.whole("count") >= 20)?;
    let rate = row.whole("count") as f64 / seconds;
    if rate < OFTEN_PER_S || (row.whole("total_ns") as f64) < HARMLESS_SHARE * evidence.span.duration_ns as f64 {
        return None;
    }
    let name = row.text("operation");
    let biased = name.contains("Bias");
    Some(Finding {
        id: "safepoint-frequent",
        severity: Severity::Warning,
        score: rate,
        title: format!(
            "VM operation `{name}` runs at {}{}",
            evidence.seen(Safepoint, rate).said(format::rate),
            asked_at(evidence, &name).unwrap_or_default()
        ),
        shown_in: "safepoint.operations",
        when: Vec::new(),
        evidence: vec![format!(
            "{}, {} in all",
            format::plural(row.whole("count"), "time", "times"),
            format::duration(row.whole("total_ns"))
        )],
        next_step: if biased {
            "Biased locks are revoked again and again: start with -XX:-UseBiasedLocking.".to_owned()
        } else if stops_all(&name) {
            "Each one stops every thread: find who asks for it and ask less often.".to_owned()
        } else {
            "Each one holds up every thread for a moment, one after the other: find who asks for it and ask less often."
                .to_owned()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    #[test]
    fn a_slow_stop_names_the_thread_and_its_line() {
        let case = |worst: f64| {
            let case = Case::seconds(10).number("safepoint", "to_stop_max_ns", worst);
            case.number("safepoint", "to_stop_total_ns", 3.0 * worst).row(
                "safepoint",
                "stoppers",
                &[
                    ("site", "a.Sum.count:12".into()),
                    ("top", "a.Sum.count:12".into()),
                    ("thread", "report-1".into()),
                    ("samples", 40_u64.into()),
                ],
            )
        };
        assert_eq!(
            case(4e8).said(slow_stop),
            (
                Severity::Warning,
                "All threads waited up to 400 ms for the last one to stop, while `report-1` ran a.Sum.count:12"
                    .to_owned()
            )
        );
        assert_eq!(case(5e7).ask(slow_stop), None);
    }

    #[test]
    fn many_short_waits_for_one_thread_are_found_by_their_share() {
        let case = |worst: f64, total: f64, samples: u64| {
            let case = Case::seconds(10).number("safepoint", "to_stop_max_ns", worst);
            let cells = [
                ("site", "a.Picture.copy:22".into()),
                ("top", "java.lang.System.arraycopy".into()),
                ("thread", "simulation".into()),
                ("samples", samples.into()),
            ];
            case.number("safepoint", "to_stop_total_ns", total).row("safepoint", "stoppers", &cells)
        };
        assert_eq!(
            case(35e6, 1.2e9, 63).said(slow_stop).1,
            "All threads waited 12 % of the time for the last one to stop, while `simulation` ran a.Picture.copy:22"
        );
        assert_eq!(case(35e6, 1.2e9, 9).ask(slow_stop), None, "too few samples to accuse a thread");
        assert_eq!(case(9e6, 1.2e9, 63).ask(slow_stop), None, "nobody feels one of them");
        assert_eq!(case(35e6, 0.4e9, 63).ask(slow_stop), None);
    }

    fn operation(name: &str, count: u64, max_ns: u64) -> Case {
        Case::seconds(10).row(
            "safepoint",
            "operations",
            &[
                ("operation", name.into()),
                ("count", count.into()),
                ("total_ns", max_ns.into()),
                ("max_ns", max_ns.into()),
            ],
        )
    }

    #[test]
    fn a_long_operation_is_found_unless_it_collects() {
        assert_eq!(
            operation("HeapDumper", 1, 350_000_000).said(long),
            (Severity::Warning, "VM operation `HeapDumper` took up to 350 ms".to_owned())
        );
        assert_eq!(operation("HeapDumper", 1, 90_000_000).ask(long), None);
        assert_eq!(operation("G1CollectFull", 1, 350_000_000).ask(long), None);
    }

    #[test]
    fn a_frequent_operation_is_found_by_its_rate() {
        let finding = operation("BulkRevokeBias", 400, 60_000_000).ask(frequent).expect("40 a second");
        assert_eq!(finding.title, "VM operation `BulkRevokeBias` runs at 40/s");
        assert!(finding.next_step.contains("UseBiasedLocking"));
        assert!(
            operation("ThreadDump", 200, 60_000_000)
                .ask(frequent)
                .is_some_and(|found| found.next_step.contains("who asks"))
        );
        assert_eq!(operation("ThreadDump", 199, 60_000_000).ask(frequent), None);
    }

    #[test]
    fn what_the_collector_asks_for_is_left_to_the_rules_about_it() {
        let asked_by = |thread: &'static str| {
            let cells =
                [("operation", "HandshakeAllThreads".into()), ("thread", thread.into()), ("count", 1_900_u64.into())];
            operation("HandshakeAllThreads", 2_000, 400_000_000).row("safepoint", "requests", &cells)
        };
        assert_eq!(asked_by("ZWorkerYoung#0").ask(frequent), None);
        assert_eq!(asked_by("ZDriverMinor").ask(long), None);
        assert!(asked_by("metrics").ask(frequent).is_some());
    }

    #[test]
    fn frequent_operations_that_take_no_time_are_no_finding() {
        assert_eq!(operation("HandshakeAllThreads", 2_000, 40_000_000).ask(frequent), None);
    }
}
