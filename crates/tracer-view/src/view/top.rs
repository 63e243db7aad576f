//! Many JVMs at a glance: a line each, and below it the worst that is wrong with it.

pub mod screen;

use super::{
    escape,
    order::Sort,
    text::table::{self, Heading, Laid},
};
use crate::report::{
    Severity, Table,
    reading::{Row, table},
};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Names of the columns.
    Titles,
    /// The JVM at this place.
    Jvm(usize),
    /// What is wrong with it.
    Finding(usize, Severity),
    /// Why nothing is known of it.
    Problem(usize),
}

/// The lines, escaped and cut to a width, with what each is.
pub fn lines(rows: &[Row], width: usize) -> Vec<(Line, String)> {
    laid(rows, width, None).0
}

/// The same with the places of the headings, by the columns of the whole table; one may have the mark of the order.
fn laid(rows: &[Row], width: usize, sort: Option<Sort>) -> (Vec<(Line, String)>, Vec<Heading>) {
    if rows.is_empty() {
        return (vec![(Line::Titles, "no JVM found".to_owned())], Vec::new());
    }
    let Fitted { table, numbers, left_out } = fitted(rows, width);
    let place = |of: usize| numbers.iter().position(|number| *number == of);
    let sort = sort.and_then(|sort| Some(Sort { column: place(sort.column)?, ..sort }));
    let Laid { lines: drawn, headings } = table::laid(&table, width, rows.len(), sort);
    let of_all = |heading: Heading| Some(Heading { column: *numbers.get(heading.column)?, ..heading });
    let headings = headings.into_iter().filter_map(of_all).collect();
    let mut drawn = drawn.into_iter();
    let mut lines: Vec<(Line, String)> = drawn.next().map(|titles| (Line::Titles, titles)).into_iter().collect();
    for (at, (row, line)) in rows.iter().zip(&mut drawn).enumerate() {
        lines.push((Line::Jvm(at), line));
        let below = |mark: &str, text: &str| {
            let text = escape::fit(text, width * 2);
            escape::ellipsis(&format!("      {mark} {text}"), width).into_owned()
        };
        if let Some(problem) = &row.problem {
            lines.push((Line::Problem(at), below("?", problem)));
        } else if let Some(worst) = row.worst() {
            let mark = if worst.severity == Severity::Critical { "!!" } else { " !" };
            lines.push((Line::Finding(at, worst.severity), below(mark, &worst.title)));
        }
    }
    // Columns that found no room are named behind the rows.
    lines.extend(drawn.map(|rest| (Line::Titles, rest)));
    if !left_out.is_empty() {
        let said = format!("    … no room for: {}", left_out.join(", "));
        lines.push((Line::Titles, escape::fit(&said, width)));
    }
    (lines, headings)
}

/// Columns that go first where there is no room, each by itself: what a JVM is called must be read, and stands last.
const DISPENSABLE: [&str; 4] = ["heap_max_bytes", "user", "threads", "jdk"];
/// What the name gets at least, beyond what makes a column readable.
const NAME: usize = 12;

/// The table with the columns that leave room for the name.
struct Fitted {
    table: Table,
    /// What number each of its columns had.
    numbers: Vec<usize>,
    /// The titles of the others.
    left_out: Vec<&'static str>,
}

fn fitted(rows: &[Row], width: usize) -> Fitted {
    let mut table = table(rows);
    let mut numbers: Vec<usize> = (0..table.columns.len()).collect();
    let mut left_out = Vec::new();
    for key in DISPENSABLE {
        // A column that finds no room is named on a line of its own.
        if table::lines(&table, width.saturating_sub(NAME), rows.len()).len() <= rows.len() + 1 {
            break;
        }
        let Some(at) = table.columns.iter().position(|column| column.key == key) else { continue };
        left_out.push(table.columns.remove(at).title);
        numbers.remove(at);
        for row in &mut table.rows {
            row.remove(at);
        }
    }
    Fitted { table, numbers, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        item::Target,
        report::reading::{Brief, Reading, sort},
        view::sample,
    };

    fn row(pid: u32, cpu: f64, severity: Option<Severity>) -> Row {
        let finding = severity.map(|severity| Brief {
            id: "deadlock".to_owned(),
            severity,
            title: format!("2 threads wait for each other at {}", sample::HOSTILE),
            next_step: String::new(),
        });
        let reading = Reading {
            cpu_percent: Some(cpu),
            pause_percent: Some(0.5),
            heap_used_bytes: Some(64 << 20),
            heap_max_bytes: Some(1 << 30),
            resident_bytes: 200 << 20,
            threads: Some(41),
            findings: finding.into_iter().collect(),
        };
        let target = Target {
            pid,
            user: "shop".to_owned(),
            command: format!("com.shop.{} --port", sample::HOSTILE),
            jdk_release: 21,
            ..Target::default()
        };
        Row { target, reading: Some(reading), problem: None }
    }

    #[test]
    fn the_worst_stands_first_with_what_is_wrong() {
        let unknown = Row { reading: None, problem: Some("it was held up".to_owned()), ..row(9, 0.0, None) };
        let mut rows = vec![
            unknown,
            row(1, 150.0, None),
            row(2, 0.1, Some(Severity::Critical)),
            row(3, 20.0, Some(Severity::Warning)),
        ];
        sort(&mut rows);
        let lines = lines(&rows, 110);
        let shown: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        insta::assert_snapshot!(shown.join("\n"));
        let places: Vec<Line> = lines.iter().map(|(line, _)| *line).collect();
        assert_eq!(places[1..4], [Line::Jvm(0), Line::Finding(0, Severity::Critical), Line::Jvm(1)]);
    }

    /// On the screen of a terminal nobody has made larger.
    #[test]
    fn a_jvm_has_its_name_at_80_columns() {
        let named = |name: &str| {
            let mut row = row(12_345, 150.0, None);
            row.target.command = format!("{name} --port");
            row
        };
        let lines = lines(&[named("com.shop.Checkout"), named("app.jar")], 80);
        let shown = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        for text in ["PAUSES", "HEAP", "RAM", "MAIN CLASS OR JAR", "com.shop.Checkout", "app.jar", "no room for: OF"] {
            assert!(shown.contains(text), "no {text} in\n{shown}");
        }
    }

    #[test]
    fn no_line_is_wider_than_asked_and_none_is_hostile() {
        let rows = [row(1, 1.0, Some(Severity::Warning)), row(2, 1.0, None)];
        for width in [40, 80, 133] {
            for (_, line) in lines(&rows, width) {
                assert!(escape::width(&line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(&line), line);
            }
        }
        assert_eq!(lines(&[], 80)[0].1, "no JVM found");
    }
}
