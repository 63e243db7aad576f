//! How long a session still takes, from how long its runs took.

use std::{collections::BTreeMap, time::Duration};

use super::order::Step;

/// Times of the runs of this session, starts and ends of JVMs included.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace(BTreeMap<(usize, usize), Taken>);

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    time: Duration,
    runs: u32,
}

impl Taken {
    fn mean(self) -> Option<Duration> {
        self.time.checked_div(self.runs)
    }
}

impl Pace {
    /// Takes note of a run.
    pub(super) fn took(&mut self, step: &Step, time: Duration) {
        let taken = self.0.entry((step.program, step.configuration)).or_default();
        taken.time += time;
        taken.runs += 1;
    }

    /// How long these take: each as long as those of its pair did, else of its program, else of all. Absent before the
    /// first run.
    pub(super) fn left(&self, steps: &[Step]) -> Option<Duration> {
        let mean = |of: &dyn Fn(usize) -> bool| {
            let taken = self.0.iter().filter(|((program, _), _)| of(*program)).map(|(_, taken)| *taken);
            taken.fold(Taken::default(), |a, b| Taken { time: a.time + b.time, runs: a.runs + b.runs }).mean()
        };
        let all = mean(&|_| true)?;
        let programs: BTreeMap<usize, Duration> = steps
            .iter()
            .map(|step| step.program)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .map(|program| (program, mean(&|other| other == program).unwrap_or(all)))
            .collect();
        let one = |step: &Step| {
            let pair = self.0.get(&(step.program, step.configuration)).and_then(|taken| taken.mean());
            pair.or_else(|| programs.get(&step.program).copied()).unwrap_or(all)
        };
        Some(steps.iter().map(one).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_as_long_as_those_most_like_it() {
        let step = |program, configuration| Step { round: 0, program, configuration };
        let seconds = Duration::from_secs;
        let mut pace = Pace::default();
        assert_eq!(pace.left(&[step(0, 0)]), None);
        pace.took(&step(0, 0), seconds(2));
        pace.took(&step(0, 0), seconds(4));
        pace.took(&step(1, 0), seconds(12));
        assert_eq!(pace.left(&[]), Some(seconds(0)));
        assert_eq!(pace.left(&[step(0, 0)]), Some(seconds(3)), "of the pair");
        assert_eq!(pace.left(&[step(1, 7)]), Some(seconds(12)), "of the program");
        assert_eq!(pace.left(&[step(9, 0), step(0, 0)]), Some(seconds(6 + 3)), "of all");
    }
}
