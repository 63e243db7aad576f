//! What a session out of a file begins with: the JVM, the lenses, a site for each type of events that was taken, and
//! sentences on what the file has not.

use std::collections::BTreeMap;

use super::{
    chunk::Torn,
    file::{File, site_id},
    taken::{
        ALLOCATION_SAMPLE, COLLECTION, CPU_TIME_SAMPLE, EXECUTION_SAMPLE, IN_NEW_TLAB, OUTSIDE_TLAB, STOP, TAKEN,
        Taken, site_of,
    },
};
use crate::{
    item::{Recorder, Site, Start},
    lens::Lens,
    text::format,
};

/// Types of which one alone would mislead: what begins and never ends looks like a leak.
const PAIRS: [(&str, &str); 2] = [("jdk.ThreadStart", "jdk.ThreadEnd"), ("jdk.ClassLoad", "jdk.ClassUnload")];
/// Types that one sentence names with their counts.
const NAMED: usize = 12;

/// Numbers that are not known where events of a type are not in the file; those without a type are never.
const UNKNOWN: &[(Lens, Option<&str>, &[&str])] = &[
    (
        Lens::Safepoint,
        Some("jdk.SafepointEnd"),
        &["safepoints", "safepoint_total_ns", "safepoint_max_ns", "safepoint_p99_ns", "safepoint_share_percent"],
    ),
    (Lens::Safepoint, Some("jdk.SafepointEnd"), &["to_stop_total_ns", "to_stop_max_ns", "to_stop_max_at_ns"]),
    (
        Lens::Safepoint,
        Some("jdk.ExecuteVMOperation"),
        &["vm_operations", "to_stop_total_ns", "to_stop_max_ns", "to_stop_max_at_ns"],
    ),
    (
        Lens::Locks,
        Some("jdk.JavaMonitorEnter"),
        &["contended_enters", "blocked_total_ns", "blocked_max_ns", "blocked_p99_ns"],
    ),
    (Lens::Locks, Some("jdk.JavaMonitorWait"), &["waits", "wait_total_ns"]),
    (Lens::Locks, Some("jdk.ThreadPark"), &["parks", "park_total_ns"]),
    (Lens::Locks, Some("jdk.JavaMonitorNotify"), &["notifies"]),
    (
        Lens::Locks,
        None,
        &[
            "unparks",
            "blocked_open_ns",
            "blocked_open_threads",
            "park_open_threads",
            "blocked_by_known_ns",
            "enters_with_holder",
            "deadlocked_threads",
        ],
    ),
    (Lens::Threads, Some("jdk.ThreadStart"), &["started", "stopped", "started_by_known"]),
    (Lens::Threads, Some("jdk.ThreadSleep"), &["sleeps", "sleep_total_ns"]),
    (Lens::Threads, None, &["sleeps_interrupted", "sleeping", "yields"]),
    (
        Lens::Classes,
        None,
        &["initialization_errors", "loaded_shared", "erroneous_uses", "initializer_total_ns", "initializer_max_ns"],
    ),
    (Lens::Jit, None, &["code_loaded_bytes", "code_unloaded", "code_loaded"]),
    (Lens::Alloc, Some(OUTSIDE_TLAB), &["outside_tlab_samples", "outside_tlab_bytes"]),
];

/// Those that only a jtrace knows, whose samples are of all threads.
const OF_ALL_THREADS: (Lens, &[&str]) = (Lens::Cpu, &["gc_threads_samples", "jit_threads_samples"]);

/// The beginning of a session, and its counters.
pub(super) struct Told {
    pub(super) start: Start,
    pub(super) counters: Vec<[u64; 7]>,
}

/// Completes what was taken, now that all of the file is known.
pub(super) fn tell(file: &mut File) -> Told {
    let without_pause = file.edges.finish();
    let mut missing = Vec::new();
    let dropped = drop_ambiguous(file, &mut missing);
    let is_there = |taken: &Taken| file.has(taken.name) && !dropped.contains(&taken.name);
    let shown = |lens: &&Lens| TAKEN.iter().any(|taken| taken.lens == **lens && is_there(taken));
    let lenses: Vec<Lens> = Lens::USUAL.iter().filter(shown).copied().collect();
    set_period(file, &dropped);
    missing.extend(told_by_settings(file, &lenses, &dropped));
    if without_pause > 0 {
        missing.push(format!(
            "gc: {} of `{COLLECTION}` without a pause in the file: not counted",
            format::plural(without_pause, "event", "events")
        ));
    }
    missing.extend(unclear(file));
    missing.extend(losses(file));
    missing.extend(not_taken(file, &dropped));
    missing.extend(file.about.missing.iter().map(|sentence| format!("the jtrace that wrote the file: {sentence}")));
    let sites: Vec<&Taken> =
        TAKEN.iter().filter(|taken| file.has(taken.name) && !dropped.contains(&taken.name)).collect();
    file.edges.renumber(&sites.iter().filter_map(|taken| site_of(taken.name)).map(site_id).collect::<Vec<_>>());
    let mut target = file.about.target(file.start_ns);
    target.recorder = Some(recorder(file, &lenses, &dropped));
    let site =
        |taken: &&Taken| Site { probe: taken.name.to_owned(), lens: taken.lens, kind: taken.kind as u16, offset: 0 };
    let counters = |taken: &&Taken| {
        let counts = file.count_of(taken.name);
        let lost = if taken.name == CPU_TIME_SAMPLE { file.about.samples_lost } else { 0 };
        let all = (counts.all - counts.unclear).saturating_add(lost);
        [all, 0, all, lost, 0, 0, 0]
    };
    let counters = sites.iter().map(counters).collect();
    let start = Start {
        target,
        lenses,
        sites: sites.iter().map(site).collect(),
        missing,
        time_ns: file.start_ns,
        wall_ms: file.start_ns / 1_000_000,
        trap_cost_ps: None,
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: Vec::new(),
    };
    Told { start, counters }
}

