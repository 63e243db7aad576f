//! Queues of threads that a program has written itself, without an executor: how much waits in each, and what those do that have it.

use std::collections::BTreeMap;

use crate::{event::StackId, item::look::QueueLook, thread_dump::Thread};

/// Most queues of a look.
pub(super) const MAX_QUEUES: usize = 256;
/// Where a thread waits for something to come into a queue: methods, by how the class begins and ends that has them.
const WAITING: [(&str, &str); 7] = [
    ("java.util.concurrent.", "Queue.take"),
    ("java.util.concurrent.", "Queue.poll"),
    ("java.util.concurrent.", "Deque.take"),
    ("java.util.concurrent.", "Deque.takeFirst"),
    ("java.util.concurrent.", "Deque.takeLast"),
    ("java.util.concurrent.", "Deque.pollFirst"),
    ("java.lang.ref.", "ReferenceQueue.remove"),
];

/// Whether a thread waits for something to do.
fn is_idle(thread: &Thread) -> bool {
    let is_one = |name: &str| WAITING.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end));
    thread.frames.iter().any(|frame| is_one(&frame.frame.name))
}

/// Queues by the threads that have them.
pub(super) fn queues(threads: &[Thread], stack: &mut dyn FnMut(&Thread) -> StackId) -> Vec<QueueLook> {
    let mut all = BTreeMap::<u64, Vec<&Thread>>::new();
    for thread in threads {
        if let Some(queue) = &thread.queue {
            all.entry(queue.address).or_default().push(thread);
        }
    }
    let look = |members: Vec<&Thread>| {
        let first = members.first()?;
        let queue = first.queue.as_ref()?;
        let (idle, busy): (Vec<&Thread>, Vec<&Thread>) = members.iter().partition(|thread| is_idle(thread));
        let shown = busy.into_iter().find(|thread| !thread.frames.is_empty());
        Some(QueueLook {
            field: queue.field.clone(),
            name: first.name.clone(),
            threads: members.len() as u64,
            idle: idle.len() as u64,
            queued: queue.queued,
            busy: shown.map(&mut *stack),
            waits: shown.and_then(|thread| thread.waits.clone()),
        })
    };
    all.into_values().filter_map(look).take(MAX_QUEUES).collect()
}
