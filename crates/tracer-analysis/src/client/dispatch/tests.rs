//! Clients are told what happened, each as if it were alone.

mod stories;
mod windows;

use std::sync::{Arc, Mutex};

use tracer_common::marks::{Argument as ArgumentKind, Word, WordKind};

use super::*;
use crate::{
    client::{
        Exit, Instance,
        testing::{Play, Scribe},
    },
    mark::{
        Asked, MarkBatch, Marker,
        testing::{Words, marker},
    },
    predicate::Kind,
};

const ENTER: WordKind = WordKind::Enter;
const EXIT: WordKind = WordKind::Exit;
const THROWN: WordKind = WordKind::Thrown;
const POINT: WordKind = WordKind::Point;

fn told(markers: Vec<Marker>, words: &Words) -> String {
    let scribe = Scribe::new("scribe");
    let mut play = Play::new(markers, vec![Box::new(scribe.clone())]);
    play.batch(1, words, false);
    scribe.text().lines().filter(|line| !line.starts_with("loaded")).collect::<Vec<_>>().join("\n")
}

#[test]
fn receivers_times_arguments_and_deaths_are_told() {
    let mut words = Words::default();
    words.0.extend([Word::new(WordKind::Born, 0, 0, 9).0, 3]);
    words.push(ENTER, 1, 9).at(100);
    words.0.extend([Word::new(WordKind::Argument, 2, ArgumentKind::Integer as u32, 0).0, 77]);
    words.push(POINT, 2, 0).push(THROWN, 1, 9).at(150);
    words.0.push(Word::new(WordKind::Argument, 0, ArgumentKind::Null as u32, 0).0);
    words.0.extend([Word::new(WordKind::Death, 0, 0, 9).0, 3]);
    words.0.extend([Word::new(WordKind::Count, POINT as u8, 2, 0).0, 500]);
    let told = told(vec![marker("a"), marker(".p")], &words);
    insta::assert_snapshot!(told, @r"
    enter a t0 d1 of ? #9 at 100
    argument a t0 d1 of ? #9 at 100 2 Integer(77)
    point .p t0 d1
    exit a t0 d1 of ? #9 at 150 Thrown took 50
    death 9
    count .p t0 d0 Point 500
    ");
}

/// A buffer is handed over when it is full, also between a mark and its arguments; where something was lost, they belong to nothing.
#[test]
fn arguments_at_the_beginning_of_a_buffer_belong_to_the_mark_at_the_end_of_the_one_before() {
    let argument = |words: &mut Words, index| {
        words
            .0
            .extend([Word::new(WordKind::Argument, index, ArgumentKind::Integer as u32, 0).0, 70 + u64::from(index)]);
    };
    let (mut first, mut second, mut third) = (Words::default(), Words::default(), Words::default());
    first.push(ENTER, 1, 9).at(100);
    argument(&mut first, 0);
    argument(&mut second, 1);
    argument(&mut third, 2);
    let all = |lost: bool| {
        let scribe = Scribe::new("scribe");
        let mut play = Play::new(vec![marker("a")], vec![Box::new(scribe.clone())]);
        play.batch(1, &first, false);
        // Another thread's buffer comes in between.
        play.batch(2, &third, false);
        play.batch(1, &second, lost);
        play.batch(1, &third, false);
        scribe.text().lines().filter(|line| line.starts_with("argument")).map(str::to_owned).collect::<Vec<_>>()
    };
    let told = |index: u8| format!("argument a t0 d1 of ? #9 at 100 {index} Integer({})", 70 + index);
    assert_eq!(all(false), [told(0), told(1), told(2)]);
    assert_eq!(all(true), [told(0)]);
}

#[test]
fn a_region_whose_end_was_not_seen_ends_with_the_one_around_it() {
    let mut words = Words::default();
    words.push(ENTER, 1, 0).push(ENTER, 2, 0).push(ENTER, 3, 0).push(EXIT, 1, 0).push(EXIT, 2, 0);
    insta::assert_snapshot!(told(vec![marker("a"), marker("b"), marker("c")], &words), @r"
    enter a t0 d1
    enter b t0 d2
    enter c t0 d3
    exit c t0 d3 Unseen
    exit b t0 d2 Unseen
    exit a t0 d1 Left
    exit b t0 d0 Left unknown
    ");
}

#[test]
fn regions_that_are_asked_for_their_duration_are_told_at_their_end() {
    let long = Marker { predicate: Some("duration >= 10ns".to_owned()), time: true, ..marker("long") };
    let mut words = Words::default();
    for (start, end) in [(100, 109), (200, 210)] {
        words.push(ENTER, 1, 0).at(start).push(ENTER, 2, 0).push(EXIT, 2, 0).push(EXIT, 1, 0).at(end);
    }
    insta::assert_snapshot!(told(vec![long, marker("b")], &words), @r"
    enter b t0 d2
    exit b t0 d2 Left
    enter b t0 d2
    exit b t0 d2 Left
    enter long t0 d1 at 200
    exit long t0 d1 at 210 Left took 10 late
    ");
}

#[test]
fn markers_can_ask_where_they_lie() {
    let inner = Marker { inside: vec!["a".to_owned()], not_under: vec!["b".to_owned()], ..marker("c") };
    let mut words = Words::default();
    for around in [vec![], vec![1], vec![2], vec![1, 2], vec![3, 1], vec![1, 3]] {
        for place in &around {
            words.push(ENTER, *place, 0);
        }
        words.push(ENTER, 3, 0).push(EXIT, 3, 0);
        for place in around.iter().rev() {
            words.push(EXIT, *place, 0);
        }
    }
    let told = told(vec![marker("a"), marker("b"), inner], &words);
    // Alone under a; under c and a; and twice under a with itself around.
    assert_eq!(told.matches("enter c").count(), 4, "{told}");
    assert_eq!(told.matches("exit c").count(), 4, "{told}");
}

#[test]
fn predicates_ask_for_names_threads_and_depth_and_count_by_themselves() {
    for (predicate, expected) in [
        ("method == \"m1\"", 10),
        ("method != \"m1\"", 0),
        ("class ~ \"com.shop.*\" && package == \"com.shop\" && signature == \"()V\"", 10),
        ("thread == \"main\" && tid == 1001 && line == 7", 10),
        ("depth == 1", 5),
        ("depth == 2 && nth(2)", 2),
        ("first(3)", 3),
        ("tid == 5", 0),
    ] {
        let asking = Marker { predicate: Some(predicate.to_owned()), ..marker("a") };
        let mut words = Words::default();
        for _ in 0..5 {
            words.push(ENTER, 1, 0).push(ENTER, 1, 0).push(EXIT, 1, 0).push(THROWN, 1, 0);
        }
        let told = told(vec![asking], &words);
        assert_eq!(told.matches("enter a").count(), expected, "{predicate}: {told}");
        assert_eq!(told.matches("exit a").count(), expected, "{predicate}: {told}");
    }
}

#[test]
fn a_damaged_predicate_is_said_and_hides_nothing() {
    let asking = Marker { predicate: Some("duration > ".to_owned()), ..marker("a") };
    let mut play = Play::new(vec![asking], vec![Box::new(Scribe::new("scribe"))]);
    play.batch(1, Words::default().push(ENTER, 1, 0), false);
    assert_eq!(play.dispatch.notes().len(), 1, "{:?}", play.dispatch.notes());
}

#[test]
fn subscribers_are_told_and_nobody_else() {
    let scribes = [Scribe::new("one"), Scribe::new("two")];
    let named = Marker { subscribers: vec!["two".to_owned()], ..marker("a") };
    let clients = scribes.iter().map(|scribe| Box::new(scribe.clone()) as Box<dyn Client>).collect();
    let mut play = Play::new(vec![named, marker(".p")], clients);
    play.batch(1, Words::default().push(ENTER, 1, 0).push(POINT, 2, 0), false);
    assert_eq!(scribes[0].text(), "loaded .p m2\npoint .p t0 d1\n");
    assert_eq!(scribes[1].text(), "loaded a m1\nloaded .p m2\nenter a t0 d1\npoint .p t0 d1\n");
}

/// A marker that several share is off when none of them wants it on.
#[test]
fn a_marker_is_wanted_as_long_as_one_client_wants_it() {
    let scribes = [Scribe::new("one"), Scribe::new("two")];
    let named = |name: &str, of: &str| Marker { subscribers: vec![of.to_owned()], ..marker(name) };
    let clients = scribes.iter().map(|scribe| Box::new(scribe.clone()) as Box<dyn Client>).collect();
    let markers = vec![marker("both"), named("first", "one"), named("nobody", "three")];
    let mut play = Play::new(markers, clients);
    let mut after = |client: usize, switches: &[(usize, bool)]| {
        *scribes[client].switches.lock().expect("no panic") = switches.to_vec();
        play.dispatch.wanted()
    };
    assert_eq!(after(0, &[]), [true; 3]);
    assert_eq!(after(0, &[(0, false), (1, false), (2, false), (9, false)]), [true, false, true]);
    assert_eq!(after(1, &[(0, false), (1, true)]), [false, false, true], "the second has not subscribed");
    assert_eq!(after(0, &[(1, true)]), [false, true, true]);
    assert_eq!(after(1, &[(0, true)]), [true, true, true]);
}

#[test]
fn a_virtual_thread_keeps_its_stack_from_buffer_to_buffer() {
    let scribe = Scribe::new("scribe");
    let mut play = Play::new(vec![marker("a"), marker("b")], vec![Box::new(scribe.clone())]);
    play.batch(1, Words::default().push(ENTER, 2, 0).thread(50).push(ENTER, 1, 0), false);
    play.batch(2, Words::default().push(ENTER, 2, 0).thread(50).push(EXIT, 1, 0), false);
    // A buffer goes on with the thread that it ended with, until it says otherwise.
    play.batch(1, Words::default().push(EXIT, 2, 0).thread(0).push(EXIT, 2, 0), false);
    let marks: Vec<String> = scribe.text().lines().skip(2).map(str::to_owned).collect();
    assert_eq!(
        marks,
        [
            "enter b t0 d1",
            "enter a t1 d1",
            "enter b t2 d1",
            "exit a t1 d1 Left",
            "exit b t1 d0 Left unknown",
            "exit b t0 d1 Left"
        ]
    );
}

#[test]
fn more_clients_than_bits_are_refused() {
    let mut dispatch = Dispatch::default();
    for _ in 0..MAX_CLIENTS {
        dispatch.add(Box::new(Scribe::new("one"))).unwrap();
    }
    assert_eq!(dispatch.add(Box::new(Scribe::new("too many"))), Err(TooManyClients));
}

/// Words as anybody who can write to the library's memory can make them.
#[test]
fn fuzz_marks() {
    // A number of an object makes room for all up to it, within 64 MiB, of which the old and the new are there at a time.
    crate::fuzz::each("marks", 160 << 20, |dice| {
        let mut play = Play::new(vec![marker("a"), marker("b")], vec![Box::new(Scribe::new("s"))]);
        let mut first = 0;
        for _ in 0..=dice.below(3) {
            let mut bytes: Vec<u8> = (0..dice.below(60))
                .flat_map(|_| {
                    let (word, kind) = (dice.number() & 0x0000_ffff_ffff_0fff, u64::from(dice.byte() % 24));
                    let shift = dice.pick(&[56, 58, 59, 60]);
                    (if dice.once_in(4) { dice.number() } else { word | kind << shift }).to_le_bytes()
                })
                .collect();
            if dice.once_in(4) {
                bytes.truncate(dice.below(bytes.len() + 1));
            }
            let batch = MarkBatch::new(dice.number(), None, dice.byte().into(), first, &bytes);
            let (mut marks, mut taken) = (batch.marks(), 0);
            while !marks.is_empty() {
                let _ = marks.next_pass().is_none() && marks.next_rare().is_none();
                taken += 1;
                assert!(taken <= batch.len());
            }
            play.dispatch.marks(&batch);
            first = if dice.once_in(3) { dice.number() } else { first.wrapping_add(batch.len() as u64) };
        }
        let _: u64 = play.dispatch.lost_words();
    });
}
