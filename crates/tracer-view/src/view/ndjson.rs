//! The report as lines: one JSON object each, for `grep`, `jq` and loaders that do not want to hold a document.
//!
//! The `type` of a line says what it is: `report` (once, first), `finding`, `section`, `row` (of a table: the columns' keys
//! become keys of the object), `shape` (histogram, timeline or tree, as in the document).

use std::io;

use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::json;
use crate::report::{Cell, Column, Completeness, Cost, Doing, Finding, Report, Shape, Span, Summary, Table};

/// A line.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Report {
        schema: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        headline: Option<&'a str>,
        target: &'a crate::item::Target,
        span: &'a Span,
        cost: &'a Cost,
        completeness: &'a Completeness,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        time: &'a [Doing],
    },
    Finding(&'a Finding),
    Section {
        section: &'static str,
        title: &'a str,
        summary: &'a Summary,
        notes: &'a [String],
    },
    Shape {
        section: &'static str,
        #[serde(flatten)]
        shape: &'a Shape,
    },
}

/// A row of a table, as an object.
struct Row<'a> {
    section: &'static str,
    table: &'static str,
    columns: &'a [Column],
    cells: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { section, table, columns, cells } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "row")?;
        map.serialize_entry("section", section)?;
        map.serialize_entry("table", table)?;
        for (column, cell) in columns.iter().zip(*cells) {
            match column.key {
                // The line's own keys come first; an object with a key twice would lose one of them in most readers.
                "type" | "section" | "table" => map.serialize_entry(&format!("column_{}", column.key), cell)?,
                key => map.serialize_entry(key, cell)?,
            }
        }
        map.end()
    }
}

/// Writes the report, a line for each of its parts.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let Report { schema, headline, target, span, cost, completeness, time, findings, sections, table_steps: _ } =
        report;
    let headline = headline.as_deref();
    json::write_line(&Line::Report { schema, headline, target, span, cost, completeness, time }, out)?;
    for finding in findings {
        json::write_line(&Line::Finding(finding), out)?;
    }
    for section in sections {
        let (id, title) = (section.id, section.title.as_str());
        json::write_line(&Line::Section { section: id, title, summary: &section.summary, notes: &section.notes }, out)?;
        for shape in &section.shapes {
            match shape {
                Shape::Table(table) => write_rows(id, table, out)?,
                Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => {
                    json::write_line(&Line::Shape { section: id, shape }, out)?;
                }
            }
        }
    }
    Ok(())
}

fn write_rows(section: &'static str, table: &Table, out: &mut dyn io::Write) -> io::Result<()> {
    let Table { id, title: _, columns, rows } = table;
    rows.iter().try_for_each(|cells| json::write_line(&Row { section, table: id, columns, cells }, out))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{report::Unit, view::sample};

    fn lines(report: &Report) -> Vec<Value> {
        let mut out = Vec::new();
        write(report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_part_of_the_report_is_a_line() {
        let lines = lines(&sample::report());
        let count = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
        assert_eq!(lines[0]["type"], "report");
        assert_eq!(lines[0]["completeness"]["emitted"], 12_345);
        assert_eq!(
            (count("report"), count("finding"), count("section"), count("row"), count("shape")),
            (1, 2, 4, 35, 5)
        );
    }

    #[test]
    fn row_carries_its_columns_as_keys() {
        let lines = lines(&sample::report());
        let row = lines.iter().find(|line| line["table"] == "causes").unwrap();
        assert_eq!(row["section"], "gc");
        assert_eq!(row["cause"], "G1 Evacuation Pause");
        assert_eq!(row["total_ns"], 2_400_000_000_u64);
    }

    #[test]
    fn shape_says_its_kind_and_section() {
        let lines = lines(&sample::report());
        let tree = lines.iter().find(|line| line["kind"] == "tree").unwrap();
        assert_eq!((&tree["type"], &tree["section"]), (&Value::from("shape"), &Value::from("threads")));
    }

    #[test]
    fn column_does_not_hide_the_keys_of_the_line() {
        let mut report = sample::report();
        let Shape::Table(table) = &mut report.sections[1].shapes[0] else { unreachable!() };
        table.columns[0] = Column { key: "type", title: "type", unit: Unit::Text };
        let lines = lines(&report);
        let row = lines.iter().find(|line| line["table"] == "classes").unwrap();
        assert_eq!(row["type"], "row");
        assert_eq!(row["column_type"], sample::HOSTILE);
    }
}
