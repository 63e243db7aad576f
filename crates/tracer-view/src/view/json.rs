//! The report as one JSON document, `docs/report.schema.json`.
//!
//! The document is the report as it is, in plain numbers; nothing is rounded, cut or left out. A number that is none (NaN,
//! infinite) is `null`. Characters that a terminal would act upon are written as `\uXXXX`, which changes no value.

#[cfg(test)]
mod read_back;
mod rows;

use std::io;

use serde::Serialize;

use super::escape;
use crate::report::Report;

/// Writes the report, indented, lists of plain values on one line, with a newline at its end.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    // The text of 100,000 stacks takes 60 MB: it is never in memory as a whole.
    write_document(report, out)
}

/// Writes any document in the same form.
pub fn write_document(document: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    document.serialize(&mut serde_json::Serializer::with_formatter(Escaped { out }, rows::Rows::default()))?;
    writeln!(out)
}

/// Escapes what passes through. JSON is written in whole characters, and an escape concerns one character.
struct Escaped<'a> {
    out: &'a mut dyn io::Write,
}

impl io::Write for Escaped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.out.write_all(escape::json(text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes any value on one line.
pub fn write_line(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    writeln!(out, "{}", escape::json(&text))
}

/// JSON text for an element of a page: nothing in it ends the element or begins another. The JSON value stays the same.
pub(super) fn in_page(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::view::sample;

    fn written() -> String {
        let mut out = Vec::new();
        write(&sample::report(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn document_has_the_shape_that_is_documented() {
        let value: Value = serde_json::from_str(&written()).unwrap();
        assert_eq!(value["schema"], "jtrace-report/1");
        assert_eq!(value["completeness"]["lost"], 45);
        assert_eq!(value["sections"][0]["summary"]["pause_max_ns"], 412_000_000);
        assert_eq!(value["sections"][0]["shapes"][1]["kind"], "table");
        assert_eq!(value["sections"][0]["shapes"][1]["columns"][2]["unit"], "ns");
        assert_eq!(value["sections"][1]["shapes"][0]["rows"][0][0], sample::HOSTILE);
        assert_eq!(value["sections"][1]["shapes"][0]["rows"][0][5], Value::Null);
    }

    #[test]
    fn numbers_that_are_none_are_null() {
        let mut report = sample::report();
        report.cost.own_cpu_percent = f64::INFINITY;
        let mut out = Vec::new();
        write(&report, &mut out).unwrap();
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["cost"]["own_cpu_percent"], Value::Null);
        assert_eq!(value["sections"][2]["shapes"][1]["series"][1]["values"][0], Value::Null);
    }

    #[test]
    fn nothing_reaches_a_terminal_unescaped() {
        let text = written();
        assert!(text.ends_with("}\n"));
        assert!(text.lines().all(|line| escape::terminal(line) == line));
    }

    /// The document that `tests` validates against the schema; `JTRACE_UPDATE=1` writes it anew.
    #[test]
    fn sample_document_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/report.sample.json");
        let mut report = sample::report();
        // A name of 64 KiB proves nothing more to a schema.
        for shape in report.sections.iter_mut().flat_map(|section| &mut section.shapes) {
            if let crate::report::Shape::Table(table) = shape {
                table.rows.truncate(8);
                table.rows.retain(|row| !matches!(&row[0], crate::report::Cell::Text(text) if text.len() > 1000));
            }
        }
        let mut out = Vec::new();
        write(&report, &mut out).unwrap();
        if std::env::var_os("JTRACE_UPDATE").is_some() {
            std::fs::write(path, &out).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), String::from_utf8(out).unwrap());
    }
}
