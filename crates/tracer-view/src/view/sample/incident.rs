//! The incident that `docs/questions.md` is about, for the screen and for the page.

use crate::report::{Cell, Column, Report, Shape, Table, Unit};

/// Two workers that fight for a lock, samples, allocation, exceptions, and a pause.
pub const INCIDENT: &str = "target pid=42 command=\"com.shop.Main\" live_threads=10 collector=G1 cpus=4\n\
    thread 5 \"VM Thread\"\nthread 21 \"worker-1\"\nthread 22 \"worker-2\"\n\
    stack add \"java.lang.Thread.run:840\" \"com.shop.Cart.add:12\"\n\
    +100ms tid 5 safepoint_begin\n+100ms tid 5 vm_operation_begin name=\"G1CollectForAllocation\"\n\
    +100ms tid 5 gc_begin cause=\"G1 Evacuation Pause\"\n+310ms tid 5 gc_end cause=\"G1 Evacuation Pause\"\n\
    +310ms tid 5 vm_operation_end name=\"G1CollectForAllocation\"\n+311ms tid 5 safepoint_end\n\
    +350ms tid 21 contended_enter monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +400ms tid 22 contended_exit monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +401ms tid 21 contended_entered monitor=0xaa class=\"com/shop/Cart\"\n\
    +402ms tid 22 contended_enter monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +900ms tid 21 contended_exit monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +901ms tid 22 contended_entered monitor=0xaa class=\"com/shop/Cart\"\n\
    +910ms tid 21 cpu_sample period=10ms stack=add\n+920ms tid 21 exception_created class=\"com/shop/Empty\" stack=add\n\
    +930ms tid 21 new_tlab class=\"[B\" tlab=1MiB object=64KiB stack=add\nend +2s duration\n";

/// What looks at all threads would add; scenarios have none.
pub fn looked(report: &mut Report) {
    let column = |key, title, unit| Column { key, title, unit };
    let columns = vec![
        column("kind", "Kind", Unit::Text),
        column("what", "What for", Unit::Text),
        column("site", "Place", Unit::Text),
        column("average", "Threads, average", Unit::Count),
    ];
    let rows = vec![vec!["monitor".into(), "com.shop.Cart".into(), "com.shop.Cart.add:12".into(), Cell::Float(1.2)]];
    let title = "What threads of the program wait for".to_owned();
    let section = report.sections.iter_mut().find(|section| section.id == "threads").expect("threads");
    section.shapes.insert(0, Shape::Table(Table { id: "waiting", title, columns, rows }));
}
