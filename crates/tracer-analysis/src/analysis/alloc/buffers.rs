//! What an object that does not fit into its thread's buffer (TLAB) stands for.
//!
//! Objects that met the end of a buffer are a sample of all: of a class whose objects have `s` bytes, the share of objects that do not
//! fit is to the share of its bytes as `s` to `T - s`, where `T` is the buffer's size. So each of them stands for `T - s` bytes in
//! buffers, and for its own. That holds of the first object alone that does not fit. HotSpot keeps a buffer with much room left, puts
//! that object elsewhere, and goes on with smaller ones: from then on the room is a part of `s`, at random. Who counts the last
//! object alone, as recorders do, gives the bytes of large objects to small ones.
//!
//! What objects stand for is scaled to the bytes of all buffers that they ended, which are known.

use crate::{
    analysis::{ended::EndedThreads, table::FastMap},
    event::{Event, Payload, Tid},
};

/// Most threads whose buffers are known.
const THREADS: usize = 65_536;
/// HotSpot gives up a buffer with less than one part in so many left (`TLABRefillWasteFraction`).
const WASTE_FRACTION: f64 = 64.0;
/// How far a scale may go: there are few buffers at the beginning.
const SCALES: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The buffers of all threads. Whoever shows what objects stand for has them, and gives them every event.
#[derive(Debug, Default)]
pub struct Buffers {
    threads: FastMap<Tid, Buffer>,
    /// Bytes of buffers whose end was met, and what the objects that met it stood for before they were scaled.
    ended_bytes: f64,
    stood_for: f64,
}

/// A thread's buffer.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    /// Bytes behind the object that it was made for.
    bytes: f64,
    /// Least object that did not fit and was put elsewhere, which is more than there is room.
    refused: Option<f64>,
}

impl Buffer {
    /// What an object stands for that does not fit; none where it would not fit into an empty buffer either.
    fn stands_for(self, object: f64) -> f64 {
        let Some(refused) = self.refused else { return (self.bytes - object).max(0.0) };
        let waste = (self.bytes / WASTE_FRACTION).min(refused);
        if object >= refused || waste >= refused {
            return 0.0;
        }
        // The mean of what is left of a room between both, where all are as likely.
        let beyond = |room: f64| (room - object).max(0.0).powi(2);
        (beyond(refused) - beyond(waste)) / (2.0 * (refused - waste))
    }
}

impl Buffers {
    /// A thread got a new buffer, for an object; how many bytes in buffers that stands for, its own among them.
    pub(super) fn refilled(&mut self, tid: Tid, buffer_bytes: u64, object_bytes: u64) -> u64 {
        // A recorder of the JVM's own says what a sample stands for, and not the object's size.
        if object_bytes == 0 || object_bytes >= buffer_bytes {
            return buffer_bytes;
        }
        let (bytes, object) = (buffer_bytes as f64, object_bytes as f64);
        let before = self.threads.get(&tid).copied().unwrap_or(Buffer { bytes: bytes - object, refused: None });
        if self.threads.len() < THREADS || self.threads.contains_key(&tid) {
            self.threads.insert(tid, Buffer { bytes: bytes - object, refused: None });
        }
        self.scaled(before, object).saturating_add(object_bytes)
    }

