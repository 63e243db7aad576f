//! Room for what the threads of one look say of themselves. A target decides how many threads it lists, how deep their stacks are, how
//! much was inlined, and how long each name is.

use super::{StackFrame, Thread};
use crate::{
    item::look::Waits,
    jvm::{
        java_stack::{End, JavaStack, Place},
        peek::Peek,
    },
    stack::Frame,
    symbol::java::JavaSymbols,
};

/// Most that names, stacks, and what is waited for take, of all threads of a look. Five thousand threads with forty frames take half.
const MAX_BYTES: usize = 64 << 20;
/// Most frames of a stack that are named: code that was inlined gives several for one.
const MAX_FRAMES: usize = 4096;
/// Why nothing more is said of a thread.
pub(super) const NO_ROOM: &str = "what other threads say of themselves takes all the room";

/// The frames of a stack with their names, and why there are no more.
pub(super) type Named = (Vec<StackFrame>, Option<&'static str>);

/// What is left of it.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_BYTES)
    }
}

impl Room {
    /// Takes as much, or all that is left: what comes later is not even looked at.
    fn takes(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    /// The frames of a stack with their names, and why there are no more. What is kept of them is to be taken with them.
    pub(super) fn named(&self, symbols: &mut JavaSymbols<impl Peek>, stack: &JavaStack) -> Named {
        let (mut frames, mut bytes): (Vec<StackFrame>, usize) = (Vec::new(), 0);
        for place in &stack.places {
            let (named, native) = match *place {
                Place::Interpreted { method, pointer } => {
                    (vec![symbols.interpreted_at(method, pointer)], symbols.is_native(method))
                }
                Place::Compiled { pc, compile_id, native } => (symbols.compiled(pc, true, compile_id), native),
            };
            for frame in &named {
                bytes = bytes.saturating_add(frame.bytes());
                if bytes > self.0 {
                    return (Vec::new(), Some(NO_ROOM));
                }
                if frames.len() >= MAX_FRAMES {
                    return (frames, End::TooDeep.reason());
                }
                frames.push(StackFrame { frame: Frame::clone(frame), native: false });
            }
            if let Some(last) = frames.last_mut() {
                last.native = native;
            }
        }
        (frames, None)
    }

    /// Takes frames that were named; where there was no room for them, nothing has any after them.
    pub(super) fn take(&mut self, named: &Named) {
        let (frames, cut) = named;
        self.takes(if *cut == Some(NO_ROOM) { usize::MAX } else { of_frames(frames) });
    }

    /// The thread, where there is room for it; else what the kernel says of it.
    pub(super) fn fit(&mut self, thread: Thread, kernel_name: impl FnOnce() -> Option<String>) -> Thread {
        let needed = if thread.incomplete == Some(NO_ROOM) { usize::MAX } else { of_thread(&thread) };
        if self.takes(needed) {
            return thread;
        }
        let name = kernel_name().unwrap_or_default();
        let (frames, incomplete) = (Vec::new(), Some(NO_ROOM));
        Thread { name, waits: None, carries: None, queue: None, frames, incomplete, ..thread }
    }
}

fn of_frames(frames: &[StackFrame]) -> usize {
    frames.iter().map(|frame| frame.frame.bytes()).fold(0, usize::saturating_add)
}

fn of_thread(thread: &Thread) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let waits = match &thread.waits {
        Some(Waits::Monitor { class, .. } | Waits::Notify { class, .. }) => text(class),
        Some(Waits::Unpark { class, ended, .. }) => class.len() + text(ended),
        Some(Waits::SystemCall { call, on, .. }) => call.len() + text(on),
        None => 0,
    };
    let carries = thread.carries.as_ref().map_or(0, |carried| carried.name.len());
    let queue = thread.queue.as_ref().map_or(0, |queue| queue.field.len());
    let texts = thread.name.len() + waits + carries + queue;
    of_frames(&thread.frames).saturating_add(size_of::<Thread>() + texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::{java_threads::OwnQueue, world::World};

    /// A stack of one method, so many times.
    fn deep(frames: usize, name: &str) -> (JavaSymbols<crate::jvm::peek::copy::Copy>, JavaStack) {
        let mut world = World::new(21);
        let mut class = world.class("com/shop/Cart", None);
        let method = world.method(&mut class, name, 40, &[]);
        let symbols = JavaSymbols::open(world.copy.clone(), &world.tables).unwrap();
        (symbols, JavaStack { places: vec![Place::Interpreted { method, pointer: 0 }; frames], end: End::Root })
    }

    fn thread(name: &str, (frames, incomplete): Named) -> Thread {
        Thread { name: name.to_owned(), frames, incomplete, ..Thread::default() }
    }

    #[test]
    fn stacks_of_long_names_take_their_room_and_no_more() {
        let (mut symbols, stack) = deep(1024, &"m".repeat(4000));
        let (mut room, mut kept, mut cut) = (Room::default(), 0, 0);
        for _ in 0..100 {
            let named = room.named(&mut symbols, &stack);
            let told = room.fit(thread("deep", named), || Some("comm".to_owned()));
            kept += of_thread(&told);
            cut += u32::from(told.incomplete == Some(NO_ROOM) && told.frames.is_empty() && told.name == "comm");
        }
        assert!(kept < MAX_BYTES + 100 * 1024 && kept > MAX_BYTES / 2, "{kept}");
        assert!((50..99).contains(&cut), "{cut}");
        // Groups of virtual threads have theirs in the same way.
        let (mut room, mut kept) = (Room::default(), 0);
        for _ in 0..100 {
            let named = room.named(&mut symbols, &stack);
            room.take(&named);
            kept += of_frames(&named.0);
        }
        assert!(kept <= MAX_BYTES && kept > MAX_BYTES / 2, "{kept}");
    }

    #[test]
    fn a_stack_of_more_frames_than_any_says_so_and_leaves_room_for_others() {
        let (mut symbols, stack) = deep(MAX_FRAMES + 1, "add");
        let mut room = Room::default();
        let named = room.named(&mut symbols, &stack);
        assert_eq!((named.0.len(), named.1), (MAX_FRAMES, End::TooDeep.reason()));
        assert_eq!(room.fit(thread("deep", named), || None).name, "deep");
    }

    #[test]
    fn names_and_what_is_waited_for_take_room_as_well() {
        let mut room = Room::default();
        let long = || "n".repeat(4096);
        let waits = Some(Waits::SystemCall { call: "read".to_owned(), on: Some(long()), held_back: false });
        let one = || Thread { name: long(), waits: waits.clone(), ..Thread::default() };
        let fits = (0..32_768).filter(|_| room.fit(one(), || None).incomplete.is_none()).count();
        assert!((4096..9000).contains(&fits), "{fits}");
    }

    #[test]
    fn names_of_fields_take_room_as_well() {
        let mut room = Room::default();
        let queue = Some(OwnQueue { address: 1, field: "q".repeat(65_536), queued: 1 });
        let one = || Thread { queue: queue.clone(), ..Thread::default() };
        let kept = (0..4096).filter(|_| room.fit(one(), || None).queue.is_some()).count();
        assert!((900..1024).contains(&kept), "{kept}");
    }
}
