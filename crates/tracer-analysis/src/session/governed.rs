//! What the governor did in a session, and what follows for the numbers: which part of the span a group of sites covers that
//! was attached in windows only, and what would have been counted over the whole span.
//!
//! What was seen counts exactly. The time that a group was away is estimated from the beginnings of its windows, which are at
//! random moments of that time ([`sample`]): how long a window is depends on what happens in it, so the whole of it would be no
//! fair sample. With few windows there is no estimate.
//!
//! While a group is attached, traps slow the target down: outside of the windows it does more. By how much is not known, as traps
//! can meet one thread or many; the interval's upper end allows for all of them having met the same one, and where that makes
//! too much of a difference there is no estimate.

mod group;
mod sample;

use self::group::{Group, Of};
use crate::{
    analysis::{Analysis, Scaled, column},
    item::{Counters, GuardAction, GuardDecision, GuardReason, Narrowing},
    lens::Lens,
    report::{Cell, Decision, Section, Shape, Table, Unit},
    text::column::percent,
};

/// Most decisions that a report names.
const MAX_DECISIONS: usize = 200;

/// All that the governor did.
#[derive(Debug, Default)]
pub(super) struct Governed {
    groups: Vec<Group>,
    decisions: Vec<Decision>,
    /// Decisions that found no room.
    further: u64,
}

impl Governed {
    /// Takes a decision, and the numbers of each lens as they were then.
    pub(super) fn take(&mut self, action: &GuardAction, start_ns: u64, numbers: &[(Lens, Scaled)]) {
        let at = self.groups.iter().position(|group| group.name() == action.group).unwrap_or_else(|| {
            self.groups.push(Group::new(action, start_ns));
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(at) {
            group.take(action, numbers);
        }
        if action.action == GuardDecision::Look {
            return;
        }
        if self.decisions.len() < MAX_DECISIONS {
            self.decisions.push(decision(action, start_ns));
        } else {
            self.further += 1;
        }
    }

    /// The groups, in the order of their first decisions.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What was decided, one by one.
    pub(super) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Adds to the section of a lens what is to be known of groups that were attached in windows only, or told less.
    pub(super) fn add_to(&self, section: &mut Section, analysis: &dyn Analysis, span: (u64, u64), counters: &Counters) {
        let lens = analysis.lens();
        let (mut rows, mut windows, mut least) = (Vec::new(), None, 1.0_f64);
        for group in &self.groups {
            let numbers = analysis.scaled(group.name());
            let of = Of { lens, span, hits: group.hits(counters), numbers: &numbers };
            if group.lens == lens || !numbers.is_empty() {
                section.notes.extend(group.sentences(span.0, span.1));
            }
            section.notes.extend(group.notes(of));
            section.summary = std::mem::take(&mut section.summary).followed_by(group.summary(of));
            let Some(times_away) = group.times_away().filter(|_| !numbers.is_empty()) else { continue };
            rows.extend(group.rows(of));
            let share = group.attached_share(span.0, span.1).min(1.0);
            if windows.is_none() || share < least {
                (windows, least) = (Some(times_away), share);
            }
            mark(&mut section.shapes, share, |id| analysis.shows(group.name(), id));
        }
        if let Some(windows) = windows.filter(|_| !lens.is_inside()) {
            let summary = std::mem::take(&mut section.summary);
            section.summary = summary.int("windows", windows).float("attached_percent", 100.0 * least);
        }
        section.shapes.extend(sampled(lens, rows));
    }

    /// Sentences about all of it.
    pub(super) fn sentences(&self, start_ns: u64, end_ns: u64) -> Vec<String> {
        let mut sentences: Vec<_> = self.groups.iter().flat_map(|group| group.sentences(start_ns, end_ns)).collect();
        if self.further > 0 {
            sentences.push(format!("{} further decisions of the governor are not listed one by one", self.further));
        }
        sentences
    }
}

/// Says in the titles of shapes that they show a part.
fn mark(shapes: &mut [Shape], share: f64, shows: impl Fn(&str) -> bool) {
    for shape in shapes {
        let (id, title) = (shape.id(), shape.title_mut());
        if shows(id) {
            *title = format!("{title}, seen in {} of the span", percent(100.0 * share));
        }
    }
}

fn decision(action: &GuardAction, start_ns: u64) -> Decision {
    let GuardAction { time_ns, group, sites: _, lens, action, reason, pause_ns: _ } = action;
    let (gone, back) = if lens.is_inside() { ("switched_off", "switched_on") } else { ("detached", "attached") };
    let (name, rate) = match action {
        GuardDecision::Detach { rate_per_s } => (gone, Some(*rate_per_s)),
        GuardDecision::Attach | GuardDecision::Look => (back, None),
        GuardDecision::Narrow { what: Narrowing::Each, rate_per_s } => ("counted", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Objects { .. }, rate_per_s } => ("fewer_objects", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Stacks, rate_per_s } => ("without_stacks", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::FewerStacks { .. }, rate_per_s } => {
            ("fewer_stacks", Some(*rate_per_s))
        }
        GuardDecision::Narrow { what: Narrowing::Times, rate_per_s } => ("without_times", Some(*rate_per_s)),
        GuardDecision::Stop { rate_per_s } => ("stopped", Some(*rate_per_s)),
        GuardDecision::Hold => ("held", None),
        GuardDecision::Release => ("released", None),
    };
    let share = |of: fn(&GuardReason) -> u64| reason.as_ref().map(|reason| of(reason) as f64 / 1e4);
    Decision {
        at_ns: time_ns.saturating_sub(start_ns),
        group: group.clone(),
        lens: lens.id(),
        action: name,
        one_in: match action {
            GuardDecision::Narrow {
                what: Narrowing::Objects { one_in } | Narrowing::FewerStacks { one_in }, ..
            } => Some(*one_in),
            _ => None,
        },
        hits_per_s: rate,
        cost_percent: share(|reason| reason.cost_ppm),
        budget_percent: share(|reason| reason.budget_ppm),
        own: reason.is_some_and(|reason| reason.own),
        off_percent: reason.and_then(|reason| reason.off_ppm).map(|ppm| ppm as f64 / 1e4),
        within_ns: reason.map(|reason| reason.within_ns),
    }
}

/// What groups are sampled as.
fn sampled(lens: Lens, rows: Vec<Vec<Cell>>) -> Option<Shape> {
    let (id, title, group, share) = if lens.is_inside() {
        ("marker_windows", "Markers that were on in windows", "Marker", "On")
    } else {
        ("sampled", "Estimates of what was attached in windows", "Group", "Attached")
    };
    let columns = vec![
        column("group", group, Unit::Text),
        column("what", "What", Unit::Text),
        column("windows", "Windows", Unit::Count),
        column("on_percent", share, Unit::Percent),
        column("until_ns", "Until", Unit::Ns),
        column("seen", "Seen", Unit::Count),
        column("estimate", "Estimate", Unit::Count),
        column("low", "Low", Unit::Count),
        column("high", "High", Unit::Count),
    ];
    (!rows.is_empty()).then_some(Shape::Table(Table { id, title: title.to_owned(), columns, rows }))
}

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod tests;
