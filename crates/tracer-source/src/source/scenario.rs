//! Scenarios: a session's items as readable text, for tests of everything downstream of a source.
//!
//! ```text
//! # Times count from the start of the session. Names are in quotes, with \" \\ \n \r \t \e \xNN.
//! target pid=42 command="com.shop.Main" live_threads=10
//! lenses gc,locks
//! thread 5 "VM Thread"
//! missing "hotspot:gc__end: not in this JDK"
//! +0ms   tid 5  gc_begin full=true cause="System.gc()"
//! +12ms  tid 5  gc_end last_cause="System.gc()"
//! stack idle "libc.so.6 start_thread" "java.lang.Thread.run:840" "java.lang.Object.wait"
//! +13ms  tid 7  park_begin stack=idle
//! subject add "com.shop.Cart" "add" "(I)V"
//! +14ms  tid 7  method_entry subject=add sp=0x1000
//! tally add count=3 timed=3 total=6ms self=6ms
//! lost gc_end 3
//! end +1s duration
//! ```
//! Every kind of event that occurs gets one site; definitions come before their first use; counters that fit the events
//! come before the end. Events are in the order of the lines. A word that is not given is 0, a name that is not given is
//! absent. A stack is a word and its frames, outermost first: `Class.method:line`, or a file and a symbol, or `kernel` and a
//! symbol. A subject is a word and a class, or a method's class, name and descriptor, and perhaps `native`. Tallies make one
//! reading at the end. `function=GetArrayLength` is a function of JNI. `class=lost` (without quotes) is a name whose definition was lost, `class=unreadable` one that could not be read.

mod line;
mod marks;
mod tokens;
mod vocabulary;

pub use line::frame_of as frame;

use std::collections::{BTreeMap, BTreeSet};

use tracer_common::{record::EventKind, stack::STACK_FIRST};

use tracer_weave::{PlaceDefinition, Skipped};

use self::{line::Statement, marks::Said};
use super::encode::{append_marks, encode_definition, encode_event_with_stack};
use crate::{
    event::{SiteId, StackId, SubjectId, Tid},
    item::{self, Counters, Item, Site, Start, Target},
    lens::Lens,
    mark::{Asked, Inside, Woven},
    stack::{End, Frame, FrameDefinition, StackDefinition},
    subject::{Subject, SubjectDefinition},
    tally::{ContextTallies, ContextTally, Tallies, Tally},
};

/// `CLOCK_MONOTONIC` at the start of every scenario: one hour.
pub const START_NS: u64 = 3_600_000_000_000;
/// Wall-clock time at the start of every scenario.
pub const START_WALL_MS: u64 = 1_700_000_000_000;

/// What is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Error {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// A scenario that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    target: Target,
    lenses: Vec<Lens>,
    threads: Vec<(Tid, String)>,
    missing: Vec<String>,
    stacks: Vec<(String, Vec<Frame>)>,
    subjects: Vec<(String, Subject)>,
    tallies: Vec<Tally>,
    contexts: Vec<ContextTally>,
    events: Vec<Occurrence>,
    lost: BTreeMap<EventKind, u64>,
    woven: WovenCode,
    end: (u64, String),
}

/// What was said of woven code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WovenCode {
    asked: Asked,
    /// Each before the event with this index.
    said: Vec<(usize, Inside)>,
    /// What the next line about weaving left out.
    skipped: Vec<Skipped>,
    /// Words that came out of each buffer so far.
    words: BTreeMap<u64, u64>,
}

/// An event with the texts that its words name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Occurrence {
    offset_ns: u64,
    tid: Tid,
    kind: EventKind,
    stack: Option<String>,
    subject: Option<String>,
    words: Vec<u64>,
    texts: Vec<Vec<u8>>,
    /// The marks that follow.
    marked: Vec<u64>,
}

