//! The unwinding tables of real files, row by row compared with what `readelf` makes of the same `.eh_frame`.
//!
//! A file or a tool that is not there is skipped with a line that says so. `JTRACE_LIBJVMS` adds files (separated by `:`).

#![expect(clippy::print_stdout, reason = "a skipped test says why, and a passed one how much it compared")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use object::ReadCache;
use tracer::{
    jvm::memory::Memory,
    unwind::{regions, table},
};
use tracer_common::unwind::{Row, Rule, RuleBase};

/// Files that most machines have.
const FILES: [&str; 7] = [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libm.so.6",
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/lib/x86_64-linux-gnu/libcrypto.so.3",
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so",
];
/// What the project's own JDKs have, below `target/jdks/RELEASE/lib`.
const LIBRARIES: [&str; 4] = ["server/libjvm.so", "libjava.so", "libsimdsort.so", "libjli.so"];

fn files() -> Vec<PathBuf> {
    let jdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/jdks");
    let of_jdks =
        ["11", "17", "21", "25"].iter().flat_map(|jdk| LIBRARIES.map(|name| jdks.join(jdk).join("lib").join(name)));
    let more = std::env::var_os("JTRACE_LIBJVMS").unwrap_or_default();
    let more: Vec<PathBuf> = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()).collect();
    let (found, missing): (Vec<_>, Vec<_>) =
        FILES.iter().map(PathBuf::from).chain(of_jdks).chain(more).partition(|path| path.is_file());
    for path in missing {
        println!("skipped: {} does not exist", path.display());
    }
    assert!(!found.is_empty(), "no file to compare");
    found
}

/// What `readelf` says about one address: the CFA, where rbp is, where the return address is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    cfa: String,
    rbp: String,
    ra: String,
}

/// What `readelf` says about one function.
#[derive(Clone, Debug, Default)]
struct Function {
    start: u64,
    end: u64,
    signal: bool,
    rows: BTreeMap<u64, Told>,
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a hexadecimal number")
}

/// The value behind `name=` in a line.
fn value<'line>(line: &'line str, name: &str) -> &'line str {
    let (_, rest) = line.split_once(name).expect("the value's name");
    rest.split(' ').next().unwrap_or_default()
}

/// Reads `readelf --debug-dump=frames-interp`.
fn functions_of_readelf(text: &str) -> Vec<Function> {
    // Common parts by their place: whether they are of signal frames, and the row that functions without rows have.
    let mut common: BTreeMap<u64, Function> = BTreeMap::new();
    let mut common_at = None;
    let mut functions: Vec<Function> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        // A register that is kept in another is shown with two names: `r8 (r8)`.
        let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('(')).collect();
        if words.get(1) == Some(&"ZERO") {
            // The terminator of the section.
            columns.clear();
        } else if words.get(3) == Some(&"CIE") {
            let at = hex(words[0]);
            let signal = words[4].contains('S');
            common.insert(at, Function { signal, ..Function::default() });
            common_at = Some(at);
        } else if words.get(3) == Some(&"FDE") {
            common_at = None;
            let of = &common[&hex(value(line, "cie="))];
            let (start, end) = value(line, "pc=").split_once("..").expect("two addresses");
            let (start, end) = (hex(start), hex(end));
            // Without rows of its own, what the common part says holds.
            let rows = of.rows.values().map(|told| (start, told.clone())).collect();
            functions.push(Function { start, end, signal: of.signal, rows });
        } else if words.first() == Some(&"LOC") {
            columns = words.iter().map(ToString::to_string).collect();
        } else if words.len() == columns.len() && words.len() > 2 {
            let column = |name: &str| {
                let place = columns.iter().position(|column| column == name);
                place.map_or("u", |place| words[place]).to_owned()
            };
            let told = Told { cfa: column("CFA"), rbp: column("rbp"), ra: column("ra") };
            let function = match common_at {
                Some(at) => common.get_mut(&at),
                None => functions.last_mut(),
            };
            function.expect("a row belongs to something").rows.insert(hex(words[0]), told);
        }
    }
    functions
}

