//! Sums over threads that ended lose nothing, and the tables do not grow with each such thread.

use super::super::{self as analysis, Lens, profile::Amounts, table::Keyed};
use super::*;
use crate::{
    event::{Holder, MonitorAction, NameId, SiteId, SubjectId},
    jni::Function,
};

fn thread(tid: Tid, edge: Edge) -> Event {
    let payload = Payload::Thread { edge, name: NameId(0), daemon: false, os_tid: tid.0.into(), java_tid: 0 };
    Event { time_ns: 0, tid, site: SiteId(0), stack: StackId::default(), payload }
}

#[test]
fn rows_of_threads_that_ended_are_one_and_the_others_stay() {
    let mut rows: Keyed<(StackId, Tid), u64> = Keyed::new(1 << 20);
    for tid in 1..=20_000 {
        *rows.entry((StackId(u64::from(tid % 2)), Tid(tid))) += 1;
    }
    rows.sum_up(&EndedThreads::of(1..=19_000));
    let of =
        |stack: u64, tid: u32| rows.iter().find(|(key, _)| **key == (StackId(stack), Tid(tid))).map(|(_, sum)| *sum);
    assert_eq!((of(0, 0), of(1, 0)), (Some(9500), Some(9500)));
    assert_eq!((of(1, 19_000), of(1, 19_001)), (None, Some(1)));
    assert_eq!((rows.iter().count(), rows.iter().map(|(_, sum)| sum).sum()), (1002, 20_000));
}

#[test]
fn few_rows_keep_each_thread() {
    let mut rows: Keyed<Tid, u64> = Keyed::new(1 << 20);
    for tid in 1..=3000 {
        *rows.entry(Tid(tid)) += 1;
    }
    rows.sum_up(&EndedThreads::of(1..=4999));
    assert_eq!(rows.iter().count(), 3000);
}

#[test]
fn a_number_that_another_thread_has_now_is_not_summed_up() {
    let mut threads = EndedThreads::of(1..=9);
    threads.hear(&thread(Tid(3), Edge::Begin));
    assert!(threads.contains(Tid(2)) && !threads.contains(Tid(3)));
}

#[test]
fn a_day_of_threads_leaves_tables_of_their_limit() {
    let (mut amounts, mut threads) = (Amounts::default(), EndedThreads::default());
    for tid in 1..=400_000 {
        amounts.add(StackId(1), Tid(tid), 1);
        if threads.hear(&thread(Tid(tid), Edge::End)) {
            amounts.sum_up(&threads);
            threads.forget();
        }
    }
    assert!(amounts.iter().count() <= MANY_ROWS + 2 * AT_A_TIME, "{} rows", amounts.iter().count());
    assert_eq!(amounts.others(), None, "nothing was turned away");
    assert_eq!(amounts.iter().map(|(.., amount)| amount.value).sum::<u64>(), 400_000);
}

/// What a thread does from its start to its end: something for each lens. It waits for one that ended before it.
fn life(tid: Tid) -> Vec<Payload> {
    let (class, monitor, parker) = (NameId(1), 0xa, 0xb);
    let monitor = |action| Payload::Monitor { action, monitor, class };
    let holder = Holder::Thread(Tid(tid.0 - 1));
    let method = |edge| Payload::Method { edge, method: SubjectId(0), sp: 1 << 40, wanted: true };
    let jni = (Function(7), NameId(2));
    vec![
        thread(tid, Edge::Begin).payload,
        Payload::ThreadStarting { os_tid: u64::from(tid.0) + 1 },
        method(Edge::Begin),
        Payload::ExceptionCreated { class },
        method(Edge::End),
        monitor(MonitorAction::ContendedEnter { holder }),
        monitor(MonitorAction::ContendedEntered),
        monitor(MonitorAction::ContendedExit),
        monitor(MonitorAction::Wait { timeout_ms: 1 }),
        monitor(MonitorAction::Waited),
        Payload::ParkBegin { parker, absolute: false, time: 1 },
        Payload::ParkEnd { parker },
        Payload::Unpark { parker },
        Payload::Sleep { edge: Edge::Begin, duration_ns: 1, interrupted: false },
        Payload::Sleep { edge: Edge::End, duration_ns: 0, interrupted: false },
        Payload::Yield,
        Payload::VmOperationRequest { name: class, mode: 0 },
        Payload::AllocInNewTlab { class, tlab_bytes: 100, object_bytes: 10 },
        Payload::ObjectAlloc { class: SubjectId(1), bytes: 16, length: None, wanted: true },
        Payload::CpuSample { period_ns: 1 },
        Payload::OffCpu { blocked_ns: 1, run_queue_ns: 0, task_state: 1, syscall: 202 },
        Payload::JniCall { function: jni.0, caller: jni.1, total_ns: Some(1), inner_ns: 0, depth: 1, wanted: true },
        Payload::JniSection { function: jni.0, caller: jni.1, lasted_ns: 1, wanted: true },
        Payload::ClassLoaded { class, loader: tid.0.into(), shared: false },
        Payload::ClassUnloaded { class, loader: tid.0.into() },
        thread(tid, Edge::End).payload,
    ]
}

#[test]
fn no_lens_keeps_anything_of_each_thread_of_a_day() {
    held_in_a_day(Lens::ALL, life, EndedThreads::hear);
}

/// Where no site is at the ends of threads, a session is told of them: of many at once.
#[test]
fn no_lens_keeps_anything_of_each_thread_of_a_day_whose_end_is_no_event() {
    let mut ended = Vec::new();
    let lenses: Vec<Lens> = Lens::ALL.iter().copied().filter(|lens| *lens != Lens::Threads).collect();
    held_in_a_day(
        &lenses,
        |tid| life(tid).into_iter().filter(|payload| !matches!(payload, Payload::Thread { .. })).collect(),
        |threads, event| {
            if !ended.contains(&event.tid) {
                ended.push(event.tid);
            }
            // The last one lives.
            ended.len() > 4 && threads.hear_of(&ended.drain(..4).collect::<Vec<_>>())
        },
    );
}

/// Lives threads of an hour and of a day, and fails where any lens holds more after them; `hears` says whether many have ended.
fn held_in_a_day(
    lenses: &[Lens],
    life: impl Fn(Tid) -> Vec<Payload>,
    mut hears: impl FnMut(&mut EndedThreads, &Event) -> bool,
) {
    let mut grown = Vec::new();
    for lens in lenses {
        let (mut analyses, mut threads) = (analysis::all(&[*lens]), EndedThreads::default());
        let [analysis] = &mut *analyses else { panic!("one") };
        let mut most_in = |tids: std::ops::Range<u32>| {
            let mut live = |tid: Tid| {
                for (step, payload) in (0..).zip(life(tid)) {
                    let time_ns = u64::from(tid.0) * 1000 + step;
                    let event = Event { time_ns, tid, site: SiteId(0), stack: StackId(step % 4), payload };
                    analysis.event(&event);
                    if hears(&mut threads, &event) {
                        analysis.threads_ended(&threads);
                        threads.forget();
                    }
                }
                tracer_testing::held()
            };
            tids.map(|tid| live(Tid(tid))).max().expect("threads")
        };
        let (hour, day) = (most_in(2..12_000), most_in(12_000..60_000));
        if day > hour + 100_000 {
            grown.push(format!("{lens:?}: {} bytes more", day - hour));
        }
    }
    assert!(grown.is_empty(), "{grown:?}");
}
