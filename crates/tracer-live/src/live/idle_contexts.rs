//! Contexts in which nothing has happened for a while, as those of code that was unloaded: they are taken out of the kernel, which has
//! room for so many. One in which something happens later is made anew there.

use std::collections::{HashMap, HashSet};

use tracer_common::tally::Context;

use crate::ebpf::tallying::UnderWay;

/// How long nothing must have happened.
const IDLE_NS: u64 = 10_000_000_000;
/// Contexts that are taken before it is asked again whether their thread sleeps.
pub(super) const AT_A_TIME: usize = 64;

/// What contexts were when they were read before.
#[derive(Debug, Default)]
pub(super) struct IdleContexts {
    /// What they had counted, and since when.
    seen: HashMap<u64, ([u64; 4], u64)>,
}

impl IdleContexts {
    /// Those that are idle, and all that is below them, by thread.
    pub(super) fn of(&mut self, read: &[(u64, Context)], under_way: &UnderWay, now_ns: u64) -> HashMap<u32, Vec<u64>> {
        let before = std::mem::take(&mut self.seen);
        for (id, context) in read {
            let Context { count, errors, total_ns, bytes, .. } = *context;
            let counted = [count, errors, total_ns, bytes];
            let since_ns =
                before.get(id).filter(|(known, _)| *known == counted).map_or(now_ns, |(_, since_ns)| *since_ns);
            self.seen.insert(*id, (counted, since_ns));
        }
        let parents: HashMap<u64, u64> = read.iter().map(|(id, context)| (*id, context.parent)).collect();
        let mut busy = HashSet::new();
        for (id, context) in read {
            let is_idle = self.seen.get(id).is_some_and(|(_, since_ns)| now_ns.saturating_sub(*since_ns) >= IDLE_NS);
            if is_idle && !under_way.contexts.contains(id) && !under_way.deeper.contains(&context.tid) {
                continue;
            }
            let mut around = *id;
            while busy.insert(around)
                && let Some(outer) = parents.get(&around)
            {
                around = *outer;
            }
        }
        let mut idle: HashMap<u32, Vec<u64>> = HashMap::new();
        for (id, context) in read.iter().filter(|(id, _)| !busy.contains(id)) {
            idle.entry(context.tid).or_default().push(*id);
        }
        idle
    }
}

/// A thread that sleeps: none of our programs runs on it.
#[derive(Debug)]
pub(super) struct Sleeping {
    path: String,
    times_on_cpu: u64,
}

impl Sleeping {
    /// Nothing where the thread may run, or where the kernel does not say.
    pub(super) fn look(pid: u32, tid: u32) -> Option<Self> {
        let path = format!("/proc/{pid}/task/{tid}");
        let times_on_cpu = times_on_cpu(&path)?;
        // The kernel looks whether it is on a CPU, or ready to be. A number of a system call stands here only where it is neither.
        let call = std::fs::read_to_string(format!("{path}/syscall")).ok()?;
        (!call.starts_with("running")).then_some(Self { path, times_on_cpu })
    }

    /// Whether it has slept all the time since it was looked at.
    pub(super) fn still(&self) -> bool {
        times_on_cpu(&self.path) == Some(self.times_on_cpu)
    }
}

/// How often a thread was put onto a CPU.
fn times_on_cpu(path: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("{path}/schedstat")).ok()?;
    text.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    };

    use super::*;

    fn context(parent: u64, tid: u32, count: u64) -> Context {
        Context { parent, tid, count, ..Context::default() }
    }

    fn idle(contexts: &mut IdleContexts, read: &[(u64, Context)], under_way: &UnderWay, now_ns: u64) -> Vec<u64> {
        let mut ids: Vec<u64> = contexts.of(read, under_way, now_ns).into_values().flatten().collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn what_stays_as_it_is_is_idle_after_a_while_with_all_that_is_below_it() {
        let mut contexts = IdleContexts::default();
        let under_way = UnderWay::default();
        let mut read = [(1, context(0, 7, 1)), (2, context(1, 7, 1)), (3, context(0, 7, 5)), (4, context(3, 7, 1))];
        assert!(idle(&mut contexts, &read, &under_way, 0).is_empty(), "nothing is known of before");
        assert!(idle(&mut contexts, &read, &under_way, IDLE_NS - 1).is_empty());
        read[3].1.count += 1;
        assert_eq!(
            idle(&mut contexts, &read, &under_way, IDLE_NS),
            [1, 2],
            "3 is around 4, in which something happened"
        );
        assert_eq!(idle(&mut contexts, &read, &under_way, 2 * IDLE_NS), [1, 2, 3, 4]);
    }

    #[test]
    fn what_may_still_end_is_not_idle() {
        let mut contexts = IdleContexts::default();
        let read = [(1, context(0, 7, 1)), (2, context(1, 7, 1)), (3, context(0, 8, 1)), (4, context(0, 7, 1))];
        let under_way = UnderWay { contexts: HashSet::from([2]), deeper: HashSet::from([8]) };
        idle(&mut contexts, &read, &under_way, 0);
        assert_eq!(idle(&mut contexts, &read, &under_way, IDLE_NS), [4]);
    }

    #[test]
    fn a_thread_that_runs_does_not_sleep_and_one_that_waits_does() {
        let pid = std::process::id();
        let (tell_tid, tid) = channel();
        let (wake, waits) = channel::<()>();
        let (tell_awake, awake) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen_over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            tell_tid.send(rustix::thread::gettid()).expect("the test waits");
            waits.recv().expect("the test wakes it");
            tell_awake.send(()).expect("the test waits");
            while !seen_over.load(Ordering::Relaxed) {}
        });
        let tid = u32::try_from(tid.recv().expect("a thread").as_raw_nonzero().get()).expect("positive");
        let sleeping = loop {
            if let Some(sleeping) = Sleeping::look(pid, tid) {
                break sleeping;
            }
            std::thread::yield_now();
        };
        wake.send(()).expect("it waits");
        awake.recv().expect("it has run");
        assert!(!sleeping.still(), "it has run since");
        assert!(Sleeping::look(pid, tid).is_none(), "on a CPU or not, it never waits");
        is_over.store(true, Ordering::Relaxed);
        thread.join().expect("a thread");
    }
}
