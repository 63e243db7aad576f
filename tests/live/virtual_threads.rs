//! Stacks of virtual threads whose outer frames lie in the heap.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Collector, Jdk},
    jtrace::{self, Session},
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};
use tracer_event::{
    decode::{Decoded, decode},
    event::Payload,
    stack::{Frame, Stacks},
};
use tracer_model::item::Item;
use tracer_source::source::recording::Recording;

const MODES: [&[&str]; 4] = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation"], &[]];
/// What the carrier's frames below the virtual thread's begin with, whatever the release calls those further out.
const ENTRY: [&str; 3] = [
    "jdk.internal.vm.Continuation.enterSpecial",
    "jdk.internal.vm.Continuation.run",
    "java.lang.VirtualThread.runContinuation",
];
/// What stands for frames that are not followed.
const MARK: &str = "<frames in the heap>";

/// The stacks that woke the other thread, innermost frame first.
struct Woken {
    stacks: Vec<Vec<Frame>>,
    rounds: u64,
    depth: u64,
}

fn woken(jdk: &Jdk, flags: &[&str], collector: Collector) -> Result<Woken> {
    let directory = tempfile::tempdir()?;
    let recording = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let mut jvm = Launch::new(jdk, "frozen", "Frozen").flags(flags).flags(collector.flags()).start()?;
    let pid = jvm.pid().to_string();
    let session = Session::start(&[
        "record",
        &pid,
        "-l",
        "locks",
        "-o",
        &recording,
        "--max-overhead",
        "100000%",
        "--ring-size",
        "16m",
    ])?;
    let counts = jvm.work()?;
    session.stop()?;
    jvm.finish()?;
    Ok(Woken { stacks: read(Path::new(&recording))?, rounds: counts.get("rounds")?, depth: counts.get("depth")? })
}

pub(crate) fn read(recording: &Path) -> Result<Vec<Vec<Frame>>> {
    let (mut stacks, mut ids, mut lost) = (Stacks::default(), Vec::new(), 0);
    Recording::open(recording)?.replay(&mut |item| match item {
        Item::Record(bytes) => {
            if let Ok(Decoded::Event(event)) = decode(bytes)
                && matches!(event.payload, Payload::Unpark { .. })
            {
                ids.push(event.stack);
            }
        }
        Item::Counters(counters) => lost = counters.sites.iter().map(|site| site[3] + site[6]).sum::<u64>(),
        Item::Frame(frame) => stacks.define_frame(frame),
        Item::Stack(stack) => stacks.define_stack(stack),
        _ => {}
    })?;
    ensure!(lost == 0, "{lost} records were lost");
    let mut found = Vec::new();
    for id in ids {
        let frames: Vec<Frame> = stacks.frames_of(id).cloned().collect();
        if frames.iter().any(|frame| frame.name == "Frozen.down") {
            let stack = stacks.get(id);
            ensure!(stack.is_some_and(|stack| stack.end.root), "not to the root: {}", text(&frames));
            found.push(frames);
        }
    }
    Ok(found)
}

fn text(frames: &[Frame]) -> String {
    let lines: Vec<String> = frames.iter().map(|frame| format!("    {:?} {frame}", frame.kind)).collect();
    format!("\n{}", lines.join("\n"))
}

/// The Java frames, and the mark.
fn names(frames: &[Frame]) -> Vec<&str> {
    let shown = |frame: &&Frame| frame.kind.is_java() || frame.name == MARK;
    frames.iter().filter(shown).map(|frame| frame.name.as_str()).collect()
}

/// Number of `down`s of a complete stack.
pub(crate) fn depth(frames: &[Frame]) -> Result<u64> {
    let names = names(frames);
    let downs = names.iter().filter(|name| **name == "Frozen.down").count();
    let first = names.iter().position(|name| *name == "Frozen.down").unwrap_or_default();
    let waking = ["jdk.internal.misc.Unsafe.unpark", "java.util.concurrent.locks.LockSupport.unpark"];
    ensure!(names[..first] == waking, "further in than the program: {}", text(frames));
    ensure!(names[first..first + downs].iter().all(|name| *name == "Frozen.down"), "mixed up: {}", text(frames));
    let outer = &names[first + downs..];
    ensure!(outer.first() == Some(&"Frozen.rounds"), "the caller is missing: {}", text(frames));
    let once = |name: &str| outer.iter().filter(|found| **found == name).count() == 1;
    ensure!(once("java.lang.VirtualThread.run") && !names.contains(&MARK), "incomplete: {}", text(frames));
    let carrier = outer.iter().position(|name| *name == ENTRY[0]).unwrap_or(outer.len());
    ensure!(outer[carrier..].starts_with(&ENTRY), "the carrier's frames are missing: {}", text(frames));
    let pool = "java.util.concurrent.ForkJoinWorkerThread.run";
    ensure!(outer.last() == Some(&pool), "the carrier's root is missing: {}", text(frames));
    let lines: Vec<_> = frames.iter().filter(|frame| frame.name == "Frozen.down").map(|frame| frame.line).collect();
    let call = lines.get(1).copied().unwrap_or_default();
    ensure!(lines[0].is_some() && lines[0] != call, "no line of its own: {}", text(frames));
    ensure!(lines[1..].iter().all(|line| line.is_some() && *line == call), "other lines: {}", text(frames));
    Ok(downs as u64)
}

