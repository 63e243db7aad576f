//! Indented JSON in which a list of plain values is one line: a row of a table, the frames of a stack.

use std::io;

use serde_json::ser::Formatter;

/// Spaces for each level.
const INDENT: &[u8] = b"  ";

/// What is open while a document is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// For each list or object that is open, whether something in it has a line of its own.
    open: Vec<bool>,
    /// A value of a list comes next, and whether it is the first one.
    next: Option<bool>,
}

impl Rows {
    fn new_line(&self, out: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
        out.write_all(b"\n")?;
        self.open.iter().try_for_each(|_| out.write_all(INDENT))
    }

    /// Before a value that takes no lines.
    fn plain(&mut self, out: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
        match self.next.take() {
            Some(false) => out.write_all(b" "),
            Some(true) | None => Ok(()),
        }
    }

    /// Before a list or an object.
    fn begin(&mut self, out: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        if self.next.take().is_some() {
            self.new_line(out)?;
            if let Some(outer) = self.open.last_mut() {
                *outer = true;
            }
        }
        self.open.push(false);
        out.write_all(bracket)
    }

    fn end(&mut self, out: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        if self.open.pop() == Some(true) {
            self.new_line(out)?;
        }
        out.write_all(bracket)
    }
}

/// Methods that write a plain value as it is by default.
macro_rules! plain {
    ($($method:ident($kind:ty) as $form:literal),*) => {
        $(fn $method<W: io::Write + ?Sized>(&mut self, out: &mut W, value: $kind) -> io::Result<()> {
            self.plain(out)?;
            write!(out, $form, value)
        })*
    };
}

impl Formatter for Rows {
    plain! {
        write_bool(bool) as "{}", write_i8(i8) as "{}", write_i16(i16) as "{}", write_i32(i32) as "{}", write_i64(i64) as "{}",
        write_i128(i128) as "{}", write_u8(u8) as "{}", write_u16(u16) as "{}", write_u32(u32) as "{}", write_u64(u64) as "{}",
        write_u128(u128) as "{}", write_number_str(&str) as "{}"
    }

    fn write_null<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.plain(out)?;
        out.write_all(b"null")
    }

    fn write_f32<W: io::Write + ?Sized>(&mut self, out: &mut W, value: f32) -> io::Result<()> {
        self.plain(out)?;
        serde_json::ser::CompactFormatter.write_f32(out, value)
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        self.plain(out)?;
        serde_json::ser::CompactFormatter.write_f64(out, value)
    }

    fn begin_string<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.plain(out)?;
        out.write_all(b"\"")
    }

    fn begin_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next = Some(first);
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if let Some(object) = self.open.last_mut() {
            *object = true;
        }
        if !first {
            out.write_all(b",")?;
        }
        self.new_line(out)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize as _;
    use serde_json::{Serializer, Value, json};

    use super::*;

    fn written(value: &Value) -> String {
        let mut out = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut out, Rows::default())).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn plain_lists_are_lines_and_everything_else_is_indented() {
        let value = json!({"a": [], "b": {}, "c": [1, -2, 0.5, null, true, "x"], "d": [[1], [2, 3], {"e": [[]]}, 4]});
        let expected = r#"{
  "a": [],
  "b": {},
  "c": [1, -2, 0.5, null, true, "x"],
  "d": [
    [1],
    [2, 3],
    {
      "e": [
        []
      ]
    }, 4
  ]
}"#;
        assert_eq!(written(&value), expected);
        assert_eq!(serde_json::from_str::<Value>(&written(&value)).unwrap(), value);
    }
}
