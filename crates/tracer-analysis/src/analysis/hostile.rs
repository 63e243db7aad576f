//! No sequence of events can harm an analysis: whatever order, threads, times and amounts, it ends, stays within its
//! limits and gives well-formed tables.

use proptest::prelude::*;

use super::{Context, Lens, all};
use crate::{
    event::{
        ClassInit, Edge, Event, Holder, MethodName, MonitorAction, NameId, Payload, SiteId, StackId, SubjectId, Tid,
    },
    item::Target,
    jni::Function,
    names::Names,
    report::{Node, Shape, Span},
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition, Stacks},
    subject::{MethodPart, Subject, SubjectDefinition, Subjects},
    tally::{
        ContextTallies, ContextTally, Tallies, Tally,
        jni::{JniTallies, JniTally, OpenSection},
    },
};

fn name() -> impl Strategy<Value = NameId> {
    prop_oneof![(0_u64..20).prop_map(NameId), any::<u64>().prop_map(NameId)]
}

fn amount() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..10_000, any::<u64>(), Just(u64::MAX)]
}

fn edge() -> impl Strategy<Value = Edge> {
    prop_oneof![Just(Edge::Begin), Just(Edge::End)]
}

fn method() -> impl Strategy<Value = MethodName> {
    (name(), name(), name()).prop_map(|(class, method, signature)| MethodName { class, method, signature })
}

fn holder() -> impl Strategy<Value = Holder> {
    (0_u64..4).prop_map(Holder::from_word)
}

fn action() -> impl Strategy<Value = MonitorAction> {
    prop_oneof![
        holder().prop_map(|holder| MonitorAction::ContendedEnter { holder }),
        Just(MonitorAction::ContendedEntered),
        Just(MonitorAction::ContendedExit),
        Just(MonitorAction::Notify),
        amount().prop_map(|timeout_ms| MonitorAction::Wait { timeout_ms }),
        Just(MonitorAction::Waited),
    ]
}

fn step() -> impl Strategy<Value = ClassInit> {
    prop_oneof![Just(ClassInit::Clinit), Just(ClassInit::End), Just(ClassInit::Error), Just(ClassInit::SuperFailed)]
}

/// Numbers of subjects, some of which do not exist.
fn subject() -> impl Strategy<Value = SubjectId> {
    prop_oneof![4 => (0_u32..8).prop_map(SubjectId), 1 => any::<u32>().prop_map(SubjectId)]
}

/// Stack pointers: of one stack, and any.
fn sp() -> impl Strategy<Value = u64> {
    prop_oneof![4 => (0_u64..64).prop_map(|words| (1 << 40) - 8 * words), 1 => amount()]
}

/// What fires on demand only.
fn demanded() -> impl Strategy<Value = Payload> {
    prop_oneof![
        4 => (edge(), subject(), sp(), any::<bool>()).prop_map(|(edge, method, sp, wanted)| Payload::Method {
            edge,
            method,
            sp,
            wanted
        }),
        1 => sp().prop_map(|sp| Payload::FrameUnwound { sp }),
        1 => name().prop_map(|class| Payload::ExceptionCreated { class }),
        2 => (subject(), amount(), prop::option::of(amount()), any::<bool>()).prop_map(
            |(class, bytes, length, wanted)| Payload::ObjectAlloc { class, bytes, length, wanted }
        ),
        1 => jni_call(),
        1 => (function(), name(), amount(), any::<bool>()).prop_map(|(function, caller, lasted_ns, wanted)| {
            Payload::JniSection { function, caller, lasted_ns, wanted }
        }),
    ]
}

fn function() -> impl Strategy<Value = Function> {
    any::<u16>().prop_map(|number| Function(number % 300))
}

fn jni_call() -> impl Strategy<Value = Payload> {
    (function(), name(), prop::option::of(amount()), amount(), amount(), any::<bool>()).prop_map(
        |(function, caller, total_ns, inner_ns, depth, wanted)| Payload::JniCall {
            function,
            caller,
            total_ns,
            inner_ns,
            depth,
            wanted,
        },
    )
}

fn jni_tally() -> impl Strategy<Value = JniTally> {
    let amounts = (amount(), amount(), amount(), amount(), amount());
    (function(), name(), 0_u32..9, amounts).prop_map(
        |(function, caller, tid, (count, timed, total_ns, self_ns, longest_ns))| JniTally {
            tid: Tid(tid),
            function,
            caller,
            count,
            timed,
            total_ns,
            self_ns,
            longest_ns,
        },
    )
}

fn jni_tallies() -> impl Strategy<Value = JniTallies> {
    let list = || prop::collection::vec(jni_tally(), 0..4);
    let lasted = prop::collection::vec((any::<u16>(), amount()), 0..4);
    let open = (function(), name(), amount()).prop_map(|(function, caller, since_ns)| OpenSection {
        tid: Tid(1),
        function,
        caller,
        since_ns,
    });
    (list(), list(), lasted, prop::collection::vec(open, 0..3), amount()).prop_map(
        |(calls, sections, lasted, open, too_deep)| JniTallies {
            calls,
            sections,
            lasted,
            open,
            too_deep,
            ..JniTallies::default()
        },
    )
}

