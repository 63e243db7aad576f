//! Watches one piece of a workload's work with jtrace, next to what the JVM logs about it.

use anyhow::{Result, ensure};
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
    /// What the JVM logged while jtrace was attached for certain.
    pub(crate) certain: Truth,
    /// That, and what it logged while jtrace was attaching or detaching.
    pub(crate) possible: Truth,
}

impl Watched {
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
    let session = Session::attach(jvm.pid(), &["-l", lens, "--max-overhead", "100%"])?;
    let attached = log_length(&jvm);
    let counts = jvm.work()?;
    let done = log_length(&jvm);
    let report = session.report()?;
    let log = jvm.log().unwrap_or_default();
    jvm.finish()?;
    ensure!(report.completeness("lost")? == 0, "events were lost at the low rate of this workload");
    let certain = Truth::of(log.get(attached..done).unwrap_or_default());
    let possible = Truth::of(log.get(before..).unwrap_or_default());
    Ok(Watched { counts, report, certain, possible })
}

/// Length of the JVM's log up to its last complete line; 0 without a log.
fn log_length(jvm: &Jvm) -> usize {
    jvm.log().ok().and_then(|log| log.rfind('\n')).map_or(0, |last| last + 1)
}
