//! The file of a session: written anew after each run, so that whatever ends the session, all that was made is kept.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::bench::{
    Error,
    results::{Environment, Method, Results, Run, Skipped, VERSION},
};

/// Largest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// Results that are kept in a file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    results: Results,
}

impl Journal {
    /// Begins a file. One that is there already is left alone: it may hold hours of work.
    pub fn create(path: &Path, results: Results) -> Result<Self, Error> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(Error::Unexpected {
                path: path.to_owned(),
                expected: "a new file",
                found: "it is there already; continue it with --resume, remove it, or choose another name".to_owned(),
            });
        }
        let journal = Self { path: path.to_owned(), results };
        journal.save()?;
        Ok(journal)
    }

    /// Continues a file, which must be of the same measurement: same method, programs, configurations, machine and JVM. More runs can be
    /// asked for than were at first: the order of those that are made already is the same.
    pub fn resume(path: &Path, asked: &Results) -> Result<Self, Error> {
        // What could not be run is found out again, if it still cannot.
        let results = Results { skipped: Vec::new(), ..read(path)? };
        let mut journal = Self { path: path.to_owned(), results };
        journal.extend(asked.method.runs);
        let differences = differences(&journal.results, asked);
        if !differences.is_empty() {
            return Err(Error::Unexpected {
                path: path.to_owned(),
                expected: "a file of this measurement",
                found: differences.join("; "),
            });
        }
        Ok(journal)
    }

    /// What there is so far.
    pub const fn results(&self) -> &Results {
        &self.results
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks for more runs than were asked for at first.
    pub fn extend(&mut self, runs: u32) {
        let Method { runs: asked, .. } = &mut self.results.method;
        *asked = (*asked).max(runs);
    }

    /// Keeps a run.
    pub(super) fn add(&mut self, run: Run) -> Result<(), Error> {
        self.results.runs.push(run);
        self.save()
    }

    /// Keeps why something could not be run: once for each pair of program and configuration, with the first reason.
    /// Says whether it is new.
    pub(super) fn skip(&mut self, skipped: Skipped) -> Result<bool, Error> {
        let same =
            |known: &Skipped| (&known.program, &known.configuration) == (&skipped.program, &skipped.configuration);
        if self.results.skipped.iter().any(same) {
            return Ok(false);
        }
        self.results.skipped.push(skipped);
        self.save().map(|()| true)
    }

    /// Keeps the version of a tool.
    pub(super) fn tool(&mut self, name: String, version: String) {
        self.results.environment.tools.insert(name, version);
    }

    /// Keeps how many methods a program has.
    pub(super) fn methods(&mut self, program: usize, methods: u64) -> Result<(), Error> {
        if let Some(program) = self.results.programs.get_mut(program) {
            program.application_methods = Some(methods);
        }
        self.save()
    }

    /// Keeps the command of a program, which is known when it is run first.
    pub(super) fn command(&mut self, program: usize, command: &[OsString]) {
        if let Some(program) = self.results.programs.get_mut(program) {
            program.command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        }
    }

    /// Writes a new file beside the old one and puts it in its place: a reader sees the one or the other.
    fn save(&self) -> Result<(), Error> {
        let system = |error| Error::system(format!("write {}", self.path.display()))(error);
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(format!(".{}", std::process::id()));
        let beside = self.path.with_file_name(name);
        let written = self.write(&beside).and_then(|()| fs::rename(&beside, &self.path));
        if written.is_err() {
            // The first error says more.
            let _: io::Result<()> = fs::remove_file(&beside);
        }
        written.map_err(system)
    }

    /// A new file, so that a link that somebody put there is not followed.
    fn write(&self, path: &Path) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut out = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut out, &self.results)?;
        out.write_all(b"\n")?;
        out.flush()?;
        out.get_ref().sync_data()
    }
}

/// Reads a file of results.
pub fn read(path: &Path) -> Result<Results, Error> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::system(format!("read {}", path.display())))?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(Error::system(format!("read {}", path.display())))?;
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Results, Error> {
    let unexpected = |found: String| Error::Unexpected { path: path.to_owned(), expected: "a file of results", found };
    if bytes.len() as u64 == MAX_BYTES {
        return Err(unexpected("it is too large".to_owned()));
    }
    let results: Results = serde_json::from_slice(bytes).map_err(|error| unexpected(error.to_string()))?;
    if results.version != VERSION {
        return Err(unexpected(format!("it has version {}, and this jtrace knows {VERSION}", results.version)));
    }
    Ok(results)
}

/// In what a file and a request differ, each as a clause.
fn differences(file: &Results, asked: &Results) -> Vec<String> {
    let names = |results: &Results| {
        let names: Vec<_> =
            results.programs.iter().map(|program| format!("{} ({})", program.name, program.source)).collect();
        names.join(", ")
    };
    let milliseconds = |results: &Results| format!("{} ms", results.method.settle_ms);
    let mut all = vec![
        ("runs", file.method.runs.to_string(), asked.method.runs.to_string()),
        ("warm-up", file.method.warm_up.to_string(), asked.method.warm_up.to_string()),
        ("timed iterations", file.method.iterations.to_string(), asked.method.iterations.to_string()),
        ("settling", milliseconds(file), milliseconds(asked)),
        ("size", file.method.size.clone(), asked.method.size.clone()),
        ("seed", file.method.seed.to_string(), asked.method.seed.to_string()),
        ("programs", names(file), names(asked)),
        ("configurations", file.configurations.join(", "), asked.configurations.join(", ")),
    ];
    all.extend(environments(&file.environment, &asked.environment));
    let differing = all.into_iter().filter(|(_, file, asked)| file != asked);
    differing.map(|(what, file, asked)| format!("{what}: {file} there, {asked} here")).collect()
}

