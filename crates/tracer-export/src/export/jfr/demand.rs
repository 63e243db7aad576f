//! What is seen on demand, where it is sent one by one (`--each`): calls of methods and of JNI, and objects.

use super::{
    at,
    chunk::{Chunk, Known},
    schema::Type,
    until,
};
use crate::{
    event::{Edge, Event, Payload},
    subject::Subjects,
};

pub(super) fn event(event: &Event, subjects: &Subjects, known: Known<'_>, chunk: &mut Chunk) {
    match event.payload {
        Payload::Method { edge, method, wanted: true, .. } => {
            let of = match edge {
                Edge::Begin => Type::MethodEntry,
                Edge::End => Type::MethodReturn,
            };
            chunk.add(of, at(event), known, |fields| fields.method_subject(subjects.get(method)));
        }
        Payload::MethodTimed { method, total_ns, inner_ns, exceptional, wanted: true, .. } => {
            let head = until(event, event.time_ns.saturating_sub(total_ns));
            chunk.add(Type::MethodCall, head, known, |fields| {
                fields.method_subject(subjects.get(method));
                fields.number(total_ns.saturating_sub(inner_ns));
                fields.flag(exceptional);
            });
        }
        Payload::JniCall { function, caller, total_ns, inner_ns, wanted: true, .. } => {
            let total_ns = total_ns.unwrap_or(0);
            let head = until(event, event.time_ns.saturating_sub(total_ns));
            chunk.add(Type::JniCall, head, known, |fields| {
                fields.word(Type::Symbol, function.name());
                fields.named_word(Type::Symbol, caller);
                fields.number(total_ns.saturating_sub(inner_ns));
            });
        }
        Payload::JniSection { function, caller, lasted_ns, wanted: true } => {
            let head = until(event, event.time_ns.saturating_sub(lasted_ns));
            chunk.add(Type::JniCriticalSection, head, known, |fields| {
                fields.word(Type::Symbol, function.name());
                fields.named_word(Type::Symbol, caller);
            });
        }
        Payload::ObjectAlloc { class, bytes, length, wanted: true } => {
            chunk.add(Type::ObjectAllocation, at(event), known, |fields| {
                fields.class_of(subjects.get(class));
                fields.number(bytes);
                // -1 where it is no array.
                fields.number(length.unwrap_or(u64::MAX));
            });
        }
        _ => {}
    }
}
