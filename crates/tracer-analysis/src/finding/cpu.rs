//! Rules about where CPU time goes, and where it is waited for. Shares come from samples: they count by the lower end of their
//! 95 % interval, and only in a JVM that is not idle.

use super::{Evidence, Row};
use crate::{
    lens::Lens::{Cpu, Offcpu},
    report::{Finding, Severity},
    text::format,
};

/// Fewer samples say too little.
const SAMPLES: u64 = 100;
/// CPU time as a part of one core from which on its shares matter.
const BUSY: f64 = 0.1;

/// All samples, where there are enough of a JVM that has something to do.
pub(super) fn samples(evidence: &Evidence<'_>) -> Option<u64> {
    let busy = evidence.per_second(Cpu, "sampled_ns")? / 1e9;
    evidence.whole(Cpu, "samples").filter(|samples| *samples >= SAMPLES && busy >= BUSY)
}

/// Samples outside of the JIT compilers, and what to call them: a JVM that is young compiles, whatever the program does.
pub(super) fn program_samples(evidence: &Evidence<'_>) -> Option<(u64, &'static str)> {
    let all = samples(evidence)?;
    let compiling = evidence.whole(Cpu, "jit_threads_samples").unwrap_or(0);
    let few = compiling * 10 < all || all - compiling.min(all) < SAMPLES;
    Some(if few { (all, "CPU time") } else { (all - compiling, "CPU time outside of the JIT compilers") })
}

/// A share in per cent with half its 95 % interval.
pub(super) struct Share {
    pub(super) percent: f64,
    interval: f64,
}

impl Share {
    pub(super) fn of(part: u64, all: u64) -> Option<Self> {
        let interval = crate::analysis::interval_percent(part, all)?;
        Some(Self { percent: 100.0 * part as f64 / all as f64, interval })
    }

    /// Whether it is surely above this.
    pub(super) fn is_above(&self, percent: f64) -> bool {
        self.percent - self.interval > percent
    }

    pub(super) fn evidence(&self, all: u64) -> String {
        format!(
            "{} ± {} of {} (95 % interval)",
            format::percent(self.percent),
            format::percent(self.interval),
            format::plural(all, "sample", "samples")
        )
    }
}

/// The collector's threads take much of the CPU time.
pub(super) fn collector(evidence: &Evidence<'_>) -> Option<Finding> {
    let all = samples(evidence)?;
    let share = Share::of(evidence.whole(Cpu, "gc_threads_samples")?, all).filter(|share| share.is_above(30.0))?;
    Some(Finding {
        id: "cpu-gc",
        severity: if share.is_above(60.0) { Severity::Critical } else { Severity::Warning },
        score: share.percent,
        title: format!("Threads of the collector take {} of CPU time", format::percent(share.percent)),
        shown_in: "cpu.states",
        when: evidence.when(Cpu, "samples_by_state", |step| step.percent("gc") > 30.0),
        evidence: vec![share.evidence(all)],
        next_step: "Look at the lenses gc and alloc: a larger heap or less allocation leaves the collector less to do."
            .to_owned(),
    })
}

/// The compilers take much of the CPU time.
pub(super) fn compilers(evidence: &Evidence<'_>) -> Option<Finding> {
    const YOUNG_S: u64 = 60;
    let all = samples(evidence)?;
    let share = Share::of(evidence.whole(Cpu, "jit_threads_samples")?, all).filter(|share| share.is_above(30.0))?;
    let young = evidence.target.uptime_s < YOUNG_S;
    let mut support = vec![share.evidence(all)];
    if young {
        support.push(format!("the JVM had been up for {} s", evidence.target.uptime_s));
    }
    Some(Finding {
        id: "cpu-jit",
        severity: if young { Severity::Info } else { Severity::Warning },
        score: share.percent,
        title: format!("The JIT compilers take {} of CPU time", format::percent(share.percent)),
        shown_in: "cpu.states",
        when: evidence.when(Cpu, "samples_by_state", |step| step.percent("jit") > 30.0),
        evidence: support,
        next_step:
            "Normal while a program warms up; later look at the lens jit for methods that are compiled again and \
                    again."
                .to_owned(),
    })
}

