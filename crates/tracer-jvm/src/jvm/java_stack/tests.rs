//! Stacks laid out by hand, and damaged.

use super::*;
use crate::{
    fuzz::{self, Metered},
    jvm::{
        peek::copy::Copy,
        world::{CALL_STUB_RETURN, INTERPRETER, RELEASES, World},
    },
};

const THREAD: u64 = 0x60_0000;
const STACK: u64 = 0x7000_0000;
const BASE: u64 = STACK + 0x400;
/// Frame pointers of an interpreted method, the call stub below it, and both once more.
const FRAMES: [u64; 4] = [STACK + 0x100, STACK + 0x180, STACK + 0x240, STACK + 0x300];
const WRAPPERS: [u64; 2] = [STACK + 0x1a0, STACK + 0x320];
const COMPILE_ID: u32 = 77;

/// A compiled method that an interpreted one has called, which native code has called, which an interpreted method has called.
struct Stacked {
    world: World,
    method: u64,
    blob: u64,
}

impl Stacked {
    fn new(release: u32) -> Self {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Cart", None);
        let method = world.method(&mut class, "add", 40, &[]);
        let blob = world.nmethod(COMPILE_ID, method, &[(0x10, &[(method, 0)])]);
        let anchor = world.offset("JavaThread", "_anchor");
        let (code, stub) = (blob + world.code_offset() + 0x20, CALL_STUB_RETURN);
        let pointer = if release == 8 { -56 } else { -64 };
        let copy = &mut world.copy;
        copy.write(STACK - 8, &[0; 0x410]);
        copy.write(THREAD, &[0; 0x800]);
        for (at, value) in [(0, STACK), (8, code), (16, 0)] {
            copy.write_u64(THREAD + anchor + at, value);
        }
        // Its frame has four words.
        copy.write_u64(STACK + 16, FRAMES[0]);
        copy.write_u64(STACK + 24, INTERPRETER[0] + 8);
        for [frame, caller] in [[FRAMES[0], FRAMES[1]], [FRAMES[2], FRAMES[3]]] {
            for (at, value) in [(pointer, 0x20_0000 + frame), (-24, 0), (-8, 0), (0, caller), (8, stub)] {
                copy.write_u64(frame.wrapping_add_signed(at), value);
            }
            copy.write_u64(frame - 24, method);
            copy.write_u64(frame - 8, frame + 16);
        }
        for (frame, wrapper) in [(FRAMES[1], WRAPPERS[0]), (FRAMES[3], WRAPPERS[1])] {
            copy.write_u64(frame - 48, wrapper);
        }
        let outer = WRAPPERS[0] + 32;
        // Without an address: it lies below the stack pointer.
        copy.write_u64(outer, FRAMES[2] - 80);
        copy.write_u64(outer + 16, FRAMES[2]);
        copy.write_u64(FRAMES[2] - 88, INTERPRETER[0] + 16);
        Self { world, method, blob }
    }

    fn walk(&self, memory: &impl Peek) -> JavaStack {
        let code = CodeCache::read(&self.world.copy, &self.world.tables).expect("a code cache");
        let stacks = JavaStacks::new(code, &self.world.tables).expect("known offsets");
        stacks.of(memory, memory, THREAD, BASE)
    }

    fn interpreted(&self, frame: u64) -> Place {
        Place::Interpreted { method: self.method, pointer: 0x20_0000 + frame }
    }
}

#[test]
fn frames_of_all_kinds_are_walked_to_the_root_through_native_code() {
    for release in RELEASES {
        let stacked = Stacked::new(release);
        let pc = stacked.blob + stacked.world.code_offset() + 0x20;
        let places = vec![
            Place::Compiled { pc, compile_id: COMPILE_ID, native: false },
            stacked.interpreted(FRAMES[0]),
            stacked.interpreted(FRAMES[2]),
        ];
        assert_eq!(stacked.walk(&stacked.world.copy), JavaStack { places, end: End::Root }, "JDK {release}");
    }
}

#[test]
fn a_thread_without_an_anchor_has_no_frames() {
    let mut stacked = Stacked::new(17);
    let anchor = THREAD + stacked.world.offset("JavaThread", "_anchor");
    stacked.world.copy.write_u64(anchor, 0);
    assert_eq!(stacked.walk(&stacked.world.copy), JavaStack { places: Vec::new(), end: End::NoAnchor });
}

#[test]
fn variables_of_the_interpreter_lie_between_a_frame_and_its_callers() {
    for (release, told) in [(8, FRAMES[2] + 32), (17, FRAMES[2] + 32), (25, 4)] {
        let mut stacked = Stacked::new(release);
        let pointer = if release == 8 { 48 } else { 56 };
        let copy = &mut stacked.world.copy;
        // None: the word below the saved rbp and the return address.
        copy.write_u64(FRAMES[0] - pointer, if release == 25 { 1 } else { FRAMES[0] + 8 });
        copy.write_u64(FRAMES[2] - pointer, told);
        for (number, value) in [(0, 70), (1, 71), (2, 72)] {
            copy.write_u64(FRAMES[2] + 32 - 8 * number, value);
        }
        let code = CodeCache::read(&stacked.world.copy, &stacked.world.tables).expect("a code cache");
        let stacks = JavaStacks::new(code, &stacked.world.tables).expect("known offsets");
        let found = stacks.variables(&stacked.world.copy, &stacked.world.copy, THREAD, BASE);
        let words: Vec<&[u64]> = found.iter().map(|variables| &*variables.words).collect();
        assert_eq!(words, [&[][..], &[70, 71, 72]], "on {release}");
        assert!(found.iter().all(|variables| variables.method == stacked.method));
    }
}

#[test]
fn a_frame_that_leads_back_ends_the_walk() {
    let mut stacked = Stacked::new(21);
    stacked.world.copy.write_u64(FRAMES[0] - 8, STACK);
    let walked = stacked.walk(&stacked.world.copy);
    assert_eq!((walked.places.len(), walked.end), (1, End::Torn));
}

#[test]
fn fuzz_java_stacks() {
    let stacked = Stacked::new(25);
    let mut thread = Copy::default();
    for at in
        stacked.world.copy.words().into_iter().filter(|at| (STACK - 8..BASE).contains(at) || *at >> 12 == THREAD >> 12)
    {
        thread.write_u64(at, stacked.world.copy.u64(at).expect("written"));
    }
    let code = CodeCache::read(&stacked.world.copy, &stacked.world.tables).expect("a code cache");
    let mut stacks = JavaStacks::new(code, &stacked.world.tables).expect("known offsets");
    stacks.layout.return_barrier = INTERPRETER[1] + 1;
    stacks.layout.continuation_return = STACK;
    (stacks.layout.entry_bytes, stacks.layout.entry_argument_words, stacks.layout.entry_continuation) = (80, 36, 16);
    stacks.layout.object_bytes = 8;
    fuzz::each("java_stacks", 8 << 20, |dice| {
        let mut copy = thread.clone();
        fuzz::damage(dice, &mut copy);
        if dice.once_in(4) {
            copy.write_u64(STACK + 24, stacks.layout.return_barrier);
        }
        let memory = Metered::new(copy, 64 << 20);
        let walked = stacks.of(&memory, &stacked.world.copy, THREAD, BASE);
        assert!(walked.places.len() <= MAX_FRAMES);
        let all = stacks.variables(&memory, &stacked.world.copy, THREAD, BASE);
        assert!(all.iter().all(|variables| variables.words.len() <= 64));
    });
}
