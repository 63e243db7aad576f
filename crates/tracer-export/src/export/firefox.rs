//! A session as Firefox Profiler's processed profile (`-o x.firefox.json.gz`): the samples of the clock by thread, and a marker for
//! each slice of a time line. The library of the profiler's makers, `fxprof-processed-profile`, knows the form.
//!
//! The form is one document of tables, so all of it is kept until the end: there is a bound, and what is beyond it is counted.

mod span;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CounterHandle, CpuDelta, Frame as Shown, FrameFlags, FrameInfo, MarkerTiming,
    ProcessHandle, Profile, ReferenceTimestamp, SamplingInterval, StackHandle, ThreadHandle, Timestamp,
};

use self::span::Span;
use super::time_line::{Slice, TimeLine, Track, Tracks};
use crate::{
    event::{Event, StackId, Tid},
    report::{Report, Unit},
    session::Session,
    stack::{Frame, Kind, Stacks},
    text::escape,
    view,
};

/// Most samples and markers of a profile; each takes some 50 bytes.
const MAX_ENTRIES: u64 = 2 << 20;
/// Longest text, in columns.
const LONGEST: usize = 512;
/// What is shown before a sample has said what it stands for.
const USUAL_INTERVAL_NS: u64 = 10_000_000;
/// How kinds of frames are called and coloured.
const KINDS: [(Kind, &str, CategoryColor); 7] = [
    (Kind::Interpreted, "Java, interpreted", CategoryColor::Yellow),
    (Kind::Compiled, "Java, compiled", CategoryColor::Green),
    (Kind::Inlined, "Java, inlined", CategoryColor::LightGreen),
    (Kind::Native, "Native", CategoryColor::Blue),
    (Kind::Stub, "JVM stub", CategoryColor::Purple),
    (Kind::Kernel, "Kernel", CategoryColor::Orange),
    (Kind::Unknown, "Unknown", CategoryColor::Gray),
];

/// A profile in which nothing is yet.
pub fn profile<'a>(out: impl Write + 'a) -> TimeLine<'a> {
    TimeLine::of(Tables::new(out))
}

/// Where slices and values go.
#[derive(Clone, Debug)]
enum Place {
    Thread(ThreadHandle),
    /// Markers of the process with this name.
    Row(String),
    /// A counter, and its value.
    Level(CounterHandle, f64),
    /// The profiler has no chart for it.
    Nowhere,
}

/// The tables of the profile.
struct Tables<W: Write> {
    out: W,
    profile: Profile,
    start_ns: u64,
    /// The process, and the thread that stands for all of it.
    process: Option<(ProcessHandle, ThreadHandle)>,
    places: Vec<Place>,
    threads: HashMap<Tid, (Track, String)>,
    stacks: HashMap<(ThreadHandle, StackId), Option<StackHandle>>,
    kinds: [CategoryHandle; KINDS.len()],
    lenses: HashMap<&'static str, CategoryHandle>,
    interval_ns: Option<u64>,
    entries: u64,
}

impl<W: Write> Tables<W> {
    fn new(out: W) -> Self {
        let interval = SamplingInterval::from_nanos(USUAL_INTERVAL_NS);
        let mut profile = Profile::new("jtrace", ReferenceTimestamp::from_millis_since_unix_epoch(0.0), interval);
        profile.set_symbolicated(true);
        profile.set_os_name("Linux");
        let kinds = KINDS.map(|(_, name, colour)| profile.add_category(name, colour));
        Self {
            out,
            profile,
            start_ns: 0,
            process: None,
            places: Vec::new(),
            threads: HashMap::new(),
            stacks: HashMap::new(),
            kinds,
            lenses: HashMap::new(),
            interval_ns: None,
            entries: 0,
        }
    }

    fn time(&self, time_ns: u64) -> Timestamp {
        Timestamp::from_nanos_since_reference(time_ns.saturating_sub(self.start_ns))
    }