/// Leaves out types of events that say the same as others, or half of something.
fn drop_ambiguous(file: &mut File, missing: &mut Vec<String>) -> Vec<&'static str> {
    let mut dropped = Vec::new();
    let mut drop_one = |file: &mut File, name: &'static str, reason: String| {
        if let Some(site) = site_of(name) {
            file.edges.drop_site(site_id(site));
            dropped.push(name);
            missing.push(reason);
        }
    };
    for (first, second) in PAIRS {
        for (is, is_not) in [(first, second), (second, first)] {
            if file.has(is) && !file.has(is_not) {
                let reason =
                    format!("`{is}` was recorded and `{is_not}` was not: not taken, as half of it would mislead");
                drop_one(file, is, reason);
            }
        }
    }
    let has_buffers = [IN_NEW_TLAB, OUTSIDE_TLAB].iter().any(|name| file.count_of(name).all > 0);
    for (name, other, is_double) in [
        (ALLOCATION_SAMPLE, IN_NEW_TLAB, has_buffers),
        (EXECUTION_SAMPLE, CPU_TIME_SAMPLE, file.count_of(CPU_TIME_SAMPLE).all > 0),
    ] {
        if is_double && file.count_of(name).all > 0 {
            drop_one(file, name, format!("`{name}` was not taken: `{other}` tells of the same more exactly"));
        }
    }
    dropped
}

fn set_period(file: &mut File, dropped: &[&str]) {
    let period_ns = file.settings.of(EXECUTION_SAMPLE).period_ns;
    if let (Some(period_ns), Some(site), false) =
        (period_ns, site_of(EXECUTION_SAMPLE), dropped.contains(&EXECUTION_SAMPLE))
    {
        file.edges.set_period(site_id(site), period_ns);
    }
}

/// Who recorded, which lenses it tells a part of, and what it never tells.
fn recorder(file: &File, lenses: &[Lens], dropped: &[&str]) -> Recorder {
    let is_partial = |lens: &&Lens| {
        let of_lens = |taken: &&Taken| taken.lens == **lens && file.has(taken.name);
        TAKEN.iter().filter(of_lens).any(|taken| {
            let setting = file.settings.of(taken.name);
            setting.threshold_ns > 0 || (setting.throttle.is_some() && taken.name != ALLOCATION_SAMPLE)
        })
    };
    let has = |name: &str| file.has(name) && !dropped.contains(&name);
    let mut unknown: Vec<String> = UNKNOWN
        .iter()
        .filter(|(lens, of, _)| lenses.contains(lens) && of.is_none_or(|name| !has(name)))
        .flat_map(|(lens, _, keys)| keys.iter().map(move |key| format!("{}.{key}", lens.id())))
        .collect();
    let has_period = has(CPU_TIME_SAMPLE) || file.settings.of(EXECUTION_SAMPLE).period_ns.is_some();
    if lenses.contains(&Lens::Cpu) && !has_period {
        unknown.push(format!("{}.sampled_ns", Lens::Cpu.id()));
    }
    let (lens, keys) = OF_ALL_THREADS;
    if lenses.contains(&lens) && !file.about.by_jtrace {
        unknown.extend(keys.iter().map(|key| format!("{}.{key}", lens.id())));
    }
    unknown.sort();
    unknown.dedup();
    Recorder {
        name: if file.about.by_jtrace { "jtrace" } else { "flight recorder" }.to_owned(),
        partial: lenses.iter().filter(is_partial).copied().collect(),
        unknown,
    }
}