impl Scenario {
    /// Reads a scenario.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut scenario = Self {
            target: Target { pid: 42, namespace_pid: 42, cpus: 2, ..Target::default() },
            lenses: Lens::USUAL.to_vec(),
            threads: Vec::new(),
            missing: Vec::new(),
            stacks: Vec::new(),
            subjects: Vec::new(),
            tallies: Vec::new(),
            contexts: Vec::new(),
            events: Vec::new(),
            lost: BTreeMap::new(),
            woven: WovenCode::default(),
            end: (0, String::new()),
        };
        let mut ended = false;
        for (index, line) in text.lines().enumerate() {
            let error = |problem| Error { line: index + 1, problem };
            let Some(statement) = line::parse(line, &mut scenario.target).map_err(error)? else { continue };
            if ended {
                return Err(error("nothing can follow `end`".to_owned()));
            }
            match statement {
                Statement::Target => {}
                Statement::Lenses(lenses) => scenario.lenses = lenses,
                Statement::Thread(tid, name) => scenario.threads.push((tid, name)),
                Statement::Missing(sentence) => scenario.missing.push(sentence),
                Statement::Lost(kind, count) => *scenario.lost.entry(kind).or_default() += count,
                Statement::Stack(name, frames) => scenario.stacks.push((name, frames)),
                Statement::Subject(name, subject) => scenario.subjects.push((name, subject)),
                Statement::Tally { subject, stack, context, tally } => {
                    let subject = scenario.subject_id(&subject).map_err(error)?.0;
                    let stack = scenario.stack_or_none(stack.as_deref()).map_err(error)?;
                    scenario.tallies.push(Tally { subject, ..tally });
                    if let Some(context) = context {
                        scenario.contexts.push(ContextTally { subject, stack: stack.0, ..context });
                    }
                }
                Statement::Event(event) => {
                    let event = scenario.event(event).map_err(error)?;
                    scenario.events.push(event);
                }
                Statement::Said(said) => scenario.woven.take(said, scenario.events.len()).map_err(error)?,
                Statement::End(offset_ns, reason) => {
                    scenario.end = (offset_ns, reason);
                    ended = true;
                }
            }
        }
        if ended {
            Ok(scenario)
        } else {
            Err(Error { line: text.lines().count(), problem: "no `end +TIME REASON`".to_owned() })
        }
    }

    /// An event whose stack and subject are known.
    fn event(&mut self, mut event: Occurrence) -> Result<Occurrence, String> {
        if let Some(name) = &event.stack {
            self.stack_id(name).ok_or_else(|| format!("there is no stack `{name}` above"))?;
        }
        if let (Some(name), Some(word)) = (&event.subject, event.words.first_mut()) {
            *word = self.subject_id(name)?.0.into();
        }
        if let (EventKind::Marks, [buffer, first, ..]) = (event.kind, event.words.as_mut_slice()) {
            let words = self.woven.words.entry(*buffer & 0xffff_ffff).or_default();
            *first = words.saturating_add(*first);
            *words = first.saturating_add(event.marked.len() as u64);
        }
        Ok(event)
    }

    fn stack_or_none(&self, name: Option<&str>) -> Result<StackId, String> {
        let Some(name) = name else { return Ok(StackId::default()) };
        self.stack_id(name).ok_or_else(|| format!("there is no stack `{name}` above"))
    }

    fn subject_id(&self, name: &str) -> Result<SubjectId, String> {
        let index = self.subjects.iter().position(|(known, _)| known == name);
        let index = index.ok_or_else(|| format!("there is no subject `{name}` above"))?;
        Ok(SubjectId(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// One reading, as a live session has one at its end.
    fn reading(&self, time_ns: u64) -> Option<Tallies> {
        let is_method = |subject: u32| {
            let at = usize::try_from(subject).unwrap_or(usize::MAX);
            self.subjects.get(at).is_some_and(|(_, subject)| subject.method.is_some())
        };
        let (methods, objects) = self.tallies.iter().cloned().partition(|tally| is_method(tally.subject));
        let (calls, made) = self.contexts.iter().partition(|tally| is_method(tally.subject));
        let contexts = (!self.contexts.is_empty()).then_some(ContextTallies { calls, objects: made });
        (!self.tallies.is_empty()).then(|| Tallies { time_ns, methods, objects, contexts, ..Tallies::default() })
    }

    /// Gives all items to a sink, in the order of a live session.
    pub fn play(&self, sink: &mut dyn FnMut(Item<'_>)) {
        let kinds: Vec<EventKind> = self
            .events
            .iter()
            .map(|event| event.kind)
            .chain(self.lost.keys().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        sink(Item::Start(Box::new(self.start(&kinds))));
        self.define_stacks(sink);
        for (id, (_, subject)) in (0..).zip(&self.subjects) {
            sink(Item::Subject(SubjectDefinition { id: SubjectId(id), subject: subject.clone() }));
        }
        let mut counters = vec![[0_u64; 7]; kinds.len()];
        let mut defined = BTreeSet::new();
        if !self.woven.asked.markers.is_empty() {
            sink(Item::Inside(Inside::Asked(self.woven.asked.clone())));
        }
        for (before, event) in self.events.iter().enumerate() {
            self.woven.tell(before, sink);
            let Occurrence { offset_ns, tid, kind, stack, subject: _, words, texts, marked } = event;
            let index = kinds.binary_search(kind).unwrap_or(0);
            for text in texts {
                let id = super::encode::name_id(text);
                if defined.insert(id) {
                    sink(Item::Record(&encode_definition(id, text)));
                    count(&mut counters, index, &[5], 1);
                }
            }
            let site = SiteId(u16::try_from(index).unwrap_or(0));
            let stack = stack.as_deref().and_then(|name| self.stack_id(name)).unwrap_or_default();
            let time_ns = START_NS.saturating_add(*offset_ns);
            let mut record = encode_event_with_stack(*kind, site, *tid, time_ns, stack, words);
            if *kind == EventKind::Marks {
                append_marks(&mut record, marked);
            }
            sink(Item::Record(&record));
            count(&mut counters, index, &[0, 2], 1);
        }
        self.woven.tell(self.events.len(), sink);
        for (kind, lost) in &self.lost {
            count(&mut counters, kinds.binary_search(kind).unwrap_or(0), &[0, 2, 3], *lost);
        }
        let (offset_ns, reason) = &self.end;
        let time_ns = START_NS.saturating_add(*offset_ns);
        if let Some(reading) = self.reading(time_ns) {
            sink(Item::Tallies(reading));
        }
        sink(Item::Counters(Counters { time_ns, sites: counters, ..Counters::default() }));
        sink(Item::End(item::End { time_ns, reason: reason.clone(), counters_final: true }));
    }

    fn stack_id(&self, name: &str) -> Option<StackId> {
        let index = self.stacks.iter().position(|(known, _)| known == name)?;
        Some(StackId(STACK_FIRST + index as u64))
    }

    fn define_stacks(&self, sink: &mut dyn FnMut(Item<'_>)) {
        let mut known: Vec<&Frame> = Vec::new();
        for (name, frames) in &self.stacks {
            let mut ids = Vec::new();
            for frame in frames.iter().rev() {
                let index = known.iter().position(|other| *other == frame).unwrap_or_else(|| {
                    known.push(frame);
                    known.len() - 1
                });
                let id = u32::try_from(index).unwrap_or(u32::MAX);
                if index + 1 == known.len() {
                    sink(Item::Frame(FrameDefinition { id, frame: frame.clone().into() }));
                }
                ids.push(id);
            }
            let end = End { root: true, reason: String::new() };
            let id = self.stack_id(name).unwrap_or_default();
            sink(Item::Stack(StackDefinition { id, frames: ids, end }));
        }
    }

    fn start(&self, kinds: &[EventKind]) -> Start {
        let site = |(index, kind): (usize, &EventKind)| Site {
            probe: format!("scenario:{}", vocabulary::word(*kind)),
            lens: vocabulary::lens(*kind),
            kind: *kind as u16,
            offset: 0x1000 + 0x10 * index as u64,
        };
        Start {
            target: self.target.clone(),
            lenses: self.lenses.clone(),
            sites: kinds.iter().enumerate().map(site).collect(),
            missing: self.missing.clone(),
            time_ns: START_NS,
            wall_ms: START_WALL_MS,
            trap_cost_ps: None,
            attach_ns: 0,
            attach_cpu_ns: 0,
            threads: self.threads.clone(),
        }
    }
}

impl WovenCode {
    /// Takes what is said before the event with this index.
    fn take(&mut self, said: Said, before: usize) -> Result<(), String> {
        let inside = match said {
            Said::Marker(marker) => {
                self.asked.markers.push(marker);
                return Ok(());
            }
            Said::Skipped(skipped) => {
                self.skipped.push(skipped);
                return Ok(());
            }
            Said::Place(place, marker) => {
                let index = self.asked.markers.iter().position(|known| known.name == marker);
                let index = index.ok_or_else(|| format!("there is no marker `{marker}` above"))?;
                Inside::Place(PlaceDefinition { marker: u32::try_from(index).unwrap_or(u32::MAX), ..place })
            }
            Said::Inside(Inside::Woven(woven)) => {
                let skipped = std::mem::take(&mut self.skipped);
                Inside::Woven(Woven { skipped_count: skipped.len() as u64, skipped, ..woven })
            }
            Said::Inside(inside) => inside,
        };
        self.said.push((before, inside));
        Ok(())
    }

    /// Gives what was said before the event with this index.
    fn tell(&self, before: usize, sink: &mut dyn FnMut(Item<'_>)) {
        for (_, inside) in self.said.iter().filter(|(index, _)| *index == before) {
            sink(Item::Inside(inside.clone()));
        }
    }
}

/// Adds to some counters (hits, filtered, emitted, lost, unreadable, definitions emitted and lost) of a site.
fn count(counters: &mut [[u64; 7]], site: usize, which: &[usize], amount: u64) {
    if let Some(counters) = counters.get_mut(site) {
        for counter in which {
            counters[*counter] = counters[*counter].saturating_add(amount);
        }
    }
}

#[cfg(test)]
mod tests;
