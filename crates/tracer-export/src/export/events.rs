//! Events as they pass, one JSON object a line (`--events`). A stack has a line of its own before the first event that has it.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, BufWriter, Write},
};

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::{
    event::{
        Event, Payload, StackId,
        fields::{Value, fields},
    },
    item::Taken,
    names::Names,
    session::Session,
    stack::{Frame, Stacks},
    subject::{Subject, Subjects},
    view::json,
};

/// Writes events to `out`; the caller flushes often enough for a reader who waits.
pub struct EventStream<W: Write> {
    out: BufWriter<W>,
    /// Stacks that the reader knows, with a hash of their frames: no more than the session keeps.
    told: HashMap<StackId, u64>,
}

/// The line of a stack.
#[derive(Serialize)]
struct StackLine<'a> {
    event: &'static str,
    stack: String,
    root: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    frames: Vec<&'a Frame>,
}

impl<W: Write> EventStream<W> {
    /// A stream that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, out), told: HashMap::new() }
    }

    /// Writes what the session took, if it was an event.
    pub fn write(&mut self, session: &Session, taken: &Taken) -> io::Result<()> {
        let Taken::Event(event) = taken else { return Ok(()) };
        // It is there only because the kernel could not tell.
        if let Payload::Method { wanted: false, .. }
        | Payload::MethodTimed { wanted: false, .. }
        | Payload::JniCall { wanted: false, .. }
        | Payload::JniSection { wanted: false, .. }
        | Payload::ObjectAlloc { wanted: false, .. } = event.payload
        {
            return Ok(());
        }
        self.tell_stack(session.stacks(), event.stack)?;
        let site = session.sites().get(usize::from(event.site.0));
        let mut line = Map::new();
        line.insert("time_ns".to_owned(), event.time_ns.into());
        line.insert("tid".to_owned(), event.tid.0.into());
        line.insert("thread".to_owned(), session.names().thread(event.tid).into());
        line.insert("lens".to_owned(), site.map_or(Json::Null, |site| site.lens.id().into()));
        line.insert("probe".to_owned(), site.map_or(Json::Null, |site| site.probe.clone().into()));
        add_fields(&mut line, event, session.names(), session.subjects());
        if event.stack != StackId::default() {
            line.insert("stack".to_owned(), stack_text(session.stacks(), event.stack).into());
        }
        json::write_line(&line, &mut self.out)
    }

    /// Writes a stack that the reader does not know yet; one that is not there is told by its event.
    fn tell_stack(&mut self, stacks: &Stacks, id: StackId) -> io::Result<()> {
        let Some(stack) = stacks.get(id) else { return Ok(()) };
        let mut hasher = DefaultHasher::new();
        stack.frames.hash(&mut hasher);
        let frames = hasher.finish();
        // The same id comes again when the code that it leads to has got another name.
        if self.told.insert(id, frames) == Some(frames) {
            return Ok(());
        }
        let line = StackLine {
            event: "stack",
            stack: stack_text(stacks, id),
            root: stack.end.root,
            reason: &stack.end.reason,
            frames: stacks.frames_of(id).collect(),
        };
        json::write_line(&line, &mut self.out)
    }

    /// Hands everything on, and gives back what is written to.
    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// Hands everything to the reader.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The id of a stack in hexadecimal, or why there is none.
fn stack_text(stacks: &Stacks, id: StackId) -> String {
    if stacks.get(id).is_some() { format!("{:#x}", id.0) } else { Stacks::absence(id).to_owned() }
}

fn add_fields(line: &mut Map<String, Json>, event: &Event, names: &Names, subjects: &Subjects) {
    let (name, fields) = fields(&event.payload);
    line.insert("event".to_owned(), name.into());
    for (key, value) in fields {
        let value = match value {
            Value::Number(number) => number.into(),
            Value::Address(address) => format!("{address:#x}").into(),
            Value::Flag(flag) => flag.into(),
            Value::Name(id) => names.text(id).into(),
            Value::Text(text) => text.into(),
            Value::Class(id) => names.class(id).into(),
            Value::Subject(id) => subjects.get(id).map_or_else(|| "<unknown>".to_owned(), Subject::title).into(),
        };
        line.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item::Item, source::scenario::Scenario};

    /// What the stream writes of a scenario.
    fn lines(text: &str) -> Vec<Json> {
        let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let mut stream = EventStream::new(Vec::new());
        let mut session = None;
        scenario.play(&mut |item| match (item, &mut session) {
            (Item::Start(start), _) => session = Some(Session::new(*start)),
            (item, Some(session)) => {
                let taken = session.accept(&item);
                stream.write(session, &taken).expect("memory takes everything");
            }
            (item, None) => panic!("{item:?} comes before the start"),
        });
        let bytes = stream.out.into_inner().expect("memory takes everything");
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        assert!(!text.contains('\u{202e}'), "it reaches a terminal: {text}");
        text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }

    #[test]
    fn a_stack_is_told_once_and_before_its_first_event() {
        let lines = lines(
            "stack idle \"java.lang.Thread.run:840\" \"inlined a.Ma\u{202e}in.take:3\" \"libc.so.6 futex_wait\"\n\
             +1ms tid 7 yield\n+2ms tid 7 park_begin stack=idle\n+3ms tid 8 park_begin stack=idle\nend +1s done\n",
        );
        let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().expect("a name")).collect();
        assert_eq!(events, ["thread_yield", "stack", "thread_park_begin", "thread_park_begin"]);
        assert!(lines[0].get("stack").is_none(), "nobody asked for one");
        assert_eq!((&lines[2]["stack"], &lines[3]["stack"]), (&lines[1]["stack"], &lines[1]["stack"]));
        assert!(lines[1]["stack"].as_str().is_some_and(|id| id.starts_with("0x")));
        let frames = lines[1]["frames"].as_array().expect("frames");
        assert_eq!(frames.len(), 3);
        assert_eq!((&frames[0]["kind"], &frames[0]["module"]), (&Json::from("native"), &Json::from("libc.so.6")));
        assert_eq!((&frames[1]["name"], &frames[1]["line"]), (&Json::from("a.Ma\u{202e}in.take"), &Json::from(3)));
        assert_eq!(lines[1]["root"], true);
        assert!(lines[1].get("reason").is_none());
    }

    #[test]
    fn a_stack_whose_frames_changed_is_told_again() {
        let mut stacks = Stacks::new();
        let mut stream = EventStream::new(Vec::new());
        for number in 0..2_u32 {
            let frame = Frame::named(crate::stack::Kind::Stub, format!("blob {number}"));
            stacks.define_frame(crate::stack::FrameDefinition { id: number, frame: frame.into() });
            let end = crate::stack::End { root: false, reason: "no table".to_owned() };
            stacks.define_stack(crate::stack::StackDefinition { id: StackId(99), frames: vec![number], end });
            for _ in 0..3 {
                stream.tell_stack(&stacks, StackId(99)).expect("memory takes everything");
            }
        }
        let text = String::from_utf8(stream.out.into_inner().expect("memory takes everything")).expect("JSON is UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("blob 0") && lines[1].contains("blob 1"));
        assert!(lines[1].contains("\"root\":false,\"reason\":\"no table\""));
    }

    #[test]
    fn a_stack_that_is_not_there_says_why() {
        assert_eq!(stack_text(&Stacks::new(), StackId(1)), "<no room to unwind>");
        assert_eq!(stack_text(&Stacks::new(), StackId(0xabcd)), "<stack lost>");
    }
}
