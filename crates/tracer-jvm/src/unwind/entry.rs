//! Where functions begin, by the `.eh_frame` of their file: also strip leaves that.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use gimli::{CieOrFde, EhFrame, LittleEndian, UnwindContext, UnwindSection as _};
use object::ReadRef;
use tracer_common::unwind::{Rule, RuleBase};

use super::{rule, table};

/// What an address within a function counts for, in bytes that are read: functions that all lie around all addresses are none.
const ADDRESS_WORK: usize = 64;

/// The functions around some addresses, each by the address within. An address is left out where no function or more than one
/// lies around it, and where what begins there is only a part of a function: there, its caller has not just called.
pub fn functions_around<'data, R: ReadRef<'data>>(file: R, addresses: &BTreeSet<u64>) -> BTreeMap<u64, Range<u64>> {
    let Ok(table::Section { bytes, bases }) = table::find(file) else { return BTreeMap::new() };
    let section = EhFrame::new(bytes, LittleEndian);
    let mut context = UnwindContext::new_in();
    let called = Rule::new(RuleBase::Rsp, 1, 0);
    let mut around: BTreeMap<u64, Vec<Option<Range<u64>>>> = BTreeMap::new();
    let mut entries = section.entries(&bases);
    // Each function anew reads its common part.
    let mut left = bytes.len().saturating_mul(table::MAX_COMMON_READS);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        let Ok(function) = entry.parse(EhFrame::cie_from_offset) else { continue };
        let common = function.cie().entry_len();
        left = left.saturating_sub(if common > table::MAX_COMMON_BYTES { common } else { 0 });
        if left == 0 {
            return BTreeMap::new();
        }
        let start = function.initial_address();
        let range = start..start.saturating_add(function.len());
        for address in addresses.range(range.clone()) {
            let around = around.entry(*address).or_default();
            left = left.saturating_sub(ADDRESS_WORK);
            // More than one is as good as none.
            if around.len() > 1 || left == 0 {
                continue;
            }
            let mut rows = function.rows(&section, &bases, &mut context).ok();
            let first = rows.as_mut().and_then(|rows| rows.next_row().ok()?.map(|row| rule::pack(&section, row)));
            let whole = first.is_some() && first == called;
            around.push(whole.then(|| range.clone()));
        }
    }
    let single = |(address, found): (u64, Vec<Option<Range<u64>>>)| match <[_; 1]>::try_from(found) {
        Ok([Some(function)]) => Some((address, function)),
        Ok([None]) | Err(_) => None,
    };
    around.into_iter().filter_map(single).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::jvm::elf::{Elf, read_file};

    #[test]
    fn functions_of_the_own_file_begin_where_its_symbols_say() {
        let own = read_file(Path::new("/proc/self/exe")).expect("own file");
        let elf = Elf::parse(&own).expect("parses");
        // Many, so that a table that is read wrongly fits none.
        let symbols: Vec<_> =
            elf.symbols().filter(|(name, _)| memchr::memmem::find(name, b"10tracer_jvm3jvm").is_some()).collect();
        let symbols: Vec<_> = symbols.iter().map(|(_, symbol)| symbol).filter(|symbol| symbol.size > 64).collect();
        let within: BTreeSet<u64> = symbols.iter().map(|symbol| symbol.address + symbol.size / 2).collect();
        let found = functions_around(&*own, &within);
        let agree = |symbol: &&&crate::jvm::elf::Symbol| {
            let function = found.get(&(symbol.address + symbol.size / 2));
            function.is_some_and(|function| *function == (symbol.address..symbol.address + symbol.size))
        };
        let functions = symbols.iter().filter(|symbol| elf.code_offset(symbol.address).is_some()).count();
        assert!(functions > 100, "{functions}");
        assert_eq!(symbols.iter().filter(agree).count(), functions);
        assert!(functions_around(&*own, &BTreeSet::from([0, 1, u64::MAX])).is_empty());
        assert!(functions_around(&own[..8192], &within).is_empty(), "the table is not there");
    }

    #[test]
    fn fuzz_unwinding_tables() {
        let addresses = BTreeSet::from([0, 0x200, 0x210, 0x250, 0x1000, u64::MAX]);
        crate::fuzz::samples("elf", |file| {
            assert!(functions_around(file, &addresses).len() <= addresses.len());
            let _: Result<table::Table, table::Error> = table::read(file);
        });
    }
}
