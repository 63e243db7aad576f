//! A dump as text, in the form of `jstack`, so that whatever reads its output reads this. Threads that do the same are shown once.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use super::{StackFrame, Thread, ThreadDump, Unmounted, UnmountedGroup, WaitingQueue, groups};
use crate::{
    item::look::Waits,
    text::{column::wall_clock, escape, format},
};

/// Most names that are shown of threads with the same stack.
const MAX_NAMES: usize = 8;
/// Most queues that are shown.
const MAX_QUEUES: usize = 20;

/// Writes it. `each` shows every thread, and not only one of those that do the same.
pub fn write(dump: &ThreadDump, each: bool, out: &mut impl Write) -> io::Result<()> {
    let ThreadDump { pid, jvm, at_ms, took, threads, unmounted, deadlocks, queues, missing } = dump;
    let took = format::duration(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    let count = format::plural(threads.len() as u64, "thread", "threads");
    writeln!(
        out,
        "Thread dump of {pid}, {}, at {}: {count}, read in {took}, without stopping any",
        escape::terminal(jvm),
        wall_clock(*at_ms)
    )?;
    for what in missing.iter().chain(unmounted.iter().flat_map(|unmounted| &unmounted.missing)) {
        writeln!(out, "Not known: {}", escape::terminal(what))?;
    }
    let names: HashMap<u32, &Thread> = threads.iter().map(|thread| (thread.tid, thread)).collect();
    for circle in deadlocks {
        deadlock(circle, &names, out)?;
    }
    waiting(queues, &names, out)?;
    for group in groups(threads, each) {
        writeln!(out)?;
        if let Some((first, others)) = group.split_first() {
            thread(first, others, &names, out)?;
        }
    }
    match unmounted {
        Some(unmounted) => not_mounted(unmounted, each, &names, out),
        None => Ok(()),
    }
}

fn not_mounted(
    unmounted: &Unmounted,
    each: bool,
    names: &HashMap<u32, &Thread>,
    out: &mut impl Write,
) -> io::Result<()> {
    let count = format::plural(unmounted.count(), "virtual thread is", "virtual threads are");
    writeln!(out, "\n{count} not mounted, {} mounted", format::count(unmounted.mounted))?;
    for group in &unmounted.groups {
        writeln!(out)?;
        virtual_threads(group, each, names, out)?;
    }
    if unmounted.beyond > 0 {
        writeln!(out, "\n… and {} with further stacks", format::count(unmounted.beyond))?;
    }
    Ok(())
}

fn virtual_threads(
    group: &UnmountedGroup,
    each: bool,
    names: &HashMap<u32, &Thread>,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some((first, others)) = group.java_ids.split_first() else { return Ok(()) };
    let name = group.names.first().map(|name| escape::terminal(name)).unwrap_or_default();
    writeln!(out, "\"{name}\" #{first} virtual")?;
    if !others.is_empty() {
        let shown = others.iter().take(if each { others.len() } else { MAX_NAMES }).map(|id| format!("#{id}"));
        let more = if others.len() > MAX_NAMES && !each { ", …" } else { "" };
        let (do_, listed) = (if others.len() == 1 { "does" } else { "do" }, shown.collect::<Vec<_>>().join(", "));
        writeln!(out, "   and {} that {do_} the same: {listed}{more}", format::count(others.len() as u64))?;
    }
    writeln!(out, "   java.lang.Thread.State: {}", group.state)?;
    let owner = group
        .owner
        .as_ref()
        .map(|owner| format!(", owned by virtual thread #{}{}", owner.java_id, quoted(&owner.name)));
    let waits = group.waits.as_ref().map(|waits| format!("{}{}", sentence(waits, names), owner.unwrap_or_default()));
    stack(&group.frames, waits, group.incomplete, out)
}

/// A name behind what it is the name of; most virtual threads have none.
fn quoted(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" \"{}\"", escape::terminal(name)) }
}

/// Frames, with what they wait for below the innermost one.
fn stack(
    frames: &[StackFrame],
    waits: Option<String>,
    incomplete: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (index, frame) in frames.iter().enumerate() {
        writeln!(out, "\tat {}", place(frame))?;
        if let Some(waits) = waits.as_ref().filter(|_| index == 0) {
            writeln!(out, "\t- {waits}")?;
        }
    }
    if let Some(waits) = waits.filter(|_| frames.is_empty()) {
        writeln!(out, "\t- {waits}")?;
    }
    match incomplete {
        Some(reason) => writeln!(out, "\t… {reason}"),
        None => Ok(()),
    }
}