/// One method of the program takes most of the CPU time by itself; of others [`super::work`] names who calls them.
pub(super) fn hot_method(evidence: &Evidence<'_>) -> Option<Finding> {
    let (all, time) = program_samples(evidence)?;
    let row = evidence.rows(Cpu, "methods").max_by_key(|row| row.whole("self"))?;
    let share = Share::of(row.whole("self"), all).filter(|share| share.is_above(50.0))?;
    let method = row.text("method");
    let place = evidence.rows(Cpu, "places").find(|place| place.text("place") == method);
    if place.is_none() && evidence.rows(Cpu, "places").any(|place| is_most(&place, all)) {
        return None;
    }
    let line = place.filter(|place| place.whole("line") > 0);
    let line = line.map(|place| format!("most samples are of line {} or what it calls", place.whole("line")));
    Some(Finding {
        id: "cpu-hot-method",
        severity: Severity::Info,
        score: share.percent,
        title: format!("`{method}` takes {} of {time} by itself", format::percent(share.percent)),
        shown_in: "cpu.methods",
        when: Vec::new(),
        evidence: [share.evidence(all)].into_iter().chain(line).collect(),
        next_step: "The stacks of the lens cpu show who calls it, and at which lines it runs.".to_owned(),
    })
}

/// Whether a row's samples are most of all.
pub(super) fn is_most(row: &Row<'_>, all: u64) -> bool {
    Share::of(row.whole("samples"), all).is_some_and(|share| share.is_above(50.0))
}

/// Threads are ready and find no CPU.
pub(super) fn run_queue(evidence: &Evidence<'_>) -> Option<Finding> {
    let waited = evidence.whole(Offcpu, "run_queue_total_ns")?;
    let span = evidence.span.duration_ns;
    let threads = waited as f64 / span as f64;
    // On average one thread for each CPU waits for another one to leave.
    if span == 0 || threads < f64::from(evidence.target.cpus.max(1)) {
        return None;
    }
    let top = evidence.rows(Offcpu, "threads").max_by_key(|row| row.whole("run_queue_ns"));
    Some(Finding {
        id: "cpu-run-queue",
        severity: Severity::Warning,
        score: 10.0 * threads,
        title: format!("{threads:.1} threads on average were ready to run and waited for a CPU"),
        shown_in: "offcpu.threads",
        when: Vec::new(),
        evidence: [format!("{} in all over {}", format::duration(waited), format::duration(span))]
            .into_iter()
            .chain(top.map(|row| {
                let time = format::duration(row.whole("run_queue_ns"));
                format!("`{}` waited {time}", row.text("thread"))
            }))
            .collect(),
        next_step:
            "More runs than the CPUs can take: look for other processes and CPU limits of the container, or use \
                    fewer threads."
                .to_owned(),
    })
}

