//! Basic blocks: rows of instructions that are entered at their first only and left at their last only, exceptions apart.

use super::code::{Code, Flow};

/// The basic blocks of a method.
pub(crate) struct Blocks {
    starts: Vec<usize>,
    count: usize,
}

impl Blocks {
    /// Finds them: one begins where a branch goes, where an exception is handled, and behind what does not just go on.
    pub(crate) fn find(code: &Code<'_>) -> Self {
        let count = code.count();
        let mut leads = vec![false; count];
        leads[0] = true;
        for (index, instruction) in code.instructions.iter().enumerate() {
            for target in instruction.flow.targets() {
                leads[*target] = true;
            }
            if instruction.flow != Flow::Next
                && let Some(next) = leads.get_mut(index + 1)
            {
                *next = true;
            }
        }
        for handler in &code.handlers {
            leads[handler.target] = true;
        }
        let starts = leads.iter().enumerate().filter_map(|(index, leads)| leads.then_some(index)).collect();
        Self { starts, count }
    }

    /// The first instruction of each, in order.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The block that an instruction is in.
    pub(crate) fn of(&self, index: usize) -> usize {
        self.starts.partition_point(|start| *start <= index).saturating_sub(1)
    }

    /// The instructions of a block.
    pub(crate) fn instructions(&self, block: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(block + 1).copied().unwrap_or(self.count);
        self.starts[block]..end
    }
}
