//! What shows that each sentence of `docs/security.md` and `SECURITY.md` is so. `tests/claims.txt` has every sentence and every row of
//! a table, each with its evidence; `cargo xtask check` compares it with the pages and the code. A sentence that is new or changed
//! has no evidence, and fails.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{prose::sentences::sentences, workspace};

/// The sentences with their evidence.
const FILE: &str = "tests/claims.txt";
/// What they are of, in this order.
const PAGES: [&str; 2] = ["docs/security.md", "SECURITY.md"];
/// Where tests are.
const FOLDERS: [&str; 7] =
    ["tests", "crates", "tracer/src", "tracer/tests", "tracer-inside", "tracer-weave", "xtask/src"];

/// What shows that a sentence is so.
#[derive(Debug, PartialEq, Eq)]
enum Evidence<'a> {
    /// These tests.
    Tests(Vec<&'a str>),
    /// A file has this text.
    Code { path: &'a str, text: &'a str },
    /// No test can: it is about others, or about the reader. And why.
    Elsewhere(&'a str),
    /// It promises nothing: it leads on to what others say.
    Leads,
}

/// A sentence and what shows it.
#[derive(Debug)]
struct Claim<'a> {
    text: &'a str,
    evidence: Vec<Evidence<'a>>,
}

/// How many sentences are shown by what.
#[derive(Debug, Default)]
struct Tally {
    tests: usize,
    code: usize,
    elsewhere: usize,
    leads: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tests, code, elsewhere, leads } = self;
        write!(out, "{tests} by tests, {code} by the code alone, {elsewhere} are about others, {leads} lead on")
    }
}

pub(crate) fn check() -> Result<()> {
    let root = workspace::root();
    let list = fs::read_to_string(root.join(FILE)).context(FILE)?;
    let claims = claims(&list)?;
    let mut said = Vec::new();
    for page in PAGES {
        said.extend(said_by(&fs::read_to_string(root.join(page)).context(page)?));
    }
    compare(&said, &claims)?;
    let tests = tests(root)?;
    let mut tally = Tally::default();
    for claim in &claims {
        shown(claim, root, &tests).with_context(|| format!("{FILE}: {}", claim.text))?;
        tally.add(claim);
    }
    println!("claims: {} sentences and rows: {tally}", claims.len());
    Ok(())
}

/// The sentences and rows of a page. What a sentence says is said by its words; where a line ends is of no account.
fn said_by(page: &str) -> Vec<String> {
    let mut said: Vec<(usize, String)> =
        sentences(page).into_iter().map(|sentence| (sentence.line, sentence.text)).collect();
    let lines: Vec<&str> = page.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with('|')) {
        // The line below a head, and the head above it.
        let is_rule = |line: &str| line.starts_with("|-");
        if !is_rule(line) && !lines.get(at + 1).is_some_and(|next| is_rule(next)) {
            said.push((at + 1, (*line).to_owned()));
        }
    }
    said.sort_by_key(|(line, _)| *line);
    said.into_iter().map(|(_, text)| text).collect()
}

/// The list: a sentence a line, and its evidence in lines below it that are indented.
fn claims(list: &str) -> Result<Vec<Claim<'_>>> {
    let mut claims: Vec<Claim<'_>> = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# ")) {
        match line.strip_prefix("    ") {
            None => claims.push(Claim { text: line, evidence: Vec::new() }),
            Some(evidence) => {
                let claim = claims.last_mut().context("evidence without a sentence")?;
                claim.evidence.push(self::evidence(evidence)?);
            }
        }
    }
    Ok(claims)
}

fn evidence(line: &str) -> Result<Evidence<'_>> {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    Ok(match kind {
        "test" if !rest.is_empty() => Evidence::Tests(rest.split(' ').collect()),
        "code" => {
            let (path, text) = rest.split_once(' ').context("`code PATH TEXT`")?;
            Evidence::Code { path, text }
        }
        "else" if rest.len() > 20 => Evidence::Elsewhere(rest),
        "leads" if rest.is_empty() => Evidence::Leads,
        _ => bail!("{FILE}: neither `test NAME ...`, `code PATH TEXT`, `else REASON` nor `leads`: {line}"),
    })
}

