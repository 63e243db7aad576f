//! What is written, read back packet by packet; `tests/live/perfetto.rs` reads files of real sessions by the official classes.

use std::collections::HashMap;

use prost::Message as _;

use super::{
    message::{Kind, Packet, TrackDescriptor},
    *,
};
use crate::{
    export::played::{CONTENDED, played},
    report::Report,
    source::scenario::START_NS,
};

/// A trace's packets.
#[derive(Clone, PartialEq, prost::Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

/// A slice, with its track's name.
type Read = (String, String, u64, u64);

#[track_caller]
fn written(text: &str) -> (Trace, Report) {
    let mut bytes = Vec::new();
    let report = played(text, Box::new(trace(&mut bytes)));
    (Trace::decode(&bytes[..]).expect("packets"), report)
}

fn track_name(track: &TrackDescriptor) -> String {
    match (&track.thread, &track.process) {
        (Some(thread), _) => thread.thread_name.clone(),
        (None, Some(process)) => process.process_name.clone(),
        (None, None) => track.name.clone(),
    }
}

/// Slices and moments; each end closes the innermost slice of its track.
fn slices(trace: &Trace) -> Vec<Read> {
    let (mut names, mut tracks) = (HashMap::new(), HashMap::new());
    let mut open: HashMap<u64, Vec<(String, u64)>> = HashMap::new();
    let mut read = Vec::new();
    for packet in &trace.packet {
        if packet.sequence_flags & 1 == 1 {
            names.clear();
        }
        for name in packet.interned_data.iter().flat_map(|data| &data.event_names) {
            names.insert(name.iid, name.name.clone());
        }
        if let Some(track) = &packet.track_descriptor {
            tracks.insert(track.uuid, track_name(track));
        }
        let Some(event) = &packet.track_event else { continue };
        let time_ns = packet.timestamp.expect("a time").saturating_sub(START_NS) / 1_000_000;
        let track: &String = &tracks[&event.track_uuid];
        match Kind::try_from(event.kind).expect("a kind") {
            Kind::SliceBegin => {
                open.entry(event.track_uuid).or_default().push((names[&event.name_iid].clone(), time_ns));
            }
            Kind::SliceEnd => {
                let (name, begin) = open.get_mut(&event.track_uuid).and_then(Vec::pop).expect("it has begun");
                read.push((track.clone(), name, begin, time_ns));
            }
            Kind::Instant => read.push((track.clone(), names[&event.name_iid].clone(), time_ns, time_ns)),
            Kind::Counter | Kind::Unspecified => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "what begins ends: {open:?}");
    read
}

fn slice(track: &str, name: &str, begin: u64, end: u64) -> Read {
    (track.to_owned(), name.to_owned(), begin, end)
}

#[test]
fn what_began_and_ended_is_a_slice_on_its_track() {
    let (trace, _) = written(CONTENDED);
    let slices = slices(&trace);
    for expected in [
        slice("second", "blocked on a.Account", 1, 4),
        slice("GC pauses", "System.gc()", 6, 9),
        slice("VM operations", "G1CollectFull", 6, 9),
        slice("Safepoints", "safepoint", 5, 10),
    ] {
        assert!(slices.contains(&expected), "{expected:?} is not in {slices:?}");
    }
    assert!(!slices.iter().any(|(track, ..)| track == "first"), "its park did not end: {slices:?}");
}

#[test]
fn a_slice_says_where_and_because_of_whom() {
    let (trace, _) = written(CONTENDED);
    let notes: Vec<_> = trace
        .packet
        .iter()
        .filter_map(|packet| packet.track_event.as_ref())
        .flat_map(|event| &event.debug_annotations)
        .collect();
    let has = |name: &str, value: &str| notes.iter().any(|note| note.name == name && note.string_value == value);
    assert!(has("at", "a.Cart.add:42") && has("held by", "first"), "{notes:?}");
}

#[test]
fn values_over_time_are_counters_that_add_up_to_those_of_the_report() {
    let (trace, report) = written(CONTENDED);
    let counters: HashMap<u64, String> = trace
        .packet
        .iter()
        .filter_map(|packet| packet.track_descriptor.as_ref())
        .filter(|track| track.counter.is_some())
        .map(|track| (track.uuid, track.name.clone()))
        .collect();
    let sum = |name: &str| {
        let events = trace.packet.iter().filter_map(|packet| packet.track_event.as_ref());
        let own = events.filter(|event| counters.get(&event.track_uuid).is_some_and(|counter| counter == name));
        own.filter_map(|event| event.double_counter_value).sum::<f64>()
    };
    assert!((sum("Blocked") - 3e6).abs() < 1.0 && (sum("Pause") - 3e6).abs() < 1.0, "{counters:?}");
    assert_eq!(report.section("locks").and_then(|section| section.number("blocked_total_ns")), Some(3e6));
}

#[test]
fn names_travel_once_and_hostile_ones_are_visible() {
    let text = "thread 21 \"evil\\e[2J\"\nlenses exceptions\n\
                +1ms tid 21 exception_created class=\"a/B\"\n+2ms tid 21 exception_created class=\"a/B\"\nend +1s duration\n";
    let (trace, _) = written(text);
    let names = trace.packet.iter().filter_map(|packet| packet.interned_data.as_ref()).count();
    let moments = trace
        .packet
        .iter()
        .filter_map(|packet| packet.track_event.as_ref())
        .filter(|event| event.kind == Kind::Instant as i32);
    assert_eq!((names, moments.count()), (1, 2));
    for track in trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref()) {
        assert!(!track_name(track).contains('\x1b'));
    }
}
