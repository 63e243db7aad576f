//! Two reports against each other, as text: findings first, then what differs lens by lens.

use std::io;

use super::{
    escape, format,
    text::{Ink, Page, TextOptions, table},
};
use crate::{
    diff::{Basis, Diff, Fate, Figure, Lens, Methods, Side},
    report::{Cell, Column, Number, Table, Unit},
    text::format::plural,
};

/// Writes the comparison.
pub fn write(diff: &Diff, options: &TextOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let Diff { schema: _, before, after, cautions, findings, lenses } = diff;
    let mut page = Page { options: *options, out };
    page.paragraph("before  ", &sentence(before), None)?;
    page.paragraph("after   ", &sentence(after), None)?;
    cautions.iter().try_for_each(|caution| page.paragraph("  - ", caution, Some(Ink::Warning)))?;
    page.heading("FINDINGS")?;
    if findings.is_empty() {
        page.line("  none in either")?;
    }
    for found in findings {
        let (mark, ink) = match found.fate {
            Fate::New => ("new    ", Some(Ink::Bad)),
            Fate::Gone => ("gone   ", Some(Ink::Good)),
            Fate::Still => ("still  ", None),
            Fate::OnlyBefore => ("before ", None),
            Fate::OnlyAfter => ("after  ", None),
        };
        page.paragraph(mark, &found.title, ink)?;
        if let Some(was) = found.was.as_ref().filter(|was| **was != found.title) {
            page.paragraph("       was: ", was, Some(Ink::Dim))?;
        }
        if let Some(why) = not_compared(found.fate) {
            page.paragraph("       ", why, Some(Ink::Dim))?;
        }
    }
    if lenses.is_empty() {
        page.line("")?;
        page.paragraph("", "Nothing else differs by more than a tenth, or by more than chance.", None)?;
    }
    lenses.iter().try_for_each(|of| lens(of, &mut page))
}

/// Why a finding is neither new nor gone, of those that only one session could have.
pub(super) const fn not_compared(fate: Fate) -> Option<&'static str> {
    match fate {
        Fate::New | Fate::Gone | Fate::Still => None,
        Fate::OnlyBefore => Some("the second session did not look at that"),
        Fate::OnlyAfter => Some("the first session did not look at that"),
    }
}

pub(super) fn sentence(side: &Side) -> String {
    let Side { pid, command, jvm_version: _, started_at_ms, duration_ns } = side;
    let lasted = format::duration(*duration_ns as f64);
    format!("{pid}  {command}, {lasted} from {}", format::wall_clock(*started_at_ms))
}

fn lens(lens: &Lens, page: &mut Page<'_>) -> io::Result<()> {
    let Lens { id: _, title, figures, alike, profiles } = lens;
    page.heading(&title.to_uppercase())?;
    if !figures.is_empty() {
        lines(&figures_table(figures), page)?;
    }
    if *alike > 0 {
        page.line(&format!("  alike: {}", plural(*alike as u64, "further figure", "further figures")))?;
    }
    profiles.iter().try_for_each(|methods| of_methods(methods, page))
}

/// What the cells of [`figures_table`] are sorted by: figures of several units stand in one column.
pub(super) fn figure_values(figures: &[Figure]) -> Vec<Vec<Option<f64>>> {
    // What came from none changed by more than any other.
    let change = |figure: &Figure| figure.change_percent.unwrap_or(f64::MAX);
    figures.iter().map(|figure| vec![None, Some(figure.before), Some(figure.after), Some(change(figure))]).collect()
}

/// What the cells of [`methods_table`] are sorted by where their texts are none of numbers.
pub(super) fn method_values(methods: &Methods) -> Vec<Vec<Option<f64>>> {
    methods.moved.iter().map(|moved| vec![None, None, None, Some(moved.after - moved.before)]).collect()
}

/// What differs, figure by figure.
pub(super) fn figures_table(figures: &[Figure]) -> Table {
    let column = |key, title, unit| Column { key, title, unit };
    let columns = vec![
        column("figure", "Figure", Unit::Text),
        column("before", "Before", Unit::Text),
        column("after", "After", Unit::Text),
        column("change", "Change", Unit::Text),
    ];
    Table { id: "figures", title: String::new(), columns, rows: figures.iter().map(row).collect() }
}

