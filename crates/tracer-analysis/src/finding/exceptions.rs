//! Rules about exceptions: what a program throws and catches again, it tells nobody.

use super::{Evidence, Rate, looks, work::busy_with};
use crate::{
    lens::Lens::Exceptions,
    report::{Finding, Severity},
    text::format,
};

/// Exceptions a second from which on they are worth knowing.
const OFTEN_PER_S: f64 = 10.0;
/// Fewer than these are too few for a rate.
const ENOUGH: u64 = 30;

/// What a lane counts.
struct Counted {
    number: &'static str,
    per_s: &'static str,
    /// What the title begins with.
    which: &'static str,
    next_step: &'static str,
}

/// From outside, and inside.
const COUNTED: [Counted; 2] = [
    Counted {
        number: "created",
        per_s: "created_per_s",
        which: "Exceptions",
        next_step: "See whether who catches them tells anybody: `jtrace attach PID --lens exceptions` shows all classes, places and \
                    stacks.",
    },
    Counted {
        number: "thrown",
        per_s: "thrown_per_s",
        which: "Exceptions in chosen methods",
        next_step: "See whether who catches them tells anybody: the table of places shows where each comes from and where it ends.",
    },
];

/// Exceptions are thrown all the time; what they cost is another matter.
pub(super) fn rate(evidence: &Evidence<'_>) -> Option<Finding> {
    let counted =
        COUNTED.iter().find(|counted| evidence.whole(Exceptions, counted.number).is_some_and(|all| all >= ENOUGH))?;
    let rate = evidence.rate(Exceptions, counted.per_s).filter(|rate| rate.per_s >= OFTEN_PER_S)?;
    // What they cost has been said, with how many there are.
    if busy_with(evidence).is_some_and(|finding| finding.id == "exceptions") {
        return None;
    }
    let class = evidence.rows(Exceptions, "classes").next()?;
    let place = evidence.rows(Exceptions, "sites").next();
    let at = place.map(|row| format!(", most at {}", looks::place(&row))).unwrap_or_default();
    let share = format::percent(class.number("share_percent").unwrap_or(0.0));
    let callers = place.and_then(|row| row.known("callers")).map(|callers| format!("called from {callers}"));
    let caught = caught_at(evidence);
    let ignored = caught.as_deref().and_then(|caught| caught.strip_suffix(", ignored"));
    let ignored = ignored.map(|place| format!(" and ignored at {place}")).unwrap_or_default();
    Some(Finding {
        id: "exception-rate",
        severity: Severity::Info,
        score: (rate.per_s / 100.0).min(20.0),
        title: format!(
            "{} at {}, {share} of them `{}`{at}{ignored}",
            counted.which,
            rate.said(format::rate),
            class.text("class")
        ),
        shown_in: "exceptions.classes",
        when: evidence.when(Exceptions, "exceptions", |step| step.per_second(counted.number) >= OFTEN_PER_S),
        evidence: depth(evidence).into_iter().chain(callers).chain(caught.as_deref().map(caught_by)).collect(),
        next_step: counted.next_step.to_owned(),
    })
}

/// How many there are, for a rule that knows what they cost.
pub(super) fn how_many(evidence: &Evidence<'_>) -> Vec<String> {
    let rate =
        created(evidence).map(|created| format!("exceptions get stack traces at {}", created.said(format::rate)));
    rate.into_iter().chain(depth(evidence)).chain(caught_at(evidence).as_deref().map(caught_by)).collect()
}

/// Where most of them end.
fn caught_at(evidence: &Evidence<'_>) -> Option<String> {
    evidence.rows(Exceptions, "sites").next()?.known("caught_at")
}

fn caught_by(place: &str) -> String {
    format!("caught at {place}")
}

/// Exceptions that get a stack trace.
fn created(evidence: &Evidence<'_>) -> Option<Rate> {
    evidence.rate(Exceptions, "created_per_s")
}

/// How deep the stacks are from which most are thrown.
fn depth(evidence: &Evidence<'_>) -> Option<String> {
    let frames = evidence.rows(Exceptions, "sites").next()?.number("mean_frames").map(format::whole)?;
    Some(format!("{} on their stacks on average", format::plural(frames, "Java frame", "Java frames")))
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn thrown(per_s: f64) -> Case {
        Case::seconds(10)
            .number("exceptions", "created", 10.0 * per_s)
            .number("exceptions", "created_per_s", per_s)
            .row("exceptions", "classes", &[("class", "a.Refused".into()), ("share_percent", 75.0.into())])
            .row(
                "exceptions",
                "sites",
                &[
                    ("class", "a.Refused".into()),
                    ("site", "a.Mail.check:12".into()),
                    ("callers", "a.Mail.send:3".into()),
                    ("caught_at", "a.Mail.retry:40, ignored".into()),
                    ("mean_frames", 9_u64.into()),
                ],
            )
    }

    #[test]
    fn exceptions_that_come_all_the_time_are_told_with_their_place() {
        let finding = thrown(120.0).ask(rate).expect("often");
        assert_eq!(
            finding.title,
            "Exceptions at 120/s, 75 % of them `a.Refused`, most at a.Mail.check:12 and ignored at a.Mail.retry:40"
        );
        assert_eq!(
            finding.evidence,
            [
                "9 Java frames on their stacks on average",
                "called from a.Mail.send:3",
                "caught at a.Mail.retry:40, ignored"
            ]
        );
        assert_eq!(thrown(9.0).ask(rate), None);
        let partial = thrown(120.0).number("exceptions", "attached_percent", 12.0);
        assert!(partial.said(rate).1.starts_with("Exceptions at 120/s or more,"));
        let estimated = partial.number("exceptions", "extrapolated_created_per_s", 900.0);
        assert!(estimated.said(rate).1.starts_with("Exceptions at about 900/s,"));
    }

    #[test]
    fn those_of_chosen_methods_are_told_as_such() {
        let inside = Case::seconds(10)
            .number("exceptions", "thrown", 1200.0)
            .number("exceptions", "thrown_per_s", 120.0)
            .row("exceptions", "classes", &[("class", "a.Refused".into()), ("share_percent", 75.0.into())])
            .row(
                "exceptions",
                "sites",
                &[("site", "a.Mail.check:12".into()), ("caught_at", "a.Mail.retry:40, ignored".into())],
            );
        let title = inside.said(rate).1;
        assert!(title.starts_with("Exceptions in chosen methods at 120/s, 75 % of them `a.Refused`,"), "{title}");
        assert!(title.ends_with("most at a.Mail.check:12 and ignored at a.Mail.retry:40"), "{title}");
        assert_eq!(inside.number("exceptions", "thrown_per_s", 9.0).ask(rate), None);
    }

    #[test]
    fn what_costs_cpu_time_is_told_once() {
        let case = thrown(120_000.0).number("cpu", "samples", 1000.0).number("cpu", "sampled_ns", 9e9).row(
            "cpu",
            "work",
            &[
                ("work", "exceptions".into()),
                ("samples", 400_u64.into()),
                ("place", "a.Mail.check:12".into()),
                ("place_samples", 400_u64.into()),
            ],
        );
        assert_eq!(case.ask(rate), None);
        let evidence = case.ask(busy_with).expect("it takes CPU time").evidence;
        assert!(evidence.iter().any(|line| line == "exceptions get stack traces at 120 k/s"), "{evidence:?}");
        assert!(evidence.iter().any(|line| line == "caught at a.Mail.retry:40, ignored"), "{evidence:?}");
    }
}