    fn place(&mut self, place: Place) -> Track {
        self.places.push(place);
        Track(self.places.len() as u64 - 1)
    }

    fn at(&mut self, Track(track): Track) -> Option<&mut Place> {
        self.places.get_mut(usize::try_from(track).ok()?)
    }

    /// Whether there is room for one more.
    const fn has_room(&mut self) -> bool {
        self.entries += 1;
        self.entries <= MAX_ENTRIES
    }

    fn of_lens(&mut self, lens: &'static str) -> CategoryHandle {
        let Self { lenses, profile, .. } = self;
        *lenses.entry(lens).or_insert_with(|| profile.add_category(lens, CategoryColor::Blue))
    }

    /// Adds a marker. Its name is the row in which it is shown.
    fn mark(&mut self, thread: ThreadHandle, timing: MarkerTiming, lens: &'static str, name: &str, text: &str) {
        let category = self.of_lens(lens);
        let [name, text] = [name, text].map(|text| self.profile.intern_string(&shown(text)));
        self.profile.add_marker(thread, timing, Span { name, text, category });
    }

    /// A stack with names, which each thread's table has once.
    fn stack(&mut self, thread: ThreadHandle, id: StackId, session: &Session) -> Option<StackHandle> {
        let Self { stacks, profile, kinds, .. } = self;
        if let Some(known) = stacks.get(&(thread, id)) {
            return *known;
        }
        let mut info = |text: &str, kind: Kind| {
            let category =
                KINDS.iter().position(|(known, ..)| *known == kind).map_or(CategoryHandle::OTHER, |at| kinds[at]);
            let label = profile.intern_string(&shown(text));
            FrameInfo { frame: Shown::Label(label), category_pair: category.into(), flags: FrameFlags::empty() }
        };
        let known = session.stacks().get(id);
        let reason = match known {
            None => Some(Stacks::absence(id).to_owned()),
            Some(stack) if !stack.end.root => Some(format!("<cut: {}>", stack.end.reason)),
            Some(_) => None,
        };
        let mut frames: Vec<FrameInfo> =
            session.stacks().frames_of(id).map(|frame: &Frame| info(&frame.to_string(), frame.kind)).collect();
        frames.extend(reason.map(|reason| info(&reason, Kind::Unknown)));
        let stack = profile.intern_stack_frames(thread, frames.into_iter().rev());
        stacks.insert((thread, id), stack);
        stack
    }
}

impl<W: Write> Tracks for Tables<W> {
    fn start(&mut self, (pid, command): (u32, &str), (time_ns, wall_ms): (u64, u64)) -> io::Result<()> {
        self.start_ns = time_ns;
        self.profile.set_reference_timestamp(ReferenceTimestamp::from_millis_since_unix_epoch(wall_ms as f64));
        let start = self.time(time_ns);
        let process = self.profile.add_process(&shown(command), pid, start);
        // The process's own number is that of its first thread as well, which only starts Java.
        let whole = self.profile.add_thread(process, 0, start, true);
        self.process = Some((process, whole));
        Ok(())
    }

    fn track(&mut self, name: &str) -> io::Result<Track> {
        Ok(self.place(Place::Row(name.to_owned())))
    }

    fn counter(&mut self, parent: Track, name: &str, unit: Unit) -> io::Result<Track> {
        let of = match self.at(parent) {
            Some(Place::Row(row)) => row.clone(),
            Some(Place::Thread(_) | Place::Level(..) | Place::Nowhere) | None => String::new(),
        };
        let place = match (self.process, unit) {
            // The profiler draws counters of memory.
            (Some((process, _)), Unit::Bytes) => {
                let counter = self.profile.add_counter(process, &shown(name), "Memory", &shown(&of));
                Place::Level(counter, 0.0)
            }
            _ => Place::Nowhere,
        };
        Ok(self.place(place))
    }

