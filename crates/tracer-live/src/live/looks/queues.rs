//! Queues of threads that a program has written itself, without an executor: how much waits in each, and what those do that have it.

use std::collections::BTreeMap;

use super::executors::place;
use crate::{
    event::StackId,
    item::look::{BusyThread, QueueLook},
    thread_dump::Thread,
};

/// Most queues of a look, and places of the threads that have one.
pub(super) const MAX_QUEUES: usize = 256;
const MAX_PLACES: usize = 4;
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
        let places = one_for_each_place(busy);
        let shown = places.first().copied();
        let mut told = |thread: &&Thread| BusyThread {
            name: thread.name.clone(),
            stack: stack(thread),
            waits: thread.waits.clone(),
        };
        let places = if places.len() > 1 { places.iter().map(&mut told).collect() } else { Vec::new() };
        Some(QueueLook {
            field: queue.field.clone(),
            name: first.name.clone(),
            threads: members.len() as u64,
            idle: idle.len() as u64,
            queued: queue.queued,
            busy: shown.map(&mut *stack),
            waits: shown.and_then(|thread| thread.waits.clone()),
            places,
        })
    };
    all.into_values().filter_map(look).take(MAX_QUEUES).collect()
}

/// Of threads whose stacks could be read, the first at each place of the program.
fn one_for_each_place(busy: Vec<&Thread>) -> Vec<&Thread> {
    let mut shown = Vec::<&Thread>::new();
    for thread in busy.into_iter().filter(|thread| !thread.frames.is_empty()) {
        if shown.len() < MAX_PLACES && !shown.iter().any(|known| place(known) == place(thread)) {
            shown.push(thread);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        jvm::java_threads::OwnQueue,
        stack::{Frame, Kind},
        thread_dump::StackFrame,
    };

    #[test]
    fn threads_that_have_a_queue_are_told_once_for_each_place() {
        let frame = |method: &str| StackFrame {
            frame: Frame { class: Some("a.B".into()), ..Frame::named(Kind::Compiled, method.to_owned()) },
            native: false,
        };
        let thread = |tid: u32, name: &str, method: &str| Thread {
            tid,
            name: name.to_owned(),
            frames: vec![frame(method)],
            queue: Some(OwnQueue { address: 1, field: "a.B.q".to_owned(), queued: 7 }),
            ..Thread::default()
        };
        let threads = [
            thread(1, "filler", "a.B.fill"),
            thread(2, "taker-1", "a.B.take"),
            thread(3, "taker-2", "a.B.take"),
            thread(4, "waits", "java.util.concurrent.LinkedBlockingQueue.take"),
        ];
        let looks = queues(&threads, &mut |thread| StackId(thread.tid.into()));
        let [look] = &looks[..] else { panic!("one queue: {looks:?}") };
        assert_eq!((look.threads, look.idle, look.queued), (4, 1, 7));
        assert_eq!((look.name.as_str(), look.busy), ("filler", Some(StackId(1))));
        let places: Vec<_> = look.places.iter().map(|busy| (busy.name.as_str(), busy.stack)).collect();
        assert_eq!(places, [("filler", StackId(1)), ("taker-1", StackId(2))]);
        assert_eq!(queues(&threads[1..], &mut |_| StackId(1))[0].places, [], "all of them do the same");
    }
}
