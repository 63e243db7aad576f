//! The methods and classes that a live target's events are about: numbered and named when they are met first, and told to
//! the kernel, so that it needs no name to decide.

mod ahead;
mod counted;
mod naming;
mod undecided;

use std::collections::{HashMap, HashSet};

use tracer_common::{
    record::{EventKind, SubjectState, Timed},
    tally::{Demand, MAX_SUBJECTS},
};

use crate::{
    decode::Header,
    ebpf::{Error, tallying::Tallying},
    event::SubjectId,
    item::Item,
    jvm::{
        find::Jvm,
        memory::{self, Memory},
        metadata::{LoadedLayout, MetadataLayout},
        unloads::Unloads,
    },
    subject::{Subject, SubjectDefinition},
};

use self::{
    ahead::Ahead,
    naming::Named,
    undecided::{Filled, Follows, Undecided},
};
use super::{
    context_sums::ContextSums,
    ended::EndedThreads,
    idle_contexts::IdleContexts,
    judge::{Facts, Judge},
};

/// What is asked for of methods or objects.
pub struct Asked {
    /// What the programs shall do.
    pub demand: Demand,
    /// Whether the kernel counts what it has decided, and sends no event of it.
    pub tallied: bool,
    /// The predicate.
    pub judge: Judge,
    /// Whether calls can go on being counted without their ends: nothing asks for what only those who follow calls know.
    pub can_drop_times: bool,
    /// Whether names may turn methods down, so that it pays to know them before they are called.
    pub names_decide: bool,
}

/// Most records that wait for their threads.
const MAX_WAITING: usize = 65_536;

/// What a cell counts.
#[derive(Clone, Copy)]
struct Counted {
    subject: SubjectId,
    is_method: bool,
}

/// The subjects of a session.
pub struct Subjects {
    memory: Memory,
    metadata: MetadataLayout,
    asked: Asked,
    ahead: Ahead,
    /// By address.
    known: HashMap<u64, SubjectId>,
    /// By name, and whether it is a method: a class that is loaded again lies elsewhere, and is the same subject.
    by_name: HashMap<(Subject, bool), SubjectId>,
    named: Vec<Named>,
    named_bytes: usize,
    /// Those that their names alone say are not wanted.
    never_wanted: HashSet<SubjectId>,
    /// Calls of which user space found last that they are not wanted, by thread and method.
    unwanted: HashSet<(u32, SubjectId)>,
    /// By index of the cell; the first has no use.
    cells: Vec<Counted>,
    /// The process.
    pid: u32,
    ended: EndedThreads,
    idle: IdleContexts,
    /// Of contexts that the kernel has no more.
    sums: ContextSums,
    /// How many these were.
    taken: u64,
    /// Of these, those in which something may have happened while they were taken.
    unsure: u64,
    /// When the contexts are read again.
    contexts_ns: u64,
    /// Definitions that were not passed on yet.
    fresh: Vec<SubjectDefinition>,
    /// Records of threads of which nothing is known yet; what they are can be in another CPU's ring buffer.
    waiting: Vec<Vec<u8>>,
    unloads: Unloads,
}

impl Subjects {
    /// Prepares naming; the error names what is missing.
    pub fn open(jvm: &Jvm, asked: Asked) -> Result<Self, String> {
        let memory = Memory::open(jvm.target.pid).map_err(|error: memory::Error| error.to_string())?;
        let metadata = MetadataLayout::from_tables(&memory, &jvm.tables).map_err(|error| error.to_string())?;
        let loaded = asked.names_decide.then(|| LoadedLayout::from_tables(&jvm.tables));
        let loaded =
            loaded.and_then(|layout| layout.inspect_err(|error| log::debug!("no list of classes: {error}")).ok());
        let nobody = Counted { subject: SubjectId::UNKNOWN, is_method: false };
        Ok(Self {
            memory,
            metadata,
            asked,
            ahead: Ahead::new(loaded),
            known: HashMap::new(),
            by_name: HashMap::new(),
            named: Vec::new(),
            named_bytes: 0,
            never_wanted: HashSet::new(),
            unwanted: HashSet::new(),
            cells: vec![nobody],
            pid: jvm.target.pid,
            ended: EndedThreads::default(),
            idle: IdleContexts::default(),
            sums: ContextSums::default(),
            taken: 0,
            unsure: 0,
            contexts_ns: 0,
            fresh: Vec::new(),
            waiting: Vec::new(),
            unloads: Unloads::new(jvm),
        })
    }

