//! jtrace: looks into running HotSpot JVMs from the operating system.
//!
//! The modules stand in the order of the data: [`jvm`] finds a JVM and its probe sites, [`probe`] plans which sites a
//! lens needs, [`ebpf`] attaches programs to them, [`source`] delivers their records (live or recorded), [`mod@decode`] turns
//! records into [`event`]s, [`names`] resolves ids, [`session`] folds them through the [`analysis`] modules, [`finding`]
//! says what is wrong, [`report`] holds the result, [`view`] draws it. [`cli`] ties them together.
#![doc = "\n"]
#![doc = include_str!("../ARCHITECTURE.md")]

mod clock;
pub mod random;
pub mod text;

pub mod privilege;
pub mod standard_error;
pub mod terminal;

pub mod priority;

pub mod ending;

pub mod reserve;

pub mod group;
pub mod jni;
pub mod lens;

pub mod coverage;
pub mod event;

pub mod decode;
pub mod names;
pub mod stack;
pub mod subject;
pub mod tally;

pub mod predicate;

pub mod typestate;

pub mod mark;

pub mod item;

pub mod report;

pub mod jvm;

pub mod symbol;
pub mod unwind;

pub mod marker;

pub mod probe;

pub mod ebpf;
pub mod guard;
pub mod inside;
pub mod thread_dump;

pub mod source;

pub mod analysis;

pub mod finding;

pub mod session;

pub mod diff;
pub mod export;
pub mod view;

pub mod bench;
pub mod heap;
pub mod top;

pub mod cli;

#[cfg(test)]
mod documents;
#[cfg(test)]
mod fuzz;
