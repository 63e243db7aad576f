//! Estimates from windows of known rates.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and counts of made-up sessions are positive and small"
)]

mod woven;

use super::{group::Hits, sample::Estimate, *};
use crate::report::Summary;

const S: u64 = 1_000_000_000;

fn action(time_ns: u64, action: GuardDecision) -> GuardAction {
    let reason = GuardReason {
        cost_ppm: 240_000,
        budget_ppm: 50_000,
        target_ppm: 0,
        own: false,
        off_ppm: None,
        within_ns: 30_000_000,
    };
    GuardAction {
        time_ns,
        group: "methods".to_owned(),
        sites: vec![1],
        lens: Lens::Methods,
        action,
        pause_ns: None,
        reason: (action != GuardDecision::Attach).then_some(reason),
    }
}

const DETACH: GuardDecision = GuardDecision::Detach { rate_per_s: 400_000 };

fn numbers(seen: u64) -> Vec<(Lens, Scaled)> {
    vec![(Lens::Methods, Scaled::calls(seen))]
}

/// A window of a group of methods: when it begins, what it is taken to stand for, how long and how many calls are noted of it, and
/// how long and how many calls it is in all.
#[derive(Clone, Copy)]
struct Window {
    at_ms: u64,
    pause_ms: u64,
    look: (u64, u64),
    whole: (u64, u64),
}

const MS: u64 = 1_000_000;

/// A group that goes first at 1 s, with 1,000 calls, and has these windows.
fn played(windows: &[Window]) -> (Governed, u64) {
    let mut governed = Governed::default();
    governed.take(&action(S, DETACH), 0, &numbers(1_000));
    let mut seen = 1_000;
    for Window { at_ms, pause_ms, look, whole } in windows {
        let back = GuardAction { pause_ns: Some(pause_ms * MS), ..action(at_ms * MS, GuardDecision::Attach) };
        governed.take(&back, 0, &numbers(seen));
        governed.take(&action((at_ms + look.0) * MS, GuardDecision::Look), 0, &numbers(seen + look.1));
        seen += whole.1;
        governed.take(&action((at_ms + whole.0) * MS, DETACH), 0, &numbers(seen));
    }
    (governed, seen)
}

/// Windows of 0.1 s, of which the first 50 ms are noted, one a second, with these calls, half of them at first.
fn windows(calls: &[u64]) -> (Governed, u64) {
    let window = |(at, calls): (u64, &u64)| Window {
        at_ms: at * 1000 - 100,
        pause_ms: 900,
        look: (50, calls / 2),
        whole: (100, *calls),
    };
    played(&(2..).zip(calls).map(window).collect::<Vec<_>>())
}

fn of(numbers: &[Scaled], end_ns: u64) -> Of<'_> {
    let lens = if numbers.first().is_some_and(|number| number.key == "events") { Lens::Markers } else { Lens::Methods };
    Of { lens, span: (0, end_ns), hits: Hits::default(), numbers }
}

fn estimate(governed: &Governed, end_ns: u64, seen: u64) -> Option<Estimate> {
    governed.groups[0].estimates(Lens::Methods, end_ns, Hits::default(), &[Scaled::calls(seen)])[0].1
}

/// Low, about and high, with all that differs from these by less than a hundredth.
#[track_caller]
fn is_about(estimate: Option<Estimate>, [low, about, high]: [u64; 3]) {
    let found = estimate.expect("there are enough windows");
    let near = |a: u64, b: u64| a.abs_diff(b) * 100 <= b;
    assert!(near(found.value, about) && near(found.low, low) && near(found.high, high), "{found:?}");
}

#[test]
fn windows_that_agree_know_the_whole_exactly() {
    let (governed, seen) = windows(&[500; 6]);
    // 1,000 in the first second, then 5,000 a second for 6; but the part that was seen whole had 1,000 a second, which may
    // come again unseen.
    let found = estimate(&governed, 7 * S, seen).expect("six windows");
    assert_eq!((found.value, found.high), (31_000, 31_000 + found.high - found.value));
    assert!(found.low < found.value && found.low > 16_000, "{found:?}");
}

#[test]
fn what_is_seen_is_known_and_only_the_rest_is_estimated() {
    let (governed, _) = windows(&[500; 6]);
    // Nothing was away but 5.4 s, of 5,000 calls a second.
    assert_eq!(governed.groups[0].away_ns + governed.groups[0].attached_ns, 7 * S);
    let (whole, seen) = windows(&[500; 6]);
    is_about(estimate(&whole, 7 * S, seen).map(|found| Estimate { low: 0, high: 0, ..found }), [0, 31_000, 0]);
}

