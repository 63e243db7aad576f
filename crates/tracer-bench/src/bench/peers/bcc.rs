//! bcc: a small program of ours for the questions that bpftrace is asked as well, and three of its own tools as they are.
//!
//! bcc compiles C against a kernel's [`headers`] each time it starts, and the results say which these were.
//!
//! Its own tools are measured as they are, version 0.26 with these faults. `ucalls` reads names without their length: where other
//! memory lies behind one, its calls are counted under another name, and its answer is too small, often 0. `ugc` prints a line
//! for each collection and one for each memory pool in it, and does not say which is which (it takes all for pools, and then
//! forgets to describe them): its lines are events, but no count of collections. The C of `uobjnew` does not compile against
//! headers of Linux 6.1, where `min` has a function in it, so that it is skipped.

mod headers;

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use serde::Deserialize;

use self::headers::Headers;
use super::{
    configuration,
    question::{By, QUESTIONS, Question},
    tool::{self, Ended, Tool},
};
use crate::bench::{Error, configuration::Configuration, folder::Folder, observer::Observer, results::Observed};

/// Our program for it.
const PROGRAM: &str = include_str!("../../../bench/bcc_count.py");
/// Pythons that may have it: that of the distribution first, because its packages are only there.
const PYTHONS: [&str; 2] = ["/usr/bin/python3", "python3"];
/// How many of the questions it is asked.
const ASKED: usize = 4;

/// A configuration for each question, and for each of its own tools.
pub(super) fn all() -> Vec<Configuration> {
    let asked = QUESTIONS.iter().take(ASKED).map(|question| {
        let name = format!("bcc-{}", question.name);
        let what = question.what("a small program for bcc");
        configuration(&name, what, question.flags(), Bcc::new(Source::Ours(question)))
    });
    let own = OWN.iter().map(|own| {
        let what = format!("{} of bcc, which {}", own.name, own.what);
        configuration(&format!("bcc-{}", own.name), what, own.flag.as_slice(), Bcc::new(Source::Own(own)))
    });
    asked.chain(own).collect()
}

/// A tool that comes with bcc, run with `-l java PID`.
#[derive(Debug)]
struct Own {
    name: &'static str,
    what: &'static str,
    flag: Option<&'static str>,
    read: fn(&str, &mut Observed),
}

const OWN: [Own; 3] = [
    Own { name: "ucalls", what: "counts calls by method", flag: Some("-XX:+DTraceMethodProbes"), read: calls },
    Own { name: "uobjnew", what: "counts objects by class", flag: Some("-XX:+DTraceAllocProbes"), read: objects },
    Own { name: "ugc", what: "prints a line for each collection and each memory pool in it", flag: None, read: lines },
];

