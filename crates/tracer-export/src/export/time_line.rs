//! A session as a time line: a track for each thread, for pauses, safepoints, operations and findings, and a counter for each
//! line of the report's timelines. What becomes of the tracks in a file is the business of `perfetto` and `firefox`.
//!
//! It takes items as they pass, as a flight recording does: what the kernel only counts has no times and is not in it.

use std::{borrow::Cow, io};

use super::Export;
use crate::{
    analysis::pairing::{Open, Stacks},
    event::{Edge, Event, Holder, MonitorAction, NameId, Payload, StackId, Tid},
    item::{Item, Start, Taken, Target},
    lens::Lens,
    report::{Finding, Report, Series, Shape, Stretch, Timeline, Unit},
    session::Session,
};

/// A track that slices lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track(pub(super) u64);

/// A stretch of time on a track, or a moment where both ends are one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'a> {
    pub(super) track: Track,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) lens: &'static str,
    pub(super) name: &'a str,
    /// What else is known of it, by name.
    pub(super) notes: &'a [(&'static str, String)],
}

/// The tracks of a file.
pub(super) trait Tracks {
    /// The process, and which time of the wall its clock's time is.
    fn start(&mut self, process: (u32, &str), times: (u64, u64)) -> io::Result<()>;

    /// A new track of the process.
    fn track(&mut self, name: &str) -> io::Result<Track>;

    /// A new counter of a track.
    fn counter(&mut self, parent: Track, name: &str, unit: Unit) -> io::Result<Track>;

    /// The track of a thread. Its name is told again where it has another one.
    fn thread(&mut self, tid: Tid, name: &str) -> io::Result<Track>;

    /// The track beside a thread's own that says when it was off its CPU: these times and those of locks need not nest.
    fn off_cpu(&mut self, tid: Tid, name: &str) -> io::Result<Track>;

    /// The thread is gone; who has its id next is another one.
    fn forget(&mut self, tid: Tid);

    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()>;

    fn value(&mut self, track: Track, time_ns: u64, value: f64) -> io::Result<()>;

    /// A thread was running when the clock ticked. Not every time line has samples.
    fn sample(&mut self, _event: &Event, _period_ns: u64, _session: &Session) -> io::Result<()> {
        Ok(())
    }

    /// Hands on what was written so far.
    fn flush(&mut self) -> io::Result<()>;

    /// Writes what is left, with what the report says of all of it.
    fn finish(&mut self, report: &Report) -> io::Result<()>;
}

/// Puts a session onto tracks.
pub struct TimeLine<'a> {
    sequence: Box<dyn Tracks + 'a>,
    pauses: Stacks<Begun>,
    operations: Stacks<Begun>,
    safepoints: Open<u64>,
    compiling: Open<u64>,
    blocked: Open<Begun>,
    waiting: Open<Begun>,
    parked: Open<Begun>,
    sleeping: Open<Begun>,
    tracks: Option<ProcessTracks>,
}

/// Tracks of what happens to the whole process.
#[derive(Clone, Copy, Debug)]
struct ProcessTracks {
    pauses: Track,
    safepoints: Track,
    operations: Track,
}

/// What has begun on a thread.
#[derive(Clone, Copy, Debug)]
struct Begun {
    since_ns: u64,
    name: Option<NameId>,
    stack: StackId,
    holder: Option<Holder>,
}

impl<'a> TimeLine<'a> {
    /// A time line on which nothing is yet.
    pub(super) fn of(sequence: impl Tracks + 'a) -> Self {
        Self {
            sequence: Box::new(sequence),
            pauses: Stacks::default(),
            operations: Stacks::default(),
            safepoints: Open::default(),
            compiling: Open::default(),
            blocked: Open::default(),
            waiting: Open::default(),
            parked: Open::default(),
            sleeping: Open::default(),
            tracks: None,
        }
    }

    fn start(&mut self, start: &Start) -> io::Result<()> {
        let Start { target: Target { pid, command, .. }, time_ns, wall_ms, .. } = start;
        self.sequence.start((*pid, command), (*time_ns, *wall_ms))?;
        let mut track = |name| self.sequence.track(name);
        self.tracks = Some(ProcessTracks {
            safepoints: track("Safepoints")?,
            pauses: track("GC pauses")?,
            operations: track("VM operations")?,
        });
        Ok(())
    }

