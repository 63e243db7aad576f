//! The target JVM: finding it, its probe sites, its own tables, its flags.

pub mod elf;
pub mod usdt;

pub mod memory;
pub mod peek;
pub mod perfdata;
pub mod vmstructs;

pub mod code_cache;
pub mod metadata;
pub mod nmethod;
pub mod objects;

pub mod descriptor;
pub mod java_stack;
pub mod java_threads;
pub mod jni_env;
pub mod os_process;
pub mod os_thread;
pub mod out_of_memory;

pub mod find;
pub mod forked;
pub mod since_start;
pub mod unloads;

pub mod flags;
pub mod journal;

pub mod target_files;

pub mod attach_protocol;

pub mod arming;

pub mod breakpoints;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
pub mod world;