/// By hand: pauses of 1 and 3 s, with 1,000 and 2,000 calls a second behind them, are 7,000 calls of 4 s.
#[test]
fn a_window_stands_for_the_pause_before_it() {
    let window = |at_ms, pause_ms, calls| Window { at_ms, pause_ms, look: (100, calls), whole: (200, 2 * calls) };
    let (governed, seen) = played(&[
        window(2_000, 1_000, 100),
        window(5_200, 3_000, 200),
        window(6_400, 1_000, 100),
        window(9_600, 3_000, 200),
        window(10_800, 1_000, 100),
        window(14_000, 3_000, 200),
    ]);
    let away_s = 14.0 - 1.0 - 5.0 * 0.2;
    let about = seen as f64 + away_s * 7_000.0 / 4.0;
    let found = estimate(&governed, 14_200 * MS, seen).expect("six windows");
    assert!((found.value as f64 - about).abs() < 1.0, "{found:?}, not {about}");
}

/// A window that ends because much happens in it is short; what it began with counts, and not how it ended.
#[test]
fn what_ends_a_window_is_no_sample() {
    let window = |at: u64| Window { at_ms: at * 1000, pause_ms: 800, look: (50, 0), whole: (200, 50_000) };
    let (governed, seen) = played(&(2..9).map(window).collect::<Vec<_>>());
    let found = estimate(&governed, 9 * S, seen).expect("seven windows");
    // Nobody saw that anything happens while it is away, and nobody can exclude that it does.
    assert_eq!(found.value, seen);
    assert!(found.low == seen && found.high > 2 * seen, "{found:?}");
}

#[test]
fn windows_that_differ_know_the_whole_less_well() {
    let width = |calls: &[u64]| {
        let (governed, seen) = windows(calls);
        let found = estimate(&governed, 9 * S, seen).expect("enough windows");
        assert_eq!(found.value, 1_000 + 5_000 * 8, "{found:?}");
        assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
        found.high - found.low
    };
    let (same, little, much) = (width(&[500; 8]), width(&[450, 550].repeat(4)), width(&[100, 900].repeat(4)));
    assert!(same < little && little < much, "{same} {little} {much}");
}

/// The same at the end of windows in which traps took so much.
fn slowed(target_ppm: u64) -> Option<Estimate> {
    let mut governed = Governed::default();
    for at in 1..=7 {
        let mut goes = action(at * S, DETACH);
        goes.reason = goes.reason.map(|reason| GuardReason { target_ppm, ..reason });
        governed.take(&goes, 0, &numbers(at * 1_000));
        governed.take(&action(at * S + S / 2, GuardDecision::Attach), 0, &numbers(at * 1_000));
    }
    estimate(&governed, 7 * S + S / 2, 7_000)
}

#[test]
fn what_traps_slow_down_widens_the_interval_upwards() {
    // 2,000 a second in windows, of which 3.5 s were seen; 1,000 in the first second.
    let plain = slowed(0).expect("six windows");
    assert_eq!(plain.value, 14_000);
    // 20 % of a core, with what programs take 30 %.
    let widened = slowed(200_000).expect("six windows");
    assert_eq!((widened.value, widened.low), (plain.value, plain.low));
    let away = |high: u64| (high - 7_000) as f64;
    assert!((away(widened.high) - away(plain.high) / 0.7).abs() < 2.0, "{plain:?} {widened:?}");
    assert_eq!(slowed(400_000), None);
}

#[test]
fn few_windows_estimate_nothing() {
    let (governed, seen) = windows(&[500; 4]);
    assert_eq!(estimate(&governed, 5 * S, seen), None);
    let calls = [Scaled::calls(seen)];
    let notes = governed.groups[0].notes(of(&calls, 5 * S));
    assert!(notes[0].starts_with("3000 calls were seen; how many"), "{notes:?}");
    assert_eq!(governed.groups[0].summary(of(&calls, 5 * S)), Summary::new());
}

#[test]
fn what_the_programs_refused_is_no_sample() {
    let (governed, seen) = windows(&[450, 550].repeat(4));
    let calls = [Scaled::calls(seen)];
    let said = |refused| {
        let of = Of { hits: Hits { all: 10_000, refused }, ..of(&calls, 9 * S) };
        governed.groups[0].notes(of).remove(0)
    };
    assert!(said(100).contains("there were about 41000 calls"), "{}", said(100));
    assert!(said(101).contains("is not estimated: the programs refused 101 of 10000 hits"), "{}", said(101));
}

