//! What the CPU samples of a recording say, counted anew from the recorded frames and not by the lens: a second opinion for
//! `cargo xtask profile`.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use anyhow::Result;
use tracer::{
    decode::{Decoded, decode},
    event::{Payload, StackId, Tid},
    session::Item,
    source::recording::Recording,
    stack::{Frame, Kind, Stacks},
};

/// The blobs whose stubs find a method by the receiver's class.
const DISPATCH: &str = "vtable chunks";

/// Prints counts as `name number`, ends as `end number reason`, and methods as `method number number name`: the samples in
/// which the thread ran this method's own code, or a stub of the JVM for it; and those of them in which it was finding the
/// method that this one calls.
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
        Item::Start(_) | Item::Counters(_) | Item::Guard(_) | Item::Thread(_) | Item::End(_) => {}
    })?;
    let java: HashSet<Tid> = samples
        .iter()
        .filter(|(_, stack)| stacks.frames_of(*stack).any(|frame| frame.kind.is_java()))
        .map(|(tid, _)| *tid)
        .collect();
    let (mut of_java, mut to_root, mut frames, mut unknown) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut methods: BTreeMap<String, (u64, u64)> = BTreeMap::new();
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
        if let Some(method) = running(&stack) {
            let (samples, dispatching) = methods.entry(method.to_owned()).or_default();
            *samples += 1;
            *dispatching += u64::from(stack.iter().any(|frame| frame.kind == Kind::Stub && frame.name == DISPATCH));
        }
    }
    println!("samples {}\njava_threads_samples {of_java}\njava_threads_to_root {to_root}", samples.len());
    println!("frames {frames}\nunknown_frames {unknown}");
    for (reason, count) in ends {
        println!("end {count} {reason}");
    }
    for (method, (samples, dispatching)) in methods {
        println!("method {samples} {dispatching} {method}");
    }
    Ok(())
}

/// The Java method that was running, if one was: interrupts by the kernel and stubs are no other code of the program's.
fn running<'a>(stack: &[&'a Frame]) -> Option<&'a str> {
    let innermost = stack.iter().find(|frame| !matches!(frame.kind, Kind::Kernel | Kind::Stub))?;
    innermost.kind.is_java().then_some(&innermost.name)
}
