//! `cargo xtask incidents [NAME...]`: watches programs with a planted cause (`tests/incidents`) as somebody would who knows nothing of them, and
//! says of how many the first findings name that cause, how soon, and which healthy programs were accused. Healthy are some that were written for this,
//! and the real ones that `jtrace bench` has from packages.

mod flight;
mod group;
mod program;
mod subject;
mod tally;
mod trial;

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, PoisonError},
    thread,
};

use ::tests::jdk::Jdk;
use anyhow::{Context as _, Result, ensure};
use clap::Args;

use self::{
    program::{Jar, Program, class_path},
    tally::Tally,
    trial::Trial,
};
use crate::{
    build, jdks,
    kept::{Kept, Rows},
    process, setup, workspace,
};

/// Where the last run is kept.
const KEPT: Kept = Kept {
    file: "tests/incidents.txt",
    title: "What `cargo xtask incidents --keep` found. Written by that command; a program that was not run keeps its row.",
    documents: &[],
};

/// How many programs are watched at the same time that leave the CPUs alone.
const AT_ONCE: usize = 4;

/// What to run.
#[derive(Args)]
pub(crate) struct Options {
    /// Names of programs or of their folders; all without any
    names: Vec<String>,

    /// Releases of the JDK; Debian's is taken for 17
    #[arg(long, value_delimiter = ',', default_value = "17,25")]
    jdk: Vec<u32>,

    /// How long jtrace watches each, as `jtrace attach -d` takes it
    #[arg(long, default_value = "10s")]
    duration: String,

    /// Ask the JDK's own flight recorder as well, with its default settings, on the last of the releases
    #[arg(long)]
    flight: bool,

    /// Take the jtrace that is built already
    #[arg(long)]
    built: bool,

    /// Write the table into `tests/incidents.txt`
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    jdks::run(&jdks::Options::default())?;
    if !options.built {
        build::run(&build::Options::default())?;
    }
    let mut programs = program::all(&sources())?;
    compile(&programs)?;
    programs.extend(subject::REAL.map(Program::real));
    let wanted = |program: &Program| {
        options.names.is_empty() || options.names.iter().any(|name| *name == program.name || *name == program.class)
    };
    let chosen: Vec<&Program> = programs.iter().filter(|program| wanted(program)).collect();
    ensure!(!chosen.is_empty(), "no program is called {}", options.names.join(" or "));
    let last = options.jdk.last().copied();
    let mut trials = VecDeque::new();
    for release in &options.jdk {
        let jdk = jdk(*release)?;
        let with_flight = options.flight && Some(*release) == last;
        let of = chosen.iter().filter(|program| program.runs_on(*release));
        trials.extend(of.map(|program| Trial { program, jdk: jdk.clone(), flight: with_flight }));
    }
    let (busy, light): (VecDeque<_>, VecDeque<_>) = trials.into_iter().partition(|trial| trial.program.is_busy);
    let tally = Mutex::new(Tally::default());
    for (queue, at_once) in [(light, AT_ONCE), (busy, 1)] {
        work_off(queue, at_once, options, &tally);
    }
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("{}", tally.text());
    if options.keep {
        KEPT.write(tally.rows(&KEPT.rows()), Rows::new(), tally::table)?;
    }
    Ok(if tally.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs trials, some at a time, and tells of each when it is over.
fn work_off(queue: VecDeque<Trial<'_>>, at_once: usize, options: &Options, tally: &Mutex<Tally>) {
    let queue = Mutex::new(queue);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(trial) = next() {
                    let outcome = trial.run(&options.duration);
                    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                    tally.add(&trial, &outcome);
                }
            });
        }
    });
}

fn sources() -> PathBuf {
    workspace::root().join("tests/incidents")
}

/// Where the compiled programs are.
fn classes() -> PathBuf {
    workspace::target().join("incidents")
}

/// Compiles all programs, which share a class, and first installs the libraries that they are written with.
fn compile(programs: &[Program]) -> Result<()> {
    let mut jars: Vec<Jar> = programs.iter().flat_map(|program| program.jars.clone()).collect();
    jars.sort();
    jars.dedup();
    let mut missing: Vec<&str> =
        jars.iter().filter(|jar| !jar.file.is_file()).map(|jar| jar.package.as_str()).collect();
    missing.dedup();
    if !missing.is_empty() {
        println!("incidents: installing {} (programs are written with them)", missing.join(" "));
        setup::install(&missing)?;
    }
    let classes = classes();
    fs::create_dir_all(&classes).with_context(|| format!("cannot make {}", classes.display()))?;
    let shared = sources().join("Incident.java");
    let mut javac = process::command(workspace::jdk_tool("javac"));
    javac.args(["--release", "11", "-g", "-nowarn", "-Xlint:-options", "-encoding", "UTF-8", "-d"]).arg(&classes);
    javac.arg("-cp").arg(class_path(&classes, &jars)?);
    javac.arg(&shared).args(programs.iter().map(|program| &program.file));
    process::run(&mut javac)
}

/// The JDK of a release: Debian's of 17, since that is what most people install here.
fn jdk(release: u32) -> Result<Jdk> {
    let home = if release == 17 { workspace::jdk_home() } else { workspace::jdks().join(release.to_string()) };
    ensure!(home.join("bin/java").is_file(), "there is no JDK {release} in {}", home.display());
    Ok(Jdk { release, home })
}

/// The name of a file without its folder and ending.
fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
