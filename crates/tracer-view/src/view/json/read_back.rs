//! What is written is read again, and what was changed on the way is refused with what it is.

use std::io;

use serde_json::{Value, json};

use crate::{
    fuzz,
    report::{ReadError, Report},
    view::{html, json as form, ndjson, sample, text},
};

fn written(report: &Report) -> Vec<u8> {
    let mut out = Vec::new();
    form::write(report, &mut out).unwrap();
    out
}

fn changed(change: impl FnOnce(&mut Value)) -> Result<Report, ReadError> {
    let mut value: Value = serde_json::from_slice(&written(&sample::report())).unwrap();
    change(&mut value);
    Report::read(&serde_json::to_vec(&value).unwrap())
}

#[test]
fn what_is_read_is_written_byte_for_byte() {
    let document = written(&sample::report());
    let read = Report::read(&document).unwrap();
    assert_eq!(String::from_utf8(written(&read)).unwrap(), String::from_utf8(document).unwrap());
}

#[test]
fn other_forms_are_refused_with_what_they_are() {
    let newer = changed(|value| value["schema"] = json!("jtrace-report/2")).unwrap_err().to_string();
    assert!(newer.contains("\"jtrace-report/2\"") && newer.contains("\"jtrace-report/1\""), "{newer}");
    let more = changed(|value| value["cost"]["of a newer jtrace"] = json!(1));
    assert!(more.is_ok(), "new keys may come within a version");
    assert!(Report::read(b"{}").unwrap_err().to_string().contains("schema"));
    assert!(Report::read(b"").is_err());
    let deep = [b"[".repeat(300), b"]".repeat(300)].concat();
    assert!(Report::read(&deep).is_err());
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let short = changed(|value| {
        value["sections"][1]["shapes"][0]["rows"][0].as_array_mut().unwrap().pop();
    });
    assert!(short.unwrap_err().to_string().contains("fewer cells"));
    let uneven = changed(|value| {
        value["sections"][2]["shapes"][1]["series"][1]["values"].as_array_mut().unwrap().pop();
    });
    assert!(uneven.unwrap_err().to_string().contains("different lengths"));
}

#[test]
fn fuzz_reports() {
    fuzz::samples("report", |document| {
        if let Ok(report) = Report::read(document) {
            text::write(&report, &text::TextOptions::default(), &mut io::sink()).unwrap();
            html::write(&report, &mut io::sink()).unwrap();
            ndjson::write(&report, &mut io::sink()).unwrap();
        }
    });
}
