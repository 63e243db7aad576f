//! `jtrace threads` says what the JVM says of itself when it is asked, on every release, and what the JVM does not know.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch},
    patience::until,
    report::json,
};

/// Threads of the program that stand still.
const STANDING: [&str; 13] = [
    "main",
    "circle-1",
    "circle-2",
    "mixed-1",
    "mixed-2",
    "sleeper",
    "waiter",
    "warm",
    "initialiser",
    "reflected",
    "reader",
    "Thread-0",
    "Thread-1",
];

/// State and frames, as `jstack` writes them.
type Stack = (String, Vec<String>);

/// Threads by name.
fn stacks(text: &str) -> BTreeMap<String, Stack> {
    let mut stacks: BTreeMap<String, Stack> = BTreeMap::new();
    let mut name = String::new();
    // Behind all threads the JVM tells of circles, with stacks once more.
    for line in text.lines().take_while(|line| !line.starts_with("Found ")) {
        if let Some(rest) = line.strip_prefix('"') {
            name = rest.rsplit_once('"').map_or(rest, |(name, _)| name).to_owned();
            stacks.insert(name.clone(), Stack::default());
        }
        let Some((state, frames)) = stacks.get_mut(&name) else { continue };
        if let Some(found) = line.strip_prefix("   java.lang.Thread.State: ") {
            found.clone_into(state);
        }
        if let Some(frame) = line.strip_prefix("\tat ") {
            frames.push(plain(frame));
        }
    }
    stacks
}

/// A frame without the version of its module and the address of a hidden class.
fn plain(frame: &str) -> String {
    let (name, place) = frame.split_once('(').unwrap_or((frame, ""));
    let place = place.split_once('@').and_then(|(_, rest)| rest.split_once('/')).map_or(place, |(_, place)| place);
    let (class, method) = name.rsplit_once('.').unwrap_or(("", name));
    let class = class.split(['/', '+']).next().unwrap_or_default();
    format!("{class}.{method}({place}")
}

fn dump(jvm: &Jvm) -> Result<Value> {
    json(&jtrace::succeed(&["threads", &jvm.pid().to_string(), "--json"])?.stdout)
}

fn thread<'a>(dump: &'a Value, name: &str) -> Result<&'a Value> {
    let threads = dump["threads"].as_array().context("no threads")?;
    threads.iter().find(|thread| thread["name"] == name).with_context(|| format!("no thread {name}"))
}

/// Everybody stands still: `reader` is the last one of which nobody is told.
fn still(jvm: &Jvm) -> Result<()> {
    until("all threads stand still", || {
        let dump = dump(jvm)?;
        let stands = |name: &str| {
            thread(&dump, name).is_ok_and(|thread| !thread["waits"].is_null() || thread["state"] != "RUNNABLE")
        };
        Ok(STANDING.iter().all(|name| stands(name)).then_some(()))
    })
}

#[test]
fn stacks_are_those_of_the_jvms_own_dump_frame_for_frame() -> Result<()> {
    for jdk in jdk::all()?.into_iter().chain([jdk::debian()?]) {
        let mut jvm = Launch::new(&jdk, "dump", "Dump").start()?;
        still(&jvm)?;
        let own = stacks(&jtrace::succeed(&["threads", &jvm.pid().to_string(), "--each"])?.text());
        let told = stacks(&jvm.jcmd(&["Thread.print"])?);
        for name in STANDING {
            let on = format!("{name} on JDK {}, {}", jdk.release, jdk.home.display());
            let [own, told] = [&own, &told].map(|stacks| stacks.get(name));
            ensure!(own.is_some() && told.is_some_and(|(_, frames)| !frames.is_empty()), "{on}: there is none");
            assert_eq!(own, told, "{on}");
        }
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn who_waits_for_whom_and_for_what_is_told_and_circles_are_found_across_both_kinds_of_locks() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "dump", "Dump").start()?;
        still(&jvm)?;
        let dump = dump(&jvm)?;
        let tid = |name: &str| -> Result<u64> { thread(&dump, name)?["tid"].as_u64().context("no tid") };
        let waits = |name: &str| -> Result<&Value> { Ok(&thread(&dump, name)?["waits"]) };
        let circle = |one, other| -> Result<[u64; 2]> { Ok([tid(one)?.min(tid(other)?), tid(one)?.max(tid(other)?)]) };
        let mut circles = [circle("circle-1", "circle-2")?, circle("mixed-1", "mixed-2")?];
        circles.sort_unstable();
        let mut found: Vec<[u64; 2]> = serde_json::from_value(dump["deadlocks"].clone())?;
        found.sort_unstable();
        assert_eq!(found, circles, "on JDK {}", jdk.release);
        assert_eq!(waits("circle-1")?["class"], "java.lang.Object");
        assert_eq!(waits("mixed-2")?["class"], "java.util.concurrent.locks.ReentrantLock$NonfairSync");
        assert_eq!(waits("mixed-2")?["owner"], tid("mixed-1")?);
        assert_eq!(waits("waiter")?["class"], "[Ljava.lang.String;");
        assert_eq!(waits("Thread-0")?["class"], "java.util.concurrent.FutureTask");
        let on = waits("reader")?["on"].as_str().context("no peer")?;
        assert!(on.starts_with("TCP 127.0.0.1:"), "{on}");
        // A safepoint may stop it just then.
        until("the busy thread is seen running", || {
            let dump = self::dump(&jvm)?;
            let busy = thread(&dump, "busy")?;
            Ok((busy["incomplete"].is_string() && busy["waits"].is_null()).then_some(()))
        })?;
        jvm.finish()?;
    }
    Ok(())
}

