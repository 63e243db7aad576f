//! Amounts by stack and thread in bounded memory, and the profile that they become. Not a view: it draws nothing.

use std::collections::HashMap;

use super::{
    Context,
    ended::{self, EndedThreads},
    rare::Replaced,
    stack_steps::StackSteps,
    table::{Keyed, Merge},
};
use crate::{
    event::{StackId, Tid},
    report::{Profile, ProfileStack, ProfileThread, Shape, Unit},
    stack::{Frame, Kind, Stacks},
};

/// Most pairs of stack and thread that are told apart: 16 MiB.
const KEYS: usize = 262_144;

/// The name of the stack that adds up what has none of its own.
const BEYOND: &str = "<too many stacks>";

/// An amount, and how often it was added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    /// The amount.
    pub(super) value: u64,
    /// Number of times.
    pub(super) count: u64,
}

impl Amount {
    /// Adds to it.
    pub(super) fn add(&mut self, value: u64) {
        self.value = self.value.saturating_add(value);
        self.count += 1;
    }
}

impl Amount {
    /// What is left of it without another one.
    pub(super) const fn without(self, other: Self) -> Self {
        Self { value: self.value.saturating_sub(other.value), count: self.count.saturating_sub(other.count) }
    }
}

impl Merge for Amount {
    fn merge(&mut self, other: &Self) {
        self.value = self.value.saturating_add(other.value);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Amounts by stack and thread.
#[derive(Clone, Debug)]
pub(super) struct Amounts {
    rows: Keyed<(StackId, Tid), Amount>,
    /// Of how many events one has a stack, and stands for all of them.
    one_in: u64,
    steps: StackSteps,
}

impl Default for Amounts {
    fn default() -> Self {
        Self { rows: Keyed::new(KEYS), one_in: 1, steps: StackSteps::default() }
    }
}

impl Amounts {
    /// Amounts of so many pairs of stack and thread.
    #[cfg(test)]
    pub(super) fn of_keys(limit: usize) -> Self {
        Self { rows: Keyed::new(limit), ..Self::default() }
    }

    /// Steps of time count from here. Without it there are none.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
    }

    /// Adds an amount to a stack of a thread, at a time.
    pub(super) fn add_at(&mut self, stack: StackId, tid: Tid, value: u64, time_ns: u64) {
        self.add(stack, tid, value);
        if let Some(count) = self.stands_for(stack) {
            self.steps.add(stack, tid, time_ns, value.saturating_mul(count));
        }
    }

    /// Adds a stretch of time to a stack of a thread. Where one stack stands for several, its stretch is what there is of them.
    pub(super) fn add_stretch(&mut self, stack: StackId, tid: Tid, begin_ns: u64, end_ns: u64) {
        self.add(stack, tid, end_ns.saturating_sub(begin_ns));
        if self.one_in == 1 {
            self.steps.add_stretch(stack, tid, begin_ns, end_ns);
        } else if let Some(count) = self.stands_for(stack) {
            self.steps.add(stack, tid, end_ns, end_ns.saturating_sub(begin_ns).saturating_mul(count));
        }
    }

    /// Adds an amount to a stack of a thread.
    pub(super) fn add(&mut self, stack: StackId, tid: Tid, value: u64) {
        if let Some(count) = self.stands_for(stack) {
            self.rows.entry((stack, tid)).merge(&Amount { value: value.saturating_mul(count), count });
        }
    }

    /// How many events one with this stack stands for; nothing where the stack was left out.
    pub(super) fn stands_for(&self, stack: StackId) -> Option<u64> {
        (self.one_in == 1 || stack != StackId::default()).then_some(self.one_in)
    }

    /// From now on one event of so many has a stack.
    pub(super) fn fewer(&mut self, one_in: u64) {
        self.one_in = one_in.max(1);
    }

    /// Threads that ended are one, where there are many; says whether there are.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) -> bool {
        let are_many = self.rows.sum_up(ended);
        if are_many {
            self.steps.sum_up(ended);
        }
        are_many
    }

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced) {
        self.rows.replace_stacks(replaced);
        self.steps.replace_stacks(replaced);
    }

    /// The stacks with their amounts, in no order.
    pub(super) fn stack_amounts(&self) -> Vec<(StackId, u64)> {
        self.rows.stack_amounts(|amount| amount.value.max(amount.count))
    }

    /// The amounts, in no order, without what is beyond the limit.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StackId, Tid, Amount)> + '_ {
        self.rows.iter().map(|((stack, tid), amount)| (*stack, *tid, *amount))
    }

    /// The amounts beyond the limit.
    pub(super) const fn others(&self) -> Option<&Amount> {
        self.rows.others()
    }

    /// A sentence where the limit was reached.
    pub(super) fn note(&self) -> Option<String> {
        let limit = self.rows.note("pairs of stack and thread");
        limit.or_else(|| ended::note(self.rows.iter().map(|((_, tid), _)| *tid)))
    }

    /// The profile; nothing where no event had a stack, not even one that could not be taken.
    pub(super) fn shape(&self, id: &'static str, title: &str, unit: Unit, context: Context<'_>) -> Option<Shape> {
        shape(id, title, unit, context, self.iter(), self.others().copied(), Some(&self.steps))
    }

    /// The profile by how often there was something to add, and not by how much; so are the steps.
    pub(super) fn shape_of_counts(
        &self,
        id: &'static str,
        title: &str,
        context: Context<'_>,
        steps: &StackSteps,
    ) -> Option<Shape> {
        let counted = |Amount { value: _, count }| Amount { value: count, count };
        let amounts = self.iter().map(|(stack, tid, amount)| (stack, tid, counted(amount)));
        shape(id, title, Unit::Count, context, amounts, self.others().copied().map(counted), Some(steps))
    }
}

