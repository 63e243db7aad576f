//! Rules about allocation.

use super::Evidence;
use crate::{
    lens::Lens::Alloc,
    report::{Finding, Severity},
    text::format,
};

/// Much is allocated; alone it is only worth knowing, since collecting it is what may cost.
pub(super) fn rate(evidence: &Evidence<'_>) -> Option<Finding> {
    const HIGH_BYTES_PER_S: f64 = 500e6;
    const VERY_HIGH_BYTES_PER_S: f64 = 2e9;
    let rate = evidence.number(Alloc, "estimated_bytes_per_s").filter(|rate| *rate > HIGH_BYTES_PER_S)?;
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
    let place = top.map(|row| {
        let share = format::percent(row.number("share_percent").unwrap_or(0.0));
        format!("most at {}: `{}`, {share} of all", row.text("site"), row.text("class"))
    });
    let at = top.map(|row| format!(", most at {}", row.text("site"))).unwrap_or_default();
    Some(Finding {
        id: "allocation-rate",
        severity: if rate > VERY_HIGH_BYTES_PER_S { Severity::Warning } else { Severity::Info },
        score: rate / 1e8,
        title: format!("Allocation at about {}{}{at}", format::byte_rate(rate), class.unwrap_or_default()),
        shown_in: "alloc.classes",
        when: evidence.when(Alloc, "allocation", |step| step.per_second("estimated_bytes") > HIGH_BYTES_PER_S),
        evidence: support.into_iter().chain(place).collect(),
        next_step: "Find where the top class is allocated and reuse or avoid it; if GC takes little time, leave it."
            .to_owned(),
    })
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

    #[test]
    fn a_modest_rate_is_no_finding() {
        assert_eq!(Case::default().number("alloc", "estimated_bytes_per_s", 400e6).ask(rate), None);
        assert_eq!(Case::default().ask(rate), None);
    }
}
