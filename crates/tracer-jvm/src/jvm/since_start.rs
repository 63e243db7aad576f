//! What the JVM's counters and the kernel tell of the time before a session, from the start of the process on. An incident that is over
//! has left its marks there.

use super::{find::Jvm, os_process, perfdata::PerfData};
use crate::item::SinceStart;

const NS_PER_S: u128 = 1_000_000_000;
/// Collectors that the JVM counts: of young objects, of all, and pauses of concurrent cycles.
const COLLECTORS: u32 = 4;

/// Reads it. What is not told is absent.
pub fn read(jvm: &Jvm) -> SinceStart {
    let mut since = jvm.counters.as_ref().map(of_counters).unwrap_or_default();
    let pid = jvm.target.pid;
    if let Some(process) = os_process::read(pid) {
        since.cpu_ns = Some(process.cpu_ns);
        since.major_faults = Some(process.major_faults);
        since.throttled_ns = process.throttled_ns;
        since.resident_bytes = Some(process.resident_bytes);
    }
    since.resident_peak_bytes = os_process::resident_peak_bytes(pid);
    since
}

/// Collections of all objects, the one that is under way included; absent where the collector counts none.
pub fn full_collections(counters: &PerfData) -> Option<u64> {
    let is_full = |number: &u32| {
        let name = counters.get_string(&collector(*number, "name")).unwrap_or_default();
        // The parallel one has another name up to 12.
        ["full", "MarkSweep", "ParallelCompact"].iter().any(|part| name.contains(part)) || name == "MSC"
    };
    let number = (0..COLLECTORS).find(is_full)?;
    u64::try_from(counters.get_long(&collector(number, "invocations"))?).ok()
}

/// Name of a collector's counter.
fn collector(number: u32, what: &str) -> String {
    format!("sun.gc.collector.{number}.{what}")
}

fn of_counters(counters: &PerfData) -> SinceStart {
    let count = |name: &str| u64::try_from(counters.get_long(name)?).ok();
    let frequency = count("sun.os.hrt.frequency").filter(|frequency| *frequency > 0);
    let ns = |name: &str| {
        let ns = u128::from(count(name)?) * NS_PER_S / u128::from(frequency?);
        u64::try_from(ns).ok()
    };
    let all = |of: &dyn Fn(u32) -> Option<u64>| (0..COLLECTORS).filter_map(of).reduce(u64::saturating_add);
    SinceStart {
        collections: all(&|number| count(&collector(number, "invocations"))),
        full_collections: full_collections(counters),
        collection_ns: all(&|number| ns(&collector(number, "time"))),
        safepoint_ns: ns("sun.rt.safepointTime"),
        compilation_ns: ns("java.ci.totalTime"),
        threads_started: count("java.threads.started"),
        threads_peak: count("java.threads.livePeak"),
        classes_loaded: count("java.cls.loadedClasses"),
        classes_unloaded: count("java.cls.unloadedClasses"),
        ..SinceStart::default()
    }
}
