//! What a report of jtrace's says in the words of the micro-programs.

use std::collections::BTreeMap;

use serde_json::Value;

/// Which number of a report is which count: section, key of its summary (`docs/lenses.md`), name of the count.
///
/// `objects` and `calls` have none: no lens counts single allocations or calls.
pub const SAME: [(&str, &str, &str); 8] = [
    ("gc", "collections", "collections"),
    ("safepoint", "safepoints", "safepoints"),
    ("locks", "contended_enters", "contended_enters"),
    ("locks", "parks", "parks"),
    ("locks", "unparks", "unparks"),
    ("threads", "sleeps", "sleeps"),
    ("threads", "started", "threads"),
    ("classes", "loaded", "loads"),
];

/// The answers of a report, the document of `jtrace report --json`, by the names of the counts. A lens that was not on
/// answers nothing.
pub fn answers(report: &Value) -> BTreeMap<String, u64> {
    let sections = report["sections"].as_array().map(Vec::as_slice).unwrap_or_default();
    SAME.iter()
        .filter_map(|(id, key, count)| {
            let section = sections.iter().find(|section| section["id"] == *id)?;
            Some(((*count).to_owned(), section["summary"][key].as_u64()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_answers_in_the_words_of_the_micro_programs() {
        let mut json = Vec::new();
        crate::view::json::write(&crate::view::sample::report(), &mut json).unwrap();
        let answers = answers(&serde_json::from_slice(&json).unwrap());
        let expected = [("collections", 7), ("contended_enters", 1026), ("parks", 123_456), ("threads", 41)];
        assert_eq!(answers, expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn what_is_no_report_answers_nothing() {
        for text in ["null", "[]", r#"{"sections":7}"#, r#"{"sections":[{"id":"gc","summary":{"collections":"7"}}]}"#] {
            assert!(answers(&serde_json::from_str(text).unwrap()).is_empty(), "{text}");
        }
    }

    #[test]
    fn every_key_is_documented_and_every_count_is_made() {
        let lenses = include_str!("../../../../docs/lenses.md");
        for (id, key, count) in SAME {
            let section = lenses.split(&format!("## `{id}`: ")).nth(1).unwrap().split("\n## ").next().unwrap();
            assert!(section.contains(&format!("`{key}`")), "{id}.{key}");
            assert!(super::super::SOURCE.contains(&format!(" {count}=\"")), "{count}");
        }
    }
}
