//! Rules about allocation.

use super::{Evidence, Known, Rate, Row, looks};
use crate::{
    lens::Lens::Alloc,
    report::{Finding, Severity},
    text::format,
};

/// Much is allocated; alone it is only worth knowing, since collecting it is what may cost.
pub(super) fn rate(evidence: &Evidence<'_>) -> Option<Finding> {
    const HIGH_BYTES_PER_S: f64 = 500e6;
    const VERY_HIGH_BYTES_PER_S: f64 = 2e9;
    let rate = evidence.rate(Alloc, "estimated_bytes_per_s").filter(|rate| rate.low > HIGH_BYTES_PER_S)?;
    let top = evidence.rows(Alloc, "classes").next();
    let class = top.map(|row| {
        let share = format::percent(row.number("share_percent").unwrap_or(0.0));
        format!(", {share} of it `{}`", row.text("class"))
    });
    let support = top.and_then(|row| row.number("error_percent")).map(|error| {
        // The samples of another recorder.
        let of_samples = !evidence.target.knows(Alloc, "outside_tlab_bytes");
        let from = if of_samples { "samples" } else { "TLAB refills" };
        format!("estimated from {from}, standard error of the top class {}", format::percent(error))
    });
    let top = evidence.rows(Alloc, "sites").next();
    let callers = top.and_then(|row| looks::called_from(&row));
    let at = top.map(|row| format!(", most at {}", looks::place(&row))).unwrap_or_default();
    Some(Finding {
        id: "allocation-rate",
        severity: if rate.low > VERY_HIGH_BYTES_PER_S { Severity::Warning } else { Severity::Info },
        score: rate.low / 1e8,
        title: format!("Allocation at {}{}{at}", said(rate), class.unwrap_or_default()),
        shown_in: "alloc.classes",
        when: evidence.when(Alloc, "allocation", |step| step.per_second("estimated_bytes") > HIGH_BYTES_PER_S),
        evidence: rate
            .interval(format::byte_rate)
            .into_iter()
            .chain(support)
            .chain(top.map(|row| most_at(&row)))
            .chain(callers)
            .collect(),
        next_step: "Find where the top class is allocated and reuse or avoid it; if GC takes little time, leave it."
            .to_owned(),
    })
}

/// A place where objects of a class are made, and how many of all that are.
pub(super) fn most_at(row: &Row<'_>) -> String {
    let share = format::percent(row.number("share_percent").unwrap_or(0.0));
    format!("most at {}: `{}`, {share} of all", row.text("site"), row.text("class"))
}

/// The rate in words: all of it is an estimate by TLABs.
pub(super) fn said(rate: Rate) -> String {
    let about = |rate| format!("about {}", format::byte_rate(rate));
    if rate.known == Known::Estimated { about(rate.per_s) } else { rate.said(about) }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    #[test]
    fn a_high_rate_names_the_top_class() {
        let case = Case::default().number("alloc", "estimated_bytes_per_s", 1e9).row(
            "alloc",
            "classes",
            &[("class", "byte[]".into()), ("share_percent", 64.0.into()), ("error_percent", 2.5.into())],
        );
        assert_eq!(case.said(rate), (Severity::Info, "Allocation at about 954 MiB/s, 64 % of it `byte[]`".to_owned()));
        assert_eq!(Case::default().number("alloc", "estimated_bytes_per_s", 3e9).said(rate).0, Severity::Warning);
    }

    #[test]
    fn the_place_that_allocates_most_is_named() {
        let cells = [("class", "byte[]".into()), ("site", "a.Main.read:7".into()), ("share_percent", 40.0.into())];
        let case = Case::default().number("alloc", "estimated_bytes_per_s", 1e9).row("alloc", "sites", &cells);
        assert_eq!(case.ask(rate).expect("much").evidence, ["most at a.Main.read:7: `byte[]`, 40 % of all"]);
    }

    /// What was seen in some windows is not all that there was.
    #[test]
    fn a_rate_that_was_seen_in_part_is_estimated_or_said_to_be_the_least() {
        let seen =
            Case::default().number("alloc", "estimated_bytes_per_s", 1e9).number("alloc", "attached_percent", 13.0);
        assert_eq!(seen.said(rate).1, "Allocation at about 954 MiB/s or more");
        let estimated = seen
            .number("alloc", "extrapolated_estimated_bytes_per_s", 6e9)
            .number("alloc", "extrapolated_low_estimated_bytes_per_s", 3e9)
            .number("alloc", "extrapolated_high_estimated_bytes_per_s", 9e9);
        assert_eq!(estimated.said(rate), (Severity::Warning, "Allocation at about 5.6 GiB/s".to_owned()));
        assert_eq!(estimated.ask(rate).expect("much").evidence, ["2.8 GiB/s to 8.4 GiB/s (95 %)"]);
        let low = estimated.number("alloc", "extrapolated_low_estimated_bytes_per_s", 1e9);
        assert_eq!(low.said(rate).0, Severity::Info, "that may be all");
    }

    #[test]
    fn a_modest_rate_is_no_finding() {
        assert_eq!(Case::default().number("alloc", "estimated_bytes_per_s", 400e6).ask(rate), None);
        assert_eq!(Case::default().ask(rate), None);
    }
}
