//! `jtrace list`: the JVMs of this machine, and what can be seen of each.

use std::{collections::BTreeMap, io, path::Path};

use serde::{Deserialize, Serialize};

use super::apart::{self, Ended, Said};
use crate::{
    item::Target,
    jvm::{
        find::{self, Listed, privileges::Privileges, process::Status},
        memory::library,
    },
    text::{escape, format},
};

/// Section that holds the probe sites of a library built with USDT.
const NOTES: &str = ".note.stapsdt";
const COLUMNS: [&str; 8] = ["PID", "USER", "JDK", "GC", "UPTIME", "CONTAINER", "PROBES", "MAIN CLASS OR JAR"];
/// Widest cell of the table; what comes from a target can be of any length.
const MAX_CELL: usize = 60;

/// All JVMs that were found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct List {
    /// JVMs, by pid.
    pub jvms: Vec<Row>,
    /// Processes that may be JVMs, but that jtrace may not look at.
    pub hidden: usize,
    /// Processes that held jtrace up; after 16 of a user no other of hers is looked at, after 64 in all none.
    pub held_up: usize,
    /// Processes that were not looked at, as too many of their user's had held jtrace up.
    pub left_out: usize,
    /// Whether too many processes held jtrace up, so that those with higher pids were not looked at.
    pub is_cut: bool,
    /// Capabilities that jtrace lacks.
    pub missing_capabilities: Vec<&'static str>,
}

/// One JVM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its description.
    #[serde(flatten)]
    pub target: Target,
    /// Main class or jar, without its arguments.
    pub main: String,
    /// Whether its libjvm.so has probe sites; absent where jtrace cannot look into it.
    pub usdt: Option<bool>,
    /// Why it cannot be traced.
    pub problem: Option<String>,
}

/// Processes of a user that may hold a child up before her others are not looked at any more: nobody hides those of others.
const MAX_OF_USER: usize = 16;
/// And of all users.
const MAX_HELD_UP: usize = 64;

/// Looks for JVMs, in children, see `apart`.
pub fn collect() -> io::Result<List> {
    let missing_capabilities = Privileges::own().missing();
    let owner = |pid: u32| Some(Status::read(&pid.to_string()).ok()?.uid);
    let look = |first, without: &[u32], take: &mut dyn FnMut(Said)| apart::look_from(first, without, take);
    Ok(List { missing_capabilities, ..gathered(look, owner)? })
}

/// What children say that look from a pid on without the processes of some users, one after the other until one comes to the end.
fn gathered(
    mut look: impl FnMut(u32, &[u32], &mut dyn FnMut(Said)) -> io::Result<Ended>,
    owner: impl Fn(u32) -> Option<u32>,
) -> io::Result<List> {
    let mut list = List::default();
    let mut first = 0;
    let mut of_user: BTreeMap<u32, usize> = BTreeMap::new();
    loop {
        let without = of_user.iter().filter_map(|(uid, held_up)| (*held_up >= MAX_OF_USER).then_some(*uid));
        let ended = look(first, &without.collect::<Vec<_>>(), &mut |said| match said {
            Said::Jvm(row) => list.jvms.push(*row),
            Said::Hidden => list.hidden += 1,
            Said::LeftOut => list.left_out += 1,
            Said::At(_) | Said::HoldsUp(_) | Said::Reading(_) | Said::Warning(_) | Said::End => {}
        })?;
        let (Ended::HeldUp(at) | Ended::GoesOn(at)) = ended else { return Ok(list) };
        let pid = at.ok_or_else(|| io::Error::other("the process of jtrace that looks for JVMs said nothing"))?;
        list.jvms.extend(find::list_unread(pid, apart::HELD_UP.to_owned()).map(Row::of));
        list.held_up += 1;
        if let Some(uid) = owner(pid) {
            *of_user.entry(uid).or_default() += 1;
        }
        first = pid + 1;
        if list.held_up == MAX_HELD_UP {
            list.is_cut = true;
            return Ok(list);
        }
    }
}

fn has_notes(libjvm: &Path) -> Option<bool> {
    library::section_names(libjvm).ok().map(|names| names.iter().any(|name| name == NOTES))
}

impl Row {
    /// What is shown of a JVM.
    pub(super) fn of(Listed { target, attach_path, problem }: Listed) -> Self {
        let main = target.command.split(' ').next().unwrap_or_default().to_owned();
        Self { main, usdt: attach_path.as_deref().and_then(has_notes), problem, target }
    }
}

