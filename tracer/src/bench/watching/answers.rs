//! What a report of jtrace's says, as answers that a program's own counts can be compared with.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::bench::results::Observed;

/// The part of a report that is read.
#[derive(Deserialize)]
struct Report {
    completeness: Completeness,
    sections: Vec<Section>,
}

#[derive(Deserialize)]
struct Completeness {
    delivered: u64,
    lost: u64,
}

#[derive(Deserialize)]
struct Section {
    id: String,
    #[serde(default)]
    summary: BTreeMap<String, serde_json::Value>,
}

/// Reads a report: events, losses, and every whole number of a summary as `section.key`.
pub(super) fn read(json: &[u8]) -> Result<Observed, String> {
    let report: Report =
        serde_json::from_slice(json).map_err(|error| format!("makes a report that is not understood: {error}"))?;
    let Report { completeness: Completeness { delivered, lost }, sections } = report;
    let mut answers = BTreeMap::new();
    for Section { id, summary } in sections {
        let whole = summary.into_iter().filter_map(|(key, value)| Some((format!("{id}.{key}"), value.as_u64()?)));
        answers.extend(whole);
    }
    Ok(Observed { events: Some(delivered), lost: Some(lost), answers, ..Observed::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_jtrace_answers_by_section_and_key() {
        let mut json = Vec::new();
        crate::view::json::write(&crate::view::sample::report(), &mut json).unwrap();
        let observed = read(&json).unwrap();
        assert_eq!(observed.answers["gc.pause_max_ns"], 412_000_000);
        assert!(observed.events.is_some() && observed.lost.is_some());
    }

    #[test]
    fn what_is_not_whole_is_no_answer_and_what_is_no_report_is_an_error() {
        let text = br#"{"completeness":{"delivered":5,"lost":1},
            "sections":[{"id":"gc","summary":{"n":3,"share":1.5,"text":"x"}}]}"#;
        let observed = read(text).unwrap();
        assert_eq!(observed.answers, BTreeMap::from([("gc.n".to_owned(), 3)]));
        assert_eq!((observed.events, observed.lost), (Some(5), Some(1)));
        assert!(read(b"{}").is_err());
    }
}
