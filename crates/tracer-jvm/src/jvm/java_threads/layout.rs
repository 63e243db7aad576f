//! Offsets in threads, monitors and the list of threads, from the JVM's tables, for 8 and every release from 11 on.

use tracer_common::tally::ObjectLayout;

use super::super::{
    code_cache::{Error, fields::Fields},
    flags::Flags,
    objects,
    peek::Peek,
    vmstructs::VmStructs,
};

/// Bytes of a thread's list of locked objects: eight of them.
pub(super) const LOCK_STACK_BYTES: u64 = 64;

/// How the JVM lists its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// `ThreadsSMRSupport::_java_thread_list` leads to an array, since 12.
    Array { list: u64, length: u64, threads: u64 },
    /// `Threads::_thread_list`, and from each to the next.
    Linked { first: u64, next: u64 },
}

/// A thread's list of objects that it has locked without a monitor, since 21.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockStack {
    pub(super) top: u64,
    pub(super) base: u64,
}

/// How objects lead to their classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClassPointer {
    Wide {
        offset: u64,
    },
    /// In the lower 32 bits of a word, from a bit on.
    Narrow {
        offset: u64,
        low_bit: u32,
        base: u64,
        shift: u32,
    },
    Unknown,
}

/// Offsets that lead from the list of threads to who is blocked on what, and who holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) list: List,
    pub(super) thread_bytes: usize,
    /// `Thread::_osthread`.
    pub os_thread: u64,
    /// `OSThread::_thread_id`.
    pub thread_id: u64,
    pub(super) stack_base: u64,
    pub(super) stack_size: u64,
    pub(super) pending_monitor: u64,
    /// `_current_waiting_monitor`.
    pub(super) waiting_monitor: Option<u64>,
    /// `JavaThread::_monitor_owner_id`, since 24: monitors have ids as owners instead of addresses.
    pub(super) owner_id: Option<u64>,
    pub(super) lock_stack: Option<LockStack>,
    /// `JavaThread::_threadObj` and `JavaThread::_vthread`, since 21.
    pub(super) virtual_threads: Option<[u64; 2]>,
    /// `ObjectMonitor::_owner`.
    pub owner: u64,
    pub(super) object: u64,
    /// Whether `_object` is a handle, since 16, or the object's address itself.
    pub(super) object_is_handle: bool,
    pub(super) class: ClassPointer,
    pub(super) class_name: u64,
    pub(super) symbol_length: u64,
    pub(super) symbol_body: u64,
}

impl Layout {
    /// Whether monitors have ids as owners, which are never given twice, and not addresses.
    pub const fn owners_are_ids(&self) -> bool {
        self.owner_id.is_some()
    }

    /// Offsets from a monitor to its object and from there to what says its class, where two steps lead there: up to 15.
    pub const fn class_word(&self) -> Option<(u64, u64)> {
        match self.object_class() {
            Some(offset) if !self.object_is_handle && offset > 0 => Some((self.object, offset)),
            _ => None,
        }
    }

    /// Offset in an object of the word that says its class.
    pub const fn object_class(&self) -> Option<u64> {
        match self.class {
            ClassPointer::Wide { offset } | ClassPointer::Narrow { offset, .. } => Some(offset),
            ClassPointer::Unknown => None,
        }
    }

    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(memory: &dyn Peek, tables: &VmStructs, flags: Option<&Flags>) -> Result<Self, Error> {
        let fields = Fields(tables);
        let one = |owner, name| fields.offset(&[(owner, name)]);
        let thread = |name| fields.offset(&[("JavaThread", name), ("Thread", name)]);
        let list = match fields.address("ThreadsSMRSupport", "_java_thread_list") {
            Ok(list) => {
                List::Array { list, length: one("ThreadsList", "_length")?, threads: one("ThreadsList", "_threads")? }
            }
            Err(_) => {
                List::Linked { first: fields.address("Threads", "_thread_list")?, next: one("JavaThread", "_next")? }
            }
        };
        let lock_stack = match fields.optional(&[("JavaThread", "_lock_stack")])? {
            Some(at) => {
                Some(LockStack { top: at + one("LockStack", "_top")?, base: at + one("LockStack", "_base[0]")? })
            }
            None => None,
        };
        let virtual_threads = match fields.optional(&[("JavaThread", "_vthread")])? {
            Some(mounted) => Some([one("JavaThread", "_threadObj")?, mounted]),
            None => None,
        };
        let owner_id = fields.optional(&[("JavaThread", "_monitor_owner_id")])?;
        let (os_thread, pending_monitor) = (thread("_osthread")?, thread("_current_pending_monitor")?);
        let (stack_base, stack_size) = (thread("_stack_base")?, thread("_stack_size")?);
        let last = [os_thread, pending_monitor, stack_base, stack_size, owner_id.unwrap_or(0)].into_iter().max();
        Ok(Self {
            list,
            thread_bytes: usize::try_from(last.unwrap_or(0) + 8).unwrap_or(0),
            os_thread,
            thread_id: one("OSThread", "_thread_id")?,
            stack_base,
            stack_size,
            pending_monitor,
            waiting_monitor: fields
                .optional(&[("JavaThread", "_current_waiting_monitor"), ("Thread", "_current_waiting_monitor")])?,
            owner_id,
            lock_stack,
            virtual_threads,
            owner: one("ObjectMonitor", "_owner")?,
            object: one("ObjectMonitor", "_object")?,
            // The same release gave monitors a list of those in use and weak handles to their objects.
            object_is_handle: tables.field("ObjectMonitor", "_next_om").is_some(),
            class: class_pointer(memory, tables, flags),
            class_name: one("Klass", "_name")?,
            symbol_length: one("Symbol", "_length")?,
            symbol_body: fields.offset(&[("Symbol", "_body[0]"), ("Symbol", "_body")])?,
        })
    }
}

/// As objects lie, where that is known.
fn class_pointer(memory: &dyn Peek, tables: &VmStructs, flags: Option<&Flags>) -> ClassPointer {
    let Some(Ok(layout)) = flags.map(|flags| objects::layout(memory, tables, flags)) else {
        return ClassPointer::Unknown;
    };
    let ObjectLayout { klass_base: base, klass_shift: shift, klass_low_bit: low_bit, klass_bytes, .. } = layout;
    let offset = u64::from(layout.klass_offset);
    if klass_bytes == 4 { ClassPointer::Narrow { offset, low_bit, base, shift } } else { ClassPointer::Wide { offset } }
}
