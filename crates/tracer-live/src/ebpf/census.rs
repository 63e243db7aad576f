//! Looks at what is in the kernel: how many objects there are, so that a leak shows, and what the verifier made of jtrace's
//! own programs. For measurements; no session uses it.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    os::fd::RawFd,
};

use aya::{
    EbpfLoader,
    maps::loaded_maps,
    programs::{ProgramInfo, loaded_links, loaded_programs},
};

use super::{
    Error,
    bpf_object::{self, chain, map_fds},
    programs::ALL,
    stack_depth::Chain,
    verify::{Attaching, Code, Figures},
};

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
    pub program: &'static str,
    /// Instructions after the verifier's rewriting.
    pub instructions: u32,
    /// Instructions that the verifier walked through, over all paths. It gives up at a million.
    pub verified: u32,
    /// The call chain that takes most stack.
    pub chain: Chain,
}

/// Loads every program that a session can need and asks the verifier about it: those of another object, or jtrace's own.
///
/// Minimum kernel: 5.16, which tells how much it walked through.
pub fn verified(object: Option<&[u8]>) -> Result<Vec<Result<Verified, Error>>, Error> {
    let own = object.is_none().then(bpf_object::bytes);
    let object = object.or(own.as_deref()).unwrap_or_default();
    let ebpf = EbpfLoader::new().load(object).map_err(|error| Error::Load(chain(&error)))?;
    let maps = map_fds(&ebpf);
    Ok(ALL.into_iter().map(|program| examine(object, program, &maps)).collect())
}

fn examine(object: &[u8], program: &'static str, maps: &HashMap<String, RawFd>) -> Result<Verified, Error> {
    let untold = || Error::Load(format!("the verifier tells no figures of `{program}`"));
    let code = Code::of(object, program, maps).map_err(Error::Load)?;
    let before = own_programs();
    let (loaded, figures) = code.figures(Attaching::Singly)?;
    code.check(&loaded)?;
    let Figures { verified, stack } = figures.ok_or_else(untold)?;
    let new = |info: &ProgramInfo| own_programs().contains(&info.id()) && !before.contains(&info.id());
    let info = loaded_programs().filter_map(Result::ok).find(new);
    Ok(Verified {
        program,
        instructions: info.and_then(|info| info.size_translated()).unwrap_or(0) / INSTRUCTION_BYTES,
        verified,
        chain: code.deepest_chain(&stack).ok_or_else(untold)?,
    })
}

/// Every eBPF instruction has this size.
const INSTRUCTION_BYTES: u32 = 8;

/// Ids of the programs that this process holds open.
pub(super) fn own_programs() -> BTreeSet<u32> {
    let Ok(entries) = fs::read_dir("/proc/self/fdinfo") else { return BTreeSet::new() };
    let texts = entries.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.filter_map(|text| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok())).collect()
}

#[cfg(test)]
mod tests {
    use object::{File, Object as _, ObjectSection as _};

    use super::*;

    #[test]
    fn the_programs_declare_both_licences() {
        let object = bpf_object::bytes();
        let file = File::parse(&*object).expect("an ELF file");
        let licence = file.section_by_name("license").expect("its licence").data().expect("its text");
        assert_eq!(licence, b"Dual MIT/GPL\0");
    }
}