impl List {
    /// Writes a table.
    pub fn write_text(&self, out: &mut impl io::Write) -> io::Result<()> {
        let rows: Vec<_> = self.jvms.iter().map(Row::cells).collect();
        let header = COLUMNS.map(str::to_owned);
        let mut widths = [0; COLUMNS.len()];
        for row in rows.iter().chain([&header]) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(unicode_width::UnicodeWidthStr::width(cell.as_str()));
            }
        }
        if rows.is_empty() {
            writeln!(out, "no JVM found")?;
        } else {
            for row in [&header].into_iter().chain(&rows) {
                let mut line = String::new();
                for (cell, width) in row.iter().zip(widths) {
                    let padding = width.saturating_sub(unicode_width::UnicodeWidthStr::width(cell.as_str())) + 2;
                    line.push_str(cell);
                    line.extend(std::iter::repeat_n(' ', padding));
                }
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        for row in &self.jvms {
            if let Some(problem) = &row.problem {
                writeln!(out, "{}: {}", row.target.pid, escape::terminal(problem))?;
            }
        }
        if self.left_out > 0 {
            writeln!(
                out,
                "not looked at: {} of users of whom {MAX_OF_USER} held jtrace up",
                format::plural(self.left_out as u64, "process", "processes")
            )?;
        }
        if self.is_cut {
            writeln!(out, "{} processes held jtrace up: those after them were not looked at", self.held_up)?;
        }
        if self.hidden > 0 {
            let why = if self.missing_capabilities.is_empty() {
                "protected by a security module or in another user namespace".to_owned()
            } else {
                format!("for lack of {}; run with sudo", self.missing_capabilities.join(", "))
            };
            writeln!(
                out,
                "not looked at: {}, {why}",
                format::plural(self.hidden as u64, "other process", "other processes")
            )?;
        }
        Ok(())
    }

    /// Writes one JSON object.
    pub fn write_json(&self, out: &mut impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

impl Row {
    fn cells(&self) -> [String; COLUMNS.len()] {
        let unknown = |text: &str| if text.is_empty() { "?".to_owned() } else { cell(text) };
        let jdk = match self.target.jdk_release {
            0 => "?".to_owned(),
            release => release.to_string(),
        };
        let container = match (self.target.container, self.target.namespace_pid) {
            (false, _) => "-".to_owned(),
            (true, pid) if pid == self.target.pid => "yes".to_owned(),
            (true, pid) => format!("yes (pid {pid})"),
        };
        let probes = match self.usdt {
            Some(true) => "USDT",
            Some(false) => "symbols",
            None => "?",
        };
        [
            self.target.pid.to_string(),
            unknown(&self.target.user),
            jdk,
            unknown(&self.target.collector),
            duration(self.target.uptime_s),
            container,
            probes.to_owned(),
            unknown(&self.main),
        ]
    }
}

/// A text of a target, harmless and of bounded width.
fn cell(text: &str) -> String {
    let text = escape::terminal(text);
    if text.chars().count() <= MAX_CELL {
        return text.into_owned();
    }
    // The end of a path or a class name tells more than its beginning.
    let skip = text.chars().count() - (MAX_CELL - 1);
    std::iter::once('…').chain(text.chars().skip(skip)).collect()
}

/// Two units at most (`3d 4h`, `12m 5s`).
pub(super) fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m {}s", seconds % 60),
        3600..86_400 => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(command: &str) -> List {
        let target = Target {
            pid: 42,
            namespace_pid: 7,
            user: "shop".to_owned(),
            command: command.to_owned(),
            jdk_release: 21,
            collector: "G1".to_owned(),
            container: true,
            uptime_s: 3_700,
            ..Target::default()
        };
        let row = Row { usdt: Some(true), ..Row::of(Listed { target, attach_path: None, problem: None }) };
        List { jvms: vec![row], ..List::default() }
    }

    fn text(list: &List) -> String {
        let mut out = Vec::new();
        list.write_text(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_has_a_line_a_jvm() {
        let expected = "\
PID  USER  JDK  GC  UPTIME  CONTAINER    PROBES  MAIN CLASS OR JAR
42   shop  21   G1  1h 1m   yes (pid 7)  USDT    com.shop.Main
";
        assert_eq!(text(&list("com.shop.Main --port 80")), expected);
    }

    #[test]
    fn names_cannot_drive_the_terminal_nor_flood_it() {
        let shown = text(&list(&format!("\x1b[2J\n\u{202e}{}", "x".repeat(65_536))));
        assert!(shown.len() < 400 && shown.lines().count() == 2);
        assert!(!shown.contains(['\x1b', '\u{202e}']));
    }

    #[test]
    fn json_holds_what_the_table_holds() {
        let mut out = Vec::new();
        list("com.shop.Main a b").write_json(&mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let jvm = &json["jvms"][0];
        assert_eq!((&jvm["pid"], &jvm["main"], &jvm["usdt"]), (&42.into(), &"com.shop.Main".into(), &true.into()));
        assert_eq!(jvm["command"], "com.shop.Main a b");
    }

    /// Looks at processes that hold up whoever does, and at a JVM that has the highest pid.
    fn beside(users: impl Fn(u32) -> u32, count: u32) -> List {
        // No process has such a pid.
        const FIRST: u32 = 1 << 30;
        let look = |first: u32, without: &[u32], take: &mut dyn FnMut(Said)| {
            for pid in first.max(FIRST)..FIRST + count {
                if !without.contains(&users(pid)) {
                    return Ok(Ended::HeldUp(Some(pid)));
                }
                take(Said::LeftOut);
            }
            take(Said::Jvm(Box::new(list("com.shop.Main").jvms.remove(0))));
            Ok(Ended::Whole)
        };
        gathered(look, |pid| Some(users(pid))).unwrap()
    }

    #[test]
    fn a_user_whose_processes_hold_jtrace_up_hides_nobody_elses() {
        let of_one = beside(|_| 1000, 500);
        assert_eq!((of_one.jvms.len(), of_one.held_up, of_one.left_out, of_one.is_cut), (1, 16, 484, false));
        let of_many = beside(|pid| pid, 500);
        assert_eq!((of_many.jvms.len(), of_many.held_up, of_many.is_cut), (0, 64, true));
        assert!(text(&of_many).contains("64 processes held jtrace up"));
    }

    #[test]
    fn what_could_not_be_looked_at_is_said() {
        let empty = List { hidden: 3, left_out: 2, missing_capabilities: vec!["CAP_SYS_PTRACE"], ..List::default() };
        let shown = text(&empty);
        assert!(
            shown.contains("no JVM found") && shown.contains("3 other processes") && shown.contains("CAP_SYS_PTRACE")
        );
        assert!(shown.contains("2 processes of users"), "{shown}");
    }
}
