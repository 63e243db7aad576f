//! The part of a dependency audit that needs no network: licences and doubled versions, by the lists in `deny.toml`, and that
//! files of others in the repository are those that their authors published.
//!
//! Published advisories are looked up where a program that reads them and their database are at hand (`cargo audit`, `cargo
//! deny`); nothing is downloaded. Where they are not, that is said in the last line.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{process, workspace};

/// The targets whose dependencies are shipped: jtrace itself, and the eBPF programs inside it.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "bpfel-unknown-none"];

/// Folders with files of others, each with the hashes of these files in `SHA256SUMS`.
const VENDORED: [&str; 1] = ["crates/tracer-view/src/view/html/uplot"];

/// Compares the files of a folder with their hashes; each has to have one.
fn vendored(folder: &Path) -> Result<()> {
    const SUMS: &str = "SHA256SUMS";
    let sums = fs::read_to_string(folder.join(SUMS)).with_context(|| format!("no {SUMS} in {}", folder.display()))?;
    let listed: BTreeSet<&str> = sums.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry.with_context(|| format!("cannot read {}", folder.display()))?.file_name();
        let name = name.to_string_lossy();
        ensure!(name == SUMS || listed.contains(&*name), "{}: {name} has no hash in {SUMS}", folder.display());
    }
    process::run(process::command("sha256sum").args(["--check", "--quiet", SUMS]).current_dir(folder))
}

/// What `deny.toml` permits.
struct Permitted {
    /// Licences, by SPDX identifier.
    licences: BTreeSet<String>,
    /// Crates that may be there in several versions.
    doubled: BTreeSet<String>,
}

/// A dependency as `cargo tree` names it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    name: String,
    version: String,
    licence: String,
}

pub(crate) fn run() -> Result<()> {
    let path = workspace::root().join("deny.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let permitted = Permitted { licences: quoted(&text, "allow"), doubled: quoted(&text, "skip") };
    let dependencies = dependencies()?;
    let complaints = complaints(&permitted, &dependencies);
    for complaint in &complaints {
        println!("audit: {complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} complaints about {} dependencies", complaints.len(), dependencies.len());
    }
    println!("audit: {} dependencies have permitted licences", dependencies.len());
    for folder in VENDORED {
        vendored(&workspace::root().join(folder))?;
        println!("audit: {folder} is as it was published");
    }
    let (told, lookup) = Lookup::told(Lookup::at_hand(&programs(), &cargo_home()));
    println!("{told}");
    lookup.map_or(Ok(()), |lookup| lookup.run())
}

/// How advisories can be looked up here, without the network.
#[derive(Debug, PartialEq, Eq)]
struct Lookup {
    arguments: Vec<String>,
}

impl Lookup {
    /// The first program that is there and has its database.
    fn at_hand(programs: &[PathBuf], home: &Path) -> Result<Self, String> {
        let is_there = |name: &str| programs.iter().any(|folder| folder.join(name).is_file());
        let words = |words: &[&str]| Self { arguments: words.iter().map(|word| (*word).to_owned()).collect() };
        let mut missing = Vec::new();
        let tools = [
            ("cargo-audit", "advisory-db", ["audit", "--no-fetch", "--stale", "--deny=warnings"]),
            ("cargo-deny", "advisory-dbs", ["--offline", "deny", "check", "advisories"]),
        ];
        for (program, database, arguments) in tools {
            match (is_there(program), home.join(database).is_dir()) {
                (true, true) => return Ok(words(&arguments)),
                (true, false) => {
                    missing.push(format!("{program} has no database in {}", home.join(database).display()));
                }
                (false, _) => missing.push(format!("{program} is not installed")),
            }
        }
        Err(missing.join(", "))
    }

    /// What is said of it: that nothing was looked up must not look like that nothing was found.
    fn told(at_hand: Result<Self, String>) -> (String, Option<Self>) {
        match at_hand {
            Ok(lookup) => {
                (format!("audit: looking up advisories by cargo {}", lookup.arguments.join(" ")), Some(lookup))
            }
            Err(missing) => (format!("audit: advisories were NOT looked up: {missing}"), None),
        }
    }

    fn run(&self) -> Result<()> {
        process::run(process::cargo().args(&self.arguments))
    }
}

fn programs() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn cargo_home() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).unwrap_or_default()
}

