//! Tags and version of recordings, and sizes that `docs/output-formats.md` names.

use std::collections::BTreeSet;

use super::{assert_same, read};
use crate::source::recording;

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
    let source = read("tracer/src/source/recording.rs");
    // `const TAG_START: u32 = 1;`
    let tag = |line: &str| {
        let (name, number) = line.strip_prefix("const TAG_")?.split_once(": u32 = ")?;
        Some(format!("{} {}", number.trim_end_matches(';'), name.to_lowercase()))
    };
    let code: BTreeSet<String> = source.lines().filter_map(tag).collect();
    assert_same("tags of recordings", &code, &documented);
}
