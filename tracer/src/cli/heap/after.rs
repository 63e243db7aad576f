//! Waits for a full collection: what a snapshot shows right after it is what the collector could not free.

use std::time::Duration;

use super::super::{Failure, attach::say};
use crate::{
    ending::{self, Cut, Patience, Until},
    jvm::{find::Jvm, perfdata::PerfData, since_start::full_collections},
    text::format::plural,
};

/// How often it is looked. The JVM's counter is a number in its memory.
const LOOK: Duration = Duration::from_millis(50);
/// How long it is waited.
const LIMIT: Duration = Duration::from_hours(24);

/// Returns once the JVM has made one more full collection than when this was called.
pub(super) fn full_collection(jvm: &Jvm) -> Result<(), Failure> {
    let pid = jvm.target.pid;
    let no_counter = |reason: String| {
        Failure::new(
            format!("it cannot be seen when process {pid} collects all of its heap: {reason}"),
            "leave --after-full-gc out, or start the JVM without -XX:-UsePerfData".to_owned(),
        )
    };
    let count = || {
        let counters =
            PerfData::from_memory(&jvm.memory, &jvm.tables).map_err(|error| no_counter(error.to_string()))?;
        full_collections(&counters).ok_or_else(|| no_counter(format!("{} has no such counter", jvm.target.collector)))
    };
    let before = count()?;
    say(&format!("waiting for a full collection; {} until now", plural(before, "was made", "were made")));
    let until = Until::within(LIMIT, Patience::First);
    while jvm.identity().is_alive() {
        if count()? != before {
            return Ok(());
        }
        ending::pause(LOOK, until).map_err(cut)?;
    }
    let hint = "leave --after-full-gc out".to_owned();
    Err(Failure::new(format!("process {pid} has ended before it made a full collection"), hint))
}

fn cut(cut: Cut) -> Failure {
    let reason = match cut {
        Cut::Asked => "a signal asked jtrace to end before the JVM made a full collection",
        Cut::Late => "the JVM has made no full collection within a day",
    };
    Failure::new(reason, "`jcmd PID GC.run` asks for one; --after-full-gc can be left out".to_owned())
}
