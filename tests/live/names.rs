//! Names of threads and classes that are attacks on terminals, HTML, JSON and line-based formats.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
    process::Finished,
    report::Report,
};

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

/// Pieces of work after which everything that keeps names is full, and how many come then.
const FILL: u32 = 100;
const MORE: u32 = 50;
/// What `docs/security.md` says that a session takes at most of names, and what growing tables may still take when they are full.
const MOST_KIB: u64 = 1 << 20;
const GROWTH_KIB: u64 = 32 << 10;
/// What a command may take beside a program whose stacks would take several times as much.
const MOST_BYTES: &str = "--data=1000000000";

/// What each frame says of itself adds up: `threads` had no memory left for this program, and a session had no bound at all.
#[test]
fn deep_stacks_of_long_names_take_a_bounded_part_of_the_memory() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "names", "Deep").flags(&["-Xint"]).start()?;
    let pid = jvm.pid().to_string();
    for words in [
        &["threads", &pid][..],
        &["attach", &pid, "-l", "threads,locks", "-d", "3s", "--json"],
        &["top", "-d", "3s", "--json"],
    ] {
        let mut command = Command::new("prlimit");
        command.arg(MOST_BYTES).arg(jtrace::binary()?).args(words).env("NO_COLOR", "1");
        let finished = Finished::of(&mut command, jtrace::LIMIT)?;
        ensure!(finished.code == 0, "{words:?}: {}", finished.stderr);
        if words[0] == "threads" {
            let said = finished.text();
            ensure!(said.contains("xxxx") && said.contains("takes all the room"), "{}", said.len());
        }
    }
    jvm.finish().map(drop)
}

/// Names that no day of a real program has: 300 MB of them in two minutes, through the kernel and all that reads the target, too.
#[test]
#[ignore = "takes minutes: `cargo xtask nightly --only live`"]
fn names_that_are_made_up_without_end_do_not_fill_the_memory() -> Result<()> {
    const WORDS: [&str; 7] =
        ["-l", "classes,threads,alloc,gc,locks,jit", "--exact", "--yes", "--max-overhead", "10000%", "--json"];
    let mut jvm = Launch::new(&jdk::any()?, "names", "MadeUp").flags(&["-Xmx256m"]).start()?;
    let mut session = Session::attach(jvm.pid(), &WORDS)?;
    let mut resident_kib = Vec::new();
    for pieces in [FILL, MORE] {
        for _ in 0..pieces {
            jvm.work()?;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", session.process().pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
        resident_kib.push(line.split_whitespace().next().context("no value")?.parse::<u64>()?);
    }
    let report = session.report()?;
    jvm.finish()?;
    let (full, after) = (resident_kib[0], resident_kib[1]);
    println!("counted: {} KiB after {FILL} pieces of work, {} KiB after {}", full, after, FILL + MORE);
    ensure!(after < MOST_KIB, "{after} KiB");
    ensure!(after < full + GROWTH_KIB, "{full} KiB, then {after} KiB");
    let missing = report.0["completeness"]["missing"].to_string();
    ensure!(missing.contains("names were") && missing.contains("methods and classes were"), "{missing}");
    Ok(())
}
