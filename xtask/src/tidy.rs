//! House rules that no compiler lint covers: each file says what it is, stays short, has a name that means something, and
//! only named files may be unsafe; modules use each other in the order of the data (`edges`). `cargo xtask check` and a test run
//! it. What rustfmt and clippy check is not repeated.

mod edges;
mod uses;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::{process, workspace};

/// Hidden entries of the root that belong to the project. Programs that tests run like to leave others there.
const HIDDEN: [&str; 3] = [".cargo", ".ci", ".gitignore"];

/// A file beyond this is worth a look.
const SOFT_LINES: usize = 400;
/// A file beyond this must be cut.
const HARD_LINES: usize = 800;

/// Files and folders that may lift the workspace's ban on unsafe code.
const UNSAFE: [&str; 11] = [
    "tracer-ebpf/src/",
    "tracer-inside/src/",
    "crates/tracer-live/src/ebpf/",
    "crates/tracer-process/src/ending/at_once.rs",
    "crates/tracer-process/src/ending/pending.rs",
    // A test tries a call that no library has.
    "crates/tracer-jvm/src/jvm/find/refused_calls.rs",
    "crates/tracer-testing/src/allocator.rs",
    "crates/tracer-jvm/src/jvm/memory/calls.rs",
    "crates/tracer-jvm/src/jvm/forked.rs",
    "crates/tracer-process/src/priority.rs",
    "crates/tracer-process/src/reserve.rs",
];

/// Texts that no Rust file holds, and what to do instead. They are cut in two so that this file holds none either.
const FORBIDDEN: [(&str, &str); 4] = [
    (concat!("#[", "allow("), "use #[expect(lint, reason = \"..\")]"),
    (concat!("#![", "allow("), "use #![expect(lint, reason = \"..\")]"),
    (concat!("todo", "!("), "finish it or leave it out"),
    (concat!("unimplemented", "!("), "finish it or leave it out"),
];

/// The lint whose expectation marks an unsafe file.
const UNSAFE_LINT: &str = concat!("unsafe", "_code");

/// Words that say nothing about a file.
const EMPTY_WORDS: [&str; 3] = ["util", "helper", "manager"];

/// Files whose form is checked.
const EXTENSIONS: [&str; 4] = ["rs", "toml", "java", "sh"];

/// What was found in one file: `complaints` fail the check, `remarks` are shown.
#[derive(Default)]
struct Findings {
    complaints: Vec<String>,
    remarks: Vec<String>,
}

pub(crate) fn run() -> Result<()> {
    let mut findings = inspect(workspace::root())?;
    inspect_tracked(&tracked()?, &mut findings);
    findings.complaints.extend(edges::inspect(workspace::root())?);
    for remark in &findings.remarks {
        println!("tidy: {remark}");
    }
    for complaint in &findings.complaints {
        println!("tidy: {complaint}");
    }
    if !findings.complaints.is_empty() {
        bail!("{} files or lines break a house rule", findings.complaints.len());
    }
    Ok(())
}

fn inspect(root: &Path) -> Result<Findings> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut findings = Findings::default();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        inspect_file(&name, &text, &mut findings);
    }
    Ok(findings)
}

/// Gathers the files to check, without build output and hidden folders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().with_context(|| format!("cannot look at {}", path.display()))?;
        if kind.is_dir() && !name.starts_with('.') && !name.starts_with("target") {
            collect(&path, files)?;
        } else if kind.is_file()
            && path.extension().is_some_and(|ending| EXTENSIONS.iter().any(|known| ending == *known))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// The paths that git tracks; none where this is no clone.
