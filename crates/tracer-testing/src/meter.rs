//! Limits of one input: of memory, and of time. Every fuzzer has them.

use std::{cell::RefCell, time::Duration};

use crate::{
    allocator,
    watch::{self, MAX_CPU, Watch},
};

thread_local! {
    /// The fuzzer of this thread, and how many inputs it has read.
    static INPUTS: RefCell<Option<(Watch, u64)>> = const { RefCell::new(None) };
}

/// Reads one input, which may take `room` bytes of memory. One that never ends ends the process.
pub fn metered<T>(room: usize, read: impl FnOnce() -> T) -> T {
    INPUTS.with_borrow_mut(|inputs| {
        let name = || std::thread::current().name().unwrap_or("a fuzzer").to_owned();
        let (watch, count) = inputs.get_or_insert_with(|| (Watch::begin(&name()), 0));
        *count += 1;
        watch.next(*count);
    });
    limited(room, read)
}

/// The same for who watches the time otherwise.
pub(crate) fn limited<T>(room: usize, read: impl FnOnce() -> T) -> T {
    within(MAX_CPU, room, read)
}

fn within<T>(cpu: Duration, room: usize, read: impl FnOnce() -> T) -> T {
    let (before, began) = (allocator::mark(), watch::cpu());
    let result = read();
    let (most, took) = (allocator::most_since(before), watch::cpu().saturating_sub(began));
    assert!(most <= room, "{most} bytes of memory for one input, and {room} are allowed");
    assert!(took <= cpu, "{took:?} of CPU time for one input, and {cpu:?} are allowed");
    result
}

#[test]
#[should_panic(expected = "bytes of memory for one input")]
fn an_input_that_takes_more_memory_than_it_may_fails() {
    metered(1000, || drop(vec![1_u8; 2000]));
}

/// Keeps a CPU busy for a while.
#[cfg(test)]
fn work(time: Duration) {
    let began = watch::cpu();
    while watch::cpu().saturating_sub(began) <= time {}
}

#[test]
#[should_panic(expected = "of CPU time for one input")]
fn an_input_that_takes_more_cpu_time_than_it_may_fails() {
    let limit = Duration::from_millis(10);
    within(limit, 1000, || work(limit));
}

/// Others may have the CPU as long as they like.
#[test]
fn an_input_that_only_waits_keeps_to_its_limit() {
    let limit = Duration::from_millis(10);
    within(limit, 100_000, || std::thread::spawn(move || work(5 * limit)).join().expect("no panic"));
}
