//! What types of events have in common: categories, fields, and how they are written down.

use super::{EventType, Field, Part, Type, Unit};

pub(super) const APPLICATION: &[&str] = &["Java Application"];
pub(super) const COLLECTOR: &[&str] = &["Java Virtual Machine", "GC", "Collector"];
pub(super) const PHASES: &[&str] = &["Java Virtual Machine", "GC", "Phases"];
pub(super) const RUNTIME: &[&str] = &["Java Virtual Machine", "Runtime"];
pub(super) const SAFEPOINT: &[&str] = &["Java Virtual Machine", "Runtime", "Safepoint"];
pub(super) const CLASSES: &[&str] = &["Java Virtual Machine", "Class Loading"];
pub(super) const RECORDER: &[&str] = &["Flight Recorder"];
pub(super) const JTRACE: &[&str] = &["jtrace"];
pub(super) const REPORT: &[&str] = &["jtrace", "Report"];

pub(super) const MONITOR_CLASS: Field = Field::new("monitorClass", "Monitor Class", Type::Class);
pub(super) const MONITOR: Field = Field::number("address", "Monitor Address", Unit::Address);
pub(super) const GC_ID: Field = Field::new("gcId", "GC Identifier", Type::Int);
pub(super) const SAFEPOINT_ID: Field = Field::new("safepointId", "Safepoint Identifier", Type::Long);
pub(super) const OPERATION: Field = Field::new("operation", "Operation", Type::VmOperation);
pub(super) const THROWN: [Field; 2] =
    [Field::new("message", "Message", Type::Text), Field::new("thrownClass", "Class", Type::Class)];
pub(super) const PHASE: [Field; 2] = [GC_ID, Field::new("name", "Name", Type::Text)];
pub(super) const METHOD: Field = Field::new("method", "Method", Type::Method);
pub(super) const FUNCTION: [Field; 2] =
    [Field::new("function", "JNI Function", Type::Symbol), Field::new("caller", "Caller", Type::Symbol)];

/// An event of a moment, without a thread.
pub(super) const fn event(
    of: Type,
    name: &'static str,
    label: &'static str,
    category: &'static [&'static str],
    fields: &'static [Field],
) -> EventType {
    EventType { of, name, label, category, lasts: false, thread: false, stack: None, fields }
}

impl EventType {
    pub(super) const fn lasting(self) -> Self {
        Self { lasts: true, ..self }
    }

    pub(super) const fn on_thread(self) -> Self {
        Self { thread: true, ..self }
    }

    /// With a thread and a stack.
    pub(super) const fn at(self, part: Part) -> Self {
        Self { thread: true, stack: Some(part), ..self }
    }
}
