//! What an exception handler does with its exception, as far as the bytecode in a JVM says that.

use tracer_weave::handler;

use super::opcodes::Opcodes;
use crate::stack::handlers::Use;

/// What the handler at a bytecode index does with the exception that it is given.
pub(super) fn does(code: &[u8], opcodes: &Opcodes, at: u16) -> Use {
    match handler::does(code, |opcode| opcodes.of_class_file(opcode), at) {
        handler::Use::Reads => Use::Reads,
        handler::Use::Ignores => Use::Ignores,
        handler::Use::Rethrows(at) => Use::Rethrows(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATHROW: u8 = 0xbf;

    fn does(code: &[u8], handler: u16) -> Use {
        super::does(code, &Opcodes::of_release(25).unwrap(), handler)
    }

    #[test]
    fn what_finally_and_synchronized_make_throws_on() {
        // astore_2; aload_0; invokevirtual; aload_2; athrow
        assert_eq!(does(&[0x4d, 0x2a, 0xb6, 0, 1, 0x2c, 0xbf], 0), Use::Rethrows(6));
        // athrow alone; astore 9, aload_1, monitorexit, aload 9, athrow
        assert_eq!(does(&[0, 0xbf], 1), Use::Rethrows(1));
        assert_eq!(does(&[0x3a, 9, 0x2b, 0xc3, 0x19, 9, 0xbf], 0), Use::Rethrows(6));
        // The first variable of a static method, as the JVM loads it once it has run.
        assert_eq!(does(&[0x4b, 0xdc, 0xbf], 0), Use::Rethrows(2));
    }

    /// `try` with resources closes, keeps what that throws, and throws on in two ways that join.
    #[test]
    fn ways_that_join_throw_on_together() {
        // 0 astore_3; 1 aload_2; 2 ifnull 8; 5 invokestatic; 8 aload_3; 9 athrow
        assert_eq!(does(&[0x4e, 0x2c, 0xc6, 0, 6, 0xb8, 0, 1, 0x2d, 0xbf], 0), Use::Rethrows(9));
    }

    #[test]
    fn a_handler_that_reads_or_ignores_is_told() {
        // astore_1; return
        assert_eq!(does(&[0x4c, 0xb1], 0), Use::Ignores);
        // astore_1; iinc 2 by 1; goto 0 (backwards, into what is no part of it, and stores)
        assert_eq!(does(&[0x4c, 0x84, 2, 1, 0xa7, 0xff, 0xfc], 0), Use::Ignores);
        // astore_1; aload_1; invokevirtual; return
        assert_eq!(does(&[0x4c, 0x2b, 0xb6, 0, 1, 0xb1], 0), Use::Reads);
        // One way throws on, the other returns.
        assert_eq!(does(&[0x4c, 0x1a, 0x99, 0, 5, 0x2b, 0xbf, 0xb1], 0), Use::Reads);
        // A switch is not followed, nor what begins with no store.
        assert_eq!(does(&[0x4c, 0xaa, 0, 0, 0xb1], 0), Use::Reads);
        assert_eq!(does(&[0x59, 0x4c, 0xb1], 0), Use::Reads);
    }

    /// Whatever the bytecode is, looking at it ends, and what is said is so.
    #[test]
    fn fuzz_handlers() {
        crate::fuzz::each("handlers", usize::MAX, |dice| {
            let code = dice.bytes(2000);
            let handler = u16::try_from(dice.number() % 2048).unwrap();
            let limit = 64 * code.len() + 64 * 1024;
            match crate::fuzz::metered(limit, || does(&code, handler)) {
                Use::Rethrows(at) => assert_eq!(code.get(usize::from(at)), Some(&ATHROW)),
                Use::Reads | Use::Ignores => {}
            }
        });
    }
}
