//! What threads and the process could not get: CPUs, by the scheduler's count and the control group's limit; memory, by swap and
//! page faults. Out of totals that looks at all threads bring along.

use super::super::table::column;
use crate::{
    item::look::{MappedFile, Opened, OsProcess, ThreadLimit, ThreadLook, Volume},
    report::{Shape, Summary, Table, Unit},
};

/// Totals at the first look and at the last one, and what looks add up.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    span_ns: u64,
    queued_ns: u64,
    first: Option<OsProcess>,
    last: OsProcess,
    /// Whether the JVM had thrown an `OutOfMemoryError`, at the first look and at the last one.
    out_of_memory: Option<[bool; 2]>,
    /// Time between those two.
    between_ns: u64,
    /// Looks in a row, up to the last, in which memory grew.
    grew: u64,
    /// The same of what is mapped of files.
    mapped_grew: u64,
    /// The file of which most was mapped meanwhile.
    file: Option<MappedFile>,
    /// Looks in a row, up to the last, in which more descriptors were open than in the one before.
    opened_more: u64,
    /// What most of the newest descriptors lead to.
    opened: Option<Opened>,
    /// The fullest file system, at the last look.
    volume: Option<Volume>,
}

/// What is in RAM of files.
const fn mapped(process: &OsProcess) -> u64 {
    process.resident_bytes.saturating_sub(process.anonymous_bytes)
}

impl Pressure {
    pub(super) fn look(&mut self, look: &ThreadLook) {
        self.span_ns = self.span_ns.saturating_add(look.span_ns);
        self.queued_ns = self.queued_ns.saturating_add(look.queued_ns);
        self.volume.clone_from(&look.volume);
        if let Some(now) = look.out_of_memory {
            let first = self.out_of_memory.map_or(now, |[first, _]| first);
            self.out_of_memory = Some([first, now]);
        }
        let Some(process) = look.process else { return };
        self.file.clone_from(&look.mapped);
        self.opened.clone_from(&look.opened);
        if self.first.is_none() {
            self.first = Some(process);
        } else {
            self.between_ns = self.between_ns.saturating_add(look.span_ns);
            self.mapped_grew = if mapped(&process) > mapped(&self.last) { self.mapped_grew + 1 } else { 0 };
            self.opened_more = if process.descriptors > self.last.descriptors { self.opened_more + 1 } else { 0 };
            self.grew = if process.anonymous_bytes > self.last.anonymous_bytes { self.grew + 1 } else { 0 };
        }
        self.last = process;
    }

    /// What was mapped, and opened, since the first look, and what is nearly full.
    pub(super) fn tables(&self) -> impl Iterator<Item = Shape> {
        self.mapped_table().into_iter().chain(self.opened_table()).chain(self.volume_table())
    }

    /// The fullest of the file systems on which the target writes; none where there is room on all.
    fn volume_table(&self) -> Option<Shape> {
        let Volume { file, bytes, free_bytes, files, free_files } = self.volume.clone()?;
        Some(Shape::Table(Table {
            id: "volumes",
            title: "File system that is nearly full".to_owned(),
            columns: vec![
                column("file", "A file on it", Unit::Text),
                column("size_bytes", "Size", Unit::Bytes),
                column("free_bytes", "Left", Unit::Bytes),
                column("files", "Files, at most", Unit::Count),
                column("free_files", "Files left", Unit::Count),
            ],
            rows: vec![vec![file.into(), bytes.into(), free_bytes.into(), files.into(), free_files.into()]],
        }))
    }

    /// What most of the newest descriptors lead to, by the last look; none where few more are open.
    fn opened_table(&self) -> Option<Shape> {
        let Opened { what, descriptors, looked_at } = self.opened.clone()?;
        Some(Shape::Table(Table {
            id: "opened",
            title: "What is opened and stays open".to_owned(),
            columns: vec![
                column("what", "What", Unit::Text),
                column("descriptors", "Descriptors", Unit::Count),
                column("looked_at", "Of the newest", Unit::Count),
            ],
            rows: vec![vec![what.into(), descriptors.into(), looked_at.into()]],
        }))
    }

    /// The file of which most was mapped since the first look, by the last one; none where little more of files lies in RAM.
    fn mapped_table(&self) -> Option<Shape> {
        let MappedFile { path, grown_bytes, mappings } = self.file.clone()?;
        Some(Shape::Table(Table {
            id: "mapped",
            title: "File of which more and more is mapped".to_owned(),
            columns: vec![
                column("file", "File", Unit::Text),
                column("grown_bytes", "Mapped since", Unit::Bytes),
                column("mappings", "Mappings", Unit::Count),
            ],
            rows: vec![vec![path.into(), grown_bytes.into(), mappings.into()]],
        }))
    }

