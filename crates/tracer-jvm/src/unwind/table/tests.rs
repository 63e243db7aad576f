//! Tables made by hand, and tables of files that were damaged on purpose.

use proptest::prelude::*;
use tracer_common::unwind::RuleBase;

use super::*;
use crate::jvm::memory::{Memory, maps};

const BASE: u64 = 0x10_0000;

/// An entry with its length in front, filled up with instructions that do nothing.
fn entry(content: &[u8]) -> Vec<u8> {
    let padded = content.len().next_multiple_of(8);
    let mut bytes = u32::try_from(padded).unwrap().to_le_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(4 + padded, 0);
    bytes
}

/// A common part as compilers write it: version 1, return address in register 16, CFA = rsp + 8, absolute addresses.
fn common(augmentation: &str) -> Vec<u8> {
    let mut content = vec![0, 0, 0, 0, 1];
    content.extend_from_slice(augmentation.as_bytes());
    content.extend_from_slice(&[0, 1, 0x78, 16]);
    if augmentation.starts_with('z') {
        content.extend_from_slice(&[0]);
    }
    content.extend_from_slice(&[0x0c, 7, 8, 0x90, 1]);
    entry(&content)
}

/// A function with its instructions; `at` is where its entry will lie in the section.
fn function(at: usize, start: u64, bytes: u64, augmented: bool, instructions: &[u8]) -> Vec<u8> {
    let mut content = u32::try_from(at + 4).unwrap().to_le_bytes().to_vec();
    content.extend_from_slice(&start.to_le_bytes());
    content.extend_from_slice(&bytes.to_le_bytes());
    if augmented {
        content.push(0);
    }
    content.extend_from_slice(instructions);
    entry(&content)
}

/// The table of a section with one common part and these functions.
fn of(augmentation: &str, functions: &[(u64, u64, &[u8])]) -> Table {
    let mut section = common(augmentation);
    for (start, bytes, instructions) in functions {
        section.extend(function(section.len(), *start, *bytes, augmentation.starts_with('z'), instructions));
    }
    section.extend_from_slice(&[0; 4]);
    table(&section, &BaseAddresses::default().set_eh_frame(BASE), None)
}

fn row(address: u32, rule: Rule) -> Row {
    Row { address, rule }
}

fn rule(base: RuleBase, cfa_words: u32, rbp_words: u32) -> Rule {
    Rule::new(base, cfa_words, rbp_words).unwrap()
}

#[test]
fn a_prologue_with_a_frame_pointer_has_three_rows() {
    // push rbp; mov rbp, rsp: advance 1, CFA at 16, rbp at CFA-16; advance 3, CFA from rbp.
    let table = of("", &[(0x1000, 0x40, &[0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6])]);
    let expected = [
        row(0x1000, rule(RuleBase::Rsp, 1, 0)),
        row(0x1001, rule(RuleBase::Rsp, 2, 2)),
        row(0x1004, rule(RuleBase::Rbp, 2, 2)),
        row(0x1040, Rule::NONE),
    ];
    assert_eq!((table.rows.as_slice(), table.damaged, table.dropped), (&expected[..], 0, 0));
}

#[test]
fn functions_are_sorted_and_gaps_between_them_have_no_rule() {
    let table = of("", &[(0x3000, 0x10, &[]), (0x1000, 0x10, &[]), (0x1010, 0x10, &[]), (0x1000, 8, &[]), (0, 0, &[])]);
    let leaf = rule(RuleBase::Rsp, 1, 0);
    let expected = [row(0x1000, leaf), row(0x1020, Rule::NONE), row(0x3000, leaf), row(0x3010, Rule::NONE)];
    assert_eq!((table.rows.as_slice(), table.damaged, table.dropped), (&expected[..], 0, 1));
}

