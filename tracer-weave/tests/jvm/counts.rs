//! Programs whose places are come to as often as their source says.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::corpus::{Counts, Jvm, Tree, WHOLE, compile, jvms, rule, run_woven, weave_tree};
use tracer_weave::handler::Use;
use tracer_weave::{Access, Kind, Pattern, Place, Raiser, Rule, Sides};

const POINT: Kind = Kind::Marker(Sides::Point);
const REGION: Kind = Kind::Marker(Sides::Region);

/// Programs, woven.
struct Program {
    base: PathBuf,
    woven: PathBuf,
    tree: Tree,
}

impl Program {
    fn woven(name: &str, rules: &[Rule]) -> Self {
        let base = compile();
        let woven = base.join("woven").join(name);
        let tree = weave_tree(&base.join("programs"), &woven, rules);
        Self { base, woven, tree }
    }

    /// What was counted, place by place in the order of the code, of each method for each marker.
    fn run(&self, jvm: &Jvm, main: &str) -> (BTreeMap<(String, u32), Vec<Counts>>, i64) {
        let (counts, sum) = run_woven(jvm, &self.base, &self.woven, main);
        let mut places: Vec<_> = self.tree.definitions.iter().filter(|place| place.class.starts_with(main)).collect();
        places.sort_by_key(|place| (place.class.clone(), place.descriptor.clone(), place.bci));
        let mut found: BTreeMap<(String, u32), Vec<Counts>> = BTreeMap::new();
        for place in places {
            let class = place.class.strip_prefix(main).unwrap().trim_start_matches('$');
            let name = if class.is_empty() { place.method.clone() } else { format!("{class}.{}", place.method) };
            found.entry((name, place.marker)).or_default().push(counts.get(&place.id).copied().unwrap_or_default());
        }
        (found, sum)
    }
}

fn points(count: u32) -> Counts {
    Counts { points: count, ..Counts::default() }
}

/// A region: entered, left, left by an exception.
fn region(enters: u32, exits: u32, thrown: u32) -> Counts {
    Counts { enters, exits, thrown, ..Counts::default() }
}

/// A loop: iterations, how often it was run, and how often an exception left it.
type Loop = (u32, u32, u32);

/// Loops of a method, in the order of the code.
const LOOPS: &[(&str, &[Loop])] = &[
    ("forLoop", &[(70, 10, 0)]),
    ("whileAnd", &[(50, 10, 0)]),
    ("whileOr", &[(50, 10, 0)]),
    ("doWhile", &[(60, 10, 0)]),
    ("nested", &[(40, 10, 0), (120, 40, 0)]),
    ("breaks", &[(40, 10, 0)]),
    ("continues", &[(80, 10, 0)]),
    ("returns", &[(50, 10, 0)]),
    ("caughtInside", &[(50, 10, 0)]),
    ("caughtOutside", &[(60, 10, 10)]),
    ("labelled", &[(40, 10, 0), (100, 40, 0)]),
    ("finallyContinues", &[(50, 10, 0)]),
    ("switches", &[(60, 10, 0)]),
    ("begins", &[(30, 10, 0)]),
    ("forEach", &[(20, 10, 0)]),
    ("oneLine", &[(90, 10, 0)]),
    ("oneLineDo", &[(90, 10, 0)]),
    ("retries", &[(30, 10, 0)]),
    ("never", &[(0, 10, 0)]),
    ("longCondition", &[(50, 10, 0)]),
    ("assigns", &[(20, 10, 0)]),
    ("throughTernary", &[(50, 10, 0)]),
    ("synchronizedLoop", &[(40, 10, 0)]),
    ("thrown", &[(30, 10, 10)]),
    // 1 + 2 + 4 + 8 + 16 + 32 calls.
    ("recursive", &[(126, 63, 0)]),
    ("main", &[(10, 1, 0)]),
];

