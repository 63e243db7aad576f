//! Compares `parsers.txt` with the code, both ways: a file that reads what others wrote and is not listed fails, as does one that
//! is listed and reads nothing any more, and a fuzzer that is named and is not there, or is there and not named.
//!
//! A file reads what others wrote where one of [`MARKS`] is in its code: it asks for bytes of a memory, a file or a socket, or
//! it makes numbers, texts or structures of bytes. That is a rule for a search in texts, so it finds too much rather than too little.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const LIST: &str = include_str!("parsers.txt");

/// The crates that read what others wrote. `tracer-ebpf` runs in the kernel, whose verifier bounds it.
const SOURCES: [&str; 4] = ["crates", "tracer/src", "tracer-inside/src", "tracer-weave/src"];
/// Where fuzzers are beside those in the sources.
const TESTS: [&str; 2] = ["tracer/tests", "tracer-weave/tests"];

/// What a file that reads has in it.
const MARKS: [&str; 27] = [
    // Memory of a target.
    "Peek",
    "&Memory",
    "Memory::open",
    // Files and sockets.
    "io::Read",
    "Read as _",
    "BufRead",
    "read_to_string",
    "read_to_end",
    "fs::read(",
    "read_exact",
    "recv(",
    "recvmsg(",
    "ReadRef",
    // Bytes and texts that become something else.
    "serde_json::from",
    "DeTable",
    "ClassBytes<",
    "ClassBytes::read",
    "from_str_radix",
    ".parse()",
    ".parse::<",
    "from_le_bytes",
    "from_ne_bytes",
    "from_be_bytes",
    "from_utf8",
    "fn parse(",
    "fn read(bytes: &",
    "fn read(content: &",
];

/// Files and folders that hold only tests and what they are made of.
const OF_TESTS: [&str; 12] = [
    "tests.rs",
    "testing.rs",
    "tests",
    "world.rs",
    "copy.rs",
    "hostile.rs",
    "written.rs",
    "read_back.rs",
    "documents",
    "examples",
    "fuzz.rs",
    "tracer-testing",
];

/// A line of this begins a group without a fuzzer.
const NONE: &str = "none:";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every Rust file below a folder, by its path from the root.
fn files(folder: &str, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder of sources") {
        let entry = entry.expect("an entry");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a type").is_dir() {
            files(&path, all);
        } else if Path::new(&path).extension().is_some_and(|extension| extension == "rs") {
            all.insert(path, fs::read_to_string(entry.path()).expect("a source"));
        }
    }
}

fn all(folders: &[&str]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for folder in folders {
        files(folder, &mut all);
    }
    all
}

/// Whether a file is of tests, by a part of its path.
fn is_of_tests(path: &str) -> bool {
    path.split('/').any(|part| OF_TESTS.contains(&part) || part == "documents.rs")
}

/// Whether its code, without comments and the tests at its end, has a mark.
fn reads(text: &str) -> bool {
    let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.any(|line| MARKS.iter().any(|mark| line.contains(mark)))
}

/// The list: files, and the fuzzers that it names.
fn listed() -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let (mut files, mut fuzzers) = (BTreeSet::new(), BTreeSet::new());
    for group in LIST.split("\n\n") {
        let mut lines = group.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let Some(head) = lines.next() else { continue };
        match head.strip_prefix(NONE) {
            Some(reason) => assert!(reason.len() > 20, "a reason is a sentence: {head}"),
            None => fuzzers.extend(head.split(' ')),
        }
        for file in lines {
            assert!(files.insert(file), "{file} is listed twice");
        }
    }
    (files, fuzzers)
}

#[test]
fn every_file_that_reads_what_others_wrote_is_listed_with_its_fuzzer() {
    let (listed, _) = listed();
    let found = all(&SOURCES);
    let found: BTreeSet<&str> =
        found.iter().filter(|(path, text)| !is_of_tests(path) && reads(text)).map(|(path, _)| &**path).collect();
    let missing: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "documents/parsers.txt lacks {missing:#?}");
    let sources = all(&SOURCES);
    let gone: Vec<_> = listed.iter().filter(|path| !sources.contains_key(**path)).collect();
    assert!(gone.is_empty(), "documents/parsers.txt lists files that are not there: {gone:#?}");
    let idle: Vec<_> = listed.difference(&found).filter(|path| !BY_HAND.contains(*path)).collect();
    assert!(idle.is_empty(), "documents/parsers.txt lists what reads nothing any more: {idle:#?}");
}

/// Readers of bytes that others hand to them, which no mark finds.
const BY_HAND: [&str; 8] = [
    "crates/tracer-jvm/src/jvm/metadata/lines.rs",
    "crates/tracer-jvm/src/jvm/metadata/unsigned5.rs",
    "crates/tracer-source/src/source/flight_recorder.rs",
    "crates/tracer-source/src/source/flight_recorder/edges.rs",
    "crates/tracer-source/src/source/flight_recorder/file.rs",
    "crates/tracer-source/src/source/flight_recorder/known.rs",
    "crates/tracer-source/src/source/flight_recorder/taken.rs",
    "crates/tracer-source/src/source/flight_recorder/values.rs",
];

#[test]
fn every_fuzzer_is_named_in_the_list_and_every_named_one_is_there() {
    let (_, named) = listed();
    let sources: Vec<String> = [all(&SOURCES), all(&TESTS)].into_iter().flat_map(BTreeMap::into_values).collect();
    let mut found = BTreeSet::new();
    for line in sources.iter().flat_map(|text| text.lines()) {
        if let Some((name, _)) = line.trim_start().strip_prefix("fn fuzz_").and_then(|rest| rest.split_once('(')) {
            assert!(found.insert(format!("fuzz_{name}")), "two fuzzers are called fuzz_{name}");
        }
    }
    let named: BTreeSet<String> = named.into_iter().map(str::to_owned).collect();
    assert_eq!(named, found);
}

/// What bounds the memory and the time of each input.
const METERS: [&str; 6] = ["each(", "each_of(", "samples(", "texts(", "metered(", "limited("];

#[test]
fn every_fuzzer_has_a_limit_of_memory_and_time() {
    let sources = [all(&SOURCES), all(&TESTS)].into_iter().flatten();
    let (mut seen, mut without) = (0, Vec::new());
    for (path, text) in sources.filter(|(path, _)| !path.ends_with("documents/parsers.rs")) {
        for fuzzer in text.split("fn fuzz_").skip(1) {
            let body = fuzzer.split("fn ").next().unwrap_or_default();
            seen += 1;
            if !METERS.iter().any(|meter| body.contains(meter)) {
                without.push(format!("{path}: fuzz_{}", fuzzer.split('(').next().unwrap_or_default()));
            }
        }
    }
    assert!(seen > 50, "only {seen} fuzzers were found");
    assert!(without.is_empty(), "without a limit: {without:#?}");
}

#[test]
fn a_comment_or_a_test_is_no_reader() {
    assert!(reads("fn of(memory: &dyn Peek) {}\n"));
    assert!(!reads("// text.parse()\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn f() { text.parse() }\n}\n"));
}
