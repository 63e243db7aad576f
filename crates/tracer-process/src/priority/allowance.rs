//! How much CPU time a thread of real-time priority may take before it has to do without. Pure: it reads no clock.

/// Share of one core that may be taken at real-time priority over a longer time.
const SHARE: f64 = 0.25;
/// CPU time that may be taken at once: what attaching to a large JVM needs, of which the kernel's verifier takes most.
const MOST_NS: f64 = 500e6;
/// What must be there again before the class is: not at once, else a busy thread would change it all the time.
const ENOUGH_NS: f64 = 125e6;

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Before all that has no real-time class.
    RealTime,
    /// Beside all others.
    Ordinary,
}

/// A bucket of CPU time: full at the beginning, filled by time, and emptied by what is taken at real-time priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    left_ns: f64,
    class: Class,
}

impl Allowance {
    pub(super) const fn new() -> Self {
        Self { left_ns: MOST_NS, class: Class::RealTime }
    }

    /// Whether half of it is left: more than a thread gets through between two looks, however busy it is.
    pub(super) fn is_ample(&self) -> bool {
        self.left_ns >= MOST_NS / 2.0
    }

    /// The class from now on, after so much time in which so much CPU time was taken.
    pub(super) fn step(&mut self, elapsed_ns: u64, used_ns: u64) -> Class {
        self.left_ns = (self.left_ns + elapsed_ns as f64 * SHARE).min(MOST_NS);
        if self.class == Class::RealTime {
            self.left_ns -= used_ns as f64;
        }
        self.class = match self.class {
            Class::RealTime if self.left_ns < 0.0 => Class::Ordinary,
            Class::Ordinary if self.left_ns >= ENOUGH_NS => Class::RealTime,
            class => class,
        };
        self.class
    }

    /// It was put back by somebody else.
    pub(super) const fn take_all(&mut self) {
        self.left_ns = 0.0;
        self.class = Class::Ordinary;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_NS: u64 = 25_000_000;

    /// CPU time at real-time priority of a thread that takes a share of a core all the time.
    fn taken(share: f64, seconds: u64) -> f64 {
        let mut allowance = Allowance::new();
        let mut class = Class::RealTime;
        let mut taken_ns = 0.0;
        for _ in 0..seconds * 1_000_000_000 / STEP_NS {
            let used_ns = STEP_NS as f64 * share;
            taken_ns += if class == Class::RealTime { used_ns } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a step")]
            let used_ns = used_ns as u64;
            class = allowance.step(STEP_NS, used_ns);
        }
        taken_ns / 1e9
    }

    #[test]
    fn a_thread_that_takes_little_always_has_it() {
        assert!((taken(0.2, 60) - 12.0).abs() < 1e-6, "{}", taken(0.2, 60));
    }

    #[test]
    fn half_of_it_is_left_to_a_thread_that_takes_little_and_not_to_one_that_takes_all() {
        let mut allowance = Allowance::new();
        let mut after = |steps: u32, used_ns| {
            for _ in 0..steps {
                allowance.step(STEP_NS, used_ns);
            }
            allowance.is_ample()
        };
        assert!(after(100, STEP_NS / 10));
        // Each step takes three quarters of its length more than it brings.
        assert!(after(13, STEP_NS) && !after(1, STEP_NS));
    }

    #[test]
    fn a_thread_that_takes_all_has_it_for_a_quarter_of_the_time() {
        let most = MOST_NS / 1e9 + 60.0 * SHARE + STEP_NS as f64 / 1e9;
        assert!(taken(1.0, 60) <= most, "{}", taken(1.0, 60));
        assert!(taken(1.0, 60) > 10.0, "{}", taken(1.0, 60));
    }

    #[test]
    fn who_was_put_back_waits_until_there_is_enough() {
        let mut allowance = Allowance::new();
        allowance.take_all();
        let steps = (1..1000).find(|_| allowance.step(STEP_NS, STEP_NS) == Class::RealTime);
        assert_eq!(steps, Some(20));
    }
}
