//! The sentences that every view for people says at its head: what was looked at, what it cost, how complete it is.
//!
//! They are not escaped: the caller does that for its medium.

use std::fmt::Write as _;

use super::format;
use crate::{
    item::Target,
    report::{Completeness, Cost, Finding, Report, Span, Stretch},
};

/// How much a report's completeness may worry its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is missing.
    Clean,
    /// Something is missing, and it is said what.
    Gaps,
    /// The numbers contradict each other.
    Wrong,
}

/// What other programs' files say of a session as text: the JVM, the cost, and how complete it is.
pub fn head(report: &Report) -> Vec<String> {
    let Report { target: jvm, cost: spent, completeness: whole, .. } = report;
    let (equation, _) = completeness(whole);
    let head = [target(jvm), cost(jvm, spent), equation];
    head.into_iter().chain(whole.missing.iter().cloned()).collect()
}

/// The JVM in one sentence.
pub(super) fn target(target: &Target) -> String {
    let mut parts = Vec::new();
    if target.jvm_version.is_empty() {
        parts.push("JDK unknown".to_owned());
    } else {
        parts.push(format!("JDK {} ({})", target.jvm_version, target.jvm_name));
    }
    if !target.collector.is_empty() {
        parts.push(target.collector.clone());
    }
    if let Some(bytes) = target.max_heap_bytes {
        parts.push(format!("heap up to {}", format::bytes(bytes as f64)));
    }
    match target.compiles_to_level {
        Some(0) => parts.push("no compiler".to_owned()),
        Some(1..=3) => parts.push("no C2".to_owned()),
        Some(_) | None => {}
    }
    // A JVM that jtrace starts has none yet, and is not up.
    if let Some(threads) = target.live_threads.filter(|threads| *threads > 0) {
        parts.push(format!("{} threads", format::count(threads)));
    }
    // A file of another recorder need not say either.
    if target.cpus > 0 {
        parts.push(format!("{} CPUs", target.cpus));
    }
    if !target.user.is_empty() {
        parts.push(format!("user {}", target.user));
    }
    if target.uptime_s > 0 {
        parts.push(format!("up {}", format::duration(target.uptime_s as f64 * 1e9)));
    }
    if target.container {
        parts.push(format!("in a container (pid {} inside)", target.namespace_pid));
    }
    parts.join(", ")
}

/// The cost in one sentence.
pub(super) fn cost(target: &Target, cost: &Cost) -> String {
    if let Some(recorder) = &target.recorder {
        return format!("cost: not known: the events come from a file ({})", recorder.name);
    }
    let Cost { traps, trap_cost_ns, stack_ns, inside_events, inside_ns, target_cpu_percent, own_cpu_percent, .. } =
        cost;
    let mut line = format!("cost: {} traps", format::count(*traps));
    match (trap_cost_ns, target_cpu_percent) {
        (Some(ns), Some(percent)) => {
            _ = write!(line, " x {:.2} us", ns / 1e3);
            if let Some(most) = cost.trap_cost_max_ns {
                _ = write!(line, " (up to {:.2})", most / 1e3);
            }
            if let Some(ns) = stack_ns.filter(|&ns| ns > 0) {
                _ = write!(line, " + {} of stacks", format::duration(ns as f64));
            }
            if let Some((events, ns)) = inside_events.zip(*inside_ns).filter(|(events, _)| *events > 0) {
                let (events, time) = (format::count(events), format::duration(ns as f64));
                _ = write!(line, " + {time} of {events} marks");
            }
            _ = write!(line, " = {} of one core", format::percent(*percent));
        }
        (None, _) | (_, None) => line += " (a trap's cost was not calibrated)",
    }
    if let (Some(ns), Some(runs)) = (cost.program_ns, cost.program_runs) {
        let mean_us = ns as f64 / 1e3 / runs.max(1) as f64;
        _ = write!(line, "; {} program runs of {mean_us:.2} us", format::count(runs));
    }
    let (memory, attach) = (format::bytes(cost.own_memory_bytes as f64), format::duration(cost.attach_ns as f64));
    line + &format!("; jtrace itself {} CPU, {memory}; attached in {attach}", format::percent(*own_cpu_percent))
}

