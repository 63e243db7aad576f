//! Markers that are switched off and on again while their regions are open.

use super::*;
use crate::random::Random;

/// What happens on a thread around the moments at which some markers are switched.
fn switched(parts: &[&Words], markers: &[usize]) -> (String, Play) {
    let scribe = Scribe::new("scribe");
    let mut play = Play::new(vec![marker("a"), marker("b"), marker("c")], vec![Box::new(scribe.clone())]);
    for (index, words) in parts.iter().enumerate() {
        if index > 0 {
            play.dispatch.switched(markers);
        }
        play.batch(1, words, false);
    }
    let told = scribe.text().lines().filter(|line| !line.starts_with("loaded")).collect::<Vec<_>>().join("\n");
    (told, play)
}

#[test]
fn a_region_that_is_open_when_its_marker_is_switched_off_ends_there_and_those_within_stay() {
    let mut before = Words::default();
    before.push(ENTER, 1, 0).push(ENTER, 2, 0).push(ENTER, 3, 0);
    // The end of b, in the middle, comes while b is off; c and a go on.
    let mut after = Words::default();
    after.push(ENTER, 3, 0).push(EXIT, 3, 0).push(EXIT, 3, 0).push(ENTER, 3, 0).push(EXIT, 3, 0).push(EXIT, 1, 0);
    let (told, play) = switched(&[&before, &after], &[1]);
    insta::assert_snapshot!(told, @r"
    enter a t0 d1
    enter b t0 d2
    enter c t0 d3
    exit c t0 d3 Unseen
    exit b t0 d2 Unseen
    enter c t0 d3
    exit c t0 d3 Left
    exit c t0 d2 Left unknown
    enter c t0 d2
    exit c t0 d2 Left
    exit a t0 d1 Left
    ");
    assert_eq!(play.dispatch.threads().all()[0].stack.depth(), 0);
}

#[test]
fn an_exit_whose_entry_was_in_an_off_window_closes_nothing_else() {
    let mut before = Words::default();
    before.push(ENTER, 1, 0).push(ENTER, 2, 0);
    // Recursion of b: the second one was entered while b was off, and the first and second end when it is on again.
    let mut after = Words::default();
    after.push(ENTER, 2, 0).push(EXIT, 2, 0).push(EXIT, 2, 0).push(EXIT, 2, 0).push(EXIT, 1, 0);
    let (told, play) = switched(&[&before, &Words::default(), &after], &[1]);
    insta::assert_snapshot!(told, @r"
    enter a t0 d1
    enter b t0 d2
    exit b t0 d2 Unseen
    enter b t0 d2
    exit b t0 d2 Left
    exit b t0 d1 Left unknown
    exit b t0 d1 Left unknown
    exit a t0 d1 Left
    ");
    let notes = play.dispatch.notes().join("\n");
    assert!(notes.contains("1 region was open when the governor") && notes.contains("2 regions ended"), "{notes}");
    assert_eq!(play.dispatch.threads().all()[0].stack.depth(), 0);
}

#[test]
fn a_marker_that_is_switched_off_after_a_loss_does_not_hide_nesting_for_good() {
    let mut play = Play::new(vec![marker("a"), marker("b")], Vec::new());
    play.batch(1, Words::default().push(ENTER, 1, 0).push(ENTER, 2, 0), false);
    play.batch(1, Words::default().push(EXIT, 2, 0), true);
    play.batch(1, Words::default().push(ENTER, 2, 0), false);
    assert!(!play.dispatch.threads().all()[0].stack.nesting_is_known());
    // Its end will not be told any more.
    play.dispatch.switched(&[0, 1]);
    assert!(play.dispatch.threads().all()[0].stack.nesting_is_known());
}

/// Whatever is switched when, depths return to 0, and every client sees ends from the innermost region outwards.
#[test]
fn random_windows_leave_no_region_open() {
    let mut random = Random::new(5);
    for _ in 0..300 {
        let scribe = Scribe::new("scribe");
        let mut play = Play::new(vec![marker("a"), marker("b"), marker("c")], vec![Box::new(scribe.clone())]);
        let (mut open, mut is_on) = (Vec::new(), [true; 3]);
        let mut words = Words::default();
        for step in 0..200 {
            let place = u32::try_from(random.below(3)).expect("small") + 1;
            match random.below(10) {
                0 => {
                    play.batch(1, &std::mem::take(&mut words), false);
                    let marker = place as usize - 1;
                    is_on[marker] = !is_on[marker];
                    play.dispatch.switched(&[marker]);
                }
                1..=5 if step < 150 => {
                    open.push(place);
                    if is_on[place as usize - 1] {
                        words.push(ENTER, place, 0);
                    }
                }
                _ => {
                    if let Some(place) = open.pop().filter(|place: &u32| is_on[*place as usize - 1]) {
                        words.push(EXIT, place, 0);
                    }
                }
            }
        }
        for place in open.into_iter().rev().filter(|place| is_on[*place as usize - 1]) {
            words.push(EXIT, place, 0);
        }
        play.batch(1, &words, false);
        assert_eq!(play.dispatch.threads().all()[0].stack.depth(), 0);
        let mut told: Vec<String> = Vec::new();
        for line in scribe.text().lines() {
            let mut parts = line.split(' ');
            match (parts.next(), parts.next()) {
                (Some("enter"), Some(name)) => told.push(name.to_owned()),
                (Some("exit"), Some(name)) if !line.ends_with("unknown") => {
                    assert_eq!(told.pop().as_deref(), Some(name), "{line}");
                }
                _ => {}
            }
        }
        assert!(told.is_empty(), "{told:?}");
    }
}
