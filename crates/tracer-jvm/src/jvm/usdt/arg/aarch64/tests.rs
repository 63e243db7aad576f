//! One test for each shape of operand, taken or refused.

use super::*;
use crate::fuzz;

fn operand(place: Place, width: u8, signed: bool) -> Operand {
    Operand { place, width, signed }
}

fn x(number: u8) -> Register {
    Register::general(number).unwrap()
}

fn memory(base: Register, displacement: i32) -> Place {
    Place::Memory { base, displacement }
}

/// Those of the libjvm.so of JDK 17 and 21 for aarch64.
#[test]
fn shapes_that_compilers_write_are_parsed() {
    for (text, expected) in [
        ("8@x21", operand(Place::Register(x(21)), 8, false)),
        ("-4@w0", operand(Place::Register(x(0)), 4, true)),
        ("-4@0", operand(Place::Constant(0), 4, true)),
        ("-4@-1", operand(Place::Constant(-1), 4, true)),
        ("8@[x0, 152]", operand(memory(x(0), 152), 8, false)),
        ("-8@[x29, -16]", operand(memory(x(29), -16), 8, true)),
        ("8@[sp, 24]", operand(memory(Register::SP, 24), 8, false)),
        ("1@[x3]", operand(memory(x(3), 0), 1, false)),
        ("2@[x3,#8]", operand(memory(x(3), 8), 2, false)),
        ("8@xzr", operand(Place::Constant(0), 8, false)),
        ("8@sp", operand(Place::Register(Register::SP), 8, false)),
    ] {
        assert_eq!(parse(text), Ok(expected), "{text}");
    }
}

#[test]
fn every_register_has_its_number_in_both_widths() {
    for number in 0..=30 {
        for (letter, bytes) in [('x', 8), ('w', 4)] {
            let parsed = parse(&format!("8@{letter}{number}"));
            assert_eq!(parsed, Ok(operand(Place::Register(x(number)), bytes, false)), "{letter}{number}");
        }
        assert_eq!(x(number).number(), number);
    }
    assert_eq!((Register::general(31), Register::SP.number()), (None, 31));
}

#[test]
fn constants_are_brought_to_their_width() {
    for (text, value) in [
        ("4@-1", 0xffff_ffff),
        ("-4@4294967295", -1),
        ("1@256", 0),
        ("-1@128", -128),
        ("8@18446744073709551615", -1),
        ("-8@0x10", 16),
    ] {
        assert_eq!(parse(text).map(|operand| operand.place), Ok(Place::Constant(value)), "{text}");
    }
}

#[test]
fn what_a_program_could_not_read_is_refused_with_its_reason() {
    let text = |text: &str| text.to_owned();
    let register = |of: &str, name: &str| Error::Register { text: text(of), register: text(name) };
    for (of, expected) in [
        ("x21", Error::NoWidth { text: text("x21") }),
        ("3@x21", Error::Width { text: text("3@x21"), width: text("3") }),
        ("8f@d0", Error::Float { text: text("8f@d0") }),
        ("8@d0", register("8@d0", "d0")),
        ("8@x31", register("8@x31", "x31")),
        ("8@x07", register("8@x07", "x07")),
        ("8@[w0, 8]", register("8@[w0, 8]", "w0")),
        ("8@[xzr]", register("8@[xzr]", "xzr")),
        ("8@name", Error::Symbol { text: text("8@name") }),
        ("8@[x0, :lo12:name]", Error::Symbol { text: text("8@[x0, :lo12:name]") }),
        ("8@[x0, x1]", Error::Shape { text: text("8@[x0, x1]") }),
        ("8@[x0, x1, lsl 3]", Error::Shape { text: text("8@[x0, x1, lsl 3]") }),
        ("8@[x0, 8", Error::Shape { text: text("8@[x0, 8") }),
        ("8@%rax", Error::Shape { text: text("8@%rax") }),
        ("8@", Error::Shape { text: text("8@") }),
        ("8@[]", Error::Shape { text: text("8@[]") }),
        ("8@[x0, 4294967296]", Error::Number { text: text("8@[x0, 4294967296]"), number: text("4294967296") }),
        ("8@1x", Error::Number { text: text("8@1x"), number: text("1x") }),
    ] {
        assert_eq!(parse(of), Err(expected), "{of}");
    }
    assert!(matches!(parse(&"8".repeat(MAX_OPERAND_BYTES + 1)), Err(Error::TooLong { .. })));
}

/// What is taken says the same when it is written down and read again; nothing makes it panic.
#[test]
fn fuzz_operands_of_aarch64() {
    const PIECES: [&str; 22] = [
        "8", "-", "4", "1", "@", "[", "]", "x", "w", "sp", "xzr", "0", "21", "31", ",", " ", "#", "lsl", "d", "-16",
        "é", "0x",
    ];
    fuzz::each("operands_of_aarch64", 4 << 10, |dice| {
        let text: String = (0..dice.below(9)).map(|_| dice.pick(&PIECES)).collect();
        if let Ok(parsed) = parse(&text) {
            assert_eq!(parse(&written(&parsed)), Ok(parsed), "{text}");
        }
    });
}

fn written(operand: &Operand) -> String {
    let sign = if operand.signed { "-" } else { "" };
    let name = |register: Register, letter: &str| {
        let stack_pointer = if letter == "w" { "wsp" } else { "sp" };
        if register == Register::SP { stack_pointer.to_owned() } else { format!("{letter}{}", register.number()) }
    };
    let value = match operand.place {
        Place::Constant(value) => value.to_string(),
        Place::Register(register) => name(register, "x"),
        Place::Memory { base, displacement } => format!("[{}, {displacement}]", name(base, "x")),
    };
    format!("{sign}{}@{value}", operand.width)
}
