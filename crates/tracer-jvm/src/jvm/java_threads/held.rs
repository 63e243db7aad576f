//! What a thread has in fields: of its own class, of its task, of what a lambda or an inner class has caught, and of such objects of the
//! program. Static fields are another matter.

use super::{named_fields::NamedFields, reader::Reader};
use crate::{jvm::peek::Peek, text::class_name::is_of_jdk};

/// Most objects that are looked through for one thread.
const MAX_HOLDERS: usize = 8;

/// An object that a field leads to.
pub(super) struct Held<'a> {
    pub(super) object: u64,
    pub(super) class: &'a str,
    /// The field, behind the class that declares it.
    pub(super) field: &'a str,
    /// Whether the thread, or its task, has that field itself.
    pub(super) is_own: bool,
}

/// What a thread runs. Where it has an object for what only threads of the platform have, that is in there, under another name.
pub(super) fn task<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, thread: u64) -> Option<u64> {
    let held = reader.platform(thread)?;
    fields.reference(reader, held, if held == thread { "target" } else { "task" })
}

/// Shows each of them. Where it is none that is looked for, and one of the program's, its own fields come as well.
pub(super) fn each<P: Peek>(
    fields: &NamedFields,
    reader: &Reader<'_, P>,
    thread: u64,
    is_it: &mut dyn FnMut(Held<'_>) -> bool,
) {
    if reader.platform(thread).is_none() {
        return;
    }
    let own = [Some(thread), task(fields, reader, thread)];
    let mut holders: Vec<(u64, bool)> = own.into_iter().flatten().map(|of| (of, true)).collect();
    let mut at = 0;
    while let Some((holder, is_outer)) = holders.get(at).copied() {
        at += 1;
        let Some(klass) = reader.klass(holder) else { return };
        for (field, offset) in fields.references(reader, klass).iter() {
            let Some(object) = reader.reference(holder.wrapping_add(*offset)) else { continue };
            let Some((class, _)) = reader.klass(object).and_then(|klass| reader.class(klass)) else { continue };
            let is_it = is_it(Held { object, class: &class, field, is_own: is_outer });
            if !is_it && is_outer && !is_of_jdk(&class) && !class.ends_with("[]") && holders.len() < MAX_HOLDERS {
                holders.push((object, false));
            }
        }
    }
}
