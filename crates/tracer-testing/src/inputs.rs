//! How many inputs a fuzzer gets: a number, and no more than there is time for. What was read is said, so that a number which was
//! asked for is not taken for the one that was reached.

use std::{
    env, thread,
    time::{Duration, Instant},
};

/// The numbers of a fuzzer's inputs, from 0 on.
pub struct Inputs {
    name: String,
    asked: u64,
    next: u64,
    began: Instant,
    limit: Option<Duration>,
}

/// Numbers for `usual` inputs in a plain test run, which is so quick. `JTRACE_FUZZ_CASES` asks for another number, and
/// `JTRACE_FUZZ_SECONDS` ends before that where the time is over.
pub fn inputs(name: &str, usual: u64) -> Inputs {
    let number = |variable| env::var(variable).ok().and_then(|text: String| text.parse().ok());
    let asked = number("JTRACE_FUZZ_CASES").unwrap_or(usual);
    Inputs::new(name, asked, number("JTRACE_FUZZ_SECONDS").map(Duration::from_secs))
}

impl Inputs {
    fn new(name: &str, asked: u64, limit: Option<Duration>) -> Self {
        // Several fuzzers can share samples and their name; tests have names of their own.
        let thread = thread::current();
        let test = thread.name().and_then(|path| path.rsplit("::").next()).and_then(|test| test.strip_prefix("fuzz_"));
        Self { name: test.unwrap_or(name).to_owned(), asked, next: 0, began: Instant::now(), limit }
    }
}

impl Iterator for Inputs {
    type Item = u64;

    /// One at least: a machine may stand still as long as it likes.
    fn next(&mut self) -> Option<u64> {
        let is_over = self.limit.is_some_and(|limit| self.next > 0 && self.began.elapsed() >= limit);
        if self.next == self.asked || is_over {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

impl Drop for Inputs {
    #[expect(
        clippy::print_stdout,
        reason = "as other results of tests, which libtest keeps to itself where nobody asks for them"
    )]
    fn drop(&mut self) {
        let (Self { name, asked, next, .. }, seconds) = (&*self, self.began.elapsed().as_secs());
        if *next > 0 {
            println!("fuzz: {name:28} {next:>9} of {asked} inputs in {seconds} s");
        }
    }
}

#[test]
fn a_fuzzer_gets_what_is_asked_for_and_no_more_than_there_is_time_for() {
    assert!(Inputs::new("all", 3, None).eq(0..3));
    assert_eq!(Inputs::new("none", 0, None).next(), None);
    assert_eq!(Inputs::new("one", 1000, Some(Duration::ZERO)).count(), 1);
    assert_eq!(Inputs::new("as many as there is time for", 1000, Some(Duration::MAX)).count(), 1000);
}
