//! `jtrace heap`: what a snapshot says equals what the program planted, what the JVM counts and what its own dump holds; the JVM goes on as
//! if nobody had been there, whatever becomes of jtrace.

mod after;
mod case_studies;
mod collections;
mod questions;
mod waste;

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use rustix::process::kill_process;
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch, child_of},
    patience::{PATIENCE, until, until_true},
    process::{Finished, Process, Signal, pid_of},
    report::json,
};

/// Links of the list, entries of the holder, bytes of each entry.
const LINKS: u64 = 50_000;
const ENTRIES: u64 = 1000;
const BYTES: u64 = 100;
/// An entry with its payload; their array, and what holds it; and what holds that together with something shared.
const ENTRY: u64 = USUAL.entry();
const HOLDER: u64 = USUAL.holder();
const REGISTRY: u64 = USUAL.registry();

/// How large objects are, by the bytes before their fields. Arrays have four more for their lengths.
struct Sizes {
    header: u64,
}

const USUAL: Sizes = Sizes { header: 12 };
/// What 27 makes of itself (<https://openjdk.org/jeps/534>), and others do where they are told to.
const COMPACT: Sizes = Sizes { header: 8 };

impl Sizes {
    const fn of(jdk: &jdk::Jdk) -> &'static Self {
        if jdk.release < 27 { &USUAL } else { &COMPACT }
    }

    const fn object(&self, fields: u64) -> u64 {
        (self.header + fields).next_multiple_of(8)
    }

    const fn entry(&self) -> u64 {
        self.object(4) + self.object(4 + BYTES)
    }

    const fn holder(&self) -> u64 {
        self.object(8) + self.object(4 + 4 * ENTRIES) + ENTRIES * self.entry()
    }

    const fn registry(&self) -> u64 {
        self.object(8) + self.holder() + self.object(4) + self.object(4 + 1000)
    }
}

fn planted(jdk: &jdk::Jdk, flags: &[&str], links: u64) -> Result<Jvm> {
    let arguments = [links, ENTRIES, BYTES].map(|number| number.to_string());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Launch::new(jdk, "heap", "Planted").flags(flags).arguments(&arguments).start()
}

fn take(source: &str, more: &[&str]) -> Result<Value> {
    let arguments = [&["heap", source, "--json", "--rows", "2000"], more].concat();
    json(&jtrace::succeed(&arguments)?.stdout)
}

/// Objects and bytes of the program's own classes, hidden ones without what is in their names.
fn own_classes(rows: impl Iterator<Item = (String, u64, u64)>) -> BTreeMap<String, (u64, u64)> {
    let mut own = BTreeMap::new();
    for (class, objects, bytes) in rows {
        let class = class.strip_prefix("[L").map_or(class.clone(), |class| class.replace(';', "[]"));
        if class.starts_with("Planted") && !class.contains("Lambda") {
            own.insert(class, (objects, bytes));
        }
    }
    own
}

fn told(snapshot: &Value) -> Result<BTreeMap<String, (u64, u64)>> {
    let rows = snapshot["by_class"].as_array().context("no classes")?;
    let row = |row: &Value| {
        (
            row["class"].as_str().unwrap_or_default().to_owned(),
            row["objects"].as_u64().unwrap_or(0),
            row["bytes"].as_u64().unwrap_or(0),
        )
    };
    Ok(own_classes(rows.iter().map(row)))
}

/// What the JVM counts.
fn counted(jvm: &Jvm) -> Result<BTreeMap<String, (u64, u64)>> {
    let histogram = jvm.jcmd(&["GC.class_histogram"])?;
    let row = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (objects, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((words.next()?.to_owned(), objects, bytes))
    };
    Ok(own_classes(histogram.lines().filter_map(row)))
}

fn row<'a>(rows: &'a Value, class: &str) -> Result<&'a Value> {
    let mut rows = rows.as_array().context("no rows")?.iter();
    rows.find(|row| row["class"] == class).with_context(|| format!("no row of {class}"))
}

/// Nothing of jtrace is left but what the JVM cannot unload.
fn nothing_left(jvm: &Jvm) -> Result<()> {
    until_true("no child, no thread and no socket of the library is left", || {
        let tasks = format!("/proc/{}/task", jvm.pid());
        let is_ours =
            |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "jtrace\n");
        Ok(child_of(jvm.pid()).is_err() && !fs::read_dir(tasks)?.flatten().any(is_ours))
    })
}

