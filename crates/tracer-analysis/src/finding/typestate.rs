//! Rules about typestate: objects that are not used as their protocol says.

use std::collections::BTreeMap;

use super::{Evidence, Row};
use crate::{
    lens::Lens::Typestate,
    report::{Finding, Severity},
    text::format,
};

/// Objects broke their protocol.
pub(super) fn violations(evidence: &Evidence<'_>) -> Option<Finding> {
    let mut by_property: BTreeMap<String, u64> = BTreeMap::new();
    for row in evidence.rows(Typestate, "violations") {
        *by_property.entry(row.text("property")).or_default() += row.whole("count");
    }
    let total: u64 = by_property.values().sum();
    let (worst, count) = by_property.iter().max_by_key(|(_, count)| **count)?;
    let first = evidence.rows(Typestate, "violations").find(|row| row.text("property") == *worst)?;
    Some(Finding {
        id: "typestate-violation",
        severity: Severity::Warning,
        score: total as f64,
        title: format!("{} violations of `{worst}`: {}", format::count(*count), sentence(&first)),
        shown_in: "typestate.violations",
        when: Vec::new(),
        evidence: by_property
            .iter()
            .map(|(property, count)| format!("`{property}`: {} violations", format::count(*count)))
            .collect(),
        next_step: "Look at the table of violations: it has the place, the thread, and what was called before."
            .to_owned(),
    })
}

/// The two wordings of typestate reports: an illegal transition, or an object that died too early.
fn sentence(row: &Row<'_>) -> String {
    let (state, symbol, class) = (row.text("state"), row.text("symbol"), row.text("class"));
    if symbol == "(death)" {
        format!("an object of {class} died in the state {state}")
    } else {
        format!("the transition {state} -> {symbol} of {class} in {} is not allowed", row.text("thread"))
    }
}
