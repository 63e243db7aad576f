//! The programs, one file per family of sites.

mod cpu;
mod jni;
mod judgement;
mod marks;
mod method;
mod object;
mod sched;
mod site;
