//! Constructors: behind which instruction the object is initialised.
//!
//! Before the constructor that it calls first, nobody may see the object, no handler may cover the code, and places do not
//! begin. All code must lie on one side of that call: what a compiler writes does.

use super::code::{Code, INVOKESPECIAL, NEW, Reason};
use crate::class::ClassBytes;

/// The instruction behind the call of the superclass's or another constructor of this class.
pub(crate) fn begin(class: &ClassBytes<'_>, code: &Code<'_>) -> Result<usize, Reason> {
    let Some(superclass) = &class.superclass else { return Ok(0) };
    // Objects that were made and not yet initialised: their constructors are not the one that is looked for.
    let mut made: usize = 0;
    let mut found = None;
    for (index, instruction) in code.instructions.iter().enumerate() {
        if instruction.opcode == NEW {
            made += 1;
        } else if instruction.opcode == INVOKESPECIAL
            && let Some((callee, name)) = class.member(code.constant(instruction))
            && name == "<init>"
        {
            if made > 0 {
                made -= 1;
            } else if found.is_some() || callee != class.name && callee != superclass {
                return Err("it does not call exactly one other constructor of its object".to_owned());
            } else {
                found = Some(index);
            }
        }
    }
    let call = found.ok_or_else(|| "it calls no other constructor of its object".to_owned())?;
    if crosses(code, call) {
        return Err("its code goes around the constructor that it calls".to_owned());
    }
    Ok(call + 1)
}

/// Whether control comes from one side of the call to the other by anything but the call.
fn crosses(code: &Code<'_>, call: usize) -> bool {
    let behind = |index: usize| index > call;
    let branches = code.instructions.iter().enumerate();
    let mut branches = branches.flat_map(|(from, one)| one.flow.targets().iter().map(move |to| (from, *to)));
    branches.any(|(from, to)| behind(from) != behind(to))
        || code.handlers.iter().any(|handler| {
            let first = behind(handler.start);
            first != behind(handler.end.saturating_sub(1)) || first != behind(handler.target)
        })
}
