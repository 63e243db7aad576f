//! The eBPF object, and what is taken out of it by name.

use std::{
    collections::HashMap,
    os::fd::{AsFd as _, AsRawFd as _, RawFd},
};

use aya::{Ebpf, maps::Map, programs::UProbe};

use super::Error;
use crate::packed::unpacked;

/// Characters that are kept of the end of the kernel's reasons.
const MAX_REASON_CHARS: usize = 600;

/// Its bytes. The allocator aligns them as its parser wants them.
pub(super) fn bytes() -> Vec<u8> {
    unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/tracer-ebpf.o.deflate")))
}

pub(super) fn map_fds(ebpf: &Ebpf) -> HashMap<String, RawFd> {
    ebpf.maps().filter_map(|(name, map)| Some((name.to_owned(), map_fd(map)?))).collect()
}

/// The kinds of maps that the object has; aya has no accessor over all of them.
fn map_fd(map: &Map) -> Option<RawFd> {
    match map {
        Map::Array(data)
        | Map::ArrayOfMaps(data)
        | Map::PerCpuArray(data)
        | Map::HashMap(data)
        | Map::PerCpuHashMap(data)
        | Map::LruHashMap(data)
        | Map::ProgramArray(data)
        | Map::RingBuf(data) => Some(data.fd().as_fd().as_raw_fd()),
        _ => None,
    }
}

pub(super) fn uprobe<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut UProbe, Error> {
    ebpf.program_mut(name)
        .and_then(|program| program.try_into().ok())
        .ok_or_else(|| Error::Load(format!("the object has no program `{name}`")))
}

pub(super) fn take(ebpf: &mut Ebpf, name: &str) -> Result<Map, Error> {
    ebpf.take_map(name).ok_or_else(|| Error::Map { name: name.to_owned(), reason: "not in the object".to_owned() })
}

pub(super) fn map_error(name: &str, error: &dyn std::error::Error) -> Error {
    Error::Map { name: name.to_owned(), reason: chain(error) }
}

/// An error with its causes on one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    // A verifier's log is long, and its end says why.
    match text.char_indices().rev().nth(MAX_REASON_CHARS) {
        Some((start, _)) => format!("... {}", &text[start..]),
        None => text,
    }
}
