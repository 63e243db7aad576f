//! Threads of a chunk. Ids of the kernel are used again, so each stretch of an id is a thread of its own.

use std::collections::HashMap;

use super::{ENTRY_BYTES, Type, shown};
use crate::{event::Tid, export::jfr::bytes::Bytes, names::Names};

/// A thread, as it was last known.
#[derive(Clone, Debug)]
struct Thread {
    tid: Tid,
    name: Option<String>,
    /// `Thread.threadId()`, where the thread has told it.
    java_tid: Option<u64>,
}

/// Threads by their numbers, which begin with 1.
#[derive(Clone, Debug, Default)]
pub(in crate::export::jfr) struct Threads {
    all: Vec<Thread>,
    ids: HashMap<Tid, u64>,
    text_bytes: usize,
}

impl Threads {
    pub(super) fn id(&mut self, tid: Tid, names: &Names) -> u64 {
        if let Some(id) = self.ids.get(&tid) {
            return *id;
        }
        let name = names.named_thread(tid).map(shown);
        self.text_bytes += name.as_ref().map_or(0, String::len);
        self.all.push(Thread { tid, name, java_tid: None });
        let id = self.all.len() as u64;
        self.ids.insert(tid, id);
        id
    }

    /// A thread that is in the chunk has this name now.
    pub(in crate::export::jfr) fn rename(&mut self, tid: Tid, name: &str) {
        if let Some(thread) = self.known(tid) {
            let name = shown(name);
            let bytes = name.len();
            thread.name = Some(name);
            self.text_bytes += bytes;
        }
    }

    /// A thread that is in the chunk has this number in Java.
    pub(in crate::export::jfr) fn set_java_tid(&mut self, tid: Tid, java_tid: u64) {
        if let Some(thread) = self.known(tid) {
            thread.java_tid = Some(java_tid);
        }
    }

    /// The thread is gone; who has its id next is another one.
    pub(in crate::export::jfr) fn forget(&mut self, tid: Tid) {
        self.ids.remove(&tid);
    }

    fn known(&mut self, tid: Tid) -> Option<&mut Thread> {
        let index = usize::try_from(self.ids.get(&tid)?.checked_sub(1)?).ok()?;
        self.all.get_mut(index)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.text_bytes + self.all.len() * (size_of::<Thread>() + 2 * ENTRY_BYTES)
    }

    pub(super) fn write(&self, out: &mut Bytes) {
        out.number(Type::Thread.id());
        out.number(self.all.len() as u64);
        for (Thread { tid, name, java_tid }, id) in self.all.iter().zip(1..) {
            // Readers show a text here in any case.
            let name = name.clone().unwrap_or_else(|| format!("tid {}", tid.0));
            let name = name.as_str();
            out.number(id);
            out.text(name);
            out.number(tid.0.into());
            if java_tid.is_some() {
                out.text(name);
            } else {
                out.no_text();
            }
            out.number(java_tid.unwrap_or(0));
        }
    }
}
