//! Exceptions are counted by class and place, also where the program's code was compiled long before, with every collector and layout
//! of objects, and without any symbol.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jvm::Launch,
    report::cell,
};

use crate::{
    place::changed,
    watch::{Watched, watch},
};

/// Exceptions of the program's own class, of the JDK's, out of a constructor, and without a stack trace.
const THROWN: [&str; 4] = ["300", "200", "40", "500"];
/// From `main` down to where the program's own exceptions are thrown.
const FRAMES: u64 = 7;

fn launch(jdk: &Jdk) -> Launch {
    Launch::new(jdk, "exceptions", "Refusals").arguments(&THROWN)
}

#[test]
fn exceptions_are_counted_by_class_and_place_with_every_collector() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(2)? {
        let place = format!("JDK {} with {}", jdk.release, collector.name());
        println!("{place}");
        counts_agree(&watch(&launch(&jdk).flags(collector.flags()), "exceptions")?).context(place)?;
    }
    Ok(())
}

#[test]
fn exceptions_are_counted_however_objects_lie() -> Result<()> {
    for jdk in jdk::all()? {
        let mut layouts = vec![&["-XX:+UseParallelGC", "-Xint"][..]];
        if jdk.release < 25 {
            layouts.push(&["-XX:-UseCompressedClassPointers"]);
        } else {
            layouts.push(&["-XX:+UseCompactObjectHeaders"]);
        }
        for flags in layouts {
            let place = format!("JDK {} with {flags:?}", jdk.release);
            println!("{place}");
            counts_agree(&watch(&launch(&jdk).flags(flags), "exceptions")?).context(place)?;
        }
    }
    Ok(())
}

#[test]
fn exceptions_are_counted_without_notes_and_symbols() -> Result<()> {
    let jdk = jdk::any()?;
    let directory = tempfile::tempdir()?;
    let bare = changed(&jdk, directory.path(), &["--strip-all", "--remove-section=.note.stapsdt"])?;
    counts_agree(&watch(&launch(&bare), "exceptions")?)
}

fn counts_agree(watched: &Watched) -> Result<()> {
    let classes = watched.report.table("exceptions", "classes")?;
    let sites = watched.report.table("exceptions", "sites")?;
    for (class, key, place) in [
        ("Refusals$Refused", "refused", "Refusals.descend:"),
        ("java.lang.NumberFormatException", "numbers", "Refusals.parse:"),
        ("java.lang.IllegalArgumentException", "built", "Refusals$Order.<init>:"),
    ] {
        let thrown = watched.counts.get(key)?;
        let row = classes.iter().find(|row| row["class"] == class);
        let counted = row.map_or(Ok(0), |row| cell(row, "created"))?;
        ensure!(counted == thrown, "{counted} of {class}, not {thrown}: {classes:?}");
        let is_there = |row: &&tests::report::Row| {
            row["class"] == class && row["site"].as_str().is_some_and(|site| site.starts_with(place))
        };
        let sum = |rows: &[&tests::report::Row]| rows.iter().map(|row| cell(row, "created")).sum::<Result<u64>>();
        let of_class: Vec<_> = sites.iter().filter(|row| row["class"] == class).collect();
        let there: Vec<_> = sites.iter().filter(is_there).collect();
        ensure!(sum(&of_class)? == thrown, "{} of {class}, not {thrown}: {sites:?}", sum(&of_class)?);
        // The frame of the place is not known where its code had gone before it was named, as `stacks` measures.
        let counted = sum(&there)?;
        ensure!(counted * 10 >= thrown * 9, "{counted} of {class} at {place}, of {thrown}: {sites:?}");
        if key == "refused" {
            let frames = cell(there.first().context("no place")?, "mean_frames")?;
            ensure!(frames == FRAMES, "{frames} frames, not {FRAMES}");
        }
    }
    ensure!(classes.iter().all(|row| row["class"] != "Refusals$Bare"), "{classes:?}");
    let (created, by_class) = (
        watched.report.summary("exceptions", "created")?,
        classes.iter().map(|row| cell(row, "created")).sum::<Result<u64>>()?,
    );
    ensure!(created == by_class, "{created} exceptions, {by_class} in the classes");
    Ok(())
}
