//! The JDK's flight recorder: takes execution samples of a running JVM, and gives the methods that they were in.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::write;
use crate::{process, workspace};

/// Which of the recorder's samplers is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampler {
    /// Since JDK 25: a thread is asked after so much CPU time of its own, and a sample that is lost is counted.
    CpuTime,
    /// Before: threads are asked in turns, and what cannot be unwound is left out silently. On some programs that is half of
    /// all samples, and not of each method the same part.
    Execution,
}

impl Sampler {
    /// Whether it sees every method alike.
    pub(super) const fn is_fair(self) -> bool {
        matches!(self, Self::CpuTime)
    }

    /// Whether machine code counts that a Java method has called.
    pub(super) const fn sees_native(self) -> bool {
        matches!(self, Self::CpuTime)
    }

    /// The name of its events.
    pub(super) const fn event(self) -> &'static str {
        match self {
            Self::CpuTime => "jdk.CPUTimeSample",
            Self::Execution => "jdk.ExecutionSample",
        }
    }

    /// Settings for nothing but samples of running Java code, as often as it can.
    fn settings(self) -> String {
        let (event, rate) = match self {
            Self::CpuTime => (self.event(), "throttle\">2 ms"),
            Self::Execution => (self.event(), "period\">10 ms"),
        };
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0"><event name="{event}">
  <setting name="enabled">true</setting><setting name="{rate}</setting>
</event></configuration>
"#
        )
    }
}

/// A flight recording that runs.
pub(super) struct Flight {
    pid: String,
    file: PathBuf,
    sampler: Sampler,
}

impl Flight {
    /// Starts it.
    pub(super) fn start(pid: &str, directory: &Path, sampler: Sampler) -> Result<Self> {
        let settings = directory.join("samples.jfc");
        write(&settings, &sampler.settings())?;
        let flight = Self { pid: pid.to_owned(), file: directory.join("x.jfr"), sampler };
        flight.command(&["JFR.start", "name=x", &format!("settings={}", settings.display())])?;
        Ok(flight)
    }

    /// Ends it; gives the samples by the innermost method.
    pub(super) fn stop(self) -> Result<BTreeMap<String, u64>> {
        self.command(&["JFR.stop", "name=x", &format!("filename={}", self.file.display())])?;
        let mut jfr = process::command(workspace::jdk_tool("jfr"));
        jfr.args(["print", "--json", "--stack-depth", "1", "--events", self.sampler.event()]).arg(&self.file);
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