#[test]
fn an_estimate_is_said_with_its_interval() {
    let (governed, seen) = windows(&[450, 550].repeat(4));
    let calls = [Scaled::calls(seen)];
    let notes = governed.groups[0].notes(of(&calls, 9 * S));
    assert!(notes[0].contains("over the whole span there were about 41000 calls (95 %: "), "{notes:?}");
    let summary = governed.groups[0].summary(of(&calls, 9 * S));
    let keys = ["extrapolated_low_calls", "extrapolated_calls", "extrapolated_high_calls"];
    let [low, about, high] = keys.map(|key| summary.get(key).expect("an estimate").as_f64());
    assert!(low < about && about < high && (about - 41_000.0).abs() < 1.0, "{low} {about} {high}");
    let rows = governed.groups[0].rows(of(&calls, 9 * S));
    assert_eq!(rows[0][5..], [seen, 41_000, low as u64, high as u64].map(Cell::Int));
}

#[test]
fn a_window_that_is_still_open_counts() {
    let (mut governed, seen) = windows(&[500; 4]);
    let back = GuardAction { pause_ns: Some(S), ..action(6 * S, GuardDecision::Attach) };
    governed.take(&back, 0, &numbers(seen));
    assert_eq!(estimate(&governed, 6 * S + 10 * MS, seen + 50), None);
    let found = estimate(&governed, 61 * S / 10, seen + 500).expect("five windows");
    assert_eq!(found.value, 1_000 + 5_000 * 51 / 10);
}

#[test]
fn what_was_stopped_is_estimated_until_then_only() {
    let (mut governed, seen) = windows(&[500; 5]);
    let back = GuardAction { pause_ns: Some(S), ..action(7 * S, GuardDecision::Attach) };
    governed.take(&back, 0, &numbers(seen));
    let stop = GuardDecision::Stop { rate_per_s: 9_000_000 };
    governed.take(&action(71 * S / 10, stop), 0, &numbers(seen + 500));
    assert_eq!(estimate(&governed, 1_000 * S, seen + 500).map(|found| found.value), Some(1_000 + 5_000 * 61 / 10));
    let sentences = governed.sentences(0, 1_000 * S);
    assert!(sentences[0].contains("for good after 7.10 s"), "{sentences:?}");
    assert_eq!(governed.groups()[0].state(), "stopped by the rate guard");
}

/// Recordings of earlier versions have neither a look nor the length that a pause was to have.
#[test]
fn windows_of_earlier_versions_stand_for_the_pause_that_they_had() {
    let mut governed = Governed::default();
    governed.take(&action(S, DETACH), 0, &numbers(1_000));
    for at in 2..8 {
        governed.take(&action(at * S - S / 10, GuardDecision::Attach), 0, &numbers(1_000 + (at - 2) * 500));
        governed.take(&action(at * S, DETACH), 0, &numbers(1_000 + (at - 1) * 500));
    }
    assert_eq!(estimate(&governed, 7 * S, 4_000).map(|found| found.value), Some(31_000));
}

#[test]
fn coverage_adds_up_over_windows() {
    let mut governed = Governed::default();
    governed.take(&action(100, DETACH), 0, &[]);
    governed.take(&action(500, GuardDecision::Attach), 0, &[]);
    governed.take(&action(550, GuardDecision::Detach { rate_per_s: 300_000 }), 0, &[]);
    let sentence = &governed.sentences(0, 1000)[0];
    assert!(sentence.contains("400000 times a second") && sentence.contains("15.0 %"), "{sentence}");
    assert!(sentence.starts_with('`') && sentence.find("15.0 %") < sentence.find("400000"), "{sentence}");
    assert!(sentence.contains("24.0 % of a core") && sentence.contains("in 2 windows"), "{sentence}");
}

#[test]
fn narrowing_is_said_and_takes_nothing_away() {
    let mut governed = Governed::default();
    let narrow = GuardDecision::Narrow { what: Narrowing::Times, rate_per_s: 120_000 };
    governed.take(&action(2 * S, narrow), 0, &numbers(1_000));
    let group = &governed.groups()[0];
    assert_eq!(group.state(), "narrowed by the rate guard");
    assert_eq!(group.summary(of(&[Scaled::calls(5_000)], 9 * S)), Summary::new());
    let sentences = governed.sentences(0, 9 * S);
    assert!(sentences.len() == 1 && sentences[0].contains("from 2.00 s on only beginnings"), "{sentences:?}");
    let decision = &governed.decisions()[0];
    assert_eq!((decision.at_ns, decision.action, decision.within_ns), (2 * S, "without_times", Some(30_000_000)));
    assert_eq!((decision.cost_percent, decision.budget_percent), (Some(24.0), Some(5.0)));
}

#[test]
fn a_report_names_so_many_decisions() {
    let (governed, _) = windows(&[1; 150]);
    assert_eq!(governed.decisions().len(), MAX_DECISIONS);
    assert!(governed.sentences(0, 200 * S).iter().any(|sentence| sentence.starts_with("101 further")));
}
