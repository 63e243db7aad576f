//! Executors as their threads show them at a look: how many have nothing to do, how many tasks wait, what those do that are at work.

use std::collections::{BTreeMap, HashMap};

use super::since::Since;
use crate::{
    event::StackId,
    item::look::ExecutorLook,
    text::class_name::is_of_jdk,
    thread_dump::{StackFrame, Thread},
};

/// Most executors of a look.
pub(super) const MAX_EXECUTORS: usize = 1024;
/// Where a thread of an executor waits for a task, and one of Jetty's and of `jboss-threads`.
const GET_TASK: [&str; 4] = [
    ".ThreadPoolExecutor.getTask",
    ".EnhancedQueueExecutor$PoolThreadNode.park",
    "org.eclipse.jetty.util.BlockingArrayQueue.poll",
    "org.eclipse.jetty.util.BlockingArrayQueue.take",
];
/// Where the thread of a `java.util.Timer` waits for one, and calls those that are due.
const TIMER_LOOP: &str = "java.util.TimerThread.mainLoop";
/// Where the thread of a `ForkJoinPool` begins, and where it runs a task: what it does elsewhere is to look for one.
const FORK_JOIN: &str = "java.util.concurrent.ForkJoinWorkerThread.run";
const FORK_JOIN_TASK: &str = "java.util.concurrent.ForkJoinTask.doExec";
/// The same of a worker of Kotlin's dispatchers.
const COROUTINES: &str = ".CoroutineScheduler$Worker.run";
const COROUTINE: &str = ".CoroutineScheduler.runSafely";

/// Whether a thread of an executor, or of a `Timer`, waits for something to do.
fn is_idle(thread: &Thread) -> bool {
    let timer = thread.frames.iter().position(|frame| frame.frame.name == TIMER_LOOP);
    let waits = |frame: &StackFrame| frame.frame.name.starts_with("java.lang.Object.wait");
    GET_TASK.iter().any(|method| thread.is_in(method))
        || thread.is_in(FORK_JOIN) && !thread.is_in(FORK_JOIN_TASK)
        || thread.is_in(COROUTINES) && !thread.is_in(COROUTINE)
        || timer.is_some_and(|at| thread.frames.iter().take(at).all(waits))
}

/// What the innermost method of the program does: its frame, and those below. How it came to be called may differ from thread to thread.
pub(super) fn place(thread: &Thread) -> &[StackFrame] {
    let is_program = |frame: &StackFrame| frame.frame.class.as_deref().is_some_and(|class| !is_of_jdk(class));
    let end = thread.frames.iter().position(is_program).map_or(thread.frames.len(), |at| at + 1);
    thread.frames.get(..end).unwrap_or_default()
}

/// Executors by their threads.
pub(super) fn executors(
    threads: &[Thread],
    since: &Since,
    stack: &mut dyn FnMut(&Thread) -> StackId,
) -> Vec<ExecutorLook> {
    let mut all = BTreeMap::<u64, Vec<&Thread>>::new();
    for thread in threads {
        if let Some(executor) = thread.executor {
            all.entry(executor.address).or_default().push(thread);
        }
    }
    let look = |members: Vec<&Thread>| {
        let first = members.first()?;
        let (idle, busy): (Vec<&Thread>, Vec<&Thread>) = members.iter().partition(|thread| is_idle(thread));
        let mut alike = HashMap::<_, Vec<&Thread>>::new();
        for thread in busy.iter().copied().filter(|thread| !thread.frames.is_empty()) {
            alike.entry(place(thread)).or_default().push(thread);
        }
        // Those that may not begin are none of it, as long as that is so.
        let idle = if first.executor?.may_begin { idle.len() } else { 0 };
        let most = alike.into_values().max_by_key(Vec::len);
        let waits = most.as_ref().and_then(|most| most.first()?.waits.clone());
        let here = || members.iter().filter_map(|thread| thread.executor).map(|executor| executor.completed_here);
        let completed = first.executor?.completed;
        let completed = completed.map(|gone| here().fold(gone, u64::saturating_add));
        Some(ExecutorLook {
            completed,
            name: first.name.clone(),
            threads: (idle + busy.len()) as u64,
            idle: idle as u64,
            queued: first.executor?.queued,
            may_have: first.executor?.may_have,
            ran: members.iter().filter(|thread| since.has_run(thread.tid)).count() as u64,
            busy: most.and_then(|most| Some((stack(most.first()?), most.len() as u64))),
            waits,
        })
    };
    all.into_values().filter_map(look).take(MAX_EXECUTORS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        jvm::java_threads::Executor,
        stack::{Frame, Kind},
    };

    fn thread(methods: &[&str]) -> Thread {
        let frame =
            |method: &&str| StackFrame { frame: Frame::named(Kind::Compiled, (*method).to_owned()), native: false };
        Thread { frames: methods.iter().map(frame).collect(), ..Thread::default() }
    }

    /// As where all permits of Kotlin's scheduler for tasks that compute are taken.
    #[test]
    fn threads_that_may_not_begin_are_none_of_the_executor() {
        let worker = |tid: u32, may_begin: bool, methods: &[&str]| Thread {
            tid,
            executor: Some(Executor::uncounted(1, 9, may_begin)),
            ..thread(methods)
        };
        let told = |may_begin| {
            let threads =
                [worker(1, may_begin, &["a.B.c", COROUTINE, COROUTINES]), worker(2, may_begin, &[COROUTINES])];
            let looks = executors(&threads, &Since::default(), &mut |_| StackId(1));
            looks.iter().map(|look| (look.threads, look.idle)).collect::<Vec<_>>()
        };
        assert_eq!((told(true), told(false)), (vec![(2, 1)], vec![(1, 0)]));
    }

    #[test]
    fn a_worker_of_a_fork_join_pool_is_idle_while_it_runs_no_task() {
        let pool = "java.util.concurrent.ForkJoinPool.awaitWork";
        assert!(is_idle(&thread(&[pool, FORK_JOIN])));
        let helps = [pool, "com.shop.Main.lambda$main$0", FORK_JOIN_TASK, FORK_JOIN];
        assert!(!is_idle(&thread(&helps)), "who waits within a task has something to do");
        assert!(!is_idle(&thread(&[pool])), "no worker");
        assert!(!is_idle(&thread(&[])), "one that runs has no frames");
    }
}
