//! Exceptions are counted by class and place, also where the program's code was compiled long before, with every collector and layout
//! of objects, and without any symbol.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jvm::Launch,
    report::{Row, cell},
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

/// Of every kind of handler.
const HANDLED: u64 = 30;

/// Where they are caught is what the program says of itself: behind `finally`, `synchronized` and `try` with resources, which let them
/// through, by the JDK, in an error of the JVM, and by nobody. In the interpreter, and in code that the compilers made.
#[test]
fn exceptions_are_told_with_the_place_where_they_are_caught() -> Result<()> {
    for jdk in jdk::all()? {
        for flags in [&["-Xint"][..], &["-Xcomp", "-XX:CompileCommand=compileonly,Handlers::*"]] {
            let place = format!("JDK {} with {flags:?}", jdk.release);
            println!("{place}");
            let launch = Launch::new(&jdk, "exceptions", "Handlers").arguments(&[&HANDLED.to_string()]).flags(flags);
            places_agree(&watch(&launch, "exceptions")?, jdk.release).context(place)?;
        }
    }
    Ok(())
}

fn places_agree(watched: &Watched, release: u32) -> Result<()> {
    let at = |method: &str| Ok::<_, anyhow::Error>(format!("Handlers.{method}:{}", watched.counts.get(method)?));
    let one = |place: &str| vec![place.to_owned()];
    let wrapped = "java.lang.reflect.InvocationTargetException";
    // Reflection goes by native code at first, then by a class that it generates; since 18 by method handles (JEP 416).
    let by_reflection = vec![
        format!("<becomes {wrapped}>"),
        "jdk.internal.reflect.GeneratedMethodAccessor*".to_owned(),
        "sun.reflect.GeneratedMethodAccessor*".to_owned(),
        "jdk.internal.reflect.DirectMethodHandleAccessor.invoke*".to_owned(),
    ];
    // What they are, how many, the frames that they leave where that is known, and where they are caught.
    let expected = [
        ("Passed", HANDLED, Some(2), vec![at("passed")?]),
        ("Closed", HANDLED, Some(0), vec![at("closed")?]),
        ("Beside", HANDLED, Some(1), vec![at("beside")?]),
        ("Ignored", HANDLED, Some(0), vec![at("ignored")? + ", ignored"]),
        ("InTask", HANDLED, None, one("java.util.concurrent.FutureTask.run*")),
        ("Refusing", HANDLED, None, by_reflection),
        ("Dying", HANDLED, None, one("<uncaught>")),
        ("Initial", 1, Some(0), one("<becomes java.lang.ExceptionInInitializerError>")),
        (wrapped, HANDLED, None, vec![at("reflected")?]),
    ];
    let sites = watched.report.table("exceptions", "sites")?;
    for (class, count, unwound, places) in expected {
        let class = if class.contains('.') { class.to_owned() } else { format!("Handlers${class}") };
        let rows: Vec<&Row> = sites.iter().filter(|row| row["class"] == class).collect();
        let there = |row: &&&Row| row["caught_at"].as_str().is_some_and(|at| places.iter().any(|place| is(place, at)));
        let caught = rows.iter().filter(there).map(|row| cell(row, "created")).sum::<Result<u64>>()?;
        ensure!(caught == count, "{caught} of {class} caught at {places:?}, of {count} on {release}: {rows:?}");
        let frames: Vec<u64> =
            rows.iter().filter(there).map(|row| cell(row, "mean_unwound_frames")).collect::<Result<_>>()?;
        ensure!(unwound.is_none_or(|unwound| frames.iter().all(|frames| *frames == unwound)), "{frames:?}: {rows:?}");
    }
    Ok(())
}

/// Whether a place is this one; one that ends in `*` stands for all that begin so, because some JDKs have no lines.
fn is(place: &str, at: &str) -> bool {
    place.strip_suffix('*').map_or(place == at, |begin| at.starts_with(begin))
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
        let is_there =
            |row: &&Row| row["class"] == class && row["site"].as_str().is_some_and(|site| site.starts_with(place));
        let sum = |rows: &[&Row]| rows.iter().map(|row| cell(row, "created")).sum::<Result<u64>>();
        let of_class: Vec<_> = sites.iter().filter(|row| row["class"] == class).collect();
        let there: Vec<_> = sites.iter().filter(is_there).collect();
        ensure!(sum(&of_class)? == thrown, "{} of {class}, not {thrown}: {sites:?}", sum(&of_class)?);
        // The frame of the place is not known where its code had gone before it was named, as `stacks` measures.
        let counted = sum(&there)?;
        ensure!(counted * 10 >= thrown * 9, "{counted} of {class} at {place}, of {thrown}: {sites:?}");
        if key == "refused" {
            let first = there.first().context("no place")?;
            let (frames, unwound) = (cell(first, "mean_frames")?, cell(first, "mean_unwound_frames")?);
            ensure!(frames == FRAMES, "{frames} frames, not {FRAMES}");
            ensure!(unwound == FRAMES - 2, "{unwound} frames left of {frames}");
            let at = first["caught_at"].as_str().unwrap_or_default();
            ensure!(at.starts_with("Refusals.throwAll:") && at.ends_with(", ignored"), "caught at {at}");
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
