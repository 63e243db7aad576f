//! A group of sites under the guard: where it is, and how it is made cheaper.

use super::{Decision, Means, Reason, load::Pace};
use crate::{item::Narrowing, random::Random};

/// Shortest pause before looking again.
const SHORTEST_PAUSE_NS: f64 = 1e9;

/// Longest pause: what comes back more rarely is no sample.
pub(super) const LONGEST_PAUSE_NS: f64 = 60e9;

/// A pause is at most so many times as long as it is on average: that happens to one of fifty.
const MOST_PAUSES: f64 = 4.0;

/// Of how many events one gets a stack, step by step, where stacks of all cost too much.
const FEWER_STACKS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// The same where that would not be enough, so that the group is sampled: windows are longer then.
const SAMPLED_STACKS: u64 = 16;

/// What is left of a group's cost is at most such a part of it, or leaving stacks out is not worth it.
const WORTH: f64 = 0.95;

/// Where a group is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// It was noted what it does.
    Attached,
    /// Again, since then; that is still to be noted.
    Back {
        since_ns: u64,
    },
    Away {
        /// When it comes back.
        until_ns: u64,
        /// How long that takes on average.
        pause_ns: f64,
    },
    Stopped,
}

impl Place {
    pub(super) const fn is_attached(self) -> bool {
        matches!(self, Self::Attached | Self::Back { .. })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) place: Place,
    /// It was too much for the target before: what it costs now is a look.
    pub(super) is_look: bool,
    /// What can still be left out.
    pub(super) means: Means,
    /// Of how many events one gets a stack; nothing where none does, or all must.
    pub(super) stacks_of: Option<u64>,
    /// What its hits have cost the target since it was attached, and jtrace.
    pub(super) window_ns: f64,
    pub(super) own_window_ns: f64,
    pub(super) pace: Pace,
}

impl Group {
    /// What a stack of one of its events costs on average over all of them, by what one costs where each has it.
    pub(super) fn stack_ns(&self, stack_ns: f64) -> f64 {
        stack_ns / self.stacks_of.unwrap_or(1) as f64
    }

    /// Fewer stacks, where stacks of all its events are too much: as many as cost no more than `room` of one core with the rest, or
    /// where that cannot be had as many as a sample needs; and whether it is enough. Nothing where it has no more than these.
    pub(super) fn fewer_stacks(&mut self, trap_ns: f64, stack_ns: f64, room: f64) -> Option<(Narrowing, bool)> {
        let now = self.stacks_of?;
        let costs = |one_in: u64| {
            self.pace.share_without(
                &[Narrowing::FewerStacks { one_in: one_in / now }],
                trap_ns,
                self.stack_ns(stack_ns),
            )
        };
        let enough = FEWER_STACKS.into_iter().find(|one_in| *one_in > now && costs(*one_in) <= room);
        let one_in = enough.unwrap_or(SAMPLED_STACKS);
        if one_in <= now || costs(one_in) >= self.pace.share() * WORTH {
            return None;
        }
        self.stacks_of = Some(one_in);
        Some((Narrowing::FewerStacks { one_in }, enough.is_some()))
    }

    /// What to leave out so that the group takes no more than `room` of one core; nothing where that cannot be had.
    pub(super) fn narrowings(&mut self, trap_ns: f64, stack_ns: f64, room: f64) -> &'static [Narrowing] {
        let Means { stacks, times } = self.means;
        let steps: [(bool, &[Narrowing]); 3] = [
            (stacks, &[Narrowing::Stacks]),
            (times && !stacks, &[Narrowing::Times]),
            (times && stacks, &[Narrowing::Stacks, Narrowing::Times]),
        ];
        let fits = |what: &[Narrowing]| self.pace.share_without(what, trap_ns, stack_ns) <= room;
        let Some((_, what)) = steps.into_iter().find(|(possible, what)| *possible && fits(what)) else { return &[] };
        self.means.stacks &= !what.contains(&Narrowing::Stacks);
        self.means.times &= !what.contains(&Narrowing::Times);
        what
    }

    pub(super) fn leave(
        &mut self,
        index: usize,
        now_ns: u64,
        pause_ns: f64,
        reason: Reason,
        random: &mut Random,
    ) -> Decision {
        if pause_ns > LONGEST_PAUSE_NS {
            self.place = Place::Stopped;
            return Decision::Stop { group: index, reason };
        }
        self.place = away(random, now_ns, pause_ns.max(SHORTEST_PAUSE_NS));
        Decision::Detach { group: index, reason }
    }
}

/// A pause that lasts so long on average. However long it has lasted already, what is still to come of it is as long on average:
/// so it can be drawn anew at any time.
pub(super) fn away(random: &mut Random, now_ns: u64, pause_ns: f64) -> Place {
    let chance = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    let times = (-(1.0 - chance).ln()).min(MOST_PAUSES);
    Place::Away { until_ns: now_ns.saturating_add((times * pause_ns) as u64), pause_ns }
}
