//! Watches one piece of a workload's work with jtrace, next to what the JVM logs about it.

use std::{collections::BTreeMap, fs};

use anyhow::Result;
use tests::{
    jtrace::Session,
    jvm::{Counts, Jvm, Launch},
    log::Truth,
    report::Report,
};

/// What came out of watching a workload.
pub(crate) struct Watched {
    /// The workload's own counts.
    pub(crate) counts: Counts,
    /// jtrace's report.
    pub(crate) report: Report,
    /// How long threads of a name waited for a CPU meanwhile.
    queued: BTreeMap<String, u64>,
    /// What the JVM logged while jtrace was attached for certain.
    pub(crate) certain: Truth,
    /// That, and what it logged while jtrace was attaching or detaching.
    pub(crate) possible: Truth,
}

impl Watched {
    /// How long a thread waited for a CPU from before jtrace attached until after it had gone: for so long anything can seem to take
    /// longer than it did.
    pub(crate) fn queued_ns(&self, thread: &str) -> u64 {
        self.queued.get(thread).copied().unwrap_or_default()
    }

    /// Checks a count of jtrace against the log. When the JVM was quiet around the work, both bounds are the same number.
    #[track_caller]
    pub(crate) fn agrees(&self, section: &str, key: &str, of: fn(&Truth) -> u64) {
        let count = self.report.summary(section, key).unwrap();
        let (least, most) = (of(&self.certain), of(&self.possible));
        assert!((least..=most).contains(&count), "{section}.{key} is {count}; the JVM logged {least} to {most}");
    }
}

/// Starts a workload, attaches jtrace with one lens, lets the workload do its work once, and ends both.
pub(crate) fn watch(launch: &Launch, lens: &str) -> Result<Watched> {
    let mut jvm = launch.start()?;
    let before = log_length(&jvm);
    let queued_before = queued(jvm.pid())?;
    let session = Session::attach(jvm.pid(), &["-l", lens, "--max-overhead", "100000%"])?;
    let attached = log_length(&jvm);
    let counts = jvm.work()?;
    let done = log_length(&jvm);
    let report = session.report()?;
    let log = jvm.log().unwrap_or_default();
    let mut queued = queued(jvm.pid())?;
    for (thread, ns) in &mut queued {
        *ns -= queued_before.get(thread).copied().unwrap_or_default().min(*ns);
    }
    jvm.finish()?;
    println!(
        "{} traps of {} ns; missing: {:?}",
        report.0["cost"]["traps"],
        report.0["cost"]["trap_cost_ns"],
        report.missing()
    );
    report.nothing_lost()?;
    let certain = Truth::of(log.get(attached..done).unwrap_or_default());
    let possible = Truth::of(log.get(before..).unwrap_or_default());
    Ok(Watched { counts, report, queued, certain, possible })
}

/// How long the threads of a process waited for a CPU so far, by their names.
fn queued(pid: u32) -> Result<BTreeMap<String, u64>> {
    let mut queued = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = task?.path();
        // A thread may end meanwhile.
        let read = |file: &str| fs::read_to_string(path.join(file)).ok();
        let Some((name, schedstat)) = read("comm").zip(read("schedstat")) else { continue };
        let ns: u64 = schedstat.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).unwrap_or_default();
        *queued.entry(name.trim_end().to_owned()).or_default() += ns;
    }
    Ok(queued)
}

/// Length of the JVM's log up to its last complete line; 0 without a log.
fn log_length(jvm: &Jvm) -> usize {
    jvm.log().ok().and_then(|log| log.rfind('\n')).map_or(0, |last| last + 1)
}
