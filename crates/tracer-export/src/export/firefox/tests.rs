//! What is written, read back table by table as the profiler does; `tests/live/firefox.rs` reads files of real sessions.

use std::io::Read as _;

use serde_json::Value;

use super::*;
use crate::export::played::{CONTENDED, played};

fn written(text: &str) -> Value {
    let (mut bytes, mut json) = (Vec::new(), String::new());
    played(text, Box::new(profile(&mut bytes)));
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut json).expect("gzip around UTF-8");
    serde_json::from_str(&json).expect("JSON")
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_else(|| panic!("{value} is no index"))
}

fn thread<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let mut threads = profile["threads"].as_array().expect("threads").iter();
    threads.find(|thread| thread["name"] == name).unwrap_or_else(|| panic!("no thread {name}: {profile}"))
}

/// The table of texts, which is the profile's or the thread's by the version of the form.
fn text<'a>(profile: &'a Value, thread: &'a Value, index: &Value) -> &'a str {
    let shared = &profile["shared"]["stringArray"];
    let all = if shared.is_array() { shared } else { &thread["stringArray"] };
    all[number(index)].as_str().unwrap_or_else(|| panic!("no text {index}"))
}

/// The names of a sample's frames, innermost first.
fn frames(profile: &Value, thread: &Value, sample: usize) -> Vec<String> {
    let mut at = &thread["samples"]["stack"][sample];
    let mut names = Vec::new();
    while !at.is_null() {
        let frame = &thread["stackTable"]["frame"][number(at)];
        let func = &thread["frameTable"]["func"][number(frame)];
        names.push(text(profile, thread, &thread["funcTable"]["name"][number(func)]).to_owned());
        at = &thread["stackTable"]["prefix"][number(at)];
    }
    names
}

/// Name, text, beginning and end of each marker, in ms.
fn markers(profile: &Value, thread: &Value) -> Vec<(String, String, f64, Option<f64>)> {
    let table = &thread["markers"];
    let marker = |at: usize| {
        let said = &table["data"][at]["text"];
        let said = said.as_str().unwrap_or_else(|| text(profile, thread, said));
        let time = |key: &str| table[key][at].as_f64();
        let name = text(profile, thread, &table["name"][at]);
        (name.to_owned(), said.to_owned(), time("startTime").expect("a start"), time("endTime"))
    };
    (0..number(&table["length"])).map(marker).collect()
}

#[test]
fn samples_are_of_their_threads_with_their_stacks() {
    let profile = written(CONTENDED);
    assert!((profile["meta"]["interval"].as_f64().expect("an interval") - 10.0).abs() < 1e-9, "{}", profile["meta"]);
    let first = thread(&profile, "first");
    assert_eq!((&first["tid"], number(&first["samples"]["length"])), (&"21".into(), 2));
    assert_eq!(frames(&profile, first, 1), ["a.Cart.add:42", "java.lang.Thread.run:840"]);
    let second = thread(&profile, "second");
    assert_eq!(frames(&profile, second, 0), ["<no stack taken>"]);
    let categories = profile["meta"]["categories"].as_array().expect("categories");
    let category = &categories[number(&first["frameTable"]["category"][0])]["name"];
    assert!(category.as_str().is_some_and(|name| name.starts_with("Java")), "{category}");
}

#[test]
fn what_began_and_ended_is_a_marker() {
    let profile = written(CONTENDED);
    let of = |name: &str| markers(&profile, thread(&profile, name));
    let marker = |name: &str, text: &str, from, to| (name.to_owned(), text.to_owned(), from, Some(to));
    assert_eq!(of("second"), [marker("blocked on a.Account", "at: a.Cart.add:42; held by: first", 1.0, 4.0)]);
    assert_eq!(of("first"), [], "its park did not end");
    // The thread that stands for the process has its name.
    let whole = of("a.Main");
    for expected in [
        marker("GC pauses", "System.gc()", 6.0, 9.0),
        marker("VM operations", "G1CollectFull", 6.0, 9.0),
        marker("Safepoints", "safepoint", 5.0, 10.0),
    ] {
        assert!(whole.contains(&expected), "{expected:?} is not in {whole:?}");
    }
    let about: Vec<_> = whole.iter().filter(|(name, ..)| name == "About this session").collect();
    assert!(about.iter().any(|(_, text, ..)| text.contains("emitted = ")), "{about:?}");
}

#[test]
fn hostile_names_are_visible_and_short() {
    let name = format!("evil\\e[2J\u{202e}{}", "x".repeat(4000));
    let profile =
        written(&format!("thread 21 \"{name}\"\nlenses cpu\n+1ms tid 21 cpu_sample period=1\nend +1s duration\n"));
    let text = profile.to_string();
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\\u001b"), "{text}");
    let threads = profile["threads"].as_array().expect("threads");
    assert!(threads.iter().all(|thread| thread["name"].as_str().is_some_and(|name| name.len() <= 2 * LONGEST)));
}

#[test]
fn what_is_beyond_the_bound_is_counted() {
    let mut bytes = Vec::new();
    let mut tables = Tables::new(&mut bytes);
    tables.entries = MAX_ENTRIES - 1;
    assert!(tables.has_room() && !tables.has_room() && !tables.has_room());
    assert_eq!(tables.entries - MAX_ENTRIES, 2);
}
