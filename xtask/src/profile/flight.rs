//! The JDK's flight recorder: takes execution samples of a running JVM, and gives the methods that they were in.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::write;
use crate::{process, workspace};

/// Nothing but samples of running Java code, as often as it can.
const SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ExecutionSample">
    <setting name="enabled">true</setting>
    <setting name="period">10 ms</setting>
  </event>
</configuration>
"#;

/// A flight recording that runs.
pub(super) struct Flight {
    pid: String,
    file: PathBuf,
}

impl Flight {
    /// Starts it.
    pub(super) fn start(pid: &str, directory: &Path) -> Result<Self> {
        let settings = directory.join("samples.jfc");
        write(&settings, SETTINGS)?;
        let flight = Self { pid: pid.to_owned(), file: directory.join("x.jfr") };
        flight.command(&["JFR.start", "name=x", &format!("settings={}", settings.display())])?;
        Ok(flight)
    }

    /// Ends it; gives the samples by the innermost method.
    pub(super) fn stop(self) -> Result<BTreeMap<String, u64>> {
        self.command(&["JFR.stop", "name=x", &format!("filename={}", self.file.display())])?;
        let mut jfr = process::command(workspace::jdk_tool("jfr"));
        jfr.args(["print", "--json", "--stack-depth", "1", "--events", "jdk.ExecutionSample"]).arg(&self.file);
        methods(&process::output(&mut jfr)?)
    }

    fn command(&self, words: &[&str]) -> Result<()> {
        process::output(process::command(workspace::jdk_tool("jcmd")).arg(&self.pid).args(words)).map(drop)
    }
}

/// Samples by the innermost method, from what `jfr print --json` prints.
fn methods(json: &str) -> Result<BTreeMap<String, u64>> {
    let printed: Value = serde_json::from_str(json).context("the flight recorder printed no JSON")?;
    let events = printed["recording"]["events"].as_array().context("the flight recorder printed no events")?;
    let mut methods = BTreeMap::new();
    for event in events {
        let method = &event["values"]["stackTrace"]["frames"][0]["method"];
        if let (Some(class), Some(name)) = (method["type"]["name"].as_str(), method["name"].as_str()) {
            *methods.entry(readable(&format!("{}.{name}", class.replace('/', ".")))).or_default() += 1;
        }
    }
    Ok(methods)
}

/// A method's name without the address that the name of a hidden class holds, which tools set off in different ways.
pub(super) fn readable(name: &str) -> String {
    let Some(at) = name.find("0x") else { return name.to_owned() };
    let digits = name[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(name.len(), |end| at + 2 + end);
    format!("{}{}", name[..at].trim_end_matches(['+', '/', '.']), &name[digits..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_by_their_innermost_method() {
        let event = |class, name| {
            format!(
                r#"{{"values": {{"stackTrace": {{"frames": [{{"method": {{"type": {{"name": "{class}"}}, "name": "{name}"}}}}]}}}}}}"#
            )
        };
        let events =
            [event("java/util/HashMap", "get"), event("java/util/HashMap", "get"), event("A$$Lambda+0x12", "run")];
        let json = format!(r#"{{"recording": {{"events": [{}]}}}}"#, events.join(","));
        let methods = methods(&json).unwrap();
        assert_eq!(methods.get("java.util.HashMap.get"), Some(&2));
        assert_eq!(methods.get("A$$Lambda.run"), Some(&1));
        assert!(super::methods("{}").is_err());
    }

    #[test]
    fn addresses_of_hidden_classes_are_left_out() {
        for name in ["a.B$$Lambda/0x0001f.get", "a.B$$Lambda+0x0001f.get", "a.B$$Lambda.0x0001f.get", "a.B$$Lambda.get"]
        {
            assert_eq!(readable(name), "a.B$$Lambda.get");
        }
    }
}