    fn thread(&mut self, tid: Tid, name: &str) -> io::Result<Track> {
        if let Some((track, _)) = self.threads.get(&tid).filter(|(_, known)| known == name) {
            return Ok(*track);
        }
        let Some((process, _)) = self.process else { return Ok(self.place(Place::Nowhere)) };
        let known = self.threads.get(&tid).map(|(track, _)| *track);
        let track = known.unwrap_or_else(|| {
            let start = Timestamp::from_nanos_since_reference(0);
            let thread = self.profile.add_thread(process, tid.0, start, false);
            self.place(Place::Thread(thread))
        });
        if let Some(Place::Thread(thread)) = self.at(track).cloned() {
            self.profile.set_thread_name(thread, &shown(name));
        }
        self.threads.insert(tid, (track, name.to_owned()));
        Ok(track)
    }

    fn off_cpu(&mut self, tid: Tid, name: &str) -> io::Result<Track> {
        // Markers of one name are a row of their own already.
        self.thread(tid, name)
    }

    fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()> {
        let Slice { track, begin_ns, end_ns, lens, name, notes } = slice;
        let mut said: Vec<String> = notes.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let (thread, row) = match (self.at(track).cloned(), self.process) {
            (Some(Place::Thread(thread)), _) => (thread, name.to_owned()),
            (Some(Place::Row(row)), Some((_, whole))) => {
                said.insert(0, name.to_owned());
                (whole, row)
            }
            _ => return Ok(()),
        };
        if self.has_room() {
            let (begin, end) = (self.time(begin_ns), self.time(end_ns));
            let timing =
                if begin_ns == end_ns { MarkerTiming::Instant(begin) } else { MarkerTiming::Interval(begin, end) };
            self.mark(thread, timing, lens, &row, &said.join("; "));
        }
        Ok(())
    }

    fn value(&mut self, track: Track, time_ns: u64, value: f64) -> io::Result<()> {
        let time = self.time(time_ns);
        if let Some(Place::Level(counter, before)) = self.at(track) {
            let (counter, change) = (*counter, value - *before);
            *before = value;
            self.profile.add_counter_sample(counter, time, change, 0);
        }
        Ok(())
    }

    fn sample(&mut self, event: &Event, period_ns: u64, session: &Session) -> io::Result<()> {
        let track = self.thread(event.tid, &session.names().thread(event.tid))?;
        let Some(Place::Thread(thread)) = self.at(track).cloned() else { return Ok(()) };
        if self.has_room() {
            self.interval_ns.get_or_insert(period_ns);
            let (time, stack) = (self.time(event.time_ns), self.stack(thread, event.stack, session));
            self.profile.add_sample(thread, time, stack, CpuDelta::from_nanos(period_ns), 1);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Nothing is written before the end.
        Ok(())
    }

    fn finish(&mut self, report: &Report) -> io::Result<()> {
        if let Some((_, whole)) = self.process {
            let end = self.time(report.span.start_ns.saturating_add(report.span.duration_ns));
            let mut head = view::head(report);
            if let Some(beyond) = self.entries.checked_sub(MAX_ENTRIES).filter(|beyond| *beyond > 0) {
                head.push(format!("{beyond} samples and markers beyond the first {MAX_ENTRIES} are not in this file"));
            }
            for sentence in head {
                let timing = MarkerTiming::Interval(Timestamp::from_nanos_since_reference(0), end);
                self.mark(whole, timing, "jtrace", "About this session", &sentence);
            }
        }
        if let Some(interval_ns) = self.interval_ns.filter(|interval_ns| *interval_ns > 0) {
            self.profile.set_interval(SamplingInterval::from_nanos(interval_ns));
        }
        let mut gzip = GzEncoder::new(&mut self.out, Compression::fast());
        serde_json::to_writer(&mut gzip, &self.profile)?;
        gzip.finish()?.flush()
    }
}

/// What may be shown of a text of the target.
fn shown(text: &str) -> String {
    escape::fit(text, LONGEST)
}

#[cfg(test)]
mod tests;
