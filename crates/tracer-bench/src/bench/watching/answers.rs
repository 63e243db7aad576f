//! What a report of jtrace's says, as answers that a program's own counts can be compared with.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::bench::results::Observed;

/// Which number of a report is which count of the micro-programs: section, key of its summary (`docs/lenses.md`), name of
/// the count.
const SAME: [(&str, &str, &str); 8] = [
    ("gc", "collections", "collections"),
    ("safepoint", "safepoints", "safepoints"),
    ("locks", "contended_enters", "contended_enters"),
    ("locks", "parks", "parks"),
    ("locks", "unparks", "unparks"),
    ("threads", "sleeps", "sleeps"),
    ("threads", "started", "threads"),
    ("classes", "loaded", "loads"),
];

/// How the names of the library's own sites begin.
const OWN: &str = "jtrace_";
/// The state of a site that was watched from the beginning to the end.
const ATTACHED: &str = "attached";

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
    #[serde(default)]
    sites: Vec<Site>,
}

#[derive(Deserialize)]
struct Site {
    probe: String,
    filtered: u64,
    state: String,
}

#[derive(Deserialize)]
struct Section {
    id: String,
    #[serde(default)]
    summary: BTreeMap<String, serde_json::Value>,
}

/// Reads a report: events, losses, and the answers in the words of the micro-programs.
pub(super) fn read(json: &[u8]) -> Result<Observed, String> {
    let report: Report =
        serde_json::from_slice(json).map_err(|error| format!("makes a report that is not understood: {error}"))?;
    let Report { completeness: Completeness { delivered, lost, sites }, sections } = report;
    let answer = |&(id, key, count): &(&str, &str, &str)| {
        let section = sections.iter().find(|section| section.id == id)?;
        Some((count.to_owned(), section.summary.get(key)?.as_u64()?))
    };
    let answers = SAME.iter().filter_map(answer).collect();
    // Calls that the kernel counts are not sent one by one, and those that are sent have two events each.
    let calls = sections.iter().find(|section| section.id == "calls").and_then(|it| it.summary.get("calls")?.as_u64());
    let events = calls.unwrap_or(delivered);
    Ok(Observed { events: Some(events), lost: Some(lost), partial: partial(&sites), answers, ..Observed::default() })
}

/// Reads a report of what was woven: its events are marks, or symbols of properties.
pub(super) fn read_inside(json: &[u8]) -> Result<Observed, String> {
    let report: Report =
        serde_json::from_slice(json).map_err(|error| format!("makes a report that is not understood: {error}"))?;
    let Report { completeness: Completeness { lost, sites, .. }, sections } = report;
    let section = sections.iter().find(|section| ["markers", "typestate"].contains(&section.id.as_str()));
    let section = section.ok_or("makes a report without markers or typestate")?;
    let number = |key: &str| section.summary.get(key).and_then(serde_json::Value::as_u64);
    // Calls that are chosen for it, objects and exceptions are told by sections of their own.
    let told = |of: &str, key: &str| sections.iter().find(|section| section.id == of)?.summary.get(key)?.as_u64();
    let own = [("calls", "calls"), ("alloc", "objects"), ("exceptions", "thrown")];
    let own = own.iter().find_map(|(of, key)| told(of, key));
    let events = own.or_else(|| number("events")).ok_or("makes a report that counts no events")?;
    let skipped = number("skipped_methods").filter(|skipped| *skipped > 0);
    let skipped = skipped.map(|skipped| format!("{skipped} methods could not be woven"));
    // The others tell of compiled code, which marks do not need.
    let own: Vec<Site> = sites.into_iter().filter(|site| site.probe.starts_with(OWN)).collect();
    let parts: Vec<String> = partial(&own).into_iter().chain(skipped).collect();
    Ok(Observed {
        events: Some(events),
        // Batches of words are lost as events of their site; what lies in them is told where it is known.
        lost: Some(number("lost_words").unwrap_or(0).max(lost)),
        partial: (!parts.is_empty()).then(|| parts.join(", ")),
        ..Observed::default()
    })
}

