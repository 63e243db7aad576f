//! What threads of the program do: monitors, parking, sleeping, samples, allocation, exceptions. Beginnings and ends
//! are paired as the analyses pair them, so that the file has as many as the report counts.

use std::collections::HashMap;

use super::{
    at,
    chunk::{Chunk, Head, Known},
    schema::Type,
    until,
};
use crate::{
    analysis::{alloc::Buffers, pairing::Open},
    event::{Edge, Event, Holder, MonitorAction, NameId, Payload, StackId, Tid},
};

/// Most threads that are remembered between their start and their first step.
const MAX_STARTING: usize = 4096;

/// What has begun on threads.
#[derive(Debug, Default)]
pub(super) struct Application {
    blocked: Open<Monitor>,
    waiting: Open<Monitor>,
    parked: Open<Park>,
    sleeping: Open<Sleep>,
    /// Threads that have been started and do not run yet, by the JVM's id: who started them, and where.
    starting: HashMap<u64, (Tid, StackId)>,
    /// What samples of allocation stand for.
    buffers: Buffers,
}

/// A thread blocks on a monitor, or waits in it.
#[derive(Clone, Copy, Debug)]
struct Monitor {
    since_ns: u64,
    stack: StackId,
    address: u64,
    class: NameId,
    holder: Option<Holder>,
    timeout_ms: u64,
}

#[derive(Clone, Copy, Debug)]
struct Park {
    since_ns: u64,
    stack: StackId,
    absolute: bool,
    time: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sleep {
    since_ns: u64,
    stack: StackId,
    duration_ns: u64,
}

impl Application {
    /// Ends of what is under way in this group of sites will not be seen.
    pub(super) fn cut(&mut self, group: &str) {
        match group {
            "contended" => self.blocked.cut_all(),
            "wait" => self.waiting.cut_all(),
            "park" => self.parked.cut_all(),
            "sleep" => self.sleeping.cut_all(),
            "alloc" => self.buffers.forget(),
            _ => {}
        }
    }

    pub(super) fn event(&mut self, event: &Event, known: Known<'_>, chunk: &mut Chunk) {
        match event.payload {
            Payload::Monitor { action, monitor, class } => self.monitor(event, action, (monitor, class), known, chunk),
            Payload::ParkBegin { absolute, time, .. } => {
                let Event { time_ns: since_ns, stack, .. } = *event;
                self.parked.begin(event.tid, Park { since_ns, stack, absolute, time });
            }
            Payload::ParkEnd { .. } => self.park_end(event, known, chunk),
            Payload::Sleep { edge: Edge::Begin, duration_ns, .. } => {
                let Event { time_ns: since_ns, stack, .. } = *event;
                self.sleeping.begin(event.tid, Sleep { since_ns, stack, duration_ns });
            }
            Payload::Sleep { edge: Edge::End, .. } => {
                let Some(sleep) = self.sleeping.end(event.tid, |_| true) else { return };
                let head = Head { stack: sleep.stack, ..until(event, sleep.since_ns) };
                chunk.add(Type::ThreadSleep, head, known, |fields| fields.number(sleep.duration_ns));
            }
            Payload::ThreadStarting { os_tid } => {
                if self.starting.len() >= MAX_STARTING {
                    self.starting.clear();
                }
                self.starting.insert(os_tid, (event.tid, event.stack));
            }
            Payload::Thread { edge: Edge::Begin, java_tid, os_tid, .. } => {
                self.starts(event, [java_tid, os_tid], known, chunk);
            }
            Payload::Thread { edge: Edge::End, java_tid, .. } => self.stops(event, java_tid, known, chunk),
            Payload::CpuSample { .. } => chunk.add(Type::ExecutionSample, at(event), known, |fields| {
                fields.thread(Some(event.tid));
                fields.stack(event.stack);
                // It was on a CPU, in whatever code.
                fields.word(Type::ThreadState, "STATE_RUNNABLE");
            }),
            Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall } => {
                let head = until(event, event.time_ns.saturating_sub(blocked_ns));
                chunk.add(Type::OffCpu, head, known, |fields| {
                    fields.number(if task_state == 0 { blocked_ns } else { run_queue_ns.min(blocked_ns) });
                    fields.word(Type::Symbol, task_state_text(task_state));
                    // Outside of a system call it is all ones, which a reader shows as -1.
                    fields.number(syscall);
                });
            }
            Payload::AllocInNewTlab { class, object_bytes, .. } | Payload::AllocOutsideTlab { class, object_bytes } => {
                let weight = self.buffers.bytes(event).unwrap_or(object_bytes);
                allocated(event, class, [weight, object_bytes], known, chunk);
            }
            Payload::ExceptionCreated { class } => {
                chunk.add(Type::JavaExceptionThrow, at(event), known, |fields| {
                    fields.unknown();
                    fields.class(class);
                });
            }
            _ => {}
        }
    }

