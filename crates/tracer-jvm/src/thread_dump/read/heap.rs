//! What lies in the heap beside threads: collections and queues in fields of the program, and errors that say that it is full.

use super::ThreadReader;
use crate::jvm::java_threads::{JavaThread, Kept, OwnQueue, ThreadObjects};

impl ThreadReader {
    /// Collections that the program keeps in fields, as far as a look goes, with the threads that were read last.
    pub fn kept(&mut self) -> Vec<Kept> {
        let threads: Vec<JavaThread> = self.threads.listed().collect();
        self.objects.as_mut().map(|objects| objects.kept(&threads)).unwrap_or_default()
    }

    /// Finds the queues in static fields, for who looks once.
    pub(super) fn find_static_queues(&mut self) {
        // Classes that were unloaded before are none of those that are found.
        self.unloads.may_have_happened(&self.memory);
        self.objects.iter_mut().for_each(ThreadObjects::find_static_queues);
    }

    /// Queues in static fields of the program, as far as these are known.
    pub(super) fn static_queues(&self) -> Vec<OwnQueue> {
        self.objects.as_ref().map(ThreadObjects::static_queues).unwrap_or_default()
    }

    /// Whether the JVM itself has thrown an `OutOfMemoryError` since it started; none where it does not say.
    pub fn out_of_memory(&self) -> Option<bool> {
        self.out_of_memory?.is_reported(&self.memory)
    }
}
