//! What lies in the heap beside threads: collections and queues in fields of the program, and errors that say that it is full.

use std::collections::HashSet;

use super::ThreadReader;
use crate::{
    jvm::{
        find::Jvm,
        java_stack::Variables,
        java_threads::{JavaThread, Kept, OnStack, OwnQueue, ThreadObjects},
        memory::Memory,
        peek::Pages,
    },
    stack::{Frame, Kind},
    text::class_name::is_of_jdk,
};

/// Most threads whose variables are looked at.
const MAX_THREADS: usize = 64;
/// Addresses of a process end here, and none is in the first page.
const ADDRESSES: std::ops::Range<u64> = 0x1000..1 << 47;

/// Collectors that move objects while threads stand still, and mend the variables of these when they go on (17 and later).
/// <https://openjdk.org/jeps/376>
const MOVING: [&str; 2] = ["ZGC", "Shenandoah"];

/// Whether variables of a thread that stands still lead to objects.
pub(super) fn has_variables(jvm: &Jvm) -> bool {
    let collector = jvm.flags.as_ref().ok().and_then(|flags| flags.collector(&jvm.memory));
    collector.is_some_and(|collector| !MOVING.contains(&collector))
}

impl ThreadReader {
    /// Collections that the program keeps, as far as a look goes, with the threads that were read last.
    pub fn kept(&mut self) -> Vec<Kept> {
        let threads: Vec<JavaThread> = self.threads.listed().collect();
        let on_stack = self.on_stack(&threads);
        self.objects.as_mut().map(|objects| objects.kept(&threads, &on_stack)).unwrap_or_default()
    }

    /// What may be in variables of the program's methods that the interpreter has, of threads that stood still when they were read.
    fn on_stack(&mut self, threads: &[JavaThread]) -> Vec<OnStack> {
        if !self.has_variables {
            return Vec::new();
        }
        let is_one = |frame: &Frame| frame.kind == Kind::Interpreted && !is_of_jdk(&frame.name);
        let stood = self.stood.iter().filter(|(_, stood)| stood.told.frames.iter().any(|frame| is_one(&frame.frame)));
        let stood: HashSet<u64> = stood.map(|((address, _), _)| *address).collect();
        let Ok(code) = Memory::open(self.pid) else { return Vec::new() };
        let code = Pages::new(&code);
        let mut all = Vec::new();
        for thread in threads.iter().filter(|thread| stood.contains(&thread.address)).take(MAX_THREADS) {
            let variables = self.stacks.variables(&self.memory, &code, thread.address, thread.stack_base());
            // The outermost first: what `main` has holds all the rest, and a look goes only so far.
            for variables in variables.into_iter().rev() {
                let Variables { method, pointer, words } = variables;
                let frame = self.symbols.interpreted_at(method, pointer);
                let is_address = |word: &u64| word.is_multiple_of(8) && ADDRESSES.contains(word);
                let objects: Vec<u64> = words.into_iter().filter(is_address).collect();
                if is_one(&frame) && !objects.is_empty() {
                    all.push(OnStack { method: frame.name.to_string(), objects });
                }
            }
        }
        all
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
