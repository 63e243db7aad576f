//! Stacks of targets in trouble: without symbols, dying, with garbage in the structures that unwinding reads. Nothing here may
//! hang or crash jtrace, and without symbols nothing may be missing.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until_true,
    report::Report,
};

use crate::{compare::Tally, recorded::Recorded, truth};

const LENSES: &str = "locks,threads,classes,cpu";

fn oracle(jdk: &Jdk, said: &str, events: &str) -> Launch {
    Launch::new(jdk, "stacks", "Oracle").arguments(&[said, events, "park", "sleep", "load"])
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_string_lossy().into_owned()
}

fn record(jvm: &Jvm, file: &str) -> Result<Session> {
    let pid = jvm.pid().to_string();
    let words = ["record", &pid, "-l", LENSES, "-o", file, "--max-overhead", "100000%", "--ring-size", "16m"];
    Session::start(&words)
}

#[test]
fn without_symbols_stacks_are_the_same() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = jdk.copy_to(directory.path())?;
        let status = Command::new("objcopy").arg("--strip-all").arg(bare.libjvm()).status()?;
        ensure!(status.success(), "objcopy failed");
        let (said, file) = (path(directory.path(), "oracle.txt"), path(directory.path(), "x.jtrace"));
        let mut jvm = oracle(&bare, &said, "300").start()?;
        let session = record(&jvm, &file)?;
        jvm.work()?;
        session.stop()?;
        jvm.finish()?;
        let recorded = Recorded::open(Path::new(&file))?;
        let tally = Tally::of(&truth::parse(&fs::read_to_string(&said)?)?, &recorded)?;
        assert_eq!(tally.others(), 0, "JDK {}: {}", jdk.release, tally.complaint());
    }
    Ok(())
}

#[test]
fn a_target_that_dies_in_the_middle_leaves_a_whole_recording() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let (said, file) = (path(directory.path(), "oracle.txt"), path(directory.path(), "x.jtrace"));
        let mut jvm = oracle(&jdk, &said, "1000000").start()?;
        let mut session = record(&jvm, &file)?;
        jvm.go()?;
        // Dead in the middle of its events, with stacks on their way that nobody can name any more.
        wait_for_size(&file, 1 << 20)?;
        jvm.kill()?;
        let status = session.process().wait(jtrace::LIMIT)?;
        assert!(status.success(), "{}", session.process().transcript());
        let report = Report::parse(&jtrace::succeed(&["report", &file, "--json"])?.stdout)?;
        assert_eq!(report.end(), "target exited", "on JDK {}", jdk.release);
        let recorded = Recorded::open(Path::new(&file))?;
        assert!(recorded.stacks.len() > 10, "{} stacks", recorded.stacks.len());
    }
    Ok(())
}

/// Waits until a file that is being written is this long.
fn wait_for_size(file: &str, bytes: u64) -> Result<()> {
    until_true("the file grows", || Ok(fs::metadata(file).is_ok_and(|found| found.len() >= bytes)))
}

/// Writes random bytes over what unwinding reads while events come: segment maps, code blobs, metadata and stacks. The target
/// is stopped by then or dies of it; jtrace must do neither.
#[test]
fn garbage_in_the_targets_memory_neither_hangs_nor_crashes_jtrace() -> Result<()> {
    for (row, jdk) in jdk::all()?.into_iter().enumerate() {
        for (round, seed) in (1_u64..=4).enumerate().filter(|(round, _)| jdk::is_in_turn(row, *round)) {
            let directory = tempfile::tempdir()?;
            let (said, file) = (path(directory.path(), "oracle.txt"), path(directory.path(), "x.jtrace"));
            let last_words = format!("-XX:ErrorFile={}", path(directory.path(), "crash.log"));
            let replay = format!("-XX:ReplayDataFile={}", path(directory.path(), "replay.log"));
            let launch = oracle(&jdk, &said, "1000000").flags(&["-XX:-CreateCoredumpOnCrash", &last_words, &replay]);
            let mut jvm = launch.start()?;
            let mut session = record(&jvm, &file)?;
            jvm.go()?;
            wait_for_size(&file, 256 << 10)?;
            let written = scribble(jvm.pid(), seed, round)?;
            assert!(written > 0, "nothing could be written over");
            // It may have died of it already.
            let _ = jvm.process().wait_for_zombie(std::time::Duration::from_secs(1));
            let _ = jvm.kill();
            let status = session.process().wait(jtrace::LIMIT)?;
            assert!(status.success(), "JDK {} round {round}: {}", jdk.release, session.process().transcript());
            Report::parse(&jtrace::succeed(&["report", &file, "--json"])?.stdout)?;
        }
    }
    Ok(())
}

/// Overwrites words of the target's private memory, another share in each round; gives how many.
fn scribble(pid: u32, seed: u64, round: usize) -> Result<u64> {
    let memory = File::options().write(true).open(format!("/proc/{pid}/mem"))?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut random = seed;
    let mut written = 0;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().context("no range")?, words.next().context("no rights")?);
        let file = words.nth(3).unwrap_or_default();
        let Some((start, end)) = range.split_once('-') else { continue };
        let (start, end) = (u64::from_str_radix(start, 16)?, u64::from_str_radix(end, 16)?);
        // The heap of Java is of no interest to unwinding, and large.
        if !rights.starts_with("rw") || !rights.contains('p') || end - start > 64 << 20 || file.starts_with("/usr") {
            continue;
        }
        for _ in 0..[4, 64, 1024, 16384][round % 4] {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = start + random % (end - start) / 8 * 8;
            written += u64::from(memory.write_at(&random.to_le_bytes(), at).is_ok());
        }
    }
    Ok(written)
}