/// The profile of amounts that may name a pair of stack and thread several times; nothing where no stack or no profile was asked for.
/// `others` are amounts without a stack of their own, because there were too many.
pub(super) fn shape(
    id: &'static str,
    title: &str,
    unit: Unit,
    context: Context<'_>,
    amounts: impl Iterator<Item = (StackId, Tid, Amount)>,
    others: Option<Amount>,
    steps: Option<&StackSteps>,
) -> Option<Shape> {
    if !context.with_profiles {
        return None;
    }
    let mut rows: Vec<(StackId, Tid, Amount)> = amounts.collect();
    if rows.iter().all(|(stack, ..)| *stack == StackId::default()) {
        return None;
    }
    rows.sort_unstable_by_key(|(stack, tid, _)| (*stack, *tid));
    rows.dedup_by(|(stack, tid, amount), (kept_stack, kept_tid, kept)| {
        let same = (stack, tid) == (kept_stack, kept_tid);
        if same {
            kept.merge(amount);
        }
        same
    });
    // Stable, so that ids decide among equals and two replays give the same bytes.
    rows.sort_by_key(|(.., amount)| std::cmp::Reverse(amount.value));
    let mut steps = steps
        .filter(|_| context.with_steps)
        .and_then(|steps| steps.of(rows.iter().map(|(stack, tid, _)| (*stack, *tid))));
    let mut builder = Builder::new(context);
    for (stack, tid, amount) in rows {
        builder.push(stack, tid, amount);
    }
    if let Some(others) = others {
        let frames = vec![builder.reason(BEYOND)];
        builder.stacks.push(ProfileStack {
            frames,
            thread: None,
            value: others.value,
            count: others.count,
            cut: BEYOND.to_owned(),
        });
        if let Some(steps) = &mut steps {
            steps.stacks.push(Vec::new());
        }
    }
    let Builder { frames, threads, stacks, .. } = builder;
    Some(Shape::Profile(Profile { id, title: title.to_owned(), unit, contexts: false, frames, threads, stacks, steps }))
}

