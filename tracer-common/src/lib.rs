//! What crosses the boundary between kernel and user space, and nothing else.
//!
//! `no_std`, without dependencies, compiled for both sides. The reading order is the order of the data:
//! [`site`] says where the arguments of a probe site are found, [`record`] what a program puts into the ring buffer,
//! [`stack`] how the frames of a thread follow it, [`unwind`] what a program must know to find them, [`clock`] what is
//! remembered of threads that wait, [`filter`] which events are wanted, [`tally`] what the kernel counts itself, [`jni`] the
//! same of JNI functions, [`marks`] what woven code tells, [`stats`] how every outcome is counted, [`names`] what maps and
//! programs are called.
#![no_std]

pub mod clock;
pub mod filter;
pub mod jni;
pub mod marks;
pub mod names;
pub mod record;
pub mod site;
pub mod stack;
pub mod stats;
pub mod tally;
pub mod unwind;
