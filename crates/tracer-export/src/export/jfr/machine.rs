//! What the JVM does: collections and their pauses, safepoints, VM operations, classes, compilations.

use std::collections::HashMap;

use super::{
    at,
    chunk::{Chunk, Fields, Head, Known},
    schema::Type,
    until,
};
use crate::{
    analysis::{
        gc::operation::{Counting, classify},
        pairing::{Open, Stacks},
    },
    event::{Edge, Event, MethodName, NameId, Payload, Tid},
    names::Names,
};

/// Stands for no cause.
const NO_CAUSE: &str = "No GC";

/// What the JDK calls the moments at which pools are looked at.
const WHEN: [&str; 2] = ["Before GC", "After GC"];

/// Most kinds of operations that are waited for.
const MAX_ASKED: usize = 256;

/// What has begun, and numbers that the file gives: the JVM's own are not known.
#[derive(Debug, Default)]
pub(super) struct Machine {
    collector: String,
    pauses: Stacks<Pause>,
    gc_id: u64,
    /// Bytes in use in all pools of the heap, before the collection and after it, as far as the pools have told.
    heap: [Option<u64>; 2],
    operations: Stacks<Operation>,
    /// Who has asked for an operation that has not begun; nobody where several have asked for one of that name.
    asked: HashMap<NameId, Option<Tid>>,
    compiling: Open<(u64, MethodName)>,
    stopping: Open<Stop>,
    safepoint_id: u64,
    /// The safepoint that is under way.
    stopped: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pause {
    since_ns: u64,
    full: bool,
    cause: NameId,
    operation: Option<NameId>,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    since_ns: u64,
    name: NameId,
    caller: Option<Tid>,
    /// Pauses around it.
    depth: usize,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    since_ns: u64,
    /// When all threads stood, which is known when the first operation begins.
    stood_ns: Option<u64>,
}

impl Machine {
    pub(super) fn new(collector: &str) -> Self {
        Self { collector: collector.to_owned(), ..Self::default() }
    }

    /// Ends of what is under way in this group of sites will not be seen.
    pub(super) fn cut(&mut self, group: &str) {
        match group {
            "gc" => self.pauses.cut_all(),
            "vm-operation" => self.operations.cut_all(),
            "compile" => self.compiling.cut_all(),
            "safepoint" => {
                self.stopping.cut_all();
                self.stopped = false;
            }
            _ => {}
        }
    }

    pub(super) fn event(&mut self, event: &Event, known: Known<'_>, chunk: &mut Chunk) {
        match event.payload {
            Payload::GcBegin { full, step: _, cause, last_cause: _ } => {
                let operation = self.operations.innermost(event.tid).map(|operation| operation.name);
                self.pauses.begin(event.tid, Pause { since_ns: event.time_ns, full, cause, operation });
                self.heap = [None; 2];
            }
            Payload::GcEnd { cause, last_cause } => self.pause_end(event, [cause, last_cause], known, chunk),
            Payload::VmOperation { edge, name, mode } => self.operation(event, edge, (name, mode), known, chunk),
            Payload::VmOperationRequest { name, mode: _ } => {
                if self.asked.len() < MAX_ASKED {
                    self.asked.entry(name).and_modify(|caller| *caller = None).or_insert(Some(event.tid));
                }
                chunk.add(Type::VmOperationRequest, at(event), known, |fields| {
                    fields.named_word(Type::VmOperation, name);
                });
            }
            Payload::Safepoint { edge } => self.safepoint(event, edge, known, chunk),
            Payload::MemPool { edge, manager, pool, used_bytes, committed_bytes, .. } => {
                let when = usize::from(edge == Edge::End);
                if known.names.get(pool).is_ok_and(|name| is_heap(&name)) {
                    self.heap[when] = Some(self.heap[when].unwrap_or(0).saturating_add(used_bytes));
                }
                chunk.add(Type::MemoryPool, at(event), known, |fields| {
                    fields.named_word(Type::Symbol, manager);
                    fields.named_word(Type::Symbol, pool);
                    fields.word(Type::GcWhen, WHEN[when]);
                    fields.number(used_bytes);
                    fields.number(committed_bytes);
                });
            }
            Payload::ClassLoaded { class, .. } => {
                chunk.add(Type::ClassLoad, at(event), known, |fields| fields.class(class));
            }
            Payload::ClassUnloaded { class, .. } => {
                chunk.add(Type::ClassUnload, at(event), known, |fields| fields.class(class));
            }
            Payload::Compile { edge: Edge::Begin, method, .. } => {
                self.compiling.begin(event.tid, (event.time_ns, method));
            }
            Payload::Compile { edge: Edge::End, compiler, method, success } => {
                let begun = self.compiling.end(event.tid, |(_, begun)| *begun == method);
                let Some((since_ns, _)) = begun else { return };
                chunk.add(Type::Compilation, until(event, since_ns), known, |fields| {
                    fields.named_word(Type::Compiler, compiler);
                    fields.method(method);
                    fields.unknown();
                    fields.flag(success);
                });
            }
            Payload::VmShutdown => chunk.add(Type::Shutdown, at(event), known, shutdown),
            _ => {}
        }
    }

