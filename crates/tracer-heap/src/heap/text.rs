//! A summary as text of a screen.

use std::io::{self, Write};

use super::summary::{Accumulation, ClassRow, Head, ObjectRow, PathRow, Summary};
use crate::text::{
    column::{bytes, duration, wall_clock},
    escape,
};

/// Steps of a path that are shown.
const MAX_STEPS: usize = 8;
/// Classes that are shown with the way that leads to them.
const MAX_WAYS: usize = 5;

/// Writes it.
pub fn write(summary: &Summary, out: &mut impl Write) -> io::Result<()> {
    header(&summary.head, out)?;
    writeln!(out, "\nWhat keeps how much alive")?;
    for row in &summary.roots {
        let kind = row.kind.map_or("several roots together", |kind| kind.text());
        writeln!(out, "  {:>10}  {:>8} objects  {kind}", size(row.retained_bytes), row.objects)?;
    }
    classes(summary, out)?;
    writeln!(out, "\nObjects that would free most\n  {:>10}  {:>10}", "retained", "own")?;
    for row in &summary.biggest {
        object(row, out)?;
    }
    if !summary.accumulations.is_empty() {
        writeln!(out, "\nObjects that hold many small ones\n  {:>10}  {:>10}", "retained", "own")?;
        for row in &summary.accumulations {
            accumulation(row, out)?;
        }
    }
    Ok(())
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

fn classes(summary: &Summary, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nClasses\n  {:>10}  {:>10}  {:>9}", "retained", "own", "objects")?;
    for (at, row) in summary.by_class.iter().enumerate() {
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
            writeln!(out, "{:>39}held by {}", "", way.join(" < "))?;
        }
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
