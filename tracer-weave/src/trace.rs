//! Whether compiled code that has taken in a method shows it.
//!
//! HotSpot finds code that depends on a method by the methods that are named in it: its own, those whose calls it compiled, and those in
//! which it may stop, for a safepoint or to go on in the interpreter. A short method that only computes can be taken in and be none of these.
//! Whether it is depends on the caller. What is said here is what can happen, as measured on JDK 17 (`tests/live/inside/compiled.rs`).

use crate::weave::{opcodes, raiser};

/// Longest code that C2 takes in where a call is hot (`FreqInlineSize`).
const MAX_INLINED_BYTES: usize = 325;
/// A method that calls as often is not taken in with all that it calls.
const MANY_CALLS: usize = 3;
/// `synchronized` among the flags of a method.
const SYNCHRONIZED: u16 = 0x0020;

const INVOKEVIRTUAL: u8 = 182;
const INVOKESTATIC: u8 = 184;
const INVOKEINTERFACE: u8 = 185;
const INVOKEDYNAMIC: u8 = 186;
const NEW: u8 = 187;
const ANEWARRAY: u8 = 189;
const CHECKCAST: u8 = 192;
const MONITORENTER: u8 = 194;
const MULTIANEWARRAY: u8 = 197;

/// Whether code that was compiled may have taken in this method, of these flags and bytecodes, without a trace.
pub fn may_leave_none(access: u16, bytecodes: &[u8]) -> bool {
    if bytecodes.is_empty() || bytecodes.len() > MAX_INLINED_BYTES || access & SYNCHRONIZED != 0 {
        return false;
    }
    let mut calls = 0;
    for opcode in opcodes(bytecodes) {
        match opcode {
            INVOKEINTERFACE | INVOKEDYNAMIC | MONITORENTER => return false,
            INVOKEVIRTUAL..=INVOKESTATIC => calls += 1,
            _ => {}
        }
    }
    calls < MANY_CALLS
}

/// Whether a method with these bytecodes may make an object by an instruction of its own, or copy an array.
pub fn may_make_objects(bytecodes: &[u8]) -> bool {
    let mut before = 0;
    opcodes(bytecodes).any(|opcode| {
        // Of what a call gives `clone` alone is cast to an array, and what is called is not said here.
        let is_cast = std::mem::replace(&mut before, opcode) == INVOKEVIRTUAL && opcode == CHECKCAST;
        is_cast || matches!(opcode, NEW..=ANEWARRAY | MULTIANEWARRAY)
    })
}

/// Whether a method with these bytecodes may have an exception.
pub fn may_have_exceptions(bytecodes: &[u8]) -> bool {
    opcodes(bytecodes).any(|opcode| raiser(opcode).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `iload_0; iload_1; iadd; ireturn`.
    const ADD: [u8; 4] = [26, 27, 96, 172];

    #[test]
    fn a_method_that_only_computes_may_leave_no_trace() {
        assert!(may_leave_none(0, &ADD));
        assert!(!may_leave_none(SYNCHRONIZED, &ADD), "it stops at a monitor");
        assert!(!may_leave_none(0, &[]), "a native method is never taken in");
        assert!(!may_leave_none(0, &[0; MAX_INLINED_BYTES + 1]), "it is too long to be taken in");
    }

    #[test]
    fn calls_leave_traces() {
        let call = |opcode: u8| [opcode, 0, 1];
        assert!(may_leave_none(0, &[call(INVOKESTATIC), call(INVOKEVIRTUAL)].concat()));
        assert!(!may_leave_none(0, &call(INVOKESTATIC).repeat(MANY_CALLS)));
        assert!(!may_leave_none(0, &[INVOKEINTERFACE, 0, 1, 1, 0]));
        // The operand of `sipush` is no instruction.
        assert!(may_leave_none(0, &[17, INVOKEINTERFACE, INVOKEINTERFACE, 172]));
    }

    #[test]
    fn objects_are_made_by_four_instructions_and_by_copies() {
        for opcode in NEW..=ANEWARRAY {
            assert!(may_make_objects(&[opcode, 0, 1]), "{opcode}");
        }
        assert!(may_make_objects(&[MULTIANEWARRAY, 0, 1, 2]));
        assert!(may_make_objects(&[INVOKEVIRTUAL, 0, 1, CHECKCAST, 0, 2]), "of an array, perhaps");
        assert!(!may_make_objects(&[CHECKCAST, 0, 2, INVOKEVIRTUAL, 0, 1]));
        assert!(!may_make_objects(&ADD) && !may_make_objects(&[]));
        // The operand of `sipush` is no instruction.
        assert!(!may_make_objects(&[17, NEW, NEW, 172]));
    }

    #[test]
    fn torn_bytecodes_end() {
        assert!(may_leave_none(0, &[170]), "a switch without its table");
        assert!(may_leave_none(0, &[203, INVOKEINTERFACE]), "no instruction has this code");
    }
}
