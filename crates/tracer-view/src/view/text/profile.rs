//! A profile as its hottest paths: an indented tree without what is small.

use crate::{
    report::Profile,
    text::escape,
    view::{
        calls::{Call, Calls, Direction},
        format, name,
        symbol::Lines,
    },
};

/// Smallest share of the whole that is shown, as parts of 100.
const LEAST_PERCENT: u64 = 1;

/// Deepest frame that an eye follows.
const DEEPEST: usize = 256;

/// Columns beyond which branches are no longer indented; there, only their order shows how deep they are.
const INDENTED: usize = 48;

/// The lines of the tree, at most `limit`; what is left out is counted.
pub(in crate::view) fn lines(profile: &Profile, width: usize, limit: usize) -> Vec<String> {
    let calls = Calls::new(profile, Lines::Shown, Direction::Callees);
    let mut tree =
        Tree { calls: &calls, total: calls.root().value, width, limit, lines: Vec::new(), hidden: 0, small: 0 };
    let (own, value) = ("self", "total");
    tree.lines.push(format!("{value:>11} {:>8} {own:>8}", "share"));
    tree.branch(&calls.root(), 0);
    let Tree { mut lines, hidden, small, total, .. } = tree;
    if hidden > 0 {
        lines.push(format!("    … {} more frames", format::count(hidden)));
    }
    if small > 0 {
        let (value, share) = (format::int(small, calls.unit()), format::percent(share(small, total)));
        let rest = format!("… {value} = {share} in branches below {LEAST_PERCENT} %");
        lines.push(format!("    {}", escape::fit(&rest, width.saturating_sub(4))));
    }
    lines
}

/// The tree while it is written.
struct Tree<'a> {
    calls: &'a Calls,
    total: u64,
    width: usize,
    limit: usize,
    lines: Vec<String>,
    /// Frames that did not fit.
    hidden: u64,
    /// Amount of the branches that are too small.
    small: u64,
}

impl Tree<'_> {
    fn branch(&mut self, call: &Call, indent: usize) {
        let children = self.calls.children(call);
        // A chain of frames that only call the next one stays at one indent, without a mark of
        // its own: Java stacks are deep.
        let branches = children.len() > 1 || call.own > 0 || call.depth == 0;
        for child in children {
            if child.value.saturating_mul(100) < self.total.saturating_mul(LEAST_PERCENT) {
                self.small = self.small.saturating_add(child.value);
                continue;
            }
            let indent = indent + usize::from(branches);
            if self.lines.len() <= self.limit {
                self.line(&child, indent, if branches { "- " } else { "  " });
            } else {
                self.hidden += 1;
            }
            if child.depth < DEEPEST {
                self.branch(&child, indent);
            }
        }
    }

    fn line(&mut self, call: &Call, indent: usize, mark: &str) {
        let value = format::int(call.value, self.calls.unit());
        let own = if call.own == 0 { String::new() } else { format::percent(share(call.own, self.total)) };
        let share = format::percent(share(call.value, self.total));
        let amounts = format!("{value:>11} {share:>8} {own:>8}  ");
        let room = self.width.saturating_sub(escape::width(&amounts) + mark.len());
        // However deep it is, half of the room is the name's.
        let indent = (indent.saturating_sub(1) * 2).min(INDENTED).min(room / 2);
        let label = name::fit(self.calls.label(call), room - indent);
        self.lines.push(format!("{amounts}{:indent$}{mark}{label}", ""));
    }
}

/// The share of an amount, in percent.
pub(in crate::view) fn share(value: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { value as f64 / total as f64 * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn small_branches_are_counted_and_not_shown() {
        let lines = lines(&sample::profile(), 100, 40);
        assert!(lines.last().unwrap().contains("in branches below 1 %"), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("evil")));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let all = lines(&sample::profile(), 100, 100);
        let few = lines(&sample::profile(), 100, 3);
        let hidden = all.len() - 2 - 3;
        assert_eq!(few[4], format!("    … {hidden} more frames"));
    }

    #[test]
    fn a_profile_of_nothing_is_written() {
        let mut profile = sample::profile();
        profile.stacks.iter_mut().for_each(|stack| stack.value = 0);
        assert!(lines(&profile, 80, 10).len() > 1);
        profile.stacks.clear();
        assert_eq!(lines(&profile, 80, 10).len(), 1);
    }
}