/// The JVM's own dump says of such a lock only that it is waited for.
#[test]
fn a_lock_that_a_thread_took_along_when_it_ended_names_that_thread() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "deadlock", "Deadlock").arguments(&["abandoned"]).start()?;
        jvm.work()?;
        let dump = dump(&jvm)?;
        for name in ["stuck-1", "stuck-2"] {
            let waits = &thread(&dump, name)?["waits"];
            assert_eq!(
                (&waits["ended"], &waits["owner"]),
                (&"gone".into(), &Value::Null),
                "on JDK {}: {waits}",
                jdk.release
            );
        }
        let text = jtrace::succeed(&["threads", &jvm.pid().to_string()])?.text();
        assert!(text.contains(", owned by \"gone\", which has ended\n"), "on JDK {}: {text}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn threads_that_do_the_same_are_shown_once_and_hostile_names_are_harmless() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "dump", "Dump").start()?;
    still(&jvm)?;
    let text = jtrace::succeed(&["threads", &jvm.pid().to_string()])?.text();
    assert!(text.contains("   and 2 that do the same: \"Thread-1\", \"Thread-2\"\n"), "{text}");
    assert!(text.contains("red\"") && !text.contains('\u{1b}'), "{text}");
    jvm.finish()?;
    Ok(())
}

/// Virtual threads of each kind in `Unmounted`.
const CROWD: u64 = 300;

/// What the JVM's own dump of virtual threads says: frames by the thread's id.
fn own_dump(jvm: &Jvm) -> Result<BTreeMap<u64, Vec<String>>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("dump.json");
    jvm.jcmd(&["Thread.dump_to_file", "-format=json", &path.to_string_lossy()])?;
    let dump: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let containers = dump["threadDump"]["threadContainers"].as_array().context("no containers")?;
    let threads = containers.iter().filter_map(|container| container["threads"].as_array()).flatten();
    threads
        .map(|thread| {
            // Numbers are texts up to 21.
            let id = thread["tid"].as_u64().or_else(|| thread["tid"].as_str()?.parse().ok()).context("no tid")?;
            let frames = thread["stack"].as_array().context("no stack")?;
            Ok((id, frames.iter().filter_map(Value::as_str).map(method).collect()))
        })
        .collect()
}

/// `java.lang.VirtualThread.park` of `java.base/java.lang.VirtualThread.park(VirtualThread.java:596)`.
fn method(frame: &str) -> String {
    let name = frame.split('(').next().unwrap_or_default();
    let name = name.rsplit_once('/').filter(|_| !name.contains("$$Lambda")).map_or(name, |(_, name)| name);
    name.split("$$Lambda").next().unwrap_or_default().to_owned()
}

/// Frames that the JVM leaves out of its own dump.
fn is_hidden(frame: &str) -> bool {
    ["jdk.internal.vm.Continuation.", "java.lang.VirtualThread$VThreadContinuation"]
        .iter()
        .any(|begin| frame.starts_with(begin))
        || ["java.lang.VirtualThread.yieldContinuation", "java.lang.Thread.runWith"].contains(&frame)
        || frame.ends_with("Unmounted")
}