/// What the recorder was told to leave out.
fn told_by_settings(file: &File, lenses: &[Lens], dropped: &[&str]) -> Vec<String> {
    let mut sentences = Vec::new();
    for lens in lenses {
        let of_lens = || TAKEN.iter().filter(|taken| taken.lens == *lens && !dropped.contains(&taken.name));
        let names = |types: Vec<&Taken>| types.iter().map(|of| format!("`{}`", of.name)).collect::<Vec<_>>().join(", ");
        let off: Vec<_> = of_lens().filter(|of| is_off(file, of.name)).collect();
        if !off.is_empty() {
            sentences.push(format!("{}: not recorded: {}", lens.id(), names(off)));
        }
        let mut thresholds: BTreeMap<u64, Vec<&Taken>> = BTreeMap::new();
        for taken in of_lens().filter(|of| file.has(of.name)) {
            let setting = file.settings.of(taken.name);
            thresholds.entry(setting.threshold_ns).or_default().push(taken);
            if let Some(throttle) = setting.throttle.filter(|_| taken.name != ALLOCATION_SAMPLE) {
                sentences.push(format!("{}: of `{}` at most {throttle} were recorded", lens.id(), taken.name));
            }
        }
        for (threshold_ns, types) in thresholds.into_iter().filter(|(threshold_ns, _)| *threshold_ns > 0) {
            sentences.push(format!(
                "{}: recorded from {} on: {}; what was shorter is in no number, so counts and sums are lower bounds",
                lens.id(),
                format::duration(threshold_ns),
                names(types)
            ));
        }
    }
    let of_java = file.has(EXECUTION_SAMPLE) && !dropped.contains(&EXECUTION_SAMPLE) && !file.about.by_jtrace;
    if of_java {
        sentences.push(format!(
            "cpu: `{EXECUTION_SAMPLE}` is of a few threads at a time that run Java code, on a CPU or ready for one; \
             other code of the JVM has no samples"
        ));
    }
    sentences
}

/// Whether events of a type were not recorded, and no other type tells of the same.
fn is_off(file: &File, name: &str) -> bool {
    let same: &[&str] = match name {
        IN_NEW_TLAB | OUTSIDE_TLAB | ALLOCATION_SAMPLE => &[IN_NEW_TLAB, ALLOCATION_SAMPLE],
        EXECUTION_SAMPLE | CPU_TIME_SAMPLE => &[EXECUTION_SAMPLE, CPU_TIME_SAMPLE],
        _ => &[],
    };
    let setting = file.settings.of(name);
    setting.enabled == Some(false) && !file.has(name) && !same.iter().any(|other| file.has(other))
}

fn unclear(file: &File) -> Option<String> {
    let unclear = file.counts.iter().filter(|(_, counts)| counts.unclear > 0);
    let named: Vec<_> =
        unclear.map(|(name, counts)| format!("{} of `{name}`", format::count(counts.unclear))).take(NAMED).collect();
    (!named.is_empty()).then(|| format!("events that do not say enough to be taken: {}", named.join(", ")))
}

fn losses(file: &File) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some((at, torn)) = file.torn {
        let reason = match torn {
            Torn::Cut => "the next chunk is not complete",
            Torn::Version(_) => "the next chunk has another version",
            Torn::Damaged(reason) => reason,
        };
        sentences.push(format!("the file was read up to byte {at}: {reason}"));
    }
    let (losses, bytes) = file.about.losses;
    if losses > 0 {
        sentences.push(format!(
            "the recorder lost events {}, {} of them: how many is not known",
            format::plural(losses, "time", "times"),
            format::bytes(bytes)
        ));
    }
    if file.edges.known.is_full {
        sentences
            .push("some names or stacks found no room in memory: they are missing where events have them".to_owned());
    }
    if file.edges.beyond > 0 {
        sentences.push(format!(
            "{} found no room in memory and are in no number",
            format::plural(file.edges.beyond, "event", "events")
        ));
    }
    sentences
}

/// What else is in the file, by type.
fn not_taken(file: &File, dropped: &[&str]) -> Vec<String> {
    let is_used = |name: &str| {
        (site_of(name).is_some() && !dropped.contains(&name))
            || name == COLLECTION
            || (name == STOP && file.has("jdk.SafepointEnd"))
    };
    let mut rest: Vec<(&str, u64)> = file
        .counts
        .iter()
        .filter(|(name, _)| !is_used(name))
        .map(|(name, counts)| (name.as_str(), counts.all))
        .collect();
    rest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let (types, events) = (rest.len() as u64, rest.iter().map(|(_, count)| *count).fold(0, u64::saturating_add));
    let mut sentences: Vec<String> = rest
        .chunks(NAMED)
        .map(|some| {
            let named: Vec<_> = some.iter().map(|(name, count)| format!("{name} {}", format::count(*count))).collect();
            format!("not shown, and so many in the file: {}", named.join(", "))
        })
        .collect();
    if events > 0 {
        let (events, types) =
            (format::plural(events, "event", "events"), format::plural(types, "other type", "other types"));
        sentences.insert(0, format!("{events} of {types} in the file are not shown"));
    }
    sentences
}
