//! The rule about the time before the session: what the JVM's counters and the kernel tell of it, where it differs from what goes on now.
//! The incident that somebody was called for may be over.

use super::Evidence;
use crate::{
    item::SinceStart,
    lens::Lens::{Gc, Threads},
    report::{Finding, Severity},
    text::format,
};

/// A JVM that is younger is still starting.
const LEAST_UPTIME_S: u64 = 60;

/// Something that was, with how far beyond its threshold that is.
struct Fact {
    weight: f64,
    text: String,
}

/// Looks for one, in a JVM that is up for so many seconds.
type Look = fn(&Evidence<'_>, &SinceStart, f64) -> Option<Fact>;

const FACTS: [Look; 7] = [collections, throttling, faults, cpu, threads, churn, memory];

/// What was worse before than it is now.
pub(super) fn before(evidence: &Evidence<'_>) -> Option<Finding> {
    let since = evidence.target.since_start.as_ref()?;
    let uptime_s = Some(evidence.target.uptime_s).filter(|uptime_s| *uptime_s >= LEAST_UPTIME_S)?;
    let mut facts: Vec<Fact> = FACTS.iter().filter_map(|rule| rule(evidence, since, uptime_s as f64)).collect();
    facts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let (first, rest) = facts.split_first()?;
    let uptime = format::duration(uptime_s.saturating_mul(1_000_000_000));
    Some(Finding {
        id: "before-session",
        severity: Severity::Info,
        score: first.weight,
        title: format!("Before this session, in the {uptime} since the JVM started: {}", first.text),
        shown_in: "",
        when: Vec::new(),
        evidence: rest
            .iter()
            .map(|fact| fact.text.clone())
            .chain(["from the JVM's own counters and the kernel's, read when the session began".to_owned()])
            .collect(),
        next_step: "It may be over, or come back: `jtrace record PID -o x.jtrace` watches for longer; the log of collections and the \
                    monitoring of that time say when it was."
            .to_owned(),
    })
}

/// A time as a share of the uptime, in per cent.
fn share(ns: Option<u64>, uptime_s: f64) -> Option<f64> {
    Some(ns? as f64 / 1e7 / uptime_s)
}

fn collections(evidence: &Evidence<'_>, since: &SinceStart, uptime_s: f64) -> Option<Fact> {
    const PERCENT: f64 = 5.0;
    let before = share(since.collection_ns, uptime_s).filter(|before| *before > PERCENT)?;
    let now = evidence.number(Gc, "pause_share_percent").filter(|now| 2.0 * now < before)?;
    let full = since.full_collections.filter(|full| *full > 0);
    let full = full.map(|full| format!(", {} of them full", format::count(full))).unwrap_or_default();
    let all = format::plural(since.collections?, "collection", "collections");
    let (was, is) = (format::percent(before), format::percent(now));
    Some(Fact { weight: before / PERCENT, text: format!("{all}{full} took {was} of the time; now {is}") })
}

fn throttling(evidence: &Evidence<'_>, since: &SinceStart, uptime_s: f64) -> Option<Fact> {
    const PERCENT: f64 = 2.0;
    let before = share(since.throttled_ns, uptime_s).filter(|before| *before > PERCENT)?;
    let now = 100.0 * evidence.number(Threads, "throttled_ns")? / evidence.span.duration_ns.max(1) as f64;
    let (was, is) = (format::percent(before), format::percent(now));
    (2.0 * now < before).then(|| Fact {
        weight: before / PERCENT,
        text: format!("the CPU limit of its control group kept threads from running for {was} of the time; now {is}"),
    })
}

fn faults(evidence: &Evidence<'_>, since: &SinceStart, uptime_s: f64) -> Option<Fact> {
    const LEAST: u64 = 10_000;
    const PER_S: f64 = 10.0;
    let faults = since.major_faults.filter(|faults| *faults >= LEAST)?;
    let before = faults as f64 / uptime_s;
    let now = evidence.per_second(Threads, "major_faults")?;
    (before > PER_S && 2.0 * now < before).then(|| Fact {
        weight: before / PER_S,
        text: format!("pages were read from a disk at {}; now at {}", format::rate(before), format::rate(now)),
    })
}

fn cpu(evidence: &Evidence<'_>, since: &SinceStart, uptime_s: f64) -> Option<Fact> {
    const OF_CPUS: f64 = 0.6;
    const A_QUARTER: f64 = 4.0;
    let before = since.cpu_ns? as f64 / 1e9 / uptime_s;
    let now = evidence.number(Threads, "cpus_used")?;
    let cpus = f64::from(evidence.target.cpus.max(1));
    (before > OF_CPUS * cpus && A_QUARTER * now < before).then(|| Fact {
        weight: before / (OF_CPUS * cpus),
        text: format!("it used {before:.1} of {cpus} CPUs on average; now {now:.1}"),
    })
}

fn threads(evidence: &Evidence<'_>, since: &SinceStart, _: f64) -> Option<Fact> {
    const MORE: u64 = 100;
    let (peak, now) = (since.threads_peak?, evidence.target.live_threads?);
    (peak >= now.saturating_mul(2) && peak >= now.saturating_add(MORE)).then(|| Fact {
        weight: peak as f64 / (2 * now.max(1)) as f64,
        text: format!("{} were alive at a time; now {}", format::plural(peak, "thread", "threads"), format::count(now)),
    })
}

fn churn(evidence: &Evidence<'_>, since: &SinceStart, uptime_s: f64) -> Option<Fact> {
    const PER_S: f64 = 5.0;
    let before = since.threads_started? as f64 / uptime_s;
    let now = evidence.per_second(Threads, "started")?;
    (before > PER_S && 2.0 * now < before).then(|| Fact {
        weight: before / PER_S,
        text: format!("threads were started at {}; now at {}", format::rate(before), format::rate(now)),
    })
}

fn memory(_: &Evidence<'_>, since: &SinceStart, _: f64) -> Option<Fact> {
    const MORE: u64 = 1 << 30;
    let (peak, now) = (since.resident_peak_bytes?, since.resident_bytes?);
    (peak >= now.saturating_mul(2) && peak >= now.saturating_add(MORE)).then(|| Fact {
        weight: peak as f64 / (2 * now.max(1)) as f64,
        text: format!("{} of its memory were in RAM at a time; now {}", format::bytes(peak), format::bytes(now)),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn case(uptime_s: u64, since: SinceStart) -> Case {
        let mut case = Case::seconds(10).number("gc", "pause_share_percent", 0.5).number("threads", "cpus_used", 0.1);
        case.target.uptime_s = uptime_s;
        case.target.live_threads = Some(40);
        case.target.since_start = Some(since);
        case
    }

    fn collected(ns: u64) -> SinceStart {
        SinceStart {
            collections: Some(2_412),
            full_collections: Some(212),
            collection_ns: Some(ns),
            threads_peak: Some(1_204),
            ..SinceStart::default()
        }
    }

    #[test]
    fn what_was_and_is_no_more_is_told_the_worst_first() {
        let finding = case(3600, collected(828_000_000_000)).ask(before).expect("a finding");
        assert_eq!(finding.severity, Severity::Info);
        assert_eq!(
            finding.title,
            "Before this session, in the 60 m 00 s since the JVM started: 1,204 threads were alive at a time; now 40"
        );
        assert_eq!(finding.evidence[0], "2,412 collections, 212 of them full took 23 % of the time; now 0.5 %");
    }

    #[test]
    fn what_goes_on_is_told_by_other_rules() {
        let same = case(3600, SinceStart { threads_peak: Some(50), ..collected(828_000_000_000) });
        assert!(same.number("gc", "pause_share_percent", 20.0).ask(before).is_none());
        assert!(case(30, collected(9_000_000_000)).ask(before).is_none(), "it still starts");
        assert!(case(3600, SinceStart::default()).ask(before).is_none(), "nothing is known");
        let quiet = SinceStart { threads_peak: Some(60), cpu_ns: Some(9_000_000_000), ..collected(1_000_000_000) };
        assert!(case(3600, quiet).ask(before).is_none());
    }

    #[test]
    fn a_cpu_that_was_busy_is_told() {
        let busy = SinceStart { cpu_ns: Some(3 * 3_600_000_000_000), ..SinceStart::default() };
        let title = case(3600, busy).said(before).1;
        assert!(title.ends_with("it used 3.0 of 4 CPUs on average; now 0.1"), "{title}");
    }
}
