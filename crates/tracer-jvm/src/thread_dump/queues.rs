//! Queues in which something waits for the threads of a dump.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use serde::Serialize;

use super::Thread;
use crate::jvm::java_threads::OwnQueue;

/// A queue, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingQueue {
    /// What waits in it.
    pub queued: u64,
    /// The field that has it, where its threads work for no executor.
    pub field: Option<String>,
    /// Kernel ids of the threads that work for it.
    pub threads: Vec<u32>,
}

/// Queues that are not empty, the fullest first. That of an executor is told once, with all of its threads.
pub fn queues(threads: &[Thread]) -> Vec<WaitingQueue> {
    let mut all = BTreeMap::<u64, WaitingQueue>::new();
    for thread in threads {
        let executor = thread.executor.map(|executor| (executor.address, executor.queued, None));
        let own = || thread.queue.as_ref().map(|queue| (queue.address, queue.queued, Some(queue.field.clone())));
        let Some((address, queued, field)) = executor.or_else(own).filter(|(_, queued, _)| *queued > 0) else {
            continue;
        };
        let queue = all.entry(address).or_insert_with(|| WaitingQueue { queued, field, threads: Vec::new() });
        // Threads are read one after another, so they can have found it differently.
        queue.queued = queue.queued.max(queued);
        queue.threads.push(thread.tid);
    }
    let mut all: Vec<WaitingQueue> = all.into_values().collect();
    all.sort_by_key(|queue| Reverse(queue.queued));
    all
}

/// The fullest queue in a static field of a class whose methods a thread is in, or of one around or within that: as it has no other one,
/// that may be what it works for.
pub(super) fn of_class(queues: &[OwnQueue], thread: &Thread) -> Option<OwnQueue> {
    let outermost = |class: &str| class.split('$').next().unwrap_or_default().to_owned();
    let classes: HashSet<String> =
        thread.frames.iter().filter_map(|frame| frame.frame.class.as_deref().map(outermost)).collect();
    let is_its =
        |queue: &&OwnQueue| queue.field.rsplit_once('.').is_some_and(|(class, _)| classes.contains(&outermost(class)));
    queues.iter().filter(is_its).max_by_key(|queue| queue.queued).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        jvm::java_threads::Executor,
        stack::{Frame, Kind},
        thread_dump::StackFrame,
    };

    #[test]
    fn a_thread_has_the_fullest_queue_of_the_classes_that_it_is_in() {
        let frame = |class: &str| StackFrame {
            frame: Frame { class: Some(class.into()), ..Frame::named(Kind::Compiled, format!("{class}.run")) },
            native: false,
        };
        let queue = |field: &str, queued: u64| OwnQueue { address: queued, field: field.to_owned(), queued };
        let queues =
            [queue("com.shop.Bus.mail", 3), queue("com.shop.Bus$Lane.parcels", 9), queue("com.shop.Business.q", 99)];
        let of = |classes: &[&str]| {
            let frames = classes.iter().map(|class| frame(class)).collect();
            of_class(&queues, &Thread { frames, ..Thread::default() }).map(|queue| queue.queued)
        };
        assert_eq!(of(&["java.lang.Thread", "com.shop.Bus$Worker", "com.shop.Main"]), Some(9));
        assert_eq!(of(&["com.shop.Main"]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn queues_are_told_once_the_fullest_first_and_empty_ones_are_not() {
        let of_executor = |tid, address, queued| {
            let executor = Some(Executor::uncounted(address, queued, true));
            Thread { tid, executor, ..Thread::default() }
        };
        let mailer = Some(OwnQueue { address: 3, field: "Mailer.letters".to_owned(), queued: 9 });
        let threads = [
            of_executor(1, 1, 4),
            of_executor(2, 1, 5),
            of_executor(3, 2, 0),
            Thread { tid: 4, queue: mailer, ..Thread::default() },
            Thread { tid: 5, ..Thread::default() },
        ];
        let told = |queued, field: Option<&str>, threads: &[u32]| WaitingQueue {
            queued,
            field: field.map(str::to_owned),
            threads: threads.to_vec(),
        };
        assert_eq!(queues(&threads), [told(9, Some("Mailer.letters"), &[4]), told(5, None, &[1, 2])]);
    }
}
