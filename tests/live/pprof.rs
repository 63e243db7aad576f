//! pprof's own reader, which comes with Go, finds in a file of a real session which builds of which files its code is of.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
    patience::PATIENCE,
    process::Finished,
};

/// What binutils say of a file.
fn build_id(file: &str) -> Result<String> {
    let notes = Finished::of(Command::new("readelf").args(["--notes", "--wide", file]), PATIENCE)?.text();
    let id = notes.lines().find_map(|line| line.split_once("Build ID: "));
    Ok(id.with_context(|| format!("no build id in {file}: {notes}"))?.1.trim().to_owned())
}

/// The file of this name that a process has mapped.
fn mapped(pid: u32, name: &str) -> Result<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.ends_with(name));
    Ok(path.with_context(|| format!("no {name} in {maps}"))?.to_owned())
}

#[test]
fn mappings_are_the_builds_of_the_mapped_files_and_the_period_is_that_of_the_clock() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut jvm = Launch::new(&jdk::debian()?, "cpu", "Cpu").arguments(&["hot", "2"]).start()?;
    let file = |name: &str| directory.path().join(name).display().to_string();
    let session = Session::attach(jvm.pid(), &["-l", "cpu", "-o", &file("x.jtrace")])?;
    jvm.work()?;
    let report = session.report()?;
    let libjvm = mapped(jvm.pid(), "/libjvm.so")?;
    let libc = mapped(jvm.pid(), "/libc.so.6")?;
    jvm.finish()?;
    jtrace::succeed(&["report", &file("x.jtrace"), "-o", &file("x.pb.gz")])?;

    let mut go = Command::new("go");
    let raw = Finished::of(go.args(["tool", "pprof", "-raw", &file("x.pb.gz")]), PATIENCE)?;
    ensure!(raw.code == 0, "{}", raw.stderr);
    let text = raw.text();
    let (_, mappings) = text.split_once("Mappings\n").context("mappings")?;
    for (name, path) in [("libjvm.so", &libjvm), ("libc.so.6", &libc)] {
        let expected = format!(" {name} {} ", build_id(path)?);
        ensure!(mappings.contains(&expected), "no {expected:?} in {mappings}");
    }
    let period = report.summary("cpu", "sampled_ns")? / report.summary("cpu", "samples")?;
    ensure!(text.contains("PeriodType: cpu nanoseconds\n"), "{text:.400}");
    let said = text.lines().find_map(|line| line.strip_prefix("Period: ")).context("a period")?;
    ensure!(said.parse::<u64>()?.abs_diff(period) <= 1, "{said} is not {period}");
    Ok(())
}