/// Threads wait for memory.
pub(super) fn page_faults(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Offcpu, "reasons").find(|row| row.text("reason") == "page fault")?;
    let (total, span) = (row.whole("total_ns"), evidence.span.duration_ns);
    if total < span / 10 || total < 100_000_000 {
        return None;
    }
    let site = evidence.rows(Offcpu, "sites").find(|row| row.text("reason") == "page fault");
    let mut support = vec![format!(
        "{}, p99 {}",
        format::plural(row.whole("blocks"), "wait", "waits"),
        format::duration(row.whole("p99_ns"))
    )];
    support.extend(site.map(|row| format!("most at {}", row.text("site"))));
    Some(Finding {
        id: "page-faults",
        severity: Severity::Warning,
        score: 100.0 * total as f64 / span.max(1) as f64,
        title: format!("Threads waited {} for memory pages", format::duration(total)),
        shown_in: "offcpu.sites",
        when: evidence.when(Offcpu, "blocked_by_reason", |step| step.per_second("page_fault_ns") > 0.1e9),
        evidence: support,
        next_step:
            "Memory is short or swapped out, or a mapped file is read for the first time: look at swap and at the \
                    memory limit."
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    /// Ten seconds of one busy core at 99 Hz, of which so many samples are behind a key.
    fn busy(key: &'static str, samples: f64) -> Case {
        Case::seconds(10).number("cpu", "samples", 990.0).number("cpu", "sampled_ns", 1e10).number("cpu", key, samples)
    }

    fn method(samples: u64) -> Case {
        busy("stacks", 10.0).row("cpu", "methods", &[("method", "a.B.c".into()), ("self", samples.into())])
    }

    #[test]
    fn shares_of_collector_and_compilers_are_found() {
        assert_eq!(
            busy("gc_threads_samples", 400.0).said(collector),
            (Severity::Warning, "Threads of the collector take 40 % of CPU time".to_owned())
        );
        assert_eq!(busy("gc_threads_samples", 800.0).said(collector).0, Severity::Critical);
        let mut case = busy("jit_threads_samples", 400.0);
        assert_eq!(case.said(compilers).0, Severity::Info, "the JVM is young");
        case.target.uptime_s = 600;
        assert_eq!(case.said(compilers), (Severity::Warning, "The JIT compilers take 40 % of CPU time".to_owned()));
    }

    #[test]
    fn a_share_that_may_be_chance_is_no_finding() {
        // 31.3 % of 990 samples can be 28.4 %.
        assert_eq!(busy("gc_threads_samples", 310.0).ask(collector), None);
        assert!(busy("gc_threads_samples", 330.0).ask(collector).is_some());
        assert_eq!(busy("jit_threads_samples", 100.0).ask(compilers), None);
        let few = Case::seconds(10).number("cpu", "samples", 99.0).number("cpu", "sampled_ns", 1e10).number(
            "cpu",
            "gc_threads_samples",
            99.0,
        );
        assert_eq!(few.ask(collector), None);
    }

    #[test]
    fn an_idle_jvm_has_no_shares() {
        let idle = busy("gc_threads_samples", 900.0).number("cpu", "sampled_ns", 9e8);
        assert_eq!(idle.ask(collector), None);
        assert_eq!(Case::seconds(10).ask(collector), None);
    }

    #[test]
    fn a_method_that_takes_most_is_named() {
        let case = method(600);
        assert_eq!(case.said(hot_method), (Severity::Info, "`a.B.c` takes 61 % of CPU time by itself".to_owned()));
        assert_eq!(case.ask(hot_method).expect("as above").evidence, ["61 % ± 3.0 % of 990 samples (95 % interval)"]);
        assert_eq!(method(510).ask(hot_method), None);
    }

    #[test]
    fn waiting_for_a_cpu_counts_by_cpus() {
        let waits = |ns: f64| {
            Case::seconds(10).number("offcpu", "run_queue_total_ns", ns).row(
                "offcpu",
                "threads",
                &[("thread", "worker".into()), ("run_queue_ns", 7_000_000_000_u64.into())],
            )
        };
        assert_eq!(waits(60e9).said(run_queue).1, "6.0 threads on average were ready to run and waited for a CPU");
        assert_eq!(waits(39e9).ask(run_queue), None, "there are 4 CPUs");
        assert_eq!(Case::default().ask(run_queue), None);
    }

    #[test]
    fn page_faults_count_from_a_tenth_of_the_span() {
        let faults = |reason: &str, ns: u64| {
            let cells =
                [("reason", reason.into()), ("blocks", 3_u64.into()), ("total_ns", ns.into()), ("p99_ns", ns.into())];
            Case::seconds(10).row("offcpu", "reasons", &cells)
        };
        assert_eq!(faults("page fault", 2_000_000_000).said(page_faults).1, "Threads waited 2.0 s for memory pages");
        assert_eq!(faults("page fault", 900_000_000).ask(page_faults), None);
        assert_eq!(faults("park", 9_000_000_000).ask(page_faults), None);
    }
}
