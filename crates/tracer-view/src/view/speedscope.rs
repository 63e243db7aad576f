//! A profile in the file format of speedscope: one profile a thread, amounts as weights.
//!
//! Weights are shown as time or memory in the unit of the profile. Stacks stand side by side from the largest on, not in the
//! order of time, which a profile does not know.

use std::{collections::BTreeMap, io};

use serde::Serialize;

use super::{
    escape,
    symbol::{Lines, Symbols},
};
use crate::report::{Profile, ProfileThread, Unit};

/// Which format it is. It is a name: nothing is fetched from there.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex")]
    active: usize,
    shared: Shared,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "sampled", rename_all = "camelCase")]
struct Sampled {
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
}

/// Writes the file.
pub fn write(profile: &Profile, lines: Lines, out: &mut dyn io::Write) -> io::Result<()> {
    let symbols = Symbols::new(profile, lines);
    let frames = symbols.all().iter().map(|symbol| Frame {
        name: escape::terminal(&symbol.label()).into_owned(),
        file: symbol.frame.and_then(|frame| frame.file.as_deref().map(|file| escape::terminal(file).into_owned())),
        line: symbol.line,
    });
    let shared = Shared { frames: frames.collect() };
    // A thread without a stack has no profile; stacks without a thread come last.
    let mut threads: BTreeMap<u32, Sampled> = BTreeMap::new();
    for stack in &profile.stacks {
        let thread = profile.thread(stack);
        let place = stack.thread.filter(|_| thread.is_some()).unwrap_or(u32::MAX);
        let sampled = threads.entry(place).or_insert_with(|| Sampled {
            name: thread.map_or_else(|| "no thread".to_owned(), thread_name),
            unit: unit(profile.unit),
            start_value: 0,
            end_value: 0,
            samples: Vec::new(),
            weights: Vec::new(),
        });
        sampled.end_value = sampled.end_value.saturating_add(stack.value);
        sampled.samples.push(symbols.stack(stack).collect());
        sampled.weights.push(stack.value);
    }
    let mut profiles: Vec<Sampled> = threads.into_values().collect();
    // The busiest thread is what a reader wants to see first; the order among equals stays.
    profiles.sort_by_key(|sampled| std::cmp::Reverse(sampled.end_value));
    let file = File {
        schema: SCHEMA,
        name: escape::terminal(&profile.title).into_owned(),
        exporter: concat!("jtrace ", env!("CARGO_PKG_VERSION")),
        active: 0,
        shared,
        profiles,
    };
    super::json::write_line(&file, out)
}

fn thread_name(thread: &ProfileThread) -> String {
    format!("{} ({})", escape::terminal(&thread.name), thread.tid)
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Text | Unit::Count | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond | Unit::Address => "none",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::view::sample;

    fn written(profile: &Profile, lines: Lines) -> Value {
        let mut out = Vec::new();
        write(profile, lines, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    /// The rules of the published schema, one by one, and those that the program asks for besides.
    fn check(file: &Value, total: u64) {
        assert_eq!(file["$schema"], SCHEMA);
        let frames = file["shared"]["frames"].as_array().unwrap();
        for frame in frames {
            assert!(frame["name"].is_string());
            assert!(frame.get("file").is_none_or(Value::is_string));
            assert!(frame.get("line").is_none_or(Value::is_u64));
            assert!(frame.as_object().unwrap().keys().all(|key| ["name", "file", "line"].contains(&key.as_str())));
        }
        let profiles = file["profiles"].as_array().unwrap();
        let mut sum = 0;
        for profile in profiles {
            assert_eq!(profile["type"], "sampled");
            assert!(profile["name"].is_string());
            assert!(["none", "nanoseconds", "bytes"].contains(&profile["unit"].as_str().unwrap()));
            let (samples, weights) = (profile["samples"].as_array().unwrap(), profile["weights"].as_array().unwrap());
            assert_eq!(samples.len(), weights.len());
            for sample in samples {
                let ids = sample.as_array().unwrap();
                assert!(!ids.is_empty());
                assert!(ids.iter().all(|id| usize::try_from(id.as_u64().unwrap()).unwrap() < frames.len()));
            }
            let weight: u64 = weights.iter().map(|weight| weight.as_u64().unwrap()).sum();
            let (start, end) = (profile["startValue"].as_u64().unwrap(), profile["endValue"].as_u64().unwrap());
            assert_eq!(end - start, weight);
            sum += weight;
        }
        assert_eq!(sum, total);
        assert!(file["activeProfileIndex"].as_u64().unwrap() < profiles.len().max(1) as u64);
    }

    #[test]
    fn file_keeps_the_rules_of_the_format() {
        let profile = sample::profile();
        let file = written(&profile, Lines::Shown);
        check(&file, profile.total());
        let names: Vec<_> = file["profiles"].as_array().unwrap().iter().map(|profile| &profile["name"]).collect();
        assert_eq!(names.len(), 4, "three threads and none: {names:?}");
        assert_eq!(names[0], "http-worker-1 (21)");
        assert_eq!(file["profiles"][0]["unit"], "nanoseconds");
    }

    #[test]
    fn hostile_names_are_visible_escapes() {
        let text = written(&sample::profile(), Lines::Merged).to_string();
        assert!(text.contains("\\\\x1b[31mRed"));
        assert!(!text.contains(['\u{202e}', '\u{9b}', '\x1b']));
    }

    proptest::proptest! {
        #[test]
        fn any_profile_keeps_the_rules(profile in sample::any_profile()) {
            check(&written(&profile, Lines::Shown), profile.total());
            check(&written(&profile, Lines::Merged), profile.total());
        }
    }
}
