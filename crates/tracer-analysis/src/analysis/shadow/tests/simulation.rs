//! Threads that call, return and throw at random, each frame interpreted or compiled by C1 or C2, with the events that HotSpot
//! gives of them; the simulation knows what each call was.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{super::*, gather};

/// How a frame runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    /// Its return is a few words below its entry.
    Interpreted,
    /// It has no return where an exception leaves it.
    C1,
    C2,
}

/// What a thread does next.
#[derive(Clone, Debug)]
enum Step {
    Call {
        method: u32,
        code: Code,
        bytes: u64,
    },
    /// A call of a method that nobody chose: its frame lies between.
    Pass {
        bytes: u64,
    },
    Return {
        words: u64,
    },
    /// An exception leaves so many frames.
    Throw {
        frames: usize,
        words: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let code = prop_oneof![Just(Code::Interpreted), Just(Code::C1), Just(Code::C2)];
    prop_oneof![
        5 => (0_u32..4, code, 12_u64..40).prop_map(|(method, code, words)| Step::Call { method, code, bytes: 8 * words }),
        1 => (4_u64..100).prop_map(|words| Step::Pass { bytes: 8 * words }),
        4 => (0_u64..8).prop_map(|words| Step::Return { words }),
        2 => (1_usize..6, 0_u64..8).prop_map(|(frames, words)| Step::Throw { frames, words }),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Real {
    /// Absent for a method that nobody chose.
    method: Option<(SubjectId, Code)>,
    sp: u64,
    begin_ns: u64,
}

/// What is known of a method: calls that are over, errors, and the sum of their durations.
type Truth = BTreeMap<SubjectId, (u64, u64, u64)>;

#[derive(Debug)]
struct Simulation {
    frames: Vec<Real>,
    time_ns: u64,
    truth: Truth,
    /// The last event was a return, whatever ended the call.
    returned: bool,
    shadow: Shadow<()>,
    left: Vec<(SubjectId, u64, u64, How)>,
    threw: Vec<SubjectId>,
}

const TOP: u64 = 1 << 40;

impl Simulation {
    fn sp(&self) -> u64 {
        self.frames.last().map_or(TOP, |frame| frame.sp)
    }

    fn now(&mut self) -> u64 {
        self.time_ns += 10;
        self.time_ns
    }

    fn with(&mut self, act: impl FnOnce(&mut Shadow<()>, &mut dyn FnMut(Outcome<()>))) {
        let Self { shadow, left, threw, .. } = self;
        let mut counted = |outcome: Outcome<()>| {
            let mut sink = gather(left, threw);
            match outcome {
                Outcome::Left(call) => sink(Outcome::Left(with_depth(call))),
                Outcome::Threw(call) => sink(Outcome::Threw(with_depth(call))),
            }
        };
        act(shadow, &mut counted);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Call { method, code, bytes } => {
                let (method, sp, time_ns) = (SubjectId(method), self.sp() - bytes, self.now());
                self.frames.push(Real { method: Some((method, code)), sp, begin_ns: time_ns });
                self.returned = false;
                self.with(|shadow, mut sink| shadow.enter((Tid(1), method, sp, time_ns), |_| (), &mut sink));
            }
            Step::Pass { bytes } => {
                let (sp, begin_ns) = (self.sp() - bytes, self.time_ns);
                self.frames.push(Real { method: None, sp, begin_ns });
            }
            Step::Return { words } => self.leave(words, false),
            Step::Throw { frames, words } => {
                for _ in 0..frames.min(self.frames.len()) {
                    let is_chosen = self.frames.last().is_some_and(|frame| frame.method.is_some());
                    self.leave(words, true);
                    if !is_chosen && self.returned {
                        // The one thing that events cannot tell, see `an_exception_of_others_right_after_a_return`.
                        continue;
                    }
                    self.returned = false;
                    let (sp, time_ns) = (self.sp(), self.now());
                    // In the caller's frame, below its entry.
                    self.with(|shadow, mut sink| shadow.unwind(Tid(1), sp - 8 * (words % 4), time_ns, &mut sink));
                }
            }
        }
    }

    /// The innermost frame goes.
    fn leave(&mut self, words: u64, by_exception: bool) {
        let Some(Real { method, sp, begin_ns }) = self.frames.pop() else { return };
        let Some((method, code)) = method else { return };
        let (calls, errors, total_ns) = self.truth.entry(method).or_default();
        *calls += 1;
        *errors += u64::from(by_exception);
        // The next event is its return, or else the exception that leaves it.
        *total_ns += self.time_ns + 10 - begin_ns;
        if by_exception && code == Code::C1 {
            return;
        }
        self.returned = true;
        let (sp, time_ns) = (if code == Code::Interpreted { sp - 8 * words } else { sp }, self.now());
        self.with(|shadow, mut sink| shadow.leave((Tid(1), method, sp, time_ns), &mut sink));
    }

    fn seen(&self) -> Truth {
        let mut seen = Truth::new();
        for (method, call_ns, _, how) in &self.left {
            let (calls, errors, total_ns) = seen.entry(*method).or_default();
            *calls += 1;
            *errors += u64::from(*how != How::Returned);
            *total_ns += call_ns;
        }
        for method in &self.threw {
            seen.entry(*method).or_default().1 += 1;
        }
        seen
    }
}

fn with_depth(call: Left<()>) -> Left<usize> {
    let Left { method, begin_ns, total_ns, self_ns, how, data: () } = call;
    Left { method, begin_ns, total_ns, self_ns, how, data: 0 }
}

proptest! {
    #[test]
    fn calls_errors_and_times_are_those_of_the_simulation(steps in prop::collection::vec(step(), 0..300)) {
        let mut simulation = Simulation {
            frames: Vec::new(),
            time_ns: 0,
            truth: Truth::new(),
            returned: false,
            shadow: Shadow::default(),
            left: Vec::new(),
            threw: Vec::new(),
        };
        for step in &steps {
            simulation.step(step);
        }
        while !simulation.frames.is_empty() {
            simulation.leave(0, false);
        }
        // Whatever is still thought to be under way is shown to be over.
        let time_ns = simulation.now();
        simulation.with(|shadow, mut sink| shadow.enter((Tid(1), SubjectId(9), TOP, time_ns), |_| (), &mut sink));
        prop_assert_eq!(simulation.seen(), simulation.truth.clone());
        prop_assert_eq!(simulation.shadow.counts.returns_without_entry, 0);
        prop_assert_eq!(simulation.shadow.open(), 1);
    }

    #[test]
    fn any_events_end_and_stay_sorted(
        events in prop::collection::vec((0_u32..3, 0_u8..4, 0_u32..3, prop_oneof![0_u64..2000, any::<u64>()]), 0..300)
    ) {
        let mut shadow = Shadow::<()> { limit: 20, ..Shadow::default() };
        let mut entered = 0_u64;
        let mut left = 0_u64;
        for (time_ns, (tid, what, method, sp)) in (0..).zip(events) {
            let (tid, method) = (Tid(tid), SubjectId(method));
            let mut sink = |outcome| left += u64::from(matches!(outcome, Outcome::Left(_)));
            match what {
                0 | 1 => {
                    entered += 1;
                    shadow.enter((tid, method, sp, time_ns), |_| (), &mut sink);
                }
                2 => shadow.leave((tid, method, sp, time_ns), &mut sink),
                _ => shadow.unwind(tid, sp, time_ns, &mut sink),
            }
        }
        let Counts { abandoned, beyond, .. } = shadow.counts;
        prop_assert_eq!(entered, left + abandoned + beyond + shadow.open(), "every call is in one place");
        for thread in shadow.threads.values() {
            // Frames at one pointer are one frame of C1's code and what it has inlined.
            prop_assert!(thread.frames.is_sorted_by(|a, b| a.sp >= b.sp));
        }
        prop_assert!(shadow.open() <= 20);
    }
}
