//! bpftrace: one line of a program for each question, its answer as JSON.

use std::{collections::BTreeMap, process::Command};

use rustix::process::Signal;
use serde_json::Value;

use super::{
    configuration,
    question::{By, QUESTIONS, Question},
    target,
    tool::{self, Ended, Tool},
};
use crate::bench::{Error, configuration::Configuration, folder::Folder, observer::Observer, results::Observed};

/// Longest name that it reads: it lies on the program's stack of 512 bytes, twice for methods.
const MAX_NAME: &str = "128";
/// Most classes or methods that it counts apart. By default it is 4096, and what is beyond is dropped without a word.
const MAX_KEYS: &str = "65536";

/// A configuration for each question.
pub(super) fn all() -> Vec<Configuration> {
    let one = |question: &'static Question| {
        let name = format!("bpftrace-{}", question.name);
        configuration(&name, question.what("bpftrace"), question.flags(), Bpftrace { question, running: None })
    };
    QUESTIONS.iter().map(one).collect()
}

#[derive(Debug)]
struct Bpftrace {
    question: &'static Question,
    running: Option<Tool>,
}

impl Observer for Bpftrace {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        let version = tool::say("bpftrace", &["--version"]).ok_or_else(|| Error::Missing {
            what: "bpftrace".to_owned(),
            hint: "apt-get install bpftrace".to_owned(),
        })?;
        Ok(("bpftrace".to_owned(), version.trim_start_matches("bpftrace v").to_owned()))
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        let mut command = Command::new("bpftrace");
        command.env("BPFTRACE_STRLEN", MAX_NAME).env("BPFTRACE_MAP_KEYS_MAX", MAX_KEYS).args([
            "-f",
            "json",
            "-p",
            &pid.to_string(),
            "-e",
            &program(self.question, &target::libjvm(pid)?),
        ]);
        // It prints what BEGIN printed after the last probe is attached.
        self.running = Some(Tool::start("bpftrace", &command, folder, pid, BEGUN)?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let running = self.running.take().ok_or_else(|| Error::program("bpftrace", "was not started"))?;
        // 0.17 looks whether it was told to end only where a signal interrupts its waiting: one that comes in between is missed,
        // and it goes on for ever. It takes SIGTERM as SIGINT; a second SIGINT would end it in the middle of its answer.
        let Ended { mut observed, stdout, stderr: _ } = running.stop(Some(Signal::TERM))?;
        let Said { hits, lost } = Said::parse(&stdout).map_err(|what| Error::program("bpftrace", what))?;
        // A single number is printed also where it is 0; names only where there are some.
        if self.question.by == By::Nothing && hits.is_empty() {
            return Err(Error::program("bpftrace", "does not say what it counted"));
        }
        self.question.answer(&hits, &mut observed);
        observed.lost = Some(lost);
        Ok(observed)
    }
}

/// The line with which it says that it watches.
const BEGUN: &str = r#"{"type": "printf", "data": "READY"#;

/// The program for a question.
fn program(question: &Question, libjvm: &str) -> String {
    let Question { provider, probe, by, .. } = question;
    let key = match by {
        By::Nothing => "",
        By::Class => "[str(arg1, arg2)]",
        By::Method => "[str(arg1, arg2), str(arg3, arg4)]",
    };
    format!(r#"BEGIN {{ printf("READY\n"); }} usdt:{libjvm}:{provider}:{probe} {{ @hits{key} = count(); }}"#)
}

/// What it printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    /// Hits by key; the key of a single number is empty.
    hits: BTreeMap<String, u64>,
    /// Events that it says it lost. It is about what it prints; maps lose nothing.
    lost: u64,
}

impl Said {
    /// Reads its lines of JSON.
    fn parse(text: &str) -> Result<Self, String> {
        let mut said = Self::default();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let line: Value =
                serde_json::from_str(line).map_err(|error| format!("prints what is not understood: {error}"))?;
            let data = &line["data"];
            match line["type"].as_str() {
                Some("map") => match &data["@hits"] {
                    Value::Object(hits) => {
                        let counted = hits.iter().filter_map(|(key, hits)| Some((key.clone(), hits.as_u64()?)));
                        said.hits.extend(counted);
                    }
                    hits => said.hits.extend(hits.as_u64().map(|hits| (String::new(), hits))),
                },
                Some("lost_events") => {
                    let lost = data["events"].as_u64().ok_or("does not say how many events it lost")?;
                    said.lost = said.lost.saturating_add(lost);
                }
                _ => {}
            }
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_asks_one_question() {
        let asked: Vec<_> = QUESTIONS.iter().map(|question| program(question, "/x/libjvm.so")).collect();
        assert_eq!(
            asked[0],
            r#"BEGIN { printf("READY\n"); } usdt:/x/libjvm.so:hotspot:thread__park__begin { @hits = count(); }"#
        );
        assert!(asked[2].ends_with("hotspot:method__entry { @hits[str(arg1, arg2), str(arg3, arg4)] = count(); }"));
        assert!(asked[3].ends_with("hotspot:object__alloc { @hits[str(arg1, arg2)] = count(); }"));
        assert!(asked[8].contains(":hs_private:safepoint__begin {"));
    }

    /// Printed by 0.17 on a JVM 17.
    #[test]
    fn one_number_is_read() {
        let text = "{\"type\": \"attached_probes\", \"data\": {\"probes\": 2}}\n\
                    {\"type\": \"printf\", \"data\": \"READY\\n\"}\n\n\n\
                    {\"type\": \"map\", \"data\": {\"@hits\": 1000000}}\n";
        assert!(text.lines().any(|line| line.starts_with(BEGUN)));
        let hits = BTreeMap::from([(String::new(), 1_000_000)]);
        assert_eq!(Said::parse(text), Ok(Said { hits, lost: 0 }));
    }

    /// Printed by 0.17 on a JVM 17, shortened.
    #[test]
    fn numbers_by_name_are_read() {
        let text = "{\"type\": \"map\", \"data\": {\"@hits\": {\"java/lang/String,equals\": 1, \
                    \"java/lang/invoke/LambdaForm$MH+0x00007f75bc003c00,invoke\": 1, \
                    \"jtrace/bench/Micro,small\": 400000}}}\n";
        let said = Said::parse(text).unwrap();
        let mut observed = Observed::default();
        QUESTIONS[2].answer(&said.hits, &mut observed);
        assert_eq!((observed.events, observed.answers["calls"]), (Some(400_002), 400_000));
    }

    /// The form of its source, `JsonOutput::lost_events`: nothing was lost here.
    #[test]
    fn losses_are_added_up_and_nonsense_is_an_error() {
        let lost = "{\"type\": \"lost_events\", \"data\": {\"events\": 7}}\n";
        assert_eq!(Said::parse(&lost.repeat(2)).unwrap().lost, 14);
        assert!(Said::parse("{\"type\": \"map\", ").is_err());
        assert!(Said::parse("{\"type\": \"lost_events\", \"data\": {}}").is_err());
        assert_eq!(Said::parse("Attaching 2 probes...\n"), Ok(Said::default()));
    }
}
