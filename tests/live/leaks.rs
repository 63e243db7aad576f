//! `jtrace leaks` and `jtrace heap diff`: of twelve programs that leak in different ways each is named by its class and what holds it, alone and
//! first; of six things that grow and have a bound none is accused. Snapshots are taken between steps of the programs, which add what is known.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch},
    patience::{PATIENCE, until},
    process::{Finished, Process, Signal},
};

/// A leak: the program, what holds what is never used again, and its class.
struct Planted {
    program: &'static str,
    holder: &'static str,
    class: &'static str,
    /// What is held through it: so many objects more in each step, at least.
    objects: u64,
}

const fn planted(program: &'static str, holder: &'static str, class: &'static str, objects: u64) -> Planted {
    Planted { program, holder, class, objects }
}

const PLANTED: [Planted; 12] = [
    planted("StaticMap", "Growing$StaticMap.ORDERS (static)", "Growing$Order", 4000),
    planted("Listeners", "Growing$Listeners.MODEL (static)", "Growing$Listeners$View$$Lambda", 4000),
    planted("ThreadLocals", "a live thread", "Growing$ThreadLocals$Session", 4000),
    planted("Queue", "a live thread", "Growing$Queue$Task", 2000),
    planted("BadKeys", "Growing$BadKeys.CACHE (static)", "Growing$BadKeys$Key", 4000),
    planted("InnerClass", "Growing$InnerClass.CALLBACKS (static)", "Growing$InnerClass$Screen$Callback", 1500),
    planted("Loaders", "Growing$Loaders.KEPT (static)", "Growing$Loaders$PluginLoader", 40),
    planted("Journal", "Growing$Journal.text (static)", "byte[]", 0),
    planted("Chain", "Growing$Chain.last (static)", "Growing$Chain$Link", 2000),
    planted("Tenants", "Growing$Tenants.BY_NAME (static)", "Growing$Tenants$Event", 2000),
    planted("WeakValues", "Growing$WeakValues.REGISTRY (static)", "Growing$Order", 6000),
    planted("Threads", "a live thread", "Growing$Threads$Waiter", 50),
];

/// What grows and has a bound, and what is said of it.
const BOUNDED: [(&str, &str); 4] = [
    ("Bounded.CACHE (static)", "stopped"),
    ("Bounded.AT_THE_START (static)", "stopped"),
    ("Bounded.WORDS (static)", "slows_down"),
    ("Bounded.IN_WORK (static)", "stopped"),
];
/// There is as little of it at last as at first. What softly is held is accused by nobody.
const EMPTIED: &str = "Bounded.BUFFER (static)";

/// Steps between snapshots, of which there is one more.
const STEPS: usize = 4;

/// A program that waits for its steps, and snapshots of it before, between and after them.
fn snapshots(program: &str, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut jvm: Jvm = Launch::new(&jdk::any()?, "leaks", "Growing").arguments(&[program]).start()?;
    let mut files = Vec::new();
    for step in 0..=STEPS {
        let file = directory.join(format!("{program}-{step}.heap"));
        jtrace::succeed(&["heap", &jvm.pid().to_string(), "-o", &file.display().to_string()])?;
        files.push(file);
        if step < STEPS {
            jvm.work()?;
        }
    }
    jvm.finish()?;
    Ok(files)
}

fn json(words: &[&str], files: &[&PathBuf]) -> Result<Value> {
    let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    arguments.extend(files.iter().map(|file| file.display().to_string()));
    arguments.push("--json".to_owned());
    Ok(serde_json::from_slice(&jtrace::succeed(&arguments)?.stdout)?)
}

fn leaks(files: &[&PathBuf]) -> Result<Value> {
    json(&["leaks"], files)
}

fn rows<'a>(of: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    of[key].as_array().with_context(|| format!("no {key}: {of}"))
}

fn holders(of: &Value, key: &str) -> Result<Vec<String>> {
    Ok(rows(of, key)?.iter().map(|row| row["holder"].as_str().unwrap_or_default().to_owned()).collect())
}

