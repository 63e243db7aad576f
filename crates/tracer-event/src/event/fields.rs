//! The values of an event as named fields, for those who show events and do not interpret them.

use crate::event::{ClassInit, Edge, Holder, MethodName, MonitorAction, NameId, Payload, SubjectId};

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// An address, written in hexadecimal.
    Address(u64),
    /// Yes or no.
    Flag(bool),
    /// A text.
    Name(NameId),
    /// A text that is always there.
    Text(&'static str),
    /// The name of a class, written as Java does.
    Class(NameId),
    /// A method or class by its number.
    Subject(SubjectId),
}

/// Name of an event and its fields, units in their names.
pub fn fields(payload: &Payload) -> (&'static str, Vec<(&'static str, Value)>) {
    use Value::{Address, Class, Flag, Name, Number};
    match *payload {
        Payload::GcBegin { full, step: _, cause, last_cause } => {
            ("gc_begin", vec![("full", Flag(full)), ("cause", Name(cause)), ("last_cause", Name(last_cause))])
        }
        Payload::GcEnd { cause, last_cause } => {
            ("gc_end", vec![("cause", Name(cause)), ("last_cause", Name(last_cause))])
        }
        Payload::MemPool { edge, manager, pool, init_bytes, used_bytes, committed_bytes, max_bytes } => (
            either(edge, "mem_pool_gc_begin", "mem_pool_gc_end"),
            vec![
                ("manager", Name(manager)),
                ("pool", Name(pool)),
                ("init_bytes", Number(init_bytes)),
                ("used_bytes", Number(used_bytes)),
                ("committed_bytes", Number(committed_bytes)),
                ("max_bytes", Number(max_bytes)),
            ],
        ),
        Payload::VmOperationRequest { name, mode } => ("vm_operation_request", operation(name, mode)),
        Payload::VmOperation { edge, name, mode } => {
            (either(edge, "vm_operation_begin", "vm_operation_end"), operation(name, mode))
        }
        Payload::Safepoint { edge } => (either(edge, "safepoint_begin", "safepoint_end"), vec![]),
        Payload::Monitor { action, monitor, class } => (monitor_action(action), monitor_fields(action, monitor, class)),
        Payload::MonitorBlocked { monitor, class, holder } => {
            ("monitor_blocked", monitor_fields(MonitorAction::ContendedEnter { holder }, monitor, class))
        }
        Payload::MonitorLook { blocked, threads } => {
            ("monitor_look", vec![("blocked", Number(blocked)), ("threads", Number(threads))])
        }
        Payload::ParkBegin { parker, absolute, time } => (
            "thread_park_begin",
            vec![("parker", Address(parker)), ("absolute", Flag(absolute)), ("time", Number(time))],
        ),
        Payload::ParkEnd { parker } => ("thread_park_end", vec![("parker", Address(parker))]),
        Payload::Unpark { parker } => ("thread_unpark", vec![("parker", Address(parker))]),
        Payload::Thread { edge, name, java_tid, os_tid, daemon } => (
            either(edge, "thread_start", "thread_stop"),
            vec![
                ("name", Name(name)),
                ("java_tid", Number(java_tid)),
                ("os_tid", Number(os_tid)),
                ("daemon", Flag(daemon)),
            ],
        ),
        Payload::Sleep { edge: Edge::Begin, duration_ns, .. } => {
            ("thread_sleep_begin", vec![("duration_ns", Number(duration_ns))])
        }
        Payload::Sleep { edge: Edge::End, interrupted, .. } => {
            ("thread_sleep_end", vec![("interrupted", Flag(interrupted))])
        }
        Payload::ThreadStarting { os_tid } => ("thread_starting", vec![("os_tid", Number(os_tid))]),
        Payload::Yield => ("thread_yield", vec![]),
        Payload::ClassLoaded { class, loader, shared } => {
            ("class_loaded", vec![("class", Class(class)), ("loader", Address(loader)), ("shared", Flag(shared))])
        }
        Payload::ClassUnloaded { class, loader } => {
            ("class_unloaded", vec![("class", Class(class)), ("loader", Address(loader))])
        }
        Payload::ClassInitialization { step, class, loader } => {
            (class_init(step), vec![("class", Class(class)), ("loader", Address(loader))])
        }
        Payload::Compile { edge, compiler, method: name, success } => {
            let mut fields = vec![("compiler", Name(compiler))];
            fields.extend(method(name));
            if edge == Edge::End {
                fields.push(("success", Flag(success)));
            }
            (either(edge, "method_compile_begin", "method_compile_end"), fields)
        }
        Payload::CodeLoaded { method: name, start, bytes } => {
            let mut fields = method(name).to_vec();
            fields.extend([("start", Address(start)), ("bytes", Number(bytes))]);
            ("compiled_method_load", fields)
        }
        Payload::CodeUnloaded { method: name } => ("compiled_method_unload", method(name).to_vec()),
        Payload::AllocInNewTlab { class, tlab_bytes, object_bytes } => (
            "alloc_in_new_tlab",
            vec![("class", Class(class)), ("tlab_bytes", Number(tlab_bytes)), ("object_bytes", Number(object_bytes))],
        ),
        Payload::AllocOutsideTlab { class, object_bytes } => {
            ("alloc_outside_tlab", vec![("class", Class(class)), ("object_bytes", Number(object_bytes))])
        }
        Payload::VmShutdown => ("vm_shutdown", vec![]),
        Payload::CpuSample { period_ns } => ("cpu_sample", vec![("period_ns", Number(period_ns))]),
        Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall } => {
            let mut fields = vec![
                ("blocked_ns", Number(blocked_ns)),
                ("run_queue_ns", Number(run_queue_ns)),
                ("task_state", Number(task_state)),
            ];
            // Outside of a system call there is no number.
            if syscall != u64::MAX {
                fields.push(("syscall", Number(syscall)));
            }
            ("off_cpu", fields)
        }
        _ => on_demand(payload),
    }
}

