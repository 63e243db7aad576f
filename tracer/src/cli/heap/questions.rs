//! What is asked of a snapshot, and what must hold of it: `--where`, `--group`, `--assert`.

use std::process::ExitCode;

use super::{super::values::words, Failure, output};
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
    #[arg(long, value_parser = words::<Group>(), value_name = "BY")]
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
        let code = code(&answers);
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

/// The exit code: whether all assertions hold, one does not, or one is not known to.
fn code(answers: &Answers) -> u8 {
    match answers.assertions.iter().map(|judged| judged.verdict).max() {
        Some(Verdict::Violated) => 3,
        Some(Verdict::Undecided) => 4,
        Some(Verdict::Holds) | None => 0,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::heap::{
        build::Builder,
        facts::Facts,
        graph::{Root, RootKind, Via},
    };

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: QuestionOptions,
    }

    /// A book that holds an order, with what is known of the walk.
    fn stored(cost: Option<Facts>, not_whole: Option<&str>) -> Stored {
        let mut builder = Builder::new();
        for (address, class) in [(8, "Book"), (16, "Order")] {
            let class = builder.class(class.to_owned());
            builder.object(address, class, 3, None);
        }
        let field = builder.name("order");
        builder.from(Some(0));
        builder.reference(1, Via::Field(field));
        builder.root(Root { node: 0, kind: RootKind::Other, thread: 0, frame: 0, method: 0 });
        let not_whole = not_whole.map(str::to_owned);
        Stored { graph: builder.finish(), cost, not_whole, ..Stored::default() }
    }

    /// The exit code, and why the snapshot is not whole.
    fn asked(stored: Stored, arguments: &[&str]) -> Result<(u8, Option<String>), Failure> {
        let options = Command::try_parse_from([&["heap"], arguments].concat()).unwrap().options;
        let answers = options.read()?.answers(stored, 3)?;
        Ok((code(&answers), answers.not_whole))
    }

    const HOLDS: [&str; 2] = ["--assert", "every Order through Book"];
    const HOLDS_EVEN_SO: [&str; 2] = ["--assert", "count(class == 'Order') >= 1"];
    const VIOLATED: [&str; 2] = ["--assert", "every Book through Order"];

    #[test]
    fn one_that_does_not_hold_counts_more_than_one_that_is_not_known_to() {
        let whole = || Some(Facts { complete: true, ..Facts::default() });
        let cut = || Some(Facts { reason: "took too long".to_owned(), ..Facts::default() });
        let odd = || Some(Facts { complete: true, odd: 2, ..Facts::default() });
        let all = [HOLDS, HOLDS_EVEN_SO, VIOLATED].concat();
        let code = |stored, arguments: &[&str]| asked(stored, arguments).unwrap().0;
        assert_eq!(code(stored(whole(), None), &[HOLDS, HOLDS_EVEN_SO].concat()), 0);
        assert_eq!(code(stored(whole(), None), &all), 3);
        for part in [cut, odd, || None] {
            let stored = || stored(part(), Some("the dump has no end"));
            assert_eq!(code(stored(), &HOLDS_EVEN_SO), 0);
            assert_eq!(code(stored(), &[HOLDS, HOLDS_EVEN_SO].concat()), 4);
            assert_eq!(code(stored(), &all), 3);
        }
        let reason = |stored| asked(stored, &HOLDS).unwrap().1.unwrap_or_default();
        assert_eq!(reason(stored(cut(), None)), "the walk took too long");
        assert_eq!(reason(stored(odd(), None)), "2 records made no sense and were left out");
        assert_eq!(reason(stored(None, Some("it is cut"))), "it is cut");
        assert_eq!(code(stored(whole(), None), &["--where", "size > 8", "--group", "class"]), 0);
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_stands_whichever_option_it_is_in() {
        let failure =
            asked(stored(None, None), &["--where", "size > 8", "--assert", "count(size > 8) < 1s"]).unwrap_err();
        insta::assert_snapshot!(failure.lines().join("\n"), @r"
        error: --assert: count has no unit
          count(size > 8) < 1s
                             ^
        hint: write 1
        ");
    }
}
