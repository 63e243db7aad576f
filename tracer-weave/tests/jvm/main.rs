//! Woven classes in real JVMs.
//!
//! These tests need `javac` of JDK 17 and the JDKs that `cargo xtask test` installs, so they are ignored here.

mod corpus;

use std::path::Path;

use corpus::{Jvm, compile, load_all, weave_tree};
use tracer_weave::{Kind, Place, Sides};

fn region_and_points(sides: Sides, place: Place) -> tracer_weave::Rule {
    corpus::rule(1, "*", place, Kind::Marker(sides))
}

#[test]
#[ignore = "needs JDK 17 with its modules unpacked: WEAVE_CLASSES names the directory"]
fn scratch_every_class_passes_the_verifier() {
    let classes = std::env::var("WEAVE_CLASSES").unwrap();
    let base = compile();
    let out = base.join("scratch");
    let mut rules = vec![];
    for (kind, sides, place) in [
        ("method", Sides::Region, Place::Method),
        ("block", Sides::Point, Place::Block),
        ("loop", Sides::Region, Place::Loop),
        ("looppoint", Sides::Point, Place::Loop),
        (
            "call",
            Sides::Region,
            Place::Call { class: tracer_weave::Pattern::new("*"), method: tracer_weave::Pattern::new("*") },
        ),
        ("lines", Sides::Region, Place::Lines { first: 100, last: 200 }),
    ] {
        if std::env::var("WEAVE_KINDS").unwrap().split(',').any(|one| one == kind) {
            let mut rule = region_and_points(sides, place);
            rule.receiver = true;
            rule.arguments = kind == "method";
            rules.push(rule);
        }
    }
    let woven = weave_tree(Path::new(&classes), &out, &rules);
    println!("classes {} changed {} places {} {:?}", woven.classes, woven.changed, woven.places, woven.reasons);
    if let Ok(jdk) = std::env::var("WEAVE_JDK") {
        println!("{}", load_all(&Jvm::of(&jdk), &base, &out, &woven.names, std::env::var("WEAVE_BASE").is_ok()));
    }
}
