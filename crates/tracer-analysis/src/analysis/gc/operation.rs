//! What the name of the VM operation around a pause tells: the kind of the pause, and how pauses make collections.
//!
//! The names are those that JDK 11, 17, 21 and 25 give with each of their collectors. Shenandoah's have been sentences
//! since 12; generational ZGC's say the generation, and the old ZGC begins with `X` in 21.

use Counting::{ByCycle, Never, Whole};

use crate::event::PauseStep;

/// How many collections a number of pauses is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Each pause is a collection of its own.
    Whole,
    /// Pauses are steps of a cycle of a concurrent collector; their memory managers tell how many cycles there were.
    ByCycle,
    /// Pauses belong to G1's concurrent marking, which collects nothing by itself: that is up to the collections after it.
    Never,
}

/// Pauses by the name of their operation.
#[rustfmt::skip]
const OPERATIONS: &[(&str, &str, Counting)] = &[
    ("G1CollectForAllocation", "young", Whole),
    ("G1TryInitiateConcMark", "young, concurrent start", Whole),
    ("G1PauseRemark", "remark", Never),
    ("G1PauseCleanup", "cleanup", Never),
    // 11 has one name for both.
    ("CGC_Operation", "remark or cleanup", Never),

    ("GenCollectForAllocation", "young", Whole),
    ("SerialCollectForAllocation", "young", Whole),
    ("ParallelGCFailedAllocation", "young", Whole),
    ("ParallelCollectForAllocation", "young", Whole),

    ("ZMarkStart", "mark start", ByCycle),
    ("ZMarkEnd", "mark end", ByCycle),
    ("ZRelocateStart", "relocate start", ByCycle),
    ("ZMarkStartYoung", "mark start, young", ByCycle),
    ("ZMarkStartYoungAndOld", "mark start, young and old", ByCycle),
    ("ZMarkEndYoung", "mark end, young", ByCycle),
    ("ZMarkEndOld", "mark end, old", ByCycle),
    ("ZRelocateStartYoung", "relocate start, young", ByCycle),
    ("ZRelocateStartOld", "relocate start, old", ByCycle),
    ("XMarkStart", "mark start", ByCycle),
    ("XMarkEnd", "mark end", ByCycle),
    ("XRelocateStart", "relocate start", ByCycle),

    ("ShenandoahInitMark", "mark start", ByCycle),
    ("ShenandoahFinalMarkStartEvac", "mark end", ByCycle),
    ("ShenandoahInitUpdateRefs", "update references start", ByCycle),
    ("ShenandoahFinalUpdateRefs", "update references end", ByCycle),
    ("ShenandoahDegeneratedGC", "degenerated", Whole),
    ("Shenandoah Init Marking", "mark start", ByCycle),
    ("Shenandoah Final Mark and Start Evacuation", "mark end", ByCycle),
    ("Shenandoah Final Roots", "final roots", ByCycle),
    ("Shenandoah Init Update References", "update references start", ByCycle),
    ("Shenandoah Final Update References", "update references end", ByCycle),
    ("Shenandoah Degenerated GC", "degenerated", Whole),
];

/// Prefixes of operations of collectors whose pauses are steps of cycles.
const CONCURRENT: [&str; 3] = ["Shenandoah", "ZMark", "ZRelocate"];

/// The kind of a pause, and how such pauses count. `full` is what the probe says.
pub fn classify(operation: Option<&str>, full: bool) -> (&'static str, Counting) {
    let known = operation.and_then(|name| OPERATIONS.iter().find(|(known, ..)| *known == name));
    match (known, operation) {
        _ if full => ("full", Whole),
        (Some((_, kind, counting)), _) => (kind, *counting),
        // ZGC of 11 has one name for all of its pauses.
        (None, Some("ZOperation")) => ("step of a cycle", ByCycle),
        (None, Some(name)) if CONCURRENT.iter().any(|prefix| name.starts_with(prefix)) => ("other", ByCycle),
        (None, _) => ("other", Whole),
    }
}

/// The same, where another recorder says what the pause is. What it says decides how pauses count.
pub fn classify_step(step: PauseStep, operation: Option<&str>, full: bool) -> (&'static str, Counting) {
    let (known, counting) = classify(operation, full);
    let (kind, said) = match step {
        PauseStep::Unsaid => return (known, counting),
        PauseStep::Young => ("young", Whole),
        PauseStep::Whole => ("other", Whole),
        PauseStep::Cycle => ("step of a cycle", Whole),
        PauseStep::Continues => ("step of a cycle", Never),
        PauseStep::Marking => ("remark or cleanup", Never),
    };
    (if known == "other" { kind } else { known }, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        for (index, (name, ..)) in OPERATIONS.iter().enumerate() {
            assert!(OPERATIONS[..index].iter().all(|(other, ..)| other != name), "{name} is there twice");
        }
    }

    #[test]
    fn the_probes_flag_decides_and_unknown_names_are_other() {
        assert_eq!(classify(Some("G1CollectFull"), true), ("full", Whole));
        assert_eq!(classify(Some("GenCollectForAllocation"), true), ("full", Whole));
        assert_eq!(classify(Some("CollectForMetadataAllocation"), false), ("other", Whole));
        assert_eq!(classify(None, false), ("other", Whole));
        assert_eq!(classify(Some("ShenandoahFinalVerify"), false), ("other", ByCycle));
        assert_eq!(classify(Some("G1PauseCleanup"), false), ("cleanup", Never));
    }
}
