//! `cargo xtask prose`: how long the sentences of the documents are. Pages keep to a goal, or to limits above it in
//! `tests/budgets/prose.txt`, which may only shrink; `cargo xtask check` holds the pages to them.

pub(crate) mod sentences;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use self::sentences::{Sentence, sentences};
use crate::workspace;

/// The limits of the pages, below the root.
const BUDGET: &str = "tests/budgets/prose.txt";
/// Pages beside those of `docs`.
const PAGES: [&str; 2] = ["README.md", "tracer/ARCHITECTURE.md"];
/// A sentence of more words is long.
const LONG_WORDS: usize = 30;
/// What a page keeps to that has no limits of its own.
const GOAL: Figures = Figures { mean_tenths: 160, long_permille: 50 };

/// Pages whose long sentences are to be printed.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Print the long sentences of these pages
    pages: Vec<PathBuf>,

    /// Lower the limits to what is reached
    #[arg(long)]
    shrink: bool,
}

/// What is measured of a page. Whole numbers, so that limits compare exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figures {
    /// Mean number of words of a sentence, in tenths, rounded up.
    mean_tenths: usize,
    /// Sentences with more than [`LONG_WORDS`], in thousandths, rounded up.
    long_permille: usize,
}

impl Figures {
    fn of(sentences: &[Sentence]) -> Self {
        let count = sentences.len().max(1);
        let words: usize = sentences.iter().map(|sentence| sentence.words).sum();
        let long = sentences.iter().filter(|sentence| sentence.words > LONG_WORDS).count();
        Self { mean_tenths: (words * 10).div_ceil(count), long_permille: (long * 1000).div_ceil(count) }
    }

    const fn is_within(self, limit: Self) -> bool {
        self.mean_tenths <= limit.mean_tenths && self.long_permille <= limit.long_permille
    }

    /// The limits of a page that had `self` and now has `figures`: never more than before, and never less than the goal.
    fn shrunk(self, figures: Self) -> Self {
        Self {
            mean_tenths: self.mean_tenths.min(figures.mean_tenths).max(GOAL.mean_tenths),
            long_permille: self.long_permille.min(figures.long_permille).max(GOAL.long_permille),
        }
    }

    /// `16.4 5.1`: mean, and percent of long ones.
    fn text(self) -> String {
        let Self { mean_tenths: mean, long_permille: long } = self;
        format!("{}.{} {}.{}", mean / 10, mean % 10, long / 10, long % 10)
    }

    fn parse(mean: &str, long: &str) -> Option<Self> {
        let tenths = |text: &str| {
            let (whole, tenth) = text.split_once('.')?;
            Some(whole.parse::<usize>().ok()? * 10 + tenth.parse::<usize>().ok().filter(|tenth| *tenth < 10)?)
        };
        Some(Self { mean_tenths: tenths(mean)?, long_permille: tenths(long)? })
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for page in &options.pages {
        let text = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
        for Sentence { line, words, text } in sentences(&text).iter().filter(|sentence| sentence.words > LONG_WORDS) {
            println!("{}:{line}: {words} words: {text}", page.display());
        }
    }
    if options.shrink { shrink() } else { check() }
}

/// Prints what every page has and may have, and fails where one has more.
pub(crate) fn check() -> Result<()> {
    let limits = limits(&fs::read_to_string(workspace::root().join(BUDGET)).context(BUDGET)?)?;
    let mut failed = Vec::new();
    println!("{:<26} {:>9} {:>6} {:>6}   limits", "page", "sentences", "mean", "> 30 %");
    for (page, sentences) in pages()? {
        let figures = Figures::of(&sentences);
        let limit = limit_of(&limits, &page);
        let text = figures.text();
        let (mean, long) = text.split_once(' ').unwrap_or_default();
        println!("{page:<26} {:>9} {mean:>6} {long:>6}   {}", sentences.len(), limit.text());
        if !figures.is_within(limit) {
            failed.push(page);
        }
    }
    ensure!(
        failed.is_empty(),
        "sentences are longer than {BUDGET} allows: {0}; `cargo xtask prose {0}` prints the long ones",
        failed.join(" ")
    );
    Ok(())
}

/// Writes today's figures where they are smaller than the limits. Pages that reach the goal need no line any more.
fn shrink() -> Result<()> {
    let path = workspace::root().join(BUDGET);
    let old = fs::read_to_string(&path).context(BUDGET)?;
    let limits = limits(&old)?;
    let mut text: String = old.lines().take_while(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    for (page, sentences) in pages()? {
        let limit = limit_of(&limits, &page).shrunk(Figures::of(&sentences));
        if limit != GOAL {
            text += &[&page, " ", &limit.text(), "\n"].concat();
        }
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The limits that the budget's file has, by page.
fn limits(text: &str) -> Result<Vec<(String, Figures)>> {
    let mut limits = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            [page, mean, long] if Figures::parse(mean, long).is_some() => {
                limits.extend(Figures::parse(mean, long).map(|figures| ((*page).to_owned(), figures)));
            }
            _ => bail!("{BUDGET}: not `PAGE MEAN PERCENT`: {line}"),
        }
    }
    Ok(limits)
}

fn limit_of(limits: &[(String, Figures)], page: &str) -> Figures {
    limits.iter().find(|(known, _)| known == page).map_or(GOAL, |(_, figures)| *figures)
}

/// All pages with their sentences, by name.
fn pages() -> Result<Vec<(String, Vec<Sentence>)>> {
    let root = workspace::root();
    let mut names: Vec<String> = PAGES.map(str::to_owned).to_vec();
    let mut docs = Vec::new();
    for entry in fs::read_dir(root.join("docs")).context("cannot read docs")? {
        let name = entry.context("cannot read docs")?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
            docs.push(format!("docs/{name}"));
        }
    }
    docs.sort();
    names.extend(docs);
    let read = |name: String| {
        let text = fs::read_to_string(root.join(&name)).with_context(|| format!("cannot read {name}"))?;
        Ok((name, sentences(&text)))
    };
    names.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(page: &str) -> Figures {
        Figures::of(&sentences(page))
    }

    #[test]
    fn every_page_keeps_to_its_limits() {
        check().unwrap();
    }

    #[test]
    fn a_long_sentence_breaks_both_limits() {
        let page = format!("Short one. {}end.", "word ".repeat(30));
        assert_eq!(figures(&page), Figures { mean_tenths: 165, long_permille: 500 });
        assert_eq!(figures(&page).text(), "16.5 50.0");
        assert!(!figures(&page).is_within(GOAL));
        assert!(figures("A short sentence. Another short one.").is_within(GOAL));
    }

    #[test]
    fn limits_are_read_as_they_are_written_and_only_shrink() {
        let limits = limits("# head\nREADME.md 19.4 18.9\n").unwrap();
        let known = limit_of(&limits, "README.md");
        assert_eq!(known.text(), "19.4 18.9");
        assert_eq!(limit_of(&limits, "docs/new.md"), GOAL);
        let today = |mean_tenths, long_permille| Figures { mean_tenths, long_permille };
        assert_eq!(known.shrunk(today(210, 70)).text(), "19.4 7.0");
        assert_eq!(known.shrunk(today(140, 0)), GOAL);
        for wrong in ["README.md 19 18.9", "README.md 19.4", "README.md 19.44 1.0"] {
            assert!(super::limits(wrong).is_err(), "{wrong}");
        }
    }
}
