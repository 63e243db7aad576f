//! The rule by which a stack of jtrace is that of the program.
//!
//! The program takes its stack by a call on the very line whose next call hits the probe. So from the method of that line
//! outwards the Java frames must be the same: as many, with the same class, method, line and, further out than that method,
//! bytecode index. Further inwards jtrace has frames of the JDK only, those of the call that hits the probe, each kind its
//! own. Three exceptions:
//! - a stack of more than [`MAX_FRAMES`] frames is cut there, and what there is must be the same;
//! - the frames of a virtual thread stand on those of its carrier, which the program does not see; and where they lie in the
//!   heap, the stack must say so;
//! - frames whose code or class has gone before it was looked at say so; the frames that have names must be the program's, in
//!   its order. How many such stacks there may be is for the caller to say.

use std::{collections::BTreeMap, fmt::Write as _};

use tracer_common::stack::MAX_FRAMES;
use tracer_event::{
    event::Event,
    stack::{self, Frame, Stacks},
};

use crate::{
    recorded::Recorded,
    truth::{Kind, Seen, TrueFrame},
};

/// How many stacks that differ are shown in full.
const SHOWN: usize = 3;
/// How many frames of each are shown.
const SHOWN_FRAMES: usize = 40;
/// Outermost class of what a virtual thread runs on.
const CONTINUATION: &str = "jdk.internal.vm.Continuation";

/// What became of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The same.
    Equal,
    /// The same as far as it goes, which is up to the limit of frames.
    Cut,
    /// The same as far as it goes, which is up to the frames in the heap.
    InHeap,
    /// The same but for frames whose code or class had gone before it was looked at.
    Gone,
    /// Another one, for this reason.
    Other(String),
}

/// All comparisons of a run.
#[derive(Default)]
pub(crate) struct Tally {
    counts: BTreeMap<(Kind, String, Verdict), u64>,
    shown: Vec<String>,
}

impl Tally {
    /// Compares every event of the oracle with the one that jtrace recorded for it.
    pub(crate) fn of(seen: &[Seen], recorded: &Recorded) -> anyhow::Result<Self> {
        let mut tally = Self::default();
        for (seen, event) in seen.iter().zip(recorded.pair(seen)?) {
            let verdict = match event {
                Some(event) => compare(seen, event, &recorded.stacks),
                None => Verdict::Other("there is no event".to_owned()),
            };
            if let Verdict::Other(reason) = &verdict
                && tally.shown.len() < SHOWN
            {
                tally.shown.push(side_by_side(reason, seen, event, &recorded.stacks));
            }
            *tally.counts.entry((seen.kind, seen.shape.clone(), verdict)).or_default() += 1;
        }
        Ok(tally)
    }

    /// Number of comparisons with this outcome.
    pub(crate) fn count(&self, wanted: impl Fn(&Verdict) -> bool) -> u64 {
        self.counts.iter().filter(|((_, _, verdict), _)| wanted(verdict)).map(|(_, count)| count).sum()
    }

    /// Number of those that differ.
    pub(crate) fn others(&self) -> u64 {
        self.count(|verdict| matches!(verdict, Verdict::Other(_)))
    }

    /// In which shapes frames had gone.
    pub(crate) fn gone(&self) -> String {
        let mut text = String::new();
        for ((kind, shape, verdict), count) in &self.counts {
            if *verdict == Verdict::Gone {
                let _ = writeln!(text, "{count:>6} {} in {shape}: frames had gone", kind.word());
            }
        }
        text
    }

    /// What differs: counts by reason, kind and shape, and the first ones in full.
    pub(crate) fn complaint(&self) -> String {
        let mut text = String::new();
        for ((kind, shape, verdict), count) in &self.counts {
            if let Verdict::Other(reason) = verdict {
                let _ = writeln!(text, "{count:>6} {} in {shape}: {reason}", kind.word());
            }
        }
        text + &self.shown.join("\n")
    }
}

