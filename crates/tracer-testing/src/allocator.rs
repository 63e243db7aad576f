//! Counts the memory that a thread has at a time, so that an input that makes a parser take too much is a failed test.
#![expect(unsafe_code, reason = "an allocator is unsafe by its trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// Bytes that this thread has; less than none where it gives back what another one took.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The most that it had since the last mark.
    static MOST: Cell<isize> = const { Cell::new(0) };
}

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

/// Bytes that this thread has: less than none where it gives back what another one took.
pub fn held() -> isize {
    HELD.get()
}

/// Begins to look for the most; what is held now is its beginning.
pub(crate) fn mark() -> isize {
    let held = HELD.get();
    MOST.set(held);
    held
}

/// Most bytes that this thread had beyond those of the last mark.
pub(crate) fn most_since(mark: isize) -> usize {
    usize::try_from(MOST.get() - mark).unwrap_or(0)
}

fn take(bytes: usize) {
    let held = HELD.get().wrapping_add_unsigned(bytes);
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

fn give(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub_unsigned(bytes));
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there for a moment where the block moves.
        take(size);
        give(layout.size());
        // SAFETY: the caller's.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[test]
fn what_was_held_for_a_moment_is_seen() {
    let before = mark();
    drop(vec![1_u8; 100_000]);
    let small = vec![1_u8; 10];
    assert!((100_000..110_000).contains(&most_since(before)), "{}", most_since(before));
    drop(small);
}
