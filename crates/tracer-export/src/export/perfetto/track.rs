//! Packets of one sequence: tracks with their descriptions, slices upon them, and names that travel once.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use prost::{Message as _, encoding};

use super::message::{
    Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EventName, InternedData, Kind, PACKET, Packet,
    ProcessDescriptor, ThreadDescriptor, TrackDescriptor, TrackEvent,
};
use crate::{
    event::Tid,
    export::time_line::{Slice, Track, Tracks},
    report::{Report, Unit},
    text::escape,
};

/// Clocks of the format.
const REALTIME: u32 = 1;
const MONOTONIC: u32 = 3;
/// All packets are one sequence's.
const SEQUENCE: u32 = 1;
/// The sequence knows no names yet; the packet needs those that it knows.
const CLEARED: u32 = 1;
const NEEDS_NAMES: u32 = 2;
/// Most names that travel once. Then they begin anew.
const MAX_NAMES: usize = 65_536;
/// Longest text, in columns.
const LONGEST: usize = 512;
/// The process's own track; others follow it.
const PROCESS: u64 = 1;

/// Writes packets.
pub(super) struct Sequence<W: Write> {
    out: W,
    pid: i32,
    names: HashMap<String, u64>,
    flags: u32,
    tracks: u64,
    threads: HashMap<Tid, (Track, String)>,
    off_cpu: HashMap<Tid, Track>,
}

/// What may be shown of a text of the target.
fn shown(text: &str) -> String {
    escape::fit(text, LONGEST)
}

impl<W: Write> Sequence<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            pid: 0,
            names: HashMap::new(),
            flags: CLEARED,
            tracks: PROCESS,
            threads: HashMap::new(),
            off_cpu: HashMap::new(),
        }
    }

    fn child(&mut self, parent_uuid: u64, name: &str, counter: Option<CounterDescriptor>) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = self.tracks;
        let name = shown(name);
        self.describe(TrackDescriptor { uuid, name, parent_uuid, counter, ..TrackDescriptor::default() })?;
        Ok(Track(uuid))
    }

    fn describe(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(Packet { track_descriptor: Some(track), ..Packet::default() })
    }

    /// The number of a name, and the name itself where it is new.
    fn name(&mut self, name: &str) -> (u64, Option<InternedData>) {
        let name = shown(name);
        if let Some(known) = self.names.get(&name) {
            return (*known, None);
        }
        if self.names.len() >= MAX_NAMES {
            self.names.clear();
            self.flags |= CLEARED;
        }
        let iid = self.names.len() as u64 + 1;
        self.names.insert(name.clone(), iid);
        (iid, Some(InternedData { event_names: vec![EventName { iid, name }] }))
    }

    fn event(&mut self, time_ns: u64, event: TrackEvent, interned_data: Option<InternedData>) -> io::Result<()> {
        self.packet(Packet {
            timestamp: Some(time_ns),
            timestamp_clock_id: MONOTONIC,
            track_event: Some(event),
            interned_data,
            ..Packet::default()
        })
    }

    fn packet(&mut self, packet: Packet) -> io::Result<()> {
        let sequence_flags = self.flags | NEEDS_NAMES;
        self.flags = 0;
        let packet = Packet { trusted_packet_sequence_id: SEQUENCE, sequence_flags, ..packet };
        let mut bytes = Vec::with_capacity(packet.encoded_len() + 8);
        encoding::message::encode(PACKET, &packet, &mut bytes);
        self.out.write_all(&bytes)
    }
}

impl<W: Write> Tracks for Sequence<W> {
    fn start(&mut self, (pid, command): (u32, &str), (time_ns, wall_ms): (u64, u64)) -> io::Result<()> {
        self.pid = i32::try_from(pid).unwrap_or(0);
        let clock = |clock_id, timestamp| Clock { clock_id, timestamp };
        let clocks = vec![clock(MONOTONIC, time_ns), clock(REALTIME, wall_ms.saturating_mul(1_000_000))];
        let snapshot = ClockSnapshot { clocks, primary_trace_clock: MONOTONIC };
        self.packet(Packet { clock_snapshot: Some(snapshot), ..Packet::default() })?;
        let process_name = shown(command);
        let cmdline = process_name.split(' ').map(str::to_owned).collect();
        let process = Some(ProcessDescriptor { pid: self.pid, cmdline, process_name });
        self.describe(TrackDescriptor { uuid: PROCESS, process, ..TrackDescriptor::default() })
    }

    fn track(&mut self, name: &str) -> io::Result<Track> {
        self.child(PROCESS, name, None)
    }

    fn counter(&mut self, Track(parent): Track, name: &str, unit: Unit) -> io::Result<Track> {
        let (unit, unit_name) = match unit {
            Unit::Ns => (1, ""),
            Unit::Bytes => (3, ""),
            Unit::BytesPerSecond => (0, "B/s"),
            Unit::Percent => (0, "%"),
            Unit::PerSecond => (0, "/s"),
            Unit::Text | Unit::Count | Unit::Address => (2, ""),
        };
        let counter = CounterDescriptor { unit, unit_name: unit_name.to_owned() };
        self.child(parent, name, Some(counter))
    }

    fn thread(&mut self, tid: Tid, name: &str) -> io::Result<Track> {
        let known = self.threads.get(&tid);
        if let Some((track, _)) = known.filter(|(_, known)| known == name) {
            return Ok(*track);
        }
        let uuid = known.map_or(self.tracks + 1, |(track, _)| track.0);
        self.tracks = self.tracks.max(uuid);
        let of = i32::try_from(tid.0).unwrap_or(0);
        let thread = Some(ThreadDescriptor { pid: self.pid, tid: of, thread_name: shown(name) });
        self.describe(TrackDescriptor { uuid, parent_uuid: PROCESS, thread, ..TrackDescriptor::default() })?;
        self.threads.insert(tid, (Track(uuid), name.to_owned()));
        Ok(Track(uuid))
    }

    fn off_cpu(&mut self, tid: Tid, name: &str) -> io::Result<Track> {
        if let Some(track) = self.off_cpu.get(&tid) {
            return Ok(*track);
        }
        let Track(parent) = self.thread(tid, name)?;
        let track = self.child(parent, "off CPU", None)?;
        self.off_cpu.insert(tid, track);
        Ok(track)
    }

    fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
        self.off_cpu.remove(&tid);
    }

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let Slice { track: Track(track_uuid), begin_ns, end_ns, lens, name, notes } = slice;
        let is_moment = begin_ns == end_ns;
        let note =
            |(name, value): &(&str, String)| DebugAnnotation { name: (*name).to_owned(), string_value: shown(value) };
        let (name_iid, interned_data) = self.name(name);
        let event = TrackEvent {
            kind: if is_moment { Kind::Instant } else { Kind::SliceBegin } as i32,
            name_iid,
            track_uuid,
            categories: vec![lens.to_owned()],
            debug_annotations: notes.iter().map(note).collect(),
            double_counter_value: None,
        };
        self.event(begin_ns, event, interned_data)?;
        if is_moment {
            return Ok(());
        }
        let end = TrackEvent { kind: Kind::SliceEnd as i32, track_uuid, ..TrackEvent::default() };
        self.event(end_ns, end, None)
    }

    fn value(&mut self, Track(track_uuid): Track, time_ns: u64, value: f64) -> io::Result<()> {
        let kind = Kind::Counter as i32;
        let event = TrackEvent { kind, track_uuid, double_counter_value: Some(value), ..TrackEvent::default() };
        self.event(time_ns, event, None)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self, _report: &Report) -> io::Result<()> {
        self.flush()
    }
}