/// Compares one stack.
pub(crate) fn compare(seen: &Seen, event: Event, stacks: &Stacks) -> Verdict {
    let Some(stack) = stacks.get(event.stack) else {
        return Verdict::Other(format!("there is no stack: {}", Stacks::absence(event.stack)));
    };
    let all = stacks.frames_of(event.stack).count();
    let java: Vec<&Frame> = stacks.frames_of(event.stack).filter(|frame| frame.kind.is_java()).collect();
    let ending = if stack.end.root { String::new() } else { format!("; it ends at: {}", stack.end.reason) };
    let Some(probe) = seen.stack.first() else {
        return match java.first() {
            None if stack.end.root => Verdict::Equal,
            None => Verdict::Other(format!("the root was not reached{ending}")),
            Some(frame) => Verdict::Other(format!("a Java frame where there is none: {frame}")),
        };
    };
    if stacks.frames_of(event.stack).any(has_gone) {
        return if is_part(&java, &seen.stack) {
            Verdict::Gone
        } else {
            Verdict::Other("frames have gone, and of the others there is one that the program has not".to_owned())
        };
    }
    let Some(start) = java.iter().position(|frame| same_method(frame, probe)) else {
        return Verdict::Other(format!("without the method that hit the probe{ending}"));
    };
    if let Some(reason) = inwards(seen.kind, &java[..start]) {
        return Verdict::Other(reason);
    }
    let outer = &java[start..];
    for (depth, (frame, truth)) in outer.iter().zip(&*seen.stack).enumerate() {
        if let Some(difference) = difference(frame, truth, depth > 0) {
            return Verdict::Other(difference);
        }
    }
    if outer.len() < seen.stack.len() {
        return match stack.end.root {
            false if all >= MAX_FRAMES => Verdict::Cut,
            false if stack.end.reason.contains("heap") && is_virtual(seen) => Verdict::InHeap,
            _ => Verdict::Other(format!("the outer frames are missing{ending}")),
        };
    }
    if let Some(frame) = outer.get(seen.stack.len()) {
        // What a virtual thread runs on.
        let carried = is_virtual(seen) && frame.class.as_deref() == Some(CONTINUATION);
        if !carried {
            return Verdict::Other(format!("further frames outside: {}", frame.name));
        }
    }
    if stack.end.root { Verdict::Equal } else { Verdict::Other(format!("the root was not reached{ending}")) }
}

/// Whether a frame says that its name could not be read in time.
fn has_gone(frame: &Frame) -> bool {
    let reasons = ["<class unloaded>", "<code of compilation"];
    frame.kind == stack::Kind::Unknown && reasons.iter().any(|reason| frame.name.starts_with(reason))
}

/// Whether the frames from the first one that the program has come in its order.
fn is_part(frames: &[&Frame], truth: &[TrueFrame]) -> bool {
    let mut rest = truth.iter();
    let first = frames.iter().position(|frame| truth.iter().any(|truth| difference(frame, truth, false).is_none()));
    frames[first.unwrap_or(frames.len())..]
        .iter()
        .all(|frame| rest.any(|truth| difference(frame, truth, false).is_none()))
}

fn is_virtual(seen: &Seen) -> bool {
    seen.stack.last().is_some_and(|frame| frame.class == CONTINUATION)
}

/// What is wrong with the frames between the probe and the method that hit it.
fn inwards(kind: Kind, frames: &[&Frame]) -> Option<String> {
    let classes: &[&str] = match kind {
        Kind::Park => &["jdk.internal.misc.Unsafe", "java.util.concurrent.locks.LockSupport", "java.lang."],
        Kind::Sleep => &["java.lang.Thread"],
        // A monitor is entered by an instruction, not by a call.
        Kind::Enter | Kind::Start => &[],
        Kind::Load => &["java.lang.ClassLoader", "Generated"],
    };
    let innermost = match kind {
        Kind::Park => "jdk.internal.misc.Unsafe.park",
        Kind::Sleep => "java.lang.Thread.sleep",
        Kind::Load => "java.lang.ClassLoader.defineClass1",
        Kind::Enter | Kind::Start => "",
    };
    if frames.first().map_or(!innermost.is_empty(), |frame| !frame.name.starts_with(innermost)) {
        let found = frames.first().map_or("the method itself", |frame| &frame.name);
        return Some(format!("innermost is not {innermost}: {found}"));
    }
    let of_call = |frame: &&&Frame| {
        let class = frame.class.as_deref().unwrap_or_default();
        classes.iter().any(|prefix| class.starts_with(prefix) || class == *prefix)
    };
    let foreign = frames.iter().find(|frame| !of_call(frame))?;
    Some(format!("a frame that the probe's call has not: {}", foreign.name))
}

