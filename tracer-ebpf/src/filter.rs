//! The predicate, as far as the kernel decides it.
#![expect(unsafe_code, reason = "the loop helper hands its state over as a raw pointer")]

use core::{arch::asm, ffi::c_void};

use aya_ebpf::helpers::generated::bpf_loop;
use tracer_common::filter::{ACCEPT, INPUTS, Input, MAX_NODES, REJECT, Test};

use crate::maps::{FILTER, TALLIES};

/// What the graph looks at.
#[repr(C)]
pub(crate) struct Question {
    pub(crate) inputs: [u64; INPUTS],
    /// The node that is asked next, or the verdict.
    at: u64,
    /// Index of the graph.
    pub(crate) graph: u64,
}

impl Question {
    /// A question about an event of which nothing is known yet.
    pub(crate) const NONE: Self = Self { inputs: [0; INPUTS], at: 0, graph: 0 };

    #[inline(always)]
    pub(crate) fn set(&mut self, input: Input, value: u64) {
        self.inputs[input as usize] = value;
    }

    /// Whether the event is wanted.
    #[inline(always)]
    pub(crate) fn is_wanted(&mut self) -> bool {
        let Some(filter) = FILTER.get(self.graph as u32) else { return true };
        self.at = u64::from(filter.start);
        if self.at < MAX_NODES as u64 {
            // SAFETY: the callback takes a pointer to the question, which lives longer than the loop.
            let _: i64 = unsafe { bpf_loop(MAX_NODES as u32, ask as *mut c_void, (&raw mut *self).cast(), 0) };
        }
        self.at == u64::from(ACCEPT)
    }
}

/// Asks one node.
unsafe extern "C" fn ask(_index: u64, question: *mut c_void) -> i64 {
    // SAFETY: the loop passes its own question.
    let question = unsafe { &mut *question.cast::<Question>() };
    let Some(filter) = FILTER.get(question.graph as u32) else { return 1 };
    let Some(node) = filter.nodes.get(question.at as usize) else { return 1 };
    let input = if node.input == Input::Tally as u8 {
        reached(node.tally)
    } else {
        match question.inputs.get(node.input as usize) {
            Some(input) => *input,
            None => 0,
        }
    };
    let holds = if node.test == Test::AnyBit as u8 {
        input & node.value != 0
    } else if node.test == Test::Equal as u8 {
        input == node.value
    } else if node.test == Test::Less as u8 {
        input < node.value
    } else {
        node.value != 0 && input % node.value == 0
    };
    let next = if holds { node.yes } else { node.no };
    // Edges lead to later nodes; anything else is damage, and ends in a rejection.
    let ahead = u64::from(next) > question.at;
    question.at = if ahead { u64::from(next) } else { u64::from(REJECT) };
    if question.at < MAX_NODES as u64 { 0 } else { 1 }
}

/// How many events came to a node, this one included.
#[inline(always)]
fn reached(tally: u8) -> u64 {
    let Some(counter) = TALLIES.get_ptr_mut(u32::from(tally)) else { return 0 };
    let mut before = 1u64;
    // SAFETY: the counter lies in a map value; the instruction adds and gives what was there, whatever CPU adds meanwhile.
    unsafe { asm!("{0} = atomic_fetch_add((u64 *)({1} + 0), {0})", inout(reg) before, in(reg) counter) };
    before + 1
}
