//! What a mark costs here: batches as the kernel delivers them, through decoding, stacks and the client `counts`, into a report.
//!
//! `marks COUNT` prints nanoseconds a mark for points, for regions in each other, for regions with receivers, and with times.

use std::time::Instant;

use anyhow::{Result, bail};
use tracer_analysis::session::Session;
use tracer_common::{
    marks::{MAX_MARKS_WORDS, Word, WordKind},
    record::EventKind,
};
use tracer_event::{
    event::{SiteId, Tid},
    lens::Lens,
};
use tracer_model::item::{Item, Site, Start, Target};
use tracer_query::mark::{Asked, Inside, Marker};
use tracer_source::source::encode::{append_marks, encode_event};
use tracer_weave::{PlaceDefinition, Sides};

const OBJECTS: u32 = 1000;

/// Measures each mix.
pub(crate) fn run(count: u64) -> Result<()> {
    for (name, mix) in [("points", points as Mix), ("nested", nested), ("receivers", receivers), ("timed", timed)] {
        let (marks, batch) = repeated(mix);
        let mut session = session();
        let rounds = count.div_ceil(marks);
        let mut first = 0;
        let began = Instant::now();
        for _ in 0..rounds {
            let words = [1 << 32 | 1, first, batch.len() as u64];
            let mut record = encode_event(EventKind::Marks, SiteId(0), Tid(7), 1, &words);
            append_marks(&mut record, &batch);
            session.accept(&Item::Record(&record));
            first += batch.len() as u64;
        }
        let took = began.elapsed();
        let report = session.report();
        let told = report.sections.iter().find_map(|section| section.number("events"));
        let total = rounds * marks;
        if told != Some(total as f64) {
            bail!("{total} marks were made and {told:?} were counted");
        }
        println!("{name}_ns_per_mark {:.2}", took.as_nanos() as f64 / total as f64);
    }
    Ok(())
}

type Mix = fn(&mut Vec<u64>, u32) -> u64;

/// A batch full of a mix, and how many marks it has.
fn repeated(mix: Mix) -> (u64, Vec<u64>) {
    let mut words = Vec::new();
    let (mut marks, mut number) = (0, 0);
    while words.len() + 64 < MAX_MARKS_WORDS {
        marks += mix(&mut words, number);
        number += 1;
    }
    (marks, words)
}

fn word(kind: WordKind, place: u32, object: u32) -> u64 {
    Word::new(kind, 0, place, object).0
}

fn points(words: &mut Vec<u64>, _number: u32) -> u64 {
    words.push(word(WordKind::Point, 4, 0));
    1
}

/// checkout { scan { step step } fib { fib {} } }
fn nested(words: &mut Vec<u64>, _number: u32) -> u64 {
    use WordKind::{Enter, Exit, Point};
    let marks = [
        (Enter, 1),
        (Enter, 2),
        (Point, 4),
        (Point, 4),
        (Exit, 2),
        (Enter, 3),
        (Enter, 3),
        (Exit, 3),
        (Exit, 3),
        (Exit, 1),
    ];
    words.extend(marks.map(|(kind, place)| word(kind, place, 0)));
    10
}

fn receivers(words: &mut Vec<u64>, number: u32) -> u64 {
    let object = 1 + number % OBJECTS;
    words.extend([word(WordKind::Enter, 1, object), word(WordKind::Exit, 1, object)]);
    2
}

fn timed(words: &mut Vec<u64>, number: u32) -> u64 {
    for kind in [WordKind::Enter, WordKind::Exit] {
        let time_ns = u64::from(2 * number + u32::from(kind == WordKind::Exit)) * 100;
        words.extend([word(kind, 1, 0), word(WordKind::Time, 0, 0), time_ns]);
    }
    2
}

/// A session with four markers of one place each.
fn session() -> Session {
    let mut session = Session::new(Start {
        target: Target { pid: 1, command: "synthetic".to_owned(), cpus: 2, ..Target::default() },
        lenses: vec![Lens::Markers],
        sites: vec![Site {
            probe: "synthetic".to_owned(),
            lens: Lens::Markers,
            kind: EventKind::Marks as u16,
            offset: 0,
        }],
        missing: Vec::new(),
        time_ns: 0,
        wall_ms: 0,
        trap_cost_ps: None,
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: Vec::new(),
    });
    let sides = [Sides::Region, Sides::Region, Sides::Region, Sides::Point];
    let markers = ["checkout", "scan", "fib", "step"].into_iter().zip(sides).map(|(name, sides)| Marker {
        name: name.to_owned(),
        token: name.to_owned(),
        sides,
        pattern: String::new(),
        time: false,
        predicate: None,
        inside: Vec::new(),
        not_under: Vec::new(),
        subscribers: Vec::new(),
    });
    session.accept(&Item::Inside(Inside::Asked(Asked { markers: markers.collect(), ..Asked::default() })));
    for id in 1..=4 {
        let place = PlaceDefinition {
            id,
            marker: id - 1,
            class: "com.shop.Cart".to_owned(),
            method: "checkout".to_owned(),
            descriptor: "()V".to_owned(),
            bci: 0,
            line: None,
            made: None,
            raised: None,
        };
        session.accept(&Item::Inside(Inside::Place(place)));
    }
    let class = Inside::Class { number: 1, name: "com.shop.Cart".to_owned() };
    session.accept(&Item::Inside(class));
    let born: Vec<u64> = (1..=OBJECTS).flat_map(|object| [word(WordKind::Born, 0, object), 1]).collect();
    let words = [1 << 32 | 2, 0, born.len() as u64];
    let mut record = encode_event(EventKind::Marks, SiteId(0), Tid(8), 1, &words);
    append_marks(&mut record, &born);
    session.accept(&Item::Record(&record));
    session
}
