//! Rules about what the program's own lines make the CPUs do, callees included: the JDK's methods below a line are its doing.

use super::{
    Evidence, Row,
    cpu::{Share, is_most, program_samples},
    exceptions,
    looks::called_from,
};
use crate::{
    lens::Lens::Cpu,
    report::{Finding, Severity},
    text::format,
};

/// A kind of work that is seldom what a program is for.
struct Kind {
    /// As the lens `cpu` calls it.
    work: &'static str,
    id: &'static str,
    /// Shares of all CPU time above which it is told, and above which it is worth a warning, in per cent.
    told: f64,
    warning: f64,
    /// What takes the time, in a title.
    title: &'static str,
    next_step: &'static str,
}

const KINDS: [Kind; 7] = [
    Kind {
        // Parsers that try one rule after the other spend a quarter on them, and nobody calls that an incident.
        work: "exceptions",
        id: "exceptions",
        told: 10.0,
        warning: 35.0,
        title: "Throwing exceptions",
        next_step: "Return a value for what is expected, or make such exceptions without a stack trace (the constructor \
                    with `writableStackTrace` false).",
    },
    Kind {
        work: "regular expressions",
        id: "regular-expression",
        told: 30.0,
        warning: 60.0,
        title: "A regular expression",
        next_step: "Look for nested repetitions, like `(a+)+`: they take exponential time; use possessive ones (`a++`), or \
                    parse by hand.",
    },
    Kind {
        work: "hash collisions",
        id: "hash-collisions",
        told: 10.0,
        warning: 20.0,
        title: "Searching a map whose keys have the same hash",
        next_step: "Give the keys a `hashCode` that tells them apart, and make them `Comparable`.",
    },
    Kind {
        work: "copies of strings",
        id: "string-copies",
        told: 35.0,
        warning: 70.0,
        title: "Copying strings",
        next_step: "Append to one `StringBuilder` instead of joining strings in a loop: each time copies all of it again.",
    },
    Kind {
        work: "spinning",
        id: "spinning",
        told: 15.0,
        warning: 30.0,
        title: "Spinning until something happens",
        next_step: "Wait instead: a lock, a condition, a latch or `LockSupport.park` take no CPU time.",
    },
    Kind {
        // An event loop under load spends a tenth to a fifth there.
        work: "selecting",
        id: "selector-spins",
        told: 40.0,
        warning: 60.0,
        title: "A selector that returns at once, again and again,",
        next_step: "Look at its keys: interest in OP_WRITE while there is nothing to write, or a channel whose peer has gone \
                    and that is not closed.",
    },
    Kind {
        work: "search in lists",
        id: "list-search",
        told: 30.0,
        warning: 60.0,
        title: "Searching lists from end to end",
        next_step: "Use a set or a map where it is searched often.",
    },
];

/// The kind of work that is above its threshold by most.
pub(super) fn busy_with(evidence: &Evidence<'_>) -> Option<Finding> {
    let (all, time) = program_samples(evidence)?;
    let found = KINDS.iter().filter_map(|kind| {
        let row = evidence.rows(Cpu, "work").find(|row| row.text("work") == kind.work)?;
        let share = Share::of(row.whole("samples"), all)?;
        share.is_above(kind.told).then_some((kind, row, share))
    });
    let (kind, row, share) = found.max_by(|a, b| (a.2.percent / a.0.told).total_cmp(&(b.2.percent / b.0.told)))?;
    let thrown = row.known("thrown").map(|thrown| format!(" (`{thrown}`)")).unwrap_or_default();
    let there = Share::of(row.whole("place_samples"), row.whole("samples"))?;
    Some(Finding {
        id: kind.id,
        severity: if share.is_above(kind.warning) { Severity::Warning } else { Severity::Info },
        score: share.percent,
        title: format!(
            "{}{thrown} at {} takes {} of {time}",
            kind.title,
            row.text("place"),
            format::percent(share.percent)
        ),
        shown_in: "cpu.work",
        when: Vec::new(),
        evidence: [share.evidence(all), format!("{} of that at this place", format::percent(there.percent))]
            .into_iter()
            .chain(called_from(&row))
            .chain(if kind.work == "exceptions" { exceptions::how_many(evidence) } else { Vec::new() })
            .collect(),
        next_step: kind.next_step.to_owned(),
    })
}

