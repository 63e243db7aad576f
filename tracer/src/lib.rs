//! jtrace: looks into running HotSpot JVMs from the operating system.
//!
//! The modules stand in the order of the data: a module uses only modules that stand before it, and of these the ones that
//! `modules.txt` names (`cargo xtask check`).
//!
//! [`jvm`] finds a JVM and reads it. [`probe`] plans which sites a lens needs, [`ebpf`] attaches programs to them, and [`source`]
//! delivers their records (live or recorded) as [`item`]s. [`session`] has [`mod@decode`] make [`event`]s of the records and folds
//! them through the [`analysis`] modules. [`finding`] says what is wrong, [`report`] holds the result, and [`view`] draws it.
//! [`cli`] ties them together.
#![doc = "\n"]
#![doc = include_str!("../ARCHITECTURE.md")]

// Ground: words, numbers and times.
mod clock;
pub mod group;
pub mod jni;
pub mod lens;
pub mod random;
pub mod text;

// jtrace as a process: its rights, its terminal, its end.
pub mod privilege;
pub mod standard_error;
pub mod terminal;

pub mod priority;

pub mod ending;

pub mod reserve;

// Events, and what their ids stand for.
pub mod coverage;
pub mod event;

pub mod decode;
pub mod names;
pub mod stack;
pub mod subject;
pub mod tally;

// What is asked for, the items of a session, and its report.
pub mod predicate;

pub mod typestate;

pub mod mark;

pub mod item;

pub mod report;

pub mod marker;

pub mod client;

// Reading and changing a JVM from outside.
pub mod jvm;

pub mod symbol;
pub mod unwind;

pub mod thread_dump;

// A JVM while it is watched: sites, programs, the governor, the library in it, its heap, a live session.
pub mod probe;

pub mod ebpf;
pub mod guard;
pub mod inside;

pub mod heap;

pub mod snapshot;

pub mod source;

pub mod live;

// From events to a report.
pub mod analysis;

pub mod finding;

pub mod session;

// Reports and events for people and for programs.
pub mod diff;

pub mod view;

pub mod export;

// What a user can do.
pub mod bench;
pub mod top;

pub mod cli;

#[cfg(test)]
mod documents;
#[cfg(test)]
mod fuzz;
