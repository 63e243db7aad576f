//! Tags and version of recordings, and events of flight recordings, as `docs/output-formats.md` names them.

use std::collections::BTreeSet;

use super::{assert_same, read};
use crate::{export::jfr, source::recording};

#[test]
fn every_event_of_a_flight_recording_is_documented() {
    let text = read("docs/output-formats.md");
    let flight = text.split("## Flight recordings").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows = flight.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let names = rows.flat_map(|(cell, _)| cell.split([',', ' ', '`'])).filter(|name| name.contains('.'));
    let documented: BTreeSet<String> = names.map(str::to_owned).collect();
    assert_same("events of flight recordings", &jfr::event_names().map(str::to_owned).collect(), &documented);
}

#[test]
fn the_version_and_every_tag_of_a_recording_are_documented() {
    let text = read("docs/output-formats.md");
    let recordings = text.split("## Recordings").nth(1).unwrap_or_default();
    assert!(recordings.contains(&format!("version u16 ({})", recording::VERSION)), "version {}", recording::VERSION);
    // `| 1 start | JSON: ... |`
    let row = |line: &str| {
        let (number, name) = line.strip_prefix("| ")?.split_once(" |")?.0.split_once(' ')?;
        number.parse::<u32>().ok().map(|number| format!("{number} {name}"))
    };
    let documented: BTreeSet<String> = recordings.lines().filter_map(row).collect();
    let source = read("crates/tracer-source/src/source/recording.rs");
    // `const TAG_START: u32 = 1;`
    let tag = |line: &str| {
        let (name, number) = line.strip_prefix("const TAG_")?.split_once(": u32 = ")?;
        Some(format!("{} {}", number.trim_end_matches(';'), name.to_lowercase()))
    };
    let code: BTreeSet<String> = source.lines().filter_map(tag).collect();
    assert_same("tags of recordings", &code, &documented);
}
