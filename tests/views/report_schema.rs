//! Holds `docs/report.schema.json` to what the JSON view writes: the sample report of the views' tests is valid, and
//! documents that break a promise of the format are not. Needs neither root nor a JVM.

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../docs/report.schema.json");
const SAMPLE: &str = include_str!("../fixtures/report.sample.json");

/// Breaks a promise of a valid document.
type Change = fn(&mut Value);

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a JSON schema");
    jsonschema::draft202012::new(&schema).expect("the schema compiles")
}

fn sample() -> Value {
    serde_json::from_str(SAMPLE).expect("the sample is JSON")
}

#[test]
fn sample_report_is_valid() {
    let (validator, sample) = (validator(), sample());
    let errors: Vec<_> =
        validator.iter_errors(&sample).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_kind_of_shape_is_in_the_sample() {
    let sample = sample();
    for kind in ["table", "tree", "histogram", "timeline", "profile"] {
        let mut shapes = sample["sections"].as_array().unwrap().iter().flat_map(|s| s["shapes"].as_array().unwrap());
        assert!(shapes.any(|shape| shape["kind"] == kind), "{kind}");
    }
}

#[test]
fn documents_that_break_a_promise_are_invalid() {
    let breaks: [(&str, Change); 12] = [
        ("another version", |report| report["schema"] = json!("jtrace-report/2")),
        ("unknown key", |report| report["surprise"] = json!(1)),
        ("no completeness", |report| {
            report.as_object_mut().unwrap().remove("completeness");
        }),
        ("lost as a text", |report| report["completeness"]["lost"] = json!("45")),
        ("negative count", |report| report["completeness"]["emitted"] = json!(-1)),
        ("unknown severity", |report| report["findings"][0]["severity"] = json!("fatal")),
        ("unknown unit", |report| report["sections"][0]["shapes"][1]["columns"][0]["unit"] = json!("ms")),
        ("cell that is an object", |report| report["sections"][0]["shapes"][1]["rows"][0][0] = json!({})),
        ("unknown kind of frame", |report| {
            report["sections"][3]["shapes"][0]["frames"][0]["kind"] = json!("java");
        }),
        ("frame by its name", |report| {
            report["sections"][3]["shapes"][0]["stacks"][0]["frames"][0] = json!("com.shop.Cart.add");
        }),
        ("stack without its thread", |report| {
            report["sections"][3]["shapes"][0]["stacks"][0].as_object_mut().unwrap().remove("thread");
        }),
        ("summary with a text", |report| report["sections"][0]["summary"]["collections"] = json!("7")),
    ];
    let validator = validator();
    for (what, change) in breaks {
        let mut report = sample();
        change(&mut report);
        assert!(!validator.is_valid(&report), "{what}");
    }
}