#[test]
fn virtual_threads_that_are_not_mounted_are_told_as_the_jvm_tells_of_them() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(0)?.into_iter().filter(|(jdk, _)| jdk.release >= 21) {
        println!("JDK {} with {}", jdk.release, collector.name());
        let launch = Launch::new(&jdk, "dump", "Unmounted").flags(collector.flags());
        let mut jvm = launch.arguments(&[&CROWD.to_string()]).start()?;
        for round in 0..2 {
            // A collector may be at work, and jtrace says where it came between. One that moves objects and mends what leads to them later
            // (ZGC) does so with the next collection, which a program that stands still never has.
            let dump = until("all virtual threads are read", || {
                let dump = dump(&jvm)?;
                let is_whole = dump["unmounted"]["missing"].as_array().is_some_and(Vec::is_empty);
                if !is_whole {
                    jvm.jcmd(&["GC.run"])?;
                }
                Ok(is_whole.then_some(dump))
            })?;
            let groups = dump["unmounted"]["groups"].as_array().context("no groups")?;
            let told = own_dump(&jvm)?;
            let mut seen = 0;
            for group in groups {
                let frames = group["frames"].as_array().context("no frames")?;
                let frames: Vec<String> = frames
                    .iter()
                    .filter_map(|frame| frame["name"].as_str())
                    .map(method)
                    .filter(|frame| !is_hidden(frame))
                    .collect();
                for id in group["java_ids"].as_array().context("no ids")?.iter().filter_map(Value::as_u64) {
                    let own = told.get(&id).with_context(|| format!("#{id} is not the JVM's, JDK {}", jdk.release))?;
                    let own: Vec<_> = own.iter().filter(|frame| !is_hidden(frame)).cloned().collect();
                    assert_eq!(frames, own, "#{id} on JDK {}", jdk.release);
                    seen += 1;
                }
            }
            assert_eq!(seen, 2 * CROWD + 2, "on JDK {}, round {round}", jdk.release);
            let all_at = |method: &str| {
                let is_there = |group: &&Value| {
                    let mut frames = group["frames"].as_array().into_iter().flatten();
                    frames.any(|frame| frame["name"] == method)
                };
                groups.iter().filter(is_there).collect::<Vec<_>>()
            };
            let at = |method: &str| all_at(method).first().copied();
            let holder = at("Unmounted.hold").context("nobody holds the lock")?;
            let mut waiting = 0;
            for group in all_at("java.util.concurrent.locks.ReentrantLock.lock") {
                waiting += group["java_ids"].as_array().map_or(0, Vec::len);
                assert_eq!(group["owner"]["name"], "holder", "{group}");
                assert_eq!(group["owner"]["java_id"], holder["java_ids"][0]);
            }
            assert_eq!(waiting as u64, CROWD);
            assert_eq!(at("Unmounted.sleep").context("nobody sleeps")?["state"], "TIMED_WAITING (parking)");
            assert_eq!(at("Unmounted.take").context("nobody takes")?["names"][0], "taker");
            jvm.work()?;
        }
        jvm.finish()?;
    }
    Ok(())
}

/// Queues as the dump has them: what waits, the field, and for how many threads.
fn queues(jvm: &Jvm) -> Result<Vec<(u64, Option<String>, usize)>> {
    let dump = dump(jvm)?;
    let queue = |queue: &Value| {
        let queued = queue["queued"].as_u64().context("no number")?;
        let threads = queue["threads"].as_array().context("no threads")?;
        Ok((queued, queue["field"].as_str().map(str::to_owned), threads.len()))
    };
    dump["queues"].as_array().context("no queues")?.iter().map(queue).collect()
}

#[test]
fn what_waits_in_queues_is_told_the_fullest_first() -> Result<()> {
    let own = |queued, field: &str| (queued, Some(field.to_owned()), 1);
    let expected = [
        ("ForkJoin", vec![(7, None, 2), (3, None, 1)]),
        (
            "OwnQueues",
            vec![
                own(17, "java.util.concurrent.PriorityBlockingQueue"),
                own(13, "OwnQueues$Depot.belt"),
                own(11, "OwnQueues$Task.parcels"),
                own(7, "OwnQueues$Base.letters"),
                own(5, "OwnQueues$Reaper.dead"),
            ],
        ),
    ];
    for jdk in jdk::builds()? {
        for (program, expected) in &expected {
            let mut jvm = Launch::new(&jdk, "threads", program).start()?;
            let found = queues(&jvm)?;
            jvm.finish()?;
            ensure!(found == *expected, "{found:?} in {program} on {}", jdk.home.display());
        }
    }
    Ok(())
}
