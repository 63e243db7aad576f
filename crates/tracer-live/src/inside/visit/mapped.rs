//! Where the library is in a JVM that has it, and what its variables say.

use std::path::{Path, PathBuf};

use tracer_weave::control::{ACTIVE_SYMBOL, PEER_SYMBOL};

use super::super::library;
use crate::jvm::{breakpoints::LIBRARY, find::Jvm, memory::maps};

/// The library's file for uprobes, and the number of the descriptor that it offers.
pub(super) fn find_peer(jvm: &Jvm) -> Result<Option<(PathBuf, i32)>, String> {
    let found = variables(jvm, PEER_SYMBOL)?.into_iter().find(|(_, descriptor)| *descriptor > 2);
    Ok(found.map(|(mapping, descriptor)| (mapping.path, descriptor)))
}

/// Whether some jtrace is in a JVM.
pub(super) fn is_taken(jvm: &Jvm) -> Result<bool, String> {
    Ok(variables(jvm, ACTIVE_SYMBOL)?.into_iter().any(|(_, is_active)| is_active == 1))
}

/// The values of a variable in all our libraries that a JVM has mapped. Of one that another version of jtrace has left it is
/// whatever lies there.
fn variables(jvm: &Jvm, name: &str) -> Result<Vec<(Mapping, i32)>, String> {
    let pid = jvm.target.pid;
    let offset = library::variable(name)?;
    let maps = maps::read_text(pid).map_err(|error| error.to_string())?;
    let maps = String::from_utf8_lossy(&maps);
    let first = maps.lines().filter_map(|line| mapping(pid, line)).filter(|mapping| mapping.is_first);
    let value = |mapping: &Mapping| {
        let mut value = [0; 4];
        jvm.memory.read_exact(mapping.start.checked_add(offset)?, &mut value).ok()?;
        Some(i32::from_le_bytes(value))
    };
    Ok(first.filter_map(|mapping| Some((value(&mapping)?, mapping))).map(|(value, mapping)| (mapping, value)).collect())
}

pub(super) struct Mapping {
    start: u64,
    is_first: bool,
    pub(super) path: PathBuf,
}

/// A mapping of a library of ours, from a line of `/proc/PID/maps`.
fn mapping(pid: u32, line: &str) -> Option<Mapping> {
    let (head, path) = line.split_once('/')?;
    let name = Path::new(path.trim_end_matches(" (deleted)")).file_name()?.to_str()?;
    if !name.starts_with(LIBRARY) {
        return None;
    }
    let mut fields = head.split_whitespace();
    let range = fields.next()?;
    let offset = fields.nth(1)?;
    let (start, _) = range.split_once('-')?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        is_first: offset.bytes().all(|digit| digit == b'0'),
        path: PathBuf::from(format!("/proc/{pid}/map_files/{range}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_library_mappings() {
        crate::fuzz::texts("maps", |text| {
            for mapping in text.lines().filter_map(|line| mapping(7, line)) {
                assert!(mapping.path.starts_with("/proc/7/map_files"));
            }
        });
    }
}
