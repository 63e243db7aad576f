//! The heap of a JVM as a graph: taken from a live one, or read from a file; what holds what, and what each thing holds.
//!
//! In the order of the data: [`take`] asks the library in a JVM for a walk through its heap and receives it, [`stream`] reads that, [`hprof`]
//! reads the JVM's own dumps and `file` jtrace's, `build` makes a [`graph`] of each. [`dominators`] says what would be freed with an
//! object, [`paths`] by which way it is reached, [`summary`] puts the answers together, [`text`] writes them. Of several snapshots, [`census`]
//! counts each, [`aligned`] lays them beside each other, [`diff`] says what differs between two, [`leaks`] what goes on growing. What users ask
//! of one is in [`question`], over [`truth`]; [`answer`] shows it, [`assertion`] says whether what must hold does.

pub mod aligned;
pub mod answer;
pub mod assertion;
pub mod build;
pub mod census;
pub mod diff;
pub mod dominators;
pub mod file;
pub mod graph;
pub mod headroom;
pub mod hprof;
pub mod leaks;
pub mod paths;
pub mod question;
pub mod stream;
pub mod summary;
pub mod take;
pub mod text;
pub mod truth;
