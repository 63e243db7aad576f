//! Two profiles as one, for pictures that show what became more and what less: the stacks of both, with the amounts of each.

use super::stacks::without_addresses;
use crate::{
    report::{Profile, ProfileStack, Report, Section},
    stack::Frame,
    text::format::whole,
};

/// The stacks of two profiles. Stacks of the first one come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The stacks of both, without threads, whose numbers differ. Amounts are those of the second one.
    pub profile: Profile,
    /// Of each of these stacks its amount in the first one, brought to the length of the second session.
    pub before: Vec<u64>,
}

impl Merged {
    fn of(before: &Profile, after: &Profile, factor: f64) -> Self {
        let offset = u32::try_from(before.frames.len()).unwrap_or(u32::MAX);
        let named = |frame: &Frame| Frame { name: without_addresses(&frame.name).into(), ..frame.clone() };
        let old = before.stacks.iter().map(|stack| {
            let was = whole(stack.value as f64 * factor);
            (ProfileStack { thread: None, value: 0, count: 0, ..stack.clone() }, was)
        });
        let new = after.stacks.iter().map(|stack| {
            let frames = stack.frames.iter().map(|frame| frame.saturating_add(offset)).collect();
            (ProfileStack { frames, thread: None, ..stack.clone() }, 0)
        });
        let (stacks, was) = old.chain(new).unzip();
        let frames = before.frames.iter().chain(&after.frames).map(named).collect();
        let profile = Profile { frames, threads: Vec::new(), stacks, steps: None, ..without_stacks(after) };
        Self { profile, before: was }
    }
}

fn without_stacks(profile: &Profile) -> Profile {
    let Profile { id, title, unit, contexts, .. } = profile;
    Profile {
        id,
        title: title.clone(),
        unit: *unit,
        contexts: *contexts,
        frames: Vec::new(),
        threads: Vec::new(),
        stacks: Vec::new(),
        steps: None,
    }
}

/// The profiles of a lens that both reports have and that can be compared: what was seen in windows is no share of the span.
pub fn profiles(before: &Report, after: &Report, lens: &str) -> Vec<Merged> {
    let sections = before.section(lens).zip(after.section(lens));
    let Some((earlier, later)) = sections.filter(|of| ![of.0, of.1].into_iter().any(Section::is_of_windows)) else {
        return Vec::new();
    };
    let factor = after.span.duration_ns as f64 / before.span.duration_ns.max(1) as f64;
    let pairs = later.profiles().filter_map(|later| {
        let earlier = earlier.profile(later.id).filter(|earlier| earlier.unit == later.unit)?;
        (earlier.total() > 0 || later.total() > 0).then(|| Merged::of(earlier, later, factor))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn amounts_of_both_are_kept_and_the_first_is_brought_to_the_length_of_the_second() {
        let before = sample::report();
        let mut after = before.clone();
        after.span.duration_ns *= 2;
        let merged = profiles(&before, &after, "cpu").remove(0);
        let own = sample::profile();
        assert_eq!(merged.profile.total(), own.total());
        assert_eq!(merged.before.iter().sum::<u64>(), 2 * own.total());
        assert_eq!(merged.profile.stacks.len(), 2 * own.stacks.len());
        let last = merged.profile.stacks.last().and_then(|stack| stack.frames.iter().max().copied());
        assert!(last.is_none_or(|frame| (frame as usize) < merged.profile.frames.len()));
        assert!(profiles(&before, &after, "gc").is_empty());
    }
}
