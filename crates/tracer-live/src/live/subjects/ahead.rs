//! Methods of loaded classes that are known not to be wanted before any of them is called.
//!
//! The kernel must ask about each method that it does not know. Until it is answered, each call of that method is an event, and
//! counts as one under way below those that are wanted. So what is not wanted is told before the first site is there.

use std::time::{Duration, Instant};

use tracer_common::tally::{MAX_SUBJECTS, Subject as Told, Verdict};

use crate::{
    ebpf::tallying::Tallying,
    jvm::{
        memory::Memory,
        metadata::{LoadedLayout, MetadataLayout},
        peek::Pages,
    },
    live::judge::Judge,
};

use super::naming::method_at;

/// Most methods that are told ahead: what is met later needs room, too.
const MOST: usize = MAX_SUBJECTS / 2;
/// Longest time that this may take; the rest is asked for when it is called.
const LONGEST: Duration = Duration::from_millis(400);

/// Those that the kernel was told of ahead.
pub(super) struct Ahead {
    loaded: Option<LoadedLayout>,
    told: Vec<u64>,
}

impl Ahead {
    pub(super) const fn new(loaded: Option<LoadedLayout>) -> Self {
        Self { loaded, told: Vec::new() }
    }

    /// Tells the kernel of the loaded methods that names alone turn down, within the limits.
    pub(super) fn tell(&mut self, memory: &Memory, metadata: &MetadataLayout, judge: &Judge, tallying: &mut Tallying) {
        let Some(loaded) = self.loaded.take() else { return };
        let began = Instant::now();
        let pages = Pages::new(memory);
        loaded.methods(&pages, &mut |address| {
            if let Ok(subject) = method_at(&pages, metadata, address)
                && let (mask, Some(verdict @ Verdict::Never)) = judge.subject(&subject)
                && tallying.set_subject(address, Told { mask, cell: 0, verdict: verdict as u32 }).is_ok()
            {
                self.told.push(address);
            }
            self.told.len() < MOST && began.elapsed() < LONGEST
        });
        log::debug!("{} methods are known not to be wanted, after {:?}", self.told.len(), began.elapsed());
    }

    /// Nothing is known ahead any more: an address may have got another meaning.
    pub(super) fn forget(&mut self, tallying: &mut Tallying) {
        for address in self.told.drain(..) {
            tallying.forget_subject(address);
        }
    }
}
