//! Stack maps: where the frames of a method stand, what they say, and writing them anew for code that has been moved.

use ristretto_classfile::attributes::{StackFrame, VerificationType};
use ristretto_classfile::byte_reader::ByteReader;

use super::code::{Code, Reason};

/// Types that the frames of a method may name together when each is written out.
const MOST_TYPES: usize = 2_000_000;

/// A frame that is written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) locals: Vec<VerificationType>,
    pub(crate) stack: Vec<VerificationType>,
}

/// The stack map of a method, by instruction.
#[derive(Default)]
pub(crate) struct Frames {
    frames: Vec<(usize, StackFrame)>,
}

fn broken(error: impl std::fmt::Display) -> Reason {
    format!("its stack map cannot be read: {error}")
}

impl Frames {
    /// Reads a `StackMapTable`.
    pub(crate) fn read(content: &[u8], code: &Code<'_>) -> Result<Self, Reason> {
        let mut reader = ByteReader::new(content);
        let count = reader.read_u16().map_err(broken)?;
        let mut frames = Vec::new();
        let mut before: Option<usize> = None;
        for _ in 0..count {
            let frame = StackFrame::from_bytes(&mut reader).map_err(broken)?;
            let bci = before.map_or(0, |before| before + 1) + usize::from(frame.offset_delta());
            before = Some(bci);
            frames.push((code.index_at(bci)?, frame));
        }
        if reader.remaining() > 0 {
            return Err(broken("bytes stand behind its end"));
        }
        Ok(Self { frames })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.frames.len()
    }

    /// Every frame written out, by instruction. A method begins with these local variables.
    pub(crate) fn written_out(&self, begin: &[VerificationType]) -> Result<Vec<(usize, Full)>, Reason> {
        let mut locals = begin.to_vec();
        let mut all = Vec::with_capacity(self.frames.len());
        let mut types = 0;
        for (index, frame) in &self.frames {
            let mut stack = Vec::new();
            match frame {
                StackFrame::SameFrame { .. } | StackFrame::SameFrameExtended { .. } => {}
                StackFrame::SameLocals1StackItemFrame { stack: one, .. }
                | StackFrame::SameLocals1StackItemFrameExtended { stack: one, .. } => stack.clone_from(one),
                StackFrame::ChopFrame { frame_type, .. } => {
                    let fewer = locals.len().checked_sub(usize::from(251_u8.saturating_sub(*frame_type)));
                    locals.truncate(fewer.ok_or_else(|| broken("a frame has less than no local variables"))?);
                }
                StackFrame::AppendFrame { locals: more, .. } => locals.extend_from_slice(more),
                StackFrame::FullFrame { locals: new, stack: new_stack, .. } => {
                    locals.clone_from(new);
                    stack.clone_from(new_stack);
                }
            }
            types += locals.len() + stack.len() + 1;
            if types > MOST_TYPES {
                return Err(broken(format!("it names more than {MOST_TYPES} types")));
            }
            all.push((*index, Full { locals: locals.clone(), stack }));
        }
        Ok(all)
    }

    /// Whether one stands at an instruction.
    pub(crate) fn is_at(&self, index: usize) -> bool {
        self.frames.iter().any(|(at, _)| *at == index)
    }

    /// The same, where so many `long`s more are kept behind `slots` of local variables, from an instruction on.
    pub(crate) fn keeping(
        &self,
        begin: &[VerificationType],
        from: usize,
        slots: u16,
        longs: u8,
    ) -> Result<Self, Reason> {
        let frames = self.written_out(begin)?.into_iter().map(|(index, Full { mut locals, stack })| {
            if index >= from {
                keep(&mut locals, slots, longs);
            }
            (index, StackFrame::FullFrame { frame_type: 255, offset_delta: 0, locals, stack })
        });
        Ok(Self { frames: frames.collect() })
    }

