//! Figures, and the limits that they are held to.

use std::{borrow::Cow, fs, path::Path};

use anyhow::{Context as _, Result, ensure};

/// A measured number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// Its name; ends in the unit.
    pub(crate) name: Cow<'static, str>,
    /// The number; NaN where it is absent.
    pub(crate) value: f64,
    /// Where it comes from.
    pub(crate) note: String,
}

impl Figure {
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, value: f64, note: impl Into<String>) -> Self {
        Self { name: name.into(), value, note: note.into() }
    }

    /// A number that cannot be had on this machine, and why.
    pub(crate) fn absent(name: &'static str, why: impl Into<String>) -> Self {
        Self::new(name, f64::NAN, why)
    }

    /// Whether it could not be had.
    pub(crate) const fn is_absent(&self) -> bool {
        self.value.is_nan()
    }
}

/// What a figure may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    /// As the budget writes it.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::AtMost(limit) => format!("<= {limit}"),
            Self::AtLeast(limit) => format!(">= {limit}"),
        }
    }
}

/// The limits of `tests/budgets/bench.txt`.
pub(crate) struct Budget(Vec<(String, Limit)>);

impl Budget {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        lines
            .filter(|line| !line.is_empty())
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                ensure!(words.len() == 3, "not `name limit value`: `{line}`");
                let value: f64 = words[2].parse().with_context(|| format!("not a number in `{line}`"))?;
                let limit = match words[1] {
                    "<=" => Limit::AtMost(value),
                    ">=" => Limit::AtLeast(value),
                    other => anyhow::bail!("neither <= nor >= in `{line}`: `{other}`"),
                };
                Ok((words[0].to_owned(), limit))
            })
            .collect::<Result<_>>()
            .map(Self)
    }

    /// The limit of a figure; some figures have none.
    pub(crate) fn limit(&self, name: &str) -> Option<Limit> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, limit)| *limit)
    }

    /// Names that no figure has: a budget that holds nobody to anything is a mistake.
    pub(crate) fn unused(&self, figures: &[Figure]) -> Vec<&str> {
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.filter(|name| figures.iter().all(|figure| figure.name != *name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_hold() {
        let budget = Budget::parse("# why\n\nattach_ms <= 1000 # fast\nrate >= 3\n").unwrap();
        assert_eq!(budget.limit("attach_ms"), Some(Limit::AtMost(1000.0)));
        assert!(budget.limit("rate").is_some_and(|limit| limit.holds(3.0) && !limit.holds(2.9)));
        assert!(!Limit::AtMost(0.0).holds(1.0) && !Limit::AtMost(0.0).holds(f64::NAN));
        assert_eq!(budget.unused(&[Figure::new("rate", 4.0, "")]), ["attach_ms"]);
        assert!(Budget::parse("a < 3").is_err() && Budget::parse("a <= x").is_err() && Budget::parse("a").is_err());
    }

    #[test]
    fn the_budget_in_the_repository_can_be_read() {
        assert!(Budget::read(&crate::workspace::root().join("tests/budgets/bench.txt")).is_ok());
    }
}
