//! Sessions of many stacks, by hand.

use super::*;
use crate::{
    analysis::all,
    event::{SiteId, Tid},
    lens::Lens,
    stack::{End, Frame, FrameDefinition, Kind as Code, StackDefinition},
};

const MS: u64 = 1_000_000;
/// As many as are all kept whole.
const FEW: u32 = 8192;
const _: () = assert!(FEW as usize == MANY, "one more is too many");
/// More than that.
const STACKS: u32 = 3 * FEW / 2;
/// Frames below those that tell the stacks apart, so that all are alike without them.
const BELOW: u32 = 10;

struct Played {
    idle: IdleStacks,
    stacks: Stacks,
    analyses: Vec<Box<dyn Analysis>>,
    kept: Kept,
}

const fn id(number: u32) -> StackId {
    StackId(1000 + number as u64)
}

impl Played {
    fn new() -> Self {
        Self::with_frames(STACKS)
    }

    /// With those below, and one for each of so many stacks.
    fn with_frames(count: u32) -> Self {
        let mut stacks = Stacks::new();
        for number in 0..BELOW + count {
            let frame = Frame::named(Code::Native, format!("f{number}"));
            stacks.define_frame(FrameDefinition { id: number, frame: frame.into() });
        }
        Self { idle: IdleStacks::default(), stacks, analyses: all(&[Lens::Cpu, Lens::Offcpu]), kept: Kept::default() }
    }

    /// With more stacks than are kept whole, each of which came once.
    fn of_many() -> Self {
        let mut played = Self::new();
        for number in 0..STACKS {
            played.tell(number);
            played.event(MS, number, SAMPLE);
        }
        played
    }

    fn tell(&mut self, number: u32) {
        self.tell_frames(number, std::iter::once(BELOW + number).chain((0..BELOW).rev()).collect());
    }

    fn tell_frames(&mut self, number: u32, frames: Vec<u32>) {
        let end = End { root: true, reason: String::new() };
        assert!(self.kept.admits(Kind::Stacks, kept::of_stack(&frames, &end)));
        self.stacks.define_stack(StackDefinition { id: id(number), frames, end });
        self.idle.define(id(number));
    }

    /// An event with a stack; which one it has then.
    fn event(&mut self, time_ns: u64, number: u32, payload: Payload) -> StackId {
        let mut event = Event { time_ns, tid: Tid(7), site: SiteId(0), stack: id(number), payload };
        if self.idle.turns(time_ns) {
            self.idle.give_up(&mut self.stacks, &mut self.analyses, &mut self.kept);
        }
        event.stack = self.idle.take(&event);
        for analysis in &mut self.analyses {
            analysis.event(&event);
        }
        event.stack
    }

    /// What is said to the lens with this number.
    fn note(&self, lens: usize) -> Option<String> {
        self.idle.note(self.analyses[lens].as_ref())
    }

    fn names(&self, id: StackId) -> Vec<&str> {
        self.stacks.frames_of(id).map(|frame| frame.name.as_str()).collect()
    }
}

const SAMPLE: Payload = Payload::CpuSample { period_ns: 1 };

#[test]
fn what_came_rarely_and_not_for_minutes_is_given_up_and_all_else_is_whole() {
    let mut played = Played::of_many();
    let [large, slept, held, used] = [0, 1, 2, 3];
    for _ in 0..10 {
        played.event(MS, large, SAMPLE);
    }
    played.event(MS, slept, Payload::OffCpu { blocked_ns: 1 << 40, run_queue_ns: 0, task_state: 1, syscall: 202 });
    played.event(MS, held, Payload::Sleep { edge: crate::event::Edge::Begin, duration_ns: 0, interrupted: false });
    played.event(ROUND_NS + 2 * MS, used, SAMPLE);
    assert_eq!(played.stacks.len(), STACKS as usize, "one round is not over yet");
    played.event(2 * ROUND_NS + 3 * MS, large, SAMPLE);
    let whole =
        |number: u32| played.names(id(number)).first().is_some_and(|name| *name == format!("f{}", BELOW + number));
    assert!([large, slept, held, used].into_iter().all(whole));
    let left = (0..STACKS).filter(|number| whole(*number)).count();
    // Those of the largest rows, and three that are there for another reason.
    assert!((LARGEST..=LARGEST + 3).contains(&left), "{left}");
    assert_eq!(played.stacks.len(), left + 1, "those that were given up are alike");
    let note = played.note(0).expect("a sentence");
    assert!(
        note.starts_with(&format!("{} stacks that came rarely", format::count((STACKS as usize - left) as u64))),
        "{note}"
    );
}

/// What is given up makes room for what takes its place: where there was none once, no stack would be kept any more.
#[test]
fn stacks_are_given_up_where_there_is_no_room_for_another_one() {
    let mut played = Played::of_many();
    for bytes in (0..28).rev().map(|bit| 1 << bit) {
        let mut fuller = played.kept.clone();
        if fuller.admits(Kind::Stacks, bytes) {
            played.kept = fuller;
        }
    }
    assert!(!played.kept.clone().admits(Kind::Stacks, 1), "it is full");
    played.event(ROUND_NS + 2 * MS, 0, SAMPLE);
    played.event(2 * ROUND_NS + 3 * MS, 0, SAMPLE);
    assert!(played.stacks.len() < FEW as usize);
    assert_eq!(played.kept.sentences(), Vec::<String>::new());
}