#[test]
fn addresses_beyond_32_bits_are_dropped_and_counted() {
    let table = of("", &[(1 << 32, 0x10, &[]), (0xffff_fff0, 0x20, &[]), (u64::MAX - 4, 0x10, &[]), (0x10, 0x10, &[])]);
    assert_eq!((table.rows.len(), table.dropped), (2, 3));
}

#[test]
fn a_signal_frame_and_an_outermost_frame_are_told_apart() {
    assert_eq!(
        of("zS", &[(0x1000, 0x10, &[0x41, 0x0e, 16])]).rows,
        [row(0x1000, Rule::SIGNAL), row(0x1010, Rule::NONE)]
    );
    // DW_CFA_undefined: r16.
    assert_eq!(of("", &[(0x1000, 0x10, &[0x07, 16])]).rows, [row(0x1000, Rule::ROOT), row(0x1010, Rule::NONE)]);
}

#[test]
fn a_program_begins_at_its_entry_point_even_if_no_entry_says_so() {
    let mut section = common("");
    section.extend(function(section.len(), 0x1020, 0x10, false, &[]));
    let of = |entry| table(&section, &BaseAddresses::default(), Some(entry)).rows;
    let leaf = rule(RuleBase::Rsp, 1, 0);
    let (function, end) = (row(0x1020, leaf), row(0x1030, Rule::NONE));
    assert_eq!(of(0x1000), [row(0x1000, Rule::ROOT), function, end]);
    assert_eq!(of(0xf00), [row(0xf00, Rule::ROOT), row(0xf2c, Rule::NONE), function, end]);
    assert_eq!(of(0x1024), [function, end]);
    assert_eq!(of(0x2000), [function, end, row(0x2000, Rule::ROOT), row(0x202c, Rule::NONE)]);
    assert_eq!(of(u32::MAX), [function, end]);
}

fn only_rule(instructions: &[u8]) -> Rule {
    of("", &[(0x1000, 0x10, instructions)]).rows[0].rule
}

