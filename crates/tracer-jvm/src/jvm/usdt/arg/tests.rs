//! One test for each shape of operand, taken or refused.

use super::*;

fn register(register: Register, width: u8, signed: u8, shift: i64) -> Operand {
    Operand { width, signed, displacement: shift, ..Operand::register(register) }
}

fn constant(value: i64, width: u8, signed: u8) -> Operand {
    Operand { width, signed, ..Operand::constant(value) }
}

fn memory(base: Register, index: Register, scale: u8, displacement: i64, width: u8, signed: u8) -> Operand {
    Operand { index: index as u8, scale, width, signed, ..Operand::memory(base, displacement) }
}

#[test]
fn registers_of_every_width_are_parsed() {
    for (text, expected) in [
        ("8@%rax", register(Register::Rax, 8, 0, 0)),
        ("-8@%r13", register(Register::R13, 8, 1, 0)),
        ("-4@%r9d", register(Register::R9, 4, 1, 0)),
        ("4@%eax", register(Register::Rax, 4, 0, 0)),
        ("2@%r15w", register(Register::R15, 2, 0, 0)),
        ("-2@%cx", register(Register::Rcx, 2, 1, 0)),
        ("1@%dil", register(Register::Rdi, 1, 0, 0)),
        ("1@%r15b", register(Register::R15, 1, 0, 0)),
        ("-1@%bl", register(Register::Rbx, 1, 1, 0)),
        ("1@%ah", register(Register::Rax, 1, 0, 8)),
        ("-1@%bh", register(Register::Rbx, 1, 1, 8)),
        ("8@%rsp", register(Register::Rsp, 8, 0, 0)),
    ] {
        assert_eq!(parse(text), Ok(expected), "{text}");
        assert_eq!(format(&expected), text);
    }
}

#[test]
fn every_name_of_every_register_has_its_number() {
    for (number, (register, names)) in REGISTERS.iter().enumerate() {
        assert_eq!(usize::from(*register as u8), number);
        for (name, width) in names.iter().zip([8, 4, 2, 1]) {
            assert_eq!(parse(&format!("{width}@%{name}")).map(|operand| usize::from(operand.base)), Ok(number));
        }
    }
}

#[test]
fn width_of_a_register_is_the_smaller_of_argument_and_register() {
    assert_eq!(parse("4@%rax"), Ok(register(Register::Rax, 4, 0, 0)));
    assert_eq!(parse("-8@%al"), Ok(register(Register::Rax, 1, 1, 0)));
}

#[test]
fn constants_are_brought_to_their_width() {
    for (text, expected) in [
        ("1@$0", constant(0, 1, 0)),
        ("-4@$-1", constant(-1, 4, 1)),
        ("4@$-1", constant(0xffff_ffff, 4, 0)),
        ("-4@$4294967295", constant(-1, 4, 1)),
        ("8@$0x10", constant(16, 8, 0)),
        ("-8@$-0x10", constant(-16, 8, 1)),
        ("8@$18446744073709551615", constant(-1, 8, 0)),
        ("-1@$200", constant(-56, 1, 1)),
        ("-4@$1572864", constant(1_572_864, 4, 1)),
    ] {
        assert_eq!(parse(text), Ok(expected), "{text}");
    }
}

#[test]
fn memory_operands_are_parsed() {
    use Register::{None, R14, Rax, Rbp, Rcx, Rdi, Rsp};
    for (text, expected) in [
        ("8@152(%rdi)", memory(Rdi, None, 1, 152, 8, 0)),
        ("-4@-60(%rbp)", memory(Rbp, None, 1, -60, 4, 1)),
        ("1@37(%r14)", memory(R14, None, 1, 37, 1, 0)),
        ("8@(%rax,%rcx,4)", memory(Rax, Rcx, 4, 0, 8, 0)),
        ("8@8(,%rcx,8)", memory(None, Rcx, 8, 8, 8, 0)),
        ("8@(%rsp)", memory(Rsp, None, 1, 0, 8, 0)),
        ("2@-8(%rax,%rbp,1)", memory(Rax, Rbp, 1, -8, 2, 0)),
    ] {
        assert_eq!(parse(text), Ok(expected), "{text}");
        assert_eq!(format(&expected), text);
    }
    assert_eq!(parse("8@0x10(%rax,%rcx)"), Ok(memory(Rax, Rcx, 1, 16, 8, 0)));
    assert_eq!(parse("8@(%rax, %rcx, 4)"), Ok(memory(Rax, Rcx, 4, 0, 8, 0)));
}

#[test]
fn what_a_program_cannot_read_is_refused_with_its_reason() {
    for (text, reason) in [
        ("8f@%xmm0", "operand `8f@%xmm0` is a floating-point value"),
        ("-4f@8(%rax)", "operand `-4f@8(%rax)` is a floating-point value"),
        ("8@%xmm0", "operand `8@%xmm0` uses register `%xmm0`, which a program cannot read"),
        ("8@%rip", "operand `8@%rip` uses register `%rip`, which a program cannot read"),
        ("8@(%eax)", "operand `8@(%eax)` uses register `%eax`, which a program cannot read"),
        ("8@sym(%rip)", "operand `8@sym(%rip)` depends on a symbol, a segment or the instruction's address"),
        ("8@16(%rip)", "operand `8@16(%rip)` depends on a symbol, a segment or the instruction's address"),
        ("8@sym", "operand `8@sym` depends on a symbol, a segment or the instruction's address"),
        ("8@$sym", "operand `8@$sym` depends on a symbol, a segment or the instruction's address"),
        ("8@1234", "operand `8@1234` depends on a symbol, a segment or the instruction's address"),
        ("8@sym+8(%rax)", "operand `8@sym+8(%rax)` depends on a symbol, a segment or the instruction's address"),
        ("8@%fs:16", "operand `8@%fs:16` depends on a symbol, a segment or the instruction's address"),
        ("%rax", "operand `%rax` has no width"),
        ("", "operand `` has no width"),
        ("3@%rax", "operand `3@%rax` has width `3`, not 1, 2, 4 or 8"),
        ("--4@%rax", "operand `--4@%rax` has width `--4`, not 1, 2, 4 or 8"),
        ("8@$+-1", "operand `8@$+-1` has the bad number `+-1`"),
        ("8@$", "operand `8@$` has the bad number ``"),
        ("8@$18446744073709551616", "operand `8@$18446744073709551616` has the bad number `18446744073709551616`"),
        ("8@4294967296(%rax)", "operand `8@4294967296(%rax)` has the bad number `4294967296`"),
        ("8@(%rax,%rcx,3)", "operand `8@(%rax,%rcx,3)` has an unknown shape"),
        ("8@(%rax,%rsp,2)", "operand `8@(%rax,%rsp,2)` has an unknown shape"),
        ("8@(%rax,,4)", "operand `8@(%rax,,4)` has an unknown shape"),
        ("8@(,,)", "operand `8@(,,)` has an unknown shape"),
        ("8@()", "operand `8@()` has an unknown shape"),
        ("8@(%rax", "operand `8@(%rax` has an unknown shape"),
        ("8@(%rax,%rbx,1,1)", "operand `8@(%rax,%rbx,1,1)` has an unknown shape"),
        ("8@", "operand `8@` has an unknown shape"),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), reason);
    }
    assert_eq!(parse(&"8".repeat(200)), Err(Error::TooLong { bytes: 200 }));
}