fn tally() -> impl Strategy<Value = Tally> {
    let amounts = (amount(), amount(), amount(), amount(), amount(), amount());
    let durations = prop::collection::vec((any::<u16>(), amount()), 0..4);
    (subject(), amounts, durations).prop_map(|(subject, (count, timed, errors, total_ns, self_ns, bytes), buckets)| {
        Tally { subject: subject.0, count, timed, errors, total_ns, self_ns, bytes, buckets }
    })
}

fn context_tally() -> impl Strategy<Value = ContextTally> {
    let amounts = (amount(), amount(), amount(), amount(), amount(), amount());
    ((0_u64..8, 0_u64..8), subject(), (0_u32..4, 0_u64..40), amounts).prop_map(
        |((id, parent), subject, (tid, stack), (count, errors, total_ns, self_ns, largest, bytes))| ContextTally {
            id,
            parent,
            subject: subject.0,
            tid,
            stack,
            inlined: stack % 2 == 1,
            count,
            errors,
            total_ns,
            self_ns,
            largest,
            bytes,
        },
    )
}

fn context_tallies() -> impl Strategy<Value = ContextTallies> {
    let list = || prop::collection::vec(context_tally(), 0..8);
    (list(), list()).prop_map(|(calls, objects)| ContextTallies { calls, objects })
}

fn tallies() -> impl Strategy<Value = Tallies> {
    let lists = (prop::collection::vec(tally(), 0..4), prop::collection::vec(tally(), 0..4));
    let counted = (prop::option::of(context_tallies()), jni_tallies());
    (amount(), lists, counted, [amount(), amount(), amount(), amount()]).prop_map(
        |(
            time_ns,
            (methods, objects),
            (contexts, jni),
            [returns_without_entry, entries_without_return, under_way, overflow],
        )| {
            Tallies {
                time_ns,
                methods,
                objects,
                contexts,
                jni,
                returns_without_entry,
                entries_without_return,
                under_way,
                overflow,
            }
        },
    )
}

fn subjects() -> Subjects {
    let mut subjects = Subjects::default();
    for (id, name) in (0..).zip(["run", "<init>", "<clinit>", "a\u{202e}b"]) {
        let method = MethodPart { name: name.to_owned(), signature: "()V".to_owned(), native: id == 3 };
        let subject = Subject { class: "a.B".to_owned(), method: Some(method) };
        subjects.define(SubjectDefinition { id: SubjectId(id), subject });
    }
    for (id, class) in (4..).zip(["byte[]", "", "...", "a.B\u{1b}[2J"]) {
        let subject = Subject { class: class.to_owned(), method: None };
        subjects.define(SubjectDefinition { id: SubjectId(id), subject });
    }
    subjects
}

fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![1 => usual(), 1 => demanded()]
}

