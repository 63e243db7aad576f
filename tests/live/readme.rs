//! The README's examples, each run as it stands there against the demo's JVM, for half a second where it would go on.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use tests::{demo, jdk, jtrace, process::Finished, workspace};

/// The pid that the examples have.
const PID: &str = "4711";

/// Commands that look at a JVM until they are ended.
const SESSIONS: [&str; 10] =
    ["attach", "record", "methods", "calls", "explain-call", "alloc", "exceptions", "jni", "markers", "typestate"];

/// Commands that are parsed by a test of jtrace's own and not run: they start programs that are not here, or take hours.
const NOT_RUN: [&str; 2] = ["run", "bench"];

/// A file of the JDK's own recorder, which no example makes.
const FLIGHT_RECORDING: &str = "crates/tracer-testing/corpus/flight_recorder/jdk25.jfr";

/// The words of one command line, as a shell divides them.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The command lines of the block below `## Examples`, without `sudo`, comments and what they are piped into.
fn examples() -> Result<Vec<Vec<String>>> {
    let text = fs::read_to_string(workspace().join("README.md"))?;
    let block = text.split("## Examples").nth(1).and_then(|rest| rest.split("\n## ").next()).context("no examples")?;
    let mut all = Vec::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("    ")) {
        let command = line.split(" # ").next().unwrap_or_default().split(" | ").next().unwrap_or_default();
        // Quoted words hold `&&` too, but none is nothing else.
        for one in words(command).split(|word| word == "&&") {
            let of_jtrace = one.iter().skip_while(|word| *word == "sudo" || *word == "jtrace");
            all.push(of_jtrace.cloned().collect());
        }
    }
    Ok(all)
}

/// How long a session lasts. What it finds is for other tests to say.
const LENGTH: &str = "500ms";

/// The same command on this process, for [`LENGTH`].
fn shortened(words: &[String], pid: &str) -> Vec<String> {
    let mut words: Vec<String> =
        words.iter().map(|word| if word == PID { pid.to_owned() } else { word.clone() }).collect();
    let duration = words.iter().position(|word| word == "-d").map(|at| at + 1);
    if let Some(at) = duration {
        LENGTH.clone_into(&mut words[at]);
    } else if SESSIONS.contains(&words[0].as_str()) {
        words.extend(["-d", LENGTH].map(str::to_owned));
    }
    words
}

#[test]
fn every_example_of_the_readme_runs() -> Result<()> {
    let directory = tempfile::tempdir()?;
    fs::copy(workspace().join(FLIGHT_RECORDING), directory.path().join("app.jfr")).context(FLIGHT_RECORDING)?;
    let jvm = demo::start(&jdk::any()?)?;
    let pid = jvm.pid().to_string();
    let mut run = 0;
    for words in examples()? {
        if NOT_RUN.contains(&words[0].as_str()) {
            continue;
        }
        let words = shortened(&words, &pid);
        let mut command = jtrace::command(&words)?;
        let finished = Finished::of(command.current_dir(directory.path()), jtrace::LIMIT)?;
        ensure!(finished.code == 0, "jtrace {words:?} ended with {}: {}", finished.code, finished.stderr);
        let files = words.windows(2).filter(|pair| pair[0] == "-o" && !pair[1].contains('%')).map(|pair| &pair[1]);
        for file in files {
            ensure!(is_filled(&directory.path().join(file)), "jtrace {words:?} left no {file}");
        }
        run += 1;
    }
    ensure!(run >= 16, "only {run} examples were run");
    // What `perf-map` has written.
    fs::remove_file(format!("/tmp/perf-{pid}.map"))?;
    Ok(())
}

fn is_filled(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}