    /// Tells the programs what is asked for.
    pub fn install(&mut self, tallying: &mut Tallying) -> Result<(), Error> {
        self.tell_threads(tallying);
        tallying.set_filter(self.asked.judge.filter())?;
        tallying.set_entry_filter(self.asked.judge.entry_filter())?;
        // Where nothing would say that a class was unloaded, nothing is known for long.
        if self.unloads.are_counted() {
            // From here on.
            self.unloads.may_have_happened(&self.memory);
            self.ahead.tell(&self.memory, &self.metadata, &self.asked.judge, tallying);
        }
        tallying.set_demand(self.asked.demand)
    }

    /// Whether only entries of calls can be counted from now on.
    pub const fn can_drop_times(&self) -> bool {
        self.asked.can_drop_times
    }

    /// From now on entries are all that is seen of calls.
    pub fn drop_times(&mut self, tallying: &mut Tallying) -> Result<(), Error> {
        (self.asked.demand.timed, self.asked.demand.untimed) = (0, 1);
        self.unwanted.clear();
        tallying.set_demand(self.asked.demand)
    }

    /// Hits are turned down from now on, at all sites of methods or objects ([`Demand::paused`]) at one moment.
    pub fn pause(&mut self, what: u32, tallying: &mut Tallying) -> Result<(), Error> {
        self.asked.demand.paused |= what;
        tallying.set_demand(self.asked.demand)
    }

    /// Hits count again; of calls that were under way before, nothing is known any more.
    pub fn resume(&mut self, what: u32, tallying: &mut Tallying) -> Result<(), Error> {
        self.asked.demand.paused &= !what;
        if what & Demand::METHODS != 0 {
            self.asked.demand.epoch = self.asked.demand.epoch.wrapping_add(1);
            self.unwanted.clear();
        }
        tallying.set_demand(self.asked.demand)
    }

    /// Whether calls are counted by context alone.
    pub const fn counts_calls_by_context(&self) -> bool {
        self.asked.demand.contexts != 0
    }

    /// Whether the kernel counts itself.
    pub const fn tallied(&self) -> bool {
        self.asked.tallied
    }

    /// Whether a reading says anything: what the kernel counts itself, and at the end what it knows of calls.
    pub const fn has_tallies(&self, at_end: bool) -> bool {
        self.tallied() || at_end && self.asked.demand.timed != 0
    }

    /// Takes a record of a thread that is to be known first, and takes notice of threads; says whether it has the record now.
    pub fn holds_back(&mut self, record: &[u8]) -> bool {
        if self.asked.demand.threads == 0 {
            return false;
        }
        let Ok(header) = Header::read(record) else { return false };
        let kind = EventKind::from_number(header.kind);
        if header.is_definition() || kind == Some(EventKind::ThreadStart) {
            self.asked.judge.threads().hear(record);
            return false;
        }
        let waits = matches!(
            kind,
            Some(EventKind::MethodEntry | EventKind::MethodReturn | EventKind::MethodTimed | EventKind::ObjectAlloc)
        ) && self.waiting.len() < MAX_WAITING
            && !self.asked.judge.threads().has(header.tid.0);
        if waits {
            self.waiting.push(record.to_vec());
        }
        waits
    }

    /// Once the ring buffers are empty: learns what threads there are, tells the kernel, and gives back what was held back.
    pub fn take_held(&mut self, tallying: &mut Tallying) -> Vec<Filled> {
        if self.asked.demand.threads == 0 {
            return Vec::new();
        }
        self.asked.judge.threads().look();
        self.tell_threads(tallying);
        let held = std::mem::take(&mut self.waiting);
        let filled = |record: &Vec<u8>| match self.take(record, tallying) {
            Taken::Filled(filled) => Some(filled),
            Taken::Counted | Taken::Other => None,
        };
        held.iter().filter_map(filled).collect()
    }

