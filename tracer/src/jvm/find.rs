//! Finds JVMs among the processes of the machine and describes them.

pub mod process;
