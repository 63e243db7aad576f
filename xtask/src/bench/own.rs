//! What jtrace takes of the CPU for itself on real programs: until all is attached, and in the ten seconds after that. Another jtrace can take
//! turns with it, on the same JVMs.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::Jdk,
    jtrace::{self, LIMIT},
    process::Process,
    report::Report,
};

use super::{budget::Figure, statistics::median};
use crate::profile;

/// Programs of `tests/workloads/programs`.
const PROGRAMS: [&str; 3] = ["h2", "xalan", "ecj"];
/// For how long one works; it is ended before.
const WORK: &str = "3600";
/// How long it works before anybody watches, so that what is compiled at a beginning does not count.
const WARM: Duration = Duration::from_secs(10);
/// How long a session is.
const SESSION: &str = "10s";

/// What a session says of itself.
#[derive(Clone, Copy)]
struct Own {
    /// CPU time until all was attached, in ms.
    attach_cpu: f64,
    /// From the start of jtrace until it says so, in ms.
    attach_wall: f64,
    /// CPU time after that, in percent of a core.
    percent: f64,
}

/// A number of a session, with its name.
type Number = (&'static str, fn(&Own) -> f64);

impl Own {
    const NUMBERS: [Number; 3] = [
        ("attach_cpu_ms", |own| own.attach_cpu),
        ("attach_wall_ms", |own| own.attach_wall),
        ("cpu_percent", |own| own.percent),
    ];
}

pub(crate) fn measure(jdk: &Jdk, times: usize, before: Option<&Path>) -> Result<Vec<Figure>> {
    let mut jtraces = vec![jtrace::binary()?];
    jtraces.extend(before.map(Path::to_owned));
    let mut figures = Vec::new();
    for program in PROGRAMS {
        figures.extend(of_program(jdk, program, times, &jtraces)?);
    }
    Ok(figures)
}

fn of_program(jdk: &Jdk, program: &'static str, times: usize, jtraces: &[PathBuf]) -> Result<Vec<Figure>> {
    let Some(class_path) = profile::class_path(program) else {
        return Ok(vec![Figure::absent("own_programs", format!("{program} is not installed"))]);
    };
    let directory = tempfile::tempdir()?;
    let mut java = Command::new(jdk.java());
    java.arg("-Xmx512m").arg("-cp").arg(class_path).args(["Programs", program, WORK]).current_dir(directory.path());
    let mut jvm = Process::spawn(&mut java)?;
    jvm.stdout.wait_for_line("READY", 0, LIMIT)?;
    jvm.send_line("GO")?;
    std::thread::sleep(WARM);
    let mut sessions = vec![Vec::new(); jtraces.len()];
    for _ in 0..times {
        for (jtrace, sessions) in jtraces.iter().zip(&mut sessions) {
            sessions.push(session(jtrace, jvm.pid())?);
        }
    }
    let of = |sessions: &[Own], number: fn(&Own) -> f64| median(&sessions.iter().map(number).collect::<Vec<_>>());
    let mut figures = Vec::new();
    for (name, number) in Own::NUMBERS {
        let now = of(&sessions[0], number);
        let note = match sessions.get(1).map(|sessions| of(sessions, number)) {
            Some(before) => format!("median of {times}; the other jtrace {before:.1}, ratio {:.2}", now / before),
            None => format!("median of {times}"),
        };
        figures.push(Figure::new(format!("own_{program}_{name}"), now, note));
    }
    Ok(figures)
}

fn session(jtrace: &Path, pid: u32) -> Result<Own> {
    let began = Instant::now();
    let mut command = Command::new(jtrace);
    command.args(["attach", &pid.to_string(), "-d", SESSION, "--json"]).env("NO_COLOR", "1");
    let mut process = Process::spawn(&mut command)?;
    process.stderr.wait_for_line("attached to", 0, LIMIT)?;
    let attach_wall = began.elapsed().as_secs_f64() * 1e3;
    let status = process.wait(LIMIT)?;
    ensure!(status.success(), "{}", process.transcript());
    let report = Report::parse(&process.stdout.bytes())?;
    let cost = |key: &str| report.0["cost"][key].as_f64().with_context(|| format!("the report has no {key}"));
    Ok(Own { attach_cpu: cost("attach_cpu_ns")? / 1e6, attach_wall, percent: cost("own_cpu_percent")? })
}
