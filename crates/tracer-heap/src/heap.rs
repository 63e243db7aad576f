//! The heap of a JVM as a graph: as the library in a JVM tells of it, or read from a file; what holds what, and what each thing holds.
//!
//! In the order of the data: [`stream`] reads what a walk tells, at the cost in [`facts`], [`hprof`]
//! reads the JVM's own dumps and `file` jtrace's, `build` makes a [`graph`] of each, with what is known of [`contents`] and without [`constants`] of compiled code. [`dominators`] says what would be freed with an
//! object, [`paths`] by which way it is reached, [`elements`] what collections hold, [`waste`] what could be saved, [`tree`] makes a picture of what holds what, [`summary`] puts the answers together, [`text`] writes them. Of several snapshots, [`census`]
//! counts each, [`aligned`] lays them beside each other, [`diff`] says what differs between two, [`leaks`] what goes on growing. What users ask
//! of one is in [`question`], over [`truth`]; [`answer`] shows it, [`assertion`] says whether what must hold does.

pub mod aligned;
pub mod answer;
pub mod assertion;
pub mod build;
pub mod census;
mod collections;
pub mod constants;
pub mod contents;
pub mod diff;
pub mod dominators;
pub mod elements;
pub mod facts;
pub mod file;
pub mod graph;
mod held;
pub mod hprof;
pub mod leaks;
pub mod paths;
pub mod question;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod sample;
pub mod stream;
pub mod summary;
pub mod text;
pub mod tree;
pub mod truth;
pub mod waste;
