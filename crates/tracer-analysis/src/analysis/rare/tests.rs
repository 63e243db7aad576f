//! Whatever an analysis tells from frames, it tells from what is left of them.

use proptest::prelude::*;

use super::{
    super::{
        Analysis, Lens, all,
        testing::{Play, context},
    },
    *,
};
use crate::{
    event::{Event, Payload, SiteId, Tid},
    report::{Column, Section, Shape, Span, Table},
};

/// Frames that mean something to one analysis or another, and others of every kind and of several files.
const FRAMES: [&str; 24] = [
    "kernel schedule",
    "kernel exc_page_fault",
    "kernel io_schedule",
    "kernel vfs_read",
    "kernel asm_sysvec_apic_timer_interrupt",
    "libc.so.6 read",
    "libc.so.6 pthread_cond_wait",
    "libfoo.so work",
    "libjvm.so JavaThread::run()",
    "libjvm.so ObjectMonitor::enter(JavaThread*)",
    "libjvm.so SafepointSynchronize::block(JavaThread*)",
    "libjvm.so Exceptions::_throw(Thread*)",
    "libjvm.so Deoptimization::fetch_unroll_info(JavaThread*, int)",
    "libjvm.so ClassFileParser::parse_stream()",
    "libjvm.so G1ParScanThreadState::trim()",
    "stub UncommonTrapBlob",
    "stub jbyte_disjoint_arraycopy",
    "stub _complete_monitor_locking_Java",
    "unknown <no code blob>",
    "com.shop.Cart.add:12",
    "com.shop.Main.main:3",
    "java.lang.Object.wait",
    "java.util.regex.Pattern.matcher:77",
    "interpreted com.shop.Cart.find:40",
];

/// Tables whose rows name the innermost frame of machine code, and what is drawn by stack.
const BY_FRAME: [&str; 5] = ["samples", "blocked", "time", "sites", "stoppers"];
const LENSES: [Lens; 5] = [Lens::Cpu, Lens::Offcpu, Lens::Wall, Lens::Jit, Lens::Safepoint];

fn stack() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec((0..FRAMES.len()).prop_map(|index| FRAMES[index]), 0..40)
}

fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        Just(Payload::CpuSample { period_ns: 10 }),
        (1_u64..1 << 40, prop::sample::select(vec![0, 1, 2]), prop::sample::select(vec![0, 202, 230, u64::MAX]))
            .prop_map(|(blocked_ns, task_state, syscall)| Payload::OffCpu {
                blocked_ns,
                run_queue_ns: 3,
                task_state,
                syscall
            }),
    ]
}

/// What is told but for the frames of machine code by their names, and the innermost methods where these can be left out.
fn facts(section: &Section, left: Left) -> String {
    let without_top = |shape: &Shape| match shape {
        Shape::Table(table) if left == Left::Place => Shape::Table(without_top(table.clone())),
        shape => shape.clone(),
    };
    let shapes = section.shapes.iter().filter(|shape| !BY_FRAME.contains(&shape.id())).map(without_top);
    let summary = section.summary.iter().filter(|(key, _)| !matches!(*key, "stacks" | "frames"));
    format!("{:?} {:?}", summary.collect::<Vec<_>>(), shapes.collect::<Vec<_>>())
}

fn without_top(mut table: Table) -> Table {
    let is_top = |column: &Column| matches!(column.key, "top" | "top_samples");
    let tops: Vec<usize> =
        table.columns.iter().enumerate().filter(|(_, column)| is_top(column)).map(|(at, _)| at).collect();
    for row in &mut table.rows {
        for at in &tops {
            row[*at] = crate::report::Cell::Missing;
        }
    }
    table
}

fn total(section: &Section) -> Vec<(u64, u64)> {
    let profiles = section.shapes.iter().filter_map(|shape| match shape {
        Shape::Profile(profile) => Some(profile),
        _ => None,
    });
    let sums = |profile: &crate::report::Profile| {
        profile.stacks.iter().fold((0, 0), |(value, count), stack| (value + stack.value, count + stack.count))
    };
    profiles.map(sums).collect()
}

proptest! {
    #[test]
    fn what_is_left_tells_the_same(
        events in prop::collection::vec((stack(), 0_u32..3, payload()), 1..40),
        // All at once, or little by little.
        passes in prop::sample::select(vec![vec![Left::Java], vec![Left::Place], vec![Left::Java, Left::Place]]),
    ) {
        let mut play = Play::default();
        let events: Vec<Event> = events
            .iter()
            .zip(1..)
            .map(|((frames, tid, payload), at)| {
                let stack = play.stack(frames);
                Event { time_ns: at << 20, tid: Tid(*tid), site: SiteId(0), stack, payload: *payload }
            })
            .collect();
        let mut analyses: Vec<Box<dyn Analysis>> = all(&LENSES);
        for analysis in &mut analyses {
            analysis.start(0);
            for event in &events {
                analysis.event(event);
            }
        }
        let span = Span { start_ns: 0, duration_ns: 64 << 20, started_at_ms: 0, end: String::new() };
        let before: Vec<Section> = analyses.iter().map(|analysis| analysis.section(context(&play, &span))).collect();
        let mut now: Vec<StackId> = events.iter().map(|event| event.stack).collect();
        for left in &passes {
            let mut replaced = Replaced::default();
            for id in &now {
                if let Some(by) = shorten(&mut play.stacks, *id, *left) {
                    replaced.insert(*id, by);
                    prop_assert_eq!(shorten(&mut play.stacks, by, *left), None, "what is left is left");
                }
            }
            for analysis in &mut analyses {
                analysis.round_ends(&play.stacks);
                analysis.replace_stacks(&replaced, &play.stacks);
            }
            for id in &mut now {
                if let Some(by) = replaced.get(*id) {
                    play.stacks.forget(std::mem::replace(id, by));
                }
            }
        }
        let left = passes[passes.len() - 1];
        for (analysis, before) in analyses.iter().zip(&before) {
            let after = analysis.section(context(&play, &span));
            prop_assert_eq!(facts(before, left), facts(&after, left));
            prop_assert_eq!(total(before), total(&after));
        }
    }
}