fn dependencies() -> Result<BTreeSet<Dependency>> {
    let mut dependencies = BTreeSet::new();
    for target in TARGETS {
        let mut tree = process::cargo();
        tree.args(["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}\t{l}", "--target", target]);
        let listing = process::output(&mut tree)?;
        // An empty line divides the trees of the members; members themselves are named with their folder and are ours.
        dependencies.extend(listing.lines().filter(|line| !line.contains(" (/")).filter_map(dependency));
    }
    if dependencies.is_empty() {
        bail!("`cargo tree` lists no dependency, so its format has changed");
    }
    Ok(dependencies)
}

/// Reads `name v1.2.3 (proc-macro)<tab>licence`, where the licence may be followed by `(*)` for a repeated subtree.
fn dependency(line: &str) -> Option<Dependency> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split(' ');
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    let licence = licence.trim().trim_end_matches("(*)").trim_end().to_owned();
    Some(Dependency { name, version, licence })
}

fn complaints(permitted: &Permitted, dependencies: &BTreeSet<Dependency>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Dependency { name, version, licence } in dependencies {
        if !is_permitted(licence, &permitted.licences) {
            complaints.push(format!("{name} {version} has the licence `{licence}`, which deny.toml does not permit"));
        }
        versions.entry(name).or_default().push(version);
    }
    for (name, versions) in versions {
        if versions.len() > 1 && !permitted.doubled.contains(name) {
            complaints
                .push(format!("{name} is there in the versions {}, deny.toml does not skip it", versions.join(", ")));
        }
    }
    complaints
}

/// The first quoted string of each line of a list in `deny.toml`, which is kept in that form: one entry a line.
fn quoted(text: &str, key: &str) -> BTreeSet<String> {
    let opening = format!("{key} = [");
    text.lines()
        .skip_while(|line| *line != opening)
        .skip(1)
        .take_while(|line| *line != "]")
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| Some(line.split('"').nth(1)?.to_owned()))
        .collect()
}

/// Whether an SPDX expression can be satisfied by permitted licences; a broken one cannot. Cargo's old `/` means `OR`.
fn is_permitted(expression: &str, permitted: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    any_of(&mut words, permitted) == Some(true) && words.is_empty()
}

/// `OR` binds weakest. The words are a stack whose top is the next word; none is left where one is due: broken.
fn any_of(words: &mut Vec<&str>, permitted: &BTreeSet<String>) -> Option<bool> {
    let mut result = all_of(words, permitted)?;
    while words.last() == Some(&"OR") {
        words.pop();
        result |= all_of(words, permitted)?;
    }
    Some(result)
}

fn all_of(words: &mut Vec<&str>, permitted: &BTreeSet<String>) -> Option<bool> {
    let mut result = one(words, permitted)?;
    while words.last() == Some(&"AND") {
        words.pop();
        result &= one(words, permitted)?;
    }
    Some(result)
}

