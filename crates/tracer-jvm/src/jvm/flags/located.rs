//! Finds the flags of a real JVM again, and checks that their bytes may be written to.

use std::{collections::BTreeMap, error::Error as StdError};

use super::{
    super::{
        find::{self, Jvm},
        memory::{
            Memory,
            library::Library,
            maps::{self, Mapping},
        },
        vmstructs::VmStructs,
    },
    Flags,
    arm::Locations,
};

/// The JVM's own table of flags.
#[derive(Clone, Copy, Debug)]
pub struct JvmTables;

/// A flag's address is not one that jtrace would write to.
#[derive(Debug, thiserror::Error)]
#[error("flag `{flag}` is said to be at {address:#x}, which is not in the writable data of libjvm.so")]
pub struct NotData {
    /// The flag.
    pub flag: String,
    /// Its address.
    pub address: u64,
}

impl Locations for JvmTables {
    fn locate(&self, pid: u32, flags: &[&str]) -> Result<BTreeMap<String, u64>, Box<dyn StdError + Send + Sync>> {
        let mapping = match find::libjvm_of(pid) {
            Ok(mapping) => mapping,
            Err(find::Error::NotJvm { .. } | find::Error::OtherVm { .. }) => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.into()),
        };
        let library = Library::open(pid, &mapping)?;
        let memory = Memory::open(pid)?;
        let known = Flags::read(&memory, &VmStructs::read(&memory, &library)?)?;
        let mappings = maps::read(pid)?;
        let mut found = BTreeMap::new();
        for &flag in flags {
            let Some(address) = known.address(flag) else { continue };
            if !is_data(&library, &mapping, &mappings, address) {
                return Err(NotData { flag: flag.to_owned(), address }.into());
            }
            found.insert(flag.to_owned(), address);
        }
        Ok(found)
    }
}

/// Address of a variable of libjvm.so that no table of the JVM describes, by its symbol; `None` in a build without symbols.
pub fn variable(jvm: &Jvm, symbol: &str) -> Option<u64> {
    let address = *jvm.library.symbols(&[symbol]).ok()?.get(symbol)?;
    let (libjvm, mappings) = (find::libjvm_of(jvm.target.pid).ok()?, maps::read(jvm.target.pid).ok()?);
    is_data(&jvm.library, &libjvm, &mappings, address).then_some(address)
}

/// Whether a variable of libjvm.so, one of whose mappings is known, lies where variables do: in `.data` (a mapping of the file) or in `.bss`
/// (memory without a file).
fn is_data(library: &Library, libjvm: &Mapping, mappings: &[Mapping], address: u64) -> bool {
    let is_mapped = mappings.iter().any(|candidate| {
        let own = candidate.inode == 0 || candidate.same_file(libjvm);
        candidate.contains(address) && candidate.writable && own
    });
    is_mapped && library.is_writable_data(address)
}