/// One method of the program, with all that it calls, takes most of the CPU time; or two or three do together.
pub(super) fn hot_line(evidence: &Evidence<'_>) -> Option<Finding> {
    let (all, time) = program_samples(evidence)?;
    let Some(row) = evidence.rows(Cpu, "places").find(|row| is_most(row, all)) else {
        return hot_lines(evidence, all, time);
    };
    let share = Share::of(row.whole("samples"), all)?;
    let in_itself = row.text("top") == row.text("place") && is_most_of_all(&row, all);
    // What it is busy with has been said, where that is most of what it does.
    let is_told = busy_with(evidence)
        .is_some_and(|finding| finding.title.contains(&row.text("place")) && 2.0 * finding.score >= share.percent);
    if in_itself || is_told {
        return None;
    }
    let inside = Share::of(row.whole("top_samples"), all)?;
    Some(Finding {
        id: "cpu-hot-line",
        severity: Severity::Info,
        score: share.percent,
        title: format!("{} and what it calls take {} of {time}", line(&row), format::percent(share.percent)),
        shown_in: "cpu.places",
        when: Vec::new(),
        evidence: [share.evidence(all), format!("{} of all in `{}`", format::percent(inside.percent), row.text("top"))]
            .into_iter()
            .chain(called_from(&row))
            .collect(),
        next_step: NEXT_STEP.to_owned(),
    })
}

/// What a reader does next who knows the line.
const NEXT_STEP: &str = "The stacks of the lens cpu show what it calls, and who calls it.";