fn deadlock(circle: &[u32], names: &HashMap<u32, &Thread>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nDEADLOCK of {}:", format::plural(circle.len() as u64, "thread", "threads"))?;
    for tid in circle {
        let Some(thread) = names.get(tid) else { continue };
        let waits = thread.waits.as_ref().map(|waits| sentence(waits, names)).unwrap_or_default();
        writeln!(out, "  \"{}\" (nid={tid}) {waits}", escape::terminal(&thread.name))?;
    }
    Ok(())
}

/// What waits in queues, and for whom.
fn waiting(queues: &[WaitingQueue], names: &HashMap<u32, &Thread>, out: &mut impl Write) -> io::Result<()> {
    if !queues.is_empty() {
        writeln!(out, "\nQUEUED for threads below:")?;
    }
    for WaitingQueue { queued, field, threads } in queues.iter().take(MAX_QUEUES) {
        let what = match field {
            Some(field) => format!("{} in {}", format::count(*queued), escape::terminal(field)),
            None => format::plural(*queued, "task", "tasks"),
        };
        let threads: Vec<&Thread> = threads.iter().filter_map(|tid| names.get(tid).copied()).collect();
        writeln!(out, "  {what}, for {}", listed(&threads))?;
    }
    match queues.len().saturating_sub(MAX_QUEUES) {
        0 => Ok(()),
        more => writeln!(out, "  … and {}", format::plural(more as u64, "further queue", "further queues")),
    }
}

fn thread(thread: &Thread, others: &[&Thread], names: &HashMap<u32, &Thread>, out: &mut impl Write) -> io::Result<()> {
    let name = Some(format!("\"{}\"", escape::terminal(&thread.name)));
    let id = thread.java_id.map(|id| format!("#{id}"));
    let daemon = (thread.daemon == Some(true)).then(|| "daemon".to_owned());
    let cpu = thread.cpu_ns.map(|cpu_ns| format!("cpu={:.2}ms", cpu_ns as f64 / 1e6));
    let known: Vec<String> = [name, id, daemon, cpu].into_iter().flatten().collect();
    writeln!(out, "{} nid={} {}", known.join(" "), thread.tid, kernel_state(thread.kernel_state))?;
    if !others.is_empty() {
        writeln!(
            out,
            "   and {} that {} the same: {}",
            others.len(),
            if others.len() == 1 { "does" } else { "do" },
            listed(others)
        )?;
    }
    if let Some(carried) = &thread.carries {
        writeln!(out, "   Carrying virtual thread #{}{}", carried.java_id, quoted(&carried.name))?;
    }
    if let Some(state) = thread.state {
        writeln!(out, "   java.lang.Thread.State: {state}")?;
    }
    let waits = thread.waits.as_ref().map(|waits| sentence(waits, names));
    stack(&thread.frames, waits, thread.incomplete, out)
}

fn listed(others: &[&Thread]) -> String {
    let shown = others.iter().take(MAX_NAMES).map(|thread| format!("\"{}\"", escape::terminal(&thread.name)));
    let text = shown.collect::<Vec<_>>().join(", ");
    if others.len() > MAX_NAMES { format!("{text}, …") } else { text }
}

fn kernel_state(letter: char) -> &'static str {
    match letter {
        'R' => "runnable",
        'S' => "waiting",
        'D' => "waiting in the kernel",
        'T' | 't' => "stopped",
        _ => "ending",
    }
}

/// `com.shop.Cart.add(Cart.java:12)`.
fn place(StackFrame { frame, native }: &StackFrame) -> String {
    let name = escape::terminal(&frame.name);
    if !frame.kind.is_java() {
        return name.into_owned();
    }
    let place = match (*native, &frame.file, frame.line) {
        (true, ..) => "Native Method".to_owned(),
        (false, Some(file), Some(line)) => format!("{}:{line}", escape::terminal(file)),
        (false, Some(file), None) => escape::terminal(file).into_owned(),
        (false, None, _) => "Unknown Source".to_owned(),
    };
    format!("{name}({place})")
}

