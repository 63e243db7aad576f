//! Differences of made-up reports, with intervals worked out by hand.

use super::*;
use crate::{
    report::{Profile, ProfileStack, Shape, Summary, Unit},
    stack::{Frame, Kind},
    view::sample,
};

/// The sample with 60 s, and what a test makes of it.
fn report(change: impl FnOnce(&mut Report)) -> Report {
    let mut report = sample::report();
    report.span.duration_ns = 60_000_000_000;
    report.completeness = crate::report::Completeness::default();
    change(&mut report);
    report
}

fn with_figures(seconds: u64, summary: Summary) -> Report {
    report(|report| {
        report.span.duration_ns = seconds * 1_000_000_000;
        report.sections.truncate(1);
        report.sections[0].shapes.clear();
        report.sections[0].summary = summary;
    })
}

fn figures(before: &Report, after: &Report) -> Vec<(Word, Basis, f64, f64)> {
    let lenses = Diff::of(before, after).lenses;
    let all = lenses.into_iter().flat_map(|lens| lens.figures);
    all.map(|figure| (figure.key, figure.basis, figure.before, figure.after)).collect()
}

#[test]
fn a_report_does_not_differ_from_itself() {
    let report = report(|_| {});
    let diff = Diff::of(&report, &report);
    assert_eq!(diff.lenses, []);
    assert_eq!(diff.cautions, Vec::<String>::new());
    assert!(diff.findings.iter().all(|found| found.fate == Fate::Still), "{:?}", diff.findings);
    assert_eq!(diff.findings.len(), report.findings.len());
}

#[test]
fn amounts_are_compared_per_second_and_extremes_as_they_are() {
    let before =
        Summary::new().int("collections", 100).int("pause_total_ns", 1_000_000_000).int("pause_max_ns", 5_000_000);
    let after =
        Summary::new().int("collections", 400).int("pause_total_ns", 6_000_000_000).int("pause_max_ns", 5_000_000);
    let found = figures(&with_figures(10, before), &with_figures(20, after));
    assert_eq!(
        found,
        [("pause_total_ns", Basis::PercentOfTime, 10.0, 30.0), ("collections", Basis::PerSecond, 10.0, 20.0)],
        "the longest pause is the same"
    );
}

/// A flight recording says neither, and may be of the same machine.
#[test]
fn what_one_session_does_not_say_does_not_differ() {
    let before = sample::report();
    let mut after = before.clone();
    after.target.cpus = 0;
    after.target.collector.clear();
    after.target.max_heap_bytes = None;
    after.target.compiles_to_level = None;
    for [before, after] in [[&before, &after], [&after, &before]] {
        let cautions = Diff::of(before, after).cautions;
        assert!(!cautions.iter().any(|said| said.contains(" differ: ")), "{cautions:?}");
    }
}

#[test]
fn jvms_that_compile_otherwise_differ() {
    let before = sample::report();
    let mut after = before.clone();
    after.target.compiles_to_level = Some(1);
    let cautions = Diff::of(&before, &after).cautions;
    assert!(
        cautions.iter().any(|said| said == "the highest levels of compilation differ: 4 before, 1 after"),
        "{cautions:?}"
    );
}

#[test]
fn what_chance_makes_is_no_difference() {
    let with = |count| with_figures(10, Summary::new().int("collections", count));
    assert_eq!(figures(&with(10), &with(14)), [], "14 and 10 are 4 apart, and chance gives 9.6 of 20 times 1 more");
    assert_eq!(figures(&with(10), &with(40)).len(), 1);
    let lens = &Diff::of(&with(10), &with(40)).lenses[0];
    let interval = lens.figures[0].interval.expect("of a count");
    assert!((interval - 1.96 * 50_f64.sqrt() / 10.0).abs() < 1e-9, "{interval}");
}

/// What was seen in windows is a part of what happened: rates are those that the session estimates.
#[test]
fn what_was_seen_in_windows_is_compared_by_its_estimate_or_not_at_all() {
    let seen = Summary::new().int("contended_enters", 100).int("parks", 100).int("attached_percent", 10);
    let low = seen.float("extrapolated_contended_enters", 1000.0).float("extrapolated_low_contended_enters", 804.0);
    let part = with_figures(10, low.float("extrapolated_high_contended_enters", 1196.0));
    let whole = |count| with_figures(10, Summary::new().int("contended_enters", count).int("parks", 5000));
    assert_eq!(figures(&whole(1000), &part), [], "the same rate, and parks have no estimate");
    assert_eq!(figures(&whole(2000), &part), [("contended_enters", Basis::PerSecond, 200.0, 100.0)]);
    let diff = Diff::of(&whole(2000), &part);
    let interval = diff.lenses[0].figures[0].interval.expect("of counts");
    let expected = 1.96 * (2000.0 / 100.0 + (19.6_f64 / 1.96).powi(2)).sqrt();
    assert!((interval - expected).abs() < 1e-9, "{interval}, not {expected}");
    assert!(
        diff.cautions.iter().any(|said| said.contains("in windows: rates are its estimates")),
        "{:?}",
        diff.cautions
    );
}

#[test]
fn numbers_of_what_jtrace_itself_did_are_not_compared() {
    let with = |count| with_figures(10, Summary::new().int("looks", count).int("unwound_to_root", count));
    assert_eq!(figures(&with(10), &with(1000)), []);
}

