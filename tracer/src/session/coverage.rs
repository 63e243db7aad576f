//! Which part of the span a group of sites covers that the rate guard took away for a while.

use crate::{
    analysis::Lens,
    session::{GuardAction, GuardDecision},
};

/// What the rate guard did with one group.
pub(super) struct GroupCoverage<'a> {
    name: &'a str,
    pub(super) lens: Lens,
    actions: Vec<&'a GuardAction>,
}

/// The groups that the guard touched, in the order of their first actions.
pub(super) fn groups(guards: &[GuardAction]) -> impl Iterator<Item = GroupCoverage<'_>> {
    let mut groups: Vec<GroupCoverage<'_>> = Vec::new();
    for action in guards {
        match groups.iter_mut().find(|group| group.name == action.group) {
            Some(group) => group.actions.push(action),
            None => groups.push(GroupCoverage { name: &action.group, lens: action.lens, actions: vec![action] }),
        }
    }
    groups.into_iter()
}

impl GroupCoverage<'_> {
    /// Nanoseconds of the span during which the group was attached.
    fn attached_ns(&self, start_ns: u64, end_ns: u64) -> u64 {
        let mut attached = 0;
        let mut since = Some(start_ns);
        for action in &self.actions {
            match action.action {
                GuardDecision::Detach { .. } => {
                    attached += since.take().map_or(0, |since| action.time_ns.saturating_sub(since));
                }
                GuardDecision::Attach => since = Some(action.time_ns),
            }
        }
        attached + since.map_or(0, |since| end_ns.saturating_sub(since))
    }

    /// What a reader of the numbers must know.
    pub(super) fn sentence(&self, start_ns: u64, end_ns: u64) -> String {
        let rate = self.actions.iter().filter_map(|action| match action.action {
            GuardDecision::Detach { rate_per_s } => Some(rate_per_s),
            GuardDecision::Attach => None,
        });
        let windows = rate.clone().count();
        let span = end_ns.saturating_sub(start_ns).max(1);
        let attached = self.attached_ns(start_ns, end_ns).min(span).max(1);
        format!(
            "`{}` fires {} times a second, which would cost the target more than its budget: it was attached in {windows} \
             {} that cover {:.1} % of the span; its counts and times are lower bounds (about {:.0} times as much \
             happened)",
            self.name,
            rate.max().unwrap_or(0),
            if windows == 1 { "window" } else { "windows" },
            100.0 * attached as f64 / span as f64,
            span as f64 / attached as f64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(time_ns: u64, action: GuardDecision) -> GuardAction {
        GuardAction { time_ns, group: "park".to_owned(), sites: vec![1], lens: Lens::Locks, action }
    }

    #[test]
    fn coverage_adds_up_over_windows() {
        let guards = [
            action(100, GuardDecision::Detach { rate_per_s: 400_000 }),
            action(500, GuardDecision::Attach),
            action(550, GuardDecision::Detach { rate_per_s: 300_000 }),
        ];
        let group = groups(&guards).next().expect("there is one");
        assert_eq!(group.attached_ns(0, 1000), 150);
        let sentence = group.sentence(0, 1000);
        assert!(sentence.contains("400000 times a second") && sentence.contains("15.0 %"), "{sentence}");
    }
}
