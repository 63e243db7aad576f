//! Rules about what the program could not get: CPUs, and memory.

use super::Evidence;
use crate::{
    lens::Lens::{Alloc, Cpu, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Looks that are needed before anything is said that one moment could show by chance.
const LOOKS: u64 = 3;

/// The limit of a control group keeps threads from running.
pub(super) fn cpu_limit(evidence: &Evidence<'_>) -> Option<Finding> {
    const SHARE: f64 = 0.05;
    let throttled = evidence.number(Threads, "throttled_ns")?;
    let share = throttled / evidence.span.duration_ns.max(1) as f64;
    if share < SHARE {
        return None;
    }
    let mut support = vec![format!("{} in {}", of_ns(throttled), format::duration(evidence.span.duration_ns))];
    support.extend(used(evidence));
    Some(Finding {
        id: "cpu-limit",
        severity: if share > 0.5 { Severity::Critical } else { Severity::Warning },
        score: 100.0 * share,
        title: format!(
            "The CPU limit of its control group kept the JVM from running for {} of the time",
            format::percent(100.0 * share.min(1.0))
        ),
        shown_in: "cpu.threads",
        when: Vec::new(),
        evidence: support,
        next_step:
            "Raise the limit (`cpu.max`, Kubernetes `limits.cpu`), or give the JVM fewer threads: collector and \
                    compilers count too (-XX:ActiveProcessorCount)."
                .to_owned(),
    })
}

/// Threads are ready and find no CPU.
pub(super) fn cpu_queue(evidence: &Evidence<'_>) -> Option<Finding> {
    let waiting = evidence.number(Threads, "cpu_queue_average")?;
    let cpus = f64::from(evidence.target.cpus.max(1));
    let crowded = crowded_out(evidence);
    // On average one thread for each CPU waits for another one to leave; or others leave none.
    let queue = waiting >= cpus && evidence.whole(Threads, "looks")? >= LOOKS;
    if (!queue && crowded.is_none()) || cpu_limit(evidence).is_some() {
        return None;
    }
    let of_cpus = format::plural(u64::from(evidence.target.cpus.max(1)), "CPU", "CPUs");
    let others = evidence.number(Threads, "cpus_used_by_others").unwrap_or(0.0);
    let title = match crowded {
        Some(share) => format!(
            "Other processes use {others:.1} of {of_cpus}: for {} of the time that its threads were ready they waited for one \
             ({waiting:.1} on average)",
            format::percent(100.0 * share)
        ),
        None => format!(
            "{waiting:.1} threads on average were ready to run and waited for one of {of_cpus}{}",
            if others > cpus / 2.0 { ", most of which other processes use" } else { "" }
        ),
    };
    let mut support: Vec<String> = used(evidence).into_iter().collect();
    support.extend(busiest(evidence));
    Some(Finding {
        id: "cpu-queue",
        severity: if waiting >= cpus / 2.0 { Severity::Warning } else { Severity::Info },
        score: (20.0 * waiting).max(100.0 * crowded.unwrap_or(0.0)),
        title,
        shown_in: "cpu.threads",
        when: Vec::new(),
        evidence: support,
        next_step: if others > cpus / 2.0 {
            "Look for the other processes (`top`), and move them or the JVM.".to_owned()
        } else {
            "Use fewer threads for work that computes (as many as CPUs), or give it more CPUs.".to_owned()
        },
    })
}

/// Of the time that its threads were ready, the share in which they waited for a CPU, where other processes use nearly all of them and that
/// share is large. Whatever such a JVM waits for on the same machine may be slow for the same reason.
pub(super) fn crowded_out(evidence: &Evidence<'_>) -> Option<f64> {
    const BUSY: f64 = 0.85;
    const SHARE: f64 = 0.4;
    const LEAST_THREADS: f64 = 0.05;
    let cpus = f64::from(evidence.target.cpus.max(1));
    let number = |name| evidence.number(Threads, name);
    let (waiting, own, others) = (number("cpu_queue_average")?, number("cpus_used")?, number("cpus_used_by_others")?);
    let share = waiting / (waiting + own).max(f64::MIN_POSITIVE);
    let crowded = others > cpus / 2.0 && own + others >= BUSY * cpus && waiting >= LEAST_THREADS && share >= SHARE;
    (crowded && evidence.whole(Threads, "looks")? >= LOOKS).then_some(share)
}

/// Who uses the CPUs.
fn used(evidence: &Evidence<'_>) -> Option<String> {
    let (own, others) = (evidence.number(Threads, "cpus_used")?, evidence.number(Threads, "cpus_used_by_others")?);
    Some(format!("the JVM used {own:.1} CPUs, everything else on the machine {others:.1}"))
}

/// What the threads that run do.
pub(super) fn busiest(evidence: &Evidence<'_>) -> Option<String> {
    let row = evidence.rows(Cpu, "places").next()?;
    let share = format::percent(row.number("share_percent")?);
    Some(format!("most of its CPU time goes into {}, {share}", row.text("place")))
}

/// Memory of the process lies in swap, and is read back.
pub(super) fn swap(evidence: &Evidence<'_>) -> Option<Finding> {
    const FAULTS_PER_S: f64 = 20.0;
    let swapped = evidence.whole(Threads, "swapped_bytes").filter(|swapped| *swapped > 0)?;
    let faults = evidence.per_second(Threads, "major_faults").filter(|faults| *faults > FAULTS_PER_S)?;
    Some(Finding {
        id: "swap",
        severity: Severity::Critical,
        score: faults,
        title: format!(
            "{} of the JVM's memory are in swap, and it reads pages from a disk at {}",
            format::bytes(swapped),
            format::rate(faults)
        ),
        shown_in: "cpu.threads",
        when: Vec::new(),
        evidence: evidence
            .whole(Threads, "resident_bytes")
            .map(|resident| format!("{} are in RAM", format::bytes(resident)))
            .into_iter()
            .collect(),
        next_step:
            "Make -Xmx and the rest of the machine's memory fit into its RAM: each collection touches all of the \
                    heap."
                .to_owned(),
    })
}

/// Memory grows by more than the heap can have.
pub(super) fn memory_growth(evidence: &Evidence<'_>) -> Option<Finding> {
    const BYTES: f64 = 10e6;
    const BYTES_PER_S: f64 = 1e6;
    /// A JVM that starts makes room for code, classes and threads.
    const LOOKS_IN_A_ROW: u64 = 6;
    let grown = evidence.number(Threads, "anonymous_grown_bytes")?;
    // Fresh pages of the heap are touched by allocation alone.
    let allocated = evidence.rate(Alloc, "estimated_bytes_per_s")?.high * evidence.span.duration_ns as f64 / 1e9;
    let beyond = grown - 1.5 * allocated;
    let rate = beyond * 1e9 / evidence.span.duration_ns.max(1) as f64;
    if beyond < BYTES || rate < BYTES_PER_S || evidence.whole(Threads, "looks_grown")? < LOOKS_IN_A_ROW {
        return None;
    }
    let place = evidence.rows(Cpu, "work").find(|row| row.text("work") == "native memory").map(|row| row.text("place"));
    let at = place.map(|place| format!(", at {place}")).unwrap_or_default();
    let mut support = vec![format!(
        "memory that is not of files grew by {}, and all objects that were made have about {} at most",
        of_bytes(grown),
        of_bytes(allocated)
    )];
    let resident = evidence.whole(Threads, "resident_bytes");
    support.extend(resident.map(|resident| format!("{} in RAM now", format::bytes(resident))));
    // Who asks for memory is seen only by chance.
    support.extend(busiest(evidence).filter(|_| at.is_empty()));
    Some(Finding {
        id: "memory-growth",
        severity: Severity::Warning,
        score: rate / 1e6,
        title: format!(
            "Memory outside of the heap grew by at least {} in {}{at}",
            of_bytes(beyond),
            format::duration(evidence.span.duration_ns)
        ),
        shown_in: "cpu.work",
        when: Vec::new(),
        evidence: support,
        next_step:
            "Look for direct buffers, deflaters and libraries that are not closed; -XX:NativeMemoryTracking=summary \
                    and `jcmd PID VM.native_memory` tell what the JVM itself has."
                .to_owned(),
    })
}

pub(super) fn of_bytes(bytes: f64) -> String {
    format::bytes(format::whole(bytes))
}

pub(super) fn of_ns(ns: f64) -> String {
    format::duration(format::whole(ns))
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn queue(waiting: f64, others: f64) -> Case {
        Case::seconds(10)
            .number("threads", "looks", 9.0)
            .number("threads", "cpu_queue_average", waiting)
            .number("threads", "cpus_used", 2.0)
            .number("threads", "cpus_used_by_others", others)
    }

    #[test]
    fn threads_that_find_no_cpu_are_counted() {
        assert_eq!(
            queue(21.6, 0.1).said(cpu_queue),
            (Severity::Warning, "21.6 threads on average were ready to run and waited for one of 4 CPUs".to_owned())
        );
        assert!(
            queue(6.0, 2.1)
                .number("threads", "cpus_used", 0.5)
                .said(cpu_queue)
                .1
                .ends_with("of 4 CPUs, most of which other processes use")
        );
        assert_eq!(queue(3.9, 0.1).ask(cpu_queue), None, "less than one for each CPU");
    }

    #[test]
    fn few_threads_that_other_processes_leave_no_cpu_are_told_of() {
        let crowded = |waiting: f64, own: f64| queue(waiting, 3.6).number("threads", "cpus_used", own);
        assert_eq!(
            crowded(2.1, 0.4).said(cpu_queue),
            (
                Severity::Warning,
                "Other processes use 3.6 of 4 CPUs: for 84 % of the time that its threads were ready they waited for one \
                 (2.1 on average)"
                    .to_owned()
            )
        );
        assert_eq!(crowded(0.2, 0.1).said(cpu_queue).0, Severity::Info, "it hardly asks for any");
        assert_eq!(crowded(0.1, 0.4).ask(cpu_queue), None, "it gets what it asks for");
        assert_eq!(queue(2.1, 1.0).ask(cpu_queue), None, "there are CPUs left");
    }

    #[test]
    fn a_limit_explains_the_queue() {
        let limited = queue(21.6, 0.1).number("threads", "throttled_ns", 6e9);
        assert_eq!(
            limited.said(cpu_limit),
            (
                Severity::Critical,
                "The CPU limit of its control group kept the JVM from running for 60 % of the time".to_owned()
            )
        );
        assert_eq!(limited.ask(cpu_queue), None);
        assert_eq!(queue(1.0, 0.1).number("threads", "throttled_ns", 1e8).ask(cpu_limit), None);
    }

    #[test]
    fn swap_harms_where_it_is_read() {
        let case = Case::seconds(10).number("threads", "swapped_bytes", 1e9);
        assert_eq!(case.ask(swap), None);
        assert_eq!(case.number("threads", "major_faults", 5000.0).said(swap).0, Severity::Critical);
    }

    #[test]
    fn growth_that_allocation_explains_is_of_the_heap() {
        let grown = |allocated: f64| {
            Case::seconds(10)
                .number("threads", "anonymous_grown_bytes", 200e6)
                .number("threads", "looks_grown", 6.0)
                .number("alloc", "estimated_bytes_per_s", allocated)
        };
        assert_eq!(
            grown(1e5).said(memory_growth),
            (Severity::Warning, "Memory outside of the heap grew by at least 189 MiB in 10 s".to_owned())
        );
        assert_eq!(grown(20e6).ask(memory_growth), None);
        let in_windows = grown(2e6).number("alloc", "attached_percent", 10.0);
        assert_eq!(in_windows.ask(memory_growth), None, "the rest of the time can explain it");
    }
}
