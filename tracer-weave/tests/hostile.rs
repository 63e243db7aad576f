//! Class files that are none, or were damaged: they are refused or woven, and nothing else happens.
//!
//! `tests/classes` holds what `javac -g -source 11 -target 11` makes of `tests/java`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::Path;

use tracer_testing::{inputs, metered};

use tracer_weave::outline::outline;
use tracer_weave::weave::weave;
use tracer_weave::{Access, Kind, Pattern, Place, Rule, Sides};

fn rules() -> Vec<Rule> {
    let any = || Pattern::new("*");
    let (point, region) = (Kind::Marker(Sides::Point), Kind::Marker(Sides::Region));
    let call = Place::Call { class: any(), method: any() };
    let field = Place::Field { class: any(), field: any(), access: Access::Any };
    [
        (Place::Method, region),
        (Place::Method, Kind::Throw),
        (Place::Loop, region),
        (Place::Loop, point),
        (Place::Block, point),
        (Place::Allocation, point),
        (Place::Exception, point),
        (Place::Lines { first: 20, last: 120 }, region),
        (call, region),
        (field, point),
    ]
    .into_iter()
    .map(|(place, kind)| Rule {
        marker: 1,
        class: any(),
        subclasses: false,
        method: any(),
        descriptor: None,
        except: Vec::new(),
        place,
        kind,
        receiver: true,
        arguments: true,
        counted: false,
    })
    .collect()
}

fn classes() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classes");
    ["Loops", "Methods", "Methods$Derived", "Methods$Greeting"]
        .iter()
        .map(|name| fs::read(directory.join(format!("{name}.class"))).unwrap())
        .collect()
}

/// Weaves it; whether it could be read.
fn attempt(class_file: &[u8], rules: &[Rule]) -> bool {
    let rules: Vec<&Rule> = rules.iter().collect();
    let mut last = 40_000;
    let woven = weave(class_file, &rules, &mut || {
        last += 1;
        Some(last)
    });
    // Both read the same of it.
    let before = outline(class_file);
    assert_eq!(woven.is_ok(), before.is_ok());
    if let Ok(woven) = &woven
        && let Some(woven_file) = &woven.class_file
    {
        assert_eq!(outline(woven_file).unwrap().methods, before.unwrap().methods);
    }
    woven.is_ok()
}

/// Numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// `long` and `double` take two places among the constants. Found by eight million damaged files.
#[test]
fn a_class_file_whose_last_constant_has_half_its_room_is_refused() {
    let (rules, mut class) = (rules(), classes().remove(1));
    // The last one is a text as long as a number, so all else stays as it is.
    let last = b"\x01\x00\x06Lookup";
    let at = class.windows(last.len()).position(|bytes| bytes == last).unwrap();
    class[at] = 5;
    assert!(!attempt(&class, &rules));
}

#[test]
fn a_class_file_that_is_cut_off_is_refused() {
    let rules = rules();
    for class in classes() {
        assert!(attempt(&class, &rules));
        for end in (0..class.len()).step_by(37) {
            assert!(!attempt(&class[..end], &rules), "{end}");
        }
    }
}

/// Memory that a class file may take, and each byte of it. A count of 16 bits can ask for room for as many entries of 24 bytes.
const ROOM_BYTES: usize = 4 << 20;
const ROOM_PER_BYTE: usize = 256;

#[test]
fn fuzz_class_files() {
    let (rules, classes) = (rules(), classes());
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let (mut cases, mut read) = (0, 0);
    for _ in inputs("class_files", 900) {
        cases += 1;
        // Faults in small ones are more often where something is decided, and ten of them take as long as a large one.
        let [large, small] = [[0, 1], [2, 3]];
        let class = &classes[if numbers.below(32) == 0 { large } else { small }[numbers.below(2)]];
        let mut damaged = class.clone();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(damaged.len() - 4);
            match numbers.below(4) {
                0 => damaged[at] = [0, 1, 0x7F, 0x80, 0xFF][numbers.below(5)],
                1 => damaged[at] ^= 1 << numbers.below(8),
                2 => damaged[at..at + 2].copy_from_slice(&[0xFF, 0xFF]),
                _ => damaged[at] = u8::try_from(numbers.below(256)).unwrap(),
            }
        }
        read += usize::from(metered(ROOM_BYTES + ROOM_PER_BYTE * damaged.len(), || attempt(&damaged, &rules)));
    }
    // Damage to code and names is no reason to refuse the class.
    assert!(read > cases / 4, "only {read} could be read");
}

#[test]
fn what_no_rule_names_stays_the_same() {
    let class = &classes()[0];
    let mut rule = rules().remove(0);
    rule.method = Pattern::new("nothing*");
    let woven = weave(class, &[&rule], &mut || Some(1)).unwrap();
    assert_eq!(woven, tracer_weave::weave::Woven::default());
}
