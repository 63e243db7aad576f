//! Rules about what the program waits for that is not a thread of its own, as looks at all threads have seen it: peers, disks, other
//! processes, queues without room; and about threads that everything else needs: carriers, the one of finalizers.

mod wait;

use self::wait::{
    DISK, NAGLE, OF_CONNECTING, OF_ITSELF, OF_LOCKED_FILE, OF_NETWORK, OF_PRINTED, PARTY, PEER, PROCESS, QUEUE, SYNC,
    TASK, Wait,
};
use super::{
    Evidence, Row,
    cpu::samples,
    looks::{LOOKS, of_kind, place, seen, threads, went_on},
    pressure::crowded_out,
    queues, when,
};
use crate::{
    item::look::OF_THIS_JVM,
    lens::Lens::{Cpu, Threads},
    report::{Finding, Severity},
    text::format,
};

/// Calls that wait for nothing but a disk, or for whoever has locked a file. To open one that is known takes no time, unless it has to be
/// emptied, and what was in it was just forced to the disk.
const SYNC_CALLS: [&str; 6] = ["fsync", "msync", "fdatasync", "flock", "fcntl", "openat"];
/// Those that wait for a lock, as titles have them.
const LOCK_CALLS: [&str; 2] = [" (fcntl)", " (flock)"];

/// Files that are none of a disk.
const DEVICES: [&str; 3] = ["/dev/", "/proc/", "/sys/"];

/// Most other peers that are told beside the one that most wait for.
const OTHER_PEERS: usize = 2;

/// How addresses begin that lead to the same machine.
const ON_THIS_MACHINE: [&str; 6] =
    ["TCP 127.", "TCP [::1]", "TCP [::ffff:127.", "Unix socket ", " on this machine", OF_THIS_JVM];

/// Segments that were sent again, from which on they are told.
const RESENT: u64 = 3;

/// Of the times that threads were seen waiting for a peer, in how many it held its answer back, in per cent, for that to be why.
const HELD_BACK_PERCENT: f64 = 50.0;

/// Of the times that threads were seen waiting, how many must be of threads that had run since the look before, in per cent.
const ENDS_PERCENT: f64 = 75.0;

/// Threads wait for a peer to answer. One on this machine may only wait for a CPU, as the JVM does, or have answered already.
pub(super) fn peer(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = most(evidence, &PEER)?;
    if let Some(percent) = row.number("held_back_percent").filter(|percent| *percent >= HELD_BACK_PERCENT) {
        let mut finding = say(evidence, &NAGLE, &row)?;
        finding.title.push_str(", which holds its answers back until what it sent before is acknowledged");
        let share = format::percent(percent);
        finding.evidence.push(format!("in {share} of these waits the peer's socket had bytes that it did not send"));
        let why = "the kernel acknowledges after up to 40 ms (delayed acknowledgements), and sends little bytes not before (Nagle's algorithm)";
        finding.evidence.push(why.to_owned());
        return Some(finding);
    }
    let mut finding = say(evidence, &PEER, &row)?;
    let is_near = ON_THIS_MACHINE.iter().any(|address| row.text("what").contains(address));
    finding.evidence.extend(other_peers(evidence, &row));
    let network = network(evidence, &row, is_near);
    finding.evidence.extend(network.as_ref().map(|(said, _)| said.clone()));
    if network.is_some_and(|(_, loses)| loses) {
        finding.title.push_str("; the network loses what is sent");
        finding.severity = finding.severity.max(Severity::Warning);
        OF_NETWORK.clone_into(&mut finding.next_step);
    } else if row.text("what").ends_with(" (connect)") {
        OF_CONNECTING.clone_into(&mut finding.next_step);
    } else if row.text("what").contains(OF_THIS_JVM) {
        OF_ITSELF.clone_into(&mut finding.next_step);
    }
    Some(if is_near { may_lack_a_cpu(evidence, finding) } else { finding })
}