fn names(play: &Play, id: StackId) -> Vec<String> {
    play.stacks.frames_of(id).map(ToString::to_string).collect()
}

#[test]
fn runs_of_machine_code_become_a_frame_for_each_file_and_java_stays() {
    let mut play = Play::default();
    let outermost = ["libc.so.6 start_thread", "libjvm.so thread_native_entry", "libjvm.so JavaThread::run()"];
    let frames = [
        &outermost[..],
        &["com.shop.Main.main:3"; 6],
        &["libjvm.so JVM_DefineClass", "libjvm.so ClassFileParser::parse_stream()", "libc.so.6 memcpy"],
        &["kernel exc_page_fault", "kernel do_anonymous_page", "kernel clear_page"],
    ]
    .concat();
    let id = play.stack(&frames);
    let by = shorten(&mut play.stacks, id, Left::Java).expect("shorter");
    let expected = [
        "kernel!<rarely seen>",
        "kernel!exc_page_fault",
        "libc.so.6!<rarely seen>",
        "libjvm.so!<rarely seen>",
        "com.shop.Main.main:3",
        "com.shop.Main.main:3",
        "com.shop.Main.main:3",
        "com.shop.Main.main:3",
        "com.shop.Main.main:3",
        "com.shop.Main.main:3",
        "libjvm.so!JavaThread::run()",
        "libjvm.so!thread_native_entry",
        "libc.so.6!start_thread",
    ];
    assert_eq!(names(&play, by), expected);
    assert_eq!(play.stacks.get(id).map(|stack| stack.end.clone()), play.stacks.get(by).map(|stack| stack.end.clone()));
}

#[test]
fn stacks_that_are_alike_become_one_and_short_ones_stay() {
    let mut play = Play::default();
    let loops = ["libc.so.6 start_thread"; OUTERMOST];
    let at = |leaf: &'static str| [&loops[..], &["libjvm.so GangWorker::loop()", leaf]].concat();
    let [a, b, other] = ["libjvm.so a()", "libjvm.so b()", "libfoo.so c"].map(|leaf| play.stack(&at(leaf)));
    let short = play.stack(&["libc.so.6 start_thread", "libjvm.so a()"]);
    let [a, b, other] = [a, b, other].map(|id| shorten(&mut play.stacks, id, Left::Java).expect("shorter"));
    assert_eq!(a, b);
    assert_ne!(a, other);
    assert_eq!(shorten(&mut play.stacks, short, Left::Java), None);
    assert_eq!(play.stacks.frames().iter().filter(|frame| frame.is_of_several()).count(), 2);
    // A source goes on with its own numbers.
    let next = play.stack(&["libbar.so next"]);
    assert_eq!(names(&play, next), ["libbar.so!next"]);
}

#[test]
fn of_the_smallest_stacks_only_frames_stay_that_say_where_the_program_was_and_what_it_did() {
    let mut play = Play::default();
    let outermost = ["libjvm.so JavaThread::run()"; OUTERMOST];
    let frames = [
        &outermost[..],
        &["java.lang.Thread.run:840", "a.Main.run:1", "a.Main.run:2", "a.D.d:3", "a.C.c:4", "a.C.c:5", "a.B.b:6"],
        &["java.util.HashMap.put:600", "java.util.HashMap$TreeNode.find:7", "java.lang.String.equals:8"],
        &["libjvm.so work()", "kernel exc_page_fault", "kernel clear_page"],
    ]
    .concat();
    let id = play.stack(&frames);
    let by = shorten(&mut play.stacks, id, Left::Java).expect("shorter");
    let by = shorten(&mut play.stacks, by, Left::Place).expect("shorter still");
    let expected = [
        "kernel!<rarely seen>",
        "kernel!exc_page_fault",
        "libjvm.so!<rarely seen>",
        "<rarely seen>",
        "java.util.HashMap$TreeNode.find:7",
        "<rarely seen>",
        "a.B.b:6",
        "a.C.c:5",
        "<rarely seen>",
        "a.D.d:3",
        "a.Main.run:2",
        "a.Main.run:1",
        "<rarely seen>",
    ];
    assert_eq!(names(&play, by)[..expected.len()], expected);
    assert!(
        !names(&play, by).iter().any(|name| name.contains("Thread.run:840")),
        "the program's own method is further in"
    );
    assert_eq!(shorten(&mut play.stacks, id, Left::Place), Some(by), "at once is the same");
}
