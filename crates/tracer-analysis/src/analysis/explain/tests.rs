//! Calls by hand whose costs are known.

use tracer_common::marks::WordKind;

use super::{
    super::testing::{MS, Play, cells, context, numbers},
    *,
};
use crate::{
    event::{Edge, Holder, MonitorAction, Payload, SiteId, StackId, Tid},
    mark::{
        Asked, EXPLAINED, WITHIN,
        testing::{Words, marker, place},
    },
    report::Span,
};

const THREAD: Tid = Tid(7);
/// Places of the two markers.
const CALL: u32 = 1;
const CALLEE: u32 = 2;

struct Session {
    play: Play,
    explain: Explain,
    words: Words,
    first: u64,
}

impl Session {
    fn new() -> Self {
        let mut explain = Explain::default();
        let of = |token: &str| Marker {
            token: token.to_owned(),
            time: true,
            subscribers: vec![EXPLAINED.to_owned()],
            ..marker(token)
        };
        let markers = vec![of(EXPLAINED), of(WITHIN)];
        explain.inside(&Inside::Asked(Asked { markers, ..Asked::default() }));
        explain.inside(&Inside::Place(place(CALL, 0)));
        explain.inside(&Inside::Place(place(CALLEE, 1)));
        Self { play: Play::default(), explain, words: Words::default(), first: 0 }
    }

    fn event(&mut self, tid: Tid, ms: u64, stack: StackId, payload: Payload) {
        self.explain.event(&Event { time_ns: ms * MS, tid, site: SiteId(0), stack, payload });
    }

    /// A time off its CPU that ends now.
    fn away(&mut self, ms: u64, lasted_ms: u64, stack: StackId, syscall: u64) {
        let payload = Payload::OffCpu { blocked_ns: lasted_ms * MS, run_queue_ns: 0, task_state: 1, syscall };
        self.event(THREAD, ms, stack, payload);
    }

    fn mark(&mut self, kind: WordKind, place: u32, ms: u64) {
        self.words.push(kind, place, 0).at(ms * MS);
    }

    /// A call from and to these times, whose marks come at once.
    fn call(&mut self, from_ms: u64, to_ms: u64) {
        self.mark(WordKind::Enter, CALL, from_ms);
        self.mark(WordKind::Exit, CALL, to_ms);
        self.hand_over(Some(THREAD));
    }

    fn hand_over(&mut self, tid: Option<Tid>) {
        let words = std::mem::take(&mut self.words);
        let bytes = words.bytes();
        self.explain.marks(&MarkBatch::new(0, tid, 1, self.first, &bytes));
        self.first += words.0.len() as u64;
        self.explain.marks_end(&self.play.stacks);
    }

    fn section(&self) -> Section {
        let span = Span { start_ns: 0, duration_ns: 1000 * MS, started_at_ms: 0, end: "duration".to_owned() };
        self.explain.section(context(&self.play, &span))
    }
}

/// `read` and `clock_nanosleep`.
const READ: u64 = 0;
const SLEEP: u64 = 230;

#[test]
fn what_a_thread_did_in_a_call_is_its_cost_and_nothing_else_is() {
    let mut session = Session::new();
    let read = session.play.stack(&["com.shop.Cart.m1:7", "com.shop.Db.read:12", "kernel ksys_read"]);
    let nap = session.play.stack(&["com.shop.Cart.m1:8", "libc.so.6 nanosleep"]);
    let thrown = session.play.stack(&["com.shop.Cart.m1:9", "java.lang.Exception.<init>"]);
    let [exception, bytes] = ["com/shop/Sold", "[B"].map(|name| session.play.name(name));
    session.away(9, 4, nap, SLEEP);
    session.away(15, 4, read, READ);
    session.event(THREAD, 16, thrown, Payload::ExceptionCreated { class: exception });
    session.event(THREAD, 16, thrown, Payload::AllocOutsideTlab { class: bytes, object_bytes: 4096 });
    session.event(Tid(8), 16, thrown, Payload::ExceptionCreated { class: exception });
    let enter = MonitorAction::ContendedEnter { holder: Holder::Unknown(crate::event::NoHolder::Nobody) };
    session.event(THREAD, 17, read, Payload::Monitor { action: enter, monitor: 1, class: bytes });
    session.away(25, 4, nap, SLEEP);
    session.call(10, 20);
    let section = session.section();
    assert_eq!(numbers(&section, ["calls", "explained_calls", "total_ns"]), [1, 1, 10 * MS]);
    let keys = ["what", "site", "count", "total_ns", "median_ns", "slowest_ns"];
    let [four, six] = [4, 6].map(|ms| (ms * MS).to_string());
    assert_eq!(
        cells(&section, "explained_time", keys),
        [
            ["on CPU", "-", "-", &six, &six, &six].map(str::to_owned),
            ["I/O", "com.shop.Db.read:12", "1", &four, &four, &four].map(str::to_owned),
        ]
    );
    let counted = ["class", "site", "count", "slowest_count"];
    assert_eq!(cells(&section, "explained_exceptions", counted), [["com.shop.Sold", "com.shop.Cart.m1:9", "1", "1"]]);
    assert_eq!(cells(&section, "explained_monitors", counted), [["byte[]", "com.shop.Db.read:12", "1", "1"]]);
    let allocated = ["class", "estimated_bytes", "bytes_per_call"];
    assert_eq!(cells(&section, "explained_allocations", allocated), [["byte[]", "4096", "4096"]]);
    assert_eq!(
        section.notes[..2],
        [
            "com.shop.Cart.m1: 1 call; half took at most 10 ms, 99 % at most 10 ms, the longest 10 ms.",
            "All together spent 60 % on a CPU, 40 % waiting for I/O at com.shop.Db.read:12.",
        ]
    );
}

