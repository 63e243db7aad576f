//! Estimates from windows of known rates.

use super::*;

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
        reason: (action != GuardDecision::Attach).then_some(reason),
    }
}

const DETACH: GuardDecision = GuardDecision::Detach { rate_per_s: 400_000 };

fn numbers(seen: u64) -> Vec<(Lens, Scaled)> {
    vec![(Lens::Methods, Scaled::calls(seen))]
}

/// A group that goes first at 1 s, with 1,000 calls, and is attached in windows of 0.1 s, one a second, with these calls.
fn windows(calls: &[u64]) -> (Governed, u64) {
    let mut governed = Governed::default();
    governed.take(&action(S, DETACH), 0, numbers(1_000));
    let mut seen = 1_000;
    for (at, calls) in (2..).zip(calls) {
        governed.take(&action(at * S - S / 10, GuardDecision::Attach), 0, numbers(seen));
        seen += calls;
        governed.take(&action(at * S, DETACH), 0, numbers(seen));
    }
    (governed, seen)
}

fn estimate(governed: &Governed, end_ns: u64, seen: u64) -> Option<Estimate> {
    governed.groups()[0].estimates(Lens::Methods, end_ns, &[Scaled::calls(seen)])[0].1
}

#[test]
fn equal_windows_know_the_whole_exactly() {
    let (governed, seen) = windows(&[500; 5]);
    // 1,000 in the first second, then 5,000 a second for 5.
    let expected = Estimate { value: 26_000, low: 26_000, high: 26_000, windows: 5 };
    assert_eq!(estimate(&governed, 6 * S, seen), Some(expected));
}

#[test]
fn windows_that_differ_know_it_less_well() {
    let (governed, seen) = windows(&[400, 500, 600]);
    // Rate 5,000 a second over 3 seconds; the residuals are -100, 0, 100, so by hand:
    // 10 * sqrt(0.9 * 20,000 * 3 / 2) * 4.303 = 7070.5.
    let expected = Estimate { value: 16_000, low: 8_929, high: 23_071, windows: 3 };
    assert_eq!(estimate(&governed, 4 * S, seen), Some(expected));
}

#[test]
fn windows_of_different_lengths_count_by_their_time() {
    let mut governed = Governed::default();
    governed.take(&action(S, DETACH), 0, numbers(0));
    let mut seen = 0;
    for (begin, end) in [(20, 21), (30, 32), (40, 44)] {
        governed.take(&action(begin * S / 10, GuardDecision::Attach), 0, numbers(seen));
        seen += (end - begin) * 100;
        governed.take(&action(end * S / 10, DETACH), 0, numbers(seen));
    }
    let expected = Estimate { value: 9_000, low: 9_000, high: 9_000, windows: 3 };
    assert_eq!(estimate(&governed, 10 * S, seen), Some(expected));
}

/// The same at the end of windows in which traps took so much.
fn slowed(target_ppm: u64) -> Option<Estimate> {
    let mut governed = Governed::default();
    for at in 1..=4 {
        let mut goes = action(at * S, DETACH);
        goes.reason = goes.reason.map(|reason| GuardReason { target_ppm, ..reason });
        governed.take(&goes, 0, numbers(at * 1_000));
        governed.take(&action(at * S + S / 2, GuardDecision::Attach), 0, numbers(at * 1_000));
    }
    estimate(&governed, 4 * S + S / 2, 4_000)
}

#[test]
fn what_traps_slow_down_widens_the_interval_upwards() {
    // 1,000, then 2,000 a second for 3.5 s.
    assert_eq!(slowed(0), Some(Estimate { value: 8_000, low: 8_000, high: 8_000, windows: 3 }));
    // 20 % of a core, with what programs take 30 %.
    assert_eq!(slowed(200_000), Some(Estimate { value: 8_000, low: 8_000, high: 11_000, windows: 3 }));
    assert_eq!(slowed(400_000), None);
}

#[test]
fn two_windows_estimate_nothing() {
    let (governed, seen) = windows(&[500, 500]);
    assert_eq!(estimate(&governed, 3 * S, seen), None);
    let notes = governed.groups()[0].notes(Lens::Methods, 3 * S, &[Scaled::calls(seen)]);
    assert!(notes[0].starts_with("2000 calls were seen; how many"), "{notes:?}");
    let summary = governed.groups()[0].summary(Lens::Methods, (0, 3 * S), &[Scaled::calls(seen)]);
    assert_eq!(summary.get("extrapolated_calls"), None);
    // The first second, and two tenths.
    assert!(summary.get("attached_percent").is_some_and(|share| (share.as_f64() - 40.0).abs() < 1e-9));
}

