//! Links, and the files of the repository that documents name.

use std::{collections::BTreeSet, path::Path};

use super::{code_spans, documents, read, root};

/// Where paths of the repository begin. `target` is not there before a build, and holds what other documents say.
const TOP: [&str; 9] = [
    "docs/",
    "scripts/",
    "tests/",
    "tracer/",
    "tracer-common/",
    "tracer-ebpf/",
    "tracer-inside/",
    "tracer-weave/",
    "xtask/",
];

/// What a command writes, which is there once it was run: `cargo xtask nightly`.
const WRITTEN: [&str; 1] = ["tests/nightly.txt"];

/// Where links lead: what stands in parentheses behind a text in brackets.
fn links(text: &str) -> Vec<&str> {
    let after = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    after.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link).filter(|link| !link.contains(' ')).collect()
}

/// Anchors of a document's headings, as forges make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut seen = 0;
    for document in documents() {
        let folder = Path::new(&document.path).parent().unwrap_or(Path::new("")).to_owned();
        for link in links(&document.text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { Path::new(&document.path).to_owned() } else { folder.join(file) };
            assert!(root().join(&target).exists(), "{}: {link} leads nowhere", document.path);
            let is_there = || anchors(&read(&target.to_string_lossy())).contains(anchor);
            assert!(anchor.is_empty() || is_there(), "{}: {link} has no such heading", document.path);
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} links were found");
}

#[test]
fn every_path_of_the_repository_that_a_document_names_exists() {
    let mut seen = 0;
    for document in documents() {
        for span in code_spans(&document.text) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
            if span.chars().all(is_plain) && TOP.iter().any(|top| span.starts_with(top)) {
                assert!(exists(span), "{}: there is no `{span}`", document.path);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} paths were found");
}

/// A module can be named without its ending.
fn exists(path: &str) -> bool {
    WRITTEN.contains(&path) || root().join(path).exists() || root().join(format!("{path}.rs")).exists()
}

#[test]
fn every_page_has_a_question_in_the_index() {
    let index = read("docs/README.md");
    let known: BTreeSet<&str> = links(&index).into_iter().filter_map(|link| link.split('#').next()).collect();
    let pages = documents().into_iter().filter_map(|page| Some(page.path.strip_prefix("docs/")?.to_owned()));
    let missing: Vec<String> = pages.filter(|page| page != "README.md" && !known.contains(page.as_str())).collect();
    assert!(missing.is_empty(), "docs/README.md has no question that leads to {missing:?}");
}
