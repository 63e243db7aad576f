//! Collections that a program keeps have as many entries as the program says, whatever kind they are and wherever a collector has put them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::{Jvm, Launch},
    patience::{until, until_true},
    report::{Report, cell},
};
use tracer_jvm::{
    jvm::{find, java_threads::Kept},
    thread_dump::{Thread, ThreadReader},
};

/// What a lambda has caught stands under the class of both.
const CAUGHT: &str = "java.util.HashMap in a lambda of Keeper";
/// And what a variable has under the method.
const VARIABLE: &str = "java.util.HashMap in a variable of Keeper.main";

/// What caches of the test are from, in packages of Debian that `cargo xtask setup` installs.
const LIBRARIES: [&str; 2] = ["caffeine", "guava"];

/// How many entries each has, by its field, as far as the program has them.
type Entries = BTreeMap<String, u64>;

fn seen(reader: &mut ThreadReader, program: &str) -> Result<Entries> {
    // It has said what it has, and is about to wait for the next word.
    let main = format!("{program}.main");
    until_true("main waits", || {
        let threads = reader.threads()?;
        let stands = |thread: &Thread| {
            let is_in_main = thread.frames.iter().any(|frame| frame.frame.name == *main);
            is_in_main && thread.incomplete.is_none() && thread.kernel_state != 'R'
        };
        Ok(threads.iter().any(stands))
    })?;
    let known = |Kept { field, entries, .. }: Kept| {
        let field = match &*field {
            CAUGHT => "lambda".to_owned(),
            VARIABLE => "variable".to_owned(),
            _ => field,
        };
        (field.starts_with(program) || ["lambda", "variable"].contains(&&*field)).then_some((field, entries))
    };
    Ok(reader.kept().into_iter().filter_map(known).collect())
}

/// What the program says of itself. Before 9 a map of skip lists counts its entries when it is asked.
fn said(jvm: &mut Jvm, jdk: &Jdk, has_variables: bool) -> Result<Entries> {
    let is_counted = |field: &str| match field {
        "variable" => has_variables,
        _ => jdk.release > 8 || !field.starts_with("Keeper.SKIP"),
    };
    Ok(jvm
        .work()?
        .all()
        .filter(|(field, _)| is_counted(field))
        .map(|(field, count)| (field.to_owned(), count))
        .collect())
}

fn counts_agree(jdk: &Jdk, flags: &[&str]) -> Result<()> {
    agree(jdk, "Keeper", &Launch::new(jdk, "threads", "Keeper").flags(flags), has_variables(flags))
}

/// Collectors that move objects while threads stand still mend their variables only when they go on.
fn has_variables(flags: &[&str]) -> bool {
    let is_moving = |flag: &&str| flag.ends_with("UseZGC") || flag.ends_with("UseShenandoahGC");
    !flags.iter().any(is_moving)
}

fn agree(jdk: &Jdk, program: &str, launch: &Launch, has_variables: bool) -> Result<()> {
    let mut jvm = launch.start()?;
    let first = said(&mut jvm, jdk, has_variables)?;
    let mut reader = ThreadReader::open(&find::Jvm::open(jvm.pid())?)?;
    let found = seen(&mut reader, program)?;
    ensure!(found == first, "{found:?} and not {first:?}");
    for _ in 0..2 {
        let now = said(&mut jvm, jdk, has_variables)?;
        ensure!(now.iter().all(|(field, count)| first.get(field).is_some_and(|before| before < count)), "{now:?}");
        let found = seen(&mut reader, program)?;
        ensure!(found == now, "{found:?} and not {now:?}");
    }
    jvm.finish().map(drop)
}

#[test]
fn entries_are_counted_as_the_program_does_on_every_build() -> Result<()> {
    for jdk in jdk::builds()? {
        counts_agree(&jdk, &[]).with_context(|| format!("on {}", jdk.home.display()))?;
    }
    Ok(())
}

#[test]
fn entries_are_counted_as_the_program_does_under_every_collector_and_with_wide_references() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(0)? {
        let context = || format!("on {} with {collector:?}", jdk.home.display());
        counts_agree(&jdk, collector.flags()).with_context(context)?;
    }
    counts_agree(&jdk::any()?, &["-XX:-UseCompressedOops"])
}

#[test]
fn entries_of_caches_of_libraries_are_counted() -> Result<()> {
    let libraries = LIBRARIES.map(|name| format!("/usr/share/java/{name}.jar"));
    for jdk in jdk::oldest_and_newest()? {
        let launch = Launch::new(&jdk, "threads", "LibraryCaches").arguments(&libraries);
        agree(&jdk, "LibraryCaches", &launch, true).with_context(|| format!("on {}", jdk.home.display()))?;
    }
    Ok(())
}

/// Nothing is collected in the heap of a program that adds a few entries, and no allocation is seen that must be one of them.
#[test]
fn a_map_that_only_grows_is_found_with_its_field() -> Result<()> {
    let mut jvm = Launch::new(&jdk::debian()?, "threads", "Grower").start()?;
    let pid = jvm.pid().to_string();
    until("a collection grows", || {
        let report = Report::parse(&jtrace::succeed(&["attach", &pid, "-d", "6s", "--json"])?.stdout)?;
        let title = report.titles().into_iter().find(|title| title.starts_with("`Grower$Sessions.OPEN` grew from "));
        if title.is_none() {
            return Ok(None);
        }
        for row in report.table("threads", "collections")? {
            let is_it = row.get("field").and_then(|field| field.as_str()) == Some("Grower$Sessions.OPEN");
            ensure!(is_it, "{row:?}: what stands still or goes up and down is none");
            ensure!(cell(&row, "entries_last")? > cell(&row, "entries_first")?, "{row:?}");
        }
        Ok(Some(()))
    })?;
    jvm.finish().map(drop)
}
