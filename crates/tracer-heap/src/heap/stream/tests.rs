//! Streams as the library writes them, in any pieces, and damaged ones.

use tracer_weave::walk::{MAX_NUMBER_BYTES, ended, fold, put};

use super::{
    fields::{MAX_ALL_NUMBERED, MAX_NUMBERED},
    *,
};
use crate::{fuzz, heap::summary::Analysis};

/// Most memory for one damaged stream.
const ROOM: usize = 64 << 20;
const BOUNDS: Bounds = Bounds { objects: 1 << 16, references: 1 << 16, texts: 1 << 20 };

#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    fn record(&mut self, what: u8, numbers: &[u64]) {
        self.0.push(what);
        for number in numbers {
            let mut room = [0; MAX_NUMBER_BYTES];
            let len = put(&mut room, *number);
            self.0.extend(&room[..len]);
        }
    }

    fn content(&mut self, digest: u64, zeros: u64) {
        self.0.push(walk::CONTENT);
        self.0.extend(digest.to_le_bytes());
        let mut room = [0; MAX_NUMBER_BYTES];
        let len = put(&mut room, zeros);
        self.0.extend(&room[..len]);
    }

    fn value(&mut self, digest: u64, bytes: u64, first: &[u8]) {
        self.0.push(walk::VALUE);
        self.0.extend(digest.to_le_bytes());
        for number in [bytes, first.len() as u64] {
            let mut room = [0; MAX_NUMBER_BYTES];
            let len = put(&mut room, number);
            self.0.extend(&room[..len]);
        }
        self.0.extend(first);
    }

    fn text(&mut self, text: &str) {
        self.0.push(u8::try_from(text.len()).expect("short"));
        self.0.extend(text.bytes());
    }

    fn class(&mut self, numbers: &[u64], name: &str, fields: &[(u8, &str)]) {
        self.record(walk::CLASS, numbers);
        self.text(name);
        self.0.push(u8::try_from(fields.len()).expect("few"));
        for (flags, name) in fields {
            self.0.push(*flags);
            self.text(name);
        }
    }
}

/// An interface with a constant, a class with a static field and two others, one below it with one more; objects that refer by them.
fn stream() -> Vec<u8> {
    let mut written = Written::default();
    let known = CLASS_HAS_FIELDS;
    written.class(&[1, known, 0, 0], "Ljava/lang/Object;", &[]);
    written.class(&[2, known, 1, 0], "Ljava/lang/Class;", &[]);
    written.class(&[3, known | CLASS_INTERFACE, 0, 0], "LPriced;", &[(1, "FREE")]);
    written.class(&[4, known, 1, 1, 3], "LOrder;", &[(1, "all"), (0, "next"), (0, "id")]);
    written.class(&[5, known, 4, 0], "LLateOrder;", &[(0, "why")]);
    written.class(&[6, known, 1, 0], "Ljava/lang/ref/Reference;", &[(0, "referent"), (0, "queue")]);
    written.class(&[7, known, 6, 0], "Ljava/lang/ref/WeakReference;", &[]);
    written.record(walk::THREAD, &[9]);
    written.text("main");
    // The class `Order` is a root; its static field leads to an order (fields: FREE 0, all 1, next 2, id 3, why 4).
    written.record(walk::CLASS_OBJECT, &[fold(100), 2, 12, 0, 4]);
    written.record(kind::SYSTEM_CLASS | TO_LAST, &[]);
    written.record(walk::OBJECT, &[fold(10), 5, 4, 0]);
    written.record(kind::STACK_LOCAL | TO_LAST, &[9, 0, 0, 3]);
    written.record(walk::FROM, &[fold(100)]);
    written.record(kind::STATIC | TO_KNOWN, &[fold(10), 1]);
    written.record(walk::FROM, &[fold(10)]);
    written.record(walk::OBJECT, &[fold(-50), 4, 3, 0]);
    written.record(kind::FIELD | TO_LAST, &[2]);
    written.record(walk::OBJECT, &[fold(300), 7, 6, 0]);
    written.record(kind::FIELD | TO_LAST, &[4]);
    written.record(walk::FROM, &[fold(250)]);
    written.record(walk::OBJECT, &[fold(1), 0, 2, 6]);
    written.content(0x1122_3344_5566_7788, 70);
    written.record(kind::FIELD | TO_LAST, &[0]);
    written.value(0x1122_3344_5566_7788, 80, b"DE");
    let end = End { reason: ended::DONE, objects: 4, visited: 4, class_objects: 1, ..End::default() };
    written.record(walk::END, &end.words());
    written.0
}

