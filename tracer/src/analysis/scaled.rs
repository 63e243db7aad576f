//! Numbers that are larger the longer the sites of a group are attached: where they were attached in windows only, what they
//! would be over the whole span can be estimated.

/// Such a number, as it is so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// What is counted, and its key in the summary.
    pub what: &'static str,
    /// Keys in the summary of the estimate, and of the ends of its interval.
    pub estimate: [&'static str; 3],
    /// How many were seen.
    pub seen: u64,
}

impl Scaled {
    /// Calls of methods.
    pub const fn calls(seen: u64) -> Self {
        let estimate = ["extrapolated_calls", "extrapolated_low_calls", "extrapolated_high_calls"];
        Self { what: "calls", estimate, seen }
    }

    /// Marks.
    pub const fn events(seen: u64) -> Self {
        let estimate = ["extrapolated_events", "extrapolated_low_events", "extrapolated_high_events"];
        Self { what: "events", estimate, seen }
    }

    /// Objects that were made.
    pub const fn objects(seen: u64) -> Self {
        let estimate = ["extrapolated_objects", "extrapolated_low_objects", "extrapolated_high_objects"];
        Self { what: "objects", estimate, seen }
    }

    /// Bytes of these.
    pub const fn bytes(seen: u64) -> Self {
        let estimate = ["extrapolated_bytes", "extrapolated_low_bytes", "extrapolated_high_bytes"];
        Self { what: "bytes", estimate, seen }
    }
}
