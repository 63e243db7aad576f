//! What a summary consists of, as JSON has it.

use serde::{Deserialize, Serialize};

use crate::heap::{elements::CollectionRow, facts::Facts, graph::RootKind, waste::Waste};

/// Where a snapshot is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Process id; 0 where it is not known.
    pub pid: u32,
    /// What ran.
    pub command: String,
    /// Version of the JVM.
    pub jvm: String,
    /// Its collector.
    pub collector: String,
    /// When, in milliseconds since 1970; 0 where it is not known.
    pub time_ms: u64,
    /// The file, for dumps.
    pub file: String,
}

/// What stands above all answers.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// Where it is from.
    pub origin: Origin,
    /// What it cost; absent of dumps that others wrote.
    pub cost: Option<Facts>,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References that are not null.
    pub references: u64,
    /// Classes of which there are objects.
    pub classes: u64,
}

/// The answers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Where it is from, and how much there is.
    #[serde(flatten)]
    pub head: Head,
    /// Roots by kind.
    pub roots: Vec<RootRow>,
    /// Classes, those first whose objects retain most.
    pub by_class: Vec<ClassRow>,
    /// Objects that retain most.
    pub biggest: Vec<ObjectRow>,
    /// Objects that hold many small ones.
    pub accumulations: Vec<Accumulation>,
    /// What collections hold, those first that hold most elements.
    pub collections: Vec<CollectionRow>,
    /// Objects by size, the smallest first.
    pub sizes: Vec<SizeRow>,
    /// What could be saved; absent where not all of the heap was seen.
    pub waste: Option<Waste>,
}

/// Objects of about the same size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeRow {
    /// They have at most so many bytes, and more than those of the row before.
    pub to_bytes: u64,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl SizeRow {
    /// Rows, each with the part of so many bytes that is in it and those before, in percent.
    pub fn up_to_there(rows: &[Self], heap_bytes: u64) -> impl Iterator<Item = (&Self, f64)> {
        rows.iter().scan(0, move |sum, row| {
            *sum += row.bytes;
            Some((row, *sum as f64 / heap_bytes.max(1) as f64 * 100.0))
        })
    }
}

/// Roots of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct RootRow {
    /// The kind; absent for what several roots hold together.
    pub kind: Option<RootKind>,
    /// Objects that are such roots, each counted once, for its first kind.
    pub objects: u64,
    /// Bytes that only they keep alive.
    pub retained_bytes: u64,
}

impl RootRow {
    /// The kind in words.
    pub fn text(&self) -> &'static str {
        self.kind.map_or("several roots together", |kind| kind.text())
    }
}

/// A class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRow {
    /// Its name.
    pub class: String,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that would be freed with all of them.
    pub retained_bytes: u64,
    /// Whether that is exact; else it is at least so much.
    pub retained_exact: bool,
    /// How they are held, on the shortest way from a root.
    pub held_by: Vec<Holder>,
    /// The shortest ways, merged: from the object towards the root, where most of what they retain goes; the root is the last.
    pub merged_path: Vec<Merged>,
}

/// How objects are held.
#[derive(Clone, Debug, Serialize)]
pub struct Holder {
    /// `class.field`, or what kind of root.
    pub by: String,
    /// How many.
    pub objects: u64,
}

/// A step of a merged path.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// `class.field`, or what kind of root.
    pub by: String,
    /// Objects that refer so, or that the root refers to.
    pub objects: u64,
}

/// An object.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectRow {
    /// Its number in this snapshot.
    pub object: u32,
    /// Its class; for an object that stands for a class, that.
    pub class: String,
    /// Length of an array.
    pub length: Option<u32>,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that would be freed with it.
    pub retained_bytes: u64,
    /// The shortest way from a root.
    pub path: PathRow,
}

/// An object that holds many small ones.
#[derive(Clone, Debug, Serialize)]
pub struct Accumulation {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectRow,
    /// How many objects it holds directly.
    pub holds: u64,
    /// Their classes.
    pub holds_by_class: Vec<Holder>,
}

/// A way from a root.
#[derive(Clone, Debug, Serialize)]
pub struct PathRow {
    /// Why the first object lives.
    pub root: RootText,
    /// From there to the object: each step that is taken several times in a row once.
    pub steps: Vec<StepRow>,
    /// Steps between the first and the last ones that are not told.
    pub left_out: u64,
}

/// A root in words.
#[derive(Clone, Debug, Serialize)]
pub struct RootText {
    /// Its kind.
    pub kind: RootKind,
    /// The thread.
    pub thread: Option<String>,
    /// The method of the frame.
    pub method: Option<String>,
    /// The class of the object.
    pub class: String,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepRow {
    /// Class of the object that refers; of static fields, the class that has them.
    pub class: String,
    /// Field, `[index]`, or what else it is: `<class>`, `<loader>`, ...
    pub by: String,
    /// How often this step is taken in a row.
    pub times: u64,
}
