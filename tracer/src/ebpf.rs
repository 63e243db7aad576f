//! The only module that names aya: loads the programs, attaches them, reads ring buffers and counters.