#[test]
#[ignore = "needs JDKs"]
fn loops_run_as_often_as_their_source_says() {
    let everything = |name: &str| {
        let call = Place::Call { class: Pattern::new("*"), method: Pattern::new("*") };
        let mut rules = vec![
            rule(1, "*", Place::Loop, POINT),
            rule(2, "*", Place::Loop, REGION),
            rule(3, "*", WHOLE, REGION),
            rule(4, "*", call, REGION),
            rule(5, "*", Place::Block, POINT),
            rule(6, "*", Place::Lines { first: 1, last: 500 }, REGION),
        ];
        rules.truncate(if name == "loops" { 2 } else { 6 });
        rules
    };
    for name in ["loops", "everything"] {
        let program = Program::woven(name, &everything(name));
        for jvm in jvms() {
            let (found, _) = program.run(&jvm, "Loops");
            for (method, loops) in LOOPS {
                let expected: Vec<_> = loops.iter().map(|(iterations, ..)| points(*iterations)).collect();
                assert_eq!(found[&((*method).to_owned(), 1)], expected, "{method} {name} {jvm:?}");
                let expected: Vec<_> =
                    loops.iter().map(|(_, entered, thrown)| region(*entered, entered - thrown, *thrown)).collect();
                assert_eq!(found[&((*method).to_owned(), 2)], expected, "{method} {name} {jvm:?}");
            }
        }
    }
}

/// Methods: entered, left by returning, left by an exception.
const METHODS: &[(&str, u32, u32, u32)] = &[
    ("Base.<init>", 10 + 10 + 10 + 10 + 10 + 10, 60, 0),
    ("Derived.half", 20, 20, 0),
    ("Derived.locked", 20, 20, 0),
    ("Greeting.length", 10, 10, 0),
    ("Greeting.none", 10, 10, 0),
    ("arguments", 10, 10, 0),
    ("calls", 10, 10, 0),
    ("plain", 45, 45, 0),
    ("risky", 0, 0, 0),
    ("finallies", 10, 10, 0),
    ("deep", 30, 10, 20),
    ("fields", 10, 10, 0),
    ("text", 10, 10, 0),
    ("main", 1, 1, 0),
];

#[test]
#[ignore = "needs JDKs"]
fn methods_and_constructors_are_entered_and_left_as_often_as_their_source_says() {
    let mut told = rule(1, "*", WHOLE, REGION);
    (told.receiver, told.arguments) = (true, true);
    let symbols =
        [(2, Kind::Entry), (3, Kind::Return), (4, Kind::Throw)].map(|(number, kind)| rule(number, "*", WHOLE, kind));
    let mut rules = vec![told, rule(5, "*", WHOLE, POINT)];
    rules.extend(symbols);
    let program = Program::woven("methods", &rules);
    for jvm in jvms() {
        let (found, sum) = program.run(&jvm, "Methods");
        for (method, enters, exits, thrown) in
            METHODS.iter().filter(|(method, ..)| *method != "risky" && *method != "plain")
        {
            let of = |marker: u32| {
                let all = &found[&((*method).to_owned(), marker)];
                assert_eq!(all.len(), 1, "{method} {jvm:?}");
                all[0]
            };
            let counted = of(1);
            let told = (counted.enters, counted.exits, counted.thrown);
            assert_eq!(told, (*enters, *exits, *thrown), "{method} {jvm:?}");
            assert_eq!(of(5).points, *enters, "{method} {jvm:?}");
            assert_eq!([2, 3, 4].map(|number| of(number).symbols), [*enters, *exits, *thrown], "{method} {jvm:?}");
            let is_static = !matches!(*method, "Base.<init>" | "Derived.locked" | "Greeting.length");
            assert_eq!(counted.receivers, if is_static { 0 } else { enters + exits + thrown }, "{method} {jvm:?}");
        }
        let derived = &found[&("Derived.<init>".to_owned(), 1)];
        let derived: Vec<_> = derived.iter().map(|one| (one.enters, one.exits, one.thrown, one.receivers)).collect();
        assert_eq!(derived, [(10, 10, 0, 20), (40, 30, 10, 80)], "{jvm:?}");
        assert_eq!(found[&("arguments".to_owned(), 1)][0].arguments, 80, "{jvm:?}");
        assert!(sum > 0);
    }
}