/// How complete a report is that may be of a session that goes on: its counters may have been read later than its records, of which the
/// last ones are then on their way.
pub(super) fn completeness_so_far(report: &Report) -> (String, State) {
    let Report { completeness: whole, span, .. } = report;
    let ahead = whole.emitted.saturating_sub(whole.delivered.saturating_add(whole.lost));
    equation(whole, if span.end == RUNNING { ahead } else { 0 })
}

/// Why a session has no end yet.
const RUNNING: &str = "running";

/// How complete the report is, in one sentence.
pub(super) fn completeness(completeness: &Completeness) -> (String, State) {
    equation(completeness, 0)
}

fn equation(completeness: &Completeness, on_their_way: u64) -> (String, State) {
    let Completeness {
        emitted,
        delivered,
        lost,
        refused,
        undecodable,
        unreadable,
        definitions_lost,
        sites: _,
        missing,
        decisions: _,
    } = completeness;
    let rest = [
        (refused, "refused"),
        (undecodable, "undecodable"),
        (unreadable, "values unreadable"),
        (definitions_lost, "definitions lost"),
    ];
    let accounted = delivered.saturating_add(*lost).saturating_add(on_their_way);
    let is_whole = *lost == 0 && rest.iter().all(|(number, _)| **number == 0) && missing.is_empty();
    let is_clean = is_whole && *emitted == accounted;
    let word = if is_clean { "complete" } else { "incomplete" };
    let (emitted_text, delivered_text) = (format::count(*emitted), format::count(*delivered));
    let mut line =
        format!("{word}: {emitted_text} emitted = {delivered_text} delivered + {} lost", format::count(*lost));
    if on_their_way > 0 {
        _ = write!(line, " + {} on their way", format::count(on_their_way));
    }
    for (number, what) in rest.iter().filter(|(number, _)| **number > 0) {
        _ = write!(line, ", {} {what}", format::count(**number));
    }
    if *emitted != accounted {
        let difference = format::count(emitted.abs_diff(accounted));
        let direction = if *emitted > accounted { "unaccounted for" } else { "too many" };
        line = format!("{}; {difference} {direction}", line.replace(" = ", " != "));
        return (line, State::Wrong);
    }
    (line, if is_clean { State::Clean } else { State::Gaps })
}

/// Stretches of a finding that a sentence names.
const STRETCHES: usize = 3;

