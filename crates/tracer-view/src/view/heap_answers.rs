//! What was asked of a snapshot, as text: the objects or groups, then what must hold.

use std::io;

use super::text::{Ink, Page, TextOptions};
use crate::{
    heap::{
        answer::{Amounts, Answer, Answers, GroupRow},
        assertion::{Found, Judged, Verdict},
        summary::ObjectRow,
        text as heap_text,
    },
    predicate::assertion::Measure,
    text::format::{bytes, count, plural},
};

/// Writes it.
pub fn write(answers: &Answers, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let Answers { schema: _, head, not_whole, cautions, answer, assertions } = answers;
    heap_text::header(head, out)?;
    let mut page = Page { options: *options, out };
    if let Some(reason) = not_whole.as_ref().filter(|_| head.cost.as_ref().is_none_or(|cost| cost.complete)) {
        page.paragraph("", &format!("NOT COMPLETE: {reason}"), Some(Ink::Warning))?;
    }
    cautions.iter().try_for_each(|caution| page.paragraph("  - ", caution, Some(Ink::Warning)))?;
    answer.iter().try_for_each(|answer| of_answer(answer, &mut page))?;
    if !assertions.is_empty() {
        page.heading("ASSERTIONS")?;
    }
    assertions.iter().try_for_each(|judged| of_assertion(judged, &mut page))
}

fn of_answer(answer: &Answer, page: &mut Page<'_>) -> io::Result<()> {
    let Answer { predicate, total, undecided, group, groups, rows, further } = answer;
    page.heading("OBJECTS")?;
    if let Some(predicate) = predicate {
        page.paragraph("  where ", predicate, None)?;
    }
    let Amounts { objects, bytes: own, retained_bytes, .. } = total;
    let what = plural(*objects, "object", "objects");
    page.line(&format!("  {what}, {} of their own, {} retained", bytes(*own), bytes(*retained_bytes)))?;
    if *undecided > 0 {
        let what = plural(*undecided, "further object is", "further objects are");
        page.paragraph(
            "  - ",
            &format!("{what} of a class that is not known, and can belong to them"),
            Some(Ink::Warning),
        )?;
    }
    if *objects == 0 {
        return Ok(());
    }
    page.line("")?;
    match group {
        Some(_) => page.line(&format!("  {:>10}  {:>10}  {:>11}", "retained", "own", "objects"))?,
        None => page.line(&format!("  {:>10}  {:>10}", "retained", "own"))?,
    }
    groups.iter().try_for_each(|row| of_group(row, page))?;
    rows.iter().try_for_each(|row| of_object(row, page))?;
    let (one, many) =
        if group.is_some() { ("further group", "further groups") } else { ("further object", "further objects") };
    if *further > 0 {
        page.line(&format!("  {}; `--rows` shows more", plural(*further, one, many)))?;
    }
    Ok(())
}

fn of_group(GroupRow { name, amounts }: &GroupRow, page: &mut Page<'_>) -> io::Result<()> {
    let Amounts { objects, bytes: own, retained_bytes, retained_exact } = amounts;
    let retained = format!("{}{}", if *retained_exact { "" } else { "≥" }, bytes(*retained_bytes));
    page.paragraph(&format!("  {retained:>10}  {:>10}  {:>11}  ", bytes(*own), count(*objects)), name, None)
}

fn of_object(row: &ObjectRow, page: &mut Page<'_>) -> io::Result<()> {
    let length = row.length.map_or_else(String::new, |length| format!(" of length {}", count(u64::from(length))));
    let lead = format!("  {:>10}  {:>10}  ", bytes(row.retained_bytes), bytes(row.bytes));
    page.paragraph(&lead, &format!("{}{length}", row.class), None)?;
    page.paragraph(&" ".repeat(lead.len()), &heap_text::path(&row.path), Some(Ink::Dim))
}

fn of_assertion(judged: &Judged, page: &mut Page<'_>) -> io::Result<()> {
    let Judged { assertion, verdict, found, against, notes } = judged;
    let (word, ink) = match verdict {
        Verdict::Holds => ("holds", Ink::Good),
        Verdict::Undecided => ("undecided", Ink::Warning),
        Verdict::Violated => ("VIOLATED", Ink::Bad),
    };
    page.paragraph(&format!("  {word:<11}"), assertion, Some(ink))?;
    page.paragraph(&" ".repeat(13), &sentence(found, *verdict), None)?;
    notes.iter().try_for_each(|note| page.paragraph(&format!("{:13}- ", ""), note, Some(Ink::Warning)))?;
    against.iter().try_for_each(|row| of_object(row, page))
}

/// What was found, in a sentence.
fn sentence(found: &Found, verdict: Verdict) -> String {
    match found {
        Found::Bound { measure, least, most } => {
            let number = |number: u64| match measure {
                Measure::Count => plural(number, "object", "objects"),
                Measure::Size | Measure::Retained => exactly(number),
            };
            match most {
                Some(most) if most == least => format!("{}: {}", measure.name(), number(*least)),
                Some(most) => format!("{}: from {} to {}", measure.name(), number(*least), number(*most)),
                None => format!("{}: at least {}; not all was seen", measure.name(), number(*least)),
            }
        }
        Found::Through { objects, otherwise } => {
            let what = plural(*objects, "such object", "such objects");
            match verdict {
                Verdict::Holds if *objects == 0 => "there is no such object".to_owned(),
                Verdict::Holds => format!("{what}, and no other way leads to one"),
                Verdict::Undecided => format!("{what}; no other way to one was seen, and not all was seen or is known"),
                Verdict::Violated => format!("{what}; other ways lead to {} of them, such as", count(*otherwise)),
            }
        }
    }
}

/// Bytes, and where that is rounded how many exactly: they are compared with a bound.
fn exactly(number: u64) -> String {
    if number < 1024 { bytes(number) } else { format!("{} ({} B)", bytes(number), count(number)) }
}

#[cfg(test)]
mod tests;