fn row(figure: &Figure) -> Vec<Cell> {
    let Figure { key, basis, before, after, change_percent, interval } = figure;
    let text = |value: f64| match basis {
        Basis::PerSecond => format::cell(&Cell::Float(value), Unit::PerSecond),
        Basis::BytesPerSecond => format::cell(&Cell::Float(value), Unit::BytesPerSecond),
        Basis::PercentOfTime => format::cell(&Cell::Float(value), Unit::Percent) + " of the time",
        Basis::AsReported => format::figure(key, Number::Float(value)).1,
    };
    let chance = match (interval, *before > 0.0) {
        (Some(interval), true) => {
            format!(" (± {})", format::cell(&Cell::Float(interval / before * 100.0), Unit::Percent))
        }
        _ => String::new(),
    };
    let change = match change_percent {
        Some(percent) if percent.abs() >= 1000.0 => format!("x {:.0}", after / before),
        Some(percent) => format!("{percent:+.0} %{chance}"),
        None => "from none".to_owned(),
    };
    let (name, _) = format::figure(key, Number::Int(0));
    vec![Cell::Text(name), Cell::Text(text(*before)), Cell::Text(text(*after)), Cell::Text(change)]
}

fn of_methods(methods: &Methods, page: &mut Page<'_>) -> io::Result<()> {
    let Methods { title, further, .. } = methods;
    let title = format!("{title}: methods with more or less");
    page.line(&format!("  {}", escape::fit(&title, page.options.width.saturating_sub(2))))?;
    lines(&methods_table(methods), page)?;
    if *further > 0 {
        page.line(&format!("  and {further} more"))?;
    }
    Ok(())
}

/// Methods with more or less, with their intervals.
pub(super) fn methods_table(methods: &Methods) -> Table {
    let Methods { unit, moved, .. } = methods;
    // Time per second is a share of one thread's time.
    let (unit, scale) = match unit {
        Unit::Ns => (Unit::Percent, 1e-7),
        Unit::Bytes => (Unit::BytesPerSecond, 1.0),
        _ => (Unit::PerSecond, 1.0),
    };
    let column = |key, title, unit| Column { key, title, unit };
    let columns = vec![
        column("method", "Method", Unit::Text),
        column("before", "Before", unit),
        column("after", "After", unit),
        column("difference", "Difference", Unit::Text),
    ];
    let rows = moved.iter().map(|moved| {
        let text = |value: f64| format::cell(&Cell::Float(value.abs() * scale), unit);
        let difference = moved.after - moved.before;
        let sign = if difference < 0.0 { "-" } else { "+" };
        let difference = format!("{sign}{} ± {}", text(difference), text(moved.interval));
        vec![
            Cell::Text(moved.method.clone()),
            Cell::Float(moved.before * scale),
            Cell::Float(moved.after * scale),
            Cell::Text(difference),
        ]
    });
    Table { id: "methods", title: String::new(), columns, rows: rows.collect() }
}

fn lines(table: &Table, page: &mut Page<'_>) -> io::Result<()> {
    let TextOptions { width, rows, .. } = page.options;
    table::lines(table, width, rows).iter().try_for_each(|line| page.line(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::Report, view::sample};

    fn changed() -> [Report; 2] {
        let before = sample::report();
        let mut after = before.clone();
        after.findings.remove(0);
        after.span.duration_ns *= 3;
        after.target.command = sample::HOSTILE.to_owned();
        for section in &mut after.sections {
            for shape in &mut section.shapes {
                if let crate::report::Shape::Profile(profile) = shape {
                    profile
                        .stacks
                        .iter_mut()
                        .for_each(|stack| (stack.value, stack.count) = (stack.value * 90, stack.count * 90));
                }
            }
        }
        [before, after]
    }

    fn written(width: usize) -> String {
        let [before, after] = changed();
        let mut out = Vec::new();
        write(&Diff::of(&before, &after), &TextOptions { width, ..TextOptions::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn difference_at_100_columns() {
        insta::assert_snapshot!(written(100));
    }

    #[test]
    fn no_line_is_wider_than_asked_and_none_is_hostile() {
        for width in [40, 80, 200] {
            for line in written(width).lines() {
                assert!(escape::width(line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(line), line);
            }
        }
    }
}
