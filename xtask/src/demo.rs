//! `cargo xtask demo`: everything from a bare machine to a report: set-up, build, a JVM with three planted problems
//! (`tests/workloads/demo`), and ten seconds of jtrace on it. It fails where the report does not name all three.

mod pictures;
mod readme;

use std::{fs, process::ExitCode};

use ::tests::{demo, jdk::Jdk, report::Report};
use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    build, dist, process,
    setup::{self, Purpose},
    workloads, workspace,
};

/// How `demo` shows jtrace.
#[derive(Args)]
pub(crate) struct Options {
    /// How long jtrace looks, as `jtrace attach -d` takes it.
    #[arg(long, default_value = "10s")]
    duration: String,

    /// Put the screen of such a session into README.md instead.
    #[arg(long)]
    readme: bool,

    /// Take the pictures in docs/pictures of such sessions instead.
    #[arg(long, conflicts_with = "readme")]
    pictures: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let Options { duration, readme, pictures } = options;
    let purpose = if *readme || *pictures { Purpose::Test } else { Purpose::Demo };
    setup::run(&setup::Options { purpose })?;
    workloads::compile_one("demo")?;
    build::run(&build::Options::default())?;
    let jdk = Jdk { release: 17, home: workspace::jdk_home() };
    if *pictures {
        pictures::take(&jdk)?;
        return Ok(ExitCode::SUCCESS);
    }
    let jvm = demo::start(&jdk)?;
    println!("demo: started JVM {} with allocation pressure, a contended lock and a thread leak", jvm.pid());
    if *readme {
        readme::take(jvm.pid())?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = tempfile::tempdir().context("cannot make a folder for the report")?;
    let file = folder.path().join("report.json");
    let mut jtrace = process::as_root(dist::binary());
    jtrace.args(["attach", &jvm.pid().to_string(), "-d", duration, "--text", "-o"]).arg(&file);
    println!("demo: jtrace attach {} -d {duration} --text", jvm.pid());
    process::run(&mut jtrace)?;
    let report = Report::parse(&fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?)?;
    let unnamed = demo::unnamed(&report);
    if !unnamed.is_empty() {
        bail!("the report does not name what the demo has: {}", unnamed.join("; "));
    }
    println!("demo: the report names all three planted problems");
    Ok(ExitCode::SUCCESS)
}