#[test]
fn a_window_that_is_still_open_counts() {
    let (mut governed, seen) = windows(&[500, 500]);
    governed.take(&action(4 * S, GuardDecision::Attach), 0, numbers(seen));
    let expected = Estimate { value: 1_000 + 5_000 * 31 / 10, low: 16_500, high: 16_500, windows: 3 };
    assert_eq!(estimate(&governed, 41 * S / 10, seen + 500), Some(expected));
}

#[test]
fn what_was_stopped_is_estimated_until_then_only() {
    let (mut governed, seen) = windows(&[500; 3]);
    governed.take(&action(5 * S, GuardDecision::Attach), 0, numbers(seen));
    let stop = GuardDecision::Stop { rate_per_s: 9_000_000 };
    governed.take(&action(51 * S / 10, stop), 0, numbers(seen + 500));
    let expected = Estimate { value: 1_000 + 5_000 * 41 / 10, low: 21_500, high: 21_500, windows: 4 };
    assert_eq!(estimate(&governed, 1_000 * S, seen + 500), Some(expected));
    let sentences = governed.sentences(0, 1_000 * S);
    assert!(sentences[0].contains("for good after 5.10 s"), "{sentences:?}");
    assert_eq!(governed.groups()[0].state(), "stopped by the rate guard");
}

#[test]
fn coverage_adds_up_over_windows() {
    let mut governed = Governed::default();
    governed.take(&action(100, DETACH), 0, Vec::new());
    governed.take(&action(500, GuardDecision::Attach), 0, Vec::new());
    governed.take(&action(550, GuardDecision::Detach { rate_per_s: 300_000 }), 0, Vec::new());
    let sentence = &governed.sentences(0, 1000)[0];
    assert!(sentence.contains("400000 times a second") && sentence.contains("15.0 %"), "{sentence}");
    assert!(sentence.contains("24.0 % of a core") && sentence.contains("in 2 windows"), "{sentence}");
}

