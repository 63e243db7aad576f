//! What is asked of a snapshot, and what must hold of it: `--where`, `--group`, `--assert`.

use std::process::ExitCode;

use super::{Failure, output};
use crate::{
    heap::{
        answer::{Answers, Group, Question, SCHEMA},
        assertion::{Verdict, judge},
        file::Stored,
        question::Asked,
        summary::Analysis,
    },
    predicate::{Assertion, Kind, Predicate, tree::Expr},
    view::{self, json, text::TextOptions},
};

/// Most assertions; each walks through the heap once or twice.
const MAX_ASSERTIONS: usize = 1000;

/// Options of what is asked.
#[derive(Debug, clap::Args)]
pub(super) struct QuestionOptions {
    /// Show only objects for which this holds: `class ~ "com.shop.*" && retained > 1MiB`
    #[arg(long = "where", value_name = "PREDICATE")]
    predicate: Option<String>,

    /// Put objects together, and show how much they are
    #[arg(long, value_name = "BY")]
    group: Option<Group>,

    /// Exit with 3 where this does not hold: `count(class == "com.shop.Registry") <= 1`, `retained(PREDICATE) < 100MiB`,
    /// `every com.shop.Order through com.shop.Book`; can be repeated
    #[arg(long = "assert", value_name = "ASSERTION")]
    assertions: Vec<String>,
}

/// What is asked, understood.
pub(super) struct Questions<'a> {
    predicate: Option<(Expr, &'a str)>,
    group: Option<Group>,
    assertions: Vec<(Assertion, &'a str)>,
}

impl QuestionOptions {
    /// Understands it, before anything is done.
    pub(super) fn read(&self) -> Result<Questions<'_>, Failure> {
        let Self { predicate, group, assertions } = self;
        if assertions.len() > MAX_ASSERTIONS {
            let what = format!("{} assertions are more than {MAX_ASSERTIONS}", assertions.len());
            return Err(Failure::usage(what, "a pattern with * can stand for many classes".to_owned()));
        }
        let predicate = match predicate {
            Some(text) => Predicate::parse(text, Kind::HeapObject)?.expr.map(|expr| (expr, text.as_str())),
            None => None,
        };
        let read = |text: &'_ String| Assertion::parse(text);
        let read: Vec<Assertion> = assertions.iter().map(read).collect::<Result<_, _>>()?;
        let assertions = read.into_iter().zip(assertions.iter().map(String::as_str)).collect();
        Ok(Questions { predicate, group: *group, assertions })
    }
}

impl Questions<'_> {
    /// Whether nothing is asked.
    pub(super) const fn is_empty(&self) -> bool {
        self.predicate.is_none() && self.group.is_none() && self.assertions.is_empty()
    }

    /// Asks it of a snapshot, and prints the answers.
    pub(super) fn put(&self, stored: Stored, rows: usize, json: bool) -> Result<ExitCode, Failure> {
        let answers = self.answers(stored, rows)?;
        let code = match answers.assertions.iter().map(|judged| judged.verdict).max() {
            Some(Verdict::Violated) => 3,
            Some(Verdict::Undecided) => 4,
            Some(Verdict::Holds) | None => 0,
        };
        let printed = if json {
            output::print(|out| json::write_document(&answers, out))
        } else {
            output::print(|out| view::heap_answers::write(&answers, &TextOptions::for_stdout(), out))
        };
        match printed {
            // A reader who has gone does not make hold what does not.
            Err(failure) if failure.is_closed_pipe() => Ok(ExitCode::from(code)),
            Err(failure) => Err(failure),
            Ok(()) => Ok(ExitCode::from(code)),
        }
    }

    fn answers(&self, stored: Stored, rows: usize) -> Result<Answers, Failure> {
        let Self { predicate, group, assertions } = self;
        let not_whole = stored.not_whole();
        let Stored { graph, origin, cost, not_whole: _ } = stored;
        let is_dump = cost.is_none();
        let analysis = Analysis::of(graph);
        let answer = if predicate.is_some() || group.is_some() {
            let predicate = predicate.as_ref().map(|(expr, text)| (expr, *text));
            let asked = Asked::of_what_was_seen(&analysis, not_whole.is_none());
            Some(Question { predicate, group: *group, rows }.answer(&asked)?)
        } else {
            None
        };
        let asked = Asked::new(&analysis, not_whole.is_none());
        let judged = |(assertion, text): &(Assertion, &str)| judge(&asked, assertion, text);
        let assertions = assertions.iter().map(judged).collect::<Result<_, _>>()?;
        let mut cautions = Vec::new();
        if is_dump {
            cautions.push("sizes of objects in a dump are estimates, and so is what they retain".to_owned());
        }
        Ok(Answers { schema: SCHEMA, head: analysis.head(origin, cost), not_whole, cautions, answer, assertions })
    }
}