    fn tell_threads(&mut self, tallying: &mut Tallying) {
        if self.asked.demand.threads == 0 {
            return;
        }
        for tid in self.asked.judge.threads().take_fresh() {
            if let Err(error) = tallying.set_thread(tid, self.asked.judge.thread(tid)) {
                // Its events go on to come undecided.
                log::warn!("{error}");
            }
        }
    }

    /// Looks at a record as it comes out of its ring buffer: where it is about a subject, writes its number there, and what
    /// the predicate says of it, where the kernel could not tell.
    pub fn take(&mut self, record: &[u8], tallying: &mut Tallying) -> Taken {
        let Ok(header) = Header::read(record) else { return Taken::Other };
        let Some(kind) = EventKind::from_number(header.kind) else { return Taken::Other };
        let is_method = match kind {
            EventKind::MethodEntry | EventKind::MethodReturn | EventKind::MethodTimed => true,
            EventKind::ObjectAlloc => false,
            _ => return Taken::Other,
        };
        let mut filled = Filled::copy(record);
        let address = filled.word(0);
        let id = match self.known.get(&address) {
            Some(id) => *id,
            None => self.meet(address, is_method, tallying),
        };
        if kind == EventKind::MethodEntry && filled.word(2) == SubjectState::Counted as u64 {
            return Taken::Counted;
        }
        filled.set_word(0, u64::from(id.0));
        let tid = header.tid.0;
        if let Some(undecided) = Undecided::of(kind, self.follows(), &filled) {
            let facts = Facts { tid, cpu: filled.cpu(), ..undecided.facts };
            let wanted = self.is_wanted(id, undecided.caller, &facts, tallying);
            undecided.decide(&mut filled, wanted);
            if kind == EventKind::MethodEntry {
                self.remember(tid, id, wanted);
            }
        } else if kind == EventKind::MethodReturn && filled.word(2) == SubjectState::Undecided as u64 {
            let unwanted = self.unwanted.contains(&(tid, id)) || self.is_never_wanted(id);
            let state = if unwanted { SubjectState::Unwanted } else { SubjectState::Wanted };
            filled.set_word(2, state as u64);
        } else if kind == EventKind::MethodTimed && filled.word(3) & Timed::UNCOUNTED == 0 {
            // What was decided when it was called; that record may come later, out of another CPU's ring buffer.
            if self.unwanted.contains(&(tid, id)) || self.is_never_wanted(id) {
                filled.set_word(3, filled.word(3) | Timed::UNWANTED);
            }
        }
        Taken::Filled(filled)
    }

    const fn follows(&self) -> Follows {
        let Demand { timed, untimed, callers, .. } = self.asked.demand;
        if callers != 0 && (timed != 0 || untimed != 0) { Follows::Callers } else { Follows::Depths }
    }

    /// Keeps what was decided of a call until it is over.
    fn remember(&mut self, tid: u32, id: SubjectId, wanted: bool) {
        if wanted {
            self.unwanted.remove(&(tid, id));
        } else if self.unwanted.len() < MAX_SUBJECTS {
            self.unwanted.insert((tid, id));
        }
    }

    /// Whether the subject's names alone say so; one that has no number is not told of.
    fn is_never_wanted(&self, id: SubjectId) -> bool {
        id == SubjectId::UNKNOWN || self.never_wanted.contains(&id)
    }

    fn is_wanted(&mut self, id: SubjectId, caller: u64, facts: &Facts, tallying: &mut Tallying) -> bool {
        let caller = (self.asked.demand.callers != 0 && caller != 0).then(|| self.name(caller, true));
        let Some(named) = self.named.get(id.0 as usize) else { return false };
        let wanted = self.asked.judge.is_wanted(&named.subject, caller.as_ref(), facts);
        self.tell_threads(tallying);
        wanted
    }

    /// Passes on the definitions of subjects that were met.
    pub fn define(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        for definition in self.fresh.drain(..) {
            sink(Item::Subject(definition));
        }
    }
}

/// What a record was.
pub enum Taken {
    /// None about a subject.
    Other,
    /// One about a subject, with its number.
    Filled(Filled),
    /// One about what the kernel has counted: it only made its subject known.
    Counted,
}
