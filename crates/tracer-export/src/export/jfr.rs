//! A session as a file of the JDK's flight recorder (`-o x.jfr`, version 2.1), for JDK Mission Control, IDEs and the
//! JDK's own `jfr`.
//!
//! It takes items as they pass, as a recording does, since the format wants single events with their times: what the
//! kernel only counts is not in it. `application`, `machine` and `demand` turn jtrace's events into those of the file,
//! `schema` says which types there are, `chunk` and `pools` keep what the next chunk will hold.

mod application;
mod bytes;
mod chunk;
mod demand;
mod machine;
mod metadata;
mod pools;
mod schema;
mod settings;

use std::io::{self, Write};

use self::{
    application::Application,
    bytes::Bytes,
    chunk::{Chunk, Head, Known},
    machine::Machine,
    schema::Type,
};
use super::Export;
use crate::{
    event::{Edge, Event, Payload},
    item::{Item, Start, Taken, Target, ThreadName},
    names::Names,
    report::{Finding, Report, Severity, SiteCompleteness},
    session::Session,
    stack::Stacks,
};

/// Writes a session to `out`, in whole chunks.
pub struct FlightRecorder<W: Write> {
    out: W,
    description: Bytes,
    session: Option<Recorded>,
}

/// What was taken since the session's start.
struct Recorded {
    target: Target,
    start_ns: u64,
    wall_ms: u64,
    latest_ns: u64,
    /// What was told in a way that is no single event.
    absent: Absent,
    /// Types of events that the sites can give.
    settings: Vec<Type>,
    chunk: Chunk,
    application: Application,
    machine: Machine,
}

impl<W: Write> FlightRecorder<W> {
    /// A recorder that has written nothing yet.
    pub fn new(out: W) -> Self {
        Self { out, description: metadata::description(), session: None }
    }

    /// Takes an item, after the session has taken it.
    pub fn write(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) -> io::Result<()> {
        if let Item::Start(start) = item {
            self.session = Some(Recorded::new(start));
        }
        let Some(recorded) = &mut self.session else { return Ok(()) };
        recorded.take(session, item, taken);
        if recorded.chunk.is_full(recorded.latest_ns) {
            recorded.chunk.write(recorded.latest_ns, &self.description, &mut self.out)?;
            self.out.flush()?;
            recorded.chunk = recorded.next_chunk(recorded.latest_ns);
        }
        Ok(())
    }

