//! What is wanted in one method: zones that are entered and left, and points, each with its calls of the recorder.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::mark::Mark;

/// What kind of place it is; the first encloses those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Method,
    Lines,
    Loop,
    Block,
    Call,
    Field,
    Allocation,
    Exception,
}

/// Which of several calls at one place comes first: outer before inner, then as the rules stand. Behind a place it is the
/// other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    pub(crate) rank: Rank,
    /// How many instructions it has.
    pub(crate) size: Reverse<usize>,
    /// Number of the rule.
    pub(crate) rule: usize,
}

/// Instructions that are entered and left together.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    pub(crate) order: Order,
    /// Its instructions, in order.
    pub(crate) members: Vec<usize>,
    /// Called where control comes into it.
    pub(crate) on_enter: Option<Mark>,
    /// Called where control leaves it by a branch or by returning.
    pub(crate) on_exit: Option<Mark>,
    /// Called where an exception leaves it.
    pub(crate) on_thrown: Option<Mark>,
}

/// All that is wanted in a method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) zones: Vec<Zone>,
    /// Zones that keep something in a local variable of two slots; these lie behind the method's own.
    pub(crate) keeping: u8,
    /// Local variables for lengths of arrays, behind those; the lengths are there from one instruction to the next only.
    pub(crate) saving: u8,
    /// Calls before instructions, whoever comes there.
    pub(crate) points: BTreeMap<usize, Vec<(Order, Mark)>>,
    /// Calls on the way from one instruction to another.
    pub(crate) ways: BTreeMap<(usize, usize), Vec<(Order, Mark)>>,
    /// Calls where an exception of an instruction leaves the method.
    pub(crate) uncaught: BTreeMap<usize, Vec<(Order, Mark)>>,
}

impl Plan {
    /// Whether nothing is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.points.is_empty() && self.ways.is_empty() && self.uncaught.is_empty()
    }

    /// Puts everything in order. Call it when all is there.
    pub(crate) fn sort(&mut self) {
        self.zones.sort_by_key(|zone| zone.order);
        let lists = self.points.values_mut().chain(self.ways.values_mut()).chain(self.uncaught.values_mut());
        for marks in lists {
            marks.sort_by_key(|(order, _)| *order);
        }
    }
}