/// What is run.
#[derive(Clone, Copy, Debug)]
enum Source {
    Ours(&'static Question),
    Own(&'static Own),
}

#[derive(Debug)]
struct Bcc {
    source: Source,
    /// The Python that has it, and what it compiles against.
    prepared: Option<(&'static str, Headers)>,
    running: Option<Tool>,
}

impl Bcc {
    const fn new(source: Source) -> Self {
        Self { source, prepared: None, running: None }
    }

    /// The command, and the word with which it says that it watches. What our program is in is the private folder.
    fn command(&self, pid: u32, folder: &Folder) -> Result<(Command, &'static str), Error> {
        let (python, headers) = self.prepared.as_ref().ok_or_else(|| Error::program("bcc", "was not prepared"))?;
        let mut command = Command::new(python);
        if let Some(source) = headers.source(folder)? {
            command.env(headers::VARIABLE, source);
        }
        // Else what it says stays in a buffer until it ends.
        command.env("PYTHONUNBUFFERED", "1");
        match self.source {
            Source::Ours(Question { provider, probe, by, .. }) => {
                let by = match by {
                    By::Nothing => "nothing",
                    By::Class => "class",
                    By::Method => "method",
                };
                command.arg(tool::write(folder, "bcc_count.py", PROGRAM)?);
                command.args([&pid.to_string(), &format!("{provider}:{probe}"), by]);
                Ok((command, "READY"))
            }
            Source::Own(own) => {
                command.arg(find(own.name)?).args(["-l", "java", &pid.to_string()]);
                Ok((command, "Tracing"))
            }
        }
    }
}

impl Observer for Bcc {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        let asked = ["-c", "import bcc; print(bcc.__version__)"];
        let (python, version) = PYTHONS
            .iter()
            .find_map(|&python| Some((python, tool::say(python, &asked)?)))
            .ok_or_else(|| Error::Missing {
                what: "bcc for Python".to_owned(),
                hint: "apt-get install python3-bpfcc bpfcc-tools".to_owned(),
            })?;
        if let Source::Own(own) = self.source {
            find(own.name)?;
        }
        let headers = Headers::find()?;
        let version = format!("{version}, with the headers of {}", headers.whose());
        self.prepared = Some((python, headers));
        Ok(("bcc".to_owned(), version))
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        let (command, word) = self.command(pid, &folder)?;
        self.running = Some(Tool::start("bcc", &command, folder, pid, word)?);
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let running = self.running.take().ok_or_else(|| Error::program("bcc", "was not started"))?;
        let Ended { mut observed, stdout, stderr } = running.stop(None)?;
        match self.source {
            Source::Ours(question) => {
                let Counted { hits, missed } = Counted::parse(&stdout).map_err(|what| Error::program("bcc", what))?;
                question.answer(&hits, &mut observed);
                observed.lost = Some(missed);
                // Those that were not counted by name are events as well.
                observed.events = observed.events.map(|events| events.saturating_add(missed));
            }
            Source::Own(own) => {
                (own.read)(&stdout, &mut observed);
                observed.lost = Some(lost(&stderr));
            }
        }
        Ok(observed)
    }
}

/// What our program prints at its end.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Counted {
    hits: BTreeMap<String, u64>,
    missed: u64,
}

impl Counted {
    fn parse(stdout: &str) -> Result<Self, String> {
        let line = stdout.lines().rev().find(|line| line.starts_with('{')).ok_or("does not say what it counted")?;
        serde_json::from_str(line).map_err(|error| format!("prints what is not understood: {error}"))
    }
}

/// Lines of a name and a number, from the last line that begins with a heading.
fn table(stdout: &str, heading: &str) -> Vec<(String, u64)> {
    let lines = stdout.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let row = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    lines.filter_map(row).collect()
}

/// Fills in the sum of a table and a row of it. Names are taken as printed: some come out with what lies behind them in memory,
/// and then the row is not there.
fn answer(rows: &[(String, u64)], name: &str, count: &str, observed: &mut Observed) {
    observed.events = Some(rows.iter().fold(0, |sum: u64, (_, number)| sum.saturating_add(*number)));
    let answer =
        rows.iter().filter(|(row, _)| row == name).fold(0, |sum: u64, (_, number)| sum.saturating_add(*number));
    observed.answers.insert(count.to_owned(), answer);
}

fn calls(stdout: &str, observed: &mut Observed) {
    answer(&table(stdout, "METHOD "), "jtrace/bench/Micro.small", "calls", observed);
}

fn objects(stdout: &str, observed: &mut Observed) {
    answer(&table(stdout, "NAME/TYPE "), "jtrace/bench/Micro$Cell", "objects", observed);
}

/// A line for each event, which say nothing that the micro-programs know.
fn lines(stdout: &str, observed: &mut Observed) {
    let lines = stdout.lines().skip_while(|line| !line.starts_with("START ")).skip(1);
    let events =
        lines.filter(|line| line.split_ascii_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok()));
    observed.events = Some(events.count() as u64);
}

/// What bcc says it lost, in its own words: `Possibly lost 5 samples`.
fn lost(stderr: &str) -> u64 {
    let number = |line: &str| line.trim().strip_prefix("Possibly lost ")?.strip_suffix(" samples")?.parse().ok();
    stderr.lines().filter_map(number).fold(0, |sum: u64, lost: u64| sum.saturating_add(lost))
}

