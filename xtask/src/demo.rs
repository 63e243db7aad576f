//! `cargo xtask demo`: everything from a bare machine to a report: set-up, build, a JVM with three planted problems
//! (`tests/workloads/demo`), and ten seconds of jtrace on it.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{build, process, setup, workloads, workspace};

/// The line that the program prints once all of its problems are under way.
const READY: &str = "READY";

/// How `demo` shows jtrace.
#[derive(Args)]
pub(crate) struct Options {
    /// How long jtrace looks, as `jtrace attach -d` takes it.
    #[arg(long, default_value = "10s")]
    duration: String,
}

/// The demo JVM, which ends with this value. Were xtask itself killed, the JVM would see its standard input close and end.
struct Jvm(Child);

impl Drop for Jvm {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("demo: cannot end the demo JVM {}: {error}", self.0.id());
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let Options { duration } = options;
    setup::run(&setup::Options { without_bench: true })?;
    workloads::run(&workloads::Options::default())?;
    build::run(&build::Options::default())?;
    let jvm = start()?;
    let mut jtrace = process::as_root(workspace::jtrace());
    jtrace.args(["attach", &jvm.0.id().to_string(), "-d", duration, "--text"]);
    println!("demo: jtrace attach {} -d {duration} --text", jvm.0.id());
    let status = jtrace.status().context("cannot start jtrace")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Starts the program and waits for its word that it is under way.
fn start() -> Result<Jvm> {
    let mut java = process::command(workspace::jdk_tool("java"));
    java.args(["-Xmx256m", "-XX:+UseG1GC", "-cp"]).arg(workspace::workloads().join("demo")).arg("com.shop.Demo");
    java.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut jvm = Jvm(java.spawn().context("cannot start the demo JVM")?);
    println!("demo: started JVM {} with allocation pressure, a contended lock and a thread leak", jvm.0.id());
    let stdout = jvm.0.stdout.take().context("the demo JVM has no standard output")?;
    for line in BufReader::new(stdout).lines() {
        if line.context("cannot read from the demo JVM")? == READY {
            return Ok(jvm);
        }
    }
    bail!("the demo JVM ended before it was under way");
}