    fn event(&mut self, event: &Event, session: &Session) -> io::Result<()> {
        let names = session.names();
        match event.payload {
            Payload::GcBegin { cause, .. } => self.pauses.begin(event.tid, begun(event, Some(cause))),
            Payload::GcEnd { cause, last_cause } => {
                let Some((pause, 0)) = self.pauses.end(event.tid, |_| true) else { return Ok(()) };
                let known = [pause.name, Some(cause), Some(last_cause)]
                    .into_iter()
                    .flatten()
                    .find_map(|id| names.get(id).ok().filter(|name| name != NO_CAUSE));
                let name = known.map_or_else(|| "pause".into(), Cow::into_owned);
                self.of_process(|tracks| tracks.pauses, Lens::Gc, pause.since_ns, event, &name)?;
            }
            Payload::VmOperation { edge: Edge::Begin, name, .. } => {
                self.operations.begin(event.tid, begun(event, Some(name)));
            }
            Payload::VmOperation { edge: Edge::End, name, .. } => {
                let Some((operation, 0)) = self.operations.end(event.tid, |begun| begun.name == Some(name)) else {
                    return Ok(());
                };
                let name = names.text(name);
                self.of_process(|tracks| tracks.operations, Lens::Safepoint, operation.since_ns, event, &name)?;
            }
            Payload::Safepoint { edge: Edge::Begin } => self.safepoints.begin(event.tid, event.time_ns),
            Payload::Safepoint { edge: Edge::End } => {
                let Some(since_ns) = self.safepoints.end(event.tid, |_| true) else { return Ok(()) };
                self.of_process(|tracks| tracks.safepoints, Lens::Safepoint, since_ns, event, "safepoint")?;
            }
            Payload::Compile { edge: Edge::Begin, .. } => self.compiling.begin(event.tid, event.time_ns),
            Payload::Compile { edge: Edge::End, method, .. } => {
                let Some(since_ns) = self.compiling.end(event.tid, |_| true) else { return Ok(()) };
                let name = format!("compile {}.{}", names.class(method.class), names.text(method.method));
                self.of_thread(event, session, Lens::Jit, since_ns, &name, &[])?;
            }
            Payload::Monitor { action, monitor: _, class } => self.monitor(event, action, class, session)?,
            Payload::ParkBegin { .. } => self.parked.begin(event.tid, begun(event, None)),
            Payload::ParkEnd { .. } => {
                let parked = self.parked.end(event.tid, |_| true);
                self.rested(event, session, Lens::Locks, parked, "parked")?;
            }
            Payload::Sleep { edge: Edge::Begin, .. } => self.sleeping.begin(event.tid, begun(event, None)),
            Payload::Sleep { edge: Edge::End, .. } => {
                let sleeping = self.sleeping.end(event.tid, |_| true);
                self.rested(event, session, Lens::Threads, sleeping, "asleep")?;
            }
            Payload::OffCpu { blocked_ns, .. } => {
                let track = self.sequence.off_cpu(event.tid, &names.thread(event.tid))?;
                let begin_ns = event.time_ns.saturating_sub(blocked_ns);
                let notes = place(session, event.stack);
                let (end_ns, lens) = (event.time_ns, Lens::Offcpu.id());
                self.sequence.slice(Slice { track, begin_ns, end_ns, lens, name: "off CPU", notes: &notes })?;
            }
            Payload::CpuSample { period_ns } => self.sequence.sample(event, period_ns, session)?,
            Payload::ExceptionCreated { class } => {
                let name = names.class(class);
                let notes = place(session, event.stack);
                self.of_thread(event, session, Lens::Exceptions, event.time_ns, &name, &notes)?;
            }
            Payload::Thread { edge: Edge::End, .. } => {
                for open in [&mut self.blocked, &mut self.waiting, &mut self.parked, &mut self.sleeping] {
                    open.forget(event.tid);
                }
                self.sequence.forget(event.tid);
            }
            _ => {}
        }
        Ok(())
    }

    fn monitor(&mut self, event: &Event, action: MonitorAction, class: NameId, session: &Session) -> io::Result<()> {
        let tid = event.tid;
        match action {
            MonitorAction::ContendedEnter { holder } => {
                self.blocked.begin(tid, Begun { holder: Some(holder), ..begun(event, Some(class)) });
            }
            MonitorAction::ContendedEntered => {
                let blocked = self.blocked.end(tid, |begun| begun.name == Some(class));
                self.rested(event, session, Lens::Locks, blocked, "blocked on")?;
            }
            MonitorAction::Wait { .. } => self.waiting.begin(tid, begun(event, Some(class))),
            MonitorAction::Waited => {
                let waiting = self.waiting.end(tid, |_| true);
                self.rested(event, session, Lens::Locks, waiting, "waits in")?;
            }
            MonitorAction::ContendedExit | MonitorAction::Notify | MonitorAction::NotifyAll => {}
        }
        Ok(())
    }

    /// A thread goes on that did not.
    fn rested(
        &mut self,
        event: &Event,
        session: &Session,
        lens: Lens,
        begun: Option<Begun>,
        doing: &str,
    ) -> io::Result<()> {
        let Some(begun) = begun else { return Ok(()) };
        let names = session.names();
        let name = begun.name.map_or_else(|| doing.to_owned(), |class| format!("{doing} {}", names.class(class)));
        let mut notes = place(session, begun.stack);
        if let Some(holder) = begun.holder.and_then(Holder::thread) {
            notes.push(("held by", names.thread(holder)));
        }
        self.of_thread(event, session, lens, begun.since_ns, &name, &notes)
    }

