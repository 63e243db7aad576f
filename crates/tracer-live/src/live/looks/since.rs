//! What threads did since the look before, by the totals that the scheduler keeps of each.

use std::collections::{HashMap, HashSet};

use crate::thread_dump::Thread;

const NS_PER_S: u64 = 1_000_000_000;
/// Of the time since the look before, how much a thread must have run, or have been ready to, so that it waited for nothing: in per cent.
const BUSY_PERCENT: u128 = 90;

/// What was known of threads at the last look.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// When that was; 0 before the first one.
    time_ns: u64,
    of: HashMap<u32, Total>,
}

/// Totals of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    cpu_ns: Option<u64>,
    queued_ns: Option<u64>,
    /// How often it came to a CPU.
    times: Option<u64>,
}

impl Total {
    const fn of(thread: &Thread) -> Self {
        Self { cpu_ns: thread.cpu_ns, queued_ns: thread.queued_ns, times: thread.times }
    }

    /// How long it had run, or had been ready to.
    fn ready_ns(self) -> Option<u64> {
        Some(self.cpu_ns?.saturating_add(self.queued_ns?))
    }
}

/// What happened between two looks.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Time since the look before; 0 in the first one.
    pub(super) span_ns: u64,
    /// How long threads waited for a CPU in it, all together. Those that are new have waited since they began.
    pub(super) queued_ns: u64,
    /// Those that have run in it: once a second, or more often; and those that did so less. Who is new has run often.
    pub(super) often: HashSet<u32>,
    pub(super) seldom: HashSet<u32>,
    /// Those that did nothing else. Of those that are new, the ones that did at each moment at which they were seen.
    pub(super) busy: HashSet<u32>,
}

impl Since {
    pub(super) fn has_run(&self, tid: u32) -> bool {
        self.often.contains(&tid) || self.seldom.contains(&tid)
    }
}

impl Totals {
    /// Takes a look in; says what happened since the one before.
    pub(super) fn since(&mut self, time_ns: u64, threads: &[Thread]) -> Since {
        let of = threads.iter().map(|thread| (thread.tid, Total::of(thread))).collect();
        let before = std::mem::replace(self, Self { time_ns, of });
        let is_first = before.time_ns == 0;
        let span_ns = if is_first { 0 } else { time_ns.saturating_sub(before.time_ns) };
        let mut since = Since { span_ns, ..Since::default() };
        // Looks are a second apart, more or less; where they are rarer, whoever ran once did not run each second.
        let often = (span_ns + NS_PER_S / 4) / NS_PER_S;
        for thread in threads {
            let (tid, now) = (thread.tid, Total::of(thread));
            let known = before.of.get(&tid).copied();
            if is_busy(thread, known, span_ns) {
                since.busy.insert(tid);
            }
            if is_first {
                // Of nobody it is known who has run.
                continue;
            }
            let known = known.unwrap_or_default();
            if let Some(queued_ns) = now.queued_ns {
                let waited = queued_ns.saturating_sub(known.queued_ns.unwrap_or(0));
                since.queued_ns = since.queued_ns.saturating_add(waited);
            }
            match (now.times, known.times) {
                (None, _) => {}
                (Some(now), Some(before)) if now <= before => {}
                (Some(now), Some(before)) if now - before < often => drop(since.seldom.insert(tid)),
                (Some(_), _) => drop(since.often.insert(tid)),
            }
        }
        since
    }
}

fn is_busy(thread: &Thread, before: Option<Total>, span_ns: u64) -> bool {
    match (before.and_then(Total::ready_ns), Total::of(thread).ready_ns()) {
        (Some(before), Some(now)) if span_ns > 0 => {
            u128::from(now.saturating_sub(before)) * 100 >= u128::from(span_ns) * BUSY_PERCENT
        }
        _ => thread.always_ran,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_ready_all_the_time_waited_for_nothing() {
        let thread = |tid, cpu_ns, queued_ns, always_ran| Thread {
            tid,
            cpu_ns: Some(cpu_ns),
            queued_ns: Some(queued_ns),
            always_ran,
            ..Thread::default()
        };
        let mut totals = Totals::default();
        let first = [thread(1, 5, 5, true), thread(2, 5, 5, false), thread(3, 0, 0, true)];
        let since = totals.since(1, &first);
        assert_eq!((since.busy, since.queued_ns), (HashSet::from([1, 3]), 0), "only what is seen is known");
        // One ran half of the time and was ready the other half; one waited for most of it; one is new.
        let half = NS_PER_S / 2;
        let next = [thread(1, 5 + half, 5 + half, false), thread(3, half, 0, true), thread(4, 9, 9, true)];
        let since = totals.since(1 + NS_PER_S, &next);
        assert_eq!((since.busy, since.queued_ns), (HashSet::from([1, 4]), half + 9));
    }

    #[test]
    fn who_ran_once_in_two_seconds_did_so_seldom() {
        let at = |all: [u64; 3]| -> Vec<Thread> {
            let thread = |(tid, times)| Thread { tid, times: Some(times), ..Thread::default() };
            (1..).zip(all).map(thread).collect()
        };
        let mut totals = Totals::default();
        assert!(totals.since(1, &at([5, 5, 5])).often.is_empty(), "the first look");
        let since = totals.since(1 + 2 * NS_PER_S, &at([5, 6, 7]));
        assert_eq!((since.seldom, since.often), (HashSet::from([2]), HashSet::from([3])));
        let since = totals.since(1 + 3 * NS_PER_S + NS_PER_S / 20, &at([5, 7, 8]));
        assert_eq!((since.seldom.is_empty(), since.has_run(2), since.has_run(3)), (true, true, true));
        assert!(!since.has_run(1) && since.span_ns == NS_PER_S + NS_PER_S / 20);
    }
}
