//! Packs a row of call frame information into the 32 bits of a [`Rule`].
//!
//! Only the forms that compilers make on x86-64 are followed. Everything else becomes [`Rule::UNSUPPORTED`], so that a stack
//! ends with a reason instead of going on wrongly.

use gimli::{
    CfaRule, EhFrame, EndianSlice, LittleEndian, Reader as _, Register, RegisterRule, UnwindContextStorage,
    UnwindExpression, UnwindTableRow, X86_64,
};
use tracer_common::unwind::{Rule, RuleBase};

/// Bytes of a file's unwinding tables.
pub(super) type Bytes<'data> = EndianSlice<'data, LittleEndian>;

/// Room for evaluating rows: x86-64 code speaks of 17 registers, and gimli's own 192 cost a copy of kilobytes a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room;

impl UnwindContextStorage<usize> for Room {
    type Rules = [(Register, RegisterRule<usize>); 24];
    type Stack = [UnwindTableRow<usize, Self>; 8];
}

/// `DW_OP_breg6`: rbp plus a number.
const RBP_PLUS: u8 = 0x76;
/// `DW_OP_deref`: the word at the address.
const DEREF: u8 = 0x06;
/// rsp + 8 + (rip & 15 >= 11) * 8, as linkers write it for a procedure linkage table.
const PLT: [u8; 11] = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
const WORD_BYTES: u64 = 8;

/// The rule of one row of a table.
pub(super) fn pack(section: &EhFrame<Bytes<'_>>, row: &UnwindTableRow<usize, Room>) -> Rule {
    match row.register(X86_64::RA) {
        // No rule for the return address comes to the same as its being undefined: there is no caller.
        None | Some(RegisterRule::Undefined) => return Rule::ROOT,
        Some(RegisterRule::Offset(-8)) => {}
        Some(_) => return Rule::UNSUPPORTED,
    }
    let saved = row.register(X86_64::RBP);
    match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => from_register(*register, *offset, saved.as_ref()),
        CfaRule::Expression(expression) => from_expression(section, *expression, saved.as_ref()),
    }
}

fn from_register(register: Register, offset: i64, saved: Option<&RegisterRule<usize>>) -> Rule {
    let base = match register {
        X86_64::RSP => RuleBase::Rsp,
        X86_64::RBP => RuleBase::Rbp,
        _ => return Rule::UNSUPPORTED,
    };
    let saved = match saved {
        // A callee keeps rbp, so no rule means that it still is the caller's. Where it is declared lost, it is not looked at.
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => Some(0),
        Some(RegisterRule::Offset(below)) => words(below.checked_neg().unwrap_or(0)).filter(|words| *words != 0),
        Some(_) => None,
    };
    words(offset)
        .zip(saved)
        .and_then(|(cfa_words, rbp_words)| Rule::new(base, cfa_words, rbp_words))
        .unwrap_or(Rule::UNSUPPORTED)
}

/// A function that realigns its stack keeps the CFA below its rbp, and the caller's rbp where rbp points. The latter cannot
/// be told as a distance from the CFA, so the rule has no words for it and stands for both.
fn from_expression(
    section: &EhFrame<Bytes<'_>>,
    expression: UnwindExpression<usize>,
    saved: Option<&RegisterRule<usize>>,
) -> Rule {
    let Ok(code) = expression.get(section) else { return Rule::UNSUPPORTED };
    if code.0.slice() == PLT && matches!(saved, None | Some(RegisterRule::SameValue)) {
        return Rule::PLT;
    }
    let Some(RegisterRule::Expression(saved)) = saved else { return Rule::UNSUPPORTED };
    let saved = saved.get(section).ok().and_then(|code| rbp_plus(code.0));
    let below = rbp_plus(code.0).filter(|(_, rest)| rest.slice() == [DEREF]);
    let (Some((0, rest)), Some((offset, _))) = (saved, below) else { return Rule::UNSUPPORTED };
    if !rest.is_empty() {
        return Rule::UNSUPPORTED;
    }
    let below = offset.checked_neg().and_then(words).filter(|words| *words != 0);
    below.and_then(|words| Rule::new(RuleBase::BelowRbpDeref, words, 0)).unwrap_or(Rule::UNSUPPORTED)
}

/// The number that an expression adds to rbp, and what follows.
fn rbp_plus(mut code: Bytes<'_>) -> Option<(i64, Bytes<'_>)> {
    if code.read_u8().ok()? != RBP_PLUS {
        return None;
    }
    let offset = code.read_sleb128().ok()?;
    Some((offset, code))
}

/// A distance in words; `None` where it is no whole number of them.
fn words(bytes: i64) -> Option<u32> {
    let bytes = u64::try_from(bytes).ok()?;
    bytes.is_multiple_of(WORD_BYTES).then_some(bytes / WORD_BYTES)?.try_into().ok()
}