#[test]
fn narrowing_is_said_and_takes_nothing_away() {
    let mut governed = Governed::default();
    let narrow = GuardDecision::Narrow { what: Narrowing::Times, rate_per_s: 120_000 };
    governed.take(&action(2 * S, narrow), 0, numbers(1_000));
    let group = &governed.groups()[0];
    assert_eq!(group.state(), "narrowed by the rate guard");
    assert_eq!(group.summary(Lens::Methods, (0, 9 * S), &[Scaled::calls(5_000)]), Summary::new());
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

/// A decision about something in the inside lane.
fn inside(time_ns: u64, group: &str, lens: Lens, what: GuardDecision) -> GuardAction {
    GuardAction { group: group.to_owned(), lens, sites: Vec::new(), ..action(time_ns, what) }
}

#[test]
fn markers_in_windows_are_a_table_and_no_keys_of_the_summary() {
    let mut governed = Governed::default();
    let marker = |time_ns, what| inside(time_ns, "marker step", Lens::Markers, what);
    let numbers = |seen| vec![(Lens::Markers, Scaled::events(seen))];
    let counted = GuardDecision::Narrow { what: Narrowing::Each, rate_per_s: 9 };
    governed.take(&marker(S / 2, counted), 0, numbers(500));
    governed.take(&marker(S, DETACH), 0, numbers(1_000));
    for at in 2..6 {
        governed.take(&marker(at * S - S / 10, GuardDecision::Attach), 0, numbers(1_000 + (at - 2) * 500));
        governed.take(&marker(at * S, DETACH), 0, numbers(1_000 + (at - 1) * 500));
    }
    let names: Vec<&str> = governed.decisions().iter().map(|decision| decision.action).collect();
    assert_eq!(names[..4], ["counted", "switched_off", "switched_on", "switched_off"]);
    let group = &governed.groups()[0];
    let row = group.row((0, 5 * S), &[Scaled::events(3_000)]).expect("it had windows");
    let share = 28.0;
    assert!(matches!(row[2], Cell::Float(on) if (on - share).abs() < 1e-9), "{row:?}");
    assert_eq!(row[3], Cell::Missing, "it was not stopped");
    assert_eq!(row[4..], [3_000_u64, 21_000, 21_000, 21_000].map(Cell::Int), "5,000 a second after the first");
    assert_eq!(group.summary(Lens::Markers, (0, 5 * S), &[Scaled::events(3_000)]), Summary::new());
    let sentences = governed.sentences(0, 5 * S).join("\n");
    assert!(sentences.contains("counted in the JVM") && sentences.contains("it was on in 5 windows"), "{sentences}");
}

#[test]
fn fewer_objects_are_said_with_their_rate_and_a_property_that_is_off() {
    let mut governed = Governed::default();
    let property = |time_ns, what| inside(time_ns, "property Thing", Lens::Typestate, what);
    for (at, one_in) in [(1, 16), (2, 0)] {
        let what = GuardDecision::Narrow { what: Narrowing::Objects { one_in }, rate_per_s: 7 };
        governed.take(&property(at * S, what), 0, Vec::new());
    }
    governed.take(&property(3 * S, GuardDecision::Stop { rate_per_s: 7 }), 0, Vec::new());
    let decisions: Vec<_> = governed.decisions().iter().map(|decision| (decision.action, decision.one_in)).collect();
    assert_eq!(decisions, [("fewer_objects", Some(16)), ("fewer_objects", Some(0)), ("stopped", None)]);
    let sentences = governed.sentences(0, 5 * S).join("\n");
    for part in [
        "one new object of 16 is tracked",
        "no new object is tracked",
        "taken out of the code for good after 3",
        "ignoring its",
    ] {
        assert!(sentences.contains(part), "{part}: {sentences}");
    }
    assert!(governed.groups()[0].row((0, 5 * S), &[]).is_none());
}

/// Recordings of before have no such decisions, and those of now are read as they are written.
#[test]
fn decisions_about_woven_code_go_through_a_recording() {
    for what in [Narrowing::Each, Narrowing::Objects { one_in: 1 << 40 }, Narrowing::Times] {
        let action = inside(1, "property Thing", Lens::Typestate, GuardDecision::Narrow { what, rate_per_s: 3 });
        let text = serde_json::to_string(&action).expect("it is written");
        assert_eq!(serde_json::from_str::<GuardAction>(&text).expect("it is read"), action, "{text}");
    }
}

/// What it was taken to cost while it was off is said, and its numbers are of the time until then.
#[test]
fn what_was_taken_out_is_labelled_with_when_and_why() {
    let mut governed = Governed::default();
    let marker = |time_ns, what| inside(time_ns, "marker step", Lens::Markers, what);
    let numbers = |seen| vec![(Lens::Markers, Scaled::events(seen))];
    governed.take(&marker(S, DETACH), 0, numbers(1_000));
    for at in 2..5 {
        governed.take(&marker(at * S - S / 10, GuardDecision::Attach), 0, numbers(1_000 + (at - 2) * 500));
        governed.take(&marker(at * S, DETACH), 0, numbers(1_000 + (at - 1) * 500));
    }
    let mut stop = marker(5 * S, GuardDecision::Stop { rate_per_s: 9 });
    stop.reason = stop.reason.map(|reason| GuardReason { off_ppm: Some(81_000), ..reason });
    governed.take(&stop, 0, numbers(2_500));
    let decision = governed.decisions().last().expect("one");
    assert_eq!((decision.action, decision.off_percent, decision.at_ns), ("stopped", Some(8.1), 5 * S));
    let sentences = governed.sentences(0, 100 * S).join("\n");
    for part in ["taken out of the code for good after 5.00 s", "still take 8.1 % of a core", "of the time until then"]
    {
        assert!(sentences.contains(part), "{part}: {sentences}");
    }
    let seen = [Scaled::events(2_500)];
    let row = governed.groups()[0].row((0, 100 * S), &seen).expect("it had windows");
    // 1,000 in the first second, then 5,000 a second for four.
    assert_eq!((&row[3], &row[5]), (&Cell::Int(5 * S), &Cell::Int(21_000)), "{row:?}");
    let notes = governed.groups()[0].notes(Lens::Markers, 100 * S, &seen);
    assert!(
        notes[0].contains("until that was stopped, 5.00 s after the beginning, there were about 21000"),
        "{notes:?}"
    );
}

/// What was asked for is no decision of the governor, and no window.
#[test]
fn a_marker_that_was_off_by_request_has_its_own_sentence() {
    let mut governed = Governed::default();
    let marker = |time_ns, what| GuardAction { reason: None, ..inside(time_ns, "marker step", Lens::Markers, what) };
    governed.take(&marker(S, GuardDecision::Hold), 0, Vec::new());
    assert!(governed.groups()[0].is_held());
    governed.take(&marker(3 * S, GuardDecision::Release), 0, Vec::new());
    governed.take(&marker(9 * S, GuardDecision::Hold), 0, Vec::new());
    let names: Vec<&str> = governed.decisions().iter().map(|decision| decision.action).collect();
    assert_eq!(names, ["held", "released", "held"]);
    assert_eq!(
        governed.sentences(0, 10 * S),
        [
            "`marker step` was switched off for 3.00 s of the span because that was asked for: its numbers are of the rest"
        ]
    );
    let group = &governed.groups()[0];
    assert_eq!(group.state(), "switched off by request");
    assert!(group.row((0, 10 * S), &[Scaled::events(5)]).is_none());
}