#[test]
fn records_become_a_graph_whose_fields_have_their_names() {
    let bytes = stream();
    for piece in [1, 7, bytes.len()] {
        let mut reader = Reader::new(BOUNDS);
        for piece in bytes.chunks(piece) {
            reader.take(piece).expect("a stream");
        }
        assert_eq!(reader.end.map(|end| end.objects), Some(4));
        assert_eq!(reader.read(), bytes.len() as u64);
        let (graph, odd) = reader.finish();
        // One is of a class that nobody has told of, which is odd for nobody.
        assert_eq!((graph.len(), odd), (5, 0));
        let of =
            |node: u32| -> Vec<(u32, Via)> { graph.references(node).map(|(to, label)| (to, label.via())).collect() };
        let name =
            |name: &str| u32::try_from(graph.names.iter().position(|one| one == name).expect("a name")).expect("few");
        assert_eq!(of(0), [(1, Via::Static(name("all")))]);
        assert_eq!(of(1), [(2, Via::Field(name("next"))), (3, Via::Field(name("why")))]);
        assert_eq!(of(3), [(4, Via::Referent(name("referent")))]);
        assert_eq!(graph.class_of(1).name, "LateOrder");
        assert_eq!(graph.length(4), Some(5));
        assert_eq!(graph.contents.as_ref().map(|of| of.zeros.clone()), Some(vec![(4, 70)]));
        assert_eq!(graph.threads.get(&9).map(String::as_str), Some("main"));
        let analysis = Analysis::of(graph);
        assert_eq!(analysis.dominators.only_weak, [4]);
        let path = analysis.path(2);
        assert_eq!((path.root.thread.as_deref(), path.steps.len()), (Some("main"), 1));
    }
}