#[test]
fn numbers_that_are_none_are_passed_over() {
    let with = |number| with_figures(10, Summary::new().float("pause_share_percent", number));
    assert_eq!(figures(&with(f64::NAN), &with(3.0)), []);
    assert_eq!(figures(&with_figures(0, Summary::new().int("waits", 1)), &with(3.0)), []);
}

fn finding(id: Word, title: &str) -> Finding {
    Finding {
        id,
        severity: Severity::Warning,
        score: 1.0,
        title: title.to_owned(),
        shown_in: "gc.causes",
        when: Vec::new(),
        evidence: Vec::new(),
        next_step: String::new(),
    }
}

#[test]
fn findings_are_the_same_whatever_their_numbers_are() {
    let with = |findings: Vec<Finding>| report(|report| report.findings = findings);
    let before = with(vec![finding("gc-share", "GC took 12.5 % (1.2 s)"), finding("locks", "Cart is held by a")]);
    let after = with(vec![finding("locks", "Order is held by a"), finding("gc-share", "GC took 31 % (870 ms)")]);
    let found = Diff::of(&before, &after).findings;
    let told: Vec<_> = found.iter().map(|found| (found.fate, &*found.title, found.was.as_deref())).collect();
    assert_eq!(
        told,
        [
            (Fate::New, "Order is held by a", None),
            (Fate::Gone, "Cart is held by a", None),
            (Fate::Still, "GC took 31 % (870 ms)", Some("GC took 12.5 % (1.2 s)")),
        ]
    );
}

/// A lens that a session did not have says nothing of what is new or gone.
#[test]
fn a_finding_that_the_other_session_could_not_have_is_neither_new_nor_gone() {
    let with = report(|report| report.findings = vec![finding("gc-share", "GC took 31 %")]);
    let without = report(|report| {
        report.findings.clear();
        report.sections.retain(|section| section.id != "gc");
    });
    let fates = |before: &Report, after: &Report| {
        Diff::of(before, after).findings.iter().map(|found| found.fate).collect::<Vec<_>>()
    };
    assert_eq!(fates(&with, &without), [Fate::OnlyBefore]);
    assert_eq!(fates(&without, &with), [Fate::OnlyAfter]);
    let looked = report(|report| report.findings.clear());
    assert_eq!((fates(&with, &looked), fates(&looked, &with)), (vec![Fate::Gone], vec![Fate::New]));
    assert_eq!(serde_json::to_value(Fate::OnlyBefore).unwrap(), "only-before");
}

#[test]
fn a_rate_or_share_of_what_is_compared_is_not_compared_again() {
    let with = |total: u64| {
        let summary = Summary::new().int("estimated_bytes", total).float("estimated_bytes_per_s", total as f64 / 10.0);
        let summary = summary.int("pause_total_ns", total).float("pause_share_percent", total as f64);
        with_figures(10, summary.float("pause_other_percent", total as f64))
    };
    let keys: Vec<_> = figures(&with(1000), &with(3000)).into_iter().map(|(key, ..)| key).collect();
    assert_eq!(keys, ["estimated_bytes", "pause_other_percent", "pause_total_ns"]);
}

#[test]
fn what_makes_sessions_unlike_is_said() {
    let before = report(|_| {});
    let after = report(|report| {
        report.target.jvm_version = "25+36".to_owned();
        report.span.duration_ns = 2_000_000_000;
        report.sections.pop();
    });
    let said = Diff::of(&before, &after).cautions.join("\n");
    assert!(!said.contains("older"), "{said}");
    let older = report(|report| report.span.started_at_ms -= 1);
    assert_eq!(
        Diff::of(&before, &older).cautions,
        ["the second session is the older one: what is new there was gone later"]
    );
    for word in ["JVMs differ", "25+36 after", "second session lasted 2.0 s only", "only the first session has"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

fn profile(stacks: &[(&str, u64)]) -> Profile {
    let mut frames = vec![Frame::named(Kind::Native, "futex_wait")];
    frames.extend(stacks.iter().map(|(name, _)| Frame::named(Kind::Compiled, *name)));
    let stacks = (1..).zip(stacks).map(|(index, (_, count))| ProfileStack {
        frames: vec![index, 0],
        thread: None,
        value: *count,
        count: *count,
        cut: String::new(),
    });
    let stacks = stacks.collect();
    Profile {
        id: "stacks",
        title: "stacks".to_owned(),
        unit: Unit::Count,
        contexts: false,
        frames,
        threads: Vec::new(),
        stacks,
        steps: None,
    }
}

#[test]
fn methods_that_have_more_are_named_by_their_innermost_java_frame() {
    let with = |stacks: &[(&str, u64)]| {
        let mut report = with_figures(10, Summary::new());
        report.sections[0].shapes = vec![Shape::Profile(profile(stacks))];
        report
    };
    let before = with(&[("Cart.add", 100), ("Cart.price", 100), ("L$$Lambda/0x7f01.run", 50)]);
    let after = with(&[("Cart.add", 300), ("Cart.price", 104), ("L$$Lambda/0x8f02.run", 50), ("Cart.tax", 40)]);
    let lenses = Diff::of(&before, &after).lenses;
    let moved: Vec<_> =
        lenses[0].profiles[0].moved.iter().map(|moved| (&*moved.method, moved.before, moved.after)).collect();
    assert_eq!(moved, [("Cart.add", 10.0, 30.0), ("Cart.tax", 0.0, 4.0)]);
    let interval = lenses[0].profiles[0].moved[0].interval;
    assert!((interval - 1.96 * 400_f64.sqrt() / 10.0).abs() < 1e-9, "{interval}");
}
