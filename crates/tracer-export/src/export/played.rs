//! What a session of a scenario becomes in a file, for the tests of the formats.

use super::Export;
use crate::{item::Item, report::Report, session::Session, source::scenario::Scenario};

#[track_caller]
pub(super) fn played(text: &str, mut export: Box<dyn Export + '_>) -> Report {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut session: Option<Session> = None;
    scenario.play(&mut |item| {
        if let Item::Start(start) = &item {
            session = Some(Session::new((**start).clone()));
        }
        let session = session.as_mut().expect("it begins with a start");
        let taken = session.accept(&item);
        export.write(session, &item, &taken).expect("memory takes everything");
    });
    let report = session.expect("a start").report();
    export.finish(&report).expect("memory takes everything");
    report
}

/// Two threads and a lock, a collection in a safepoint, samples of both, and a park that does not end.
pub(super) const CONTENDED: &str = "target pid=42 command=\"a.Main\"\nthread 21 \"first\"\nthread 22 \"second\"\nthread 5 \"VM Thread\"\n\
     lenses locks,gc,safepoint,exceptions,cpu\nstack add \"java.lang.Thread.run:840\" \"a.Cart.add:42\"\n\
     +1ms tid 22 contended_enter monitor=0xaa class=\"a/Account\" holder=21 stack=add\n\
     +2ms tid 21 cpu_sample period=10000000 stack=add\n+3ms tid 21 cpu_sample period=10000000 stack=add\n\
     +4ms tid 22 contended_entered monitor=0xaa class=\"a/Account\"\n\
     +5ms tid 5 safepoint_begin\n+6ms tid 5 vm_operation_begin name=\"G1CollectFull\"\n\
     +6ms tid 5 gc_begin full=true cause=\"System.gc()\"\n+9ms tid 5 gc_end last_cause=\"System.gc()\"\n\
     +9ms tid 5 vm_operation_end name=\"G1CollectFull\"\n+10ms tid 5 safepoint_end\n\
     +11ms tid 21 park_begin stack=add\n+12ms tid 22 cpu_sample period=10000000\nend +1s duration\n";