/// The sites that were not watched all the time, or not each time.
fn partial(sites: &[Site]) -> Option<String> {
    let not_all = |site: &&Site| site.filtered > 0 || site.state != ATTACHED;
    let mut parts: Vec<String> =
        sites.iter().filter(not_all).map(|Site { probe, state, .. }| format!("{probe} {state}")).collect();
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::micro;

    #[test]
    fn a_report_answers_in_the_words_of_the_micro_programs() {
        let mut json = Vec::new();
        crate::view::json::write(&crate::view::sample::report(), &mut json).unwrap();
        let observed = read(&json).unwrap();
        let expected = [("collections", 7), ("contended_enters", 1026), ("parks", 123_456), ("threads", 41)];
        assert_eq!(observed.answers, expected.map(|(name, count)| (name.to_owned(), count)).into());
        assert!(observed.events.is_some() && observed.lost.is_some());
    }

    #[test]
    fn marks_and_symbols_are_the_events_of_what_was_woven() {
        let report = |id: &str, summary: &str, lost: u32| {
            format!(
                r#"{{"completeness":{{"delivered":5,"lost":{lost}}},"sections":[{{"id":"{id}","summary":{{{summary}}}}}]}}"#
            )
        };
        let whole = report("markers", r#""events":700,"skipped_methods":0,"lost_words":0"#, 0);
        let expected = Observed { events: Some(700), lost: Some(0), ..Observed::default() };
        assert_eq!(read_inside(whole.as_bytes()), Ok(expected.clone()));
        let lossy = report("markers", r#""events":700,"skipped_methods":2,"lost_words":40"#, 3);
        let why = Some("2 methods could not be woven".to_owned());
        let lost = Some(40);
        assert_eq!(read_inside(lossy.as_bytes()), Ok(Observed { lost, partial: why, ..expected.clone() }));
        let calls = r#"{"completeness":{"delivered":5,"lost":0},"sections":[{"id":"calls","summary":{"calls":42}},{"id":"markers","summary":{}}]}"#;
        assert_eq!(read_inside(calls.as_bytes()).map(|observed| observed.events), Ok(Some(42)));
        let exceptions = calls.replace("calls", "exceptions").replace(r#""exceptions":42"#, r#""thrown":7"#);
        assert_eq!(read_inside(exceptions.as_bytes()).map(|observed| observed.events), Ok(Some(7)));
        let symbols = report("typestate", r#""events":9"#, 0);
        assert_eq!(read_inside(symbols.as_bytes()), Ok(Observed { events: Some(9), ..expected }));
        assert!(read_inside(report("gc", "", 0).as_bytes()).is_err());
        assert!(read_inside(report("markers", "", 0).as_bytes()).is_err());
    }

    #[test]
    fn what_is_not_whole_is_no_answer_and_what_is_no_report_is_an_error() {
        let text = br#"{"completeness":{"delivered":5,"lost":1},
            "sections":[{"id":"gc","summary":{"collections":"3"}},{"id":"locks","summary":{"parks":7}}]}"#;
        let observed = read(text).unwrap();
        assert_eq!(observed.answers, BTreeMap::from([("parks".to_owned(), 7)]));
        assert_eq!((observed.events, observed.lost), (Some(5), Some(1)));
        assert!(read(b"{}").is_err());
    }

    #[test]
    fn a_site_that_was_sampled_or_taken_off_makes_the_answer_partial() {
        let read = |filtered: u32, state: &str| {
            let site = format!(r#"{{"probe":"p","filtered":{filtered},"state":"{state}"}}"#);
            let text = format!(r#"{{"completeness":{{"delivered":5,"lost":0,"sites":[{site}]}},"sections":[]}}"#);
            read(text.as_bytes()).unwrap().partial
        };
        assert_eq!(read(0, ATTACHED), None);
        assert_eq!(read(1, ATTACHED).as_deref(), Some("p attached"));
        assert_eq!(read(0, "detached by the rate guard").as_deref(), Some("p detached by the rate guard"));
    }

    #[test]
    fn every_key_is_documented_and_every_count_is_made() {
        let lenses = include_str!("../../../../../docs/lenses.md");
        for (id, key, count) in SAME {
            let section = lenses.split(&format!("## `{id}`: ")).nth(1).unwrap().split("\n## ").next().unwrap();
            assert!(section.contains(&format!("`{key}`")), "{id}.{key}");
            assert!(micro::SOURCE.contains(&format!(" {count}=\"")), "{count}");
        }
    }

    #[test]
    fn fuzz_read_report() {
        crate::fuzz::samples("report", |json| {
            let _: (Result<Observed, String>, Result<Observed, String>) = (read(json), read_inside(json));
        });
    }
}