#[test]
fn each_leak_is_the_only_suspect_and_named_by_its_class_and_its_holder() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for Planted { program, holder, class, objects } in PLANTED {
        let files = snapshots(program, directory.path())?;
        // Before the first step classes are loaded: the first snapshot is that after it.
        let found = leaks(&files.iter().skip(1).collect::<Vec<_>>())?;
        let suspects = rows(&found, "suspects")?;
        let [suspect] = &suspects[..] else { anyhow::bail!("{program}: not one suspect: {found:#}") };
        // JDK 17 numbers the classes of lambdas.
        let named =
            suspect["class"].as_str().is_some_and(|named| named == class || named.starts_with(&format!("{class}$")));
        ensure!(suspect["holder"] == holder && named, "{program}: {suspect:#}");
        let amounts = rows(suspect, "amounts")?;
        ensure!(amounts.len() == STEPS, "{program}: {suspect:#}");
        for pair in amounts.windows(2) {
            let number = |of: &Value| of["objects"].as_u64().unwrap_or(0);
            let more = number(&pair[1]) - number(&pair[0]);
            ensure!(more >= objects, "{program}: {more} objects more in a step: {suspect:#}");
        }
        ensure!(found["so_far"] == false, "{program}: {found:#}");
        // Growth alone finds it as well: what it cannot do is to acquit, see below.
        let alone = leaks(&[&files[1], &files[STEPS]])?;
        ensure!(holders(&alone, "suspects")?.first().is_some_and(|first| first == holder), "{program}: {alone:#}");
    }
    Ok(())
}

#[test]
fn what_has_a_bound_is_not_accused_and_growth_from_first_to_last_alone_accuses_it() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let files = snapshots("Bounded", directory.path())?;
    let found = leaks(&files.iter().collect::<Vec<_>>())?;
    ensure!(rows(&found, "suspects")?.is_empty(), "{found:#}");
    let others = rows(&found, "others")?;
    for (holder, growth) in BOUNDED {
        let other = others.iter().find(|other| other["holder"] == holder);
        let other = other.with_context(|| format!("{holder} is not there: {found:#}"))?;
        ensure!(other["growth"] == growth, "{holder}: {other:#}");
    }
    // What `docs/heap.md` compares with: growth between two moments and nothing else.
    let accused = |until: usize| -> Result<BTreeSet<String>> {
        let accused = holders(&leaks(&[&files[0], &files[until]])?, "suspects")?;
        Ok(accused.into_iter().filter(|holder| holder.starts_with("Bounded.")).collect())
    };
    let bounded = BOUNDED.iter().map(|(holder, _)| (*holder).to_owned());
    assert_eq!(accused(STEPS)?, bounded.clone().collect());
    assert_eq!(accused(1)?, bounded.chain([EMPTIED.to_owned()]).collect());
    Ok(())
}

#[test]
fn two_snapshots_differ_by_what_the_program_has_added_and_a_snapshot_not_from_itself() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let files = snapshots("StaticMap", directory.path())?;
    let diff = json(&["heap", "diff"], &[&files[1], &files[3]])?;
    let class = rows(&diff, "by_class")?.iter().find(|row| row["class"] == "Growing$Order");
    let class = class.with_context(|| format!("no row of the class: {diff:#}"))?;
    ensure!(class["before"]["objects"] == 2000 && class["after"]["objects"] == 6000, "{class:#}");
    ensure!(class["fate"] == "grown" && diff["cautions"] == Value::Array(Vec::new()), "{diff:#}");
    let holder = &rows(&diff, "holders")?[0];
    ensure!(holder["way"][0]["by"] == "Growing$StaticMap.ORDERS (static)", "{holder:#}");
    let none = json(&["heap", "diff"], &[&files[1], &files[1]])?;
    ensure!(rows(&none, "by_class")?.is_empty() && rows(&none, "holders")?.is_empty(), "{none:#}");
    Ok(())
}

/// `jtrace leaks` on a running JVM that does its work so often after the first two of three snapshots.
fn live(jvm: &mut Jvm, seconds: u64, steps: u32) -> Result<Value> {
    let arguments = ["leaks", &jvm.pid().to_string(), "-d", &format!("{seconds}s"), "-n", "3", "--json"];
    let mut process = Process::spawn(&mut jtrace::command(&arguments)?)?;
    let mut read = 0;
    for taken in 1..=2 {
        read = process.stderr.wait_for_line(&format!("snapshot {taken} of 3"), read, PATIENCE)?.1;
        for _ in 0..steps {
            jvm.work()?;
        }
    }
    process.wait(PATIENCE)?;
    Ok(serde_json::from_slice(&Finished::from_process(&process)?.stdout)?)
}

