//! What a libjvm.so offers: its notes, and the functions that the catalogue knows, by their symbols or by notes that lie within.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    super::catalog::{self, Function, Moment, Note, PROBES, Probe},
    by_note, outer,
};
use crate::jvm::{
    elf::{self, Elf, Symbol},
    usdt::{self, Sites},
};

/// What a libjvm.so offers. It is read once and serves plans, `jtrace probes` and `jtrace doctor`.
#[derive(Clone, Debug, Default)]
pub struct Libjvm {
    /// The sites of its notes.
    pub sites: Sites,
    /// Entries of the functions that the catalogue knows: symbol, and offset in the file.
    pub functions: BTreeMap<&'static str, (Symbol, u64)>,
    /// Entries of functions that the catalogue knows by a note within, where none is known by its symbol.
    pub by_note: Vec<(Note, Entry)>,
    /// Pieces of functions that the compiler has moved away from their entries.
    pub pieces: BTreeMap<&'static str, Vec<Entry>>,
    /// Entries of functions that only lead to another function of the same meaning.
    pub outer: BTreeSet<u64>,
    /// Entries of functions that a compiler has taken into a function that calls them.
    pub inlined: BTreeSet<u64>,
    /// Where functions are left, by their entries.
    pub exits: BTreeMap<u64, Vec<Entry>>,
    /// Addresses of what objects of VM operations begin with, and the names of the operations.
    pub operations: BTreeMap<u64, String>,
    /// Whether it has a `.symtab`.
    pub symtab: bool,
}

/// Where a function begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its virtual address in the file.
    pub address: u64,
    /// Its offset in the file.
    pub file_offset: u64,
    /// Its size; 0 where that is not known.
    pub bytes: u64,
}

impl Libjvm {
    /// Reads all that a plan needs of a file.
    ///
    /// # Errors
    /// As [`elf::read_tables`] and [`Elf::parse`].
    pub fn open(path: &Path) -> Result<Self, elf::Error> {
        let bytes = elf::read_tables(path)?;
        let mut libjvm = Self::read(&Elf::parse(&bytes)?);
        if libjvm.lacks_functions() {
            let bytes = elf::read_file(path)?;
            libjvm.find_by_notes(&Elf::parse(&bytes)?, &bytes);
        }
        let read = |offset, bytes| elf::read_at(path, offset, bytes);
        libjvm.find_outer(read)?;
        libjvm.find_inlined(read)?;
        libjvm.find_exits(read)?;
        Ok(libjvm)
    }

    /// Reads the notes and symbols of a file.
    pub fn read(elf: &Elf<'_>) -> Self {
        let functions = elf
            .find_symbols(&catalog::symbols())
            .into_iter()
            .filter_map(|(name, symbol)| Some((name, (symbol, elf.code_offset(symbol.address)?))))
            .collect();
        Self {
            sites: usdt::read(elf),
            functions,
            by_note: Vec::new(),
            pieces: outer::pieces(elf),
            outer: BTreeSet::new(),
            inlined: BTreeSet::new(),
            exits: BTreeMap::new(),
            operations: BTreeMap::new(),
            symtab: elf.has_symtab(),
        }
        .with_operations(elf)
    }

    /// With the VM operations, where their notes do not name them.
    fn with_operations(mut self, elf: &Elf<'_>) -> Self {
        if !self.usdt() {
            self.operations = elf.symbols().filter_map(|(name, symbol)| operation(name, symbol)).collect();
        }
        self
    }

    /// Notes whose functions are asked for by a probe that has none.
    fn wanted_notes(&self) -> Vec<Note> {
        let lacking = PROBES.iter().filter(|probe| {
            probe.functions().iter().all(|function| self.entries(function).is_empty())
                && probe.usdt().is_none_or(|usdt| self.sites.locations(usdt.provider, usdt.name).next().is_none())
        });
        lacking.flat_map(Probe::functions).filter_map(|function| function.note).collect()
    }

    /// Whether [`Self::find_by_notes`] would look for anything: it needs the whole file.
    pub fn lacks_functions(&self) -> bool {
        self.wanted_notes().iter().any(|note| self.sites.locations("hotspot", note.name).next().is_some())
    }

    /// Finds functions that no symbol names by the notes that lie within them. `data` is the whole file.
    pub fn find_by_notes(&mut self, elf: &Elf<'_>, data: &[u8]) {
        self.by_note = by_note::entries(&self.sites, &self.wanted_notes(), elf, data);
    }

    /// Whether it has USDT notes of HotSpot.
    pub fn usdt(&self) -> bool {
        self.sites.sites.iter().any(|site| site.provider == "hotspot")
    }

    /// Where a function begins; one that is known by a note can be several of the same meaning.
    pub(super) fn entries(&self, function: &Function) -> Vec<Entry> {
        let entry =
            |(symbol, file_offset): (Symbol, u64)| Entry { address: symbol.address, file_offset, bytes: symbol.size };
        let mut entries: Vec<Entry> =
            match function.symbols.iter().find_map(|symbol| self.functions.get(symbol).copied()) {
                Some(found) => vec![entry(found)],
                None => {
                    self.by_note.iter().filter(|(note, _)| function.note == Some(*note)).map(|(_, at)| *at).collect()
                }
            };
        entries.retain(|entry| !self.outer.contains(&entry.address) && !self.inlined.contains(&entry.address));
        entries
    }

    /// Where the sites of a function are: at its entries, or at its exits.
    pub(super) fn places(&self, function: &Function) -> Vec<Entry> {
        let entries = self.entries(function);
        match function.at {
            Moment::Entry => entries,
            Moment::Exit => {
                entries.iter().filter_map(|entry| self.exits.get(&entry.address)).flatten().copied().collect()
            }
        }
    }
}

/// The class whose table of virtual functions a symbol names, as HotSpot calls its VM operation: objects point behind the first two
/// words of it. Most classes are no operations; none of their objects is ever looked up.
fn operation(symbol: &[u8], at: Symbol) -> Option<(u64, String)> {
    let mangled = str::from_utf8(symbol.strip_prefix(b"_ZTV")?).ok()?;
    let class = mangled.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_simple = class.len() < mangled.len();
    is_simple.then(|| (at.address + 16, class.strip_prefix("VM_").unwrap_or(class).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_by_their_classes() {
        let at = Symbol { address: 0x5000, size: 64, table: elf::SymbolTable::Static };
        let name = |symbol: &str| operation(symbol.as_bytes(), at);
        assert_eq!(name("_ZTV16VM_G1CollectFull"), Some((0x5010, "G1CollectFull".to_owned())));
        assert_eq!(name("_ZTV20ZRendezvousGCThreads"), Some((0x5010, "ZRendezvousGCThreads".to_owned())));
        assert_eq!(name("_ZTVN18VM_RedefineClasses10CheckClassE"), None);
        assert_eq!(name("_ZTI16VM_G1CollectFull"), None);
    }
}
