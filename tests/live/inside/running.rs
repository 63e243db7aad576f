//! A method that runs while its class is exchanged goes on in the interpreter: the report names it.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::jdk::{self, Jdk};

use super::{start, watch};

/// What is woven, and which of its methods wait for a word from the test meanwhile.
const WOVEN: [(&str, Option<&str>); 2] = [("fib=Fib::fib", Some("Fib::main")), ("get=java.util.ArrayList::get", None)];

#[test]
fn methods_that_run_while_their_class_is_exchanged_are_named() -> Result<()> {
    for jdk in jdk::all()? {
        for (marker, running) in WOVEN {
            visit(&jdk, marker, running).with_context(|| format!("{marker} on JDK {}", jdk.release))?;
        }
    }
    Ok(())
}

fn visit(jdk: &Jdk, marker: &str, running: Option<&str>) -> Result<()> {
    let (report, _) = watch(start(jdk, "methods", "Fib", &[], &[])?, "markers", &["--marker", marker])?;
    let notes = report.section("markers")?["notes"].as_array().cloned().unwrap_or_default();
    let said: Vec<&str> = notes.iter().filter_map(Value::as_str).filter(|note| note.contains("were running")).collect();
    let Some(running) = running else {
        ensure!(said.is_empty(), "{said:?}");
        return Ok(());
    };
    for what in ["weaving", "restoring"] {
        let sentence = format!("When {what} began, these methods of the exchanged classes were running: {running}. ");
        ensure!(said.iter().any(|note| note.starts_with(&sentence)), "{what}: {said:?}");
    }
    ensure!(said.len() == 2, "{said:?}");
    Ok(())
}
