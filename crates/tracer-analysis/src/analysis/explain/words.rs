//! The same in words: where the time of the method's calls went that has most of it.

use super::{
    super::offcpu::reason::Reason,
    parts::{Part, Parts},
    rows::is_time,
    sums::{Slow, Summed},
    table::Tables,
};
use crate::text::format;

/// What a thread does that is off its CPU for this reason.
const fn waiting(reason: Reason) -> &'static str {
    match reason {
        Reason::Monitor => "waiting for a monitor",
        Reason::Wait => "in Object.wait",
        Reason::Park => "parked",
        Reason::Sleep => "asleep",
        Reason::Io => "waiting for I/O",
        Reason::PageFault => "waiting for memory",
        Reason::RunQueue => "waiting for a CPU",
        Reason::Safepoint => "stopped by the JVM",
        Reason::Vm => "waiting in the JVM",
        Reason::Other => "waiting",
    }
}

/// Parts of a time that a sentence names, if they are at least so many percent.
const SAID: usize = 3;
const LEAST_SAID: f64 = 1.0;

impl Tables<'_> {
    /// How long calls took, and what they did meanwhile.
    pub(super) fn sentences(&self) -> Vec<String> {
        let Some(Summed { label, of, all, .. }) = self.methods.first() else {
            return vec!["No call has ended that was asked for.".to_owned()];
        };
        let durations = of.latencies.durations;
        let mut sentences = vec![format!(
            "{}: {}; half took at most {}, 99 % at most {}, the longest {}.",
            self.labels.text(*label),
            format::plural(durations.count, "call", "calls"),
            format::duration(of.latencies.percentile(50.0)),
            format::duration(of.latencies.percentile(99.0)),
            format::duration(durations.max_ns),
        )];
        sentences.extend(self.said("All together spent", all, of.whole.total_ns));
        if let Some(Slow { duration_ns, parts, .. }) = of.slowest.first().filter(|_| durations.count > 1) {
            sentences.extend(self.said("The longest spent", parts, *duration_ns));
        }
        sentences
    }

    /// The largest parts of a time.
    fn said(&self, who: &str, parts: &Parts, total_ns: u64) -> Option<String> {
        let mut times: Vec<_> = parts.iter().filter(|(part, _)| is_time(part)).collect();
        times.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.sum));
        let share = |ns: u64| 100.0 * ns as f64 / total_ns.max(1) as f64;
        let large = times.into_iter().take(SAID).filter(|(_, amount)| share(amount.sum) >= LEAST_SAID);
        let said: Vec<String> =
            large.map(|(part, amount)| format!("{:.0} % {}", share(amount.sum), self.doing(part))).collect();
        (!said.is_empty()).then(|| format!("{who} {}.", said.join(", ")))
    }

    /// What a thread did in a part of the time.
    pub(super) fn doing(&self, part: &Part) -> String {
        match part {
            Part::Away(reason, site) => format!("{} at {}", waiting(*reason), self.labels.text(*site)),
            Part::Ready => waiting(Reason::RunQueue).to_owned(),
            _ => "on a CPU".to_owned(),
        }
    }
}