#[test]
fn a_snapshot_says_what_the_program_planted_and_what_the_jvm_counts() -> Result<()> {
    for jdk in jdk::all()? {
        let (on, sizes) = (format!("on JDK {}", jdk.release), Sizes::of(&jdk));
        let mut jvm = planted(&jdk, &[], LINKS)?;
        // The first one who attaches makes the JVM listen, and it goes on listening.
        counted(&jvm)?;
        let descriptors = fs::read_dir(format!("/proc/{}/fd", jvm.pid()))?.count();
        let snapshot = take(&jvm.pid().to_string(), &[])?;
        ensure!(snapshot["cost"]["complete"] == true && snapshot["cost"]["odd"] == 0, "{on}: {}", snapshot["cost"]);
        let own = told(&snapshot)?;
        assert_eq!(own["Planted$Link"], (LINKS, LINKS * 24), "{on}");
        assert_eq!(own["Planted$Entry"], (ENTRIES, ENTRIES * 16), "{on}");
        assert_eq!(own, counted(&jvm)?, "{on}");
        for (class, retained) in
            [("Planted$Holder", sizes.holder()), ("Planted$Registry", sizes.registry()), ("Planted$Link", LINKS * 24)]
        {
            let by_class = row(&snapshot["by_class"], class)?;
            assert_eq!(row(&snapshot["biggest"], class)?["retained_bytes"], retained, "{class} {on}");
            ensure!(
                by_class["retained_bytes"] == retained && by_class["retained_exact"] == true,
                "{class} {on}: {by_class}"
            );
        }
        let path = &row(&snapshot["biggest"], "Planted$Holder")?["path"];
        let steps = path["steps"].as_array().context("no steps")?;
        let last: Vec<String> =
            steps.iter().rev().take(2).map(|step| format!("{}.{}", step["class"], step["by"])).collect();
        assert_eq!(last, [r#""Planted$Registry"."holder""#, r#""Planted"."registry""#], "{on}");
        let point = row(&snapshot["accumulations"], "Planted$Entry[]")?;
        assert_eq!(point["holds"], ENTRIES, "{on}");
        assert_eq!(row(&snapshot["by_class"], "Planted$Seldom")?["held_by"][0]["by"], "a local variable", "{on}");
        let faint = &row(&snapshot["by_class"], "Planted$Faint")?["held_by"][0]["by"];
        assert_eq!(faint, "weak, soft, phantom or final references only", "{on}");
        nothing_left(&jvm)?;
        assert_eq!(fs::read_dir(format!("/proc/{}/fd", jvm.pid()))?.count(), descriptors, "{on}");
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn the_jvms_own_dump_read_as_a_snapshot_holds_the_same_objects() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for jdk in jdk::all()? {
        let on = format!("on JDK {}", jdk.release);
        let mut jvm = planted(&jdk, &[], LINKS)?;
        let dump = directory.path().join(format!("{}.hprof", jdk.release)).display().to_string();
        let kept = directory.path().join(format!("{}.heap", jdk.release)).display().to_string();
        let live = take(&jvm.pid().to_string(), &["-o", &kept])?;
        jvm.jcmd(&["GC.heap_dump", &dump])?;
        let dumped = take(&dump, &[])?;
        let objects = |snapshot: &Value| -> Result<Vec<(String, u64)>> {
            Ok(told(snapshot)?.into_iter().map(|(class, (objects, _))| (class, objects)).collect())
        };
        assert_eq!(objects(&live)?, objects(&dumped)?, "{on}");
        // Sizes of objects are those of the JVM where it says them, and so is what they retain.
        assert_eq!(
            row(&live["biggest"], "Planted$Holder")?["retained_bytes"],
            row(&dumped["biggest"], "Planted$Holder")?["retained_bytes"],
            "{on}"
        );
        let again = take(&kept, &[])?;
        for part in ["by_class", "biggest", "accumulations", "roots", "objects", "references"] {
            assert_eq!(live[part], again[part], "{part} {on}");
        }
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_snapshot_is_written_as_a_dump_that_another_reader_understands() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/read_dump.py");
    for jdk in jdk::all()? {
        let on = format!("on JDK {}", jdk.release);
        let mut jvm = planted(&jdk, &[], 2000)?;
        let name =
            |extension: &str| directory.path().join(format!("{}.{extension}", jdk.release)).display().to_string();
        let (kept, dump) = (name("heap"), name("hprof"));
        let live = take(&jvm.pid().to_string(), &["-o", &kept])?;
        take(&kept, &["-o", &dump])?;
        let way = ["Planted", "registry", "holder", "entries"];
        let read = Finished::of(Command::new("python3").args([script, &dump]).args(way), PATIENCE)?;
        ensure!(read.code == 0, "{on}: {}", read.stderr);
        let read: Value = serde_json::from_slice(&read.stdout)?;
        let rows = read["objects"].as_object().context("no objects")?.iter();
        let number = |row: &Value, at: usize| row[at].as_u64().unwrap_or(0);
        let own = own_classes(rows.map(|(class, row)| (class.replace('/', "."), number(row, 0), number(row, 1))));
        assert_eq!(own, told(&live)?, "{on}");
        assert_eq!(own, counted(&jvm)?, "{on}");
        assert_eq!(read["end"]["class"], "[LPlanted$Entry;", "{on}");
        ensure!(read["end"]["elements"] == ENTRIES && read["end"]["held"] == ENTRIES, "{on}: {read}");
        ensure!(["0x3", "0x8"].iter().all(|tag| read["roots"][tag].as_u64() > Some(0)), "{on}: {}", read["roots"]);
        // And it is the same heap for jtrace.
        let again = take(&dump, &[])?;
        assert_eq!(told(&again)?, told(&live)?, "{on}");
        for class in ["Planted$Holder", "Planted$Registry", "Planted$Link"] {
            let retained = |of: &Value| Ok::<_, anyhow::Error>(row(&of["biggest"], class)?["retained_bytes"].clone());
            assert_eq!(retained(&again)?, retained(&live)?, "{class} {on}");
        }
        let faint = &row(&again["by_class"], "Planted$Faint")?["held_by"][0]["by"];
        assert_eq!(faint, "weak, soft, phantom or final references only", "{on}");
        let error = jtrace::refuse(&["heap", &dump, "-o", &name("again.hprof")], 2)?;
        ensure!(error.contains("would have less in it"), "{error}");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn other_collectors_tags_and_a_walk_in_the_jvm_give_the_same() -> Result<()> {
    let jdk = jdk::any()?;
    for flags in ["-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
        let mut jvm = planted(&jdk, &[flags], LINKS)?;
        let expected = counted(&jvm)?;
        for more in [&[][..], &["--tags"], &["--stop"]] {
            let snapshot = take(&jvm.pid().to_string(), more)?;
            assert_eq!(told(&snapshot)?, expected, "{flags} {more:?}");
            ensure!(snapshot["cost"]["in_jvm"] == more.contains(&"--stop"), "{flags} {more:?}");
        }
        nothing_left(&jvm)?;
        jvm.work()?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_heap_that_moves_while_the_program_runs_is_refused_and_can_be_walked_with_the_jvm_stopped() -> Result<()> {
    let jdk = jdk::all()?.into_iter().find(|jdk| jdk.release == 17).context("no JDK 17")?;
    let mut jvm = planted(&jdk, &["-XX:+UseZGC", "-Xmx256m"], LINKS)?;
    let pid = jvm.pid().to_string();
    let error = jtrace::refuse(&["heap", &pid], 1)?;
    ensure!(error.contains("ZGC") && error.contains("cannot be copied") && error.contains("--stop"), "{error}");
    let snapshot = take(&pid, &["--stop"])?;
    assert_eq!(told(&snapshot)?["Planted$Link"].0, LINKS);
    nothing_left(&jvm)?;
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_jvm_without_its_attach_mechanism_is_refused() -> Result<()> {
    let mut jvm = planted(&jdk::any()?, &["-XX:+DisableAttachMechanism"], 10)?;
    let error = jtrace::refuse(&["heap", &jvm.pid().to_string()], 1)?;
    ensure!(error.contains("DisableAttachMechanism"), "{error}");
    jvm.finish()?;
    Ok(())
}

#[test]
fn a_jtrace_that_is_killed_in_the_middle_leaves_the_jvm_and_no_child() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = planted(&jdk, &["-Xmx256m"], 1_500_000)?;
        let pid = jvm.pid().to_string();
        // The walk can be over before jtrace is killed: then there was no child to be left, and it is done again.
        until("a copy was there when jtrace was killed", || {
            let process = Process::spawn(&mut jtrace::command(&["heap", &pid])?)?;
            let copy = until("there is a copy, or jtrace has ended", || {
                let copy = child_of(jvm.pid()).ok();
                Ok((copy.is_some() || !process.is_running()).then_some(copy))
            })?;
            process.signal(Signal::KILL).ok();
            nothing_left(&jvm)?;
            Ok(copy)
        })?;
        jvm.work()?;
        let snapshot = take(&pid, &[])?;
        ensure!(told(&snapshot)?["Planted$Link"].0 == 1_500_000, "JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

/// Has `heap` of a JVM wait for a copy that is stopped, and so never ends by itself.
fn beside_a_stopped_copy(jvm: &Jvm, more: &[&str]) -> Result<(Process, u32)> {
    let pid = jvm.pid().to_string();
    // The walk can be over before: then it is done again.
    until("a copy is stopped in the middle", || {
        let mut process = Process::spawn(&mut jtrace::command(&[&["heap", &pid], more].concat())?)?;
        // The last that it does before it walks is to close all descriptors but one.
        let is_settled = |copy: &u32| fs::read_dir(format!("/proc/{copy}/fd")).is_ok_and(|all| all.count() == 1);
        let copy = until("there is a copy that walks, or jtrace has ended", || {
            let copy = child_of(jvm.pid()).ok().filter(is_settled);
            Ok((copy.is_some() || !process.is_running()).then_some(copy))
        })?;
        let stopped = copy.filter(|copy| pid_of(*copy).is_ok_and(|pid| kill_process(pid, Signal::STOP).is_ok()));
        let state = |copy: u32| fs::read_to_string(format!("/proc/{copy}/stat")).unwrap_or_default();
        let is_held = stopped.map(|copy| {
            until("the copy stands still, or has ended", || {
                let state = state(copy);
                let is_over = state.is_empty() || state.contains(") Z ") || !process.is_running();
                Ok((is_over || state.contains(") T ")).then_some(!is_over))
            })
        });
        match (stopped, is_held.transpose()?) {
            (Some(copy), Some(true)) => {
                // The 38th field: the signal that its end sends to the JVM.
                let signal =
                    state(copy).rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(35).map(str::to_owned));
                ensure!(signal.as_deref() == Some("0"), "the JVM gets signal {signal:?}");
                Ok(Some((process, copy)))
            }
            _ => process.wait(PATIENCE).map(|_| None),
        }
    })
}

#[test]
fn a_copy_that_never_ends_does_at_its_limit_and_with_its_jvm() -> Result<()> {
    let jdk = jdk::any()?;
    let mut jvm = planted(&jdk, &["-Xmx256m"], 1_500_000)?;
    let (mut process, copy) = beside_a_stopped_copy(&jvm, &["--limit", "1"])?;
    process.wait(PATIENCE)?;
    let said = process.transcript();
    ensure!(said.contains("it took too long"), "the limit is not said: {said}");
    nothing_left(&jvm)?;
    ensure!(!std::path::Path::new(&format!("/proc/{copy}")).exists(), "the copy is there");
    jvm.work()?;
    let (mut process, copy) = beside_a_stopped_copy(&jvm, &[])?;
    has_less(copy, &jvm)?;
    jvm.process().signal(Signal::KILL)?;
    process.wait(PATIENCE)?;
    until_true("the copy has ended with its JVM", || Ok(!std::path::Path::new(&format!("/proc/{copy}")).exists()))
}

/// One thread, no handler, no core, the JVM's user, the first to be killed where memory is short; and one descriptor, as was seen before.
fn has_less(copy: u32, jvm: &Jvm) -> Result<()> {
    let read = |pid: u32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
    let line = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).context("no line")
    };
    let (of_copy, of_jvm) = (read(copy, "status")?, read(jvm.pid(), "status")?);
    assert_eq!(line(&of_copy, "Threads:")?, ["1"]);
    assert_eq!(line(&of_copy, "SigCgt:")?, ["0000000000000000"]);
    for same in ["Uid:", "Gid:", "CapEff:"] {
        assert_eq!(line(&of_copy, same)?, line(&of_jvm, same)?, "{same}");
    }
    assert_eq!(line(&read(copy, "limits")?, "Max core file size")?[..2], ["1", "1"]);
    assert_eq!(read(copy, "oom_score_adj")?.trim(), "1000");
    Ok(())
}
