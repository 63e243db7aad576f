//! What the kernel side needs to walk through machine code of files: rules by address, and which file lies where.
//!
//! Code that the JVM makes at run time has no such rules; its frames are told by the JVM's own structures.

pub mod code;
pub mod rule;
pub mod table;

pub mod entry;

pub mod regions;
