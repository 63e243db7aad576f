//! `--redact`: who a program talks to, and what it was told to do, is in no output, whatever its format.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until,
};

/// An argument of the program.
const SECRET: &str = "token-4711-of-anna";
/// A file of each format that a report or its events can have.
const FILES: [&str; 6] = ["x.json", "x.ndjson", "x.txt", "x.html", "x.jtrace", "x.jfr"];

/// The peer that the program's thread `reader` waits for, `TCP 127.0.0.1:41251`.
fn peer(jvm: &Jvm) -> Result<String> {
    let pid = jvm.pid().to_string();
    until("the reader waits for its peer", || {
        let dump: Value = serde_json::from_slice(&jtrace::succeed(&["threads", &pid, "--json"])?.stdout)?;
        let threads = dump["threads"].as_array().context("no threads")?;
        let reader = threads.iter().find(|thread| thread["name"] == "reader");
        let on = reader.and_then(|reader| reader["waits"]["on"].as_str());
        Ok(on.and_then(|on| Some(on.split_once(" (from ")?.0.to_owned())))
    })
}

/// All that a session writes, its recording played again included.
fn outputs(jvm: &Jvm, directory: &Path, more: &[&str]) -> Result<Vec<(String, Vec<u8>)>> {
    let paths = FILES.map(|name| directory.join(name).display().to_string());
    let mut words = vec!["attach".to_owned(), jvm.pid().to_string(), "--text".to_owned(), "--full".to_owned()];
    words.extend(["-d", "3s"].iter().chain(more).map(|word| (*word).to_owned()));
    words.extend(paths.iter().flat_map(|path| ["-o".to_owned(), path.clone()]));
    let finished = jtrace::succeed(&words)?;
    let again = jtrace::succeed(&["report", &directory.join("x.jtrace").display().to_string(), "--json"])?;
    let mut outputs = vec![
        ("standard output".to_owned(), finished.stdout.clone()),
        ("standard error".to_owned(), finished.stderr.into_bytes()),
        ("the recording again".to_owned(), again.stdout),
    ];
    for path in paths {
        let bytes = std::fs::read(&path)?;
        outputs.push((path, bytes));
    }
    Ok(outputs)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn peers_and_arguments_are_in_no_output_and_equal_peers_stay_equal() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "dump", "Dump").arguments(&[SECRET]).start()?;
    let peer = peer(&jvm)?;
    let address = peer.strip_prefix("TCP ").context("no TCP")?;
    let directory = tempfile::tempdir()?;
    let open = outputs(&jvm, directory.path(), &[])?;
    for text in [address, SECRET] {
        let holding = open.iter().filter(|(_, bytes)| holds(bytes, text)).count();
        ensure!(holding >= 4, "without the option {text} is in {holding} outputs, so that this shows nothing");
    }
    let directory = tempfile::tempdir()?;
    for (name, bytes) in outputs(&jvm, directory.path(), &["--redact"])? {
        for text in [address, SECRET] {
            ensure!(!holds(&bytes, text), "{text} is in {name}");
        }
    }
    let report: Value = serde_json::from_slice(&std::fs::read(directory.path().join("x.json"))?)?;
    ensure!(report.to_string().contains("TCP peer 1 of this JVM"), "its number is in no table");
    let recorded = directory.path().join("recorded.jtrace").display().to_string();
    jtrace::succeed(&["record", &jvm.pid().to_string(), "-d", "1s", "--redact", "-o", &recorded])?;
    let bytes = std::fs::read(&recorded)?;
    ensure!(![address, SECRET].iter().any(|text| holds(&bytes, text)), "what is left out is in the recording");
    for more in [&[][..], &["--json"]] {
        let mut words = vec!["threads".to_owned(), jvm.pid().to_string(), "--redact".to_owned()];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let text = jtrace::succeed(&words)?.text();
        ensure!(!text.contains(address) && text.contains("TCP peer 1 of this JVM"), "{text}");
    }
    jvm.finish()?;
    Ok(())
}

/// Where an exception was thrown is told, and of which class; what it says may be anybody's data. `NumberFormatException` says what it could
/// not read, and another one begins with `pieces: `.
#[test]
fn what_an_exception_says_is_in_no_output() -> Result<()> {
    const THROWN: [&str; 4] = ["30", "20", "10", "10"];
    let mut jvm = Launch::new(&jdk::any()?, "exceptions", "Refusals").arguments(&THROWN).start()?;
    let directory = tempfile::tempdir()?;
    let paths = FILES.map(|name| directory.path().join(name).display().to_string());
    let mut words = vec!["-l", "exceptions,threads,locks,classes,cpu"];
    words.extend(paths.iter().flat_map(|path| ["-o", path.as_str()]));
    let session = Session::attach(jvm.pid(), &words)?;
    jvm.work()?;
    session.stop()?;
    jvm.finish()?;
    for (name, path) in FILES.into_iter().zip(paths) {
        let bytes = std::fs::read(&path)?;
        // The recorder writes names in its own way.
        ensure!(name == "x.jfr" || holds(&bytes, "java.lang.IllegalArgumentException"), "{path} shows nothing");
        for text in ["pieces: ", "For input string"] {
            ensure!(!holds(&bytes, text), "`{text}` is in {path}");
        }
    }
    Ok(())
}
