//! Pages keep to a size: each is read as a whole before anything is seen of it, and that takes most of the time that it takes to open.

use crate::{pages, timed};

/// What a page is, what it may have at most, in KiB, and how it is made.
type Budget = (&'static str, usize, fn() -> String);

/// Scripts and style are the first one.
const BUDGET: [Budget; 4] = [
    ("without anything", 128, || pages::write(&pages::empty())),
    ("of the session of four seconds", 160, timed::with_times),
    ("of 100,000 stacks", 12_500, || pages::large(100_000)),
    ("of 20,000 stacks with 200,000 pairs of stack and step", 5_500, || pages::large_over_time(20_000, 10)),
];

#[test]
fn pages_keep_to_their_budget() {
    for (what, most, page) in BUDGET {
        let bytes = page().len();
        println!("{what}: {} KiB", bytes / 1024);
        assert!(bytes / 1024 <= most, "{what}: {} KiB, and {most} are allowed", bytes / 1024);
        // A budget with room for all is none.
        assert!(bytes / 1024 >= most / 2, "{what}: {} KiB, and {most} are allowed", bytes / 1024);
    }
}