/// Two methods, or three, that take most of the CPU time together, with all that they call, where none does alone.
fn hot_lines(evidence: &Evidence<'_>, all: u64, time: &str) -> Option<Finding> {
    const MOST_LINES: usize = 3;
    /// Each is a good part of it.
    const EACH_PERCENT: f64 = 15.0;
    /// One is told from 50 % on; of several, this is no chance.
    const TOGETHER_PERCENT: f64 = 70.0;
    let share = |samples| Share::of(samples, all);
    let is_good_part = |row: &Row<'_>| share(row.whole("samples")).is_some_and(|share| share.is_above(EACH_PERCENT));
    let mut rows: Vec<Row<'_>> = evidence.rows(Cpu, "places").filter(is_good_part).take(MOST_LINES).collect();
    let sum = |rows: &[Row<'_>]| rows.iter().map(|row| row.whole("samples")).fold(0, u64::saturating_add);
    // No more of them than are needed.
    let enough = (2..=rows.len()).find(|count| {
        rows.get(..*count).and_then(|rows| share(sum(rows))).is_some_and(|share| share.is_above(TOGETHER_PERCENT))
    })?;
    rows.truncate(enough);
    let together = share(sum(&rows))?;
    let lines: Vec<_> = rows.iter().map(line).collect();
    let (last, others) = lines.split_last()?;
    let support = rows.iter().filter_map(|row| {
        let percent = format::percent(share(row.whole("samples"))?.percent);
        let from = called_from(row).map(|callers| format!(", {callers}")).unwrap_or_default();
        Some(format!("{percent} at {}, most in `{}`{from}", line(row), row.text("top")))
    });
    Some(Finding {
        id: "cpu-hot-line",
        severity: Severity::Info,
        score: together.percent,
        title: format!(
            "{} and {last}, with what they call, take {} of {time}",
            others.join(", "),
            format::percent(together.percent)
        ),
        shown_in: "cpu.places",
        when: Vec::new(),
        evidence: std::iter::once(together.evidence(all)).chain(support).collect(),
        next_step: NEXT_STEP.to_owned(),
    })
}

/// A place of the program with the line that most of its samples are of.
fn line(row: &Row<'_>) -> String {
    match row.whole("line") {
        0 => row.text("place"),
        line => format!("{}:{line}", row.text("place")),
    }
}

fn is_most_of_all(row: &Row<'_>, all: u64) -> bool {
    Share::of(row.whole("top_samples"), all).is_some_and(|share| share.is_above(50.0))
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn busy() -> Case {
        Case::seconds(10).number("cpu", "samples", 1000.0).number("cpu", "sampled_ns", 9e9)
    }

    fn work(work: &'static str, samples: u64, thrown: &'static str) -> Case {
        busy().row(
            "cpu",
            "work",
            &[
                ("work", work.into()),
                ("samples", samples.into()),
                ("place", "com.shop.Mail.check:12".into()),
                ("place_samples", samples.into()),
                ("thrown", thrown.into()),
            ],
        )
    }

    #[test]
    fn exceptions_are_told_with_their_class_and_place() {
        assert_eq!(
            work("exceptions", 400, "com.shop.Refused").said(busy_with),
            (
                Severity::Warning,
                "Throwing exceptions (`com.shop.Refused`) at com.shop.Mail.check:12 takes 40 % of CPU time".to_owned()
            )
        );
        assert_eq!(work("exceptions", 60, "a.B").ask(busy_with), None);
    }

    #[test]
    fn a_program_that_uses_expressions_is_not_blamed_for_them() {
        assert_eq!(work("regular expressions", 980, "<not known>").said(busy_with).0, Severity::Warning);
        assert_eq!(work("regular expressions", 450, "<not known>").said(busy_with).0, Severity::Info);
        assert_eq!(work("regular expressions", 250, "<not known>").ask(busy_with), None);
    }

    /// `String.format` of older JDKs parses its pattern by a regular expression, which is a third of what it does.
    #[test]
    fn a_line_is_told_unless_most_of_it_has_been_told_as_a_kind_of_work() {
        let line = |busy_with: u64| {
            let cells = [
                ("place", "com.shop.Mail.check".into()),
                ("line", 12_u64.into()),
                ("samples", 950_u64.into()),
                ("top", "java.util.Formatter.format".into()),
                ("top_samples", 200_u64.into()),
            ];
            work("regular expressions", busy_with, "<not known>").row("cpu", "places", &cells)
        };
        assert_eq!(line(340).said(hot_line).1, "com.shop.Mail.check:12 and what it calls take 95 % of CPU time");
        assert_eq!(line(600).ask(hot_line), None);
    }

    #[test]
    fn several_lines_are_told_where_they_are_most_together() {
        let places = |samples: [u64; 3]| {
            ["a.Session.<init>", "a.Session.agree", "a.Report.write"].into_iter().zip(samples).fold(
                busy(),
                |case, (place, samples)| {
                    let cells = [
                        ("place", place.into()),
                        ("line", 7_u64.into()),
                        ("samples", samples.into()),
                        ("top", "java.math.BigInteger.multiply".into()),
                        ("top_samples", samples.into()),
                    ];
                    case.row("cpu", "places", &cells)
                },
            )
        };
        assert_eq!(
            places([480, 430, 50]).said(hot_line).1,
            "a.Session.<init>:7 and a.Session.agree:7, with what they call, take 91 % of CPU time"
        );
        assert_eq!(
            places([300, 290, 280]).said(hot_line).1,
            "a.Session.<init>:7, a.Session.agree:7 and a.Report.write:7, with what they call, take 87 % of CPU time"
        );
        assert_eq!(places([300, 200, 100]).ask(hot_line), None, "two of them are half of it");
        assert_eq!(places([450, 170, 160]).ask(hot_line), None, "the last ones are surely too small a part");
    }

    #[test]
    fn a_line_is_told_with_what_it_calls_unless_it_is_the_method_itself() {
        let place = |top: &'static str, top_samples: u64| {
            busy().row(
                "cpu",
                "places",
                &[
                    ("place", "com.shop.Cart.sum".into()),
                    ("line", 7_u64.into()),
                    ("samples", 900_u64.into()),
                    ("top", top.into()),
                    ("top_samples", top_samples.into()),
                ],
            )
        };
        assert_eq!(
            place("java.util.Arrays.hashCode", 300).said(hot_line),
            (Severity::Info, "com.shop.Cart.sum:7 and what it calls take 90 % of CPU time".to_owned())
        );
        assert_eq!(place("com.shop.Cart.sum", 890).ask(hot_line), None, "the method itself is told");
    }
}