/// Where a tool of bcc is: distributions differ.
fn find(name: &str) -> Result<PathBuf, Error> {
    let places = [
        format!("/usr/sbin/{name}"),
        format!("/usr/share/bcc/tools/lib/{name}.py"),
        format!("/usr/share/bcc/tools/lib/{name}"),
        format!("/usr/sbin/{name}-bpfcc"),
    ];
    places.iter().map(PathBuf::from).find(|place| place.is_file()).ok_or_else(|| Error::Missing {
        what: format!("{name} of bcc"),
        hint: "apt-get install bpfcc-tools".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(own: &str, stdout: &str) -> Observed {
        let mut observed = Observed::default();
        (OWN.iter().find(|found| found.name == own).unwrap().read)(stdout, &mut observed);
        observed
    }

    /// Printed by our program with 0.26 on a JVM 17, shortened.
    #[test]
    fn what_our_program_counted_is_read() {
        let text = "READY\n{\"hits\": {\"java/lang/String,length\": 8, \"jtrace/bench/Micro,small\": 400000}, \"missed\": 3}\n";
        let counted = Counted::parse(text).unwrap();
        let mut observed = Observed::default();
        QUESTIONS[2].answer(&counted.hits, &mut observed);
        assert_eq!((counted.missed, observed.events, observed.answers["calls"]), (3, Some(400_008), 400_000));
        let single = Counted::parse("READY\n{\"hits\": {\"\": 100}, \"missed\": 0}\n").unwrap();
        assert_eq!(single.hits[""], 100);
        assert!(Counted::parse("READY\n").is_err() && Counted::parse("{\"hits\": 7}").is_err());
    }

    /// Printed by ucalls of 0.26 on a JVM 17: it reads names without their length, so some run on.
    #[test]
    fn a_name_that_runs_on_is_not_the_name() {
        let text = "Tracing calls in process 29406 (language: java)... Ctrl-C to quit.\n\
                    If you do not see any results, make sure you ran java with option -XX:+ExtendedDTraceProbes\n\n\
                    METHOD                                              # CALLS\n\
                    sun/nio/cs/StreamDecoder.inReady                          1\n\
                    jdk/internal/misc/Unsafe.allocateUninitializedArray0        1\n\
                    java/io/FileOutputStream.writeBytes\u{fffd}\u{fffd}\u{fffd}\u{8}                  1\n\
                    jtrace/bench/Micro5.small                            400000\n";
        let garbled = read("ucalls", text);
        assert_eq!((garbled.events, garbled.answers["calls"]), (Some(400_003), 0));
        let whole = read("ucalls", &text.replace("Micro5", "Micro"));
        assert_eq!(whole.answers["calls"], 400_000);
    }

    /// By the form of its source: uobjnew of 0.26 does not compile its program here.
    #[test]
    fn objects_are_read_by_class() {
        let text = "Tracing allocations in process 7 (language: java)... Ctrl-C to quit.\n\n\
                    NAME/TYPE                      # ALLOCS      # BYTES\n\
                    jtrace/bench/Micro$Cell          400000      6400000\n\
                    [B                                    2          256\n";
        let observed = read("uobjnew", text);
        assert_eq!((observed.events, observed.answers["objects"]), (Some(400_002), 400_000));
    }

    /// Printed by ugc of 0.26 on a JVM 17, shortened.
    #[test]
    fn each_line_of_ugc_is_an_event_and_none_an_answer() {
        let text = "Tracing garbage collections in java process 2057... Ctrl-C to quit.\n\
                    START    TIME (us) DESCRIPTION                             \n\
                    9.289    3991.56  None\n9.289    4046.03  None\n9.431    1379.84  None\n";
        let observed = read("ugc", text);
        assert_eq!((observed.events, observed.answers.len()), (Some(3), 0));
        assert_eq!(lost("Possibly lost 5 samples\nother\nPossibly lost 7 samples\n"), 12);
    }

    #[test]
    fn our_program_reads_the_arguments_that_are_asked_for() {
        for by in ["nothing", "class", "method"] {
            assert!(PROGRAM.contains(&format!("\"{by}\"")) || PROGRAM.contains(&format!("|{by}")), "{by}");
        }
    }
}