#[test]
fn expressions_are_followed_in_their_usual_forms_only() {
    let linkage = [0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
    assert_eq!(only_rule(&linkage), Rule::PLT);
    let other_limit = linkage.map(|byte| if byte == 0x3b { 0x3a } else { byte });
    assert_eq!(only_rule(&other_limit), Rule::UNSUPPORTED);
    // A realigned stack: CFA = *(rbp - 16), rbp at *rbp.
    assert_eq!(only_rule(&[0x0f, 3, 0x76, 0x70, 6, 0x10, 6, 2, 0x76, 0]), rule(RuleBase::BelowRbpDeref, 2, 0));
    for instructions in [
        // rbp elsewhere than where it points; no rule for rbp; no deref; above rbp; not a whole word; deref of rsp.
        &[0x0f, 3, 0x76, 0x70, 6, 0x10, 6, 2, 0x76, 8][..],
        &[0x0f, 3, 0x76, 0x70, 6],
        &[0x0f, 2, 0x76, 0x70, 0x10, 6, 2, 0x76, 0],
        &[0x0f, 3, 0x76, 0x10, 6, 0x10, 6, 2, 0x76, 0],
        &[0x0f, 3, 0x76, 0x71, 6, 0x10, 6, 2, 0x76, 0],
        &[0x0f, 3, 0x77, 0x70, 6, 0x10, 6, 2, 0x76, 0],
        &[0x0f, 0],
    ] {
        assert_eq!(only_rule(instructions), Rule::UNSUPPORTED, "{instructions:x?}");
    }
}

#[test]
fn registers_and_distances_that_do_not_fit_are_unsupported() {
    for instructions in [
        // CFA from r10; CFA = rsp + 12; CFA = rsp + 2^18; rbp in r9; rbp at the CFA; return address at CFA-16.
        &[0x0c, 10, 8][..],
        &[0x0e, 12],
        &[0x0e, 0x80, 0x80, 0x10],
        &[0x09, 6, 9],
        &[0x86, 0],
        &[0x90, 2],
    ] {
        assert_eq!(only_rule(instructions), Rule::UNSUPPORTED, "{instructions:x?}");
    }
    assert_eq!(only_rule(&[0x0e, 0x80, 0x80, 8]), rule(RuleBase::Rsp, 1 << 14, 0));
}

#[test]
fn from_where_a_function_makes_no_sense_it_is_unsupported() {
    // Advance 4, then an instruction that does not exist.
    let table = of("", &[(0x1000, 0x10, &[0x44, 0x0e, 16, 0x44, 0x3f]), (0x1010, 0x10, &[])]);
    let expected = [
        row(0x1000, rule(RuleBase::Rsp, 1, 0)),
        row(0x1004, Rule::UNSUPPORTED),
        row(0x1010, rule(RuleBase::Rsp, 1, 0)),
        row(0x1020, Rule::NONE),
    ];
    assert_eq!((table.rows.as_slice(), table.damaged), (&expected[..], 1));
}

#[test]
fn a_long_common_part_is_not_evaluated_a_thousand_times() {
    let mut section = common("");
    let mut long = section[4..].to_vec();
    long.resize(1 << 20, 0x0a);
    section = entry(&long);
    let at = section.len();
    section.extend(function(at, 0x1000, 0x10, false, &[]));
    let table = table(&section, &BaseAddresses::default(), None);
    assert_eq!((table.rows.len(), table.damaged), (0, 1));
}

/// The kernel's own library, which every process has: small, complete, with sections and segments.
fn vdso() -> Vec<u8> {
    let pid = std::process::id();
    let mappings = maps::read(pid).unwrap();
    let mapping = mappings.iter().find(|mapping| mapping.path.as_os_str() == "[vdso]").unwrap();
    let bytes = usize::try_from(mapping.end - mapping.start).unwrap();
    Memory::open(pid).unwrap().read_bytes(mapping.start, bytes).unwrap()
}

#[test]
fn a_file_without_sections_has_the_same_table() {
    let mut file = vdso();
    let whole = read(&*file).unwrap();
    assert!(whole.rows.len() > 10);
    // e_shoff, and e_shnum with e_shstrndx.
    file[0x28..0x30].fill(0);
    file[0x3c..0x40].fill(0);
    let found = read(&*file).unwrap();
    assert_eq!(Table { read_bytes: whole.read_bytes, ..found }, whole);
}

#[test]
fn what_is_no_elf_file_or_has_no_table_is_an_error() {
    assert!(matches!(read(&b"#!/bin/sh"[..]), Err(Error::NotElf(_))));
    let mut header = vdso()[..64].to_vec();
    header[0x28..0x40].fill(0);
    assert!(matches!(read(&*header), Err(Error::Absent)));
}

/// What holds for every table, whatever it was made of.
fn check(table: &Table) {
    assert!(table.rows.windows(2).all(|pair| pair[0].address < pair[1].address && pair[0].rule != pair[1].rule));
    assert!(table.rows.len() <= 2 * MAX_ROWS);
    assert!(table.rows.last().is_none_or(|row| row.rule == Rule::NONE));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_have_sane_tables(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut file = vdso();
        for (at, byte) in &damage {
            let at = at.index(file.len());
            file[at] = *byte;
        }
        if let Ok(table) = read(&*file) {
            check(&table);
        }
    }

    #[test]
    fn damaged_sections_have_sane_tables(
        functions in proptest::collection::vec((0..0x4000_u64, 0..0x200_u64, proptest::collection::vec(any::<u8>(), 0..24)), 1..20),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut section = common("");
        for (start, bytes, instructions) in &functions {
            section.extend(function(section.len(), *start, *bytes, false, instructions));
        }
        for (at, byte) in &damage {
            let at = at.index(section.len());
            section[at] = *byte;
        }
        check(&table(&section, &BaseAddresses::default().set_eh_frame(BASE), None));
    }
}