#[test]
#[ignore = "needs JDKs"]
fn counted_methods_are_entered_and_left_as_often_as_their_source_says() {
    // Alone, twice in one method, and beside what has detours of its own.
    let counted = |marker| Rule { counted: true, ..rule(marker, "*", WHOLE, REGION) };
    let sets = [
        vec![counted(1)],
        vec![counted(1), counted(2)],
        vec![rule(3, "*", Place::Loop, REGION), counted(1), rule(4, "*", Place::Block, POINT)],
    ];
    for rules in sets {
        let program = Program::woven("counted", &rules);
        for jvm in jvms() {
            let (found, _) = program.run(&jvm, "Methods");
            let methods = METHODS.iter().filter(|(method, ..)| *method != "risky" && *method != "plain");
            for (method, enters, exits, thrown) in methods {
                for marker in rules.iter().filter(|rule| rule.counted).map(|rule| rule.marker) {
                    let counted = &found[&((*method).to_owned(), marker)];
                    assert_eq!(counted.iter().map(|one| one.enters).sum::<u32>(), *enters, "{method} {jvm:?}");
                    assert_eq!(counted.iter().map(|one| one.exits).sum::<u32>(), *exits, "{method} {jvm:?}");
                    assert_eq!(counted.iter().map(|one| one.thrown).sum::<u32>(), *thrown, "{method} {jvm:?}");
                }
            }
            let derived: Vec<_> = found[&("Derived.<init>".to_owned(), 1)].clone();
            assert_eq!(derived, [region(10, 10, 0), region(40, 30, 10)], "{jvm:?}");
        }
    }
}

#[test]
#[ignore = "needs JDKs"]
fn arguments_are_told_with_their_index_and_value() {
    let mut told = rule(1, "arguments", WHOLE, REGION);
    told.arguments = true;
    let program = Program::woven("arguments", &[told]);
    for jvm in jvms() {
        let (_, sum) = program.run(&jvm, "Methods");
        // Each value times its position; of the String its length, of the array nothing; ten calls.
        assert_eq!(sum, 10 * (1 + 2 * 2 + 3 * 3 + 4 * 4 + 5 * 4 + 7 + 8 * 8), "{jvm:?}");
    }
}

#[test]
#[ignore = "needs JDKs"]
fn calls_and_fields_are_come_to_as_often_as_their_source_says() {
    let call = |method: &str| Place::Call { class: Pattern::new("Methods"), method: Pattern::new(method) };
    let field = |access| Place::Field { class: Pattern::new("Methods$Derived"), field: Pattern::new("*"), access };
    let rules = [
        rule(1, "calls", call("risky"), REGION),
        rule(2, "calls", call("plain"), REGION),
        rule(3, "calls", call("*"), POINT),
        rule(4, "fields", field(Access::Read), POINT),
        rule(5, "fields", field(Access::Write), POINT),
        rule(6, "fields", field(Access::Any), POINT),
        rule(7, "text", Place::Block, POINT),
    ];
    let program = Program::woven("calls", &rules);
    for jvm in jvms() {
        let (found, _) = program.run(&jvm, "Methods");
        let of = |method: &str, marker: u32| found[&(method.to_owned(), marker)].clone();
        assert_eq!(of("calls", 1), [region(10, 5, 5), region(10, 0, 10)], "{jvm:?}");
        assert_eq!(of("calls", 2), [region(10, 10, 0); 4], "{jvm:?}");
        assert_eq!(of("calls", 3), [points(10); 6], "{jvm:?}");
        assert_eq!(of("fields", 4), [points(10); 2], "{jvm:?}");
        assert_eq!(of("fields", 5), [points(10); 1], "{jvm:?}");
        assert_eq!(of("fields", 6), [points(10); 3], "{jvm:?}");
        // The switch; its three cases, for 0, 1 and 2 by turns; what follows.
        assert_eq!(of("text", 7), [10, 4, 3, 3, 10].map(points), "{jvm:?}");
    }
}