#[test]
fn a_running_jvm_is_looked_at_over_a_while_and_what_it_keeps_meanwhile_is_found() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "leaks", "Growing").arguments(&["Chain"]).start()?;
    jvm.work()?;
    let pid = jvm.pid().to_string();
    // It stands still: nothing may grow, however often it is looked at.
    let found = jtrace::succeed(&["leaks", &pid, "-d", "1s", "-n", "3", "--json"])?;
    let found: Value = serde_json::from_slice(&found.stdout)?;
    ensure!(rows(&found, "snapshots")?.len() == 3 && rows(&found, "suspects")?.is_empty(), "{found:#}");
    let directory = tempfile::tempdir()?;
    let page = directory.path().join("leaks.html");
    let name = page.display().to_string();
    ensure!(jtrace::succeed(&["leaks", &pid, "-d", "1s", "-n", "2", "-o", &name])?.text().is_empty(), "a text as well");
    let page = std::fs::read_to_string(page)?;
    ensure!(page.contains("What goes on growing in") && page.contains("</html>"), "{page}");
    // A snapshot can be taken before the work of its interval is done: then there is more time.
    let mut seconds = 2;
    let suspect = until("it is seen that the program goes on growing", || {
        seconds *= 2;
        Ok(rows(&live(&mut jvm, seconds, 1)?, "suspects")?.first().cloned())
    })?;
    ensure!(suspect["holder"] == "Growing$Chain.last (static)", "{suspect:#}");
    ensure!(suspect["objects_per_hour"].as_f64() > Some(0.0), "{suspect:#}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn the_line_that_makes_what_is_kept_is_named_by_samples_of_the_same_time() -> Result<()> {
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/leaks/Growing.java"))?;
    let line = source.lines().position(|line| line.contains("new Link()")).context("no line makes links")? + 1;
    let mut jvm = Launch::new(&jdk::any()?, "leaks", "Growing").arguments(&["Chain"]).start()?;
    // Which objects are sampled is chance: there are more of them each time.
    let (mut seconds, mut steps) = (2, 10);
    let made = until("a link is sampled", || {
        (seconds, steps) = (seconds + 2, steps * 2);
        let found = live(&mut jvm, seconds, steps)?;
        let made = found["suspects"][0]["made_at"].as_array().cloned().unwrap_or_default();
        Ok(made.into_iter().find(|made| made["class"] == "Growing$Chain$Link"))
    })?;
    ensure!(made["place"] == format!("Growing$Chain.step:{line}"), "{made:#}");
    ensure!(made["samples"].as_u64() > Some(0) && made["samples"] == made["of"], "{made:#}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_signal_ends_it_with_what_two_snapshots_say_and_before_them_with_nothing() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "leaks", "Growing").arguments(&["Chain"]).start()?;
    let arguments = |snapshots: &'static str| -> [String; 7] {
        ["leaks", &jvm.pid().to_string(), "-d", "3m", "-n", snapshots, "--json"].map(str::to_owned)
    };
    let mut process = Process::spawn(&mut jtrace::command(&arguments("3"))?)?;
    process.stderr.wait_for_line("snapshot 1 of 3", 0, PATIENCE)?;
    process.signal(Signal::INT)?;
    process.wait(PATIENCE)?;
    let finished = Finished::from_process(&process)?;
    ensure!(finished.code == 1 && finished.stderr.contains("before there were two snapshots"), "{}", finished.stderr);

    let mut process = Process::spawn(&mut jtrace::command(&arguments("100"))?)?;
    process.stderr.wait_for_line("snapshot 2 of 100", 0, PATIENCE)?;
    process.signal(Signal::INT)?;
    process.wait(PATIENCE)?;
    let finished = Finished::from_process(&process)?;
    ensure!(finished.code == 0, "{}", finished.stderr);
    let found: Value = serde_json::from_slice(&finished.stdout)?;
    ensure!(rows(&found, "snapshots")?.len() >= 2, "{found:#}");
    jvm.work()?;
    jvm.finish()?;
    Ok(())
}

#[test]
fn what_is_no_snapshot_is_one_line() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("foreign.heap");
    std::fs::write(&file, "JTHEAP\r\n\x01\0\0\0 and nothing more")?;
    let file = file.display().to_string();
    let error = jtrace::refuse(&["heap", "diff", &file, &file], 1)?;
    ensure!(error.contains("it is damaged"), "{error}");
    let error = jtrace::refuse(&["leaks", &file, "/etc/hostname"], 1)?;
    ensure!(error.contains(&file), "{error}");
    let error = jtrace::refuse(&["leaks", &file], 2)?;
    ensure!(error.contains("one snapshot"), "{error}");
    Ok(())
}
