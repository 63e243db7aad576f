//! Sums over threads that ended lose nothing, and the tables do not grow with each such thread.

use super::super::{profile::Amounts, table::Keyed};
use super::*;
use crate::event::{NameId, SiteId};

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
