//! Leaks as text: what goes on growing and what holds it, then what has grown besides.

use std::io;

use super::{
    heap_diff, heap_way,
    text::{Ink, Page, TextOptions},
};
use crate::{
    heap::{
        census::Amount,
        leaks::{Grown, Leaks, Made, Other, Suspect},
    },
    text::format::{bytes, count, duration, plural, whole},
};

/// Others that are shown.
const OTHERS: usize = 5;

/// What is said where there are two snapshots.
pub(super) const SO_FAR: &str = "So far: two snapshots show that something grew, and not that it goes on.";

/// Writes them.
pub fn write(leaks: &Leaks, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let Leaks { schema: _, snapshots, span_ms, cautions, so_far, suspects, further, others, only_weak_bytes } = leaks;
    let mut page = Page { options: *options, out };
    for (at, side) in (1..).zip(snapshots) {
        page.paragraph(&format!("{at:>2}  "), &heap_diff::sentence(side), None)?;
    }
    cautions.iter().try_for_each(|caution| page.paragraph("  - ", caution, Some(Ink::Warning)))?;
    page.heading("WHAT GOES ON GROWING")?;
    if *so_far {
        page.paragraph("  ", SO_FAR, Some(Ink::Warning))?;
    }
    if suspects.is_empty() {
        page.line("  nothing")?;
    }
    for (rank, suspect) in (1..).zip(suspects) {
        of_suspect(rank, suspect, (snapshots.len(), *span_ms), &mut page)?;
    }
    if *further > 0 {
        page.line(&format!("  {}; `--rows` shows more", plural(*further as u64, "further one", "further ones")))?;
    }
    if !others.is_empty() {
        page.heading("WHAT HAS GROWN BESIDES")?;
        others.iter().take(OTHERS).try_for_each(|other| of_other(other, &mut page))?;
        if let Some(left) = others.len().checked_sub(OTHERS).filter(|left| *left > 0) {
            page.line(&format!("  and {left} more; `--json` has all"))?;
        }
    }
    if *only_weak_bytes > 0 {
        let more = bytes(only_weak_bytes.unsigned_abs());
        let text =
            format!("Weak, soft, phantom and final references alone hold {more} more, which collectors may free.");
        page.line("")?;
        page.paragraph("", &text, Some(Ink::Dim))?;
    }
    Ok(())
}

/// What the growth was seen in, and how much it would be in an hour.
fn over(snapshots: usize, span_ms: Option<u64>, per_hour: Option<f64>) -> String {
    let seen = plural(snapshots as u64, "snapshot", "snapshots");
    match span_ms.zip(per_hour) {
        Some((span, per_hour)) => {
            let lasted = duration(span.saturating_mul(1_000_000));
            format!("over {seen} in {lasted}; at this rate {} an hour", bytes(whole(per_hour)))
        }
        None => format!("over {seen}"),
    }
}

fn of_suspect(rank: usize, suspect: &Suspect, seen: (usize, Option<u64>), page: &mut Page<'_>) -> io::Result<()> {
    page.paragraph(&format!("{rank:>2}. "), &title(suspect, seen), Some(Ink::Bad))?;
    page.paragraph("    ", &holder(suspect), None)?;
    page.paragraph("    ", &series(&suspect.amounts), Some(Ink::Dim))?;
    page.paragraph("    ", &parts(suspect), Some(Ink::Dim))?;
    let is_made = suspect.made_at.as_ref().is_some_and(|made_at| !made_at.is_empty());
    let ink = if is_made { None } else { Some(Ink::Dim) };
    places(suspect).iter().try_for_each(|place| page.paragraph("    ", place, ink))
}

/// What grew, and by how much.
pub(super) fn title(suspect: &Suspect, seen: (usize, Option<u64>)) -> String {
    let Suspect { class, class_objects, amounts, bytes_per_hour, .. } = suspect;
    let own = match class_objects[..] {
        [first, .., last] if first != last => format!("{}, in all ", heap_diff::signed(first, last, count)),
        _ => String::new(),
    };
    format!("{class}: {own}{}, {}", more(amounts), over(seen.0, seen.1, *bytes_per_hour))
}

/// What holds it.
pub(super) fn holder(suspect: &Suspect) -> String {
    let Suspect { way, way_on, .. } = suspect;
    format!("{} holds it: {}", heap_way::beginning(way), heap_way::steps(way.iter().chain(way_on)))
}

/// Of which classes it is.
pub(super) fn parts(suspect: &Suspect) -> String {
    let part = |Grown { class, objects, bytes: size }: &Grown| {
        let sign = |number: i64, text: String| if number < 0 { format!("-{text}") } else { format!("+{text}") };
        let (objects, size) = (sign(*objects, count(objects.unsigned_abs())), sign(*size, bytes(size.unsigned_abs())));
        format!("{objects} {class} ({size})")
    };
    let parts: Vec<String> = suspect.by_class.iter().map(part).collect();
    format!("of it: {}", parts.join(", "))
}

/// Where it is made: what is held is not known by its place, so this is where objects of the same classes came from. Nothing where nobody
/// looked.
pub(super) fn places(suspect: &Suspect) -> Vec<String> {
    let place = |Made { class, place, samples, of }: &Made| {
        let share = format!("{} of {} of the class", count(*samples), plural(*of, "sample", "samples"));
        format!("made: {class} at {place} ({share})")
    };
    match &suspect.made_at {
        Some(made_at) if made_at.is_empty() => {
            vec!["made: not sampled once; a longer time (-d) has more samples".to_owned()]
        }
        Some(made_at) => made_at.iter().map(place).collect(),
        None => Vec::new(),
    }
}

/// How much more there is at last than at first.
fn more(amounts: &[Amount]) -> String {
    let [first, .., last] = amounts else { return String::new() };
    let size = heap_diff::signed(first.bytes, last.bytes, bytes);
    if first.objects == last.objects {
        return size;
    }
    format!("{} objects, {size}", heap_diff::signed(first.objects, last.objects, count))
}

/// How much there was in each snapshot.
pub(super) fn series(amounts: &[Amount]) -> String {
    let of = |get: fn(&Amount) -> String| amounts.iter().map(get).collect::<Vec<String>>().join(" → ");
    format!(
        "objects {}; bytes {}; its container retains {}",
        of(|amount| count(amount.objects)),
        of(|amount| bytes(amount.bytes)),
        of(|amount| bytes(amount.retained_bytes))
    )
}

fn of_other(other: &Other, page: &mut Page<'_>) -> io::Result<()> {
    page.paragraph("  - ", &besides(other), None)
}

/// What has grown and is no suspect, and why not.
pub(super) fn besides(other: &Other) -> String {
    let Other { holder: _, way, amounts, growth } = other;
    format!("{}: {}, {}", heap_way::whole(way), more(amounts), growth.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{heap::sample, text::escape, view::sample::HOSTILE};

    fn written(leaks: &Leaks, width: usize) -> String {
        let mut out = Vec::new();
        write(leaks, &TextOptions { width, ..TextOptions::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn leaks_at_120_columns() {
        insta::assert_snapshot!(written(&sample::leaks(), 120));
    }

    #[test]
    fn no_line_is_wider_than_asked_and_none_is_hostile() {
        let mut leaks = sample::leaks();
        leaks.suspects[0].class = HOSTILE.to_owned();
        leaks.suspects[0].way[0].by = HOSTILE.to_owned();
        for width in [60, 80, 200] {
            for line in written(&leaks, width).lines() {
                assert!(escape::width(line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(line), line);
            }
        }
    }
}