/// A profile under construction: frames and threads get new numbers, without those that no stack refers to.
struct Builder<'a> {
    context: Context<'a>,
    frames: Vec<Frame>,
    /// New number of each frame of the table, once it was met.
    numbers: Vec<Option<u32>>,
    reasons: HashMap<&'static str, u32>,
    threads: Vec<ProfileThread>,
    thread_numbers: HashMap<Tid, u32>,
    stacks: Vec<ProfileStack>,
}

impl<'a> Builder<'a> {
    fn new(context: Context<'a>) -> Self {
        Self {
            context,
            frames: Vec::new(),
            numbers: vec![None; context.stacks.frames().len()],
            reasons: HashMap::new(),
            threads: Vec::new(),
            thread_numbers: HashMap::new(),
            stacks: Vec::new(),
        }
    }

    fn push(&mut self, id: StackId, tid: Tid, amount: Amount) {
        let stacks = self.context.stacks;
        let (mut frames, cut) = match stacks.get(id) {
            Some(stack) => {
                let frames: Vec<u32> = stack.frames.iter().rev().map(|frame| self.number(*frame)).collect();
                (frames, if stack.end.root { String::new() } else { cut(&stack.end.reason) })
            }
            None => (Vec::new(), Stacks::absence(id).to_owned()),
        };
        if frames.is_empty() {
            let reason = if stacks.get(id).is_some() { "<no frame>" } else { Stacks::absence(id) };
            frames.push(self.reason(reason));
        }
        // The idle task is no thread of any JVM: it stands for amounts of all threads together.
        let thread = (tid != Tid(0)).then(|| self.thread(tid));
        let Amount { value, count } = amount;
        self.stacks.push(ProfileStack { frames, thread, value, count, cut });
    }

    fn number(&mut self, frame: u32) -> u32 {
        let known = usize::try_from(frame).ok().and_then(|frame| self.numbers.get_mut(frame));
        let (Some(known), Some(named)) = (known, self.context.stacks.frame(frame)) else {
            return self.reason("<frame lost>");
        };
        let frames = &mut self.frames;
        // What catches exceptions there is no part of what a profile shows.
        *known.get_or_insert_with(|| next(frames, Frame { handlers: None, ..named.clone() }))
    }

    /// The frame that stands where there is none.
    fn reason(&mut self, reason: &'static str) -> u32 {
        let frames = &mut self.frames;
        *self.reasons.entry(reason).or_insert_with(|| next(frames, Frame::named(Kind::Unknown, reason)))
    }

    fn thread(&mut self, tid: Tid) -> u32 {
        let (threads, names) = (&mut self.threads, self.context.names);
        *self
            .thread_numbers
            .entry(tid)
            .or_insert_with(|| next(threads, ProfileThread { tid: tid.0, name: names.thread(tid) }))
    }
}

/// Why a stack is cut, in words even where no reason was given.
fn cut(reason: &str) -> String {
    if reason.is_empty() { "<no reason given>".to_owned() } else { reason.to_owned() }
}

