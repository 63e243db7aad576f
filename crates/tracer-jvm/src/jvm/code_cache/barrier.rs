//! Finds the address to which the bottom frame of a mounted virtual thread returns, by the code that stands there.
//!
//! The tables do not have it and a stripped library has no symbol of it. Its stub and the one for exceptions are the only
//! two that begin with a jump of the stack pointer to the thread's continuation entry and a push of the result; they lie in
//! the stubs for continuations, the one for plain returns first. Seen in 21.0.8 and 25.0.2, x86-64.

use super::super::peek::Peek;

/// What the names of the blob with those stubs begin with; releases write it with and without a space.
pub(super) const BLOB: &str = "StubRoutines (cont";
/// `mov rsp, [r15 + ...]`, with an offset of 32 bits.
const LOAD_STACK_POINTER: [u8; 3] = [0x49, 0x8b, 0xa7];
/// `push rax`.
const PUSH_RESULT: u8 = 0x50;
const STEP_BYTES: usize = 8;
/// Largest code that is searched; it has about 3 KiB.
const MAX_CODE_BYTES: u64 = 64 << 10;

/// The address in the code of the blob, if it is as expected.
pub(super) fn find(peek: &impl Peek, code_begin: u64, code_end: u64) -> Option<u64> {
    let len = code_end.checked_sub(code_begin).filter(|&len| len <= MAX_CODE_BYTES)?;
    let code = peek.bytes(code_begin, usize::try_from(len).ok()?).ok()?;
    let begins = |at: &usize| {
        let step = &code[*at..*at + STEP_BYTES];
        step.starts_with(&LOAD_STACK_POINTER) && step[STEP_BYTES - 1] == PUSH_RESULT
    };
    let found: Vec<usize> = (0..code.len().saturating_sub(STEP_BYTES)).filter(begins).collect();
    match found[..] {
        [barrier, exception] if code[barrier..barrier + STEP_BYTES] == code[exception..exception + STEP_BYTES] => {
            Some(code_begin + barrier as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::peek::copy::Copy, *};

    const STUB: [u8; 8] = [0x49, 0x8b, 0xa7, 0x30, 0x05, 0, 0, 0x50];

    fn found(code: &[u8]) -> Option<u64> {
        let mut copy = Copy::default();
        copy.write(0x4000, code);
        find(&copy, 0x4000, 0x4000 + code.len() as u64)
    }

    #[test]
    fn the_first_of_the_two_stubs_is_it() {
        let code = [&[0x59, 0xc3][..], &STUB, &[0xc3; 30], &STUB, &[0xc3; 30]].concat();
        assert_eq!(found(&code), Some(0x4002));
    }

    #[test]
    fn one_three_or_different_stubs_are_not_believed() {
        let other = [0x49, 0x8b, 0xa7, 0x31, 0x05, 0, 0, 0x50];
        assert_eq!(found(&[&STUB[..], &[0xc3; 30]].concat()), None);
        assert_eq!(found(&[&STUB[..], &STUB, &STUB, &[0xc3; 30]].concat()), None);
        assert_eq!(found(&[&STUB[..], &other, &[0xc3; 30]].concat()), None);
        assert_eq!(found(&[]), None);
        assert_eq!(find(&Copy::default(), 0x4000, u64::MAX), None);
    }
}
