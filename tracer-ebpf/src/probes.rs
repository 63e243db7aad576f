//! The programs, one file per family of sites.

mod cpu;
mod sched;
mod site;
