//! How much a session keeps of what a target can make up: names, threads, frames, stacks, methods and classes, places. Each
//! kind has a bound in bytes; what comes above it is left out, counted, and said in the report. Analyses bound their tables
//! themselves.
//!
//! This is the only door: what does not pass it reaches neither a table nor an analysis. Recordings hold everything.

use std::mem::size_of;

use crate::{
    event::{NameId, Tid},
    mark::Inside,
    stack::{End, StackDefinition},
    subject::{Subject, SubjectDefinition},
};

/// What a target can make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Names,
    Threads,
    Frames,
    Stacks,
    Subjects,
    Inside,
}

/// Of each kind: what it is called, and the most that is kept, in bytes.
const KINDS: [(&str, usize); 6] = [
    ("names", 64 << 20),
    ("names of threads", 32 << 20),
    ("stack frames", 128 << 20),
    ("stacks", 128 << 20),
    ("methods and classes", 64 << 20),
    ("messages of the library in the JVM", 64 << 20),
];

/// What an entry of a table takes besides its texts: the table's own share, and what an allocator adds.
const ENTRY_BYTES: usize = 64;

/// What is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept([Count; KINDS.len()]);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    bytes: usize,
    left_out: u64,
}

impl Kept {
    /// Whether there is room for something of this kind that takes so much, which then counts as kept. Once there was none, there is
    /// none for anything of that kind: what refers to it by its number would find something else.
    pub(super) fn admits(&mut self, kind: Kind, bytes: usize) -> bool {
        let (count, (_, most)) = (&mut self.0[kind as usize], KINDS[kind as usize]);
        let sum = count.bytes.saturating_add(bytes).saturating_add(ENTRY_BYTES);
        if count.left_out > 0 || sum > most {
            count.left_out += 1;
            return false;
        }
        count.bytes = sum;
        true
    }

    /// Something of this kind that took so much is kept no more.
    pub(super) fn gives_back(&mut self, kind: Kind, bytes: usize) {
        let count = &mut self.0[kind as usize];
        count.bytes = count.bytes.saturating_sub(bytes.saturating_add(ENTRY_BYTES));
    }

    /// What was left out.
    pub(super) fn sentences(&self) -> Vec<String> {
        let left_out = self.0.iter().zip(KINDS).filter(|(count, _)| count.left_out > 0);
        left_out
            .map(|(count, (what, most))| {
                format!(
                    "{} {what} were left out: more than {} MiB of them are not kept, and what refers to them has no name",
                    count.left_out,
                    most >> 20
                )
            })
            .collect()
    }
}

/// What a name takes.
pub(super) const fn of_name(text: &[u8]) -> usize {
    size_of::<NameId>() + text.len()
}

/// What the name of a thread takes.
pub(super) const fn of_thread(name: &str) -> usize {
    size_of::<Tid>() + name.len()
}

/// What a stack with these frames takes.
pub(super) fn of_stack(frames: &[u32], end: &End) -> usize {
    size_of::<StackDefinition>() + size_of_val(frames) + end.reason.len()
}

/// What a method or class takes.
pub(super) fn of_subject(definition: &SubjectDefinition) -> usize {
    size_of::<Subject>() + definition.subject.bytes()
}

/// What a message takes, where it is one that the library can repeat without end.
pub(super) fn of_inside(inside: &Inside) -> Option<usize> {
    match inside {
        // A sample replaces what was said of its class before, which came with a message that counts.
        Inside::Asked(_) | Inside::Woven(_) | Inside::Restored(_) | Inside::Sampled(_) => None,
        Inside::Place(_) | Inside::Class { .. } | Inside::Size { .. } | Inside::Unwoven(_) | Inside::Lacks(_) => {
            Some(inside.bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_said_and_leaves_no_gap() {
        let mut kept = Kept::default();
        assert!(kept.sentences().is_empty());
        let (_, most) = KINDS[Kind::Threads as usize];
        assert!(kept.admits(Kind::Threads, most / 2));
        assert!(!kept.admits(Kind::Threads, most / 2));
        assert!(!kept.admits(Kind::Threads, 1), "what comes later would have an earlier number");
        assert!(kept.admits(Kind::Names, 1), "another kind has its own room");
        assert_eq!(kept.sentences().len(), 1);
        assert!(kept.sentences()[0].starts_with("2 names of threads were left out: more than 32 MiB"));
    }
}
