//! When amounts by stack and thread came: the steps of time of a profile, in bounded memory. Only pages show them.

use std::collections::HashMap;

use super::{ended::EndedThreads, rare::Replaced, spread::Spread};
use crate::{
    event::{StackId, Tid},
    report::ProfileSteps,
};

/// Width of a step of time in the beginning: fine enough to see what happens within a second.
const STEP_NS: u64 = 125_000_000;

/// Most steps of a profile; they double, so there are half as many at least.
const STEPS: usize = 240;

/// Most pairs of stack and step: some 2 MiB here, 1 MiB in a page.
const STEP_ENTRIES: usize = 65_536;

/// Amounts by stack and thread over time; those of analyses that tell when the span starts.
#[derive(Clone, Debug)]
pub(super) struct StackSteps(Spread<(StackId, Tid)>);

impl Default for StackSteps {
    fn default() -> Self {
        Self(Spread::new(STEP_NS, STEPS, STEP_ENTRIES))
    }
}

impl StackSteps {
    /// Steps count from here. Without it there are none.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.0.start(start_ns);
    }

    /// Adds an amount at a time.
    pub(super) fn add(&mut self, stack: StackId, tid: Tid, time_ns: u64, amount: u64) {
        if self.0.step_ns().is_some() {
            self.0.add((stack, tid), time_ns, amount);
        }
    }

    /// Adds a stretch of time, to every step its part.
    pub(super) fn add_stretch(&mut self, stack: StackId, tid: Tid, begin_ns: u64, end_ns: u64) {
        if self.0.step_ns().is_some() {
            self.0.add_stretch((stack, tid), begin_ns, end_ns);
        }
    }

    /// Threads that ended are one, as they are in the profile.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.0.sum_up(ended);
    }

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced) {
        self.0.replace_stacks(replaced);
    }

    /// The steps of these stacks, which are those of a profile in its order.
    pub(super) fn of(&self, stacks: impl Iterator<Item = (StackId, Tid)>) -> Option<ProfileSteps> {
        let step_ns = self.0.step_ns()?;
        let places: HashMap<(StackId, Tid), usize> = stacks.zip(0..).collect();
        let mut steps = vec![Vec::new(); places.len()];
        // In the order of steps, and a stack is in a step once: so each list is sorted.
        for (step, key, amount) in self.0.iter() {
            if let Some(list) = places.get(&key).and_then(|at| steps.get_mut(*at)) {
                list.push((step, amount));
            }
        }
        Some(ProfileSteps { step_ns, stacks: steps })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Context,
            profile::Amounts,
            testing::{Play, context},
        },
        *,
    };
    use crate::report::{Profile, Shape, Span, Unit};

    fn profile(shape: Option<Shape>) -> Profile {
        match shape {
            Some(Shape::Profile(profile)) => profile,
            other => panic!("no profile: {other:?}"),
        }
    }

    /// A span of a second, which begins at [`SECOND`].
    fn second() -> Span {
        Span { start_ns: SECOND, duration_ns: SECOND, started_at_ms: 0, end: String::new() }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn amounts_are_in_the_steps_in_which_they_came() {
        let mut play = Play::default();
        let (idle, busy) = (play.stack(&["a.A.idle"]), play.stack(&["a.A.busy"]));
        let mut amounts = Amounts::default();
        amounts.start(SECOND);
        amounts.add_at(busy, Tid(7), 5, SECOND);
        amounts.add_at(busy, Tid(7), 6, SECOND + 2 * STEP_NS);
        amounts.add_at(busy, Tid(8), 1, SECOND + 3 * STEP_NS - 1);
        // From before the span into its second step: what came before is in no step.
        amounts.add_stretch(idle, Tid(7), SECOND - 50, SECOND + STEP_NS + 20);
        // One stack for four events from here on.
        amounts.fewer(4);
        amounts.add_at(busy, Tid(7), 2, SECOND + 4 * STEP_NS);
        amounts.add_at(StackId::default(), Tid(7), 2, SECOND);
        let span = second();
        let profile = profile(amounts.shape("p", "P", Unit::Ns, context(&play, &span)));
        let steps = profile.steps.as_ref().expect("steps");
        assert_eq!(steps.step_ns, STEP_NS);
        let values: Vec<u64> = profile.stacks.iter().map(|stack| stack.value).collect();
        assert_eq!(values, [STEP_NS + 70, 19, 1]);
        assert_eq!(steps.stacks, [vec![(0, STEP_NS), (1, 20)], vec![(0, 5), (2, 6), (4, 8)], vec![(2, 1)]]);
    }

    #[test]
    fn what_has_no_start_or_is_not_asked_for_has_no_steps() {
        let mut play = Play::default();
        let stack = play.stack(&["a.A.idle"]);
        let span = second();
        let mut amounts = Amounts::default();
        amounts.add_at(stack, Tid(7), 5, SECOND);
        assert_eq!(profile(amounts.shape("p", "P", Unit::Ns, context(&play, &span))).steps, None);
        amounts.start(SECOND);
        amounts.add_at(stack, Tid(7), 5, SECOND);
        let quick = Context { with_steps: false, ..context(&play, &span) };
        assert_eq!(profile(amounts.shape("p", "P", Unit::Ns, quick)).steps, None);
        let whole = profile(amounts.shape("p", "P", Unit::Ns, context(&play, &span)));
        assert_eq!(whole.steps.expect("steps").stacks, [vec![(0, 5)]]);
    }

    #[test]
    fn stacks_beyond_the_limit_have_no_steps_and_long_sessions_few() {
        let mut play = Play::default();
        let stack = play.stack(&["a.A.idle"]);
        let mut amounts = Amounts::of_keys(1);
        amounts.start(0);
        for second in 0..1000 {
            amounts.add_at(stack, Tid(7), 1, second * SECOND);
            amounts.add_at(stack, Tid(8), 1, second * SECOND);
        }
        let span = Span { start_ns: 0, duration_ns: 1000 * SECOND, started_at_ms: 0, end: String::new() };
        let profile = profile(amounts.shape("p", "P", Unit::Ns, context(&play, &span)));
        let steps = profile.steps.expect("steps");
        let [kept, beyond] = &steps.stacks[..] else { panic!("two stacks: {:?}", steps.stacks.len()) };
        assert!(beyond.is_empty() && kept.len() <= STEPS, "{}", kept.len());
        assert_eq!(kept.iter().map(|(_, amount)| amount).sum::<u64>(), 1000);
        assert_eq!(steps.step_ns, 64 * STEP_NS);
    }
}
