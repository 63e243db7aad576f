//! Parses one operand of a probe site of a libjvm.so for aarch64: `8@x21`, `-4@0`, `8@[x0, 152]`. No target uses it yet.
//!
//! What jtrace needs besides for aarch64, where x86-64 is now:
//!
//! - registers and operands that cross the kernel boundary (`tracer-common/src/site.rs`): 31 registers and the stack pointer
//!   instead of 16, an index that is shifted, and reading them from `user_pt_regs` (`tracer-ebpf/src/args.rs`);
//! - rules of `.eh_frame` whose return address is in `x30` and not on the stack (`unwind/rule.rs`, `tracer-ebpf/src/unwind/step.rs`);
//! - prologues of compiled Java code, which are told from the instructions (`tracer-ebpf/src/unwind/incomplete.rs`);
//! - frames of the interpreter, and offsets of continuations (`jvm/code_cache/continuation.rs`, `jvm/java_stack.rs`);
//! - stubs and barriers that are read as instructions (`jvm/arming/stubs.rs`, `jvm/code_cache/barrier.rs`, `jvm/jni_env.rs`), and
//!   where functions are left (`probe/plan/exits`);
//! - bits of pointer authentication, which are taken off return addresses;
//! - numbers of system calls (`jvm/find/refused_calls.rs`, `analysis/offcpu/reason.rs`) and the machine in ELF headers (`jvm/elf.rs`);
//! - the library for the inside of the JVM, built for the target.

use super::{Error, MAX_OPERAND_BYTES, parse_number, parse_width};

/// A register by its number. 31 is the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(u8);

impl Register {
    /// The stack pointer.
    pub const SP: Self = Self(31);

    /// A general-purpose register; none has a number above 30.
    pub const fn general(number: u8) -> Option<Self> {
        if number <= 30 { Some(Self(number)) } else { None }
    }

    /// Its number: that of `x0` to `x30`, or 31.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is this number, brought to its width.
    Constant(i64),
    /// It is in a register.
    Register(Register),
    /// It is in memory at `base + displacement`.
    Memory {
        /// Holds the address.
        base: Register,
        /// Is added to it.
        displacement: i32,
    },
}

/// An operand: where its value lies, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Where.
    pub place: Place,
    /// Bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// Whether it is extended by its sign.
    pub signed: bool,
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
    let operand = |place, width| Operand { place, width, signed };
    if let Some(inner) = value.strip_prefix('[') {
        let inner = inner.strip_suffix(']').ok_or_else(|| Error::Shape { text: text.to_owned() })?;
        return Ok(operand(memory(text, inner)?, width));
    }
    if value.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '+')) {
        return Ok(operand(constant(text, value, width, signed)?, width));
    }
    match named(value) {
        Some(Named::Zero) => Ok(operand(Place::Constant(0), width)),
        // A register that is narrower than the argument holds all of it: the value is what the register is.
        Some(Named::Register(register, bytes)) => Ok(operand(Place::Register(register), width.min(bytes))),
        None => Err(no_register(text, value)),
    }
}

/// What a name of a register stands for.
enum Named {
    /// A register, and how many bytes of it.
    Register(Register, u8),
    /// It reads as zero.
    Zero,
}

fn named(name: &str) -> Option<Named> {
    match name {
        "sp" => return Some(Named::Register(Register::SP, 8)),
        "wsp" => return Some(Named::Register(Register::SP, 4)),
        "xzr" | "wzr" => return Some(Named::Zero),
        _ => {}
    }
    let (bytes, digits) = match name.as_bytes() {
        [b'x', ..] => (8, &name[1..]),
        [b'w', ..] => (4, &name[1..]),
        _ => return None,
    };
    // `x07` is no name, and neither is `x+7`.
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    let register = is_number.then(|| digits.parse().ok()).flatten().and_then(Register::general)?;
    Some(Named::Register(register, bytes))
}

/// Why a word that is neither a number nor a register cannot be used.
fn no_register(text: &str, word: &str) -> Error {
    let rest = word.get(1..).unwrap_or_default();
    let is_numbered = !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit());
    if is_numbered && word.starts_with(['b', 'h', 's', 'd', 'q', 'v']) {
        // Of the floating-point unit.
        Error::Register { text: text.to_owned(), register: word.to_owned() }
    } else if is_numbered && word.starts_with(['x', 'w']) {
        Error::Register { text: text.to_owned(), register: word.to_owned() }
    } else if word.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '.' | ':')) {
        Error::Symbol { text: text.to_owned() }
    } else {
        Error::Shape { text: text.to_owned() }
    }
}

fn constant(text: &str, number: &str, width: u8, signed: bool) -> Result<Place, Error> {
    let value = parse_number(number)
        .and_then(|value| i64::try_from(value).or_else(|_| u64::try_from(value).map(u64::cast_signed)).ok())
        .ok_or_else(|| Error::Number { text: text.to_owned(), number: number.to_owned() })?;
    let unused_bits = 64 - 8 * u32::from(width);
    let shifted = value << unused_bits;
    let extended = if signed { shifted >> unused_bits } else { (shifted.cast_unsigned() >> unused_bits).cast_signed() };
    Ok(Place::Constant(extended))
}

/// `base` or `base, displacement`. A register as the second part, shifted or not, is refused.
fn memory(text: &str, inner: &str) -> Result<Place, Error> {
    let mut parts = inner.split(',').map(str::trim);
    let (base, displacement, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let base = match named(base) {
        Some(Named::Register(register, 8)) => register,
        Some(_) => return Err(Error::Register { text: text.to_owned(), register: base.to_owned() }),
        None => return Err(no_register(text, base)),
    };
    let Some(number) = displacement else { return Ok(Place::Memory { base, displacement: 0 }) };
    if more.is_some() || named(number).is_some() {
        return Err(Error::Shape { text: text.to_owned() });
    }
    // Compilers write the number bare, people with a `#`.
    let number = number.strip_prefix('#').unwrap_or(number);
    let displacement = match parse_number(number) {
        Some(value) => {
            i32::try_from(value).map_err(|_| Error::Number { text: text.to_owned(), number: number.to_owned() })?
        }
        // `:lo12:name`, and other names.
        None => return Err(no_register(text, number)),
    };
    Ok(Place::Memory { base, displacement })
}

#[cfg(test)]
mod tests;