    /// A pause is over. Where the program stands still for a whole collection, it is one; what a collector that works
    /// beside the program does in one pause is only a part of a cycle, whose beginning and end are not known.
    fn pause_end(&mut self, event: &Event, [cause, last_cause]: [NameId; 2], known: Known<'_>, chunk: &mut Chunk) {
        let Some((pause, depth)) = self.pauses.end(event.tid, |_| true) else { return };
        let operation = pause.operation.map(|name| known.names.text(name));
        let (kind, counting) = classify(operation.as_deref(), pause.full);
        self.gc_id += 1;
        let gc_id = self.gc_id & u64::from(i32::MAX.cast_unsigned());
        let head = until(event, pause.since_ns);
        if depth == 0 {
            chunk.add(Type::GcPhasePause, head, known, |fields| {
                fields.number(gc_id);
                fields.text(kind);
            });
        }
        // Of a collector that works beside the program, a pause whose operation was not seen can be any part of a
        // cycle.
        let is_part = operation.is_none() && !pause.full && matches!(&*self.collector, "ZGC" | "Shenandoah");
        if counting == Counting::Whole && !is_part {
            let name = collector_name(&self.collector, pause.full);
            let cause = cause_text(known.names, [pause.cause, cause], last_cause);
            chunk.add(Type::GarbageCollection, head, known, |fields| {
                fields.number(gc_id);
                fields.word(Type::GcName, name);
                fields.word(Type::GcCause, &cause);
                fields.number(head.lasted_ns);
                fields.number(head.lasted_ns);
            });
            let of = if pause.full { Type::OldGarbageCollection } else { Type::YoungGarbageCollection };
            chunk.add(of, head, known, |fields| fields.number(gc_id));
            self.heap_summaries(event, gc_id, pause.since_ns, known, chunk);
        }
    }

    fn heap_summaries(&mut self, event: &Event, gc_id: u64, since_ns: u64, known: Known<'_>, chunk: &mut Chunk) {
        let used = std::mem::take(&mut self.heap);
        for ((used, when), start_ns) in used.into_iter().zip(WHEN).zip([since_ns, event.time_ns]) {
            let Some(used) = used else { continue };
            chunk.add(Type::GcHeapSummary, Head { start_ns, ..at(event) }, known, |fields| {
                fields.number(gc_id);
                fields.word(Type::GcWhen, when);
                fields.number(used);
            });
        }
    }

    fn operation(
        &mut self,
        event: &Event,
        edge: Edge,
        (name, mode): (NameId, u64),
        known: Known<'_>,
        chunk: &mut Chunk,
    ) {
        if edge == Edge::Begin {
            let depth = self.pauses.depth(event.tid);
            let caller = self.asked.remove(&name).flatten();
            self.operations.begin(event.tid, Operation { since_ns: event.time_ns, name, caller, depth });
            if let Some(stop) = self.stopping.get_mut(event.tid) {
                stop.stood_ns.get_or_insert(event.time_ns);
            }
            return;
        }
        let begun = self.operations.end(event.tid, |operation| operation.name == name);
        // A pause that began inside the operation has lost its end.
        self.pauses.cut(event.tid, begun.map_or(0, |(operation, _)| operation.depth));
        let Some((begun, _)) = begun else { return };
        let safepoint_id = if self.stopped { self.safepoint_id } else { 0 };
        chunk.add(Type::ExecuteVmOperation, until(event, begun.since_ns), known, |fields| {
            fields.named_word(Type::VmOperation, name);
            // Of HotSpot's modes these two are at a safepoint, and these two hold up who asked.
            fields.flag(matches!(mode, 0 | 3));
            fields.flag(matches!(mode, 0 | 1));
            fields.thread(begun.caller);
            fields.number(safepoint_id);
        });
    }

    /// The beginning lasts until the first operation begins: by then all threads stand. Where none was seen it has no
    /// duration.
    fn safepoint(&mut self, event: &Event, edge: Edge, known: Known<'_>, chunk: &mut Chunk) {
        if edge == Edge::Begin {
            self.safepoint_id += 1;
            self.stopped = true;
            self.stopping.begin(event.tid, Stop { since_ns: event.time_ns, stood_ns: None });
            return;
        }
        self.stopped = false;
        let Some(stop) = self.stopping.end(event.tid, |_| true) else { return };
        let id = self.safepoint_id;
        let lasted_ns = stop.stood_ns.map(|stood_ns| stood_ns.saturating_sub(stop.since_ns));
        let head = Head { start_ns: stop.since_ns, lasted_ns: lasted_ns.unwrap_or(0), ..at(event) };
        chunk.add(Type::SafepointBegin, head, known, |fields| {
            fields.number(id);
            fields.unknown();
            fields.unknown();
        });
        if lasted_ns.is_some() {
            chunk.add(Type::SafepointStateSynchronization, head, known, |fields| fields.number(id));
        }
        chunk.add(Type::SafepointEnd, at(event), known, |fields| fields.number(id));
    }
}

/// Why the JVM shuts down is not known.
fn shutdown(fields: &mut Fields<'_>) {
    fields.unknown();
}

/// Whether a pool is a part of the heap. The others hold code and the JVM's own description of classes, and have the
/// same names with every collector.
fn is_heap(pool: &str) -> bool {
    const OTHERS: [&str; 5] = ["CodeHeap", "CodeCache", "Code Cache", "Metaspace", "Compressed Class Space"];
    !OTHERS.iter().any(|other| pool.starts_with(other))
}

/// The cause that either edge gives, or else that of the collection before.
fn cause_text(names: &Names, edges: [NameId; 2], last_cause: NameId) -> String {
    let given = edges.into_iter().find(|id| names.get(*id).is_ok_and(|text| text != NO_CAUSE));
    names.text(given.unwrap_or(last_cause))
}

/// What the JDK calls the part of a collector that did it.
fn collector_name(collector: &str, full: bool) -> &str {
    match (collector, full) {
        ("G1", false) => "G1New",
        ("G1", true) => "G1Full",
        ("Parallel", false) => "ParallelScavenge",
        ("Parallel", true) => "ParallelOld",
        ("Serial", false) => "DefNew",
        ("Serial", true) => "SerialOld",
        (other, _) => other,
    }
}
