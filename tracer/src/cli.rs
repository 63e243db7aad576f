//! The command line.

pub mod list;

pub mod doctor;
