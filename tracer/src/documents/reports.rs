//! What reports hold: keys of summaries, columns of tables, findings, lenses; against `docs/lenses.md` and the documents that it
//! sends its readers to.

use std::collections::BTreeSet;

use super::{assert_same, code_spans, literals_after, read, sources};
use crate::{diff::COMPARED_KEYS, lens::Lens, probe::catalog::Flag};

/// All that stands between backquotes in the documents about lenses.
fn documented() -> BTreeSet<String> {
    let texts = ["docs/lenses.md", "docs/markers.md", "docs/typestate.md", "docs/inside.md"].map(read);
    texts.iter().flat_map(|text| code_spans(text)).map(str::to_owned).collect()
}

/// The keys of summaries that analyses write.
fn summary_keys() -> BTreeSet<String> {
    let texts =
        sources("crates/tracer-analysis/src/analysis").into_iter().chain(sources("crates/tracer-analysis/src/session"));
    let mut keys = BTreeSet::new();
    for source in texts {
        keys.extend(literals_after(&source.text, &[".int(", ".float("]));
        // Estimates have three keys for each number, which are made of its own key.
        let made = source.text.split(['"']).skip(1).step_by(2).filter(|text| text.starts_with("extrapolated_"));
        keys.extend(made.map(|text| if text.ends_with('_') { format!("{text}KEY") } else { text.to_owned() }));
    }
    keys
}

/// The keys in the first column of the tables whose head is `| summary |`.
fn keys_in_tables() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for path in ["docs/lenses.md", "docs/typestate.md", "docs/markers.md"] {
        let text = read(path);
        let mut is_summary = false;
        for line in text.lines() {
            if !line.starts_with('|') {
                is_summary = false;
            } else if line.starts_with("| `summary`") || line.starts_with("| summary") {
                is_summary = true;
            } else if is_summary && !line.starts_with("|--") {
                let cell = line.split('|').nth(1).unwrap_or_default();
                keys.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    keys
}

#[test]
fn every_key_of_a_summary_is_documented_and_every_documented_one_exists() {
    let code = summary_keys();
    let mut written: BTreeSet<String> = documented().intersection(&code).cloned().collect();
    written.extend(keys_in_tables());
    assert_same("keys of summaries", &code, &written);
}

/// A key that no summary has would never be compared, and nobody would see it.
#[test]
fn every_key_that_diff_compares_is_one_of_a_summary() {
    let keys = summary_keys();
    let unknown: Vec<_> = COMPARED_KEYS.into_iter().flatten().filter(|key| !keys.contains(**key)).collect();
    assert_eq!(unknown, Vec::<&&str>::new());
}

#[test]
fn every_column_of_a_table_is_documented() {
    let code: BTreeSet<String> = sources("crates/tracer-analysis/src/analysis")
        .iter()
        .flat_map(|source| literals_after(&source.text, &["column("]))
        .collect();
    let written: BTreeSet<String> = documented().intersection(&code).cloned().collect();
    assert_same("columns", &code, &written);
}

#[test]
fn every_finding_is_documented_and_every_documented_one_exists() {
    let code: BTreeSet<String> = sources("crates/tracer-analysis/src/finding")
        .iter()
        .flat_map(|source| literals_after(&source.text, &[" id: "]))
        .collect();
    let text = read("docs/lenses.md");
    let table =
        text.split("## Findings").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default().to_owned();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    assert_same("findings", &code, &rows.map(|(id, _)| id.to_owned()).collect());
}

#[test]
fn every_lens_has_a_section_and_the_screen_of_the_readme_has_the_usual_ones() {
    let text = read("docs/lenses.md");
    let sections = text.lines().filter_map(|line| line.strip_prefix("## `")?.split_once('`'));
    let code: BTreeSet<String> = Lens::ALL.iter().map(|lens| lens.id().to_owned()).collect();
    assert_same("lenses", &code, &sections.map(|(id, _)| id.to_owned()).collect());
    let usual: Vec<String> = Lens::USUAL.iter().map(|lens| format!("`{}`", lens.id())).collect();
    let sentence = format!("the usual ones are on: {}.", usual.join(", "));
    assert!(text.replace('\n', " ").contains(&sentence), "docs/lenses.md should say: {sentence}");
    let readme = read("README.md");
    let line = readme.lines().find(|line| line.trim_start().starts_with("1 overview")).unwrap_or_default();
    let tabs: Vec<&str> = line.split("  ").map(str::trim).filter(|tab| !tab.is_empty()).collect();
    assert_eq!(tabs, ["1 overview", "2 time", "3 waiting", "4 memory", "5 code", "6 log"]);
    for lens in Lens::USUAL {
        let figures = format!("│{}  ", lens.id());
        assert!(readme.contains(&figures), "the screen of the README has no figures of {}", lens.id());
    }
}

#[test]
fn security_names_every_flag_that_is_set_in_a_target() {
    let text = read("docs/security.md");
    for flag in [Flag::Monitor, Flag::Method, Flag::Alloc] {
        assert!(text.contains(&format!("`{}`", flag.name())), "docs/security.md does not name {}", flag.name());
    }
}