/// The line of the program's source that ends with this comment.
fn line_of(comment: &str) -> u32 {
    let source = fs::read_to_string(crate::corpus::workloads().join("Methods.java")).unwrap();
    let found = source.lines().position(|line| line.ends_with(&format!("// {comment}")));
    u32::try_from(found.unwrap() + 1).unwrap()
}

#[test]
#[ignore = "needs JDKs"]
fn ranges_of_lines_are_entered_from_outside_only() {
    let range = |first: &str, last: &str| Place::Lines { first: line_of(first), last: line_of(last) };
    let rules = [
        rule(1, "lines", range("first", "last"), REGION),
        rule(2, "lines", range("first", "last"), POINT),
        rule(3, "lines", range("risky", "risky"), REGION),
        rule(4, "lines", range("caught", "caught"), REGION),
        rule(5, "lines", range("risky", "caught"), REGION),
    ];
    let program = Program::woven("lines", &rules);
    for jvm in jvms() {
        let (found, _) = program.run(&jvm, "Methods");
        let of = |marker: u32| found[&("lines".to_owned(), marker)].clone();
        assert_eq!(of(1), [region(40, 40, 0)], "{jvm:?}");
        assert_eq!(of(2), [points(40)], "{jvm:?}");
        assert_eq!(of(3), [region(10, 0, 10)], "{jvm:?}");
        assert_eq!(of(4), [region(10, 10, 0)], "{jvm:?}");
        assert_eq!(of(5), [region(10, 10, 0)], "{jvm:?}");
    }
}

#[test]
#[ignore = "needs JDKs"]
fn every_range_of_lines_is_left_as_often_as_it_is_entered() {
    let jvms = jvms();
    let jvm = jvms.last().unwrap();
    for size in [1, 2, 3, 7] {
        for offset in 0..size {
            let ranges =
                (offset..240).step_by(size as usize).map(|first| Place::Lines { first, last: first + size - 1 });
            let rules: Vec<Rule> = ranges.map(|range| rule(1, "*", range, REGION)).collect();
            let program = Program::woven("ranges", &rules);
            let mut entered = 0;
            for main in ["Loops", "Methods"] {
                let (found, _) = program.run(jvm, main);
                for ((method, _), places) in found {
                    for place in places {
                        assert_eq!(place.enters, place.exits + place.thrown, "{method} {size} {offset}");
                        entered += place.enters;
                    }
                }
            }
            assert!(entered > 1000, "{entered}");
        }
    }
}

/// What a method makes, in the order of the code; of arrays within arrays the outermost first.
const MAKES: &[(&str, &[u32])] = &[
    ("objects", &[10, 5, 10]),
    ("Inner.<init>", &[10]),
    ("<init>", &[10]),
    ("arrays", &[10; 11]),
    ("nested", &[10, 20, 10, 20, 0, 10, 20, 60, 10, 5, 10, 0]),
    ("copies", &[1, 1, 2, 10, 10]),
    ("failing", &[0; 5]),
    ("branches", &[5, 15, 5, 10, 10, 20, 20, 10]),
];

/// The lengths of all their arrays.
const LENGTHS: i64 = 705 + 455 + 68 + 20 + 130;