/// What the network does meanwhile, as the kernel knows it, and whether it loses segments.
fn network(evidence: &Evidence<'_>, row: &Row<'_>, is_near: bool) -> Option<(String, bool)> {
    let what = row.text("what");
    let peer = what.rsplit_once(" (").map_or(what.as_str(), |(peer, _)| peer);
    let known = evidence.rows(Threads, "peers").find(|known| known.text("peer") == peer)?;
    let [resent, looks, unanswered] = ["resent", "looks", "looks_unanswered"].map(|key| known.whole(key));
    let rtt = format::duration(known.whole("rtt_ns"));
    if resent >= RESENT || unanswered >= LOOKS {
        let segments = format::plural(resent, "segment", "segments");
        let said = format!(
            "{segments} had to be sent again, and in {unanswered} of {looks} looks at a connection the peer had not acknowledged one; a \
             round trip takes {rtt}"
        );
        return Some((said, true));
    }
    (!is_near).then(|| {
        (format!("a round trip to it takes {rtt}, and the network loses nothing: it is the peer that is slow"), false)
    })
}

/// Peers that others wait for meanwhile: whoever asks itself, or a test beside it, waits for what these do.
fn other_peers(evidence: &Evidence<'_>, told: &Row<'_>) -> Vec<String> {
    let is_other = |row: &Row<'_>| row.text("kind") == told.text("kind") && row.text("what") != told.text("what");
    let others = evidence.rows(Threads, "waiting").filter(is_other).filter_map(|row| {
        let average = row.number("average").filter(|average| *average >= PEER.told)?;
        Some(format!("{} wait for {}, at {}", threads(evidence, &row, average), what(&row), place(&row)))
    });
    others.take(OTHER_PEERS).collect()
}

/// What a row's threads wait for, and by whom it is asked for.
fn what(row: &Row<'_>) -> String {
    row.known("asked").map(|asked| format!("{asked}: ")).unwrap_or_default() + &row.text("what")
}

/// Whatever is waited for on the same machine may only wait for a CPU, where others use them.
fn may_lack_a_cpu(evidence: &Evidence<'_>, finding: Finding) -> Finding {
    if crowded_out(evidence).is_none() {
        return finding;
    }
    let mut finding = Finding { severity: Severity::Info, ..finding };
    finding.evidence.push("what it waits for is on the same machine, whose CPUs other processes use".to_owned());
    finding
}

/// Threads wait for a disk. Reading and writing is what programs do, so it takes more of it to be told.
pub(super) fn disk(evidence: &Evidence<'_>) -> Option<Finding> {
    let calls = |row: &Row<'_>| {
        let what = row.text("what");
        let call = what.rsplit_once(" (").and_then(|(_, call)| call.strip_suffix(')'));
        (!DEVICES.iter().any(|device| what.starts_with(device))).then(|| SYNC_CALLS.contains(&call.unwrap_or_default()))
    };
    let all = |row: &Row<'_>| in_method(evidence, row, |other| calls(other).is_some());
    let told = |wait: &Wait, sync: bool| {
        let is_it = |row: &Row<'_>| row.text("kind") == "file" && calls(row) == Some(sync) && all(row).looks >= LOOKS;
        let row = of_kind(evidence, is_it)?;
        say_all(evidence, wait, &row, &all(&row))
    };
    let mut finding = told(&SYNC, true).or_else(|| told(&DISK, false))?;
    if LOCK_CALLS.iter().any(|call| finding.title.contains(call)) {
        OF_LOCKED_FILE.clone_into(&mut finding.next_step);
    }
    Some(finding)
}

/// What the threads of a method wait for.
struct InMethod {
    looks: u64,
    average: f64,
    /// How many rows there are of it.
    rows: usize,
}

