//! Events as they pass, one JSON object a line (`--events`).

use std::io::{self, BufWriter, Write};

use serde_json::{Map, Value as Json};

use super::fields::{Value, fields};
use crate::{
    event::Event,
    names::Names,
    session::{Session, Taken},
};

/// Writes events to `out`; the caller flushes often enough for a reader who waits.
pub struct EventStream<W: Write> {
    out: BufWriter<W>,
}

impl<W: Write> EventStream<W> {
    /// A stream that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, out) }
    }

    /// Writes what the session took, if it was an event.
    pub fn write(&mut self, session: &Session, taken: &Taken) -> io::Result<()> {
        let Taken::Event(event) = taken else { return Ok(()) };
        let site = session.sites().get(usize::from(event.site.0));
        let mut line = Map::new();
        line.insert("time_ns".to_owned(), event.time_ns.into());
        line.insert("tid".to_owned(), event.tid.0.into());
        line.insert("thread".to_owned(), session.names().thread(event.tid).into());
        line.insert("lens".to_owned(), site.map_or(Json::Null, |site| site.lens.id().into()));
        line.insert("probe".to_owned(), site.map_or(Json::Null, |site| site.probe.clone().into()));
        add_fields(&mut line, event, session.names());
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    /// Hands everything to the reader.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn add_fields(line: &mut Map<String, Json>, event: &Event, names: &Names) {
    let (name, fields) = fields(&event.payload);
    line.insert("event".to_owned(), name.into());
    for (key, value) in fields {
        let value = match value {
            Value::Number(number) => number.into(),
            Value::Address(address) => format!("{address:#x}").into(),
            Value::Flag(flag) => flag.into(),
            Value::Name(id) => names.text(id).into(),
            Value::Class(id) => names.class(id).into(),
        };
        line.insert(key.to_owned(), value);
    }
}
