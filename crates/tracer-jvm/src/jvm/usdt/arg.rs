//! Parses one operand of a probe site, as the assembler wrote it into the note: `-4@-60(%rbp)`.
//!
//! A shape that a program could not read truthfully (floating point, a symbol, a segment) is refused with its reason.
//! Nothing here knows which probe the operand belongs to. Operands of x86-64 are here, those of aarch64 in `aarch64`.

pub mod aarch64;

use tracer_common::site::{Operand, Place, Register};

/// Longest operand that is looked at.
pub const MAX_OPERAND_BYTES: usize = 128;

/// Why an operand cannot be read by a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is too long to be an operand.
    #[error("operand of {bytes} bytes, more than {limit}", limit = MAX_OPERAND_BYTES)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// There is no `N@` in front.
    #[error("operand `{text}` has no width")]
    NoWidth {
        /// The operand.
        text: String,
    },
    /// The width is not 1, 2, 4 or 8.
    #[error("operand `{text}` has width `{width}`, not 1, 2, 4 or 8")]
    Width {
        /// The operand.
        text: String,
        /// What stands before the `@`.
        width: String,
    },
    /// A floating-point value.
    #[error("operand `{text}` is a floating-point value")]
    Float {
        /// The operand.
        text: String,
    },
    /// A register that a program cannot see.
    #[error("operand `{text}` uses register `{register}`, which a program cannot read")]
    Register {
        /// The operand.
        text: String,
        /// The register.
        register: String,
    },
    /// A number that is not one, or does not fit.
    #[error("operand `{text}` has the bad number `{number}`")]
    Number {
        /// The operand.
        text: String,
        /// The number.
        number: String,
    },
    /// The value's place depends on a symbol or on where the code lies.
    #[error("operand `{text}` depends on a symbol, a segment or the instruction's address")]
    Symbol {
        /// The operand.
        text: String,
    },
    /// None of the known shapes.
    #[error("operand `{text}` has an unknown shape")]
    Shape {
        /// The operand.
        text: String,
    },
}

/// Registers by their 64-bit names, in the order of their numbers, with their other names by width 4, 2, 1.
const REGISTERS: [(Register, [&str; 4]); 16] = [
    (Register::Rax, ["rax", "eax", "ax", "al"]),
    (Register::Rcx, ["rcx", "ecx", "cx", "cl"]),
    (Register::Rdx, ["rdx", "edx", "dx", "dl"]),
    (Register::Rbx, ["rbx", "ebx", "bx", "bl"]),
    (Register::Rsp, ["rsp", "esp", "sp", "spl"]),
    (Register::Rbp, ["rbp", "ebp", "bp", "bpl"]),
    (Register::Rsi, ["rsi", "esi", "si", "sil"]),
    (Register::Rdi, ["rdi", "edi", "di", "dil"]),
    (Register::R8, ["r8", "r8d", "r8w", "r8b"]),
    (Register::R9, ["r9", "r9d", "r9w", "r9b"]),
    (Register::R10, ["r10", "r10d", "r10w", "r10b"]),
    (Register::R11, ["r11", "r11d", "r11w", "r11b"]),
    (Register::R12, ["r12", "r12d", "r12w", "r12b"]),
    (Register::R13, ["r13", "r13d", "r13w", "r13b"]),
    (Register::R14, ["r14", "r14d", "r14w", "r14b"]),
    (Register::R15, ["r15", "r15d", "r15w", "r15b"]),
];

/// The second bytes of the first four registers.
const HIGH_BYTES: [(Register, &str); 4] =
    [(Register::Rax, "ah"), (Register::Rcx, "ch"), (Register::Rdx, "dh"), (Register::Rbx, "bh")];

/// A register's name: which register, how many bytes of it, shifted by how many bits.
fn register_named(name: &str) -> Option<(Register, u8, i64)> {
    if let Some((register, _)) = HIGH_BYTES.iter().find(|(_, high)| *high == name) {
        return Some((*register, 1, 8));
    }
    REGISTERS.iter().find_map(|(register, names)| {
        let position = names.iter().position(|known| *known == name)?;
        Some((*register, [8, 4, 2, 1][position], 0))
    })
}

/// Parses an operand.
///
/// # Errors
/// [`Error`] says why the operand cannot be used.
pub fn parse(text: &str) -> Result<Operand, Error> {
    if text.len() > MAX_OPERAND_BYTES {
        return Err(Error::TooLong { bytes: text.len() });
    }
    let Some((width, value)) = text.split_once('@') else { return Err(Error::NoWidth { text: text.to_owned() }) };
    let (width, signed) = parse_width(text, width)?;
    let shaped = match value.as_bytes() {
        [b'$', ..] => parse_constant(text, &value[1..], width, signed)?,
        [b'%', ..] => parse_register(text, &value[1..], width)?,
        _ => parse_memory(text, value)?,
    };
    // A register that is narrower than the argument holds all of it: the value is what the register is.
    let width = if shaped.place == Place::Register as u8 { shaped.width } else { width };
    Ok(Operand { width, signed: u8::from(signed), ..shaped })
}

fn parse_width(text: &str, width: &str) -> Result<(u8, bool), Error> {
    let unsigned = width.strip_prefix('-');
    let bytes = match unsigned.unwrap_or(width) {
        "1" => 1,
        "2" => 2,
        "4" => 4,
        "8" => 8,
        digits if digits.ends_with('f') => return Err(Error::Float { text: text.to_owned() }),
        _ => return Err(Error::Width { text: text.to_owned(), width: width.to_owned() }),
    };
    Ok((bytes, unsigned.is_some()))
}

