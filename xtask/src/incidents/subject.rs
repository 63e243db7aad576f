//! The JVM that is watched: that of a program of the corpus, or of a real one, of which `jtrace bench` asks work again and again.

use std::{fs, path::Path, process::Command, time::Duration};

use ::tests::{
    jdk::Jdk,
    patience::until,
    process::{Process, Signal},
};
use anyhow::{Context as _, Result, ensure};

use super::{
    classes,
    group::Group,
    program::{Program, class_path},
    trial::PATIENCE,
};
use crate::dist;

/// The real programs, by the names that `jtrace bench` has for them. Nothing is wrong with any of them.
pub(super) const REAL: [&str; 12] =
    ["batik", "checkstyle", "ecj", "fop", "h2", "javac", "jython", "luindex", "lusearch", "sunflow", "tomcat", "xalan"];

/// The main class of all of them.
const MAIN: &[u8] = b"jtrace.bench.Suite";
/// More iterations than are made while it is watched.
const ITERATIONS: &str = "1000";
/// How long the JVM works before it is watched: an incident is looked into when a service is up.
const UP: Duration = Duration::from_secs(10);

/// A JVM, and the process that ends with it.
pub(super) struct Subject {
    process: Process,
    jvm: u32,
    is_real: bool,
    _group: Option<Group>,
}

impl Subject {
    /// Starts it, until it is worth being looked at.
    pub(super) fn start(program: &Program, jdk: &Jdk, folder: &Path) -> Result<Self> {
        if program.is_real { Self::real(program, jdk, folder) } else { Self::planted(program, jdk, folder) }
    }

    fn planted(program: &Program, jdk: &Jdk, folder: &Path) -> Result<Self> {
        let mut java = Command::new(jdk.java());
        java.args(&program.flags).arg("-cp").arg(class_path(&classes(), &program.jars)?).arg(&program.main);
        let group = match (&program.memory, &program.threads) {
            (Some(limit), _) => Some(Group::with_memory(folder, limit)?),
            (None, Some(limit)) => Some(Group::with_threads(folder, limit)?),
            (None, None) if program.has_slow_disk => Group::with_slow_disk(folder)?,
            (None, None) => None,
        };
        if let Some(group) = &group {
            java = group.around(&java);
        }
        let process = Process::spawn(java.current_dir(folder))?;
        process.stdout.wait_for_line("READY", 0, PATIENCE).with_context(|| process.stderr.text())?;
        Ok(Self { jvm: process.pid(), process, is_real: false, _group: group })
    }

    fn real(program: &Program, jdk: &Jdk, folder: &Path) -> Result<Self> {
        let mut bench = Command::new(dist::binary());
        bench.args(["bench", "--suite", "packaged", "--programs", &program.name, "--configurations", "plain"]);
        bench.args(["--runs", "1", "--warm-up", "0", "--iterations", ITERATIONS, "--java"]).arg(jdk.java());
        bench.arg("-o").arg(folder.join("bench.json")).current_dir(folder).env("NO_COLOR", "1");
        let process = Process::spawn(&mut bench)?;
        let jvm = until("the program has used CPU time", || {
            ensure!(process.is_running(), "{}", process.transcript());
            Ok(below(process.pid()).into_iter().find(|pid| has_worked(*pid)))
        })?;
        Ok(Self { process, jvm, is_real: true, _group: None })
    }

    pub(super) const fn jvm(&self) -> u32 {
        self.jvm
    }

    /// Ends it, which must not have ended before.
    pub(super) fn end(mut self) -> Result<()> {
        ensure!(self.process.is_running(), "the program has ended: {}", self.process.transcript());
        if self.is_real {
            self.process.signal(Signal::TERM)?;
        } else {
            self.process.close_stdin();
        }
        self.process.wait_for_exit(PATIENCE).map(drop)
    }
}

/// Whether a process is the JVM of a real program, and for how long it has run on a CPU.
fn has_worked(pid: u32) -> bool {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let is_program = read("cmdline").split(|byte| *byte == 0).any(|word| word == MAIN);
    let stat = read("stat");
    let fields = String::from_utf8_lossy(&stat);
    let fields: Vec<&str> = fields.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    // User and system time, in ticks of 10 ms.
    let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or_default();
    is_program && Duration::from_millis(10 * (ticks(11) + ticks(12))) >= UP
}

/// The processes that a process has started, and those that they have.
fn below(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = children.flat_map(|text| numbers(&text)).collect();
    children.iter().flat_map(|child| below(*child)).chain(children.iter().copied()).collect()
}

fn numbers(text: &str) -> Vec<u32> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
