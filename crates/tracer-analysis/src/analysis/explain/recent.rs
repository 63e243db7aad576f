//! What happened on each thread lately: calls are known when they have ended, and marks of them come later still.

use std::collections::VecDeque;

use super::super::{alloc::Buffers, ended::EndedThreads, offcpu::reason::Left, table::FastMap};
use crate::{
    event::{Event, MonitorAction, NameId, Payload, StackId, Tid},
    text::format::count,
};

/// Most events that are kept, of all threads together: some 16 MiB.
const MAX_KEPT: usize = 1 << 18;

/// What happened to a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// It was off its CPU until now.
    Away { blocked_ns: u64, run_queue_ns: u64, left: Left },
    /// A clock found it running.
    Sampled { period_ns: u64 },
    /// It made an exception.
    Thrown { class: NameId },
    /// It allocated, or this stands for what it allocated.
    Allocated { class: NameId, bytes: u64 },
    /// It found a monitor taken.
    Contended { class: NameId },
}

impl What {
    fn of(event: &Event, buffers: &mut Buffers) -> Option<Self> {
        Some(match event.payload {
            Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall } => {
                Self::Away { blocked_ns, run_queue_ns, left: Left { task_state, syscall } }
            }
            Payload::CpuSample { period_ns } => Self::Sampled { period_ns },
            Payload::ExceptionCreated { class } => Self::Thrown { class },
            Payload::AllocInNewTlab { class, .. } | Payload::AllocOutsideTlab { class, .. } => {
                Self::Allocated { class, bytes: buffers.bytes(event)? }
            }
            Payload::Monitor { action: MonitorAction::ContendedEnter { .. }, class, .. } => Self::Contended { class },
            _ => return None,
        })
    }
}

/// An event of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happened {
    pub(super) time_ns: u64,
    pub(super) stack: StackId,
    pub(super) what: What,
}

#[derive(Debug, Default)]
struct OfThread {
    events: VecDeque<Happened>,
    /// What happened up to then is not kept.
    from_ns: u64,
}

/// The events.
#[derive(Debug, Default)]
pub(super) struct Recent {
    threads: FastMap<Tid, OfThread>,
    kept: usize,
    /// Left out because there were too many.
    left_out: u64,
    /// Of what matters most nothing comes.
    is_blind: bool,
    /// Up to then not all was seen of any thread.
    blind_until_ns: u64,
    /// What samples of allocation stand for.
    buffers: Buffers,
}

impl Recent {
    /// Takes an event.
    pub(super) fn event(&mut self, event: &Event) {
        let Some(what) = What::of(event, &mut self.buffers) else { return };
        if self.kept >= MAX_KEPT {
            self.halve();
        }
        let Event { time_ns, tid, stack, .. } = *event;
        self.threads.entry(tid).or_default().events.push_back(Happened { time_ns, stack, what });
        self.kept += 1;
    }

    /// Some samples of allocation were not seen.
    pub(super) fn forget_buffers(&mut self) {
        self.buffers.forget();
    }

    /// From this time on calls cannot be explained, or can again.
    pub(super) fn blind(&mut self, is_blind: bool, time_ns: u64) {
        self.is_blind = is_blind;
        self.blind_until(time_ns);
    }

    /// Up to this time they cannot.
    fn blind_until(&mut self, time_ns: u64) {
        self.blind_until_ns = self.blind_until_ns.max(time_ns);
    }

    /// The older half of what each thread has makes room.
    fn halve(&mut self) {
        for of in self.threads.values_mut() {
            let gone = of.events.len().div_ceil(2);
            if let Some(last) = of.events.drain(..gone).next_back() {
                of.from_ns = last.time_ns;
            }
            self.kept -= gone;
            self.left_out += gone as u64;
        }
        let mut gone_ns = 0;
        self.threads.retain(|_, of| {
            if of.events.is_empty() {
                gone_ns = gone_ns.max(of.from_ns);
            }
            !of.events.is_empty()
        });
        // Nobody remembers any more of which threads there was something.
        self.blind_until(gone_ns);
        self.threads.shrink_to(self.threads.len() * 2);
    }

    /// What happened on a thread in a stretch of time; nothing where not all of that is kept.
    pub(super) fn within(&self, tid: Tid, (begin_ns, end_ns): (u64, u64)) -> Option<impl Iterator<Item = &Happened>> {
        if self.is_blind || begin_ns < self.blind_until_ns {
            return None;
        }
        let of = self.threads.get(&tid);
        if of.is_some_and(|of| begin_ns < of.from_ns) {
            return None;
        }
        let events = of.map(|of| of.events.iter()).unwrap_or_default();
        Some(events.filter(move |event| (begin_ns..=end_ns).contains(&event.time_ns)))
    }

    /// Nobody will ask for what happened on a thread before.
    pub(super) fn forget_before(&mut self, tid: Tid, time_ns: u64) {
        if let Some(of) = self.threads.get_mut(&tid) {
            let gone = of.events.partition_point(|event| event.time_ns <= time_ns);
            of.events.drain(..gone);
            of.from_ns = of.from_ns.max(time_ns);
            self.kept -= gone;
        }
    }

    /// Takes notice of threads that ended; marks of those that ended lately may be on their way.
    pub(super) fn threads_ended(&mut self, ended: &EndedThreads) {
        self.buffers.threads_ended(ended);
        let gone = self.threads.extract_if(|tid, _| ended.is_long_gone(*tid));
        self.kept -= gone.map(|(_, of)| of.events.len()).sum::<usize>();
    }

    /// A sentence where too much happened.
    pub(super) fn note(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} events were forgotten before calls around them ended: at most {} are kept.",
                count(self.left_out),
                count(MAX_KEPT as u64)
            )
        })
    }
}
