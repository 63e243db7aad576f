//! What a complete count must be, as the workloads print it: `expected calls GetArrayLength<-Calls.lengths 1000`, a kind, what it is
//! of, and a number.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

/// The numbers, by kind and what they are of; what is told several times is added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected(pub BTreeMap<(String, String), u64>);

impl Expected {
    /// Reads what a program printed.
    ///
    /// # Errors
    /// A line has no kind or no number.
    pub fn parse(text: &str) -> Result<Self> {
        let mut expected = Self::default();
        expected.add(text)?;
        Ok(expected)
    }

    /// Adds what a program printed later, as in `expected calls Fib.fib 21891`.
    ///
    /// # Errors
    /// As above.
    pub fn add(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("expected ") else { continue };
            let (kind, rest) = rest.split_once(' ').context("no kind")?;
            let (of, number) = rest.rsplit_once(' ').context("no number")?;
            *self.0.entry((kind.to_owned(), of.to_owned())).or_default() += number.parse::<u64>()?;
        }
        Ok(())
    }

    /// The numbers of a kind.
    ///
    /// # Errors
    /// There are none: such a program would test nothing.
    pub fn of(&self, kind: &str) -> Result<BTreeMap<&str, u64>> {
        let numbers = self.0.iter().filter(|((is, _), _)| is == kind);
        let numbers: BTreeMap<_, _> = numbers.map(|((_, of), number)| (of.as_str(), *number)).collect();
        ensure!(!numbers.is_empty(), "the program expects no {kind}");
        Ok(numbers)
    }

    /// The sum of a kind's numbers, of those things that are wanted.
    pub fn sum(&self, kind: &str, wanted: impl Fn(&str) -> bool) -> u64 {
        self.0.iter().filter(|((is, of), _)| is == kind && wanted(of)).map(|(_, number)| number).sum()
    }

    /// The number of a kind of one thing.
    ///
    /// # Errors
    /// It was not told.
    pub fn one(&self, kind: &str, of: &str) -> Result<u64> {
        let number = self.0.get(&(kind.to_owned(), of.to_owned()));
        number.copied().with_context(|| format!("the program expects no {kind} of {of}"))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;
    use crate::workspace;

    /// The texts of all files below a folder with one of these endings.
    fn texts(folder: &Path, endings: &[&str]) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                texts.extend(self::texts(&path, endings)?);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
                texts.push(fs::read_to_string(&path)?);
            }
        }
        Ok(texts)
    }

    /// The kinds that a program prints: `expect("calls", ...)` and `"expected calls ..."`.
    fn kinds(program: &str) -> BTreeSet<&str> {
        let code = program.lines().filter(|line| !line.trim_start().starts_with('*'));
        let after = code.flat_map(|line| ["expect(\"", "\"expected "].map(|begin| line.split(begin).skip(1)));
        let words = after.flatten().filter_map(|rest| rest.split([' ', '"']).next());
        words.filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn kinds_are_found_in_code_and_not_in_comments() {
        let program = " * Prints {@code \"expected shapes 1\"}.\n  s.expect(\"calls\", of, 1);\n  out(\"expected dead File \" + 1);\n";
        assert_eq!(kinds(program), BTreeSet::from(["calls", "dead"]));
    }

    /// What a program says and nobody reads holds nothing.
    #[test]
    fn every_kind_of_truth_that_programs_print_is_read_by_a_test() {
        let folder = workspace().join("tests");
        let programs = texts(&folder.join("workloads"), &["java", "c"]).unwrap();
        let all: BTreeSet<&str> = programs.iter().flat_map(|program| kinds(program)).collect();
        assert!(all.len() > 30, "{all:?}");
        let readers = [texts(&folder.join("live"), &["rs"]).unwrap(), texts(&folder.join("stacks"), &["rs"]).unwrap()];
        let is_read = |kind: &&&str| readers.iter().flatten().any(|reader| reader.contains(&format!("\"{kind}\"")));
        let unread: Vec<_> = all.iter().filter(|kind| !is_read(kind)).collect();
        assert!(unread.is_empty(), "no test reads {unread:?}");
    }
}
