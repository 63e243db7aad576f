//! Random marks of many threads: every client sees what it should, whoever else there is, and losses leave nothing open.

use super::*;
use crate::random::Random;

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
