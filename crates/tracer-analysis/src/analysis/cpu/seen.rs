//! What the stacks of samples say once they have names: states of samples, roles of threads, how far stacks reach.

use std::collections::{BTreeMap, HashMap};

use super::super::{
    Context,
    profile::{Amount, Amounts},
    state::{Role, State, Told},
    table::{FastMap, Merge as _},
};
use crate::{
    event::{StackId, Tid},
    stack::{Kind, Stacks},
};

/// The stacks and threads of the samples.
pub(super) struct Seen<'a> {
    stacks: &'a Stacks,
    facts: FastMap<StackId, Facts>,
    threads: HashMap<Tid, Thread>,
}

/// A thread that was sampled.
#[derive(Debug)]
pub(super) struct Thread {
    /// Its name.
    pub(super) name: String,
    /// What it is for.
    pub(super) role: Role,
    /// Its samples.
    pub(super) samples: Amount,
}

/// What a stack says by itself.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// What the thread was doing, by the frames alone.
    state: State,
    /// What it tells of its thread.
    told: Told,
    /// How its innermost Java method runs; nothing where there is none.
    java: Option<Kind>,
    frames: u64,
    unknown: u64,
    root: bool,
}

impl Facts {
    fn of(stacks: &Stacks, id: StackId) -> Self {
        let mut facts = Self {
            state: State::by_frames(stacks.frames_of(id)),
            told: Told::by(stacks, id),
            java: None,
            frames: 0,
            unknown: 0,
            root: stacks.get(id).is_some_and(|stack| stack.end.root),
        };
        for frame in stacks.frames_of(id) {
            facts.frames += 1;
            facts.unknown += u64::from(frame.kind == Kind::Unknown);
            if facts.java.is_none() && frame.kind.is_java() {
                facts.java = Some(frame.kind);
            }
        }
        facts
    }
}

/// Numbers of the summary and of small tables.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Different stacks.
    pub(super) stacks: u64,
    /// Samples with a Java frame on their stack.
    pub(super) java: u64,
    /// Of these, whose stack reaches the thread's outermost frame.
    pub(super) java_to_root: u64,
    /// Samples of threads that run Java, whose stack reaches the outermost frame.
    pub(super) java_threads_to_root: u64,
    /// Frames of all samples.
    pub(super) frames: u64,
    /// Of these, without a name.
    pub(super) unknown_frames: u64,
    /// Samples without a stack.
    pub(super) without_stack: u64,
    /// Samples whose state is Java by how the method ran.
    pub(super) code: BTreeMap<&'static str, u64>,
    /// Samples whose stacks do not reach the outermost frame by the reason.
    pub(super) ends: BTreeMap<String, u64>,
    states: BTreeMap<State, u64>,
    roles: BTreeMap<Role, u64>,
}

impl Counts {
    pub(super) fn by_state(&self, state: State) -> u64 {
        self.states.get(&state).copied().unwrap_or(0)
    }

    pub(super) fn by_role(&self, role: Role) -> u64 {
        self.roles.get(&role).copied().unwrap_or(0)
    }

    fn stack(&mut self, facts: Facts, end: Option<&str>, samples: u64) {
        let Facts { java, frames, unknown, root, state: _, told: _ } = facts;
        self.frames = self.frames.saturating_add(frames.saturating_mul(samples));
        self.unknown_frames = self.unknown_frames.saturating_add(unknown.saturating_mul(samples));
        if java.is_some() {
            self.java += samples;
            self.java_to_root += if root { samples } else { 0 };
        }
        if let Some(reason) = end {
            *self.ends.entry(reason.to_owned()).or_default() += samples;
        }
    }
}

impl<'a> Seen<'a> {
    pub(super) fn new(context: Context<'a>, amounts: &Amounts) -> Self {
        let stacks = context.stacks;
        let mut facts: FastMap<StackId, Facts> = FastMap::default();
        let mut threads: HashMap<Tid, (Amount, Told)> = HashMap::new();
        for (stack, tid, amount) in amounts.iter() {
            let told = facts.entry(stack).or_insert_with(|| Facts::of(stacks, stack)).told;
            let (samples, most) = threads.entry(tid).or_default();
            samples.merge(&amount);
            *most = told.max(*most);
        }
        let named = |(tid, (samples, told)): (Tid, (Amount, Told))| {
            let name = context.names.thread(tid);
            let role = Role::of(&name, told);
            (tid, Thread { name, role, samples })
        };
        Self { stacks, facts, threads: threads.into_iter().map(named).collect() }
    }

    /// The threads, in no order.
    pub(super) fn threads(&self) -> impl Iterator<Item = (Tid, &Thread)> {
        self.threads.iter().map(|(tid, thread)| (*tid, thread))
    }

    /// What a thread with this stack was doing.
    pub(super) fn state(&self, stack: StackId, tid: Tid) -> State {
        State::of(self.role(tid), self.facts.get(&stack).map_or(State::Unknown, |facts| facts.state))
    }

    fn role(&self, tid: Tid) -> Role {
        self.threads.get(&tid).map_or(Role::Native, |thread| thread.role)
    }

    pub(super) fn counts(&self, amounts: &Amounts) -> Counts {
        let defined = self.facts.keys().filter(|id| self.stacks.get(**id).is_some()).count();
        let mut counts = Counts { stacks: u64::try_from(defined).unwrap_or(u64::MAX), ..Counts::default() };
        for (stack, tid, Amount { count, .. }) in amounts.iter() {
            let Some(facts) = self.facts.get(&stack).copied() else { continue };
            let end = self.stacks.get(stack).map(|stack| &*stack.end);
            counts.without_stack += if end.is_none() { count } else { 0 };
            let reason = match end {
                Some(end) if end.root => None,
                Some(end) if end.reason.is_empty() => Some("<no reason given>"),
                Some(end) => Some(end.reason.as_str()),
                None => Some(Stacks::absence(stack)),
            };
            counts.stack(facts, reason, count);
            let (state, role) = (self.state(stack, tid), self.role(tid));
            *counts.states.entry(state).or_default() += count;
            *counts.roles.entry(role).or_default() += count;
            counts.java_threads_to_root += if role == Role::Java && facts.root { count } else { 0 };
            if state == State::Java
                && let Some(code) = facts.java
            {
                *counts.code.entry(code_title(code)).or_default() += count;
            }
        }
        // What is beyond the limit of pairs has no stack any more, so nothing is known of it.
        if let Some(others) = amounts.others() {
            *counts.states.entry(State::Unknown).or_default() += others.count;
        }
        counts
    }
}

const fn code_title(kind: Kind) -> &'static str {
    match kind {
        Kind::Interpreted => "interpreted",
        Kind::Compiled => "compiled",
        Kind::Inlined => "inlined",
        Kind::Native | Kind::Stub | Kind::Kernel | Kind::Unknown => "<not Java>",
    }
}
