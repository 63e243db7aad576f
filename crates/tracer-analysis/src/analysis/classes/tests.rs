//! Closed forms of the lens `classes`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers},
    *,
};

fn loaded(class: NameId) -> Payload {
    Payload::ClassLoaded { class, loader: 1, shared: false }
}

fn step(step: ClassInit, class: NameId) -> Payload {
    Payload::ClassInitialization { step, class, loader: 1 }
}

#[test]
fn loads_are_grouped_by_package_and_by_pattern() {
    let mut play = Play::default();
    let mut events = vec![(1, 7, loaded(play.name("com/shop/Cart"))), (1, 7, loaded(play.name("Main")))];
    for number in 0..5 {
        let class = play.name(&format!("com/gen/Proxy{number}"));
        events.push((2, 7, loaded(class)));
        if number < 2 {
            events.push((3, 7, Payload::ClassUnloaded { class, loader: 1 }));
        }
    }
    let section = play.section(&mut Classes::default(), 1000, &events);
    assert_eq!(first_keys(&section, 3), ["loaded", "unloaded", "initialization_errors"]);
    assert_eq!(numbers(&section, ["loaded", "unloaded", "storm_seconds"]), [7, 2, 0]);
    assert_eq!(
        cells(&section, "packages", ["package", "loaded", "unloaded"]),
        [["com.gen", "5", "2"], ["(default)", "1", "0"], ["com.shop", "1", "0"]]
    );
    assert_eq!(
        cells(&section, "generated", ["pattern", "loaded", "unloaded", "names"]),
        [["com.gen.Proxy*", "5", "2", "5"]]
    );
}

#[test]
fn a_storm_is_more_than_500_loads_in_a_second() {
    let mut play = Play::default();
    let class = play.name("A");
    let mut events = vec![(10, 7, loaded(class)); 500];
    events.extend(vec![(1010, 7, loaded(class)); 501]);
    events.extend(vec![(2010, 7, loaded(class)); 700]);
    let section = play.section(&mut Classes::default(), 3000, &events);
    assert_eq!(numbers(&section, ["storm_seconds", "worst_second_loads"]), [2, 700]);
    assert!(section.notes[0].contains("In 2 seconds"));
}

#[test]
fn failures_are_counted_once_and_later_uses_apart() {
    let mut play = Play::default();
    let (base, derived) = (play.name("Base"), play.name("Derived"));
    let section = play.section(
        &mut Classes::default(),
        1000,
        &[
            (1, 7, step(ClassInit::Clinit, base)),
            (5, 7, step(ClassInit::Error, base)),
            (6, 7, step(ClassInit::SuperFailed, derived)),
            (7, 7, step(ClassInit::Erroneous, base)),
            (8, 7, step(ClassInit::Erroneous, base)),
        ],
    );
    assert_eq!(numbers(&section, ["initialization_errors", "erroneous_uses"]), [2, 2]);
    assert_eq!(
        cells(&section, "errors", ["class", "errors", "super_failed", "erroneous"]),
        [["Base", "1", "0", "2"], ["Derived", "0", "1", "0"]]
    );
}

#[test]
fn initialisers_nest_and_unpaired_ends_have_no_time() {
    let mut play = Play::default();
    let (outer, inner, other) = (play.name("Outer"), play.name("Inner"), play.name("Other"));
    let section = play.section(
        &mut Classes::default(),
        1000,
        &[
            (0, 7, step(ClassInit::End, other)),
            (1, 7, step(ClassInit::Clinit, outer)),
            (3, 7, step(ClassInit::Clinit, inner)),
            (5, 7, step(ClassInit::End, inner)),
            (11, 7, step(ClassInit::End, outer)),
        ],
    );
    assert_eq!(numbers(&section, ["initializer_total_ns", "initializer_max_ns"]), [12 * MS, 10 * MS]);
    assert_eq!(
        cells(&section, "initialisers", ["class", "count", "total_ns"]),
        [["Outer", "1", "10000000"], ["Inner", "1", "2000000"]]
    );
    assert!(section.notes.iter().any(|note| note.starts_with("Class initialisers: 1 end without")));
}

#[test]
fn who_loads_is_the_place_and_what_it_called() {
    let mut play = Play::default();
    let (plugin, lambda) = (play.name("com/shop/Plugin"), play.name("com/shop/Main$$Lambda.0x1"));
    let find = play.stack(&[
        "a.Main.main:1",
        "a.Plugins.find:9",
        "java.lang.Class.forName:375",
        "java.lang.ClassLoader.loadClass:2",
    ]);
    let link = play.stack(&[
        "a.Main.main:4",
        "java.lang.invoke.MethodHandleNatives.linkCallSite:1",
        "java.lang.invoke.X.spin",
    ]);
    let load = |class, loader| Payload::ClassLoaded { class, loader, shared: false };
    let section = play.section_of_stacks(
        &mut Classes::default(),
        1000,
        &[
            (1, 7, find, load(plugin, 0xaa)),
            (2, 7, find, load(plugin, 0xbb)),
            (3, 7, link, load(lambda, 0xaa)),
            (4, 7, link, Payload::ClassUnloaded { class: lambda, loader: 0xaa }),
        ],
    );
    assert_eq!(
        cells(&section, "loading", ["site", "via", "loaded"]),
        [
            ["a.Plugins.find:9", "java.lang.Class.forName:375", "2"],
            ["a.Main.main:4", "java.lang.invoke.MethodHandleNatives.linkCallSite:1", "1"]
        ]
    );
    assert_eq!(cells(&section, "loaders", ["loader", "loaded", "unloaded"]), [["170", "2", "1"], ["187", "1", "0"]]);
}