    fn of_thread(
        &mut self,
        event: &Event,
        session: &Session,
        lens: Lens,
        begin_ns: u64,
        name: &str,
        notes: &[(&'static str, String)],
    ) -> io::Result<()> {
        let track = self.sequence.thread(event.tid, &session.names().thread(event.tid))?;
        self.sequence.slice(Slice { track, begin_ns, end_ns: event.time_ns, lens: lens.id(), name, notes })
    }

    fn of_process(
        &mut self,
        track: impl Fn(&ProcessTracks) -> Track,
        lens: Lens,
        begin_ns: u64,
        event: &Event,
        name: &str,
    ) -> io::Result<()> {
        let Some(track) = self.tracks.as_ref().map(track) else { return Ok(()) };
        self.sequence.slice(Slice { track, begin_ns, end_ns: event.time_ns, lens: lens.id(), name, notes: &[] })
    }

    /// Ends of what is under way in this group of sites will not be seen.
    fn cut(&mut self, group: &str) {
        match group {
            "gc" => self.pauses.cut_all(),
            "vm-operation" => self.operations.cut_all(),
            "safepoint" => self.safepoints.cut_all(),
            "compile" => self.compiling.cut_all(),
            "contended" => self.blocked.cut_all(),
            "wait" => self.waiting.cut_all(),
            "park" => self.parked.cut_all(),
            "sleep" => self.sleeping.cut_all(),
            _ => {}
        }
    }

    /// What only the report says: findings at their times, and values over time.
    fn report(&mut self, report: &Report) -> io::Result<()> {
        let Report { span, findings, sections, .. } = report;
        for finding in findings {
            self.finding(finding, span.start_ns, span.duration_ns)?;
        }
        for section in sections {
            for shape in &section.shapes {
                let Shape::Timeline(timeline) = shape else { continue };
                if !shape.is_empty() {
                    self.timeline(&section.title, timeline, span.start_ns, span.duration_ns)?;
                }
            }
        }
        Ok(())
    }

    /// One whose times are not known is about the whole span, and says so.
    fn finding(&mut self, finding: &Finding, start_ns: u64, duration_ns: u64) -> io::Result<()> {
        let Finding { id, severity: _, score: _, title, shown_in: _, when, evidence, next_step } = finding;
        let track = self.sequence.track(&format!("Finding: {id}"))?;
        let whole = [Stretch { from_ns: 0, to_ns: duration_ns }];
        let mut notes = vec![("evidence", evidence.join("; ")), ("next step", next_step.clone())];
        if when.is_empty() {
            notes.push(("time", "about the whole session".to_owned()));
        }
        for Stretch { from_ns, to_ns } in if when.is_empty() { &whole[..] } else { when } {
            let [begin_ns, end_ns] = [from_ns, to_ns].map(|ns| start_ns.saturating_add(*ns));
            self.sequence.slice(Slice { track, begin_ns, end_ns, lens: "finding", name: title, notes: &notes })?;
        }
        Ok(())
    }

    fn timeline(&mut self, section: &str, timeline: &Timeline, start_ns: u64, duration_ns: u64) -> io::Result<()> {
        let Timeline { title, unit, step_ns, levels, series, .. } = timeline;
        let parent = self.sequence.track(&format!("{section}: {title}"))?;
        for Series { title, values, .. } in
            series.iter().filter(|series| series.values.iter().any(|value| *value != 0.0))
        {
            let track = self.sequence.counter(parent, title, *unit)?;
            for (step, value) in (0_u64..).zip(values).filter(|(_, value)| value.is_finite()) {
                // A level is that of the end of its step, an amount holds for all of it.
                let at = if *levels { step + 1 } else { step };
                let at_ns = step_ns.saturating_mul(at).min(duration_ns);
                self.sequence.value(track, start_ns.saturating_add(at_ns), *value)?;
            }
            if !levels {
                self.sequence.value(track, start_ns.saturating_add(duration_ns), 0.0)?;
            }
        }
        Ok(())
    }
}

/// What HotSpot calls the cause when there is none.
const NO_CAUSE: &str = "No GC";

fn begun(event: &Event, name: Option<NameId>) -> Begun {
    Begun { since_ns: event.time_ns, name, stack: event.stack, holder: None }
}

/// The innermost Java frame of a stack, where it was taken.
fn place(session: &Session, stack: StackId) -> Vec<(&'static str, String)> {
    let java = session.stacks().frames_of(stack).find(|frame| frame.kind.is_java());
    java.map(|frame| ("at", frame.to_string())).into_iter().collect()
}

impl Export for TimeLine<'_> {
    fn write(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) -> io::Result<()> {
        match item {
            Item::Start(start) => self.start(start)?,
            Item::Guard(action) if action.hides_ends() => self.cut(&action.group),
            Item::Counters(_) => self.sequence.flush()?,
            _ => {}
        }
        match taken {
            Taken::Event(event) => self.event(event, session),
            Taken::Other => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, report: &Report) -> io::Result<()> {
        self.report(report)?;
        self.sequence.finish(report)
    }
}
