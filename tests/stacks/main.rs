//! The truth of stacks: programs that say what their own stack is at the moment of a probe, next to what jtrace says. Needs
//! what the live ring needs.
//!
//! `JTRACE_ORACLE=full` makes 10,000 events of each kind in each cell of the whole matrix; otherwise some hundreds in a part
//! of it that has every JDK with every compiler mode, and every collector. A number makes so many events in that part.

#![cfg(test)]

// What the program says, what jtrace recorded, and the rule by which the two are the same.
mod compare;
mod recorded;
mod truth;

// The matrix of JVMs, compiler modes and collectors.
mod oracle;

// Samples and absences on programs with known shares.
mod cpu;
// JVMs that die, hide their symbols, or hold garbage.
mod robust;
