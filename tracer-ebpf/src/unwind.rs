//! Unwinds the thread that hit a site: kernel, native, compiled and interpreted frames in one walk, deduplicated here.
//!
//! The walk takes one step a frame ([`step`]). Where a frame's code lies decides how it is passed ([`place`]); that is found
//! out once per program counter and remembered. A stack is sent once, as a definition; its id is a hash of its frames.
#![expect(
    unsafe_code,
    reason = "the walk's state lies in a map value, which the kernel's helpers take as a raw pointer"
)]

mod blob;
mod frozen;
mod incomplete;
mod interpreter;
mod step;

pub(crate) mod place;
pub(crate) mod scratch;

use core::ffi::c_void;

use aya_ebpf::{
    bindings::{BPF_RB_AVAIL_DATA, BPF_RB_FORCE_WAKEUP, BPF_RB_NO_WAKEUP},
    helpers::{
        bpf_get_current_pid_tgid, bpf_get_smp_processor_id,
        generated::{bpf_get_stack, bpf_ktime_get_ns, bpf_loop, bpf_ringbuf_output, bpf_ringbuf_query},
    },
};
use tracer_common::{
    record::{RecordHeader, name_hash_start, name_hash_step},
    stack::{FrameKind, KIND_STACK, MAX_FRAMES, RawFrame, STACK_FIRST, STACK_HEADER_BYTES, StackEnd, StackHeader},
};

use self::scratch::{KERNEL_FRAMES, Scratch, Slot};
use crate::{
    args::at_most,
    emit::{Hit, count},
    maps::{ENDS, HURRY, RINGS, STACKS, WOKEN},
};

/// Registers in which JIT code keeps what it has not put onto the stack yet, or has taken from there.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Kept {
    /// The bytecode pointer of the interpreter; the caller's rsp at the entry of a method.
    pub(crate) r13: u64,
    /// The return address, at the entry of a method and in adapters.
    pub(crate) rax: u64,
    /// The return address, and the caller's rsp, when an interpreted method returns.
    pub(crate) rdi: u64,
    pub(crate) rbx: u64,
}
/// Steps of a walk: one a frame, one to see that there are too many, and those from chunk to chunk in the heap.
const STEPS: u32 = MAX_FRAMES as u32 + 1 + 64;

/// Id of the stack of at most `most` frames that begins with the registers in a slot; sends it where that was not done yet,
/// and gives the slot back. `kernel` is the program's context where the kernel's own frames are wanted, else null. Counts the
/// time that it takes.
#[inline(always)]
pub(crate) fn stack(slot: Slot, most: u64, kernel: *mut c_void, hit: &Hit) -> u64 {
    let began_ns = now_ns();
    let id = walk(slot, most, kernel, hit);
    // SAFETY: `stats` points into a map value of this CPU; a program that interrupts this one may take a count from it.
    unsafe { (*hit.stats).stack_ns += now_ns().wrapping_sub(began_ns) };
    id
}

/// Return address of the caller of the frame that begins with the registers in a slot; 0 where it is not found. Nothing needs to
/// be known of the caller itself.
#[inline(always)]
pub(crate) fn caller(slot: Slot) -> u64 {
    // SAFETY: the slot is this program's alone until it is given back.
    let walk = unsafe { &mut *slot.scratch() };
    walk.begin(1);
    // SAFETY: the callback takes a pointer to the walk's state, which lives longer than the loop.
    let _: i64 = unsafe { bpf_loop(1, step::step as *mut c_void, (&raw const slot).cast_mut().cast(), 0) };
    // What was interrupted is no return address.
    let address = if walk.interrupted == 0 { walk.pc } else { 0 };
    slot.give_back();
    address
}

#[inline(always)]
fn now_ns() -> u64 {
    // SAFETY: the helper has no precondition.
    unsafe { bpf_ktime_get_ns() }
}

#[inline(always)]
fn walk(slot: Slot, most: u64, kernel: *mut c_void, hit: &Hit) -> u64 {
    let scratch = slot.scratch();
    // SAFETY: the slot is this program's alone until it is given back.
    let walk = unsafe { &mut *scratch };
    walk.begin(most);
    if !kernel.is_null() {
        kernel_frames(walk, kernel);
    }
    // SAFETY: the callback takes a pointer to the walk's state, which lives longer than the loop.
    let _: i64 = unsafe { bpf_loop(STEPS, step::step as *mut c_void, (&raw const slot).cast_mut().cast(), 0) };
    if let Some(ends) = ENDS.get_ptr_mut(walk.end as u32) {
        count(ends);
    }
    let id = finish(walk.hash);
    // SAFETY: the value is not used, only its being there.
    if unsafe { STACKS.get(&id) }.is_none() {
        define(id, walk, hit);
    }
    slot.give_back();
    id
}

/// Takes the kernel's own frames of this moment, which are a stack's first ones; what the helper cannot give is left out.
#[inline(always)]
fn kernel_frames(walk: &mut Scratch, context: *mut c_void) {
    // SAFETY: the buffer has room for the bytes; the context is the program's own.
    let bytes = unsafe { bpf_get_stack(context, (&raw mut walk.kernel).cast(), (KERNEL_FRAMES * 8) as u32, 0) };
    let mut hash = walk.hash;
    let mut taken = 0;
    // Not by `push`: each of its conditions would be walked through anew for each of these frames.
    for index in 0..KERNEL_FRAMES {
        if (index as i64) * 8 >= bytes as i64 {
            break;
        }
        let frame = RawFrame { tag: FrameKind::Kernel as u64, address: walk.kernel[index] };
        walk.frames[index] = frame;
        hash = mix(hash, frame);
        taken += 1;
    }
    walk.count = taken;
    walk.most = at_most::<MAX_FRAMES>(walk.most + taken);
    walk.hash = hash;
}