#[test]
#[ignore = "needs JDKs"]
fn objects_are_made_as_often_as_their_source_says() {
    let allocations = || rule(1, "*", Place::Allocation, POINT);
    let counted = |marker| Rule { counted: true, ..rule(marker, "*", WHOLE, REGION) };
    let sets = [
        vec![allocations()],
        vec![counted(2), allocations(), counted(3)],
        vec![rule(2, "*", Place::Loop, REGION), rule(3, "*", Place::Block, POINT), allocations(), counted(4)],
    ];
    for rules in sets {
        let program = Program::woven("makes", &rules);
        for jvm in jvms() {
            let (found, lengths) = program.run(&jvm, "Makes");
            for (method, made) in MAKES {
                let expected: Vec<Counts> = made.iter().map(|number| points(*number)).collect();
                assert_eq!(found[&((*method).to_owned(), 1)], expected, "{method} {jvm:?}");
            }
            assert_eq!(lengths, LENGTHS, "{jvm:?}");
        }
    }
}

/// Exceptions by method: what it has them from, and whether what takes them throws them again; `None`: they leave the method.
const THROWS: &[(&str, Raiser, Option<bool>, u32)] = &[
    ("own", Raiser::Throw, Some(false), 10),
    // Thrown for five callers, and once more from three calls deeper.
    ("deep", Raiser::Throw, None, 50),
    ("deep", Raiser::Call, None, 30),
    ("finallies", Raiser::Call, Some(true), 10),
    ("finallies", Raiser::Throw, None, 10),
    ("locked", Raiser::Call, Some(true), 10),
    ("locked", Raiser::Throw, None, 10),
    ("again", Raiser::Call, Some(true), 10),
    ("again", Raiser::Throw, None, 10),
    ("closing", Raiser::Call, Some(true), 10),
    ("closing", Raiser::Throw, None, 10),
    ("callers", Raiser::Call, Some(false), 50),
    ("implicit", Raiser::Instruction, Some(false), 50),
    ("library", Raiser::Call, Some(false), 10),
    ("either", Raiser::Throw, Some(false), 10),
    ("Refuses.<init>", Raiser::Throw, None, 10),
    ("constructors", Raiser::Call, Some(false), 20),
    // Caught at once, or on the way out of a monitor and then thrown again.
    ("full", Raiser::Throw, Some(false), 20),
    ("full", Raiser::Throw, Some(true), 10),
];

#[test]
#[ignore = "needs JDKs"]
fn exceptions_come_as_often_as_their_source_says_and_go_the_same_way() {
    let exceptions = || rule(1, "*", Place::Exception, POINT);
    let counted = |marker| Rule { counted: true, ..rule(marker, "*", WHOLE, REGION) };
    let sets = [
        vec![exceptions()],
        vec![counted(2), exceptions(), rule(3, "*", Place::Allocation, POINT), rule(4, "*", WHOLE, REGION)],
        vec![rule(2, "*", Place::Loop, REGION), rule(3, "*", Place::Block, POINT), exceptions(), counted(4)],
    ];
    for rules in sets {
        let program = Program::woven("throws", &rules);
        for jvm in jvms() {
            let (counts, _) = run_woven(&jvm, &program.base, &program.woven, "Throws");
            let mut found: BTreeMap<(String, Raiser, Option<bool>), u32> = BTreeMap::new();
            for place in program.tree.definitions.iter().filter(|place| place.class.starts_with("Throws")) {
                let (Some(raised), Some(counted)) = (&place.raised, counts.get(&place.id)) else { continue };
                assert_eq!(counted.points, counted.receivers, "the exception is told: {place:?}");
                let class = place.class.trim_start_matches("Throws").trim_start_matches('$');
                let method = if class.is_empty() { place.method.clone() } else { format!("{class}.{}", place.method) };
                let rethrows = raised.handler.as_ref().map(|handler| matches!(handler.does, Use::Rethrows(_)));
                *found.entry((method, raised.by, rethrows)).or_default() += counted.points;
            }
            let expected = THROWS.iter().map(|(method, by, all, count)| (((*method).to_owned(), *by, *all), *count));
            assert_eq!(found, expected.collect(), "{jvm:?}");
        }
    }
}
