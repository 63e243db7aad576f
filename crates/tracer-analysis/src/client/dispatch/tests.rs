//! Clients are told what happened, each as if it were alone.

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
    random::Random,
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

/// Random marks of several threads in batches, and how each mark should look: depth, and how many regions of each marker are open.
struct Story {
    batches: Vec<(u32, Words)>,
    expected: Vec<(usize, Vec<u32>)>,
}

const MARKERS: usize = 5;
const THREADS: u32 = 64;

fn story(random: &mut Random, marks: usize) -> Story {
    let mut stacks: Vec<Vec<usize>> = vec![Vec::new(); THREADS as usize];
    let mut story = Story { batches: Vec::new(), expected: Vec::new() };
    let mut made = 0;
    let mut closing = 0;
    while closing < THREADS as usize {
        let last = made >= marks;
        let thread = if last { closing } else { random.below(THREADS as usize) };
        let mut words = Words::default();
        let stack = &mut stacks[thread];
        let mut count = if last { stack.len() } else { 1 + random.below(40) };
        while count > 0 {
            count -= 1;
            made += 1;
            // Entries come before the mark is looked at, exits after.
            let leave = last || random.below(5) < 2 || stack.len() > 30;
            let look = |stack: &[usize]| {
                let open = |marker| u32::try_from(stack.iter().filter(|other| **other == marker).count()).unwrap();
                (stack.len(), (0..MARKERS).map(open).collect())
            };
            match stack.last().copied() {
                Some(marker) if leave => {
                    let kind = if random.below(3) == 0 { THROWN } else { EXIT };
                    words.push(kind, u32::try_from(marker).unwrap() + 1, 0);
                    story.expected.push(look(stack));
                    stack.pop();
                }
                _ => {
                    let marker = random.below(MARKERS);
                    words.push(ENTER, u32::try_from(marker).unwrap() + 1, 0);
                    stack.push(marker);
                    story.expected.push(look(stack));
                }
            }
        }
        story.batches.push((u32::try_from(thread).unwrap() + 1, words));
        closing += usize::from(last);
    }
    story
}

/// Compares what it sees with what should be.
struct Oracle {
    expected: std::vec::IntoIter<(usize, Vec<u32>)>,
    seen: Arc<Mutex<usize>>,
}

impl Oracle {
    fn look(&mut self, mark: &Instance<'_>) {
        let open = (0..MARKERS).map(|marker| mark.stack().open(marker)).collect();
        let (depth, expected): (usize, Vec<u32>) = self.expected.next().expect("no more marks than there are");
        assert_eq!((mark.depth(), &open), (depth, &expected));
        for (marker, open) in expected.iter().enumerate() {
            let own = u32::from(marker == mark.marker_index);
            assert_eq!(mark.is_inside(marker), *open > own);
            assert_eq!(mark.is_not_under(marker), *open <= own);
        }
        *self.seen.lock().unwrap() += 1;
    }
}

impl Client for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        self.look(mark);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        assert!(exit.was_entered);
        self.look(mark);
    }

    fn report(&self, _at: &Reporting<'_>) -> ClientReport {
        ClientReport::default()
    }
}

fn regions() -> Vec<Marker> {
    ["a", "b", "c", "d", "e"].map(marker).to_vec()
}

#[test]
fn stacks_of_64_threads_are_what_they_are_and_depth_returns_to_0() {
    let story = story(&mut Random::new(3), 50_000);
    let marks = story.expected.len();
    let seen = Arc::default();
    let oracle = Oracle { expected: story.expected.into_iter(), seen: Arc::clone(&seen) };
    let mut play = Play::new(regions(), vec![Box::new(oracle)]);
    for (buffer, words) in &story.batches {
        play.batch(*buffer, words, false);
    }
    assert_eq!((*seen.lock().unwrap(), marks >= 50_000), (marks, true));
    let threads = play.dispatch.threads().all();
    assert_eq!(threads.len(), THREADS as usize);
    assert!(threads.iter().all(|thread| thread.stack.depth() == 0 && thread.stack.nesting_is_known()));
    assert_eq!(play.dispatch.notes(), Vec::<String>::new());
}

/// Clients whose subscription and predicate differ; each has its own text.
fn five_others() -> Vec<(Scribe, Option<Predicate>)> {
    [
        ("first", None),
        ("second", Some("sample(1/3)")),
        ("third", Some("nth(7)")),
        ("fourth", Some("duration > 5ns")),
        ("fifth", Some("depth > 3 && first(100)")),
    ]
    .map(|(name, text)| (Scribe::new(name), text.map(|text| Predicate::parse(text, Kind::Region).unwrap())))
    .into()
}