/// A method that forces data to the disk waits for it in its other calls, too: opening, or writing, the same file. Or its threads have
/// a file each.
fn in_method(evidence: &Evidence<'_>, row: &Row<'_>, is_of_disk: impl Fn(&Row<'_>) -> bool) -> InMethod {
    let of = |row: &Row<'_>| row.text("site").rsplit_once(':').map(|(method, _)| method.to_owned());
    let same = evidence.rows(Threads, "waiting").filter(|other| other.text("kind") == "file" && of(other) == of(row));
    let none = InMethod { looks: 0, average: 0.0, rows: 0 };
    same.filter(is_of_disk).fold(none, |sum, other| InMethod {
        looks: sum.looks + other.whole("looks"),
        average: sum.average + other.number("average").unwrap_or(0.0),
        rows: sum.rows + 1,
    })
}

/// Threads wait for other processes.
pub(super) fn process(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = most(evidence, &PROCESS)?;
    let mut finding = may_lack_a_cpu(evidence, say(evidence, &PROCESS, &row)?);
    if row.text("what").starts_with("standard ") {
        OF_PRINTED.clone_into(&mut finding.next_step);
    }
    Some(finding)
}

/// Threads wait until somebody takes from a queue.
pub(super) fn queue(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = most(evidence, &QUEUE)?;
    let mut finding = say(evidence, &QUEUE, &row)?;
    finding.evidence.extend(went_on(evidence, &row));
    finding.evidence.extend(queues::fullest(evidence));
    Some(finding)
}

/// Threads wait for results of tasks, and not all of a pool.
pub(super) fn task(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = most(evidence, &TASK)?;
    let mut finding = say(evidence, &TASK, &row)?;
    let together = Some(row.whole("together")).filter(|together| *together > 1);
    finding.evidence.extend(together.map(|together| format!("{together} at once wait for one and the same result")));
    finding.evidence.extend(went_on(evidence, &row));
    Some(finding)
}

/// Threads wait until the last one has come as far as they have.
pub(super) fn party(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = most(evidence, &PARTY)?;
    let mut finding = say(evidence, &PARTY, &row)?;
    finding.evidence.extend(row.known("pool").and_then(|pool| asleep(evidence, &pool)));
    Some(finding)
}

/// Which thread of a pool slept most of the time.
fn asleep(evidence: &Evidence<'_>, pool: &str) -> Option<String> {
    let (begin, end) = pool.split_once('*')?;
    let is_of_pool = |name: &str| name.starts_with(begin) && name.ends_with(end.trim_matches('*'));
    let mut sleepers = evidence.rows(Threads, "sleepers");
    let row = sleepers.find(|row| is_of_pool(&row.text("thread")))?;
    let slept = row.whole("total_ns");
    let is_most = slept.saturating_mul(2) > evidence.span.duration_ns;
    is_most.then(|| format!("`{}` of these slept {} meanwhile", row.text("thread"), format::duration(slept)))
}

/// What most threads wait for, of these kinds.
fn most<'a>(evidence: &Evidence<'a>, wait: &Wait) -> Option<Row<'a>> {
    of_kind(evidence, |row| wait.kinds.contains(&row.text("kind").as_str()))
}

/// So many threads wait for what this row says.
fn say(evidence: &Evidence<'_>, wait: &Wait, row: &Row<'_>) -> Option<Finding> {
    let alone = InMethod { looks: row.whole("looks"), average: row.number("average")?, rows: 1 };
    say_all(evidence, wait, row, &alone)
}

/// So many threads wait, most of them for what this row says.
fn say_all(evidence: &Evidence<'_>, wait: &Wait, row: &Row<'_>, all: &InMethod) -> Option<Finding> {
    let InMethod { average, rows, .. } = *all;
    if average < wait.told {
        return None;
    }
    // Whoever listens to what comes by itself waits as well, and does so without an end.
    let lasting = row.number("ran_percent").filter(|percent| *percent < ENDS_PERCENT);
    let without_end = lasting.map(|ran| format!(", {} of them since an earlier look", format::percent(100.0 - ran)));
    // Whether waits of virtual threads end, nobody knows.
    let ends = lasting.is_none() && row.number("virtual_average").is_none_or(|of_virtual| of_virtual == 0.0);
    Some(Finding {
        id: wait.id,
        severity: if ends && average >= wait.warning { Severity::Warning } else { Severity::Info },
        score: 50.0 * average,
        title: format!(
            "{} wait for {}{}, at {}{}",
            threads(evidence, row, average),
            what(row),
            if rows > 1 { format!(" and {} more like it", rows - 1) } else { String::new() },
            place(row),
            without_end.unwrap_or_default()
        ),
        shown_in: "threads.waiting",
        when: when::seen(evidence, row),
        evidence: if rows > 1 { of_one(seen(evidence, row)) } else { seen(evidence, row) },
        next_step: wait.next_step.to_owned(),
    })
}

/// Evidence of one row, where a finding is about several.
fn of_one(mut seen: Vec<String>) -> Vec<String> {
    if let Some(often) = seen.first_mut() {
        *often = format!("the first of these: {often}");
    }
    seen
}

