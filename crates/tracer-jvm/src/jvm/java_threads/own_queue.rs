//! The queue of a thread that works without an executor: what a program writes itself has a thread, a loop, and a queue from which that takes.
//!
//! The queue is found in fields: of the thread's own class, of its task, and of what a lambda or an inner class has caught. Fields of
//! classes (static ones) are not looked at.

use super::{executor::count, named_fields::NamedFields, reader::Reader};
use crate::{
    jvm::peek::Peek,
    text::class_name::{is_of_jdk, without_address},
};

/// Most objects that are looked through for one thread.
const MAX_HOLDERS: usize = 8;

/// A queue at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnQueue {
    /// Address of the object, at that moment.
    pub address: u64,
    /// The field that has it: `com.shop.Mailer.letters`; the class of the queue where a lambda has it.
    pub field: String,
    /// What waits in it.
    pub queued: u64,
}

impl OwnQueue {
    /// The fullest of the queues that a thread, or its task, has in a field; none where there is no such field.
    pub(super) fn of<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, thread: u64) -> Option<Self> {
        let held = reader.platform(thread)?;
        let task = fields.reference(reader, held, if held == thread { "target" } else { "task" });
        let mut holders: Vec<(u64, bool)> = [Some(thread), task].into_iter().flatten().map(|of| (of, true)).collect();
        let mut fullest: Option<Self> = None;
        let mut at = 0;
        while let Some((holder, is_outer)) = holders.get(at).copied() {
            at += 1;
            let klass = reader.klass(holder)?;
            for (field, offset) in fields.references(reader, klass).iter() {
                let Some(value) = reader.reference(holder.wrapping_add(*offset)) else { continue };
                let Some((class, _)) = reader.klass(value).and_then(|klass| reader.class(klass)) else { continue };
                if let Some(queued) = count(fields, reader, value) {
                    if fullest.as_ref().is_none_or(|known| known.queued < queued) {
                        let field = if field.contains(LAMBDA) { class } else { field.clone() };
                        fullest = Some(Self { address: value, field, queued });
                    }
                } else if is_outer && !is_of_jdk(&class) && !class.ends_with("[]") && holders.len() < MAX_HOLDERS {
                    holders.push((value, false));
                }
            }
        }
        fullest
    }
}

/// Part of the name of a lambda's class.
const LAMBDA: &str = "$$Lambda";

/// How a field is called.
pub(super) fn label(class: &str, field: &str) -> String {
    format!("{}.{field}", without_address(class))
}