/// Pushes a value and tells its index. There are at most as many as numbers of frames, which have 32 bits.
fn next<T>(values: &mut Vec<T>, value: T) -> u32 {
    values.push(value);
    u32::try_from(values.len() - 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{Play, context},
        *,
    };
    use crate::{
        report::Span,
        stack::{End, StackDefinition},
    };

    fn profile(shape: Option<Shape>) -> Profile {
        match shape {
            Some(Shape::Profile(profile)) => profile,
            other => panic!("no profile: {other:?}"),
        }
    }

    fn names(profile: &Profile, stack: usize) -> Vec<String> {
        let frame = |index: &u32| profile.frames[usize::try_from(*index).expect("small")].to_string();
        profile.stacks[stack].frames.iter().map(frame).collect()
    }

    #[test]
    fn a_profile_is_outermost_first_and_holds_only_what_it_uses() {
        let mut play = Play::default();
        let unused = play.stack(&["com.shop.Never.called:1"]);
        let idle = play.stack(&["com.shop.Main.main:3", "java.lang.Object.wait"]);
        let busy = play.stack(&["com.shop.Main.main:3", "com.shop.Cart.add:12"]);
        play.names.define_thread(Tid(7), "worker-7".to_owned());
        let mut amounts = Amounts::default();
        for (stack, tid, value) in [(idle, 7, 10), (busy, 7, 20), (busy, 8, 40), (idle, 7, 15)] {
            amounts.add(stack, Tid(tid), value);
        }
        let span = Span { start_ns: 0, duration_ns: 1, started_at_ms: 0, end: String::new() };
        let profile = profile(amounts.shape("p", "P", Unit::Ns, context(&play, &span)));
        assert_ne!(unused, idle);
        assert_eq!(profile.frames.len(), 3);
        assert_eq!(
            profile.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(),
            ["tid 8", "worker-7"]
        );
        let values: Vec<_> = profile.stacks.iter().map(|stack| (stack.value, stack.count, stack.thread)).collect();
        assert_eq!(values, [(40, 1, Some(0)), (25, 2, Some(1)), (20, 1, Some(1))]);
        assert_eq!(names(&profile, 0), ["com.shop.Main.main:3", "com.shop.Cart.add:12"]);
        assert_eq!(names(&profile, 1), ["com.shop.Main.main:3", "java.lang.Object.wait"]);
        assert!(profile.stacks.iter().all(|stack| stack.cut.is_empty()));
    }

    #[test]
    fn what_is_missing_is_a_frame_that_says_why() {
        let mut play = Play::default();
        let end = End { root: false, reason: "the code at the address is unknown".to_owned() };
        play.stacks.define_stack(StackDefinition { id: StackId(100), frames: vec![77], end: end.clone() });
        play.stacks.define_stack(StackDefinition { id: StackId(101), frames: Vec::new(), end });
        let mut amounts = Amounts::default();
        for (stack, value) in [(0, 4), (1, 3), (100, 2), (101, 1), (999, 5)] {
            amounts.add(StackId(stack), Tid(7), value);
        }
        let span = Span { start_ns: 0, duration_ns: 1, started_at_ms: 0, end: String::new() };
        let profile = profile(amounts.shape("p", "P", Unit::Count, context(&play, &span)));
        let frames: Vec<String> = (0..5).flat_map(|stack| names(&profile, stack)).collect();
        assert_eq!(frames, ["<stack lost>", "<no stack taken>", "<no room to unwind>", "<frame lost>", "<no frame>"]);
        let cuts: Vec<&str> = profile.stacks.iter().map(|stack| stack.cut.as_str()).collect();
        assert_eq!(cuts[0], "<stack lost>");
        assert_eq!(cuts[3..], ["the code at the address is unknown"; 2]);
    }

    #[test]
    fn without_any_stack_there_is_no_profile() {
        let mut amounts = Amounts::default();
        amounts.add(StackId(0), Tid(7), 1);
        let play = Play::default();
        let span = Span { start_ns: 0, duration_ns: 1, started_at_ms: 0, end: String::new() };
        assert_eq!(amounts.shape("p", "P", Unit::Count, context(&play, &span)), None);
    }

    #[test]
    fn keys_beyond_the_limit_are_one_stack_and_a_note() {
        let mut amounts = Amounts::of_keys(2);
        for stack in 100..105 {
            amounts.add(StackId(stack), Tid(7), 10);
        }
        let play = Play::default();
        let span = Span { start_ns: 0, duration_ns: 1, started_at_ms: 0, end: String::new() };
        let profile = profile(amounts.shape("p", "P", Unit::Count, context(&play, &span)));
        assert_eq!(profile.stacks.iter().map(|stack| stack.value).collect::<Vec<_>>(), [10, 10, 30]);
        assert_eq!((names(&profile, 2), profile.stacks[2].thread), (vec![BEYOND.to_owned()], None));
        assert!(amounts.note().is_some_and(|note| note.contains("3 events")));
    }
}
