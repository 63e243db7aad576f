//! Every class's objects and bytes equal what the JVM's histogram of its heap has more after the work, where nothing is collected.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::{Jvm, Launch},
};

use super::{COVERED, EXACT, Expected, classes};

/// Objects and bytes by class.
type Heap = BTreeMap<String, [u64; 2]>;

/// The collector that never collects, and a heap that takes everything.
const EPSILON: [&str; 4] = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xms256m", "-Xmx256m"];

/// What runs the code, whether objects come as events, and whether threads have allocation buffers: one on each release.
const WAYS: [(&str, &[&str], bool); 4] = [
    ("-Xint", &[], true),
    ("-XX:TieredStopAtLevel=1", &["--each"], false),
    ("-XX:-TieredCompilation", &[], true),
    ("-Xbatch", &["--each"], false),
];

/// `int[][]` for `[[I`.
fn java_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    let element = match element {
        _ if dimensions == 0 => element,
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        _ => element.trim_start_matches('L').trim_end_matches(';'),
    };
    format!("{element}{}", "[]".repeat(dimensions))
}

/// All objects of the heap, dead ones as well: without `-all` the JVM would be asked to collect.
fn heap(jvm: &Jvm) -> Result<Heap> {
    let mut heap = Heap::new();
    for line in jvm.jcmd(&["GC.class_histogram", "-all"])?.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [rank, objects, bytes, name, ..] = words[..]
            && rank.ends_with(':')
        {
            // Several loaders can have a class of one name.
            let sums = heap.entry(java_name(name)).or_default();
            *sums = [sums[0] + objects.parse::<u64>()?, sums[1] + bytes.parse::<u64>()?];
        }
    }
    ensure!(heap.len() > 100, "no histogram");
    Ok(heap)
}

/// What is more of each class; signed, because the arrays that fill the rest of buffers change their sizes.
fn growth(before: &Heap, after: &Heap) -> BTreeMap<String, [i64; 2]> {
    let none = [0, 0];
    let grown = after.iter().map(|(class, sums)| {
        let old = before.get(class).unwrap_or(&none);
        (class.clone(), [sums[0].cast_signed() - old[0].cast_signed(), sums[1].cast_signed() - old[1].cast_signed()])
    });
    grown.filter(|(_, sums)| *sums != [0, 0]).collect()
}

fn agrees(jdk: &Jdk, (flag, options, buffers): (&str, &[&str], bool)) -> Result<()> {
    let buffer = if buffers { "-XX:+UseTLAB" } else { "-XX:-UseTLAB" };
    let launch = Launch::new(jdk, "methods", "Allocations").flags(&EPSILON).flags(&[COVERED, flag, buffer]);
    let mut jvm = launch.start()?;
    // The first work loads classes, and the first command starts a thread.
    jvm.work()?;
    jvm.listens()?;
    heap(&jvm)?;
    let printed = jvm.stdout().text().len();
    let session = Session::attach(jvm.pid(), &[&EXACT[..], options].concat())?;
    let before = heap(&jvm)?;
    // A command itself makes no object, else nobody could tell whose they are.
    ensure!(growth(&before, &heap(&jvm)?).is_empty(), "the JVM makes objects while it does nothing");
    jvm.work()?;
    // It makes objects to read the next line, and both are to have these.
    jvm.listens()?;
    let mut grown = growth(&before, &heap(&jvm)?);
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text()[printed..])?;
    jvm.finish()?;
    report.nothing_lost()?;
    let mut counted = classes(&report)?;
    if buffers {
        // The JVM fills the rest of a buffer with an array that nobody makes; up to 20 it looks as any other.
        let filler = if jdk.release < 21 { "int[]" } else { "jdk.internal.vm.FillerElement[]" };
        grown.remove(filler);
        let arrays = counted.remove(filler).map_or(0, |[objects, _]| objects);
        let number = expected.one("objects", filler).unwrap_or(0);
        ensure!(arrays == number, "{arrays} objects of {filler}, not {number}");
    }
    let signed = |sums: &[u64; 2]| sums.map(u64::cast_signed);
    let mut wrong = Vec::new();
    for class in counted.keys().chain(grown.keys()).collect::<std::collections::BTreeSet<_>>() {
        let (counted, grown) = (counted.get(class).map(signed), grown.get(class).copied());
        if counted != grown {
            wrong.push(format!("{class}: counted {counted:?}, in the heap {grown:?}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    // Else nothing was compared.
    for class in ["Allocations$Blob", "Allocations$Blob[]", "byte[]", "short[]", "char[][]", "java.lang.Object[]"] {
        let number = expected.one("objects", class)?;
        let objects = counted.get(class).map_or(0, |sums| sums[0]);
        // Texts of the program's own report are arrays of bytes, too.
        let agrees = if class == "byte[]" { objects >= number } else { objects == number };
        ensure!(agrees, "{objects} objects of {class}, not {number}");
    }
    Ok(())
}

#[test]
fn objects_and_bytes_of_every_class_are_those_that_the_heap_has_more() -> Result<()> {
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        for way in [WAYS[release % 4], WAYS[(release + 1) % 4]] {
            agrees(jdk, way).with_context(|| format!("JDK {} with {way:?}", jdk.release))?;
        }
    }
    Ok(())
}