/// What a thread waits for, after `jstack`.
fn sentence(waits: &Waits, names: &HashMap<u32, &Thread>) -> String {
    let class = |class: &Option<String>| {
        class.as_ref().map_or_else(|| "class not known".to_owned(), |class| format!("a {}", escape::terminal(class)))
    };
    let held = |verb: &str, owner: &Option<u32>| match owner {
        Some(tid) => {
            let name = names.get(tid).map(|thread| format!("\"{}\" ", escape::terminal(&thread.name)));
            format!(", {verb} by {}(nid={tid})", name.unwrap_or_default())
        }
        None => String::new(),
    };
    let ended = |joined: &Option<u32>| match joined.map(|tid| (tid, names.get(&tid))) {
        Some((tid, Some(thread))) => format!(", until \"{}\" (nid={tid}) ends", escape::terminal(&thread.name)),
        Some((tid, None)) => format!(", until (nid={tid}) ends"),
        None => String::new(),
    };
    match waits {
        Waits::Monitor { class: of, address, owner } => {
            format!("waiting to lock <0x{address:016x}> ({}){}", class(of), held("held", owner))
        }
        Waits::Notify { class: of, address, joined } => {
            format!("waiting on <0x{address:016x}> ({}){}", class(of), ended(joined))
        }
        Waits::Unpark { class, address, owner, ended } => {
            let class = escape::terminal(class);
            let gone = ended.as_ref().map(|name| format!(", owned by \"{}\", which has ended", escape::terminal(name)));
            let owned = gone.unwrap_or_else(|| held("owned", owner));
            format!("parking to wait for  <0x{address:016x}> (a {class}){owned}")
        }
        Waits::SystemCall { call, on: Some(on), .. } => format!("in {call}: {}", escape::terminal(on)),
        Waits::SystemCall { call, on: None, .. } => format!("in {call}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        jvm::java_threads::{Executor, OwnQueue},
        stack::{Frame, Kind},
        thread_dump::Carried,
    };

    fn frame(name: &str, line: Option<u32>, native: bool) -> StackFrame {
        let frame = Frame { file: Some("Cart.java".into()), line, ..Frame::named(Kind::Compiled, name) };
        StackFrame { frame, native }
    }

    fn thread(tid: u32, name: &str, waits: Option<Waits>) -> Thread {
        let frames = vec![frame("com.shop.Cart.park", None, true), frame("com.shop.Cart.add", Some(12), false)];
        let state = Some("WAITING (parking)");
        Thread { tid, name: name.to_owned(), kernel_state: 'S', state, waits, frames, ..Thread::default() }
    }

    #[test]
    fn a_dump_reads_as_the_jvms_own_with_circles_first_and_equal_threads_once() {
        let lock =
            |owner| Some(Waits::Unpark { class: "Lock".to_owned(), address: 16, owner: Some(owner), ended: None });
        let monitor = Some(Waits::Monitor { class: None, address: 32, owner: Some(1) });
        let mut threads = vec![thread(1, "a\u{1b}[m", lock(2)), thread(2, "b", monitor)];
        threads.extend((3..14).map(|tid| thread(tid, &format!("pool-{tid}"), None)));
        threads.push(Thread {
            java_id: Some(7),
            daemon: Some(true),
            cpu_ns: Some(1_500_000),
            carries: Some(Carried { java_id: 9, name: String::new() }),
            frames: Vec::new(),
            state: None,
            kernel_state: 'R',
            incomplete: Some("it runs"),
            ..thread(20, "carrier", None)
        });
        let call = Waits::SystemCall { call: "read".to_owned(), on: Some("a pipe".to_owned()), held_back: false };
        threads.push(thread(21, "reader", Some(call)));
        for thread in &mut threads[2..6] {
            thread.executor = Some(Executor::uncounted(1, 4711, true));
        }
        threads[1].queue = Some(OwnQueue { address: 2, field: "Cart.\u{1b}[mparts".to_owned(), queued: 1 });
        let deadlocks = crate::thread_dump::deadlocks(&threads);
        let queues = crate::thread_dump::queues(&threads);
        let (jvm, took) = ("OpenJDK 17".to_owned(), Duration::from_millis(12));
        let dump = ThreadDump {
            pid: 4711,
            jvm,
            at_ms: 0,
            took,
            threads,
            unmounted: None,
            deadlocks,
            queues,
            missing: vec!["names".to_owned()],
        };
        let mut text = Vec::new();
        write(&dump, false, &mut text).expect("room");
        insta::assert_snapshot!(String::from_utf8(text).expect("a text"));
    }
}