/// How a frame differs from the true one. The method that hits the probe makes two calls: there the bytecode index tells nothing.
fn difference(frame: &Frame, truth: &TrueFrame, with_bci: bool) -> Option<String> {
    if !same_method(frame, truth) {
        return Some("another method".to_owned());
    }
    if frame.line != truth.line {
        return Some("another line".to_owned());
    }
    (with_bci && frame.bci.is_some() && frame.bci != truth.bci).then(|| "another bytecode index".to_owned())
}

fn same_method(frame: &Frame, truth: &TrueFrame) -> bool {
    let Some(class) = &frame.class else { return false };
    let method = frame.name.strip_prefix(class.as_str()).and_then(|rest| rest.strip_prefix('.'));
    method == Some(&truth.method) && same_class(class, &truth.class)
}

/// Hidden classes have an address for a suffix, which is set off in different ways, and may be left out by jtrace.
fn same_class(ours: &str, truth: &str) -> bool {
    let (name, suffix) = split_hidden(ours);
    let (true_name, true_suffix) = split_hidden(truth);
    name == true_name && (suffix.is_none() || suffix == true_suffix)
}

/// `a.B$$Lambda/0x0000000100089400` into its name and the number.
fn split_hidden(class: &str) -> (&str, Option<u64>) {
    let Some((name, digits)) = class.rsplit_once("0x") else { return (class, None) };
    match (name.strip_suffix(['/', '+', '.']), u64::from_str_radix(digits, 16)) {
        (Some(name), Ok(number)) => (name, Some(number)),
        _ => (class, None),
    }
}

/// Both stacks, ours on the left.
fn side_by_side(reason: &str, seen: &Seen, event: Option<Event>, stacks: &Stacks) -> String {
    let mut text = format!("--- {} in {}, thread {}: {reason}\n", seen.kind.word(), seen.shape, seen.tid);
    let ours: Vec<String> = event
        .map(|event| stacks.frames_of(event.stack))
        .into_iter()
        .flatten()
        .map(|frame| {
            let bci = frame.bci.map_or(String::new(), |bci| format!(" @{bci}"));
            format!("{:?} {frame}{bci}", frame.kind)
        })
        .collect();
    let theirs: Vec<String> = seen
        .stack
        .iter()
        .map(|TrueFrame { class, method, line, bci }| {
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            let bci = bci.map_or(String::new(), |bci| format!(" @{bci}"));
            format!("{class}.{method}{line}{bci}")
        })
        .collect();
    let _ = writeln!(text, "{:>4} frames of jtrace{:<52} {} Java frames of the program", ours.len(), "", theirs.len());
    // The program does not see the frames inwards of its own: its first one stands beside its counterpart, if there is any.
    let probe = theirs.first().and_then(|first| first.split([':', '@']).next()).unwrap_or_default().trim().to_owned();
    let inner = ours.iter().position(|frame| frame.contains(&probe)).unwrap_or(0);
    for row in 0..(ours.len().max(theirs.len() + inner)).min(SHOWN_FRAMES) {
        let left = ours.get(row).map_or("", String::as_str);
        let right = row.checked_sub(inner).and_then(|row| theirs.get(row)).map_or("", String::as_str);
        let _ = writeln!(text, "  {left:<74} {right}");
    }
    text
}

#[cfg(test)]
mod tests;
