//! Three programs whose memory somebody had to understand once, each as it was and mended: what held nearly all of the heap stands first,
//! and is gone in the mended one.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{jdk, jvm::Launch};

use super::take;

const DEPTH: u64 = 999;
/// As many as make the studies larger than all that the JDK has in a heap.
const PROOFS: u64 = 1000;
const NODES: u64 = 200_000;
const CONNECTIONS: u64 = 300;

fn snapshot(study: &str, state: &str, size: u64) -> Result<Value> {
    let arguments = [study, state, &size.to_string()];
    let mut jvm =
        Launch::new(&jdk::any()?, "heap", "CaseStudies").flags(&["-Xmx400m"]).arguments(&arguments).start()?;
    let snapshot = take(&jvm.pid().to_string(), &[])?;
    jvm.finish()?;
    Ok(snapshot)
}

/// What an object, or a class, would free of the whole.
fn share(row: &Value, snapshot: &Value) -> Result<f64> {
    let number = |value: &Value| value.as_f64().with_context(|| format!("no number: {value}"));
    Ok(number(&row["retained_bytes"])? / number(&snapshot["bytes"])?)
}

/// The object that would free most, without those that stand for classes and load them, which hold all that is static.
fn first(snapshot: &Value) -> Result<&Value> {
    let rows = snapshot["biggest"].as_array().context("no objects")?;
    let is_code = |row: &&Value| {
        row["class"].as_str().is_none_or(|class| class.starts_with("class ") || class.contains("ClassLoader"))
    };
    rows.iter().find(|row| !is_code(row)).context("only classes")
}

fn objects(snapshot: &Value, class: &str) -> u64 {
    let rows = snapshot["by_class"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().find(|row| row["class"] == class).map_or(0, |row| row["objects"].as_u64().unwrap_or(0))
}

/// Copies of what is there already, that one of the program's fields leads to: how many, and of how many different ones.
fn copies(snapshot: &Value, field: &str) -> (u64, u64) {
    let kinds = snapshot["waste"]["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    let rows =
        kinds.iter().filter(|kind| kind["kind"] == "duplicate_arrays").filter_map(|kind| kind["rows"].as_array());
    let row = rows
        .flatten()
        .find(|row| row["held_by"].as_array().and_then(|way| way.last()).is_some_and(|last| last == field));
    let number = |key: &str| row.and_then(|row| row[key].as_u64()).unwrap_or(0);
    (number("objects"), number("contents"))
}

#[test]
fn terms_that_are_built_again_are_copies_of_what_is_there() -> Result<()> {
    let (was, mended) = (snapshot("prover", "as-it-was", PROOFS)?, snapshot("prover", "mended", PROOFS)?);
    ensure!(objects(&was, "CaseStudies$Term") == DEPTH * (PROOFS + 1), "{}", was["by_class"][0]);
    let proofs = first(&was)?;
    let way = proofs["path"]["steps"].as_array().context("no way")?;
    ensure!(share(proofs, &was)? > 0.9 && way.last().is_some_and(|step| step["by"] == "PROOFS"), "{proofs}");
    // Each name is there once and then once more for each proof.
    ensure!(copies(&was, "CaseStudies$Term.name") == (DEPTH * PROOFS, DEPTH), "{}", was["waste"]);
    ensure!(objects(&mended, "CaseStudies$Term") == DEPTH, "{}", mended["by_class"][0]);
    ensure!(copies(&mended, "CaseStudies$Term.name") == (0, 0), "{}", mended["waste"]);
    Ok(())
}

#[test]
fn what_a_parser_keeps_is_held_by_its_environment() -> Result<()> {
    let (was, mended) = (snapshot("parser", "as-it-was", NODES)?, snapshot("parser", "mended", NODES)?);
    let environment = first(&was)?;
    ensure!(environment["class"] == "CaseStudies$Parser$Environment", "{environment}");
    ensure!(share(environment, &was)? > 0.99, "{environment}");
    let way = environment["path"]["steps"].as_array().context("no way")?;
    ensure!(way.last().is_some_and(|step| step["by"] == "ENVIRONMENT"), "{environment}");
    ensure!(objects(&mended, "CaseStudies$Parser$Tree") == 0, "{}", mended["by_class"][0]);
    Ok(())
}

#[test]
fn channels_that_cleaners_hold_are_told_to_be_held_by_them() -> Result<()> {
    let (was, mended) = (snapshot("server", "as-it-was", CONNECTIONS)?, snapshot("server", "mended", CONNECTIONS)?);
    let rows = was["by_class"].as_array().context("no classes")?;
    let channels = rows.iter().find(|row| row["class"] == "CaseStudies$Server$Channel").context("no channels")?;
    ensure!(channels["objects"] == CONNECTIONS && share(channels, &was)? > 0.88, "{channels}");
    let way = channels["merged_path"].as_array().context("no way")?;
    let steps: Vec<&str> = way.iter().filter_map(|step| step["by"].as_str()).collect();
    ensure!(steps.iter().any(|step| step.contains("PhantomCleanableRef.action")), "{steps:?}");
    ensure!(objects(&mended, "CaseStudies$Server$Channel") == 0, "{}", mended["by_class"][0]);
    Ok(())
}
