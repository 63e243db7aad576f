//! Two snapshots of heaps against each other, as text: classes, then what holds what differs.

use std::io;

use super::{
    escape, heap_way,
    text::{Ink, Page, TextOptions},
};
use crate::{
    heap::{
        census::Amount,
        diff::{Fate, HeapDiff, Side},
    },
    text::format::{bytes, count, plural},
    view::format::wall_clock,
};

/// Writes the comparison.
pub fn write(diff: &HeapDiff, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let HeapDiff { schema: _, before, after, cautions, by_class, further_classes, holders, further_holders } = diff;
    let mut page = Page { options: *options, out };
    page.paragraph("before  ", &sentence(before), None)?;
    page.paragraph("after   ", &sentence(after), None)?;
    cautions.iter().try_for_each(|caution| page.paragraph("  - ", caution, Some(Ink::Warning)))?;
    if by_class.is_empty() && holders.is_empty() {
        page.line("")?;
        return page.line("No class and no holder has more or less.");
    }
    page.heading("CLASSES")?;
    page.line(&head())?;
    for row in by_class {
        let lead = line(row.fate, row.before, row.after);
        page.paragraph(&lead, &row.class, Some(ink(row.fate)))?;
    }
    more(*further_classes, "further class differs", "further classes differ", &mut page)?;
    page.heading("WHAT HOLDS IT")?;
    page.line(&head())?;
    for row in holders {
        let lead = line(row.fate, row.before, row.after);
        page.paragraph(&lead, &heap_way::whole(&row.way), Some(ink(row.fate)))?;
        let part = |part: &crate::heap::diff::ClassChange| {
            format!("{} {}", signed(part.before.objects, part.after.objects, count), part.class)
        };
        let parts: Vec<String> = row.parts.iter().map(part).collect();
        if !parts.is_empty() {
            let indent = " ".repeat(escape::width(&lead));
            page.paragraph(&indent, &parts.join(", "), Some(Ink::Dim))?;
        }
    }
    more(*further_holders, "further holder differs", "further holders differ", &mut page)
}

fn more(further: usize, one: &str, many: &str, page: &mut Page<'_>) -> io::Result<()> {
    if further == 0 {
        return Ok(());
    }
    page.line(&format!("  {}; `--rows` shows more", plural(further as u64, one, many)))
}

/// A snapshot in a sentence.
pub(super) fn sentence(side: &Side) -> String {
    let Side { origin, objects, bytes: size, complete: _ } = side;
    let mut parts = Vec::new();
    if !origin.file.is_empty() {
        parts.push(origin.file.clone());
    }
    if origin.pid > 0 {
        parts.push(format!("process {}", origin.pid));
    }
    if !origin.command.is_empty() {
        parts.push(origin.command.clone());
    }
    if origin.time_ms > 0 {
        parts.push(wall_clock(origin.time_ms));
    }
    parts.push(format!("{}, {}", plural(*objects, "object", "objects"), bytes(*size)));
    parts.join(", ")
}

fn head() -> String {
    format!("  {:<6}  {:>11}  {:>10}  {:>10}", "", "objects", "own", "retained")
}

fn line(fate: Fate, before: Amount, after: Amount) -> String {
    let mark = match fate {
        Fate::New => "new",
        Fate::Gone => "gone",
        Fate::Grown => "grown",
        Fate::Shrunk => "shrunk",
    };
    format!(
        "  {mark:<6}  {:>11}  {:>10}  {:>10}  ",
        signed(before.objects, after.objects, count),
        signed(before.bytes, after.bytes, bytes),
        signed(before.retained_bytes, after.retained_bytes, bytes)
    )
}

const fn ink(fate: Fate) -> Ink {
    match fate {
        Fate::New | Fate::Grown => Ink::Bad,
        Fate::Gone | Fate::Shrunk => Ink::Good,
    }
}

/// A difference with its sign.
pub(super) fn signed(before: u64, after: u64, text: impl Fn(u64) -> String) -> String {
    let size = text(after.abs_diff(before));
    match after.cmp(&before) {
        std::cmp::Ordering::Less => format!("-{size}"),
        std::cmp::Ordering::Equal => "=".to_owned(),
        std::cmp::Ordering::Greater => format!("+{size}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{heap::sample, view::sample::HOSTILE};

    fn written(width: usize) -> String {
        let mut diff = sample::diff();
        diff.by_class[0].class = HOSTILE.to_owned();
        diff.before.origin.command = HOSTILE.to_owned();
        let mut out = Vec::new();
        write(&diff, &TextOptions { width, ..TextOptions::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_difference_at_120_columns() {
        let mut out = Vec::new();
        write(&sample::diff(), &TextOptions { width: 120, ..TextOptions::default() }, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn no_line_is_hostile() {
        for width in [60, 80, 200] {
            for line in written(width).lines() {
                assert_eq!(escape::terminal(line), line);
            }
        }
    }
}