    /// An object was put elsewhere; how many bytes in buffers it stands for.
    pub(super) fn refused(&mut self, tid: Tid, object_bytes: u64) -> u64 {
        let object = object_bytes as f64;
        let Some(buffer) = self.threads.get_mut(&tid).filter(|buffer| object < buffer.bytes) else { return 0 };
        let before = *buffer;
        buffer.refused = Some(before.refused.map_or(object, |refused| refused.min(object)));
        self.scaled(before, object)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, which are never below 0")]
    fn scaled(&mut self, buffer: Buffer, object: f64) -> u64 {
        let stands_for = buffer.stands_for(object);
        if buffer.refused.is_none() {
            self.ended_bytes += buffer.bytes;
        }
        self.stood_for += stands_for;
        let scale = self.ended_bytes / self.stood_for.max(1.0);
        (stands_for * scale.clamp(*SCALES.start(), *SCALES.end())).round() as u64
    }

    /// How many bytes an object stands for, in buffers and outside; none where the event tells of no object.
    pub fn bytes(&mut self, event: &Event) -> Option<u64> {
        match event.payload {
            Payload::AllocInNewTlab { tlab_bytes, object_bytes, .. } => {
                Some(self.refilled(event.tid, tlab_bytes, object_bytes))
            }
            Payload::AllocOutsideTlab { object_bytes, .. } => {
                Some(object_bytes.saturating_add(self.refused(event.tid, object_bytes)))
            }
            _ => None,
        }
    }

    /// Some were not seen: what is known of buffers is over.
    pub fn forget(&mut self) {
        self.threads.clear();
    }

    /// Threads that ended have no buffer any more.
    pub(in crate::analysis) fn threads_ended(&mut self, ended: &EndedThreads) {
        self.threads.retain(|tid, _| !ended.contains(*tid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the JVM does: one thread, buffers of 512 KiB, objects of two sizes in random order with as many bytes of each. The share
    /// of the smaller ones by what the last object alone says, and by what is estimated, and the estimate of all by what there is.
    fn played(small: u64, large: u64) -> [f64; 3] {
        const BUFFER: u64 = 512 << 10;
        let mut random = 88_172_645_463_325_252_u64;
        let mut buffers = Buffers::default();
        let (mut room, mut limit) = (0, BUFFER / 64);
        let (mut bytes, mut by_last, mut estimated) = ([0; 2], [0; 2], [0; 2]);
        for _ in 0..2_000_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let class = usize::from((random >> 8) % (small + large) < small);
            let object = [small, large][class];
            bytes[class] += object;
            if object <= room {
                room -= object;
            } else if room > limit || object > BUFFER {
                limit += 32;
                by_last[class] += object;
                estimated[class] += object + buffers.refused(Tid(1), object);
            } else {
                (room, limit) = (BUFFER - object, BUFFER / 64);
                by_last[class] += BUFFER;
                estimated[class] += buffers.refilled(Tid(1), BUFFER, object);
            }
        }
        let [all, last, ours] = [bytes, by_last, estimated].map(|of| of.iter().sum::<u64>() as f64);
        [by_last[0] as f64 / last, estimated[0] as f64 / ours, ours / all]
    }

    /// Shares are halves within a tenth; who counts the last object alone is off by up to a third of all.
    #[test]
    fn large_objects_keep_their_bytes() {
        for large in [1024, 4096, 16 << 10, 64 << 10, 200_000, 400_000, 700_000] {
            let [by_last, estimated, total] = played(64, large);
            assert!((estimated - 0.5).abs() < 0.06, "{large}: {estimated}, by the last object alone {by_last}");
            assert!((total - 1.0).abs() < 0.02, "{large}: {total}");
        }
        let [by_last, ..] = played(64, 64 << 10);
        assert!(by_last > 0.75, "{by_last}: there is nothing to mend");
    }

    #[test]
    fn what_was_not_seen_is_not_gone_on_from() {
        let mut buffers = Buffers::default();
        assert_eq!(buffers.refused(Tid(1), 100), 0, "the buffer is not known");
        assert_eq!(buffers.refilled(Tid(1), 1000, 24), 976 + 24);
        assert!(buffers.refused(Tid(1), 100) > 800);
        buffers.forget();
        assert_eq!(buffers.refused(Tid(1), 100), 0);
        assert_eq!(buffers.refused(Tid(2), 100), 0, "that of another thread");
    }

    #[test]
    fn sizes_that_cannot_be_do_no_harm() {
        let mut buffers = Buffers::default();
        for bytes in [0, 1, u64::MAX / 2, u64::MAX] {
            for object in [0, 1, u64::MAX] {
                buffers.refilled(Tid(1), bytes, object);
                buffers.refused(Tid(1), object);
            }
        }
    }
}