#[test]
fn a_stack_that_comes_again_stands_for_itself_where_it_is_told_again() {
    let mut played = Played::of_many();
    played.event(ROUND_NS + 2 * MS, 0, SAMPLE);
    played.event(2 * ROUND_NS + 3 * MS, 0, SAMPLE);
    let again = (0..STACKS).find(|number| played.stacks.get(id(*number)).is_none()).expect("given up");
    let by = played.event(2 * ROUND_NS + 4 * MS, again, SAMPLE);
    assert_eq!(played.names(by)[0], "<rarely seen>", "the source did not tell it again");
    played.tell(again);
    assert_eq!(played.event(2 * ROUND_NS + 5 * MS, again, SAMPLE), id(again));
}

#[test]
fn few_stacks_are_all_whole_and_times_that_leap_cost_no_more() {
    let mut played = Played::new();
    for number in 0..FEW {
        played.tell(number);
    }
    for round in 0..100 {
        played.event(round * 2 * ROUND_NS, 0, SAMPLE);
    }
    assert_eq!(played.stacks.len(), MANY);
    for number in FEW..STACKS {
        played.tell(number);
    }
    let mut looked = 0;
    for round in 100..10_000 {
        let before = played.idle.events;
        played.event(round * 2 * ROUND_NS, 0, SAMPLE);
        looked += usize::from(played.idle.events <= before);
    }
    assert!((1..=10_000 * AN_EVENT / MANY).contains(&looked), "{looked}");
}

/// So many stacks, more than are kept whole, of a method of the program that calls ever other methods of the JDK. Each came once.
fn of_java(count: u32) -> Played {
    let mut played = Played::with_frames(count);
    let first = BELOW + count;
    let java = |number: u32| Frame::named(Code::Compiled, format!("java.util.F{number}.f"));
    let frames = std::iter::once(Frame::named(Code::Compiled, "com.shop.Main.run")).chain((0..count).map(java));
    for (id, frame) in (first..).zip(frames) {
        played.stacks.define_frame(FrameDefinition { id, frame: frame.into() });
    }
    for number in 0..count {
        let inner = [BELOW + number, first + 1 + number, first];
        played.tell_frames(number, inner.into_iter().chain((0..BELOW).rev()).collect());
        played.event(MS, number, SAMPLE);
    }
    played
}

/// How many stacks of samples have no method of the JDK any more, and what all amount to.
fn without_java(played: &Played) -> [u64; 2] {
    let is_without = |id: &StackId| !played.names(*id).iter().any(|name| name.starts_with("java."));
    let amounts = played.analyses[0].stack_amounts();
    let sum =
        |with: &dyn Fn(&StackId) -> bool| amounts.iter().filter(|(id, _)| with(id)).map(|(_, amount)| amount).sum();
    [sum(&is_without), sum(&|_| true)]
}

/// A round in which no sample comes, and events that pay for looking.
fn round(played: &mut Played, number: u64, events: u32) {
    for _ in 0..events {
        let sleep = Payload::Sleep { edge: crate::event::Edge::Begin, duration_ns: 0, interrupted: false };
        played.event(number * (ROUND_NS + MS), 0, sleep);
    }
}

#[test]
fn of_many_stacks_without_machine_code_the_smallest_lose_methods_of_the_jdk_and_the_share_is_said() {
    let mut played = of_java(STACKS);
    let all = u64::from(STACKS);
    round(&mut played, 1, STACKS);
    round(&mut played, 2, STACKS);
    assert_eq!(without_java(&played), [0, all]);
    assert!(
        played
            .note(0)
            .expect("a sentence")
            .ends_with("is left. Amounts, threads and what methods have are as they came.")
    );
    round(&mut played, 3, STACKS);
    assert_eq!(without_java(&played), [0, all], "they came in the round before");
    round(&mut played, 4, STACKS);
    let few = all / ONE_IN;
    assert_eq!(without_java(&played), [few, all], "all came once, and a third of them may go");
    let note = played.note(0).expect("a sentence");
    let percent = 100.0 * few as f64 / all as f64;
    let expected = format!(
        " Of {} stacks, with {percent:.2} % of all, `<rarely seen>` stands for Java frames, too: ",
        format::count(few)
    );
    assert!(note.contains(&expected), "{note}");
    assert!(played.note(1).expect("a sentence").contains("with 0.00 % of all"), "no thread was off its CPU");
    round(&mut played, 5, STACKS);
    round(&mut played, 6, STACKS);
    assert_eq!(without_java(&played), [few, all], "these count");
}

/// What stays is bounded, and reached soon: a table that fills for hours is a leak to whoever watches jtrace.
#[test]
fn of_more_stacks_than_have_room_the_largest_keep_their_java_frames() {
    // Those of the largest rows keep machine code, too, and are none of these; nor is the one that events have which pay.
    let count = u32::try_from(MOST + LARGEST + 2).expect("few stacks");
    let mut played = of_java(count);
    played.event(MS, count - 1, SAMPLE);
    for number in 1..=4 {
        round(&mut played, number, count);
    }
    let all = u64::from(count) + 1;
    assert_eq!(without_java(&played), [u64::from(count) - LARGEST_OF_MOST as u64, all]);
    let frames = played.names(id(count - 1)).len();
    assert!(frames > 3, "the one that came twice is whole: {frames} frames");
    assert!(played.idle.uses.len() < MOST);
}