    /// Adds what is known to the numbers of the lens.
    pub(super) fn summary(&self, mut summary: Summary) -> Summary {
        if self.span_ns > 0 {
            summary = summary.float("cpu_queue_average", self.queued_ns as f64 / self.span_ns as f64);
        }
        if let Some([before, now]) = self.out_of_memory {
            summary = summary
                .int("out_of_memory_before", u64::from(before))
                .int("out_of_memory_since", u64::from(now && !before));
        }
        let Some(first) = self.first else { return summary };
        let last = self.last;
        summary = summary
            .int("resident_bytes", last.resident_bytes)
            .int("anonymous_bytes", last.anonymous_bytes)
            .int("swapped_bytes", last.swapped_bytes);
        if self.between_ns == 0 {
            return summary;
        }
        let cpus = |later: u64, earlier: u64| later.saturating_sub(earlier) as f64 / self.between_ns as f64;
        let own = cpus(last.cpu_ns, first.cpu_ns);
        summary = summary
            .float("cpus_used", own)
            .float("cpus_used_by_others", (cpus(last.machine_ns, first.machine_ns) - own).max(0.0))
            .int("major_faults", last.major_faults.saturating_sub(first.major_faults))
            .int("anonymous_grown_bytes", last.anonymous_bytes.saturating_sub(first.anonymous_bytes))
            .int("looks_grown", self.grew)
            .int("mapped_grown_bytes", mapped(&last).saturating_sub(mapped(&first)))
            .int("looks_mapped", self.mapped_grew);
        if let (Some(now), Some(then)) = (last.descriptors, first.descriptors) {
            summary = summary
                .int("descriptors", now)
                .int("descriptors_grown", now.saturating_sub(then))
                .int("looks_descriptors", self.opened_more);
        }
        if let Some(most) = last.most_descriptors {
            summary = summary.int("most_descriptors", most);
        }
        if let Some(now) = last.memory_limit {
            let then = first.memory_limit.unwrap_or(now);
            summary = summary
                .int("memory_limit_bytes", now.limit_bytes)
                .int("memory_limit_used_bytes", now.used_bytes)
                .int("memory_limit_grown_bytes", now.used_bytes.saturating_sub(then.used_bytes))
                .int("memory_limit_reached", now.reached.saturating_sub(then.reached))
                .int("memory_limit_killed", now.killed.saturating_sub(then.killed));
        }
        if let Some(ThreadLimit { limit, used }) = last.thread_limit {
            summary = summary.int("thread_limit", limit).int("thread_limit_used", used);
        }
        match (last.throttled_ns, first.throttled_ns) {
            (Some(later), Some(earlier)) => summary.int("throttled_ns", later.saturating_sub(earlier)),
            _ => summary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item::look::MemoryLimit, report::Section, text::format};

    #[test]
    fn averages_are_of_the_time_between_looks() {
        let at = |seconds: u64| OsProcess {
            anonymous_bytes: 100 + seconds,
            resident_bytes: 300,
            swapped_bytes: 0,
            major_faults: 7 * seconds,
            cpu_ns: 1_500_000_000 * seconds,
            machine_ns: 1_750_000_000 * seconds,
            throttled_ns: Some(900 * seconds),
            descriptors: Some(40 + 10 * seconds),
            most_descriptors: Some(4096),
            thread_limit: Some(ThreadLimit { limit: 100, used: 95 }),
            memory_limit: Some(MemoryLimit {
                limit_bytes: 900,
                used_bytes: 500 + seconds,
                reached: seconds,
                killed: 1,
            }),
        };
        let look = |seconds: u64, span_s: u64| ThreadLook {
            span_ns: span_s * 1_000_000_000,
            queued_ns: span_s * 3_000_000_000,
            process: Some(at(seconds)),
            ..ThreadLook::default()
        };
        let mut pressure = Pressure::default();
        for look in [look(10, 0), look(12, 2), look(16, 4)] {
            pressure.look(&look);
        }
        let summary = pressure.summary(Summary::new());
        let section = Section { id: "threads", title: String::new(), summary, notes: Vec::new(), shapes: Vec::new() };
        let number = |key: &str| section.number(key).expect(key);
        assert_eq!(number("cpu_queue_average").to_bits(), 3.0_f64.to_bits());
        assert_eq!(number("cpus_used").to_bits(), 1.5_f64.to_bits());
        assert_eq!(number("cpus_used_by_others").to_bits(), 0.25_f64.to_bits());
        let whole = ["major_faults", "anonymous_grown_bytes", "throttled_ns", "looks_grown"];
        assert_eq!(whole.map(|key| section.number(key).map(format::whole)), [42, 6, 5400, 2].map(Some));
        let whole = ["descriptors", "descriptors_grown", "looks_descriptors", "most_descriptors"];
        assert_eq!(whole.map(|key| section.number(key).map(format::whole)), [200, 60, 2, 4096].map(Some));
        let of_limit = ["bytes", "used_bytes", "grown_bytes", "reached", "killed"];
        let of_limit = of_limit.map(|key| section.number(&format!("memory_limit_{key}")).map(format::whole));
        let of_threads = ["thread_limit", "thread_limit_used"].map(|key| section.number(key).map(format::whole));
        assert_eq!(of_threads, [100, 95].map(Some));
        assert_eq!(of_limit, [900, 516, 6, 6, 0].map(Some));
    }

    #[test]
    fn an_error_before_the_first_look_is_told_from_one_since() {
        let told = |looks: [Option<bool>; 3]| {
            let mut pressure = Pressure::default();
            for out_of_memory in looks {
                pressure.look(&ThreadLook { out_of_memory, ..ThreadLook::default() });
            }
            let summary = pressure.summary(Summary::new());
            let section =
                Section { id: "threads", title: String::new(), summary, notes: Vec::new(), shapes: Vec::new() };
            ["out_of_memory_before", "out_of_memory_since"].map(|key| section.number(key).map(format::whole))
        };
        assert_eq!(told([Some(true); 3]), [Some(1), Some(0)]);
        assert_eq!(told([Some(false), Some(false), Some(true)]), [Some(0), Some(1)]);
        assert_eq!(told([None; 3]), [None; 2]);
    }

    #[test]
    fn nothing_is_said_before_there_is_something_to_compare() {
        let mut pressure = Pressure::default();
        pressure.look(&ThreadLook { process: Some(OsProcess::default()), ..ThreadLook::default() });
        let summary = pressure.summary(Summary::new());
        let section = Section { id: "threads", title: String::new(), summary, notes: Vec::new(), shapes: Vec::new() };
        assert_eq!(section.number("cpu_queue_average"), None);
        assert_eq!(section.number("cpus_used"), None);
    }
}