    /// Writes the frames for moved code: `label` says where an instruction's frame is now, `new_at` where an instruction
    /// `new` is; `appended` stand behind all others, by their places.
    pub(crate) fn write(
        &self,
        code: &Code<'_>,
        label: impl Fn(usize) -> usize,
        new_at: impl Fn(usize) -> usize,
        appended: &[(usize, Full)],
    ) -> Result<Vec<u8>, Reason> {
        let mut bytes = Vec::new();
        let count = u16::try_from(self.frames.len() + appended.len()).map_err(|_| "its stack map would be too long")?;
        bytes.extend(count.to_be_bytes());
        let mut before: Option<usize> = None;
        let mut delta = |at: usize| {
            let delta = before
                .map_or(Some(at), |before| at.checked_sub(before + 1))
                .and_then(|delta| u16::try_from(delta).ok());
            before = Some(at);
            delta.ok_or_else(|| broken("its frames are in no order"))
        };
        let moved = |types: &[VerificationType]| {
            types
                .iter()
                .map(|known| match known {
                    VerificationType::Uninitialized { offset } => {
                        let offset = new_at(code.index_at(usize::from(*offset))?);
                        Ok(VerificationType::Uninitialized { offset: u16::try_from(offset).map_err(broken)? })
                    }
                    other => Ok(other.clone()),
                })
                .collect::<Result<Vec<_>, Reason>>()
        };
        for (index, frame) in &self.frames {
            at_delta(frame, delta(label(*index))?, &moved)?.to_bytes(&mut bytes).map_err(broken)?;
        }
        for (at, frame) in appended {
            let (locals, stack) = (moved(&frame.locals)?, moved(&frame.stack)?);
            let frame = StackFrame::FullFrame { frame_type: 255, offset_delta: delta(*at)?, locals, stack };
            frame.to_bytes(&mut bytes).map_err(broken)?;
        }
        Ok(bytes)
    }
}

/// Adds `long`s behind so many slots.
pub(crate) fn keep(locals: &mut Vec<VerificationType>, slots: u16, longs: u8) {
    let words = |known: &VerificationType| if is_wide(known) { 2 } else { 1 };
    let taken: usize = locals.iter().map(words).sum();
    locals.extend((taken..usize::from(slots)).map(|_| VerificationType::Top));
    locals.extend((0..longs).map(|_| VerificationType::Long));
}

const fn is_wide(known: &VerificationType) -> bool {
    matches!(known, VerificationType::Long | VerificationType::Double)
}

type Types = Vec<VerificationType>;

/// The same frame at another distance from the one before.
fn at_delta(
    frame: &StackFrame,
    offset_delta: u16,
    moved: &dyn Fn(&[VerificationType]) -> Result<Types, Reason>,
) -> Result<StackFrame, Reason> {
    let small = u8::try_from(offset_delta).ok().filter(|delta| *delta < 64);
    Ok(match frame {
        StackFrame::SameFrame { .. } | StackFrame::SameFrameExtended { .. } => match small {
            Some(frame_type) => StackFrame::SameFrame { frame_type },
            None => StackFrame::SameFrameExtended { frame_type: 251, offset_delta },
        },
        StackFrame::SameLocals1StackItemFrame { stack, .. }
        | StackFrame::SameLocals1StackItemFrameExtended { stack, .. } => {
            let stack = moved(stack)?;
            match small {
                Some(delta) => StackFrame::SameLocals1StackItemFrame { frame_type: 64 + delta, stack },
                None => StackFrame::SameLocals1StackItemFrameExtended { frame_type: 247, offset_delta, stack },
            }
        }
        StackFrame::ChopFrame { frame_type, .. } => StackFrame::ChopFrame { frame_type: *frame_type, offset_delta },
        StackFrame::AppendFrame { frame_type, locals, .. } => {
            StackFrame::AppendFrame { frame_type: *frame_type, offset_delta, locals: moved(locals)? }
        }
        StackFrame::FullFrame { frame_type, locals, stack, .. } => StackFrame::FullFrame {
            frame_type: *frame_type,
            offset_delta,
            locals: moved(locals)?,
            stack: moved(stack)?,
        },
    })
}

/// The type in a slot of the local variables; a `long` or `double` takes two.
pub(crate) fn in_slot(locals: &[VerificationType], slot: u16) -> Option<&VerificationType> {
    let mut at = 0;
    for known in locals {
        if at == usize::from(slot) {
            return Some(known);
        }
        at += if is_wide(known) { 2 } else { 1 };
    }
    None
}
