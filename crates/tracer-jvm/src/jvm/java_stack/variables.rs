//! Variables of methods in the interpreter. They lie between a frame and its caller's, a word each, and nothing says which of these words are
//! references: that has to be found out of what they lead to. Variables of compiled code are in registers and wherever its compiler put them.

use super::{CodeLayout, JavaStacks, Peek, Place, WORD, Walk};

/// Most variables of a method that are looked at.
const MAX_VARIABLES: u64 = 64;
/// Most frames of a stack whose variables are.
const MAX_FRAMES: usize = 64;
/// Larger numbers are addresses. Since 21 a frame says how many words above rbp its first variable lies.
/// <https://bugs.openjdk.org/browse/JDK-8299795>
const MAX_WORDS: u64 = 1 << 20;

/// The variables of a method in the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// `Method*`.
    pub method: u64,
    /// Address in its bytecode.
    pub pointer: u64,
    /// What they hold, parameters first.
    pub words: Vec<u64>,
}

impl JavaStacks {
    /// The variables of a thread's methods that are in the interpreter, innermost first; see [`JavaStacks::of`].
    pub fn variables(&self, memory: &impl Peek, code: &impl Peek, thread: u64, base: u64) -> Vec<Variables> {
        let mut walk = Walk::new(self, memory, code, base);
        walk.variables = Some(Vec::new());
        if walk.start(thread.wrapping_add(self.offsets.thread_anchor)) == Ok(true) {
            walk.run();
        }
        walk.variables.unwrap_or_default()
    }
}

impl<M: Peek, C: Peek> Walk<'_, M, C> {
    /// Takes the variables of the frame in the interpreter that was taken last, where they are asked for.
    pub(super) fn take_variables(&mut self) {
        let is_asked = self.variables.as_ref().is_some_and(|all| all.len() < MAX_FRAMES);
        let Some(Place::Interpreted { method, pointer }) = self.places.last().copied().filter(|_| is_asked) else {
            return;
        };
        let words = self.words(&self.stacks.layout).unwrap_or_default();
        if let Some(all) = &mut self.variables {
            all.push(Variables { method, pointer, words });
        }
    }

    fn words(&self, layout: &CodeLayout) -> Option<Vec<u64>> {
        // The pointer to the first variable lies above that to the bytecode.
        let below = u64::from(layout.bytecode_pointer_words).checked_sub(1)? * WORD;
        let told = self.word(self.fp.wrapping_sub(below)).ok()?;
        let first = if told < MAX_WORDS { self.fp.wrapping_add(told * WORD) } else { told };
        // Above the saved rbp and the return address.
        let last = self.fp.wrapping_add(2 * WORD);
        let more = first.checked_sub(last)? / WORD;
        let count = more.checked_add(1).filter(|_| first.is_multiple_of(WORD))?.min(MAX_VARIABLES);
        (0..count).map(|number| self.word(first.wrapping_sub(number * WORD)).ok()).collect()
    }
}
