//! Many JVMs in a table, those that are worst off first.

use serde::{Deserialize, Serialize};

use crate::{
    item::Target,
    report::{Cell, Column, Finding, Severity, Table, Unit},
};

/// Most findings that a reading has.
pub const MOST_FINDINGS: usize = 5;

/// What is known of a JVM at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// CPU time since the last look, in percent of a core; absent at the first one.
    pub cpu_percent: Option<f64>,
    /// Part of the last seconds in pauses of the collector, by the JVM's own counters, in percent.
    pub pause_percent: Option<f64>,
    /// What is used of the heap, as the JVM counted last.
    pub heap_used_bytes: Option<u64>,
    /// The largest heap.
    pub heap_max_bytes: Option<u64>,
    /// Memory in RAM.
    pub resident_bytes: u64,
    /// Java threads.
    pub threads: Option<u64>,
    /// The worst findings, the worst first.
    pub findings: Vec<Brief>,
}

/// A finding in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// Stable id of the rule.
    pub id: String,
    /// How bad.
    pub severity: Severity,
    /// The sentence.
    pub title: String,
    /// What to do next.
    pub next_step: String,
}

impl From<&Finding> for Brief {
    fn from(finding: &Finding) -> Self {
        let Finding { id, severity, score: _, title, shown_in: _, when: _, evidence: _, next_step } = finding;
        Self { id: (*id).to_owned(), severity: *severity, title: title.clone(), next_step: next_step.clone() }
    }
}

/// A JVM, as far as it is known.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is.
    #[serde(flatten)]
    pub target: Target,
    /// What it does; absent where nothing was heard yet, or never will be.
    pub reading: Option<Reading>,
    /// Why nothing is known.
    pub problem: Option<String>,
}

impl Row {
    /// The worst finding.
    pub fn worst(&self) -> Option<&Brief> {
        self.reading.as_ref()?.findings.first()
    }

    fn rank(&self) -> (Option<Severity>, f64) {
        let cpu = self.reading.as_ref().and_then(|reading| reading.cpu_percent);
        (self.worst().map(|worst| worst.severity), cpu.unwrap_or(-1.0))
    }
}

/// Puts the worst first; among those that are as bad, the one that uses most CPU time.
pub fn sort(rows: &mut [Row]) {
    rows.sort_by(|a, b| {
        let ((bad_a, cpu_a), (bad_b, cpu_b)) = (a.rank(), b.rank());
        bad_b.cmp(&bad_a).then(cpu_b.total_cmp(&cpu_a)).then(a.target.pid.cmp(&b.target.pid))
    });
}

/// The table, a row a JVM in this order.
pub fn table(rows: &[Row]) -> Table {
    let column = |key, title, unit| Column { key, title, unit };
    let columns = vec![
        column("pid", "PID", Unit::Count),
        column("user", "USER", Unit::Text),
        column("jdk", "JDK", Unit::Text),
        column("cpu_percent", "CPU", Unit::Percent),
        column("pause_percent", "PAUSES", Unit::Percent),
        column("heap_used_bytes", "HEAP", Unit::Bytes),
        column("heap_max_bytes", "OF", Unit::Bytes),
        column("resident_bytes", "RAM", Unit::Bytes),
        column("threads", "THREADS", Unit::Count),
        column("command", "MAIN CLASS OR JAR", Unit::Text),
    ];
    let row = |row: &Row| {
        let Row { target, reading, problem: _ } = row;
        let of = |value: fn(&Reading) -> Cell| reading.as_ref().map_or(Cell::Missing, value);
        let jdk = match target.jdk_release {
            0 => "?".to_owned(),
            release => release.to_string(),
        };
        let main = target.command.split(' ').next().unwrap_or_default().to_owned();
        vec![
            u64::from(target.pid).into(),
            target.user.clone().into(),
            jdk.into(),
            of(|reading| reading.cpu_percent.map_or(Cell::Missing, Cell::Float)),
            of(|reading| reading.pause_percent.map_or(Cell::Missing, Cell::Float)),
            of(|reading| reading.heap_used_bytes.into()),
            of(|reading| reading.heap_max_bytes.into()),
            of(|reading| reading.resident_bytes.into()),
            of(|reading| reading.threads.into()),
            main.into(),
        ]
    };
    Table { id: "jvms", title: String::new(), columns, rows: rows.iter().map(row).collect() }
}
