//! Looks at what is in the kernel: how many objects there are, so that a leak shows, and what the verifier made of jtrace's
//! own programs. For measurements; no session uses it.

use std::{collections::BTreeSet, fs};

use aya::{
    maps::loaded_maps,
    programs::{ProgramInfo, loaded_links, loaded_programs},
};

use super::{
    Error,
    load::{Kernel, KernelOptions, MIN_RING_BYTES},
};
use crate::probe::clock::{CLOCKS, Clock};

/// eBPF objects that the kernel holds, of all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objects {
    /// Programs.
    pub programs: usize,
    /// Maps.
    pub maps: usize,
    /// Links.
    pub links: usize,
}

/// Counts the kernel's eBPF objects. One that goes away meanwhile is not counted.
pub fn objects() -> Objects {
    Objects {
        programs: loaded_programs().flatten().count(),
        maps: loaded_maps().flatten().count(),
        links: loaded_links().flatten().count(),
    }
}

/// What the verifier made of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Name of the program.
    pub program: String,
    /// Instructions after the verifier's rewriting.
    pub instructions: u32,
    /// Instructions that the verifier walked through, over all paths. It gives up at a million.
    ///
    /// Minimum kernel: 5.16; `None` before.
    pub verified: Option<u32>,
}

/// Loads the programs as a session with all lenses does and asks the kernel about them.
pub fn verified() -> Result<Vec<Verified>, Error> {
    let (mut kernel, _rings) = Kernel::load(KernelOptions {
        ring_bytes: Some(MIN_RING_BYTES),
        tallying: true,
        jni: true,
        marks: true,
        ..KernelOptions::default()
    })?;
    for Clock { source, .. } in CLOCKS {
        kernel.load_clock(source).map_err(|error| Error::Load(error.to_string()))?;
    }
    let own = own_programs();
    let of_mine = |info: &ProgramInfo| own.contains(&info.id());
    Ok(loaded_programs().filter_map(Result::ok).filter(of_mine).map(|info| described(&info)).collect())
}

fn described(info: &ProgramInfo) -> Verified {
    /// Every eBPF instruction has this size.
    const INSTRUCTION_BYTES: u32 = 8;
    Verified {
        program: info.name_as_str().unwrap_or_default().to_owned(),
        instructions: info.size_translated().unwrap_or(0) / INSTRUCTION_BYTES,
        verified: info.verified_instruction_count(),
    }
}

/// Ids of the programs that this process holds open.
pub(super) fn own_programs() -> BTreeSet<u32> {
    let Ok(entries) = fs::read_dir("/proc/self/fdinfo") else { return BTreeSet::new() };
    let texts = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.filter_map(|text| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok())).collect()
}