/// All that must be the same for runs to be compared. Versions of tools are found out later and kept as they come.
fn environments(file: &Environment, asked: &Environment) -> [(&'static str, String, String); 10] {
    let all = |of: &Environment| {
        let Environment {
            jtrace,
            kernel,
            cpu,
            cpus,
            memory_bytes,
            jvm,
            vendor,
            collector,
            max_heap_bytes,
            flags,
            tools: _,
        } = of;
        [
            jtrace.clone(),
            kernel.clone(),
            cpu.clone(),
            cpus.to_string(),
            memory_bytes.to_string(),
            jvm.clone(),
            vendor.clone(),
            collector.clone(),
            max_heap_bytes.to_string(),
            flags.join(" "),
        ]
    };
    let names =
        ["jtrace", "kernel", "CPU", "cores", "memory", "JVM", "vendor", "collector", "largest heap", "JVM flags"];
    let mut values = all(file).into_iter().zip(all(asked));
    names.map(|name| {
        let (file, asked) = values.next().unwrap_or_default();
        (name, file, asked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::{Method, Program};

    fn results() -> Results {
        Results {
            version: VERSION,
            started_s: 1,
            environment: Environment { kernel: "6.18".to_owned(), ..Environment::default() },
            method: Method { runs: 2, warm_up: 1, iterations: 1, settle_ms: 0, size: "small".to_owned(), seed: 9 },
            programs: vec![Program { name: "p".to_owned(), ..Program::default() }],
            configurations: vec!["plain".to_owned()],
            configuration_flags: std::collections::BTreeMap::new(),
            runs: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn skipped(why: &str) -> Skipped {
        Skipped { program: Some("p".to_owned()), configuration: None, why: why.to_owned() }
    }

    #[test]
    fn the_file_holds_what_was_made_at_any_moment_and_nothing_lies_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
        let mut journal = Journal::create(&path, results()).unwrap();
        assert_eq!(read(&path).unwrap(), results());
        journal.add(Run { wall_ns: 5, ..Run::default() }).unwrap();
        assert!(journal.skip(skipped("first")).unwrap());
        assert!(!journal.skip(skipped("second")).unwrap());
        let read = read(&path).unwrap();
        assert_eq!((read.runs.len(), read.skipped[0].why.as_str()), (1, "first"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let error = Journal::create(&path, results()).unwrap_err().to_string();
        assert!(error.contains("--resume"), "{error}");
        assert!(Journal::create(&directory.path().join("no/results.json"), results()).is_err());
    }

    #[test]
    fn a_file_is_continued_only_with_what_it_was_begun_with() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
        let mut journal = Journal::create(&path, results()).unwrap();
        journal.add(Run::default()).unwrap();
        journal.skip(skipped("gone")).unwrap();
        let resumed = Journal::resume(&path, &Results { started_s: 2, ..results() }).unwrap();
        assert_eq!((resumed.results().runs.len(), resumed.results().skipped.len()), (1, 0));
        let mut other = results();
        other.method.runs = 1;
        other.environment.kernel = "6.19".to_owned();
        other.configurations.push("attach".to_owned());
        let error = Journal::resume(&path, &other).unwrap_err().to_string();
        for part in ["runs: 2 there, 1 here", "kernel: 6.18 there, 6.19 here", "configurations: plain there"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!error.contains("seed"), "{error}");
    }

    #[test]
    fn a_file_is_continued_with_more_runs_than_it_was_begun_with() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        Journal::create(&path, results()).unwrap().add(Run::default()).unwrap();
        let mut more = results();
        more.method.runs = 7;
        let resumed = Journal::resume(&path, &more).unwrap();
        assert_eq!((resumed.results().method.runs, resumed.results().runs.len()), (7, 1));
    }

    #[test]
    fn a_file_that_is_none_is_named_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.json");
        assert!(read(&path).unwrap_err().to_string().contains("x.json"));
        for (text, expected) in [
            ("{", "EOF"),
            ("[]", "not a file of results"),
            (&serde_json::to_string(&Results { version: 99, ..results() }).unwrap(), "version 99"),
        ] {
            fs::write(&path, text).unwrap();
            let error = Journal::resume(&path, &results()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn fuzz_results() {
        let whole = serde_json::to_vec(&Results { version: VERSION, ..Results::default() }).unwrap();
        crate::fuzz::each("results", 8 << 20, |dice| {
            let bytes = crate::fuzz::damaged(dice, std::slice::from_ref(&whole));
            if let Ok(results) = parse(Path::new("results.json"), &bytes) {
                assert_eq!(results.version, VERSION);
            }
        });
    }
}
