//! Methods that are over as soon as they have begun: no call, no loop, nothing that waits or loads a class. Where marks are only counted,
//! such a method is told of once, at its end, as entered and left.

use ristretto_classfile::Constant;

use super::code::{Code, Flow, GETFIELD, Instruction, PUTFIELD};
use super::method::Method;
use crate::class::ClassBytes;

/// Whether a method, from where its places begin, is over at once, however it ends.
pub(crate) fn is_brief(method: &Method<'_>) -> bool {
    let Method { class, code, begin, .. } = method;
    let mut instructions = code.instructions.iter().enumerate().skip(*begin);
    code.handlers.is_empty()
        && instructions.all(|(index, one)| goes_on(index, &one.flow) && is_at_once(class, code, one))
}

/// Whether control goes forward only.
fn goes_on(index: usize, flow: &Flow) -> bool {
    !matches!(flow, Flow::Subroutine(_) | Flow::Ret | Flow::Throw)
        && flow.targets().iter().all(|target| *target > index)
}

/// Whether an instruction neither calls nor waits, nor needs a class that may not be there yet.
fn is_at_once(class: &ClassBytes<'_>, code: &Code<'_>, instruction: &Instruction) -> bool {
    match instruction.opcode {
        // Constants, but for those of classes and those that are computed.
        18 => is_plain(class, u16::from(code.bytes[instruction.bci + 1])),
        19 | 20 => is_plain(class, code.constant(instruction)),
        GETFIELD | PUTFIELD => {
            let holder = class.member(code.constant(instruction)).map(|(holder, _)| holder);
            holder.is_some_and(|holder| holder == class.name || Some(holder) == class.superclass.as_deref())
        }
        // Variables, arrays, the stack, arithmetic, branches, returns; `arraylength`, `ifnull`, `ifnonnull`, `goto_w`.
        0..=17 | 21..=167 | 170..=177 | 190 | 198..=200 => true,
        _ => false,
    }
}

/// Whether a constant is a number or a text.
fn is_plain(class: &ClassBytes<'_>, constant: u16) -> bool {
    let constant = class.pool.get(constant);
    matches!(
        constant,
        Some(Constant::Integer(_) | Constant::Float(_) | Constant::Long(_) | Constant::Double(_) | Constant::String(_))
    )
}
