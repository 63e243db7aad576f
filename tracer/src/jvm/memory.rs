//! Reads and writes a target's memory without stopping it.
