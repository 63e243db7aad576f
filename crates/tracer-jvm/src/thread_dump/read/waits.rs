//! What a thread waits for: a monitor, to be notified, a lock with its owner, or the kernel.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
};

use super::ThreadReader;
use crate::{
    item::look::Waits,
    jvm::{
        descriptor::Leads,
        java_threads::{JavaThread, Owner, ThreadObject, ThreadObjects},
        os_thread::SystemCall,
        peek::Peek as _,
    },
};

impl ThreadReader {
    /// What a thread waits for, as the JVM or the kernel says.
    pub(super) fn waits(
        &self,
        thread: &JavaThread,
        object: Option<&ThreadObject>,
        tid: u32,
        known: &Known,
    ) -> Option<Waits> {
        if thread.pending_monitor != 0 {
            return Some(self.monitor(thread.pending_monitor, known));
        }
        let waited = self.threads.waited_for(thread.address);
        if waited != 0 {
            return Some(Waits::Notify { class: self.class_of(waited), address: waited, joined: None });
        }
        if let Some(blocker) = object.and_then(|object| object.blocker.as_ref()) {
            let object = blocker.owner.filter(|owner| *owner != 0);
            let owner = object.and_then(|object| known.by_object(self.objects.as_ref()).get(&object).copied());
            let ended =
                object.filter(|_| owner.is_none()).and_then(|object| known.ended(self.objects.as_ref(), object));
            return Some(Waits::Unpark { class: blocker.class.clone(), address: blocker.address, owner, ended });
        }
        let call = SystemCall::of(self.pid, tid).filter(|call| !call.is_futex())?;
        let path = call.path(&self.memory).map(Leads::named);
        let leads = path.or_else(|| self.descriptors.leads_to(self.descriptor(call)?));
        Some(Waits::SystemCall {
            call: call.name().map_or_else(|| format!("system call {}", call.number), str::to_owned),
            held_back: leads.as_ref().is_some_and(|leads| leads.held_back),
            on: leads.map(|leads| self.on(leads.name)),
        })
    }

    fn monitor(&self, monitor: u64, known: &Known) -> Waits {
        let owner = self.threads.owner_of(monitor).ok().map(|owner| self.threads.owner(owner, monitor));
        let owner = match owner {
            Some(Owner::Thread(thread)) => known.tids.get(&thread.os_tid).copied(),
            _ => None,
        };
        Waits::Monitor { class: self.class_of(monitor), address: monitor, owner }
    }

    fn class_of(&self, monitor: u64) -> Option<String> {
        let name = self.threads.class_of(monitor)?;
        Some(String::from_utf8_lossy(&name).replace('/', "."))
    }

    /// The descriptor that a call is about.
    fn descriptor(&self, call: SystemCall) -> Option<u32> {
        match call.polled() {
            Some(list) => self.memory.u32(list).ok(),
            None => call.has_descriptor().then(|| u32::try_from(call.arguments[0]).ok()).flatten(),
        }
    }
}

/// The threads of the JVM's list by what others know of them.
pub(super) struct Known {
    /// Kernel ids as jtrace sees them, by those in the JVM's namespace.
    pub(super) tids: HashMap<u32, u32>,
    pub(super) listed: Vec<JavaThread>,
    /// Kernel ids by thread object, once somebody asks who owns what a thread is parked for.
    by_object: OnceCell<HashMap<u64, u32>>,
    /// Names of threads that own a lock and have ended, by thread object; of others that it is not so.
    ended: RefCell<HashMap<u64, Option<String>>>,
}

impl Known {
    /// The threads of a list, with the kernel's ids as jtrace sees them by those in the JVM's namespace.
    pub(super) fn new(tids: HashMap<u32, u32>, listed: Vec<JavaThread>) -> Self {
        Self { tids, listed, by_object: OnceCell::new(), ended: RefCell::default() }
    }

    /// Name of the thread of this object, where that has ended. Many can wait for one, which is read once.
    fn ended(&self, objects: Option<&ThreadObjects>, object: u64) -> Option<String> {
        let read = || objects.and_then(|objects| objects.ended(object));
        self.ended.borrow_mut().entry(object).or_insert_with(read).clone()
    }

    /// Kernel ids of threads, and of those that carry virtual threads, by the thread objects of both.
    pub(super) fn by_object(&self, objects: Option<&ThreadObjects>) -> &HashMap<u64, u32> {
        let both = |thread: &JavaThread| {
            let own = objects.and_then(|objects| objects.address_of(thread));
            [own, objects.and_then(|objects| Some(objects.mounted_on(thread)?.address))]
        };
        let ids = |thread: &JavaThread| Some((both(thread), *self.tids.get(&thread.os_tid)?));
        let each =
            |(objects, tid): ([Option<u64>; 2], u32)| objects.into_iter().flatten().map(move |object| (object, tid));
        self.by_object.get_or_init(|| self.listed.iter().filter_map(ids).flat_map(each).collect())
    }
}
