//! Calls of the recorder, as bytes.

use super::descriptor::{Kind, Parameter};
use super::pool::{Additions, Full};

const ACONST_NULL: u8 = 1;
const LCONST_1: u8 = 10;
const ILOAD: u8 = 21;
const ALOAD_0: u8 = 42;
const ISTORE: u8 = 54;
const POP2: u8 = 88;
const DUP: u8 = 89;
const ARRAYLENGTH: u8 = 190;
const LLOAD: u8 = 22;
const LSTORE: u8 = 55;
const I2L: u8 = 133;
const F2D: u8 = 141;
const INVOKESTATIC: u8 = 184;

/// Stack that a call takes at most: where it is counted, number.
pub(crate) const STACK: u16 = 3;
/// Stack that a call for an argument takes: number, index, and a value of two words; or one for lengths: number, length, and how many
/// arrays are so long.
pub(crate) const ARGUMENT_STACK: u16 = 4;

/// The recorder's method that says where a region's marks are counted.
pub(crate) const BEGINS: &str = "entered";

/// A call of the recorder.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Name of the recorder's method.
    pub(crate) method: &'static str,
    /// Number of the place.
    pub(crate) id: u32,
    /// Whether the call has the receiver, or `null` in its stead.
    pub(crate) receiver: bool,
    /// Whether the method's arguments are told behind it.
    pub(crate) arguments: bool,
    /// The local variable that keeps where the region's marks are counted, from its entry to its end.
    pub(crate) kept_in: Option<u8>,
    /// What is told of the stack.
    pub(crate) of_stack: OfStack,
}

/// What a call tells of what lies on the stack. Of arrays only numbers are passed: an object that nobody else sees must not be seen because
/// it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfStack {
    /// Nothing.
    Nothing,
    /// The exception on top.
    Exception,
    /// The length of the array on top.
    Length,
    /// The call is none: so many lengths on top are copied to local variables of their own.
    Saved(u8),
    /// Those that were saved, the outermost first: number of the place, and name of the recorder's method.
    InnerLengths(Vec<(u32, &'static str)>),
}

impl Mark {
    /// Its bytes; `this`: local variable 0 has the receiver here; `saved_from`: the first of the local variables for lengths.
    pub(crate) fn write(
        &self,
        this: bool,
        parameters: &[(i32, &Parameter)],
        saved_from: u8,
        pool: &mut Additions,
        to: &mut Vec<u8>,
    ) -> Result<(), Full> {
        if let Some(slot) = self.kept_in {
            return self.write_kept(slot, pool, to);
        }
        match &self.of_stack {
            OfStack::Nothing => {}
            OfStack::Exception => {
                to.push(DUP);
                push(self.id.cast_signed(), pool, to)?;
                return call(self.method, "(Ljava/lang/Object;I)V", pool, to);
            }
            OfStack::Length => {
                to.extend([DUP, ARRAYLENGTH]);
                push(self.id.cast_signed(), pool, to)?;
                return call(self.method, "(II)V", pool, to);
            }
            OfStack::Saved(count) => {
                // The last one is on top.
                (0..*count).rev().for_each(|at| to.extend([ISTORE, saved_from + at]));
                (0..*count).for_each(|at| to.extend([ILOAD, saved_from + at]));
                return Ok(());
            }
            OfStack::InnerLengths(dimensions) => {
                to.push(LCONST_1);
                for (at, (id, method)) in (saved_from..).zip(dimensions) {
                    to.extend([ILOAD, at]);
                    push(id.cast_signed(), pool, to)?;
                    call(method, "(JII)J", pool, to)?;
                }
                to.push(POP2);
                return Ok(());
            }
        }
        push(self.id.cast_signed(), pool, to)?;
        if self.receiver {
            to.push(if this { ALOAD_0 } else { ACONST_NULL });
        }
        call(self.method, if self.receiver { "(ILjava/lang/Object;)V" } else { "(I)V" }, pool, to)?;
        if self.arguments {
            for (index, parameter) in parameters {
                self.argument(*index, parameter, pool, to)?;
            }
        }
        Ok(())
    }

    fn write_kept(&self, slot: u8, pool: &mut Additions, to: &mut Vec<u8>) -> Result<(), Full> {
        let begins = self.method == BEGINS;
        if !begins {
            to.extend([LLOAD, slot]);
        }
        push(self.id.cast_signed(), pool, to)?;
        call(self.method, if begins { "(I)J" } else { "(JI)V" }, pool, to)?;
        if begins {
            to.extend([LSTORE, slot]);
        }
        Ok(())
    }

    fn argument(&self, index: i32, parameter: &Parameter, pool: &mut Additions, to: &mut Vec<u8>) -> Result<(), Full> {
        push(self.id.cast_signed(), pool, to)?;
        push(index, pool, to)?;
        let (load, convert, descriptor) = match parameter.kind {
            Kind::Int => (21, Some(I2L), "(IIJ)V"),
            Kind::Long => (LLOAD, None, "(IIJ)V"),
            Kind::Float => (23, Some(F2D), "(IID)V"),
            Kind::Double => (24, None, "(IID)V"),
            Kind::Object(_) => (25, None, "(IILjava/lang/Object;)V"),
        };
        // No method has more than 255 words of parameters.
        to.extend([load, u8::try_from(parameter.slot).map_err(|_| Full)?]);
        to.extend(convert);
        call("argument", descriptor, pool, to)
    }
}

fn call(method: &str, descriptor: &str, pool: &mut Additions, to: &mut Vec<u8>) -> Result<(), Full> {
    to.push(INVOKESTATIC);
    to.extend(pool.recorder(method, descriptor)?.to_be_bytes());
    Ok(())
}

/// Pushes a number.
fn push(value: i32, pool: &mut Additions, to: &mut Vec<u8>) -> Result<(), Full> {
    if let Ok(small) = u8::try_from(value)
        && small <= 5
    {
        to.push(3 + small);
    } else if let Ok(byte) = i8::try_from(value) {
        to.extend([16, byte.cast_unsigned()]);
    } else if let Ok(short) = i16::try_from(value) {
        to.push(17);
        to.extend(short.to_be_bytes());
    } else {
        let constant = pool.integer(value)?;
        if let Ok(near) = u8::try_from(constant) {
            to.extend([18, near]);
        } else {
            to.push(19);
            to.extend(constant.to_be_bytes());
        }
    }
    Ok(())
}
