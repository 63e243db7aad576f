//! Where the caller's frame is, and how an instruction changes that.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use tracer_common::unwind::{Rule, RuleBase};

const WORD_BYTES: i32 = 8;

/// Where the caller's frame is, at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes from rsp up to the CFA; absent where rsp cannot be told.
    stack: Option<i32>,
    /// Bytes from rbp up to the CFA, where rbp is a frame pointer.
    pointer: Option<i32>,
    /// Bytes from the CFA down to the caller's rbp; 0 while rbp still is the caller's.
    saved: i32,
    /// Where a loop that touches each page of a large frame ends: a register, and bytes from it up to the CFA.
    probed: Option<(Register, i32)>,
    /// There is no caller: rbp was set to 0 without being saved, which the System V ABI asks for where a thread begins.
    outermost: bool,
}

impl Frame {
    /// At the entry of a function.
    pub(super) const ENTRY: Self =
        Self { stack: Some(WORD_BYTES), pointer: None, saved: 0, probed: None, outermost: false };

    pub(super) fn rule(self) -> Rule {
        if self.outermost {
            return Rule::ROOT;
        }
        let words = |bytes: i32| u32::try_from(bytes).ok().filter(|bytes| bytes % 8 == 0).map(|bytes| bytes / 8);
        let (base, distance) = match (self.stack, self.pointer) {
            (Some(stack), _) => (RuleBase::Rsp, stack),
            (None, Some(pointer)) => (RuleBase::Rbp, pointer),
            (None, None) => return Rule::UNSUPPORTED,
        };
        let rule = words(distance).zip(words(self.saved)).and_then(|(cfa, saved)| Rule::new(base, cfa, saved));
        rule.unwrap_or(Rule::UNSUPPORTED)
    }

    /// The frame behind an instruction that goes on to the next one.
    pub(super) fn behind(self, instruction: &Instruction) -> Self {
        let mut next = self;
        let target =
            if instruction.op0_kind() == OpKind::Register { instruction.op0_register() } else { Register::None };
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pushfq => {
                next.grow(WORD_BYTES);
                if target == Register::RBP && self.saved == 0 {
                    next.saved = next.stack.unwrap_or(0);
                }
            }
            Mnemonic::Pop if target == Register::RSP => next.stack = None,
            Mnemonic::Pop | Mnemonic::Popfq => {
                next.grow(-WORD_BYTES);
                if target == Register::RBP {
                    (next.pointer, next.saved) = (None, 0);
                }
            }
            Mnemonic::Leave => {
                next.stack = self.pointer.map(|pointer| pointer - WORD_BYTES);
                (next.pointer, next.saved) = (None, 0);
            }
            Mnemonic::Mov if writes_word_of_frame(instruction) => {
                if self.saved == 0
                    && let Some(stack) = self.stack
                {
                    next.saved = stack.saturating_sub(displacement(instruction));
                }
            }
            // What compilers write for frames of pages: `lea r11, [rsp - n]`, and `sub rsp, 4096` until rsp is r11.
            Mnemonic::Sub if target == Register::RSP && self.probed.is_some() => next.stack = None,
            Mnemonic::Cmp if target == Register::RSP => {
                let end = self.probed.filter(|(register, _)| *register == instruction.op1_register());
                next.stack = end.map_or(self.stack, |(_, bytes)| Some(bytes));
            }
            _ if target == Register::RSP => next.stack = self.stack_after(instruction),
            Mnemonic::Mov if target == Register::RBP && instruction.op1_register() == Register::RSP => {
                next.pointer = self.stack;
            }
            Mnemonic::Lea
                if target == Register::RBP
                    && instruction.memory_base() == Register::RSP
                    && !is_indexed(instruction) =>
            {
                next.pointer = self.stack.map(|stack| stack.saturating_sub(displacement(instruction)));
            }
            Mnemonic::Lea if instruction.memory_base() == Register::RSP && !is_indexed(instruction) => {
                let below = Some(displacement(instruction)).filter(|by| *by < 0);
                next.probed = self.stack.zip(below).map(|(stack, by)| (target, stack.saturating_sub(by)));
            }
            Mnemonic::Xor if target == Register::EBP && instruction.op1_register() == Register::EBP => {
                next.outermost = self.saved == 0;
            }
            _ => {}
        }
        next
    }

    fn grow(&mut self, bytes: i32) {
        self.stack = self.stack.map(|stack| stack.saturating_add(bytes));
    }

    /// Bytes from rsp up to the CFA behind an instruction that sets rsp.
    fn stack_after(self, instruction: &Instruction) -> Option<i32> {
        let by = || i32::try_from(instruction.immediate(1).cast_signed()).ok();
        let is_immediate =
            instruction.op_count() > 1 && !matches!(instruction.op1_kind(), OpKind::Register | OpKind::Memory);
        match instruction.mnemonic() {
            Mnemonic::Sub if is_immediate => self.stack?.checked_add(by()?),
            Mnemonic::Add if is_immediate => self.stack?.checked_sub(by()?),
            Mnemonic::Lea if !is_indexed(instruction) => {
                let base = match instruction.memory_base() {
                    Register::RSP => self.stack?,
                    Register::RBP => self.pointer?,
                    _ => return None,
                };
                base.checked_sub(displacement(instruction))
            }
            Mnemonic::Mov
                if instruction.op1_kind() == OpKind::Register && instruction.op1_register() == Register::RBP =>
            {
                self.pointer
            }
            Mnemonic::Test => self.stack,
            _ => None,
        }
    }
}

/// `mov [rsp + n], rbp`.
fn writes_word_of_frame(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RSP
        && !is_indexed(instruction)
        && instruction.op1_kind() == OpKind::Register
        && instruction.op1_register() == Register::RBP
}

/// What a case of a `switch` hardly begins with.
pub(super) fn begins_function(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Push | Mnemonic::Endbr64 => true,
        Mnemonic::Sub => instruction.op0_register() == Register::RSP,
        _ => false,
    }
}

fn is_indexed(instruction: &Instruction) -> bool {
    instruction.memory_index() != Register::None
}

/// What an operand in memory adds to its base.
fn displacement(instruction: &Instruction) -> i32 {
    i32::try_from(instruction.memory_displacement64().cast_signed()).unwrap_or(i32::MAX)
}
