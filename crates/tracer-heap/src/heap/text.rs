//! A summary as text of a screen.

mod collections;
mod waste;

use std::io::{self, Write};

use super::{
    elements::CollectionRow,
    summary::{Accumulation, ClassRow, Head, ObjectRow, PathRow, SizeRow, Summary},
};
use crate::text::{
    column::{bytes, duration, wall_clock},
    escape,
    format::plural,
};

/// Steps of a path that are shown.
const MAX_STEPS: usize = 8;
/// Classes that are shown with the way that leads to them.
const MAX_WAYS: usize = 5;
/// Rows of a table that are shown however little they are.
const FEWEST_ROWS: usize = 5;
/// What is less than one in so many bytes of the heap is little.
const LITTLE: u64 = 200;

/// How much of each table is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What a reader of one screen looks for: rows that are not little.
    Screen,
    /// All rows.
    Whole,
}

/// Writes it.
pub fn write(summary: &Summary, extent: Extent, out: &mut impl Write) -> io::Result<()> {
    let little_bytes = match extent {
        Extent::Screen => summary.head.bytes / LITTLE,
        Extent::Whole => 0,
    };
    let by_class = large(&summary.by_class, |row| row.retained_bytes, little_bytes);
    let biggest = large(&summary.biggest, |row| row.retained_bytes, little_bytes);
    let accumulations = large(&summary.accumulations, |row| row.object.retained_bytes, little_bytes);
    header(&summary.head, out)?;
    writeln!(out, "\nWhat keeps how much alive")?;
    for row in &summary.roots {
        writeln!(out, "  {:>10}  {:>8} objects  {}", size(row.retained_bytes), row.objects, row.text())?;
    }
    classes(by_class, out)?;
    writeln!(out, "\nObjects that would free most\n  {:>10}  {:>10}", "retained", "own")?;
    for row in biggest {
        object(row, out)?;
    }
    if !accumulations.is_empty() {
        writeln!(out, "\nObjects that hold many small ones\n  {:>10}  {:>10}", "retained", "own")?;
        for row in accumulations {
            accumulation(row, out)?;
        }
    }
    let is_shown = |row: &&CollectionRow| extent == Extent::Whole || row.is_of_program();
    let most = if extent == Extent::Whole { usize::MAX } else { FEWEST_ROWS };
    collections::write(summary.collections.iter().filter(is_shown).take(most), out)?;
    if extent == Extent::Whole {
        sizes(&summary.sizes, summary.head.bytes, out)?;
    }
    if let Some(of) = &summary.waste {
        waste::write(of, summary.head.bytes, little_bytes, out)?;
    }
    let left_out = [
        summary.by_class.len() - by_class.len(),
        summary.biggest.len() - biggest.len(),
        summary.accumulations.len() - accumulations.len(),
    ];
    if let Some(rows) = left_out.into_iter().max().filter(|rows| *rows > 0) {
        let (rows, less) = (plural(rows as u64, "row", "rows"), size(little_bytes));
        writeln!(
            out,
            "\nUp to {rows} of a table, with less than {less} each, are left out: `--rows N` shows N of each table"
        )?;
    }
    Ok(())
}

/// The first rows, up to those that retain little.
fn large<T>(rows: &[T], retained: impl Fn(&T) -> u64, little_bytes: u64) -> &[T] {
    let many = rows.iter().take_while(|row| retained(row) >= little_bytes).count();
    rows.get(..many.max(FEWEST_ROWS)).unwrap_or(rows)
}

fn size(of: u64) -> String {
    bytes(of as f64)
}

fn plain(text: &str) -> String {
    escape::terminal(text).into_owned()
}

/// Writes where a snapshot is from, how much there is, and what it cost.
pub fn header(head: &Head, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let Head { origin, cost, objects, bytes, references, classes } = head;
    if origin.pid > 0 {
        write!(out, "Heap of process {}", origin.pid)?;
    } else {
        write!(out, "Heap of {}", plain(&origin.file))?;
    }
    if origin.time_ms > 0 {
        write!(out, " at {}", wall_clock(origin.time_ms))?;
    }
    let about: Vec<String> = [&origin.command, &origin.jvm, &origin.collector]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| plain(text))
        .collect();
    writeln!(out, "{}{}", if about.is_empty() { "" } else { ": " }, about.join(", "))?;
    writeln!(out, "{objects} objects of {classes} classes, {}; {references} references", size(*bytes))?;
    let Some(cost) = cost else { return Ok(()) };
    let pause = duration(cost.pause_ns as f64);
    if cost.in_jvm {
        writeln!(out, "The JVM stood still for {pause}: it walked through its heap itself")?;
    } else {
        let copy = duration(cost.copy_ns as f64);
        writeln!(
            out,
            "The JVM stood still for at most {pause} ({copy} of it to copy it); the copy walked for {}, {} of CPU time",
            duration(cost.walk_ns as f64),
            duration(cost.cpu_ns as f64)
        )?;
    }
    writeln!(
        out,
        "Meanwhile up to {} less memory was free; {} were told",
        size(cost.memory_bytes),
        size(cost.stream_bytes)
    )?;
    if !cost.complete {
        writeln!(out, "NOT COMPLETE: the walk {}", plain(&cost.reason))?;
    }
    if cost.odd > 0 {
        writeln!(out, "{} records made no sense and were left out", cost.odd)?;
    }
    if cost.unknown_class > 0 {
        writeln!(out, "{} objects are of classes that were loaded meanwhile", cost.unknown_class)?;
    }
    Ok(())
}

