//! Natural loops.

use super::blocks::Blocks;
use super::code::{Code, Flow, Reason};
use super::tables::Lines;

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its first instruction: who comes into it comes there.
    pub(crate) header: usize,
    /// Its instructions, in order.
    pub(crate) members: Vec<usize>,
    /// Ways, from instruction to instruction, that each begin an iteration. None: every passing of the header does.
    pub(crate) iterations: Vec<(usize, usize)>,
}

/// Whether a method has subroutines, as compilers wrote before version 50. Where they come back to is not in the code.
pub(crate) fn has_subroutines(code: &Code<'_>) -> bool {
    code.instructions.iter().any(|instruction| matches!(instruction.flow, Flow::Subroutine(_) | Flow::Ret))
}

/// Finds them.
pub(crate) fn find(code: &Code<'_>, blocks: &Blocks, lines: &Lines) -> Result<Vec<Loop>, Reason> {
    let _ = (blocks, lines);
    if has_subroutines(code) {
        return Err("it has subroutines (`jsr`)".to_owned());
    }
    Ok(Vec::new())
}
