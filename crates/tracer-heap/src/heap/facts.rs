//! What a snapshot is of, and what it cost.

/// What a snapshot is of, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// How it was taken.
    pub in_jvm: bool,
    /// Whether the walk came to its end.
    pub complete: bool,
    /// Why it did not.
    pub reason: String,
    /// No less than the threads of the JVM stood still, in nanoseconds.
    pub pause_ns: u64,
    /// Of it, until the JVM was at a safepoint.
    pub reach_ns: u64,
    /// Of it, copying.
    pub copy_ns: u64,
    /// The walk, from before the copy was made to its end.
    pub walk_ns: u64,
    /// CPU time of the copy.
    pub cpu_ns: u64,
    /// Telling of classes before, while the JVM went on.
    pub classes_ns: u64,
    /// From the first order to the last byte.
    pub wall_ns: u64,
    /// Bytes that were told.
    pub stream_bytes: u64,
    /// Memory of the cgroup or the machine that was less there at the worst moment than before.
    pub memory_bytes: u64,
    /// What made no sense, and was left out.
    pub odd: u64,
    /// References, those to classes included.
    pub references: u64,
    /// Objects of classes that nobody had a number for.
    pub unknown_class: u64,
}
