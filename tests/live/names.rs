//! Names of threads and classes that are attacks on terminals, HTML, JSON and line-based formats.

use std::fs;

use anyhow::{Context as _, Result};
use tests::{jdk, jtrace::Session, jvm::Launch, report::Report};

/// Characters that steer a terminal or hide text: controls except line ends, and bidirectional and invisible ones.
fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[test]
fn hostile_names_are_harmless_in_every_view() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        let mut jvm = Launch::new(&jdk, "names", "Names").start()?;
        let outputs = ["-o", &path("x.json"), "-o", &path("x.txt"), "-o", &path("x.ndjson")];
        let session = Session::attach(jvm.pid(), &outputs)?;
        let counts = jvm.work()?;
        let finished = session.stop()?;
        jvm.finish()?;

        let text = fs::read_to_string(path("x.txt")).context("the text view is valid UTF-8")?;
        let harmful: Vec<char> = text.chars().filter(|c| is_harmful(*c)).collect();
        assert!(harmful.is_empty(), "JDK {}: {harmful:?}", jdk.release);
        assert!(!text.lines().any(|line| line.starts_with("c\tERROR") || line.starts_with("c ERROR")), "a forged line");

        for json in [finished.stdout, fs::read(path("x.json"))?] {
            assert!(!json.iter().any(|byte| *byte < 0x20 && *byte != b'\n'), "control bytes in JSON");
            let report = Report::parse(&json)?;
            assert_eq!(report.summary("threads", "started")?, counts.get("threads")?);
            assert!(report.summary("classes", "loaded")? >= counts.get("classes")?);
            report.nothing_lost()?;
        }
        for line in fs::read_to_string(path("x.ndjson"))?.lines() {
            let _: serde_json::Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
            assert!(!line.bytes().any(|byte| byte < 0x20), "control bytes in a line");
        }
    }
    Ok(())
}
