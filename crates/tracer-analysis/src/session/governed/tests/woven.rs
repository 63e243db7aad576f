//! Decisions about markers and properties, which are woven.

use super::*;

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
    governed.take(&marker(S / 2, counted), 0, &numbers(500));
    governed.take(&marker(S, DETACH), 0, &numbers(1_000));
    for at in 2..7 {
        governed.take(&marker(at * S - S / 10, GuardDecision::Attach), 0, &numbers(1_000 + (at - 2) * 500));
        governed.take(&marker(at * S, DETACH), 0, &numbers(1_000 + (at - 1) * 500));
    }
    let names: Vec<&str> = governed.decisions().iter().map(|decision| decision.action).collect();
    assert_eq!(names[..4], ["counted", "switched_off", "switched_on", "switched_off"]);
    let group = &governed.groups()[0];
    let events = [Scaled::events(3_500)];
    let row = group.rows(of(&events, 6 * S)).pop().expect("it had windows");
    let share = 25.0;
    assert!(matches!(row[3], Cell::Float(on) if (on - share).abs() < 1e-9), "{row:?}");
    assert_eq!(row[4], Cell::Missing, "it was not stopped");
    assert_eq!(row[5..7], [3_500_u64, 26_000].map(Cell::Int), "5,000 a second after the first");
    assert_eq!(group.summary(of(&events, 6 * S)), Summary::new());
    let sentences = governed.sentences(0, 6 * S).join("\n");
    assert!(sentences.contains("counted in the JVM") && sentences.contains("was on in 6 windows"), "{sentences}");
}

#[test]
fn fewer_objects_are_said_with_their_rate_and_a_property_that_is_off() {
    let mut governed = Governed::default();
    let property = |time_ns, what| inside(time_ns, "property Thing", Lens::Typestate, what);
    for (at, one_in) in [(1, 16), (2, 0)] {
        let what = GuardDecision::Narrow { what: Narrowing::Objects { one_in }, rate_per_s: 7 };
        governed.take(&property(at * S, what), 0, &[]);
    }
    governed.take(&property(3 * S, GuardDecision::Stop { rate_per_s: 7 }), 0, &[]);
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
    assert!(governed.groups()[0].rows(of(&[], 5 * S)).is_empty());
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
    governed.take(&marker(S, DETACH), 0, &numbers(1_000));
    for at in 2..7 {
        governed.take(&marker(at * S - S / 10, GuardDecision::Attach), 0, &numbers(1_000 + (at - 2) * 500));
        governed.take(&marker(at * S, DETACH), 0, &numbers(1_000 + (at - 1) * 500));
    }
    let mut stop = marker(7 * S, GuardDecision::Stop { rate_per_s: 9 });
    stop.reason = stop.reason.map(|reason| GuardReason { off_ppm: Some(81_000), ..reason });
    governed.take(&stop, 0, &numbers(3_500));
    let decision = governed.decisions().last().expect("one");
    assert_eq!((decision.action, decision.off_percent, decision.at_ns), ("stopped", Some(8.1), 7 * S));
    let sentences = governed.sentences(0, 100 * S).join("\n");
    for part in ["taken out of the code for good after 7.00 s", "still take 8.1 % of a core", "of the time until then"]
    {
        assert!(sentences.contains(part), "{part}: {sentences}");
    }
    let seen = [Scaled::events(3_500)];
    let row = governed.groups()[0].rows(of(&seen, 100 * S)).pop().expect("it had windows");
    // 1,000 in the first second, then 5,000 a second for six.
    assert_eq!((&row[4], &row[6]), (&Cell::Int(7 * S), &Cell::Int(31_000)), "{row:?}");
    let notes = governed.groups()[0].notes(of(&seen, 100 * S));
    assert!(
        notes[0].contains("until that was stopped, 7.00 s after the beginning, there were about 31000 events"),
        "{notes:?}"
    );
}

/// What was asked for is no decision of the governor, and no window.
#[test]
fn a_marker_that_was_off_by_request_has_its_own_sentence() {
    let mut governed = Governed::default();
    let marker = |time_ns, what| GuardAction { reason: None, ..inside(time_ns, "marker step", Lens::Markers, what) };
    governed.take(&marker(S, GuardDecision::Hold), 0, &[]);
    assert!(governed.groups()[0].is_held());
    governed.take(&marker(3 * S, GuardDecision::Release), 0, &[]);
    governed.take(&marker(9 * S, GuardDecision::Hold), 0, &[]);
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
    assert!(group.rows(of(&[Scaled::events(5)], 10 * S)).is_empty());
}
