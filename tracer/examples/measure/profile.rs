//! What the CPU samples of a recording say, counted anew from the recorded frames and not by the lens: a second opinion for
//! `cargo xtask profile`.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use anyhow::Result;
use tracer_event::{
    decode::{Decoded, decode},
    event::{Payload, StackId, Tid},
    stack::{Frame, Kind, Stacks},
};
use tracer_model::item::Item;
use tracer_source::source::recording::Recording;

/// The blobs whose stubs find a method by the receiver's class.
const DISPATCH: &str = "vtable chunks";

/// Samples of a method.
#[derive(Default)]
struct Samples {
    /// The thread ran its own code, or a stub of the JVM for it.
    running: u64,
    /// Those of them in which it was finding the method that this one calls.
    dispatching: u64,
    /// The thread ran machine code that this method had called: of a library or of the JVM.
    native: u64,
}

/// Prints counts as `name number`, ends as `end number reason`, and methods as `method running dispatching native name`.
pub(crate) fn print(file: &Path) -> Result<()> {
    let mut stacks = Stacks::new();
    let mut samples: Vec<(Tid, StackId)> = Vec::new();
    Recording::open(file)?.replay(&mut |item| match item {
        Item::Record(bytes) => {
            if let Ok(Decoded::Event(event)) = decode(bytes)
                && matches!(event.payload, Payload::CpuSample { .. })
            {
                samples.push((event.tid, event.stack));
            }
        }
        Item::Frame(frame) => stacks.define_frame(frame),
        Item::Stack(stack) => stacks.define_stack(stack),
        Item::Start(_)
        | Item::Counters(_)
        | Item::Guard(_)
        | Item::Thread(_)
        | Item::Ended(_)
        | Item::Subject(_)
        | Item::Inside(_)
        | Item::Tallies(_)
        | Item::Look(_)
        | Item::Coverage(_)
        | Item::End(_) => {}
    })?;
    let java: HashSet<Tid> = samples
        .iter()
        .filter(|(_, stack)| stacks.frames_of(*stack).any(|frame| frame.kind.is_java()))
        .map(|(tid, _)| *tid)
        .collect();
    let (mut of_java, mut to_root, mut frames, mut unknown) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut methods: BTreeMap<String, Samples> = BTreeMap::new();
    for (tid, id) in &samples {
        let stack: Vec<&Frame> = stacks.frames_of(*id).collect();
        frames += stack.len() as u64;
        unknown += stack.iter().filter(|frame| frame.kind == Kind::Unknown).count() as u64;
        if java.contains(tid) {
            of_java += 1;
            match stacks.get(*id) {
                Some(found) if found.end.root => to_root += 1,
                Some(found) => *ends.entry(found.end.reason.clone()).or_default() += 1,
                None => *ends.entry(Stacks::absence(*id).to_owned()).or_default() += 1,
            }
        }
        if let Some(innermost) = stack.iter().find(|frame| frame.kind.is_java()) {
            let samples = methods.entry(innermost.name.to_string()).or_default();
            if is_native(&stack) {
                samples.native += 1;
            } else {
                samples.running += 1;
                samples.dispatching += u64::from(is_dispatching(&stack));
            }
        }
    }
    println!("samples {}\njava_threads_samples {of_java}\njava_threads_to_root {to_root}", samples.len());
    println!("frames {frames}\nunknown_frames {unknown}");
    for (reason, count) in ends {
        println!("end {count} {reason}");
    }
    for (method, Samples { running, dispatching, native }) in methods {
        println!("method {running} {dispatching} {native} {method}");
    }
    Ok(())
}

/// Whether machine code ran that a Java method had called. Interrupts by the kernel and stubs are no other code of the
/// program's.
fn is_native(stack: &[&Frame]) -> bool {
    stack
        .iter()
        .find(|frame| !matches!(frame.kind, Kind::Kernel | Kind::Stub))
        .is_some_and(|innermost| !innermost.kind.is_java())
}

/// Whether the thread was in a stub that finds a method by the receiver's class.
fn is_dispatching(stack: &[&Frame]) -> bool {
    let innermost = stack.iter().find(|frame| frame.kind != Kind::Kernel);
    innermost.is_some_and(|frame| frame.kind == Kind::Stub && frame.name == DISPATCH)
}