#[test]
fn calls_around_the_median_and_the_slowest_are_told_apart() {
    let mut session = Session::new();
    let read = session.play.stack(&["com.shop.Db.read:12"]);
    for call in 0..100 {
        let from = call * 10;
        // One of ten waits for 8 ms, the others for 1 ms.
        let waits = if call % 10 == 0 { 8 } else { 1 };
        session.away(from + waits, waits, read, READ);
        session.call(from, from + waits + 1);
    }
    let section = session.section();
    let keys = ["what", "count", "total_ns", "mean_ns", "median_ns", "slowest_ns"];
    let row = |what: &str, count: &str, total: u64, mean_us: u64, median: u64, slowest: u64| {
        let ns = [total * MS, mean_us * 1000, median * MS, slowest * MS].map(|ns| ns.to_string());
        [what.to_owned(), count.to_owned()].into_iter().chain(ns).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = cells(&section, "explained_time", keys).into_iter().map(Vec::from).collect();
    assert_eq!(rows, [row("I/O", "100", 170, 1700, 1, 8), row("on CPU", "-", 100, 1000, 1, 1)]);
    let slowest = cells(&section, "explained_slowest", ["duration_ns", "longest", "ended"]);
    let expected = [(9 * MS).to_string(), "waiting for I/O at com.shop.Db.read:12".to_owned(), "return".to_owned()];
    assert_eq!(slowest, vec![expected; sums::SLOWEST]);
}

#[test]
fn what_is_called_within_is_told_with_its_own_time_and_recursion_is_one_call() {
    let mut session = Session::new();
    session.mark(WordKind::Enter, CALL, 0);
    session.mark(WordKind::Enter, CALLEE, 1);
    session.mark(WordKind::Enter, CALL, 2);
    session.mark(WordKind::Exit, CALL, 5);
    session.mark(WordKind::Thrown, CALLEE, 7);
    session.mark(WordKind::Thrown, CALL, 10);
    // Outside of any call that is explained.
    session.mark(WordKind::Enter, CALLEE, 11);
    session.mark(WordKind::Exit, CALLEE, 12);
    session.hand_over(Some(THREAD));
    let section = session.section();
    assert_eq!(numbers(&section, ["calls", "explained_calls", "total_ns"]), [1, 1, 10 * MS]);
    assert_eq!(cells(&section, "explained", ["method", "calls", "thrown"]), [["com.shop.Cart.m1", "1", "1"]]);
    let [inner, callee] = [3 * MS, 3 * MS].map(|ns| ns.to_string());
    let mut within = cells(&section, "explained_calls", ["callee", "count", "self_ns"]);
    within.sort();
    assert_eq!(within, [["com.shop.Cart.m1", "1", &inner], ["com.shop.Cart.m2", "1", &callee]]);
}

#[test]
fn stops_of_the_jvm_lie_over_a_call_and_are_no_part_of_its_time() {
    let mut session = Session::new();
    let none = StackId::default();
    let vm = Tid(2);
    let cause = session.play.name("G1 Evacuation Pause");
    let begin = Payload::GcBegin { full: false, step: crate::event::PauseStep::default(), cause, last_cause: cause };
    session.event(vm, 5, none, Payload::Safepoint { edge: Edge::Begin });
    session.event(vm, 6, none, begin);
    session.event(vm, 12, none, Payload::Safepoint { edge: Edge::End });
    session.event(vm, 30, none, Payload::Safepoint { edge: Edge::Begin });
    session.event(vm, 31, none, Payload::Safepoint { edge: Edge::End });
    session.call(10, 20);
    let section = session.section();
    let stopped = (2 * MS).to_string();
    assert_eq!(cells(&section, "explained", ["stopped_ns", "running_ns"]), [[stopped, (10 * MS).to_string()]]);
}

/// A number that is not known is not shown: of these calls the duration is all that is said.
#[test]
fn of_calls_that_were_not_seen_whole_only_durations_and_calls_within_count() {
    let mut session = Session::new();
    let read = session.play.stack(&["com.shop.Db.read:12"]);
    session.away(14, 4, read, READ);
    // A virtual thread: its marks stand in the buffers of other threads.
    session.words.thread(99);
    session.mark(WordKind::Enter, CALL, 10);
    session.mark(WordKind::Enter, CALLEE, 12);
    session.mark(WordKind::Exit, CALLEE, 16);
    session.mark(WordKind::Exit, CALL, 20);
    session.words.thread(0);
    session.hand_over(Some(THREAD));
    // While the scheduler's sites were away.
    let action = |ms: u64, action| GuardAction {
        time_ns: ms * MS,
        group: "sched".to_owned(),
        sites: Vec::new(),
        lens: Lens::Offcpu,
        action,
        reason: None,
        pause_ns: None,
    };
    session.explain.guard(&action(35, GuardDecision::Detach { rate_per_s: 1 }));
    // Its marks come while they are away still, and nothing else happens.
    session.call(36, 38);
    session.explain.guard(&action(45, GuardDecision::Attach));
    session.call(30, 40);
    session.call(40, 50);
    session.call(50, 60);
    let section = session.section();
    assert_eq!(numbers(&section, ["calls", "explained_calls"]), [5, 1]);
    assert_eq!(cells(&section, "explained_time", ["what", "total_ns"]), [["on CPU".to_owned(), (10 * MS).to_string()]]);
    let four = (4 * MS).to_string();
    assert_eq!(cells(&section, "explained_calls", ["callee", "count", "self_ns"]), [["com.shop.Cart.m2", "1", &four]]);
    assert_eq!(cells(&section, "explained_calls", ["per_call"]), [["0.2"]], "of five");
    assert_eq!(cells(&section, "explained", ["calls_within_per_call"]), [["0.2"]], "of five as well");
    let said = section.notes.join("\n");
    assert!(said.contains("Of 4 calls only durations and calls within are known"), "{said}");
    assert!(said.contains("The budget took sites away for a while (sched)"), "{said}");
}

#[test]
fn what_comes_without_end_is_bounded_and_said() {
    let mut session = Session::new();
    let class = session.play.name("com/shop/Sold");
    session.event(THREAD, 1, StackId::default(), Payload::ExceptionCreated { class });
    for number in 0..600_000 {
        let tid = Tid(100 + number % 1000);
        session.event(tid, u64::from(number), StackId::default(), Payload::ExceptionCreated { class });
    }
    session.event(THREAD, 600_000, StackId::default(), Payload::ExceptionCreated { class });
    // What this thread did early has been forgotten, so nobody knows what that call cost.
    session.call(0, 500_000);
    session.call(599_999, 600_001);
    let section = session.section();
    assert_eq!(numbers(&section, ["calls", "explained_calls"]), [2, 1]);
    assert_eq!(cells(&section, "explained_exceptions", ["class", "count"]), [["com.shop.Sold", "1"]]);
    assert!(section.notes.iter().any(|note| note.contains("at most 262,144 are kept")), "{:?}", section.notes);
}

#[test]
fn without_a_call_it_says_so() {
    let session = Session::new();
    assert_eq!(session.section().notes, ["No call has ended that was asked for."]);
}

proptest::proptest! {
    /// Times and places of marks come from the target, and need not fit what the kernel says.
    #[test]
    fn any_marks_among_any_events_give_a_section(
        steps in proptest::collection::vec((proptest::bool::ANY, 0_u8..6, 0_u32..3, proptest::num::u64::ANY), 0..64),
    ) {
        let mut session = Session::new();
        let stack = session.play.stack(&["com.shop.Db.read:12"]);
        let class = session.play.name("com/shop/Sold");
        for (is_event, kind, number, time_ns) in steps {
            if is_event {
                let payload = match kind {
                    0 => Payload::OffCpu { blocked_ns: time_ns, run_queue_ns: !time_ns, task_state: 1, syscall: READ },
                    1 => Payload::Safepoint { edge: Edge::Begin },
                    2 => Payload::Safepoint { edge: Edge::End },
                    3 => Payload::AllocOutsideTlab { class, object_bytes: time_ns },
                    4 => Payload::CpuSample { period_ns: time_ns },
                    _ => Payload::ExceptionCreated { class },
                };
                session.explain.event(&Event { time_ns, tid: THREAD, site: SiteId(0), stack, payload });
            } else {
                let kinds = [WordKind::Enter, WordKind::Exit, WordKind::Thrown];
                session.words.push(kinds[usize::from(kind) % kinds.len()], number, 0).at(time_ns);
                session.hand_over(Some(THREAD));
            }
        }
        let section = session.section();
        let [calls, explained] = numbers(&section, ["calls", "explained_calls"]);
        proptest::prop_assert!(explained <= calls);
    }
}
