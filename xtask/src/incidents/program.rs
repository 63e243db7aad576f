//! A program with a planted cause, and what its first comment says of it.

use std::{
    env,
    ffi::OsString,
    fs, iter,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::stem;
use crate::{profile::JARS, workloads::entries};

/// What a finding must say to name a cause.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Ids of findings that may name it.
    rules: Vec<String>,
    /// What the title or the evidence must hold: one of several texts, with `|` between them; anything does where it is `*`.
    text: String,
}

impl Cause {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (rules, text) = text.split_once(' ').context("`names:` has ids and a text")?;
        let rules = rules.split('|').map(str::to_owned).collect();
        Ok(Self { rules, text: text.trim().to_owned() })
    }

    /// Whether a text has what must be said.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.text == "*" || self.text.split('|').any(|one| text.contains(one))
    }

    /// Whether a finding of this id may name it.
    pub(crate) fn may_be(&self, id: &str) -> bool {
        self.rules.iter().any(|rule| rule == id)
    }

    /// Whether a finding names it.
    pub(crate) fn is_named_by(&self, finding: &Value) -> bool {
        let evidence = finding["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
        let says = |value: &Value| value.as_str().is_some_and(|text| self.is_in(text));
        self.rules.iter().any(|rule| finding["id"] == **rule) && (says(&finding["title"]) || evidence.iter().any(says))
    }
}

/// What the flight recorder is expected to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) event: String,
    pub(crate) text: String,
}

/// A library of a Debian package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Jar {
    pub(crate) package: String,
    pub(crate) file: PathBuf,
}

impl Jar {
    /// Reads `PACKAGE/NAME`.
    fn parse(text: &str) -> Result<Self> {
        let (package, name) = text.split_once('/').context("`jars:` has packages with names of jars")?;
        Ok(Self { package: package.to_owned(), file: Path::new(JARS).join(format!("{name}.jar")) })
    }
}

/// A class path of these folders and jars.
pub(crate) fn class_path(classes: &Path, jars: &[Jar]) -> Result<OsString> {
    let all = iter::once(classes.to_owned()).chain(jars.iter().map(|jar| jar.file.clone()));
    env::join_paths(all).context("a path with a colon in it")
}

/// A program of the corpus.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    /// Its main class, with its package.
    pub(crate) main: String,
    /// Its folder: which class of incidents it belongs to.
    pub(crate) class: String,
    /// None in a healthy one.
    pub(crate) causes: Vec<Cause>,
    pub(crate) flags: Vec<String>,
    pub(crate) recorded: Option<Recorded>,
    pub(crate) is_busy: bool,
    /// Whether its writes wait for the disk, however fast that is on this machine.
    pub(crate) has_slow_disk: bool,
    /// How much memory its control group may use, as `200M`.
    pub(crate) memory: Option<String>,
    /// How many threads that may have.
    pub(crate) threads: Option<String>,
    /// The libraries that it is written with.
    pub(crate) jars: Vec<Jar>,
    /// Whether it is one that others wrote, from a package.
    pub(crate) is_real: bool,
    needs: Option<u32>,
    until: Option<u32>,
}