/// An array has one content, told of right behind it.
#[test]
fn contents_of_nothing_and_second_ones_are_left_out() {
    let mut written = Written::default();
    written.content(7, 0);
    for at in 1..4 {
        written.record(walk::OBJECT, &[fold(at), 0, 2, 6]);
        written.content(7, 0);
        written.content(8, 0);
    }
    let mut reader = Reader::new(BOUNDS);
    reader.take(&written.0).expect("a stream");
    let (graph, odd) = reader.finish();
    assert_eq!(odd, 4);
    assert_eq!(graph.contents.expect("contents").equal, [(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn what_equal_arrays_hold_is_kept_and_more_of_it_than_is_ever_told_is_none() {
    let mut written = Written::default();
    for at in 1..3 {
        written.record(walk::OBJECT, &[fold(at), 0, 2, 6]);
        written.content(7, 0);
    }
    written.value(7, 1000, b"DE");
    for digest in 0..1000 {
        written.value(digest, 1, b"x");
    }
    let mut reader = Reader::new(BOUNDS);
    reader.take(&written.0).expect("a stream");
    let (graph, odd) = reader.finish();
    assert_eq!(odd, 1001 - walk::MAX_VALUES as u64);
    let values = graph.contents.expect("contents").values;
    assert_eq!(values, [(0, Value { first: b"DE".to_vec(), bytes: 1000 })]);
    let mut long = Written::default();
    long.value(7, 1000, &[0; MAX_VALUE_BYTES + 1]);
    assert_eq!(Reader::new(BOUNDS).take(&long.0), Err(Error::Malformed(0)));
}

#[test]
fn more_than_a_process_has_room_for_is_refused() {
    let mut reader = Reader::new(Bounds { objects: 3, ..BOUNDS });
    assert_eq!(reader.take(&stream()), Err(Error::TooMany("objects")));
    let mut reader = Reader::new(BOUNDS);
    assert_eq!(reader.take(&[0xff]), Err(Error::Malformed(0)));
}

/// Each of four million classes could have sixty thousand fields with names of 4 KiB: what was told within a minute filled any machine.
#[test]
fn names_take_as_much_as_they_may_and_no_more() {
    let long = |number: u64| format!("L{number:0100};");
    let told = |what: &dyn Fn(&mut Written, u64)| {
        let mut reader = Reader::new(BOUNDS);
        let ended = (1..100_000).find_map(|number| {
            let mut written = Written::default();
            what(&mut written, number);
            reader.take(&written.0).err()
        });
        let graph = reader.finish().0;
        let classes = graph.classes.iter().map(|class| class.name.len()).sum::<usize>();
        let others = graph.names.iter().chain(graph.threads.values()).map(String::len).sum::<usize>();
        (ended, classes + others)
    };
    let class = |written: &mut Written, number| written.class(&[number, 0, 0, 0], &long(number), &[]);
    let field = |written: &mut Written, number| {
        written.class(&[number, CLASS_HAS_FIELDS, 0, 0], "LX;", &[(0, &long(number))]);
    };
    let thread = |written: &mut Written, number| {
        written.record(walk::THREAD, &[number]);
        written.text(&long(number));
    };
    for what in [&class as &dyn Fn(&mut Written, u64), &field, &thread] {
        let (ended, bytes) = told(what);
        assert_eq!(ended, Some(Error::TooMany("names")));
        assert!(bytes <= BOUNDS.texts + 1000 && bytes > BOUNDS.texts / 2, "{bytes}");
    }
    assert!(Bounds::of_memory(1 << 40).texts <= 256 << 20);
}

/// Interfaces that each have all others above them have their fields once, and no class has more than there can be.
#[test]
fn fields_are_numbered_up_to_a_bound() {
    const INTERFACES: u64 = 300;
    let mut written = Written::default();
    for number in 1..=INTERFACES {
        let above: Vec<u64> = (1..=INTERFACES).collect();
        let numbers = [&[number, CLASS_HAS_FIELDS | CLASS_INTERFACE, 0, INTERFACES][..], &above].concat();
        written.record(walk::CLASS, &numbers);
        written.text("LI;");
        written.record(255, &[]);
        written.0.push(1);
        for _ in 0..255 {
            written.0.push(1);
            written.text("f");
        }
    }
    written.class(&[1000, CLASS_HAS_FIELDS, 0, 1, 1], "LC;", &[(0, "last")]);
    let mut reader = Reader::new(Bounds { texts: 64 << 20, ..BOUNDS });
    reader.take(&written.0).expect("a stream");
    let class = reader.classes[&1000].number;
    assert_eq!(reader.numbered(class).len(), MAX_NUMBERED);
    for class in 0..1000 {
        reader.field(class, 0);
    }
    let kept = reader.fields.values().map(Vec::len).sum::<usize>();
    assert!(kept == reader.numbered && kept <= MAX_ALL_NUMBERED && kept > MAX_ALL_NUMBERED / 2, "{kept}");
}

#[test]
fn fuzz_heap_stream() {
    let samples = [stream()];
    fuzz::each("heap_stream", ROOM, |dice| {
        let bytes = fuzz::damaged(dice, &samples);
        let mut reader = Reader::new(BOUNDS);
        let piece = 1 + dice.below(64);
        for piece in bytes.chunks(piece) {
            if reader.take(piece).is_err() {
                break;
            }
        }
        let (graph, _) = reader.finish();
        Analysis::of(graph).summary(crate::heap::summary::Origin::default(), None, true, 3);
    });
}