/// An expression in parentheses, or a licence that may have an exception.
fn one(words: &mut Vec<&str>, permitted: &BTreeSet<String>) -> Option<bool> {
    let licence = words.pop()?;
    if licence == "(" {
        let result = any_of(words, permitted)?;
        return (words.pop()? == ")").then_some(result);
    }
    if words.last() == Some(&"WITH") {
        words.pop();
        return Some(permitted.contains(&format!("{licence} WITH {}", words.pop()?)));
    }
    Some(permitted.contains(licence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(expression: &str) -> bool {
        is_permitted(expression, &BTreeSet::from(["MIT".to_owned(), "Unicode-3.0".to_owned()]))
    }

    #[test]
    fn advisories_are_looked_up_where_a_program_and_its_database_are_there() {
        let home = std::env::temp_dir().join(format!("jtrace-audit-{}", std::process::id()));
        fs::create_dir_all(home.join("bin")).unwrap();
        let look = || Lookup::at_hand(&[home.join("bin")], &home);
        assert_eq!(look().unwrap_err(), "cargo-audit is not installed, cargo-deny is not installed");
        let (told, lookup) = Lookup::told(look());
        assert!(told.contains("NOT looked up: cargo-audit is not installed") && lookup.is_none(), "{told}");
        fs::write(home.join("bin/cargo-deny"), "").unwrap();
        assert!(look().unwrap_err().contains("cargo-deny has no database in"));
        fs::create_dir(home.join("advisory-dbs")).unwrap();
        assert_eq!(look().unwrap().arguments, ["--offline", "deny", "check", "advisories"]);
        let (told, lookup) = Lookup::told(look());
        assert!(told.contains("looking up advisories by cargo --offline deny") && lookup.is_some(), "{told}");
        fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn a_choice_is_permitted_if_one_of_its_licences_is() {
        assert!(permits("Apache-2.0 OR MIT"));
        assert!(permits("MIT/Apache-2.0"));
        assert!(permits("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"));
        assert!(!permits("Apache-2.0 OR GPL-3.0"));
    }

    #[test]
    fn a_combination_is_permitted_if_all_of_its_licences_are() {
        assert!(permits("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!permits("(MIT OR Apache-2.0) AND GPL-3.0"));
        assert!(!permits("GPL-3.0 AND (MIT OR Apache-2.0)"));
    }

    #[test]
    fn no_licence_and_broken_expressions_are_not_permitted() {
        assert!(!permits(""));
        assert!(!permits("MIT OR"));
        assert!(!permits("(MIT"));
        assert!(!permits("MIT) OR MIT"));
        assert!(!permits("MIT Apache-2.0"));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert!(!permits("MIT WITH LLVM-exception"));
    }

    #[test]
    fn a_doubled_crate_is_a_complaint_unless_skipped() {
        let both: BTreeSet<_> =
            ["syn v1.0.0\tMIT", "syn v2.0.0 (proc-macro)\tMIT (*)"].map(dependency).into_iter().flatten().collect();
        assert_eq!(both.len(), 2);
        let permitted = |doubled: &str| Permitted {
            licences: BTreeSet::from(["MIT".to_owned()]),
            doubled: BTreeSet::from([doubled.to_owned()]),
        };
        assert_eq!(complaints(&permitted("other"), &both).len(), 1);
        assert_eq!(complaints(&permitted("syn"), &both).len(), 0);
    }

    #[test]
    fn lists_of_deny_toml_are_read_line_by_line() {
        let text = "[licenses]\nallow = [\n    \"MIT\",\n    # \"GPL-3.0\",\n]\n[bans]\nskip = [\n    { crate = \"syn\", reason = \"x\" },\n]\n";
        assert_eq!(quoted(text, "allow"), BTreeSet::from(["MIT".to_owned()]));
        assert_eq!(quoted(text, "skip"), BTreeSet::from(["syn".to_owned()]));
    }

    #[test]
    fn a_file_that_differs_or_has_no_hash_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        // SHA-256 of `abc`.
        write("SHA256SUMS", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  lib.js\n");
        write("lib.js", "abc");
        vendored(folder.path()).unwrap();
        write("more.js", "abc");
        assert!(vendored(folder.path()).unwrap_err().to_string().contains("more.js has no hash"));
        fs::remove_file(folder.path().join("more.js")).unwrap();
        write("lib.js", "abd");
        assert!(vendored(folder.path()).is_err());
    }
}
