//! What a reader of a group's numbers must know of what the governor did with it.

use super::{
    super::sample::{Estimate, FEWEST_WINDOWS},
    Group, Narrowed, Of,
};
use crate::{
    analysis::Scaled,
    item::{GuardReason, Narrowing},
    lens::Lens,
    report::Unit,
    text::column::{bytes, duration, percent},
};

impl Group {
    /// What a reader of a lens's numbers must know of the estimates.
    pub(in super::super) fn notes(&self, of: Of<'_>) -> Vec<String> {
        let estimates = self.estimates(of.lens, of.span.1, of.hits, of.numbers);
        let inside = self.lens.is_inside();
        let (tells, whose) = if inside { ("marks", format!(" of {}", self.name)) } else { ("traps", String::new()) };
        // What was stopped says nothing of what came later.
        let span = self.stopped.map_or_else(
            || "over the whole span".to_owned(),
            |(at_ns, _)| {
                let after = duration(at_ns.saturating_sub(self.start_ns) as f64);
                format!("until that was stopped, {after} after the beginning,")
            },
        );
        let sentence = |(number, estimate): &(Scaled, Option<Estimate>)| {
            let amount = |value: u64| match number.unit {
                Unit::Bytes => bytes(value as f64),
                _ => format!("{value} {}", number.what),
            };
            let seen = format!("{}{whose} were seen", amount(number.seen));
            let seen = if number.unit == Unit::Bytes { format!("{}: {seen}", number.what) } else { seen };
            match estimate {
                Some(Estimate { value, low, high, windows }) => format!(
                    "{seen}; {span} there were about {} (95 %: {} to {}, from {windows} windows at random times; the upper \
                     end allows for what {tells} slow the target down in them).",
                    amount(*value),
                    amount(*low),
                    amount(*high),
                ),
                None if of.hits.are_cut() => format!(
                    "{seen}; how many there were {span} is not estimated: the programs refused {} of {} hits of its sites.",
                    of.hits.refused, of.hits.all
                ),
                None if self.slowed().is_none() => format!(
                    "{seen}; how many there were {span} is not estimated: in the windows {tells} took so much of the \
                     target's time that it did less than outside of them."
                ),
                None => format!(
                    "{seen}; how many there were {span} is not estimated: that needs {FEWEST_WINDOWS} windows after the part \
                     that was seen whole."
                ),
            }
        };
        let mut notes: Vec<String> = estimates.iter().map(sentence).collect();
        if !estimates.is_empty() {
            notes.push(
                "Tables and distributions show what was seen, in no row the whole; what is rare can be missing. Durations are \
                 not estimated: what lasts longer than a window is never seen whole."
                    .to_owned(),
            );
        }
        notes
    }

    /// What a reader of the numbers must know: first what is missing, then why, because on a small screen the ends are cut.
    pub(in crate::session) fn sentences(&self, start_ns: u64, end_ns: u64) -> Vec<String> {
        let mut sentences: Vec<String> =
            self.narrowed.iter().map(|narrowed| self.narrowed_sentence(narrowed, start_ns)).collect();
        if self.held.times > 0 {
            let open_ns = self.held.since_ns.map_or(0, |since_ns| end_ns.saturating_sub(since_ns));
            sentences.push(format!(
                "`{}` was switched off for {} of the span because that was asked for: its numbers are of the rest",
                self.name,
                duration((self.held.total_ns + open_ns) as f64),
            ));
        }
        if let Some((at_ns, rate_per_s)) = self.stopped {
            let too_much = match self.stop_reason.and_then(|reason| reason.off_ppm) {
                Some(ppm) => {
                    format!(
                        "and while it is off, its tests of a switch would still take {} of a core",
                        percent(ppm as f64 / 1e4)
                    )
                }
                None if self.lens == Lens::Typestate => {
                    "and even ignoring its objects would cost more than the budget".to_owned()
                }
                None => "and even short looks would cost more than the budget".to_owned(),
            };
            sentences.push(format!(
                "`{}` was taken {} for good after {}: it fired {rate_per_s} times a second{}, {too_much}; its numbers are of \
                 the time until then",
                self.name,
                if self.lens.is_inside() { "out of the code" } else { "away" },
                duration(at_ns.saturating_sub(start_ns) as f64),
                because(self.stop_reason),
            ));
        }
        if self.first_away_ns.is_some() && (self.stopped.is_none() || self.windows > 1) {
            let windows = self.windows + u64::from(self.since_ns.is_some());
            sentences.push(format!(
                "`{}` was {} in {} {:.1} % of the span, and its counts and times are lower bounds: it fires {} \
                 times a second, which would cost more than the budget{}",
                self.name,
                if self.lens.is_inside() { "on" } else { "attached" },
                if windows == 1 { "1 window that covers".to_owned() } else { format!("{windows} windows that cover") },
                100.0 * self.attached_share(start_ns, end_ns).min(1.0),
                self.highest_per_s,
                because(self.reason),
            ));
        }
        sentences
    }

    fn narrowed_sentence(&self, narrowed: &Narrowed, start_ns: u64) -> String {
        if matches!(narrowed.what, Narrowing::Objects { .. }) {
            return self.fewer_sentence(narrowed, start_ns);
        }
        format!(
            "`{}`: from {} on {}, so that its counts stay exact: it fired {} times a second{}",
            self.name,
            duration(narrowed.at_ns.saturating_sub(start_ns) as f64),
            narrowed.what,
            narrowed.rate_per_s,
            because(narrowed.reason),
        )
    }

    /// Objects that are tracked are tracked for all of their lives.
    fn fewer_sentence(&self, narrowed: &Narrowed, start_ns: u64) -> String {
        format!(
            "`{}`: from {} on {}; what is said of tracked objects stays right; it had {} symbols a second{}",
            self.name,
            duration(narrowed.at_ns.saturating_sub(start_ns) as f64),
            narrowed.what,
            narrowed.rate_per_s,
            because(narrowed.reason),
        )
    }
}

fn because(reason: Option<GuardReason>) -> String {
    reason.map_or_else(String::new, |GuardReason { cost_ppm, budget_ppm, own, .. }| {
        format!(
            " ({} of a core{}, where all together may take {})",
            percent(cost_ppm as f64 / 1e4),
            if own { " for jtrace itself" } else { "" },
            percent(budget_ppm as f64 / 1e4)
        )
    })
}