/// Fails at the first sentence that one side has and the other has not.
fn compare(said: &[String], claims: &[Claim<'_>]) -> Result<()> {
    for (text, claim) in said.iter().zip(claims) {
        ensure!(
            text == claim.text,
            "{FILE} has other sentences than {}:\n  the page says:  {text}\n  the list has:   {}",
            PAGES.join(" and "),
            claim.text
        );
    }
    ensure!(
        said.len() == claims.len(),
        "the pages have {} sentences and rows, {FILE} has {}",
        said.len(),
        claims.len()
    );
    Ok(())
}

fn shown(claim: &Claim<'_>, root: &Path, tests: &BTreeSet<String>) -> Result<()> {
    ensure!(!claim.evidence.is_empty(), "nothing shows it");
    for evidence in &claim.evidence {
        match evidence {
            Evidence::Tests(names) => {
                let missing = names.iter().find(|name| !tests.contains(**name));
                ensure!(missing.is_none(), "there is no test `{}`", missing.unwrap_or(&""));
            }
            Evidence::Code { path, text } => {
                let code = fs::read_to_string(root.join(path)).with_context(|| (*path).to_owned())?;
                ensure!(code.contains(text), "{path} has no `{text}`");
            }
            Evidence::Elsewhere(_) | Evidence::Leads => {}
        }
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, claim: &Claim<'_>) {
        let has = |wanted: fn(&Evidence<'_>) -> bool| claim.evidence.iter().any(wanted);
        if has(|evidence| matches!(evidence, Evidence::Tests(_))) {
            self.tests += 1;
        } else if has(|evidence| matches!(evidence, Evidence::Code { .. })) {
            self.code += 1;
        } else if has(|evidence| matches!(evidence, Evidence::Elsewhere(_))) {
            self.elsewhere += 1;
        } else {
            self.leads += 1;
        }
    }
}

/// Names of all tests of the workspace.
fn tests(root: &Path) -> Result<BTreeSet<String>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    let mut names = BTreeSet::new();
    for file in files {
        names.extend(tests_in(&fs::read_to_string(&file).with_context(|| file.display().to_string())?));
    }
    Ok(names)
}

/// Functions that have `#[test]` above them, among other attributes.
fn tests_in(text: &str) -> Vec<String> {
    let (mut found, mut is_test) = (Vec::new(), false);
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
            found.extend(rest.split_once('(').map(|(name, _)| name.to_owned()));
            is_test = false;
        } else if !line.starts_with('#') && !line.starts_with("//") {
            is_test = false;
        }
    }
    found
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_of_the_security_pages_has_what_shows_it() {
        check().unwrap();
    }

    #[test]
    fn sentences_and_rows_come_in_the_order_of_the_page() {
        let page = "One. Two\nends.\n\n| head | x |\n|---|---|\n| row | `a. b` |\n\nThree.\n";
        assert_eq!(said_by(page), ["One.", "Two ends.", "| row | `a. b` |", "Three."]);
    }

    #[test]
    fn a_sentence_without_evidence_with_a_wrong_one_or_another_text_is_found() {
        let root = workspace::root();
        let tests: BTreeSet<String> = tests_in("#[test]\n#[ignore]\nfn a() {}\nfn b() {}\n").into_iter().collect();
        let is_shown = |list: &str| {
            let claims = claims(list)?;
            compare(&["One.".to_owned()], &claims)?;
            shown(&claims[0], root, &tests)
        };
        is_shown("# a comment\nOne.\n    test a\n").unwrap();
        is_shown("One.\n    code Cargo.toml [workspace]\n    leads\n").unwrap();
        for wrong in [
            "One.\n",
            "Another.\n    test a\n",
            "One.\n    test b\n",
            "One.\n    code Cargo.toml nothing of the kind\n",
            "One.\n    code nowhere.rs text\n",
            "One.\n    else short\n",
            "One.\n    leads\nTwo.\n    leads\n",
        ] {
            assert!(is_shown(wrong).is_err(), "{wrong}");
        }
    }
}
