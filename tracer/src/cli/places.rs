//! Where the objects of a JVM are made while something else is done with it: another jtrace samples allocations meanwhile, in a process of
//! its own.

use std::{
    env,
    io::{self, Read as _},
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    heap::leaks::Sampled,
    report::{Cell, Report, Shape, Table},
};

/// Longest report that is read.
const MAX_REPORT_BYTES: u64 = 64 << 20;
/// It ends when it is told to; were nobody left to do so, it would end so much later.
const BEYOND: Duration = Duration::from_mins(10);

/// Another jtrace at work.
pub(super) struct Sampling {
    child: Child,
    told: JoinHandle<io::Result<Vec<u8>>>,
}

impl Sampling {
    /// Starts it. What it needs it must get now: whoever has given up capabilities starts nobody.
    pub(super) fn start(pid: u32, lasts: Duration) -> io::Result<Self> {
        let most = lasts.saturating_add(BEYOND).as_secs();
        let mut child = Command::new(env::current_exe()?)
            .args(["attach", &pid.to_string(), "-l", "alloc", "--json", "-d", &format!("{most}s")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        let read = move || {
            let mut report = Vec::new();
            if let Some(stdout) = stdout {
                stdout.take(MAX_REPORT_BYTES).read_to_end(&mut report)?;
            }
            Ok(report)
        };
        Ok(Self { child, told: thread::Builder::new().name("samples".to_owned()).spawn(read)? })
    }

    /// Ends it, and gives what it saw; the error says why that is nothing.
    pub(super) fn end(mut self) -> Result<Vec<Sampled>, String> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // One that has ended by itself has said why in its report.
            let _: Result<(), _> = kill_process(pid, Signal::INT);
        }
        let report = self.told.join().map_err(|_| "its report was not read".to_owned())?;
        self.child.wait().map_err(|error| error.to_string())?;
        let report =
            Report::read(&report.map_err(|error| error.to_string())?).map_err(|_| "it gave no report".to_owned())?;
        let alloc = report.sections.iter().find(|section| section.id == "alloc");
        let alloc = alloc.ok_or("this JVM has no site for them")?;
        let sites = alloc.shapes.iter().find_map(|shape| match shape {
            Shape::Table(table) if table.id == "sites" => Some(table),
            _ => None,
        });
        Ok(sites.map(rows).unwrap_or_default())
    }
}

fn rows(table: &Table) -> Vec<Sampled> {
    let at = |key: &str| table.columns.iter().position(|column| column.key == key);
    let [Some(class), Some(site), Some(samples)] = ["class", "site", "samples"].map(at) else { return Vec::new() };
    let of = |row: &Vec<Cell>| match [class, site, samples].map(|at| row.get(at)) {
        [Some(Cell::Text(class)), Some(Cell::Text(site)), Some(Cell::Int(samples))] => {
            Some(Sampled { class: class.clone(), place: site.clone(), samples: *samples })
        }
        _ => None,
    };
    table.rows.iter().filter_map(of).collect()
}
