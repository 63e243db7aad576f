//! The fold of a session's items into a report.

mod cost;
mod governed;
mod idle_stacks;
mod kept;
mod reported;

use std::collections::HashMap;

use self::{
    cost::Spent,
    governed::Governed,
    idle_stacks::IdleStacks,
    kept::{Kept, Kind},
};
use crate::{
    analysis::{self, Analysis, ended::EndedThreads},
    client::Client,
    decode::{Decoded, Header, decode, marks},
    event::{Edge, Event, Payload, StackId, Tid, is_clock},
    item::{Counters, End, GuardAction, Item, Site, Start, Taken, Target, ThreadName, Wish},
    mark::MarkBatch,
    names::Names,
    stack::Stacks,
    subject::Subjects,
};

/// Longest name of a thread that is kept; Java allows any.
const MAX_THREAD_NAME_BYTES: usize = 1024;
/// Where fewer threads have names, those that ended keep theirs.
const MANY_NAMED_THREADS: usize = 4096;
/// Most buffers of marks whose threads are known.
const MAX_OWNERS: usize = 1 << 16;

/// State of a session between two items.
pub struct Session {
    target: Target,
    sites: Vec<Site>,
    missing: Vec<String>,
    start_ns: u64,
    wall_ms: u64,
    latest_ns: u64,
    end: Option<End>,
    spent: Spent,
    names: Names,
    stacks: Stacks,
    idle_stacks: IdleStacks,
    subjects: Subjects,
    analyses: Vec<Box<dyn Analysis>>,
    ended: EndedThreads,
    counters: Counters,
    delivered: Vec<u64>,
    undecodable: u64,
    governed: Governed,
    kept: Kept,
    /// Threads of the buffers of marks.
    owners: HashMap<u32, Tid>,
}

impl Session {
    /// A session begins with its first item.
    pub fn new(start: Start) -> Self {
        let Start { target, lenses, sites, missing, time_ns, wall_ms, trap_cost_ps, attach_ns, attach_cpu_ns, threads } =
            start;
        let mut analyses = analysis::all(&lenses);
        for analysis in &mut analyses {
            analysis.start(time_ns);
        }
        let mut names = Names::new();
        for (tid, name) in threads {
            names.define_thread(tid, name);
        }
        Self {
            target,
            delivered: vec![0; sites.len()],
            sites,
            missing,
            start_ns: time_ns,
            wall_ms,
            latest_ns: time_ns,
            end: None,
            spent: Spent::new(trap_cost_ps, [attach_ns, attach_cpu_ns]),
            names,
            stacks: Stacks::new(),
            idle_stacks: IdleStacks::default(),
            subjects: Subjects::default(),
            analyses,
            ended: EndedThreads::default(),
            counters: Counters::default(),
            undecodable: 0,
            governed: Governed::default(),
            kept: Kept::default(),
            owners: HashMap::new(),
        }
    }

    /// Adds a client of marks, whose report becomes a part of that of the lens `markers`; gives it back where the session has no such
    /// lens.
    pub fn add_client(&mut self, client: Box<dyn Client>) -> Option<Box<dyn Client>> {
        self.analyses.iter_mut().try_fold(client, |left, analysis| analysis.add_client(left))
    }

    /// What clients want to be switched off or on since the last time: for the method `switch` of a live session.
    pub fn wishes(&mut self) -> Vec<Wish> {
        self.analyses.iter_mut().flat_map(|analysis| analysis.wishes()).collect()
    }

    /// Whether a marker, or those that go with it, are off because somebody asked for that.
    pub fn is_held(&self, group: &str) -> bool {
        self.governed.groups().iter().any(|of| of.name() == group && of.is_held())
    }

    /// Takes the next item.
    pub fn accept(&mut self, item: &Item<'_>) -> Taken {
        match item {
            // A second start would be another session; a recording that holds one is cut there by its reader.
            Item::Start(_) => {}
            Item::Record(bytes) => return self.record(bytes),
            Item::Counters(counters) => {
                self.latest_ns = self.latest_ns.max(counters.time_ns);
                self.counters = counters.clone();
                self.spent.take(self.traps(), counters.trap_cost_ps);
            }
            Item::Guard(guard) => self.guard(guard),
            Item::Thread(ThreadName { tid, name }) => self.define_thread(*tid, name),
            Item::Ended(threads) => {
                if self.ended.hear_of(threads) {
                    self.threads_ended();
                }
            }
            Item::Frame(frame) => {
                if self.kept.admits(Kind::Frames, frame.frame.bytes()) {
                    self.stacks.define_frame(frame.clone());
                }
            }
            Item::Stack(stack) => {
                // The latest one of an id takes the place of an earlier one.
                let bytes = kept::of_stack(&stack.frames, &stack.end);
                if self.stacks.get(stack.id).is_some() || self.kept.admits(Kind::Stacks, bytes) {
                    self.stacks.define_stack(stack.clone());
                    self.idle_stacks.define(stack.id);
                }
            }
            Item::Subject(subject) => {
                if !self.kept.admits(Kind::Subjects, kept::of_subject(subject)) {
                    return Taken::Other;
                }
                for analysis in &mut self.analyses {
                    analysis.subject(subject);
                }
                self.subjects.define(subject.clone());
            }
            Item::Tallies(tallies) => {
                self.latest_ns = self.latest_ns.max(tallies.time_ns);
                for context in
                    tallies.contexts.iter().flat_map(|contexts| contexts.calls.iter().chain(&contexts.objects))
                {
                    self.idle_stacks.keep(context.stack());
                }
                for analysis in &mut self.analyses {
                    analysis.tallies(tallies);
                }
            }
            Item::Coverage(coverage) => {
                for analysis in &mut self.analyses {
                    analysis.coverage(coverage);
                }
            }
            Item::Look(look) => {
                self.latest_ns = self.latest_ns.max(look.time_ns);
                for stack in look.stacks() {
                    self.idle_stacks.keep(stack);
                }
                for analysis in &mut self.analyses {
                    analysis.look(look, &self.stacks);
                }
            }
            Item::Inside(inside) => {
                if kept::of_inside(inside).is_some_and(|bytes| !self.kept.admits(Kind::Inside, bytes)) {
                    return Taken::Other;
                }
                for analysis in &mut self.analyses {
                    analysis.inside(inside);
                }
            }
            Item::End(end) => self.end = Some(end.clone()),
        }
        Taken::Other
    }

