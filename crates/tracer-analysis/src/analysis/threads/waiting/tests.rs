//! Looks at groups of threads, and what the table of reasons says of them.

use super::{
    super::super::testing::{Play, look_group},
    *,
};
use crate::{
    event::StackId,
    item::look::{Holding, Waits},
};

/// A thread that waits to be notified, or for the end of one.
fn one(stack: StackId, joined: Option<u32>, holder: Option<Holding>) -> LookGroup {
    LookGroup {
        together: 1,
        waits: Some(Waits::Notify { class: None, address: 1, joined }),
        holder,
        ..look_group(stack, 1)
    }
}

/// The table of reasons after looks that each saw one group, so long after the look before.
fn reasons<const N: usize>(looks: [(u64, LookGroup); N], stacks: &Stacks) -> Table {
    let mut waiting = Waiting::default();
    for (span_ns, group) in looks {
        waiting.look(&ThreadLook { span_ns, groups: vec![group], ..ThreadLook::default() }, stacks);
    }
    let Some(Shape::Table(table)) = waiting.tables(&Span::default(), |_| false).into_iter().next() else {
        panic!("a table")
    };
    table
}

#[test]
fn a_lock_has_its_holder_and_those_who_wait_their_callers() {
    let mut play = Play::default();
    let park = "jdk.internal.misc.Unsafe.park";
    let waits =
        play.stack(&["a.Shop.serve:3", "a.Stock.take:9", "java.util.concurrent.locks.LockSupport.park:1", park]);
    let holds = play.stack(&["a.Shop.audit:7", "a.Stock.count:20", "java.lang.Thread.sleep"]);
    let class = "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync".to_owned();
    let group = |threads, ran, holder| LookGroup {
        threads,
        ran,
        together: threads,
        waits: Some(Waits::Unpark { class: class.clone(), address: 1, owner: Some(7), ended: None }),
        ..one(waits, None, holder)
    };
    let holder = Holding { name: "auditor".to_owned(), stack: Some(holds), ended: false };
    // Nobody is known to have run before the first look.
    let looks = [(0, group(4, 0, None)), (1, group(3, 2, Some(holder))), (1, group(1, 0, None))];
    let table = reasons(looks, &play.stacks);
    let cell = |key: &str| {
        let column = table.column(key).expect(key);
        table.rows[0][column].clone()
    };
    assert_eq!(cell("site"), "a.Stock.take:9".into());
    assert_eq!(cell("most"), 4_u64.into());
    assert_eq!(cell("ran_percent"), 50.0.into());
    assert_eq!(cell("callers"), "a.Shop.serve:3".into());
    assert_eq!((cell("holder"), cell("holder_site")), ("auditor".into(), "a.Stock.count:20".into()));
}

/// Who writes byte by byte is in the kernel all the time, and runs there.
#[test]
fn who_runs_in_the_kernel_for_a_file_does_not_wait_for_it() {
    let mut play = Play::default();
    let stack =
        play.stack(&["a.Export.write:26", "java.io.FileOutputStream.write:313", "java.io.FileOutputStream.write"]);
    let group = |running| LookGroup { threads: 3, ran: 3, running, waits: None, ..one(stack, None, None) };
    let most = |running| {
        let table = reasons([(0, group(running)), (1, group(running))], &play.stacks);
        table.rows.first().map(|row| row[table.column("most").expect("most")].clone())
    };
    assert_eq!([0, 1, 3].map(most), [Some(3_u64.into()), Some(2_u64.into()), None]);
    // Whoever has data forced to the disk waits for what the kernel does for that, too.
    let force = play.stack(&["a.Log.add:12", "sun.nio.ch.FileDispatcherImpl.force0"]);
    let forced = LookGroup { threads: 3, running: 3, waits: None, ..one(force, None, None) };
    assert_eq!(reasons([(0, forced)], &play.stacks).rows.len(), 1);
}

#[test]
fn cleaners_without_work_wait_for_nothing_of_the_programs() {
    let mut play = Play::default();
    let run = "jdk.internal.ref.CleanerImpl.run:148";
    let stack =
        play.stack(&["jdk.internal.misc.InnocuousThread.run:162", run, "java.lang.ref.ReferenceQueue.remove:155"]);
    let table = reasons([(0, one(stack, None, None))], &play.stacks);
    assert!(table.rows.is_empty(), "{:?}", table.rows);
}

/// A signal asked for the end, so no line of the program is on the stack that waits.
#[test]
fn the_end_of_the_jvm_waits_where_its_hook_stands() {
    let mut play = Play::default();
    let hooks = "java.lang.ApplicationShutdownHooks.runHooks:107";
    let stack = play.stack(&["java.lang.Shutdown.exit:173", hooks, "java.lang.Thread.join:1300"]);
    let flush = play.stack(&["a.Metrics.flush:16", "java.lang.Thread.sleep"]);
    let hook = Holding { name: "flush-3".to_owned(), stack: Some(flush), ended: false };
    let table = reasons([(0, one(stack, Some(7), Some(hook)))], &play.stacks);
    let cells = ["kind", "what", "site"].map(|key| table.rows[0][table.column(key).expect(key)].clone());
    let expected = ["shutdown", "the shutdown hook `flush-*`", "a.Metrics.flush:16"];
    assert_eq!(cells, expected.map(Cell::from));
}
