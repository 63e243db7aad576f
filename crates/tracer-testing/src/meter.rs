//! Limits of one input: of memory, and of time. Every fuzzer has them.

use std::cell::RefCell;

use crate::{allocator, watch::Watch};

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
    let before = allocator::mark();
    let result = read();
    let most = allocator::most_since(before);
    assert!(most <= room, "{most} bytes of memory for one input, and {room} are allowed");
    result
}

#[test]
#[should_panic(expected = "bytes of memory for one input")]
fn an_input_that_takes_more_memory_than_it_may_fails() {
    metered(1000, || drop(vec![1_u8; 2000]));
}
