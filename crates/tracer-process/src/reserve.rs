//! Memory for the end: where the system gives no more, a part that was put by is given back, and a session ends in order with it. And
//! memory that is given back before. Only the program `jtrace` has it, and not who uses this library.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait, and ends the process where nothing is left")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
    thread,
    time::Duration,
};

use crate::{ending, standard_error};

/// How much is put by. Nobody writes to it, so it takes addresses and no memory.
const RESERVE: Layout = match Layout::from_size_align(8 << 20, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("a sound layout"),
};

/// The part that is put by; null before, and once it is spent.
static PUT_BY: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Whether a thread has found that nothing is left for an end in order.
static IS_LAST: AtomicBool = AtomicBool::new(false);

/// How long a thread waits for the one that says so.
const SAYING: Duration = Duration::from_millis(100);

/// The system's allocator, with a reserve.
#[derive(Debug)]
pub struct Allocator;

impl Allocator {
    /// Puts the reserve by. Where that is refused there is none, and the first failure is the last.
    pub fn begin() {
        // SAFETY: the layout has a size.
        let reserve = unsafe { System.alloc(RESERVE) };
        PUT_BY.store(reserve, Ordering::Release);
    }
}

/// Bytes that the allocator has given out, and that it keeps for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Given out.
    pub used: usize,
    /// Kept: pages that hold nothing else are the system's again.
    pub free: usize,
}

/// Gives back what the allocator keeps for later. A burst of records takes for a moment what a session then does not need for hours. Says
/// what is left, where this allocator can be asked.
pub fn give_back() -> Option<Kept> {
    #[cfg(target_env = "gnu")]
    // SAFETY: the first takes a number, and looks at what nobody has; the second gives numbers.
    unsafe {
        libc::malloc_trim(0);
        let told = libc::mallinfo2();
        Some(Kept { used: told.uordblks + told.hblkhd, free: told.fordblks })
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// What is done where the system gives nothing: gives the reserve back and asks for the end, so that another try may succeed. The
/// second time nothing is left to try.
fn spend() {
    let reserve = PUT_BY.swap(ptr::null_mut(), Ordering::AcqRel);
    if reserve.is_null() {
        // Threads can find it at the same time, and one line is enough.
        if IS_LAST.swap(true, Ordering::AcqRel) {
            thread::sleep(SAYING);
        } else {
            say(
                "error: no memory is left even for an end in order; the next start of jtrace undoes what this one leaves\n",
            );
        }
        ending::at_once::end(1);
    }
    // SAFETY: it was allocated with this layout, and whoever takes it out of the variable is the only one who has it.
    unsafe { System.dealloc(reserve, RESERVE) };
    say("error: no memory is left: jtrace ends, and undoes what it has changed\n");
    ending::ask(ending::NO_MEMORY);
}

/// Without a lock, and without memory.
fn say(line: &str) {
    standard_error::bytes(line.as_bytes());
}

/// Asks until there is an answer; the second failure is the last.
fn insist(ask: impl Fn() -> *mut u8) -> *mut u8 {
    loop {
        let given = ask();
        if !given.is_null() {
            return given;
        }
        spend();
    }
}

// SAFETY: every call is passed on to the system's allocator as it came, and the first successful answer is given.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        insist(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        insist(|| unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's; where a call failed, the old block is as it was.
        insist(|| unsafe { System.realloc(at, layout, size) })
    }
}
