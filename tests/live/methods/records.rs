//! Events and recordings hold what was counted.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{jdk, jtrace, report::Report};

use super::{Run, calls_agree};

#[test]
fn events_are_those_that_are_counted() -> Result<()> {
    let jdk = jdk::any()?;
    let (finished, expected) =
        Run::new(&jdk, "Exceptions", &["-l", "methods", "-I", "Exceptions::*", "--events"]).watch()?;
    let mut entries: BTreeMap<String, u64> = BTreeMap::new();
    for line in finished.text().lines() {
        let event: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        if event["event"] == "method_entry" || event["event"] == "method_return" {
            let method = event["method"].as_str().context("no method")?;
            ensure!(method.starts_with("Exceptions."), "nobody asked for {method}: {line}");
            *entries.entry(method.to_owned()).or_default() += u64::from(event["event"] == "method_entry");
        }
    }
    for (of, number) in expected.of("calls")?.into_iter().filter(|(of, _)| of.starts_with("Exceptions.")) {
        ensure!(entries.get(of).copied().unwrap_or_default() == number, "not {number} of {of} in {entries:?}");
    }
    Ok(())
}

#[test]
fn a_recording_counts_as_the_session_did() -> Result<()> {
    let jdk = jdk::any()?;
    for lens in ["methods", "calls"] {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name).display().to_string();
        let (json, recording) = (path("x.json"), path("x.jtrace"));
        let options = ["-l", lens, "-I", "Exceptions*::*", "-o", &json, "-o", &recording];
        let (_, expected) = Run::new(&jdk, "Exceptions", &options).watch()?;
        let live = std::fs::read(&json)?;
        let replayed = jtrace::succeed(&["report", &recording, "--json"])?;
        ensure!(live == replayed.stdout, "the report of {lens} is another one");
        if lens == "methods" {
            calls_agree(&Report::parse(&live)?, &expected)?;
        }
    }
    Ok(())
}
