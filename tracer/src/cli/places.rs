//! Where the objects of a JVM are made while something else is done with it: another jtrace samples allocations meanwhile, in a process of
//! its own.

use std::{
    io::{self, Read as _},
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::{Failure, attach};
use crate::{
    ending,
    heap::leaks::Sampled,
    jvm::target_files,
    report::{Cell, Report, Shape, Table},
};

/// Longest report that is read.
const MAX_REPORT_BYTES: u64 = 64 << 20;
/// The hidden command that samples.
const COMMAND: &str = "attach-apart";
/// It ends when it is told to, or when nobody is left to do so. Should neither reach it, it ends so much later.
const BEYOND: Duration = Duration::from_mins(10);
/// How long it may take to end in good order, and once it is told again.
const LIMITS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(2)];

/// Options of `jtrace attach-apart`.
#[derive(Debug, clap::Args)]
pub(super) struct SamplingOptions {
    /// Process id of the jtrace that has started this one
    parent: u32,

    #[command(flatten)]
    attach: attach::Options,
}

/// The child: a session that ends in good order when its parent does, in whatever way that one ends.
pub(super) fn apart(options: SamplingOptions) -> Result<ExitCode, Failure> {
    ending::with_parent(options.parent)?;
    attach::run(options.attach)
}

/// Another jtrace at work.
pub(super) struct Sampling {
    child: Child,
    told: Receiver<io::Result<Vec<u8>>>,
}

impl Sampling {
    /// Starts it. What it needs it must get now: whoever has given up capabilities starts nobody.
    pub(super) fn start(pid: u32, lasts: Duration) -> io::Result<Self> {
        let most = lasts.saturating_add(BEYOND).as_secs();
        let words = [&pid.to_string(), "-l", "alloc", "--json", "-d", &format!("{most}s")];
        let mut command = Command::new(target_files::program());
        Self::run(command.args([COMMAND, &std::process::id().to_string()]).args(words))
    }

    fn run(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (sender, told) = sync_channel(1);
        thread::Builder::new().name("samples".to_owned()).spawn(move || {
            let mut report = Vec::new();
            let read = stdout.take(MAX_REPORT_BYTES).read_to_end(&mut report);
            // Nobody may wait for it any more.
            let _: Result<(), _> = sender.send(read.map(|_| report));
        })?;
        Ok(Self { child, told })
    }

    /// Ends it, and gives what it saw; the error says why that is nothing.
    pub(super) fn end(self) -> Result<Vec<Sampled>, String> {
        let report = self.report(LIMITS)?;
        let report = Report::read(&report).map_err(|_| "it gave no report".to_owned())?;
        let alloc = report.sections.iter().find(|section| section.id == "alloc");
        let alloc = alloc.ok_or("this JVM has no site for them")?;
        let sites = alloc.shapes.iter().find_map(|shape| match shape {
            Shape::Table(table) if table.id == "sites" => Some(table),
            _ => None,
        });
        Ok(sites.map(rows).unwrap_or_default())
    }

    /// What it says once it is told to end. The second time it leaves whatever holds it up; one that does not even then stays behind.
    fn report(mut self, limits: [Duration; 2]) -> Result<Vec<u8>, String> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        for limit in limits {
            // A shell can have its children ignore what the keyboard sends, so this is another signal. One that has ended needs none.
            let _: Option<Result<(), _>> = pid.map(|pid| kill_process(pid, Signal::TERM));
            if let Ok(report) = self.told.recv_timeout(limit) {
                let _: bool = target_files::is_over(&mut self.child, limit);
                return report.map_err(|error| error.to_string());
            }
        }
        Err("it was held up, and was left behind".to_owned())
    }
}

fn rows(table: &Table) -> Vec<Sampled> {
    let columns = ["class", "site", "samples"].map(|key| table.column(key));
    let [Some(class), Some(site), Some(samples)] = columns else { return Vec::new() };
    let of = |row: &Vec<Cell>| match [class, site, samples].map(|at| row.get(at)) {
        [Some(Cell::Text(class)), Some(Cell::Text(site)), Some(Cell::Int(samples))] => {
            Some(Sampled { class: class.clone(), place: site.clone(), samples: *samples })
        }
        _ => None,
    };
    table.rows.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_has_ended_has_said_all_that_it_will() {
        let sampling = Sampling::run(Command::new("sh").args(["-c", "exit 1"])).unwrap();
        let limit = Duration::from_mins(1);
        assert_eq!(sampling.report([limit, limit]).unwrap(), b"");
    }

    #[test]
    fn one_that_does_not_end_is_waited_for_with_a_limit() {
        let mut command = Command::new("sh");
        let sampling = Sampling::run(command.args(["-c", "trap '' TERM; exec sleep 5"])).unwrap();
        // Only then is the signal ignored.
        let ignores = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", sampling.child.id())).unwrap();
            let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
            u64::from_str_radix(ignored, 16).unwrap() >> 14 & 1 == 1
        };
        while !ignores() {
            thread::yield_now();
        }
        let limit = Duration::from_millis(10);
        assert!(sampling.report([limit, limit]).unwrap_err().contains("left behind"));
    }
}