/// A constant is brought to its width here, so that a program can take it as it is.
fn parse_constant(text: &str, number: &str, width: u8, signed: bool) -> Result<Operand, Error> {
    let value = parse_number(number)
        .and_then(|value| i64::try_from(value).or_else(|_| u64::try_from(value).map(u64::cast_signed)).ok())
        .ok_or_else(|| {
            if number.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.')) {
                Error::Symbol { text: text.to_owned() }
            } else {
                Error::Number { text: text.to_owned(), number: number.to_owned() }
            }
        })?;
    let unused_bits = 64 - 8 * u32::from(width);
    let shifted = value << unused_bits;
    let extended = if signed { shifted >> unused_bits } else { (shifted.cast_unsigned() >> unused_bits).cast_signed() };
    Ok(Operand::constant(extended))
}

fn parse_register(text: &str, name: &str, width: u8) -> Result<Operand, Error> {
    if name.contains(':') {
        return Err(Error::Symbol { text: text.to_owned() });
    }
    let (register, register_bytes, shift) =
        register_named(name).ok_or_else(|| Error::Register { text: text.to_owned(), register: format!("%{name}") })?;
    Ok(Operand { displacement: shift, width: width.min(register_bytes), ..Operand::register(register) })
}

/// `displacement(base,index,scale)`, of which only the base or the index is needed.
fn parse_memory(text: &str, value: &str) -> Result<Operand, Error> {
    let shape = || Error::Shape { text: text.to_owned() };
    let symbol = || Error::Symbol { text: text.to_owned() };
    let Some((displacement, rest)) = value.split_once('(') else {
        // A bare number or name is an absolute address, which means nothing in a relocated file.
        let address = value.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
        return Err(if address { symbol() } else { shape() });
    };
    let inner = rest.strip_suffix(')').ok_or_else(shape)?;
    let displacement = match displacement {
        "" => 0,
        number => match parse_number(number) {
            Some(number) => i32::try_from(number)
                .map_err(|_| Error::Number { text: text.to_owned(), number: number.to_string() })?,
            None => return Err(symbol()),
        },
    };
    let mut parts = inner.split(',').map(str::trim);
    let (base, index, scale, more) = (parts.next(), parts.next(), parts.next(), parts.next());
    if more.is_some() {
        return Err(shape());
    }
    let base = address_register(text, base.unwrap_or(""))?;
    let index = address_register(text, index.unwrap_or(""))?;
    let scale = match scale {
        None | Some("1") => 1,
        Some("2") => 2,
        Some("4") => 4,
        Some("8") => 8,
        Some(_) => return Err(shape()),
    };
    let nothing = base == Register::None && index == Register::None;
    if nothing || index == Register::Rsp || (scale != 1 && index == Register::None) {
        return Err(shape());
    }
    Ok(Operand { index: index as u8, scale, ..Operand::memory(base, i64::from(displacement)) })
}

/// A register of an address: 64 bits wide, or left out.
fn address_register(text: &str, name: &str) -> Result<Register, Error> {
    let Some(name) = name.strip_prefix('%') else {
        return if name.is_empty() { Ok(Register::None) } else { Err(Error::Shape { text: text.to_owned() }) };
    };
    match register_named(name) {
        Some((register, 8, 0)) => Ok(register),
        _ if name == "rip" => Err(Error::Symbol { text: text.to_owned() }),
        _ => Err(Error::Register { text: text.to_owned(), register: format!("%{name}") }),
    }
}

/// A decimal or hexadecimal number with an optional sign.
fn parse_number(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    // `from_str_radix` would take a second sign.
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => i128::from(u64::from_str_radix(hex, 16).ok()?),
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => i128::from(digits.parse::<u64>().ok()?),
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Writes an operand as the assembler would: the inverse of [`parse`].
pub fn format(operand: &Operand) -> String {
    let sign = if operand.signed == 1 { "-" } else { "" };
    let prefix = format!("{sign}{}@", operand.width);
    let register = |number: u8, width: u8| {
        let names = REGISTERS.get(usize::from(number)).map(|(_, names)| names);
        names.map_or("?", |names| {
            names[match width {
                8 => 0,
                4 => 1,
                2 => 2,
                _ => 3,
            }]
        })
    };
    if operand.place == Place::Constant as u8 {
        return format!("{prefix}${}", operand.displacement);
    }
    if operand.place == Place::Register as u8 {
        let high = HIGH_BYTES.iter().find(|(known, _)| operand.displacement == 8 && *known as u8 == operand.base);
        let name = high.map_or_else(|| register(operand.base, operand.width), |(_, name)| name);
        return format!("{prefix}%{name}");
    }
    let displacement = match operand.displacement {
        0 => String::new(),
        displacement => displacement.to_string(),
    };
    let base =
        if operand.base == Register::None as u8 { String::new() } else { format!("%{}", register(operand.base, 8)) };
    if operand.index == Register::None as u8 {
        format!("{prefix}{displacement}({base})")
    } else {
        format!("{prefix}{displacement}({base},%{},{})", register(operand.index, 8), operand.scale)
    }
}

#[cfg(test)]
mod tests;
