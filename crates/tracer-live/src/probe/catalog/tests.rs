//! The table against the kinds of events that there are.

use std::collections::BTreeSet;

use super::*;
use crate::probe::clock::CLOCKS;

#[test]
fn every_kind_of_event_has_exactly_one_probe() {
    let clocks = CLOCKS.iter().map(|clock| clock.kind);
    let kinds: Vec<_> = PROBES.iter().map(|probe| probe.kind).chain(clocks).chain(LOOKS).collect();
    assert_eq!(kinds.iter().copied().collect::<BTreeSet<_>>(), EventKind::ALL.iter().copied().collect());
    assert_eq!(kinds.len(), EventKind::ALL.len());
}

#[test]
fn every_origin_makes_all_words_of_its_kind_from_arguments_that_exist() {
    for probe in PROBES {
        let words = probe.usdt().map(|usdt| usdt.words).into_iter().chain(probe.functions().iter().map(|f| f.words));
        for words in words {
            assert_eq!(words.len(), probe.kind.words(), "{}", probe.name());
        }
        for function in probe.functions() {
            let highest = function.words.iter().map(|word| match *word {
                Word::Argument(n)
                | Word::CString(n)
                | Word::Klass(n)
                | Word::MonitorOwner(n)
                | Word::OsThreadId(n)
                | Word::MonitorClass(n)
                | Word::Pointee(n)
                | Word::ObjectClass(n)
                | Word::TaskMethod(n)
                | Word::TaskLevel(n)
                | Word::NmethodMethod(n) => n,
                Word::Name(a, b) => a.max(b),
                Word::Constant(_) | Word::AbsentName | Word::GcCause | Word::LastGcCause => 0,
            });
            assert!(highest.max().unwrap_or(0) <= function.arguments.len(), "{}", probe.name());
        }
    }
}

#[test]
fn every_lens_has_probes_and_every_probe_a_lens() {
    for lens in Lens::ALL {
        // That the JVM shuts down is of use to all, and makes no lens.
        let of_its_own = |lenses: &[Lens]| lenses.len() < Lens::ALL.len() && lenses.contains(lens);
        let probes = PROBES.iter().map(|probe| probe.lenses).chain(CLOCKS.iter().map(|clock| clock.lenses));
        assert!(probes.into_iter().any(of_its_own), "{lens:?}");
    }
    assert!(PROBES.iter().all(|probe| !probe.lenses.is_empty()));
}

#[test]
fn every_group_has_a_title() {
    let groups = PROBES.iter().map(|probe| probe.group).chain(CLOCKS.iter().map(|clock| clock.source.group()));
    assert_eq!(groups.filter(|group| group_title(group).is_empty()).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn begin_and_end_share_their_group() {
    let group = |kind| PROBES.iter().find(|probe| probe.kind == kind).map(|probe| probe.group);
    for (begin, end) in [
        (EventKind::GcBegin, EventKind::GcEnd),
        (EventKind::MemPoolGcBegin, EventKind::MemPoolGcEnd),
        (EventKind::VmOperationBegin, EventKind::VmOperationEnd),
        (EventKind::SafepointBegin, EventKind::SafepointEnd),
        (EventKind::MonitorContendedEnter, EventKind::MonitorContendedEntered),
        (EventKind::MonitorWait, EventKind::MonitorWaited),
        (EventKind::ThreadParkBegin, EventKind::ThreadParkEnd),
        (EventKind::ThreadSleepBegin, EventKind::ThreadSleepEnd),
        (EventKind::ThreadStart, EventKind::ThreadStop),
        (EventKind::ClassInitRequired, EventKind::ClassInitEnd),
        (EventKind::CompileBegin, EventKind::CompileEnd),
        (EventKind::MethodEntry, EventKind::MethodReturn),
    ] {
        assert_eq!(group(begin), group(end), "{begin:?}");
    }
}