/// The same of exceptions, methods and objects.
fn on_demand(payload: &Payload) -> (&'static str, Vec<(&'static str, Value)>) {
    use Value::{Address, Flag, Number, Subject};
    match *payload {
        Payload::ExceptionCreated { class } => ("exception_created", vec![("class", Value::Class(class))]),
        Payload::OutOfMemory => ("out_of_memory", vec![]),
        Payload::Method { edge, method, sp, wanted: _ } => {
            (either(edge, "method_entry", "method_return"), vec![("method", Subject(method)), ("sp", Address(sp))])
        }
        Payload::FrameUnwound { sp } => ("frame_unwound", vec![("sp", Address(sp))]),
        Payload::MethodTimed { method, total_ns, inner_ns, exceptional, uncounted: _, wanted: _ } => (
            "method_timed",
            vec![
                ("method", Subject(method)),
                ("total_ns", Number(total_ns)),
                ("inner_ns", Number(inner_ns)),
                ("exceptional", Flag(exceptional)),
            ],
        ),
        Payload::JniCall { function, caller, total_ns, inner_ns, depth, wanted: _ } => {
            let mut fields = vec![("function", Value::Text(function.name())), ("caller", Value::Name(caller))];
            if let Some(total_ns) = total_ns {
                fields.extend([("total_ns", Number(total_ns)), ("inner_ns", Number(inner_ns))]);
            }
            fields.push(("depth", Number(depth)));
            ("jni_call", fields)
        }
        Payload::JniSection { function, caller, lasted_ns, wanted: _ } => (
            "jni_section",
            vec![
                ("function", Value::Text(function.name())),
                ("caller", Value::Name(caller)),
                ("lasted_ns", Number(lasted_ns)),
            ],
        ),
        Payload::IllegalTransition { place, state, object, class, history } => (
            "illegal_transition",
            vec![
                ("place", Number(place.into())),
                ("state", Number(state.into())),
                ("object", Number(object.into())),
                ("class", Number(class.into())),
                ("history", Number(history)),
            ],
        ),
        Payload::Marks { buffer, is_owner: _, first, count, kept_back } => (
            "marks",
            vec![
                ("buffer", Number(buffer.into())),
                ("first", Number(first)),
                ("words", Number(count.into())),
                ("kept_back", Number(kept_back.into())),
            ],
        ),
        Payload::ObjectAlloc { class, bytes, length, wanted: _ } => {
            let mut fields = vec![("class", Subject(class)), ("bytes", Number(bytes))];
            fields.extend(length.map(|length| ("length", Number(length))));
            ("object_alloc", fields)
        }
        _ => ("", vec![]),
    }
}

const fn either(edge: Edge, begin: &'static str, end: &'static str) -> &'static str {
    match edge {
        Edge::Begin => begin,
        Edge::End => end,
    }
}

fn operation(name: NameId, mode: u64) -> Vec<(&'static str, Value)> {
    vec![("operation", Value::Name(name)), ("mode", Value::Number(mode))]
}

fn monitor_fields(action: MonitorAction, monitor: u64, class: NameId) -> Vec<(&'static str, Value)> {
    let mut fields = vec![("monitor", Value::Address(monitor)), ("class", Value::Class(class))];
    match action {
        MonitorAction::Wait { timeout_ms } => fields.push(("timeout_ms", Value::Number(timeout_ms))),
        MonitorAction::ContendedEnter { holder: Holder::Thread(tid) } => {
            fields.push(("holder", Value::Number(tid.0.into())));
        }
        _ => {}
    }
    fields
}

const fn method(name: MethodName) -> [(&'static str, Value); 3] {
    let MethodName { class, method, signature } = name;
    [("class", Value::Class(class)), ("method", Value::Name(method)), ("signature", Value::Name(signature))]
}

const fn monitor_action(action: MonitorAction) -> &'static str {
    match action {
        MonitorAction::ContendedEnter { .. } => "monitor_contended_enter",
        MonitorAction::ContendedEntered => "monitor_contended_entered",
        MonitorAction::ContendedExit => "monitor_contended_exit",
        MonitorAction::Notify => "monitor_notify",
        MonitorAction::NotifyAll => "monitor_notify_all",
        MonitorAction::Wait { .. } => "monitor_wait",
        MonitorAction::Waited => "monitor_waited",
    }
}

const fn class_init(step: ClassInit) -> &'static str {
    match step {
        ClassInit::Required => "class_initialization_required",
        ClassInit::Recursive => "class_initialization_recursive",
        ClassInit::Erroneous => "class_initialization_erroneous",
        ClassInit::Concurrent => "class_initialization_concurrent",
        ClassInit::SuperFailed => "class_initialization_super_failed",
        ClassInit::Clinit => "class_initialization_clinit",
        ClassInit::Error => "class_initialization_error",
        ClassInit::End => "class_initialization_end",
    }
}