pub(crate) fn virtual_jdks() -> Result<Vec<Jdk>> {
    Ok(jdk::all()?.into_iter().filter(|jdk| jdk.release >= 21).collect())
}

fn check_complete(jdk: &Jdk, flags: &[&str], collector: Collector) -> Result<()> {
    let woken = woken(jdk, flags, collector)?;
    let mut found = BTreeMap::new();
    for frames in &woken.stacks {
        *found.entry(depth(frames)?).or_insert(0) += 1;
    }
    let expected: BTreeMap<u64, u64> = (1..=woken.depth + 1).map(|depth| (depth, woken.rounds)).collect();
    ensure!(found == expected, "stacks by depth: {found:?}");
    Ok(())
}

#[test]
fn frames_in_the_heap_and_the_carriers_are_on_the_stack_in_every_mode() -> Result<()> {
    for jdk in virtual_jdks()? {
        for flags in MODES {
            check_complete(&jdk, flags, Collector::G1)
                .map_err(|error| error.context(format!("JDK {} {flags:?}", jdk.release)))?;
        }
    }
    Ok(())
}

#[test]
fn frames_in_the_heap_are_followed_with_each_collector_that_stops_the_threads() -> Result<()> {
    for jdk in virtual_jdks()? {
        for (collector, flags) in [
            (Collector::Serial, &[][..]),
            (Collector::Parallel, &[]),
            (Collector::Serial, &["-XX:-UseCompressedOops"]),
            // References that are shifted, and such that are counted from a base.
            (Collector::G1, &["-XX:HeapBaseMinAddress=8g"]),
            (Collector::Parallel, &["-XX:HeapBaseMinAddress=40g"]),
        ] {
            check_complete(&jdk, flags, collector)
                .map_err(|error| error.context(format!("JDK {} {} {flags:?}", jdk.release, collector.name())))?;
        }
    }
    Ok(())
}

#[test]
fn where_objects_move_meanwhile_a_mark_stands_for_the_frames_in_the_heap() -> Result<()> {
    for jdk in virtual_jdks()? {
        for collector in [Collector::Z, Collector::Shenandoah] {
            if !jdk.collectors().contains(&collector) {
                continue;
            }
            let woken = woken(&jdk, &[], collector)?;
            assert_eq!(woken.stacks.len() as u64, woken.rounds * (woken.depth + 1));
            let mut marked = 0;
            for frames in &woken.stacks {
                let names = names(frames);
                let entry = names.iter().position(|name| *name == ENTRY[0]).unwrap_or_default();
                assert!(names[entry..].starts_with(&ENTRY), "{}", text(frames));
                let complete = names[..entry].contains(&"Frozen.rounds");
                assert!(complete || names[entry - 1] == MARK, "{}", text(frames));
                marked += u64::from(!complete);
            }
            assert!(marked > 0, "JDK {} {}: no frame was in the heap", jdk.release, collector.name());
        }
    }
    Ok(())
}

/// Virtual threads of each kind in `Unmounted`: more than a look reads.
const CROWD: &str = "400";

/// Nobody tells events of a thread that stands still, and no kernel thread stands for it.
#[test]
fn looks_see_virtual_threads_that_are_not_mounted() -> Result<()> {
    for jdk in virtual_jdks()? {
        let mut jvm = Launch::new(&jdk, "dump", "Unmounted").arguments(&[CROWD]).start()?;
        let report = until("virtual threads are looked at", || {
            let words = ["attach", &jvm.pid().to_string(), "-l", "threads", "-d", "1s", "--json"];
            let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
            Ok(Some(report).filter(|report| report.summary("threads", "looks_partial").is_ok_and(|looks| looks > 0)))
        })?;
        let waiting = report.table("threads", "waiting")?;
        let lock = waiting.iter().find(|row| row["kind"] == "lock");
        let lock = lock.with_context(|| format!("nobody waits for the lock on JDK {}: {waiting:?}", jdk.release))?;
        ensure!(lock["site"].as_str().is_some_and(|site| site.starts_with("Unmounted.lambda$main$")), "{lock:?}");
        ensure!(lock["virtual_average"] == lock["average"] && cell(lock, "most")? > 0, "{lock:?}");
        jvm.finish()?;
    }
    Ok(())
}