/// Takes a frame into the hash of its stack.
#[inline(always)]
pub(crate) fn mix(hash: u64, frame: RawFrame) -> u64 {
    name_hash_step(name_hash_step(hash, frame.tag), frame.address)
}

/// The hash of no frames.
#[inline(always)]
pub(crate) const fn seed() -> u64 {
    name_hash_start(KIND_STACK as u64)
}

#[inline(always)]
const fn finish(hash: u64) -> u64 {
    if hash < STACK_FIRST { hash + STACK_FIRST } else { hash }
}

/// Sends the frames. They have their place behind the headers already, so the record is copied in one piece.
///
/// A function of its own: its stack is not needed while the target's is walked.
#[inline(never)]
fn define(id: u64, walk: &mut Scratch, hit: &Hit) -> u64 {
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*hit.stats).definitions_emitted });
    // SAFETY: the helper has no precondition.
    let cpu = unsafe { bpf_get_smp_processor_id() };
    let frames = at_most::<MAX_FRAMES>(walk.count);
    walk.header = RecordHeader {
        kind: KIND_STACK,
        site: hit.site,
        words: 0,
        cpu: cpu as u16,
        tid: bpf_get_current_pid_tgid() as u32,
        reserved: 0,
        time_ns: now_ns(),
        stack: id,
    };
    walk.stack = StackHeader { id, frames: frames as u16, end: walk.end as u8, reserved: [0; 5], end_pc: walk.end_pc };
    let bytes = STACK_HEADER_BYTES as u64 + frames * size_of::<RawFrame>() as u64;
    let sent = match RINGS.get(cpu) {
        // SAFETY: `ring` is a ring buffer map, and the record has room for all frames.
        Some(ring) => unsafe {
            let ring = core::ptr::from_ref(ring).cast_mut().cast::<c_void>();
            let unread = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA as u64);
            let wake = if unread >= hit.target.wakeup_bytes || is_time_to_wake(walk.header.time_ns) {
                BPF_RB_FORCE_WAKEUP
            } else {
                BPF_RB_NO_WAKEUP
            };
            bpf_ringbuf_output(ring, (&raw mut walk.header).cast(), bytes, wake as u64) == 0
        },
        None => false,
    };
    if sent {
        let _: Result<(), _> = STACKS.insert(&id, &1, 0);
    } else {
        // SAFETY: as above.
        count(unsafe { &raw mut (*hit.stats).definitions_lost });
    }
    0
}

/// How often the reader is woken for new stacks while code goes away. It must name their frames before the JVM gives up the code;
/// its own timer is too slow for code that lives a few milliseconds longer than its frames.
const WAKE_EVERY_NS: u64 = 5_000_000;
/// How long code is taken to go away after some has: a JVM removes it in bursts. Else the reader would be woken all the time by
/// programs whose code stays, for nothing.
const HURRY_NS: u64 = 50_000_000;

/// Code or classes go away: what was seen before is to be named now, and what is seen next soon. Whether the reader is to be woken.
#[inline(always)]
pub(crate) fn hurry() -> bool {
    let Some(until) = HURRY.get_ptr_mut(0) else { return false };
    let now_ns = now_ns();
    // SAFETY: `until` points into a map value. Whichever CPU writes last, it is the same to some microseconds.
    unsafe {
        // User space has said that it must always be.
        if until.read_volatile() != u64::MAX {
            until.write_volatile(now_ns + HURRY_NS);
        }
    }
    is_time_to_wake(now_ns)
}

#[inline(always)]
fn is_time_to_wake(now_ns: u64) -> bool {
    let Some(until) = HURRY.get_ptr_mut(0) else { return false };
    let Some(woken) = WOKEN.get_ptr_mut(0) else { return false };
    // SAFETY: both point into map values, `woken` into one of this CPU.
    unsafe {
        if until.read_volatile() < now_ns || now_ns.wrapping_sub(woken.read_volatile()) < WAKE_EVERY_NS {
            return false;
        }
        woken.write_volatile(now_ns);
    }
    true
}

impl Scratch {
    /// The registers are there already.
    #[inline(always)]
    fn begin(&mut self, most: u64) {
        self.interrupted = 1;
        self.below = 0;
        self.count = 0;
        self.hash = seed();
        self.end = StackEnd::TooDeep as u64;
        self.end_pc = 0;
        self.entry = 0;
        self.most = most;
    }

    /// Adds a frame; one too many only leaves its mark in the hash.
    #[inline(always)]
    pub(crate) fn push(&mut self, frame: RawFrame) {
        let at = self.count as usize;
        if at < MAX_FRAMES {
            self.frames[at] = frame;
            self.count = at as u64 + 1;
        }
        // Between two methods there can be any number of the JVM's own frames, as where a class is initialised.
        if !frame.is_method() && self.most < MAX_FRAMES as u64 {
            self.most += 1;
        }
        self.hash = mix(self.hash, frame);
    }

    /// Ends the walk, at the frame that it has come to.
    #[inline(always)]
    pub(crate) fn stop(&mut self, end: StackEnd) {
        self.end = end as u64;
        self.end_pc = if end as u8 == StackEnd::Root as u8 { 0 } else { self.pc };
    }
}
