//! Finds functions of a libjvm.so without symbols: a note lies in the function, and the table for unwinding says where that begins.
//!
//! A guess would count something else under a method's name, so all must fit: one function only covers the note, and at its
//! first instruction nothing has been put on the stack, which is true of no part that a compiler has moved elsewhere.

use std::{collections::BTreeSet, ops::Range};

use super::{
    super::catalog::{Note, Which},
    Entry,
};
use crate::{
    jvm::{elf::Elf, usdt::Sites},
    unwind::entry,
};

/// The entries of the functions that have these notes. `data` is the whole file.
pub(super) fn entries(sites: &Sites, notes: &[Note], elf: &Elf<'_>, data: &[u8]) -> Vec<(Note, Entry)> {
    let addresses = |note: &Note| sites.locations("hotspot", note.name).map(|site| site.address).collect::<Vec<_>>();
    let all: BTreeSet<u64> = notes.iter().flat_map(addresses).collect();
    let found = entry::functions_around(data, &all);
    let mut entries = Vec::new();
    for note in notes {
        let Some(around) =
            addresses(note).iter().map(|address| found.get(address).cloned()).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let chosen = chosen(note.which, around, |function| finds_thread(elf, data, function));
        let entry = |function: Range<u64>| {
            let file_offset = elf.code_offset(function.start)?;
            let bytes = function.end.saturating_sub(function.start);
            Some((*note, Entry { address: function.start, file_offset, bytes }))
        };
        entries.extend(chosen.into_iter().filter_map(entry));
    }
    entries
}

/// The functions that are meant; none where that is not sure.
fn chosen(which: Which, mut around: Vec<Range<u64>>, finds: impl Fn(&Range<u64>) -> bool) -> Vec<Range<u64>> {
    around.sort_by_key(|function| function.start);
    let copies = around.windows(2).any(|pair| pair[0] == pair[1]);
    let (finding, getting): (Vec<_>, Vec<_>) = around.into_iter().partition(finds);
    match which {
        Which::Single if finding.len() + getting.len() == 1 => [finding, getting].concat(),
        Which::FindsThread if finding.len() == 1 && !getting.is_empty() && !copies => finding,
        Which::GetsThread if finding.len() == 1 && !copies => getting,
        Which::Single | Which::FindsThread | Which::GetsThread => Vec::new(),
    }
}

/// Whether a function asks for a variable of its thread, by the only sequence of instructions that the ABI allows for that in
/// a library (`data16 lea x@tlsgd(%rip), %rdi; data16 data16 rex.W call __tls_get_addr`).
fn finds_thread(elf: &Elf<'_>, data: &[u8], function: &Range<u64>) -> bool {
    const SEQUENCE_BYTES: usize = 16;
    let code = || {
        let start = usize::try_from(elf.code_offset(function.start)?).ok()?;
        let length = usize::try_from(function.end.checked_sub(function.start)?).ok()?;
        data.get(start..start.checked_add(length)?)
    };
    let mut windows = code().unwrap_or_default().windows(SEQUENCE_BYTES);
    windows.any(|at| at.starts_with(&[0x66, 0x48, 0x8d, 0x3d]) && at[8..12] == [0x66, 0x66, 0x48, 0xe8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_chosen_only_where_it_is_sure_which() {
        let (finds, gets, also) = (0..10_u64, 10..20, 20..30);
        let choose = |which, around: &[&Range<u64>]| {
            chosen(which, around.iter().map(|range| (*range).clone()).collect(), |function| function.start == 0)
        };
        assert_eq!(choose(Which::Single, &[&gets]), std::slice::from_ref(&gets));
        assert!(choose(Which::Single, &[&gets, &also]).is_empty() && choose(Which::Single, &[]).is_empty());
        assert_eq!(choose(Which::FindsThread, &[&also, &finds, &gets]), std::slice::from_ref(&finds));
        assert_eq!(choose(Which::GetsThread, &[&also, &finds, &gets]), [gets.clone(), also.clone()]);
        for which in [Which::FindsThread, Which::GetsThread] {
            assert!(choose(which, &[&gets, &also]).is_empty(), "none finds its thread");
            assert!(choose(which, &[&finds, &gets, &gets]).is_empty(), "one has two notes");
        }
        assert!(choose(Which::FindsThread, &[&finds]).is_empty());
    }
}
