//! jtrace: looks into running HotSpot JVMs from the operating system.
//!
//! The modules stand in the order of the data: [`jvm`] finds a JVM and its probe sites, [`probe`] plans which sites a
//! lens needs, [`ebpf`] attaches programs to them, [`source`] delivers their records (live or recorded), [`mod@decode`] turns
//! records into [`event`]s, [`names`] resolves ids, [`session`] folds them through the [`analysis`] modules, [`finding`]
//! says what is wrong, [`report`] holds the result, [`view`] draws it. [`cli`] ties them together.
#![doc = "\n"]
#![doc = include_str!("../ARCHITECTURE.md")]

// What all of them read times from, what ends their waits, and what is left for the end.
mod clock;
pub mod ending;
pub mod reserve;
pub mod standard_error;

pub mod jvm;

pub mod inside;
pub mod jni;

pub mod probe;

pub mod ebpf;
pub mod priority;

pub mod symbol;
pub mod unwind;

pub mod guard;
pub mod predicate;
pub mod source;

pub mod decode;
pub mod event;
pub mod mark;
pub mod marker;
pub mod names;

pub mod coverage;
pub mod session;
pub mod stack;
pub mod subject;
pub mod tally;

pub mod analysis;
pub mod finding;
pub mod heap;
pub mod thread_dump;
pub mod top;
pub mod typestate;

pub mod diff;
pub mod report;

pub mod view;

pub mod bench;

pub mod cli;

#[cfg(test)]
mod documents;
#[cfg(test)]
mod fuzz;