/// The rule that follows from what was told; `None` where that is an expression, which `readelf` does not show here.
fn rule_of(told: &Told) -> Option<Rule> {
    match told.ra.as_str() {
        "u" => return Some(Rule::ROOT),
        "c-8" => {}
        _ => return Some(Rule::UNSUPPORTED),
    }
    if told.cfa == "exp" {
        return None;
    }
    let (register, distance) = told.cfa.split_once('+').unwrap_or(("", "0"));
    let base = match register {
        "rsp" => RuleBase::Rsp,
        "rbp" => RuleBase::Rbp,
        _ => return Some(Rule::UNSUPPORTED),
    };
    let distance: u32 = distance.parse().expect("a number");
    let below: u32 = match told.rbp.strip_prefix("c-") {
        Some(below) => below.parse().expect("a number"),
        None if told.rbp == "u" || told.rbp == "s" => 0,
        None => return Some(Rule::UNSUPPORTED),
    };
    if !distance.is_multiple_of(8) || !below.is_multiple_of(8) {
        return Some(Rule::UNSUPPORTED);
    }
    Some(Rule::new(base, distance / 8, below / 8).unwrap_or(Rule::UNSUPPORTED))
}

/// The kernel side's way to find a rule.
fn rule_at(rows: &[Row], address: u64) -> Rule {
    let behind = rows.partition_point(|row| u64::from(row.address) <= address);
    behind.checked_sub(1).map_or(Rule::NONE, |place| rows[place].rule)
}

#[derive(Debug, Default)]
struct Compared {
    rows: usize,
    expressions: BTreeMap<u8, usize>,
    roots: usize,
    signals: usize,
    gaps: usize,
    mismatches: Vec<String>,
}

fn compare(rows: &[Row], functions: &[Function]) -> Compared {
    let mut compared = Compared::default();
    let covered: BTreeSet<(u64, u64)> = functions.iter().map(|function| (function.start, function.end)).collect();
    for function in functions.iter().filter(|function| function.start < function.end) {
        // A linkage table without entries has a row behind its end.
        let told: Vec<(u64, &Told)> =
            function.rows.range(..function.end).map(|(address, told)| (*address, told)).collect();
        let ends = told.iter().skip(1).map(|(address, _)| *address).chain([function.end]);
        for (&(start, told), end) in told.iter().zip(ends) {
            // Both ends of each stretch: a row that is missing or too long shows at one of them.
            for address in [start, end - 1] {
                let is = rule_at(rows, address);
                let should = if function.signal { Some(Rule::SIGNAL) } else { rule_of(told) };
                compared.rows += 1;
                match should {
                    Some(should) if should != is => {
                        compared.mismatches.push(format!("{address:x}: {told:?} gave {is:?}, not {should:?}"));
                    }
                    Some(Rule::ROOT) => compared.roots += 1,
                    Some(Rule::SIGNAL) => compared.signals += 1,
                    Some(_) => {}
                    None => *compared.expressions.entry(is.base()).or_default() += 1,
                }
            }
        }
        // The first function that begins at or behind the end must begin at it, or nothing is known there.
        let next = covered.range((function.end, 0)..).find(|(start, end)| start < end);
        if next.is_none_or(|(start, _)| *start != function.end) {
            compared.gaps += 1;
            if rule_at(rows, function.end) != Rule::NONE {
                compared.mismatches.push(format!("{:x}: a rule behind the end of a function", function.end));
            }
        }
    }
    compared
}

#[test]
fn every_row_says_what_readelf_says() {
    for path in files() {
        let started = Instant::now();
        let table = table::read(&ReadCache::new(File::open(&path).unwrap())).unwrap();
        let took = started.elapsed();
        let output = Command::new("readelf").env("LC_ALL", "C").arg("--debug-dump=frames-interp").arg(&path).output();
        let Ok(output) = output else {
            println!("skipped: readelf is not installed");
            return;
        };
        let functions = functions_of_readelf(&String::from_utf8_lossy(&output.stdout));
        let compared = compare(&table.rows, &functions);
        let Compared { rows, expressions, roots, signals, gaps, mismatches } = &compared;
        println!(
            "{}: {} rows in {took:?}, {} dropped, {} damaged; {} functions, {rows} addresses compared, expressions \
             {expressions:?}, {roots} roots, {signals} in signal frames, {gaps} gaps, {} mismatches",
            path.display(),
            table.rows.len(),
            table.dropped,
            table.damaged,
            functions.len(),
            mismatches.len(),
        );
        assert!(functions.len() > 1, "readelf was not understood");
        assert_eq!(mismatches.first(), None, "{} mismatches in {}", mismatches.len(), path.display());
        assert_eq!((table.dropped, table.damaged), (0, 0));
    }
}

#[test]
fn own_process_has_tables_for_all_of_its_files() {
    let memory = Memory::open(std::process::id()).unwrap();
    let mut tables = regions::tables(&memory).unwrap();
    for region in &tables.regions {
        println!("{region:x?}");
    }
    assert!(tables.notes.is_empty(), "{:?}", tables.notes);
    assert!(!tables.update(&memory).unwrap());
}