    /// Writes what is left, with what the report says of all of it, and gives back what is written to.
    pub fn finish(mut self, report: &Report) -> io::Result<W> {
        if let Some(recorded) = &mut self.session {
            let end_ns = recorded.latest_ns.max(report.span.start_ns.saturating_add(report.span.duration_ns));
            tell_report(report, end_ns, &mut recorded.chunk);
            for sentence in recorded.absent.sentences() {
                recorded.chunk.add_missing(sentence, end_ns);
            }
            recorded.chunk.write(end_ns, &self.description, &mut self.out)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> Export for FlightRecorder<W> {
    fn write(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) -> io::Result<()> {
        Self::write(self, session, item, taken)
    }

    fn finish(self: Box<Self>, report: &Report) -> io::Result<()> {
        Self::finish(*self, report).map(drop)
    }
}

impl Recorded {
    fn new(start: &Start) -> Self {
        let Start { target, sites, time_ns, wall_ms, .. } = start;
        let mut recorded = Self {
            application: Application::default(),
            machine: Machine::new(&target.collector),
            target: target.clone(),
            start_ns: *time_ns,
            wall_ms: *wall_ms,
            latest_ns: *time_ns,
            absent: Absent::default(),
            settings: settings::of(sites),
            chunk: Chunk::new(0, 0),
        };
        recorded.chunk = recorded.next_chunk(*time_ns);
        recorded
    }

    fn wall_ns(&self, time_ns: u64) -> u64 {
        let since = time_ns.saturating_sub(self.start_ns);
        self.wall_ms.saturating_mul(1_000_000).saturating_add(since)
    }

    /// A chunk that begins with what each of them says of the target and of itself.
    fn next_chunk(&self, start_ns: u64) -> Chunk {
        let mut chunk = Chunk::new(start_ns, self.wall_ns(start_ns));
        let (names, stacks) = (Names::new(), Stacks::new());
        let known = Known { names: &names, stacks: &stacks };
        let head = Head { start_ns, ..Head::default() };
        let Target { pid, command, jvm_version, jvm_name, uptime_s, .. } = &self.target;
        chunk.add(Type::JvmInformation, head, known, |fields| {
            fields.text(jvm_name);
            fields.text(&in_jdk_words(jvm_name, jvm_version));
            fields.unknown();
            fields.text(command);
            fields.number(self.wall_ms.saturating_sub(uptime_s.saturating_mul(1000)));
            fields.number((*pid).into());
        });
        chunk.add(Type::ActiveRecording, head, known, |fields| {
            fields.number(1);
            // What another recorder could not tell, a reader of this file must not take for nothing.
            fields.text(self.target.recorder.as_ref().map_or("jtrace", |recorder| &recorder.name));
            fields.unknown();
            // It has no such limits.
            fields.signed(i64::MIN);
            fields.signed(i64::MIN);
            fields.number(self.wall_ms);
            fields.signed(i64::MIN);
        });
        for of in &self.settings {
            chunk.add(Type::ActiveSetting, head, known, |fields| {
                fields.number(of.id());
                fields.text("enabled");
                fields.text("true");
            });
        }
        chunk
    }

    fn take(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) {
        let known = Known { names: session.names(), stacks: session.stacks() };
        self.absent.take(item);
        match item {
            Item::Counters(counters) => self.latest_ns = self.latest_ns.max(counters.time_ns),
            Item::End(end) => self.latest_ns = self.latest_ns.max(end.time_ns),
            Item::Thread(ThreadName { tid, name }) => self.chunk.pools().threads().rename(*tid, name),
            Item::Guard(action) if action.hides_ends() => {
                self.application.cut(&action.group);
                self.machine.cut(&action.group);
            }
            _ => {}
        }
        let Taken::Event(event) = taken else { return };
        self.latest_ns = self.latest_ns.max(event.time_ns);
        self.application.event(event, known, &mut self.chunk);
        self.machine.event(event, known, &mut self.chunk);
        demand::event(event, session.subjects(), known, &mut self.chunk);
        if let Payload::Thread { edge: Edge::End, .. } = event.payload {
            self.chunk.pools().threads().forget(event.tid);
        }
    }
}

/// What a session told in a way that is no single event, and so is not in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Absent {
    counted: bool,
    looked: bool,
    marked: bool,
}

impl Absent {
    const fn take(&mut self, item: &Item<'_>) {
        match item {
            Item::Tallies(_) => self.counted = true,
            Item::Look(_) => self.looked = true,
            Item::Inside(_) => self.marked = true,
            _ => {}
        }
    }

    fn sentences(self) -> impl Iterator<Item = &'static str> {
        let sentences = [
            (
                self.counted,
                "what the kernel counted by itself is no single event and not in this file; `--each` sends it one by one",
            ),
            (self.looked, "looks at all threads are no single events and not in this file"),
            (self.marked, "markers and properties of woven code are not in this file"),
        ];
        sentences.into_iter().filter_map(|(is_so, sentence)| is_so.then_some(sentence))
    }
}

/// The head of an event that tells of a stretch which ends now.
const fn until(event: &Event, start_ns: u64) -> Head {
    let lasted_ns = event.time_ns.saturating_sub(start_ns);
    Head { start_ns, lasted_ns, tid: Some(event.tid), stack: event.stack }
}

/// The same of a moment.
const fn at(event: &Event) -> Head {
    until(event, event.time_ns)
}

/// What was found, and how complete all of it is.
fn tell_report(report: &Report, end_ns: u64, chunk: &mut Chunk) {
    let (names, stacks) = (Names::new(), Stacks::new());
    let known = Known { names: &names, stacks: &stacks };
    let head = Head { start_ns: end_ns, ..Head::default() };
    for Finding { id, severity, score: _, title, shown_in: _, when: _, evidence, next_step } in &report.findings {
        chunk.add(Type::Finding, head, known, |fields| {
            fields.text(id);
            fields.text(severity_text(*severity));
            fields.text(title);
            fields.text(&evidence.join("; "));
            fields.text(next_step);
        });
    }
    let whole = &report.completeness;
    chunk.add(Type::Completeness, head, known, |fields| {
        for number in [whole.emitted, whole.delivered, whole.lost, whole.refused, whole.undecodable] {
            fields.number(number);
        }
    });
    for SiteCompleteness { probe, lens, hits, emitted, delivered, lost, state, .. } in &whole.sites {
        chunk.add(Type::Site, head, known, |fields| {
            fields.text(probe);
            fields.text(lens);
            for number in [hits, emitted, delivered, lost] {
                fields.number(*number);
            }
            fields.text(state);
        });
    }
    for sentence in &whole.missing {
        chunk.add_missing(sentence, end_ns);
    }
}

const fn severity_text(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

/// Names of all types of events that a file can have, for the tests of the documents.
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub fn event_names() -> impl Iterator<Item = &'static str> {
    let without_events = Type::GcPhasePauseLevel1.id();
    schema::EVENTS.iter().filter(move |event| event.of.id() < without_events).map(|event| event.name)
}

/// Writes the items that `play` gives into a file; gives the report of the session as well.
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub fn written(play: impl FnOnce(&mut dyn FnMut(Item<'_>))) -> (Vec<u8>, Report) {
    let mut recorder = FlightRecorder::new(Vec::new());
    let mut session: Option<Session> = None;
    play(&mut |item| {
        if let Item::Start(start) = &item {
            session = Some(Session::new((**start).clone()));
        }
        let session = session.as_mut().expect("it begins with a start");
        let taken = session.accept(&item);
        recorder.write(session, &item, &taken).expect("memory takes everything");
    });
    let report = session.expect("a start").report();
    (recorder.finish(&report).expect("memory takes everything"), report)
}

/// A version as the JDK's files say it: JDK Mission Control finds it behind `JRE`.
fn in_jdk_words(name: &str, version: &str) -> String {
    match version {
        "" => String::new(),
        _ => format!("{name} ({version}) for linux JRE ({version})"),
    }
}

#[cfg(test)]
mod tests;