fn classes(rows: &[ClassRow], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nClasses\n  {:>10}  {:>10}  {:>9}", "retained", "own", "objects")?;
    for (at, row) in rows.iter().enumerate() {
        let ClassRow { class, objects, bytes, retained_bytes, retained_exact, .. } = row;
        let least = if *retained_exact { "" } else { "≥" };
        writeln!(
            out,
            "  {:>10}  {:>10}  {objects:>9}  {}",
            format!("{least}{}", size(*retained_bytes)),
            size(*bytes),
            plain(class)
        )?;
        if at < MAX_WAYS && !row.merged_path.is_empty() {
            let way: Vec<String> = row
                .merged_path
                .iter()
                .take(MAX_STEPS)
                .map(|step| format!("{} ({})", plain(&step.by), step.objects))
                .collect();
            let more = if row.merged_path.len() > way.len() { " < ..." } else { "" };
            writeln!(out, "{:>39}held by {}{more}", "", way.join(" < "))?;
        }
    }
    Ok(())
}

/// Objects by size; the share is that of all objects up to there.
fn sizes(rows: &[SizeRow], heap_bytes: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nObjects by size\n  {:>10}  {:>10}  {:>10}  up to there", "at most", "objects", "bytes")?;
    for (SizeRow { to_bytes, objects, bytes }, percent) in SizeRow::up_to_there(rows, heap_bytes) {
        writeln!(out, "  {:>10}  {objects:>10}  {:>10}  {percent:>9.1} %", size(*to_bytes), size(*bytes))?;
    }
    Ok(())
}

fn object(row: &ObjectRow, out: &mut impl Write) -> io::Result<()> {
    let length = row.length.map_or_else(String::new, |length| format!(" of length {length}"));
    writeln!(out, "  {:>10}  {:>10}  {}{length}", size(row.retained_bytes), size(row.bytes), plain(&row.class))?;
    writeln!(out, "{:>26}{}", "", path(&row.path))
}

fn accumulation(row: &Accumulation, out: &mut impl Write) -> io::Result<()> {
    object(&row.object, out)?;
    let of: Vec<String> =
        row.holds_by_class.iter().map(|holder| format!("{} {}", holder.objects, plain(&holder.by))).collect();
    writeln!(out, "{:>26}holds {} objects: {}", "", row.holds, of.join(", "))
}

/// A path in one line.
pub fn path(path: &PathRow) -> String {
    let root = &path.root;
    let mut text = match (&root.thread, &root.method) {
        (Some(thread), Some(method)) => format!("thread \"{}\", {}: ", plain(thread), plain(method)),
        (Some(thread), None) => format!("thread \"{}\": ", plain(thread)),
        _ => format!("{}: ", root.kind.text()),
    };
    if path.steps.is_empty() {
        text.push_str(&plain(&root.class));
    }
    let all = path.steps.len();
    let left_out = all.saturating_sub(MAX_STEPS);
    for (at, step) in path.steps.iter().enumerate() {
        if left_out > 0 && at == MAX_STEPS / 2 {
            text.push_str(" ...");
        }
        if left_out > 0 && (MAX_STEPS / 2..MAX_STEPS / 2 + left_out).contains(&at) {
            continue;
        }
        if at > 0 {
            text.push_str(" > ");
        }
        let joint = if step.by.starts_with(['[', '<']) { "" } else { "." };
        let class =
            if step.by.starts_with('[') { step.class.strip_suffix("[]").unwrap_or(&step.class) } else { &step.class };
        text.push_str(&plain(&format!("{class}{joint}{}", step.by)));
        if step.times > 1 {
            text.extend([" (", &step.times.to_string(), " times)"]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{
        sample::{self, Shop},
        summary::Analysis,
    };

    fn text(summary: &Summary, extent: Extent) -> String {
        let mut out = Vec::new();
        write(summary, extent, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_screen_leaves_out_what_is_little_and_says_so() {
        let graph = sample::shop(Shop { orders: 20_000, cached: 50, soft: 3, plugins: 40 });
        let origin = sample::counted(&graph, 0).origin;
        let summary = Analysis::of(graph).summary(origin, None, true, 20);
        let (screen, whole) = (text(&summary, Extent::Screen), text(&summary, Extent::Whole));
        let little = summary.head.bytes / LITTLE;
        let large = summary.biggest.iter().filter(|row| row.retained_bytes >= little).count().max(FEWEST_ROWS);
        assert!(large < summary.biggest.len(), "{large} of {}", summary.biggest.len());
        let rows_of = |text: &str, title: &str| {
            let table = text.split(title).nth(1).unwrap().split("\n\n").next().unwrap();
            // A row has a second line, with its way.
            (table.lines().count() - 2) / 2
        };
        let title = "Objects that would free most";
        assert_eq!((rows_of(&screen, title), rows_of(&whole, title)), (large, summary.biggest.len()));
        let last = screen.lines().last().unwrap();
        assert!(last.starts_with("Up to ") && last.ends_with("`--rows N` shows N of each table"), "{last}");
        assert!(!whole.contains("left out"), "{whole}");
    }

    #[test]
    fn classes_stand_in_the_order_of_what_is_shown_of_them() {
        let graph = sample::shop(Shop { orders: 300, cached: 500, soft: 3, plugins: 40 });
        let origin = sample::counted(&graph, 0).origin;
        let retained: Vec<u64> =
            Analysis::of(graph).summary(origin, None, true, 20).by_class.iter().map(|row| row.retained_bytes).collect();
        assert!(retained.is_sorted_by(|one, next| one >= next), "{retained:?}");
    }
}
