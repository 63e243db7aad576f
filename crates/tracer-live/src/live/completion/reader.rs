//! Reads what pointers lead to in a live target: names of classes, methods and operations.
//!
//! A pointer can be stale by then, and what it leads to something else. What does not fit together has no name.

use std::collections::BTreeMap;

use tracer_common::record::NAME_ABSENT;

use crate::jvm::{
    code_cache::CodeCache,
    find::Jvm,
    java_threads::{self, JavaThreads},
    memory::{self, Memory},
    metadata::{MetadataLayout, Method},
    unloads::Unloads,
};

/// The level at which the second compiler compiles; below is the first one's.
const SECOND_COMPILER: u64 = 4;

/// What is known about a JVM's structures.
pub struct Reader {
    memory: Memory,
    threads: Option<JavaThreads<Memory>>,
    metadata: Option<MetadataLayout>,
    code: Option<CodeCache>,
    /// By the table of virtual functions.
    operations: BTreeMap<u64, String>,
    error_state: Option<u64>,
    unloads: Unloads,
}

impl Reader {
    /// Prepares looking into a JVM; `operations` are those of its libjvm.so, by addresses in that file.
    ///
    /// # Errors
    /// Its memory cannot be read.
    pub fn open(
        jvm: &Jvm,
        threads: Option<java_threads::Layout>,
        operations: &BTreeMap<u64, String>,
    ) -> Result<Self, memory::Error> {
        let memory = Memory::open(jvm.target.pid)?;
        let threads = match threads {
            Some(layout) => Some(JavaThreads::new(Memory::open(jvm.target.pid)?, layout)),
            None => None,
        };
        let metadata = MetadataLayout::from_tables(&memory, &jvm.tables)
            .inspect_err(|error| log::debug!("methods have no names: {error}"))
            .ok();
        let code = CodeCache::read(&memory, &jvm.tables)
            .inspect_err(|error| log::debug!("installed code has no size: {error}"))
            .ok();
        let in_target = |(address, name): (&u64, &String)| (jvm.library.in_target(*address), name.clone());
        let error_state = jvm.tables.int_constant("InstanceKlass::initialization_error");
        Ok(Self {
            memory,
            threads,
            metadata,
            code,
            operations: operations.iter().map(in_target).collect(),
            error_state: error_state.and_then(|state| u64::try_from(state).ok()),
            unloads: Unloads::new(jvm),
        })
    }

    /// Whether classes may have been unloaded since this was asked before: another one may be where one was.
    pub(super) fn may_have_lost_classes(&mut self) -> bool {
        self.unloads.may_have_happened(&self.memory)
    }

    /// The class of the object of a monitor; `class` is what the object said of it then, where that was read.
    pub(super) fn class_of_monitor(&self, monitor: u64, class: u64) -> Option<Vec<u8>> {
        let threads = self.threads.as_ref()?;
        if class == NAME_ABSENT { threads.class_of(monitor) } else { threads.class_named(class) }
    }

    /// The class of an object; `class` is what its header said of it then, where that was read.
    pub(super) fn class_of_object(&self, class: u64) -> Option<Vec<u8>> {
        self.threads.as_ref().filter(|_| class != NAME_ABSENT)?.class_named(class)
    }

    /// The name of the VM operation whose objects begin with this pointer.
    pub(super) fn operation(&self, functions: u64) -> Option<&[u8]> {
        self.operations.get(&functions).map(String::as_bytes)
    }

    /// Whether a state of a class says that its initialisation has failed.
    pub(super) fn is_error(&self, state: u64) -> bool {
        self.error_state == Some(state)
    }

    /// The name of the compiler of a level, which is in the lower half.
    pub(super) const fn compiler(level: u64) -> &'static [u8] {
        if level & 0xffff_ffff < SECOND_COMPILER { b"C1" } else { b"C2" }
    }

    /// Class with slashes, name and descriptor of a method.
    pub(super) fn method(&self, method: u64) -> Option<[Vec<u8>; 3]> {
        let [class, name, signature] = Method::read(&self.memory, self.metadata.as_ref()?, method).ok()?.names();
        Some([class.replace('.', "/"), name, signature].map(String::into_bytes))
    }

    /// First address and size of the code of an nmethod.
    pub(super) fn code(&self, nmethod: u64) -> Option<[u64; 2]> {
        let blob = self.code.as_ref()?.blob_at(&self.memory, nmethod).ok()?;
        Some([blob.code_begin, blob.code_end.saturating_sub(blob.code_begin)])
    }
}
