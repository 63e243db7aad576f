//! Threads that are still away from a CPU when the session ends: the scheduler's program never saw them return.
//!
//! User space writes their events, as if they returned at the end, and counts them as emitted at the scheduler's site.

use tracer_common::{clock::Away, record::EventKind};

use crate::{
    event::{SiteId, StackId, Tid},
    source::encode::encode_event_with_stack,
};

/// Indices of counters in [`tracer_common::stats::SiteStats`].
const HITS: usize = 0;
const FILTERED: usize = 1;
const EMITTED: usize = 2;

/// Events that user space wrote, with the counters that it adds for them.
#[derive(Default)]
pub(super) struct Returns {
    pub(super) records: Vec<Vec<u8>>,
    filtered: u64,
}

impl Returns {
    /// Lets all that are away return at `end_ns`.
    pub(super) fn of(away: &[Away], site: u16, end_ns: u64, min_block_ns: u64) -> Self {
        let mut returns = Self::default();
        for left in away {
            let blocked_ns = end_ns.saturating_sub(left.since_ns);
            if blocked_ns < min_block_ns {
                returns.filtered += 1;
                continue;
            }
            let run_queue_ns = if left.runnable_ns == 0 { 0 } else { end_ns.saturating_sub(left.runnable_ns) };
            let words = [blocked_ns, run_queue_ns, u64::from(left.task_state), left.syscall];
            let (site, tid, stack) = (SiteId(site), Tid(left.tid), StackId(left.stack));
            returns.records.push(encode_event_with_stack(EventKind::OffCpu, site, tid, end_ns, stack, &words));
        }
        returns
    }

    /// Adds them to the counters of their site.
    pub(super) fn count(&self, counters: &mut [u64; 7]) {
        let emitted = self.records.len() as u64;
        counters[HITS] += emitted + self.filtered;
        counters[FILTERED] += self.filtered;
        counters[EMITTED] += emitted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        decode::{Decoded, decode},
        event::{Event, Payload},
    };

    #[test]
    fn who_is_away_returns_at_the_end_and_is_counted() {
        let parked = Away { since_ns: 100, stack: 77, syscall: 202, tid: 5, task_state: 1, ..Away::default() };
        let ready = Away { runnable_ns: 900, tid: 6, ..parked };
        let short = Away { since_ns: 960, tid: 7, ..parked };
        let returns = Returns::of(&[parked, ready, short], 3, 1000, 50);
        let payload = |run_queue_ns| Payload::OffCpu { blocked_ns: 900, run_queue_ns, task_state: 1, syscall: 202 };
        let event = |tid, payload| Event { time_ns: 1000, tid: Tid(tid), site: SiteId(3), stack: StackId(77), payload };
        let decoded: Vec<_> = returns.records.iter().map(|record| decode(record)).collect();
        assert_eq!(decoded, [Ok(Decoded::Event(event(5, payload(0)))), Ok(Decoded::Event(event(6, payload(100))))]);
        let mut counters = [10, 1, 9, 0, 0, 0, 0];
        returns.count(&mut counters);
        assert_eq!(counters, [13, 2, 11, 0, 0, 0, 0]);
    }
}
