//! What a call consists of.

use std::collections::{BTreeMap, HashMap};

use super::{
    super::{
        offcpu::reason::{Left, Reason, reason},
        site,
        table::{FastMap, Merge},
    },
    recent::{Happened, What},
};
use crate::{
    client::Place,
    event::{NameId, StackId},
    stack::Stacks,
};

/// Most texts that are told apart.
const MAX_LABELS: usize = 1 << 16;
/// Most stacks whose places are remembered.
const MAX_STACKS: usize = 1 << 16;

/// The place of a stack without a Java frame.
const NO_JAVA: &str = "<no Java frame>";

/// Number of a text; 0 stands for all that found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Label(u32);

/// A part of a call: what it was, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// The thread was on a CPU.
    Running,
    /// It was not, and waited for something.
    Away(Reason, Label),
    /// It was ready, and others ran. Where that was says nothing.
    Ready,
    /// The JVM had stopped all threads meanwhile; this is no part of the time, but lies over it.
    Stopped { by_gc: bool },
    /// A clock found it running.
    Sampled(Label),
    /// An exception was made.
    Thrown(NameId, Label),
    /// Objects were made.
    Allocated(NameId, Label),
    /// A monitor was found taken.
    Contended(NameId, Label),
    /// Another method was called, or another region entered.
    Called(Label),
}

/// How often, and how much in all: time or bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) count: u64,
    pub(super) sum: u64,
}

impl Amount {
    /// Once more.
    pub(super) const fn add(&mut self, amount: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(amount);
    }
}

impl Merge for Amount {
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }
}

/// The parts of a call.
pub(super) type Parts = BTreeMap<Part, Amount>;

/// What happened in a call between these times becomes its parts.
pub(super) fn of<'a>(
    events: impl Iterator<Item = &'a Happened>,
    (begin_ns, end_ns): (u64, u64),
    labels: &mut Labels,
    stacks: &Stacks,
) -> Parts {
    let mut parts = Parts::new();
    let mut away_ns: u64 = 0;
    for Happened { time_ns, stack, what } in events {
        let (part, amount) = match *what {
            What::Away { blocked_ns, run_queue_ns, left } => {
                // It cannot have been away for longer than the call, whatever a kernel says.
                let blocked_ns = blocked_ns.min(time_ns - begin_ns);
                away_ns = away_ns.saturating_add(blocked_ns);
                match labels.away(*stack, left, stacks) {
                    (Reason::RunQueue, _) => (Part::Ready, blocked_ns),
                    (reason, label) => {
                        let ready_ns = run_queue_ns.min(blocked_ns);
                        if ready_ns > 0 {
                            parts.entry(Part::Ready).or_default().add(ready_ns);
                        }
                        (Part::Away(reason, label), blocked_ns - ready_ns)
                    }
                }
            }
            What::Sampled { period_ns } => (Part::Sampled(labels.site(*stack, stacks)), period_ns),
            What::Thrown { class } => (Part::Thrown(class, labels.site(*stack, stacks)), 0),
            What::Allocated { class, bytes } => (Part::Allocated(class, labels.site(*stack, stacks)), bytes),
            What::Contended { class } => (Part::Contended(class, labels.site(*stack, stacks)), 0),
        };
        parts.entry(part).or_default().add(amount);
    }
    parts.entry(Part::Running).or_default().add((end_ns - begin_ns).saturating_sub(away_ns));
    parts
}

/// Texts by number: sums are kept for a whole session, and stacks are not.
#[derive(Debug)]
pub(super) struct Labels {
    texts: Vec<String>,
    numbers: HashMap<String, Label>,
    sites: FastMap<StackId, Label>,
    reasons: FastMap<(StackId, Left), Reason>,
    methods: FastMap<u32, Label>,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            texts: vec![super::super::OTHERS.to_owned()],
            numbers: HashMap::new(),
            sites: FastMap::default(),
            reasons: FastMap::default(),
            methods: FastMap::default(),
        }
    }
}

impl Labels {
    /// The text of a number.
    pub(super) fn text(&self, label: Label) -> &str {
        self.texts.get(label.0 as usize).map_or("", String::as_str)
    }

    /// The number of a text.
    fn number(&mut self, text: String) -> Label {
        if let Some(known) = self.numbers.get(&text) {
            return *known;
        }
        if self.texts.len() >= MAX_LABELS {
            return Label::default();
        }
        let label = Label(u32::try_from(self.texts.len()).unwrap_or_default());
        self.texts.push(text.clone());
        self.numbers.insert(text, label);
        label
    }

    /// The place of a marker: a method, or a line of it.
    pub(super) fn method(&mut self, number: u32, place: &Place) -> Label {
        if let Some(known) = self.methods.get(&number) {
            return *known;
        }
        let at = &place.definition;
        let line = at.line.filter(|_| at.bci > 0).map_or_else(String::new, |line| format!(":{line}"));
        let label = self.number(format!("{}.{}{line}", at.class, at.method));
        self.methods.insert(number, label);
        label
    }

    /// Where the program was.
    fn site(&mut self, stack: StackId, stacks: &Stacks) -> Label {
        if let Some(known) = self.sites.get(&stack) {
            return *known;
        }
        // Where the program was is what matters, and not the kernel's function.
        let text = match site::frame(stacks, stack) {
            Some(frame) if frame.kind.is_java() => frame.to_string(),
            Some(_) => NO_JAVA.to_owned(),
            None => Stacks::absence(stack).to_owned(),
        };
        let label = self.number(text);
        // A stack that is told later than its event is asked for again.
        if stacks.get(stack).is_some() {
            if self.sites.len() >= MAX_STACKS {
                self.sites.clear();
            }
            self.sites.insert(stack, label);
        }
        label
    }

    /// Why a thread left its CPU, and where the program was.
    fn away(&mut self, stack: StackId, left: Left, stacks: &Stacks) -> (Reason, Label) {
        if self.reasons.len() >= MAX_STACKS {
            self.reasons.clear();
        }
        let why = *self.reasons.entry((stack, left)).or_insert_with(|| reason(left, stacks.frames_of(stack)));
        (why, self.site(stack, stacks))
    }
}