fn usual() -> impl Strategy<Value = Payload> {
    prop_oneof![
        (any::<bool>(), name(), name()).prop_map(|(full, cause, last_cause)| Payload::GcBegin {
            step: crate::event::PauseStep::Unsaid,
            full,
            cause,
            last_cause
        }),
        (name(), name()).prop_map(|(cause, last_cause)| Payload::GcEnd { cause, last_cause }),
        (edge(), name(), name(), amount(), amount(), amount()).prop_map(
            |(edge, manager, pool, used_bytes, committed_bytes, max_bytes)| Payload::MemPool {
                edge,
                manager,
                pool,
                init_bytes: 0,
                used_bytes,
                committed_bytes,
                max_bytes
            }
        ),
        (edge(), name(), amount()).prop_map(|(edge, name, mode)| Payload::VmOperation { edge, name, mode }),
        (name(), amount()).prop_map(|(name, mode)| Payload::VmOperationRequest { name, mode }),
        edge().prop_map(|edge| Payload::Safepoint { edge }),
        (action(), 0_u64..4, name()).prop_map(|(action, monitor, class)| Payload::Monitor { action, monitor, class }),
        (0_u64..4, name(), holder()).prop_map(|(monitor, class, holder)| Payload::MonitorBlocked {
            monitor,
            class,
            holder
        }),
        amount().prop_map(|blocked| Payload::MonitorLook { blocked, threads: 9 }),
        amount().prop_map(|os_tid| Payload::ThreadStarting { os_tid }),
        amount().prop_map(|parker| Payload::ParkBegin { parker, absolute: false, time: 0 }),
        amount().prop_map(|parker| Payload::ParkEnd { parker }),
        (edge(), name(), amount(), any::<bool>()).prop_map(|(edge, name, java_tid, daemon)| Payload::Thread {
            edge,
            name,
            java_tid,
            os_tid: java_tid,
            daemon
        }),
        edge().prop_map(|edge| Payload::Sleep { edge, duration_ns: 0, interrupted: true }),
        (name(), amount()).prop_map(|(class, loader)| Payload::ClassLoaded { class, loader, shared: false }),
        (name(), amount()).prop_map(|(class, loader)| Payload::ClassUnloaded { class, loader }),
        (step(), name()).prop_map(|(step, class)| Payload::ClassInitialization { step, class, loader: 0 }),
        (edge(), name(), method(), any::<bool>()).prop_map(|(edge, compiler, method, success)| Payload::Compile {
            edge,
            compiler,
            method,
            success
        }),
        (method(), amount()).prop_map(|(method, bytes)| Payload::CodeLoaded { method, start: 0, bytes }),
        (name(), amount(), amount()).prop_map(|(class, tlab_bytes, object_bytes)| Payload::AllocInNewTlab {
            class,
            tlab_bytes,
            object_bytes
        }),
        (name(), amount()).prop_map(|(class, object_bytes)| Payload::AllocOutsideTlab { class, object_bytes }),
        amount().prop_map(|period_ns| Payload::CpuSample { period_ns }),
        (amount(), amount(), 0_u64..4, 0_u64..400).prop_map(|(blocked_ns, run_queue_ns, task_state, syscall)| {
            Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall }
        }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    (amount(), 0_u32..4, 0_u64..40, payload()).prop_map(|(time_ns, tid, stack, payload)| Event {
        time_ns,
        tid: Tid(tid),
        site: SiteId(0),
        stack: StackId(stack),
        payload,
    })
}

/// Some stacks, some of which lead to frames that do not exist.
fn stacks() -> Stacks {
    let mut stacks = Stacks::new();
    for id in 0..6 {
        let kinds = [Kind::Kernel, Kind::Native, Kind::Interpreted, Kind::Compiled, Kind::Inlined, Kind::Unknown];
        let frame = Frame { line: Some(id), ..Frame::named(kinds[id as usize], format!("a.B.m\u{202e}{id}")) };
        stacks.define_frame(FrameDefinition { id, frame: frame.into() });
    }
    for id in 16..32_u32 {
        let frames = (0..id % 9).map(|depth| (id * 7 + depth) % 8).collect();
        let end = End { root: id % 2 == 0, reason: String::new() };
        stacks.define_stack(StackDefinition { id: StackId(u64::from(id)), frames, end });
    }
    stacks
}

/// Views draw a tree from within itself.
fn depth(node: &Node) -> usize {
    1 + node.children.iter().map(depth).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn any_events_give_well_formed_sections(
        events in prop::collection::vec(event(), 0..200),
        readings in prop::collection::vec(tallies(), 0..3),
        start_ns in amount(),
        duration_ns in amount(),
    ) {
        let (names, stacks, subjects, target) = (Names::new(), stacks(), subjects(), Target::default());
        let span = Span { start_ns, duration_ns, started_at_ms: 0, end: String::new() };
        let context = Context { names: &names, stacks: &stacks, subjects: &subjects, span: &span, target: &target, with_steps: true, with_profiles: true };
        let run = || {
            let mut sections = Vec::new();
            for mut analysis in all(Lens::ALL) {
                analysis.start(start_ns);
                for event in &events {
                    analysis.event(event);
                }
                for reading in &readings {
                    analysis.tallies(reading);
                }
                sections.push(analysis.section(context));
            }
            sections
        };
        let sections = run();
        // By what is written: a value that is not known is no number, which does not equal itself.
        prop_assert_eq!(format!("{sections:?}"), format!("{:?}", run()), "a fold is deterministic");
        for section in &sections {
            for (key, number) in section.summary.iter() {
                prop_assert!(number.as_f64().is_finite(), "{key}");
            }
            for shape in &section.shapes {
                match shape {
                    Shape::Table(table) => {
                        for row in &table.rows {
                            prop_assert_eq!(row.len(), table.columns.len());
                        }
                    }
                    Shape::Histogram(histogram) => {
                        prop_assert_eq!(histogram.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), histogram.count);
                    }
                    Shape::Timeline(timeline) => {
                        prop_assert!(timeline.series.iter().all(|series| series.values.len() <= 600));
                    }
                    Shape::Profile(profile) => {
                        for stack in &profile.stacks {
                            prop_assert!(stack.frames.iter().all(|frame| (*frame as usize) < profile.frames.len()));
                            prop_assert!(stack.thread.is_none_or(|thread| (thread as usize) < profile.threads.len()));
                        }
                    }
                    Shape::Tree(tree) => prop_assert!(depth(&tree.root) <= 64),
                }
            }
        }
        for finding in crate::finding::findings(&span, &target, &sections) {
            prop_assert!(finding.score.is_finite() && finding.title.chars().count() < 1000);
        }

    }
}