/// Virtual threads wait and keep their carriers from others.
pub(super) fn pinned(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = of_kind(evidence, |row| row.text("kind") == "pinned")?;
    let average = row.number("average").filter(|average| *average >= 0.5)?;
    let carriers = f64::from(evidence.target.cpus.max(1));
    Some(Finding {
        id: "pinned",
        severity: if average >= carriers / 2.0 { Severity::Warning } else { Severity::Info },
        score: 200.0 * average,
        title: format!(
            "{average:.1} carriers on average are pinned by virtual threads that wait for {}, at {}",
            row.text("what"),
            place(&row)
        ),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: seen(evidence, &row)
            .into_iter()
            .chain([format!("{carriers} carriers, as many as CPUs, unless the JVM was told otherwise")])
            .collect(),
        next_step:
            "Wait outside of `synchronized`: use a ReentrantLock there (before JDK 24), and not within native calls."
                .to_owned(),
    })
}

/// The JVM is to end, and a shutdown hook keeps it.
pub(super) fn shutdown(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = of_kind(evidence, |row| row.text("kind") == "shutdown" && row.whole("looks") >= LOOKS)?;
    let looks = row.whole("looks");
    Some(Finding {
        id: "slow-shutdown",
        severity: Severity::Warning,
        score: 100.0 * looks as f64,
        title: format!("The JVM is ending and waits for {}, at {}", row.text("what"), row.text("site")),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: [format!("seen in {looks} of {} looks at all threads", evidence.whole(Threads, "looks")?)]
            .into_iter()
            .chain(row.known("callers").map(|callers| format!("the JVM's end was asked for by {callers}")))
            .collect(),
        next_step: "Give what this hook waits for a limit of time; `kill -9 PID` ends the JVM without it.".to_owned(),
    })
}

/// A thread that takes what comes next for all waits in a handler.
pub(super) fn dispatcher(evidence: &Evidence<'_>) -> Option<Finding> {
    const BUSY: f64 = 0.6;
    let row = of_kind(evidence, |row| row.text("kind") == "dispatcher")?;
    let what = row.text("what");
    let same =
        evidence.rows(Threads, "waiting").filter(|row| row.text("kind") == "dispatcher" && row.text("what") == what);
    // It may wait at one line now and at another one then.
    let average: f64 = same.filter_map(|row| row.number("average")).sum();
    if average < BUSY {
        return None;
    }
    let how_long = if average <= 1.0 {
        format!("for {} of the time", format::percent(100.0 * average))
    } else {
        format!("({average:.1} threads on average)")
    };
    Some(Finding {
        id: "slow-dispatcher",
        severity: Severity::Warning,
        score: 100.0 * average,
        title: format!("Handlers keep {what} waiting {how_long}, at {}", place(&row)),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: seen(evidence, &row)
            .into_iter()
            .chain(["whatever comes meanwhile waits until that thread is free again".to_owned()])
            .collect(),
        next_step: "Hand this work to an executor (`HttpServer.setExecutor`, a worker group): the thread that dispatches must not wait."
            .to_owned(),
    })
}

/// The only thread that runs finalizers, or cleaners, hardly ever rests: what it cleans piles up.
pub(super) fn references(evidence: &Evidence<'_>) -> Option<Finding> {
    let looks = evidence.whole(Threads, "looks").filter(|looks| *looks >= LOOKS)?;
    let row = evidence.rows(Threads, "waiting").find(|row| row.text("kind") == "references");
    let waiting = row.and_then(|row| row.number("average")).unwrap_or(0.0);
    let work = evidence.rows(Cpu, "work").find(|row| row.text("work") == "finalizers");
    let running = work.and_then(|work| {
        let share = work.whole("samples") as f64 / samples(evidence)? as f64;
        Some(share * evidence.per_second(Cpu, "sampled_ns")? / 1e9)
    });
    let busy = waiting + running.unwrap_or(0.0);
    if busy < 0.6 {
        return None;
    }
    let what = row.map_or_else(|| "finalizers".to_owned(), |row| row.text("what"));
    let place = row.map(|row| row.text("site")).or_else(|| work.map(|work| work.text("place")))?;
    Some(Finding {
        id: "slow-finalizer",
        severity: Severity::Warning,
        score: 100.0 * busy,
        title: format!(
            "The thread that runs {what} is at work for {} of the time, at {place}",
            format::percent(100.0 * busy.min(1.0))
        ),
        shown_in: "threads.waiting",
        when: Vec::new(),
        evidence: vec![
            format!("seen waiting in {} of {looks} looks", row.map_or(0, |row| row.whole("looks"))),
            "one thread runs them all: objects that wait for it, and all that they hold, stay in the heap".to_owned(),
        ],
        next_step: "Close such objects explicitly (`try` with resources); keep finalizers and cleaners short."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests;