#[test]
fn a_client_alone_and_among_five_others_is_told_the_same_byte_for_byte() {
    let story = story(&mut Random::new(9), 5_000);
    let mut markers = regions();
    markers[1].predicate = Some("sample(1/2)".to_owned());
    markers[2].predicate = Some("nth(3)".to_owned());
    markers[3].subscribers = vec!["me".to_owned(), "third".to_owned()];
    let told = |predicate: Option<&str>, others: bool, first: bool| {
        let me = Scribe::new("me");
        let mut play = Play::new(Vec::new(), Vec::new());
        let mut clients = if others { five_others() } else { Vec::new() };
        let predicate = predicate.map(|text| Predicate::parse(text, Kind::Region).unwrap());
        clients.insert(if first { 0 } else { clients.len() }, (me.clone(), predicate));
        for (client, predicate) in clients.clone() {
            play.dispatch.add_for(Box::new(client), predicate).unwrap();
        }
        play.dispatch.inside(&Inside::Asked(Asked { markers: markers.clone(), ..Asked::default() }));
        for index in 0..5 {
            play.dispatch.inside(&Inside::Place(crate::mark::testing::place(index + 1, index)));
        }
        for (number, (buffer, words)) in story.batches.iter().enumerate() {
            play.batch(*buffer, words, number % 50 == 49);
        }
        assert!(clients.iter().all(|(client, _)| !client.text().is_empty()));
        me.text()
    };
    for predicate in [None, Some("sample(1/5) || nth(2)")] {
        let alone = told(predicate, false, true);
        assert!(alone.lines().count() > 1_000);
        assert!(alone == told(predicate, true, true) && alone == told(predicate, true, false));
    }
}

#[test]
fn lost_batches_are_counted_and_never_leave_a_region_open() {
    for seed in 0..20 {
        let story = story(&mut Random::new(seed), 3_000);
        let mut random = Random::new(seed);
        let scribe = Scribe::new("scribe");
        let mut play = Play::new(regions(), vec![Box::new(scribe.clone())]);
        let mut lost = 0;
        // The last batch of each thread arrives, so that every loss is noticed.
        let sure = story.batches.len() - THREADS as usize;
        for (number, (buffer, words)) in story.batches.iter().enumerate() {
            let is_lost = number < sure && random.below(8) == 0;
            lost += if is_lost { words.0.len() as u64 } else { 0 };
            play.batch(*buffer, words, is_lost);
        }
        for buffer in 1..=THREADS {
            play.batch(buffer, Words::default().push(ENTER, 1, 0).push(EXIT, 1, 0), false);
        }
        assert!(lost > 0);
        assert_eq!(play.dispatch.lost_words(), lost);
        let text = scribe.text();
        let ends = text.lines().filter(|line| line.starts_with("exit") && !line.ends_with("unknown")).count();
        let begins = text.lines().filter(|line| line.starts_with("enter")).count();
        let open: usize = play.dispatch.threads().all().iter().map(|thread| thread.stack.depth()).sum();
        assert!(begins >= ends + open, "no region ends twice: {begins} {ends} {open}");
    }
}

/// Threads come and go as long as a session lasts, each with a buffer of its own; what is known of those that are gone makes room.
#[test]
fn a_loss_is_seen_however_many_threads_there_were() {
    const THREADS: u32 = 70_000;
    let mut play = Play::new(regions(), Vec::new());
    let mut words = Words::default();
    words.push(ENTER, 1, 0).push(EXIT, 1, 0);
    for buffer in 1..=THREADS {
        play.batch(buffer, &words, false);
        if buffer.is_multiple_of(1000) {
            play.dispatch.threads_ended((buffer - 999..=buffer).map(|buffer| Tid(1000 + buffer)));
        }
    }
    play.batch(THREADS + 1, &words, true);
    play.batch(THREADS + 1, &words, false);
    assert_eq!(play.dispatch.lost_words(), words.0.len() as u64);
}

#[test]
fn more_clients_than_bits_are_refused() {
    let mut dispatch = Dispatch::default();
    for _ in 0..MAX_CLIENTS {
        dispatch.add(Box::new(Scribe::new("one"))).unwrap();
    }
    assert_eq!(dispatch.add(Box::new(Scribe::new("too many"))), Err(TooManyClients));
}

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