/// When a finding held, since the start of the span and by the clock; nothing where that is not known.
pub(super) fn when(finding: &Finding, span: &Span) -> Option<String> {
    let Finding { when, .. } = finding;
    let (first, last) = (when.first()?, when.last()?);
    if when.len() == 1 && first.from_ns == 0 && first.to_ns >= span.duration_ns {
        return Some("all the time".to_owned());
    }
    let clock = |since_ns: u64| {
        let wall = format::wall_clock(span.started_at_ms.saturating_add(since_ns / 1_000_000));
        wall.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let seconds = |ns: u64| format!("{:.1}", ns as f64 / 1e9);
    let named: Vec<_> = when
        .iter()
        .take(STRETCHES)
        .map(|Stretch { from_ns, to_ns }| format!("{} to {} s", seconds(*from_ns), seconds(*to_ns)))
        .collect();
    let more = match when.len().saturating_sub(STRETCHES) {
        0 => String::new(),
        1 => ", and once more".to_owned(),
        more => format!(", and {more} times more"),
    };
    Some(format!("{}{more} ({} to {} UTC)", named.join(", "), clock(first.from_ns), clock(last.to_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_said_since_the_start_and_by_the_clock() {
        let span = Span { duration_ns: 60_000_000_000, started_at_ms: 3_600_000, ..Span::default() };
        let mut finding = crate::view::sample::report().findings.remove(0);
        let mut said = |seconds: &[(u64, u64)]| {
            let stretch = |(from, to): &(u64, u64)| Stretch { from_ns: from * 100_000_000, to_ns: to * 100_000_000 };
            finding.when = seconds.iter().map(stretch).collect();
            when(&finding, &span)
        };
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[(0, 600)]).as_deref(), Some("all the time"));
        assert_eq!(said(&[(31, 77)]).as_deref(), Some("3.1 to 7.7 s (01:00:03 to 01:00:07 UTC)"));
        assert_eq!(
            said(&[(0, 10), (20, 30), (40, 50), (60, 70), (80, 600)]).as_deref(),
            Some("0.0 to 1.0 s, 2.0 to 3.0 s, 4.0 to 5.0 s, and 2 times more (01:00:00 to 01:01:00 UTC)")
        );
        let once = said(&[(0, 10), (20, 30), (40, 50), (60, 70)]).unwrap();
        assert!(once.contains("4.0 to 5.0 s, and once more ("), "{once}");
    }

    #[test]
    fn a_jvm_that_has_just_begun_is_not_said_to_have_no_threads() {
        let mut jvm = Target { user: "app".to_owned(), live_threads: Some(0), cpus: 2, ..Target::default() };
        assert_eq!(target(&jvm), "JDK unknown, 2 CPUs, user app");
        (jvm.live_threads, jvm.uptime_s) = (Some(9), 45);
        assert_eq!(target(&jvm), "JDK unknown, 9 threads, 2 CPUs, user app, up 45.0 s");
        jvm.compiles_to_level = Some(1);
        assert_eq!(target(&jvm), "JDK unknown, no C2, 9 threads, 2 CPUs, user app, up 45.0 s");
    }

    #[test]
    fn the_cost_of_marks_is_part_of_the_sentence_where_marks_were_made() {
        let cost = |events, ns| Cost {
            traps: 1_000,
            trap_cost_ns: Some(1_500.0),
            target_cpu_percent: Some(2.0),
            inside_events: events,
            inside_ns: ns,
            ..Cost::default()
        };
        let line = super::cost(&Target::default(), &cost(Some(2_000_000), Some(40_000_000)));
        let expected = "cost: 1,000 traps x 1.50 us + 40 ms of 2,000,000 marks = 2.0 % of one core";
        assert!(line.starts_with(expected), "{line}");
        for (events, ns) in [(Some(0), Some(0)), (Some(5), None), (None, None)] {
            let line = super::cost(&Target::default(), &cost(events, ns));
            assert!(
                line.starts_with("cost: 1,000 traps x 1.50 us = 2.0 % of one core") && !line.contains("marks"),
                "{line}"
            );
        }
    }

    /// The counters of a session that goes on are read beside its records. Those that they are ahead of come with the next look.
    #[test]
    fn records_of_a_running_session_are_on_their_way() {
        let mut report = crate::view::sample::report();
        report.completeness = Completeness { emitted: 10, delivered: 7, lost: 0, ..Completeness::default() };
        assert_eq!(completeness_so_far(&report).1, State::Wrong, "the session has ended");
        report.span.end = "running".to_owned();
        let said = completeness_so_far(&report);
        assert_eq!(said, ("complete: 10 emitted = 7 delivered + 0 lost + 3 on their way".to_owned(), State::Clean));
        report.completeness.delivered = 11;
        let (line, state) = completeness_so_far(&report);
        assert!(state == State::Wrong && line.ends_with("1 too many"), "{line}");
    }

    #[test]
    fn equation_that_does_not_hold_is_not_hidden() {
        let completeness = Completeness { emitted: 10, delivered: 7, lost: 1, ..Completeness::default() };
        let (line, state) = super::completeness(&completeness);
        assert_eq!(line, "incomplete: 10 emitted != 7 delivered + 1 lost; 2 unaccounted for");
        assert_eq!(state, State::Wrong);
        let said = super::completeness(&Completeness { lost: 0, ..completeness });
        let line = "incomplete: 10 emitted != 7 delivered + 0 lost; 3 unaccounted for";
        assert_eq!(said, (line.to_owned(), State::Wrong), "although nothing is known to be lost");
    }
}
