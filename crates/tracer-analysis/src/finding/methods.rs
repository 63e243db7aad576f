//! Rules about chosen methods and their calls.

use super::Evidence;
use crate::{
    lens::Lens::{Calls, Methods},
    report::{Finding, Severity},
    text::format,
};

/// A method ends by an exception in many of its calls.
pub(super) fn errors(evidence: &Evidence<'_>) -> Option<Finding> {
    const ERRORS: u64 = 100;
    const PERCENT: f64 = 5.0;
    let share = |row: &super::Row<'_>| 100.0 * row.whole("errors") as f64 / row.whole("calls").max(1) as f64;
    let often = |row: &super::Row<'_>| row.whole("errors") >= ERRORS && share(row) >= PERCENT;
    let mut rows: Vec<_> = evidence.rows(Methods, "methods").filter(often).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.whole("errors")));
    let worst = rows.first()?;
    let name = format!("{}.{}", worst.text("class"), worst.text("method"));
    Some(Finding {
        id: "method-errors",
        severity: Severity::Warning,
        score: worst.whole("errors") as f64 / 100.0,
        title: format!(
            "`{name}` ended by an exception in {} of its {} calls",
            format::percent(share(worst)),
            format::count(worst.whole("calls"))
        ),
        shown_in: "methods.methods",
        when: Vec::new(),
        evidence: vec![
            format!("{} errors", format::count(worst.whole("errors"))),
            format!(
                "{} methods have {ERRORS} errors or more in {} of their calls",
                rows.len(),
                format::percent(PERCENT)
            ),
        ],
        next_step: "See who throws: take stacks of this method's calls, or look into the log for the exception."
            .to_owned(),
    })
}

/// One place calls many methods very often, so that no compiler can inline there.
pub(super) fn megamorphic(evidence: &Evidence<'_>) -> Option<Finding> {
    const CALLS: u64 = 10_000;
    const PERCENT: f64 = 10.0;
    let all = evidence.number(Calls, "calls").filter(|calls| *calls > 0.0)?;
    let share = |row: &super::Row<'_>| 100.0 * row.whole("calls") as f64 / all;
    let often = |row: &super::Row<'_>| {
        row.text("kind") == "megamorphic" && row.whole("calls") >= CALLS && share(row) >= PERCENT
    };
    let row = evidence.rows(Calls, "sites").filter(often).max_by_key(|row| row.whole("calls"))?;
    let line = row.number("line").map_or_else(String::new, |line| format!(":{}", format::whole(line)));
    Some(Finding {
        id: "megamorphic-place",
        severity: Severity::Info,
        score: share(&row),
        title: format!(
            "`{}{line}` calls {} methods, in {} of all calls",
            row.text("caller"),
            format::count(row.whole("callees")),
            format::percent(share(&row))
        ),
        shown_in: "calls.sites",
        when: Vec::new(),
        evidence: vec![format!("{} calls: {}", format::count(row.whole("calls")), row.text("names"))],
        next_step:
            "If this is hot, let fewer kinds of receivers get there, or tell the common ones apart before the call."
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn method(case: Case, name: &'static str, calls: u64, errors: u64) -> Case {
        let cells =
            [("class", "a.B".into()), ("method", name.into()), ("calls", calls.into()), ("errors", errors.into())];
        case.row("methods", "methods", &cells)
    }

    #[test]
    fn the_method_with_most_errors_is_named() {
        let case = method(method(Case::default(), "rare", 100_000, 400), "often", 2000, 300);
        let expected = (Severity::Warning, "`a.B.often` ended by an exception in 15 % of its 2,000 calls".to_owned());
        assert_eq!(case.said(errors), expected);
    }

    #[test]
    fn a_few_errors_are_no_finding() {
        assert_eq!(method(Case::default(), "m", 200, 99).ask(errors), None);
        assert_eq!(method(Case::default(), "m", 100_000, 4900).ask(errors), None);
        assert_eq!(Case::default().ask(errors), None);
    }

    fn place(kind: &'static str, calls: u64) -> Case {
        let cells = [
            ("caller", "a.B.loop".into()),
            ("line", 31_u64.into()),
            ("kind", kind.into()),
            ("callees", 5_u64.into()),
            ("names", "C.area, D.area".into()),
            ("calls", calls.into()),
        ];
        Case::default().number("calls", "calls", 100_000.0).row("calls", "sites", &cells)
    }

    #[test]
    fn a_place_that_calls_many_methods_often_is_named() {
        let expected = (Severity::Info, "`a.B.loop:31` calls 5 methods, in 40 % of all calls".to_owned());
        assert_eq!(place("megamorphic", 40_000).said(megamorphic), expected);
    }

    #[test]
    fn a_place_with_few_callees_or_few_calls_is_no_finding() {
        assert_eq!(place("bimorphic", 40_000).ask(megamorphic), None);
        assert_eq!(place("megamorphic", 9999).ask(megamorphic), None);
        assert_eq!(Case::default().ask(megamorphic), None);
    }
}
