//! Brings the records of several ring buffers into the order of their times.
//!
//! A record is written into its ring buffer before its time is read, so after a drain that began at `t` no record older
//! than `t` can still come, but for those behind one that is being written at the moment. Those come late, in a later
//! round, and analyses cope with them.

use crate::decode::Header;

/// Records that wait for their turn.
#[derive(Default)]
pub(super) struct Merge {
    bytes: Vec<u8>,
    records: Vec<(u64, usize, usize)>,
}

impl Merge {
    /// Takes a record.
    pub(super) fn push(&mut self, record: &[u8]) {
        // A record without a readable header is passed on at once, to be counted.
        let time_ns = Header::read(record).map_or(0, |header| if header.is_definition() { 0 } else { header.time_ns });
        self.records.push((time_ns, self.bytes.len(), record.len()));
        self.bytes.extend_from_slice(record);
    }

    /// Passes on the records up to a time, in order; definitions come first.
    pub(super) fn release(&mut self, until_ns: u64, mut sink: impl FnMut(&mut [u8])) {
        self.records.sort_by_key(|(time_ns, ..)| *time_ns);
        let count = self.records.partition_point(|(time_ns, ..)| *time_ns <= until_ns);
        for (_, start, length) in &self.records[..count] {
            sink(&mut self.bytes[*start..start + length]);
        }
        if count == self.records.len() {
            self.bytes.clear();
            self.records.clear();
            return;
        }
        let mut kept = Self::default();
        for (_, start, length) in &self.records[count..] {
            kept.push(&self.bytes[*start..start + length]);
        }
        *self = kept;
    }
}

#[cfg(test)]
mod tests {
    use tracer_common::record::HEADER_BYTES;

    use super::*;

    fn record(time_ns: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[16..24].copy_from_slice(&time_ns.to_le_bytes());
        bytes
    }

    #[test]
    fn records_of_two_buffers_come_out_in_order_and_young_ones_wait() {
        let mut merge = Merge::default();
        for time_ns in [10, 30, 50, 20, 40] {
            merge.push(&record(time_ns));
        }
        let mut seen = Vec::new();
        let mut take = |bytes: &mut [u8]| seen.push(Header::read(bytes).expect("a whole header").time_ns);
        merge.release(35, &mut take);
        merge.release(100, &mut take);
        assert_eq!(seen, [10, 20, 30, 40, 50]);
    }
}
