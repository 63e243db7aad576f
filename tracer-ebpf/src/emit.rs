//! Puts records into the ring buffer of the CPU and counts every outcome.
#![expect(unsafe_code, reason = "the kernel's helpers and the counters' memory need raw pointers")]

use core::arch::asm;

use aya_ebpf::{
    bindings::{BPF_RB_AVAIL_DATA, BPF_RB_FORCE_WAKEUP, BPF_RB_NO_WAKEUP},
    helpers::{
        bpf_get_smp_processor_id,
        generated::{bpf_ktime_get_ns, bpf_ringbuf_query},
    },
    maps::ring_buf::RingBufBytes,
};
use tracer_common::{
    record::{EventKind, HEADER_BYTES, RecordHeader, SMALL_EVENT_BYTES, SMALL_EVENT_WORDS},
    site::TargetLayout,
    stats::SiteStats,
};

use crate::maps::{RINGS, Ring};

/// Counts without loss also where a program is preempted by another one on the same CPU.
#[inline(always)]
pub(crate) fn count(counter: *mut u64) {
    // SAFETY: the counter lies in a map value that the verifier knows to be in bounds and aligned. The instruction is
    // written out because the compiler offers no atomic addition on this target.
    unsafe { asm!("lock *(u64 *)({0} + 0) += {1}", in(reg) counter, in(reg) 1u64) };
}

/// Adds without loss, as [`count`] does.
///
/// # Safety
///
/// `counter` lies in a map value.
#[inline(always)]
pub(crate) unsafe fn add(counter: *mut u64, amount: u64) {
    // SAFETY: as in `count`.
    unsafe { asm!("lock *(u64 *)({0} + 0) += {1}", in(reg) counter, in(reg) amount) };
}

/// Whether a site was hit on this CPU as often as it may be until user space has looked again. A target that leaves no CPU to
/// user space is not made to pay for stacks and events that nobody takes away.
#[inline(always)]
pub(crate) fn refuses(stats: *mut SiteStats, target: &TargetLayout) -> bool {
    // SAFETY: `stats` points into a map value of this CPU. A program that interrupts this one makes the count a little wrong.
    unsafe {
        let (look, since) = (&raw mut (*stats).look, &raw mut (*stats).hits_since);
        if look.read_volatile() != target.look {
            look.write_volatile(target.look);
            since.write_volatile(0);
        }
        let hits = since.read_volatile().wrapping_add(1);
        since.write_volatile(hits);
        hits > target.most_hits
    }
}

/// What every record of one hit has in common.
pub(crate) struct Hit {
    pub(crate) site: u16,
    pub(crate) stats: *mut SiteStats,
    /// Where it lies in its map: copying it is dear.
    pub(crate) target: &'static TargetLayout,
    /// The thread, in the initial pid namespace.
    pub(crate) tid: u32,
    /// Id of the thread's stack.
    pub(crate) stack: u64,
}

/// Room for a record of `BYTES` bytes in the ring buffer of this CPU.
pub(crate) struct Reservation<'a> {
    ring: &'a Ring,
    bytes: RingBufBytes<'a>,
    cpu: u16,
}

impl Reservation<'_> {
    /// Reserves, or returns `None` where the ring buffer is full.
    #[inline(always)]
    pub(crate) fn new<const BYTES: usize>() -> Option<Self> {
        // SAFETY: the helper has no precondition.
        let cpu = unsafe { bpf_get_smp_processor_id() };
        let ring = RINGS.get(cpu)?;
        let bytes = ring.reserve_bytes(BYTES, 0)?;
        Some(Self { ring, bytes, cpu: cpu as u16 })
    }

    /// Start of the reserved bytes.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// Writes the header. The time is read after reserving, so that the times in one ring buffer rise.
    #[inline(always)]
    pub(crate) fn write_header(&mut self, kind: u16, words: u16, hit: &Hit) {
        let header = RecordHeader {
            kind,
            site: hit.site,
            words,
            cpu: self.cpu,
            tid: hit.tid,
            reserved: 0,
            // SAFETY: the helper has no precondition.
            time_ns: unsafe { bpf_ktime_get_ns() },
            stack: hit.stack,
        };
        // SAFETY: every size of record has room for a header, and ring buffer memory is aligned to 8 bytes.
        unsafe { self.as_mut_ptr().cast::<RecordHeader>().write(header) };
    }

    /// Hands the record of `BYTES` bytes to the reader, waking it only where much has piled up, and then once for every
    /// further eighth of that; otherwise its timer finds the record.
    #[inline(always)]
    pub(crate) fn submit<const BYTES: usize>(self, hit: &Hit) {
        self.submit_waking::<BYTES>(hit, false);
    }

    /// The same, and wakes the reader for this record alone where that is asked for.
    #[inline(always)]
    pub(crate) fn submit_waking<const BYTES: usize>(self, hit: &Hit, is_urgent: bool) {
        let Self { ring, bytes, cpu: _ } = self;
        // SAFETY: `ring` is a ring buffer map.
        let unread =
            unsafe { bpf_ringbuf_query(core::ptr::from_ref(ring).cast_mut().cast(), BPF_RB_AVAIL_DATA as u64) };
        let wake = if is_urgent || is_full_pile::<BYTES>(unread, hit.target.wakeup_bytes) {
            BPF_RB_FORCE_WAKEUP
        } else {
            BPF_RB_NO_WAKEUP
        };
        bytes.submit(wake as u64);
    }
}

/// Whether there are `pile` unread bytes, a power of two, and a record of so many bytes made them pass a multiple of an eighth
/// of that. Waking the reader costs more than the record, and one that is awake already needs no further call; but one that
/// missed a call must not be left to its timer.
#[inline(always)]
const fn is_full_pile<const BYTES: usize>(unread: u64, pile: u64) -> bool {
    unread >= pile && unread & (pile / 8).wrapping_sub(1) < (BYTES + RECORD_PREFIX_BYTES) as u64
}

/// What the kernel puts before each record.
const RECORD_PREFIX_BYTES: usize = 8;

/// Sends an event of `kind` and counts what came of it. Words that the kind does not have are 0.
#[inline(always)]
pub(crate) fn event(kind: EventKind, words: &[u64; SMALL_EVENT_WORDS], hit: &Hit) {
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*hit.stats).emitted });
    if !notice(kind, words, hit) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*hit.stats).lost });
    }
}

/// Sends an event that tells user space nothing that would be missing: it is not counted. Whether there was room for it.
#[inline(always)]
pub(crate) fn notice(kind: EventKind, words: &[u64; SMALL_EVENT_WORDS], hit: &Hit) -> bool {
    let Some(mut record) = Reservation::new::<SMALL_EVENT_BYTES>() else { return false };
    record.write_header(kind as u16, kind.words() as u16, hit);
    // SAFETY: the record has room for this many words behind its header, which is a multiple of 8 long.
    unsafe { record.as_mut_ptr().add(HEADER_BYTES).cast::<[u64; SMALL_EVENT_WORDS]>().write(*words) };
    record.submit::<SMALL_EVENT_BYTES>(hit);
    true
}