impl Program {
    fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)?;
        let class = stem(file.parent().context("a program lies in a folder")?);
        let name = stem(file);
        let package = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
        let main = package.map_or_else(|| name.clone(), |package| format!("{package}.{name}"));
        let mut program = Self { file: file.to_owned(), name, main, class, ..Self::default() };
        let comment = text.strip_prefix("/*\n").and_then(|text| text.split_once("*/")).context("no comment")?.0;
        let mut is_healthy = None;
        for line in comment.lines() {
            let line = line.trim_start_matches([' ', '*']).trim();
            let Some((key, value)) = line.split_once(": ") else { continue };
            match key {
                "incident" => is_healthy = Some(false),
                "healthy" => is_healthy = Some(true),
                "names" => program.causes.push(Cause::parse(value)?),
                "flags" => program.flags = value.split_whitespace().map(str::to_owned).collect(),
                "needs" => program.needs = Some(value.parse()?),
                "until" => program.until = Some(value.parse()?),
                "memory" => program.memory = Some(value.to_owned()),
                "threads" => program.threads = Some(value.to_owned()),
                "jars" => program.jars = value.split_whitespace().map(Jar::parse).collect::<Result<_>>()?,
                "disk" => program.has_slow_disk = value == "slow",
                "load" => program.is_busy = value == "cpu",
                "jfr" => {
                    let words = value.split_once(' ');
                    program.recorded =
                        words.map(|(event, text)| Recorded { event: event.to_owned(), text: text.to_owned() });
                }
                _ => bail!("`{key}` is not known"),
            }
        }
        ensure!(is_healthy == Some(program.causes.is_empty()), "neither an incident with causes nor healthy");
        Ok(program)
    }

    /// A program that others wrote, and that nothing is wrong with.
    pub(super) fn real(name: &str) -> Self {
        Self { name: name.to_owned(), class: "real".to_owned(), is_busy: true, is_real: true, ..Self::default() }
    }

    /// Whether a release of the JDK shows its incident.
    pub(crate) fn runs_on(&self, release: u32) -> bool {
        self.needs.is_none_or(|oldest| release >= oldest) && self.until.is_none_or(|last| release <= last)
    }
}

/// All programs of the corpus, in the order of their folders and names.
pub(crate) fn all(folder: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for class in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        for file in entries(&class)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "java"))
        {
            programs.push(Program::read(&file).with_context(|| file.display().to_string())?);
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workspace;

    #[test]
    fn a_cause_is_named_by_its_rule_with_its_text() {
        let cause = Cause::parse("lock-queue|lock-contention Checkout.reserve").expect("a cause");
        let finding = |id: &str, title: &str, evidence: &str| json!({"id": id, "title": title, "evidence": [evidence]});
        assert!(cause.is_named_by(&finding("lock-queue", "5 wait at Checkout.reserve:7", "")));
        assert!(cause.is_named_by(&finding("lock-contention", "5 wait", "at Checkout.reserve:7")));
        assert!(!cause.is_named_by(&finding("slow-peer", "5 wait at Checkout.reserve:7", "")));
        assert!(!cause.is_named_by(&finding("lock-queue", "5 wait at Checkout.cancel:7", "")));
        let either = Cause::parse("heap-growth Sessions.login|Sessions$Session").expect("a cause");
        assert!(either.is_in("made at Sessions$Session.<init>:24") && either.is_in("at Sessions.login:40"));
        assert!(!either.is_in("made at Sessions.render:51"));
        assert!(Cause::parse("gc-full *").expect("a cause").is_named_by(&finding("gc-full", "full", "")));
        assert!(Cause::parse("gc-full").is_err());
    }

    #[test]
    fn every_program_of_the_corpus_says_what_it_is() {
        let programs = all(&workspace::root().join("tests/incidents")).expect("a corpus");
        assert!(programs.iter().filter(|program| !program.causes.is_empty()).count() >= 60);
        assert!(programs.iter().filter(|program| program.causes.len() == 2).count() >= 10);
        assert!(programs.iter().filter(|program| program.causes.is_empty()).count() >= 12);
        let mut names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "two programs with one name");
    }

    #[test]
    fn what_a_cause_may_be_called_is_a_finding_that_there_is() {
        let lenses = fs::read_to_string(workspace::root().join("docs/lenses.md")).expect("the findings");
        let is_finding = |id: &String| lenses.contains(&format!("\n| `{id}` |"));
        for program in all(&workspace::root().join("tests/incidents")).expect("a corpus") {
            for id in program.causes.iter().flat_map(|cause| &cause.rules) {
                assert!(is_finding(id), "{}: `{id}`", program.name);
            }
        }
    }
}
