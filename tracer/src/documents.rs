//! The documents against the code. A document that says what is not so is worse than none, so what can be compared is compared,
//! both ways: options and command lines, events and their fields, keys of summaries, findings, tags of recordings, variables of
//! the environment, the files that documents name, and the tables of kernels and builds.

mod absent;
mod commands;
mod environment;
mod events;
mod parsers;
mod paths;
mod recordings;
mod reports;
mod tables;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A document by its path in the repository.
struct Document {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All documents that users and developers read.
fn documents() -> Vec<Document> {
    let mut paths: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tracer/ARCHITECTURE.md", "tests/README.md"]
            .map(str::to_owned)
            .to_vec();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            paths.push(format!("docs/{name}"));
        }
    }
    paths.sort();
    paths.into_iter().map(|path| Document { text: read(&path), path }).collect()
}

/// The lines of blocks of code, fenced or indented.
fn block_lines(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || line.starts_with("    ") {
            lines.push(line.trim());
        }
    }
    lines
}

/// What stands between backquotes outside of fenced blocks.
fn code_spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            spans.extend(line.split('`').skip(1).step_by(2));
        }
    }
    spans
}

/// The Rust files below a folder, each without its tests.
fn sources(folder: &str) -> Vec<Document> {
    let of_tests = ["tests", "testing", "documents", "sample", "hostile"];
    let is_of_tests = |path: &Path| {
        path.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            of_tests.contains(&part.strip_suffix(".rs").unwrap_or(&part))
        })
    };
    let mut sources = sources_and_tests(folder);
    sources.retain(|source| !is_of_tests(Path::new(&source.path)));
    for source in &mut sources {
        let end = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
        source.text.truncate(end);
    }
    sources
}

/// The same with their tests.
fn sources_and_tests(folder: &str) -> Vec<Document> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found.sort();
    let source = |path: PathBuf| Document {
        text: fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned(),
    };
    found.into_iter().map(source).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The texts in double quotes that follow each of some beginnings, as `.int(` and its first argument.
fn literals_after(text: &str, beginnings: &[&str]) -> BTreeSet<String> {
    let after = |beginning: &&str| {
        text.match_indices(*beginning)
            .filter_map(|(at, _)| {
                let rest = text[at + beginning.len()..].trim_start().strip_prefix('"')?;
                rest.split_once('"').map(|(literal, _)| literal.to_owned())
            })
            .collect::<Vec<_>>()
    };
    beginnings.iter().flat_map(after).collect()
}

/// Fails with what one side has and the other has not.
#[track_caller]
fn assert_same(what: &str, code: &BTreeSet<String>, documents: &BTreeSet<String>) {
    assert!(!code.is_empty(), "{what}: nothing was found in the code");
    let undocumented: Vec<_> = code.difference(documents).collect();
    let unknown: Vec<_> = documents.difference(code).collect();
    assert!(undocumented.is_empty(), "{what}: in the code, and in no document: {undocumented:?}");
    assert!(unknown.is_empty(), "{what}: in a document, and not in the code: {unknown:?}");
}

#[test]
fn blocks_spans_and_literals_are_found() {
    let text = "a `b` c\n\n    indented\n```sh\nfenced `x`\n```\n`d` and `e f`\n";
    assert_eq!(block_lines(text), ["indented", "fenced `x`"]);
    assert_eq!(code_spans(text), ["b", "d", "e f"]);
    let found = literals_after("x.int(\"a\", 1).int(\n  \"b_ns\", 2).int(key, 3)", &[".int("]);
    assert_eq!(found, ["a", "b_ns"].map(str::to_owned).into());
}