    /// Traps so far: clocks are none, and what another recorder saw is none either.
    fn traps(&self) -> u64 {
        if self.target.recorder.is_some() {
            return 0;
        }
        let hits = self.counters.sites.iter().map(|[hits, ..]| hits);
        self.sites.iter().zip(hits).filter(|(site, _)| !is_clock(site.kind)).map(|(_, hits)| hits).sum()
    }

    /// What was decided comes between the events before and after it, so the numbers are those of that moment.
    fn guard(&mut self, action: &GuardAction) {
        let numbers = self
            .analyses
            .iter()
            .flat_map(|analysis| analysis.scaled(&action.group).into_iter().map(|number| (analysis.lens(), number)));
        self.governed.take(action, self.start_ns, &numbers.collect::<Vec<_>>());
        for analysis in &mut self.analyses {
            analysis.guard(action);
        }
    }

    fn record(&mut self, bytes: &[u8]) -> Taken {
        if let Ok(header) = Header::read(bytes)
            && !header.is_definition()
            && let Some(delivered) = self.delivered.get_mut(usize::from(header.site.0))
        {
            *delivered += 1;
        }
        match decode(bytes) {
            Ok(Decoded::Event(mut event)) => {
                self.latest_ns = self.latest_ns.max(event.time_ns);
                event.stack = self.stack_now(&event);
                self.name_thread(&event);
                self.pass_marks(&event, bytes);
                for analysis in &mut self.analyses {
                    analysis.event(&event);
                }
                if self.ended.hear(&event) {
                    self.threads_ended();
                }
                Taken::Event(event)
            }
            Ok(Decoded::Definition { id, text, text_bytes }) => {
                if self.names.get(id).is_err() && self.kept.admits(Kind::Names, kept::of_name(text)) {
                    self.names.define(id, text, text_bytes);
                }
                Taken::Other
            }
            // A live source has named it before it came here; in a recording it stands for itself no more.
            Ok(Decoded::Stack(_)) => Taken::Other,
            Err(_) => {
                self.undecodable += 1;
                Taken::Other
            }
        }
    }

    /// The stack of an event, which may have been given up.
    fn stack_now(&mut self, event: &Event) -> StackId {
        if self.idle_stacks.turns(event.time_ns) {
            for analysis in &mut self.analyses {
                analysis.round_ends(&self.stacks);
            }
            self.idle_stacks.give_up(&mut self.stacks, &mut self.analyses, &mut self.kept);
        }
        self.idle_stacks.take(event)
    }

    /// A thread hands its marks over itself, but for those that it leaves for long.
    fn pass_marks(&mut self, event: &Event, bytes: &[u8]) {
        let Payload::Marks { buffer, is_owner, first, count, kept_back } = event.payload else { return };
        if is_owner && (self.owners.len() < MAX_OWNERS || self.owners.contains_key(&buffer)) {
            self.owners.insert(buffer, event.tid);
        }
        let owner = self.owners.get(&buffer).copied();
        let batch = MarkBatch::new(event.time_ns, owner, buffer, first, marks(bytes, count))
            .keeping_back(kept_back)
            .named(owner.and_then(|tid| self.names.named_thread(tid)));
        for analysis in &mut self.analyses {
            analysis.marks(&batch);
            analysis.marks_end(&self.stacks);
        }
    }

    /// A start event fires on the new thread, so it names the thread of the kernel.
    fn name_thread(&mut self, event: &Event) {
        if let Payload::Thread { edge: Edge::Begin, name, .. } = event.payload
            && let Ok(text) = self.names.get(name)
        {
            let text = text.into_owned();
            self.define_thread(event.tid, &text);
        }
    }

    /// Threads that ended leave their rows to one row, and their names to new threads, where there are many.
    fn threads_ended(&mut self) {
        for analysis in &mut self.analyses {
            analysis.threads_ended(&self.ended);
        }
        if self.names.named_threads() > MANY_NAMED_THREADS {
            for name in self.ended.iter().filter_map(|tid| self.names.forget_thread(tid)) {
                self.kept.gives_back(Kind::Threads, kept::of_thread(&name));
            }
        }
        self.owners.retain(|_, tid| !self.ended.is_long_gone(*tid));
        self.ended.forget();
    }

    /// Names a thread; one that is known has a place already, whatever it is called next.
    fn define_thread(&mut self, tid: Tid, name: &str) {
        let name = &name[..name.floor_char_boundary(MAX_THREAD_NAME_BYTES)];
        if self.names.named_thread(tid).is_some() || self.kept.admits(Kind::Threads, kept::of_thread(name)) {
            self.names.define_thread(tid, name.to_owned());
        }
    }

    /// Names behind ids, so far.
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Stacks behind ids, so far.
    pub const fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// Methods and classes behind numbers, so far.
    pub const fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// The sites of the session.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }
}
