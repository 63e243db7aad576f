//! Where a user may open few files only.

use anyhow::{Context as _, Result, ensure};
use tests::{jdk, jtrace, jvm::Launch};

/// Runs `jtrace attach` with these limits of open files, as `prlimit` takes them.
fn attach(limit: &str, pid: u32) -> Result<(i32, String)> {
    let mut command = std::process::Command::new("prlimit");
    command.arg(format!("--nofile={limit}")).arg(jtrace::binary()?);
    command.args(["attach", &pid.to_string(), "-d", "100ms", "--json"]).env("NO_COLOR", "1");
    let output = command.output().context("cannot run prlimit")?;
    Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn the_limit_of_open_files_is_raised_where_it_may_be_and_named_where_not() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    for enough in ["256", "64:4096"] {
        let (code, said) = attach(enough, jvm.pid())?;
        ensure!(code == 0 && said.contains("attached to"), "{enough}: {code}, {said}");
    }
    let (code, said) = attach("64", jvm.pid())?;
    ensure!(code == 1 && said.contains("Too many open files"), "{code}, {said}");
    ensure!(said.lines().any(|line| line.starts_with("hint: ") && line.contains("ulimit -n 512")), "{said}");
    jvm.finish().map(drop)
}
