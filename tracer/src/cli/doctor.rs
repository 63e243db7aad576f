//! `jtrace doctor [PID]`: what works here, what does not, what to change.

mod machine;

mod target;

use std::io;

use serde::Serialize;

use super::apart;
use crate::text::escape;

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As jtrace needs it.
    Ok,
    /// Works, with less.
    Limited,
    /// jtrace cannot work.
    Missing,
}

/// One line of the examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// What it came to.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to change.
    pub change: Option<String>,
}

/// All lines.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// The machine.
    pub machine: Vec<Check>,
    /// The target, where one was named.
    pub target: Vec<Check>,
}

impl Check {
    fn ok(name: impl Into<String>, found: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Ok, found: found.into(), change: None }
    }

    fn limited(name: impl Into<String>, found: impl Into<String>, change: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Limited, found: found.into(), change: Some(change.into()) }
    }

    fn missing(name: impl Into<String>, found: impl Into<String>, change: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Missing, found: found.into(), change: Some(change.into()) }
    }
}

/// Looks at the machine, and at a target if one is named.
///
/// # Errors
/// What looking at the target does not take cannot be given up.
pub fn examine(pid: Option<u32>) -> io::Result<Examination> {
    let machine = machine::checks();
    let target = match pid {
        // The machine was tried with all that jtrace has; the target is parsed with as little as possible.
        Some(pid) => apart::only_look().map(|()| target::checks(pid))?,
        None => Vec::new(),
    };
    Ok(Examination { machine, target })
}

impl Examination {
    /// Whether jtrace can work here.
    pub fn works(&self) -> bool {
        self.machine.iter().chain(&self.target).all(|check| check.state != State::Missing)
    }

    /// Writes a line a check.
    pub fn write_text(&self, out: &mut impl io::Write) -> io::Result<()> {
        let all = || self.machine.iter().chain(&self.target);
        let width = all().map(|check| check.name.chars().count()).max().unwrap_or_default();
        for (title, checks) in [("machine", &self.machine), ("target", &self.target)] {
            if !checks.is_empty() {
                writeln!(out, "{title}")?;
            }
            for Check { name, state, found, change } in checks {
                let state = match state {
                    State::Ok => "ok",
                    State::Limited => "limited",
                    State::Missing => "MISSING",
                };
                writeln!(out, "  {state:7}  {name:width$}  {}", escape::terminal(found))?;
                if let Some(change) = change {
                    writeln!(out, "  {:7}  {:width$}  -> {}", "", "", escape::terminal(change))?;
                }
            }
        }
        let limited = all().filter(|check| check.state == State::Limited).count();
        let missing = all().filter(|check| check.state == State::Missing).count();
        match (missing, limited) {
            (0, 0) => writeln!(out, "jtrace works here"),
            (0, limited) => writeln!(out, "jtrace works here; limited: {limited}"),
            (missing, _) => writeln!(out, "jtrace cannot work here; missing: {missing}"),
        }
    }

    /// Writes one JSON object.
    pub fn write_json(&self, out: &mut impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_found_and_what_to_change() {
        let examination = Examination {
            machine: vec![Check::ok("kernel", "6.18"), Check::missing("privileges", "no CAP_BPF", "use sudo")],
            target: Vec::new(),
        };
        let mut out = Vec::new();
        examination.write_text(&mut out).unwrap();
        let expected = "\
machine
  ok       kernel      6.18
  MISSING  privileges  no CAP_BPF
                       -> use sudo
jtrace cannot work here; missing: 1
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(!examination.works());
    }

    #[test]
    fn a_process_that_is_not_there_is_missing() {
        // As `examine` does, which would give up what other tests of this process need.
        let examination = Examination { machine: machine::checks(), target: target::checks(u32::MAX) };
        assert!(examination.machine.iter().any(|check| check.name == "kernel"));
        assert!(matches!(&examination.target[..], [Check { state: State::Missing, .. }]));
    }
}
