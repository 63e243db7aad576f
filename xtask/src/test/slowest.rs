//! How long single tests took, by when their results came: libtest starts tests in the order in which it lists them, the next one
//! as soon as one has ended.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

/// How many are printed.
const SHOWN: usize = 20;

/// Follows one test program.
#[derive(Debug)]
pub(super) struct Watch {
    waiting: VecDeque<String>,
    running: BTreeMap<String, Instant>,
}

impl Watch {
    /// The tests in the program's own order, and how many of them run at a time.
    pub(super) fn start(tests: &[String], threads: usize, now: Instant) -> Self {
        let mut watch = Self { waiting: tests.iter().cloned().collect(), running: BTreeMap::new() };
        (0..threads).for_each(|_| watch.next(now));
        watch
    }

    fn next(&mut self, now: Instant) {
        if let Some(test) = self.waiting.pop_front() {
            self.running.insert(test, now);
        }
    }

    /// A test has ended; gives how long it took.
    pub(super) fn ended(&mut self, test: &str, now: Instant) -> Option<Duration> {
        let began = self.running.remove(test)?;
        self.next(now);
        Some(now.saturating_duration_since(began))
    }
}

/// The slowest tests, as lines.
pub(super) fn lines(mut tests: Vec<(String, Duration)>) -> Vec<String> {
    let all: Duration = tests.iter().map(|(_, took)| *took).sum();
    tests.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    tests.truncate(SHOWN);
    let shown: Duration = tests.iter().map(|(_, took)| *took).sum();
    let mut lines: Vec<_> = tests.iter().map(|(name, took)| format!("{:>8.1} s  {name}", took.as_secs_f64())).collect();
    if !lines.is_empty() {
        let [shown, all] = [shown, all].map(|took| took.as_secs_f64());
        lines.insert(0, format!("the {} slowest live tests took {shown:.0} of {all:.0} s:", tests.len()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_tests_that_run_side_by_side_are_told_apart() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let tests = ["a", "b", "c", "d"].map(str::to_owned);
        let mut watch = Watch::start(&tests, 2, begin);
        let mut took = |test, seconds| watch.ended(test, at(seconds)).map(|took| took.as_secs());
        // c begins when b has ended, and d when a has.
        assert_eq!(took("b", 3), Some(3));
        assert_eq!(took("a", 5), Some(5));
        assert_eq!(took("d", 6), Some(1));
        assert_eq!(took("c", 10), Some(7));
        assert_eq!(took("e", 11), None);
    }

    #[test]
    fn the_slowest_come_first_and_no_more_than_twenty() {
        let tests = (1..=30).map(|number| (format!("t{number}"), Duration::from_secs(number))).collect();
        let lines = lines(tests);
        assert_eq!(lines.len(), SHOWN + 1);
        assert_eq!(lines[0], "the 20 slowest live tests took 410 of 465 s:");
        assert_eq!(lines[1], "    30.0 s  t30");
        assert!(super::lines(Vec::new()).is_empty());
    }
}