fn tracked() -> Result<Vec<String>> {
    if !workspace::root().join(".git").exists() {
        return Ok(Vec::new());
    }
    let list = process::output(process::command("git").args(["ls-files", "-z"]))?;
    Ok(list.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Refuses what a program has left in the root and somebody has committed by accident.
fn inspect_tracked(paths: &[String], findings: &mut Findings) {
    let hidden = paths.iter().filter_map(|path| path.split('/').next()).filter(|entry| entry.starts_with('.'));
    let mut strange: Vec<&str> = hidden.filter(|entry| !HIDDEN.contains(entry)).collect();
    strange.dedup();
    findings
        .complaints
        .extend(strange.iter().map(|entry| format!("{entry}: git tracks it, and it is no part of jtrace")));
}

/// Checks one file, named by its path below the root.
fn inspect_file(name: &str, text: &str, findings: &mut Findings) {
    let complaints = &mut findings.complaints;
    for (line, number) in text.lines().zip(1..) {
        if line.ends_with([' ', '\t', '\r']) {
            complaints.push(format!("{name}:{number}: whitespace at the end of the line"));
        }
    }
    if Path::new(name).extension().is_none_or(|ending| ending != "rs") {
        return;
    }
    if !text.starts_with("//!") {
        complaints.push(format!("{name}: the first line must be `//!` and say what the file is"));
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    if base == "mod.rs" {
        complaints.push(format!("{name}: a module with parts is `name.rs` beside `name/`"));
    }
    if let Some(word) = EMPTY_WORDS.iter().find(|word| base.contains(**word)) {
        complaints.push(format!("{name}: `{word}` in a file's name says nothing about what is inside"));
    }
    for (line, number) in text.lines().zip(1..) {
        if let Some((found, instead)) = FORBIDDEN.iter().find(|(found, _)| line.contains(found)) {
            complaints.push(format!("{name}:{number}: `{found}..`: {instead}"));
        }
        if line.contains(UNSAFE_LINT) && !UNSAFE.iter().any(|place| name.starts_with(place)) {
            complaints.push(format!("{name}:{number}: unsafe code is for {} alone", UNSAFE.join(", ")));
        }
    }
    let lines = text.lines().count();
    if lines > HARD_LINES {
        complaints.push(format!("{name}: {lines} lines, the limit is {HARD_LINES}"));
    } else if lines > SOFT_LINES {
        findings.remarks.push(format!("{name}: {lines} lines, more than {SOFT_LINES}; can it be cut?"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(name: &str, text: &str) -> Vec<String> {
        let mut findings = Findings::default();
        inspect_file(name, text, &mut findings);
        findings.complaints
    }

    #[test]
    fn this_repository_is_tidy() {
        let findings = inspect(workspace::root()).unwrap();
        assert!(findings.complaints.is_empty(), "{:#?}", findings.complaints);
    }

    #[test]
    fn what_a_program_left_in_the_root_is_a_complaint() {
        let mut findings = Findings::default();
        let paths = [".ci/run", ".jython_cache/packages/a.pkc", ".jython_cache/packages/b.pkc", "tracer/src/lib.rs"];
        inspect_tracked(&paths.map(str::to_owned), &mut findings);
        assert_eq!(findings.complaints, [".jython_cache: git tracks it, and it is no part of jtrace"]);
        let mut own = Findings::default();
        inspect_tracked(&tracked().unwrap(), &mut own);
        assert_eq!(own.complaints, [""; 0]);
    }

    #[test]
    fn a_good_file_is_no_complaint() {
        assert_eq!(complaints("crates/tracer-event/src/decode.rs", "//! Decodes.\n\nfn decode() {}\n"), [""; 0]);
    }

    #[test]
    fn each_rule_is_a_complaint_of_its_own() {
        let long = format!("//! x\n{}", "fn x() {}\n".repeat(HARD_LINES));
        let unsafe_file = format!("//! x\n#![expect({UNSAFE_LINT}, reason = \"y\")]\n");
        for (name, text) in [
            ("a.rs", "fn x() {}\n"),
            ("a.rs", "//! x \n"),
            ("Cargo.toml", "a = 1\t\n"),
            ("a/mod.rs", "//! x\n"),
            ("string_utils.rs", "//! x\n"),
            ("a.rs", concat!("//! x\n#[", "allow(dead_code)]\n")),
            ("a.rs", concat!("//! x\n#![", "allow(dead_code)]\n")),
            ("a.rs", concat!("//! x\nfn x() { todo", "!() }\n")),
            ("a.rs", concat!("//! x\nfn x() { unimplemented", "!() }\n")),
            ("a.rs", long.as_str()),
            ("crates/tracer-view/src/view.rs", unsafe_file.as_str()),
        ] {
            assert_eq!(complaints(name, text).len(), 1, "{name}: {:?}", text.lines().nth(1));
        }
        assert_eq!(complaints("tracer-ebpf/src/args.rs", &unsafe_file), [""; 0]);
    }
}