    fn monitor(
        &mut self,
        event: &Event,
        action: MonitorAction,
        (address, class): (u64, NameId),
        known: Known<'_>,
        chunk: &mut Chunk,
    ) {
        let Event { time_ns: since_ns, tid, stack, .. } = *event;
        let begun = |holder, timeout_ms| Monitor { since_ns, stack, address, class, holder, timeout_ms };
        match action {
            MonitorAction::ContendedEnter { holder } => self.blocked.begin(tid, begun(Some(holder), 0)),
            MonitorAction::Wait { timeout_ms } => self.waiting.begin(tid, begun(None, timeout_ms)),
            MonitorAction::ContendedEntered => {
                let Some(begun) = self.blocked.end(tid, |begun| begun.address == address) else { return };
                let head = Head { stack: begun.stack, ..until(event, begun.since_ns) };
                chunk.add(Type::JavaMonitorEnter, head, known, |fields| {
                    fields.class(begun.class);
                    fields.thread(begun.holder.and_then(Holder::thread));
                    fields.number(address);
                });
            }
            MonitorAction::Waited => {
                let Some(begun) = self.waiting.end(tid, |begun| begun.address == address) else { return };
                let head = Head { stack: begun.stack, ..until(event, begun.since_ns) };
                chunk.add(Type::JavaMonitorWait, head, known, |fields| {
                    fields.class(begun.class);
                    fields.number(begun.timeout_ms);
                    fields.number(address);
                });
            }
            MonitorAction::Notify | MonitorAction::NotifyAll => {
                chunk.add(Type::JavaMonitorNotify, at(event), known, |fields| {
                    fields.class(class);
                    fields.number(address);
                });
            }
            MonitorAction::ContendedExit => {}
        }
    }

    fn park_end(&mut self, event: &Event, known: Known<'_>, chunk: &mut Chunk) {
        let Some(park) = self.parked.end(event.tid, |_| true) else { return };
        let head = Head { stack: park.stack, ..until(event, park.since_ns) };
        chunk.add(Type::ThreadPark, head, known, |fields| {
            // The smallest number says that there is none.
            let limit = |is_there: bool| if is_there { park.time.cast_signed() } else { i64::MIN };
            // On what it parks is not known. Readers that take fields by their places need both.
            fields.number(0);
            fields.signed(limit(!park.absolute && park.time > 0));
            fields.signed(limit(park.absolute));
            fields.number(0);
        });
    }

    fn starts(&mut self, event: &Event, [java_tid, os_tid]: [u64; 2], known: Known<'_>, chunk: &mut Chunk) {
        // Whoever had the id before is another thread, even if nobody saw its end.
        chunk.pools().threads().forget(event.tid);
        let starter = self.starting.remove(&os_tid);
        let stack = starter.map_or_else(StackId::default, |(_, stack)| stack);
        chunk.add(Type::ThreadStart, Head { stack, ..at(event) }, known, |fields| {
            fields.thread(Some(event.tid));
            fields.thread(starter.map(|(tid, _)| tid));
        });
        chunk.pools().threads().set_java_tid(event.tid, java_tid);
    }

    fn stops(&mut self, event: &Event, java_tid: u64, known: Known<'_>, chunk: &mut Chunk) {
        self.blocked.forget(event.tid);
        self.waiting.forget(event.tid);
        self.parked.forget(event.tid);
        self.sleeping.forget(event.tid);
        chunk.add(Type::ThreadEnd, at(event), known, |fields| fields.thread(Some(event.tid)));
        chunk.pools().threads().set_java_tid(event.tid, java_tid);
    }
}

/// A sample of allocation: an object that gets a new buffer stands for all bytes of the buffer.
fn allocated(event: &Event, class: NameId, [weight, object_bytes]: [u64; 2], known: Known<'_>, chunk: &mut Chunk) {
    chunk.add(Type::ObjectAllocationSample, at(event), known, |fields| {
        fields.class(class);
        fields.number(weight);
        fields.number(object_bytes);
    });
}

const fn task_state_text(state: u64) -> &'static str {
    match state {
        0 => "preempted",
        1 => "interruptible sleep",
        2 => "uninterruptible sleep",
        _ => "other",
    }
}
