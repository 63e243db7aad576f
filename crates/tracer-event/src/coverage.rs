//! What of the methods or objects that were asked for could not be seen, because code that was there already does not report.

use serde::{Deserialize, Serialize};

/// A method that runs in code that does not report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silent {
    /// Class as Java writes it.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Descriptor.
    pub signature: String,
    /// Highest level of that code: 1 to 3 is C1's, 4 C2's.
    pub level: u8,
    /// Whether it is only inlined into such code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Whether its code was dropped and has not been compiled anew, on a release whose interpreter does not report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// Whether nothing shows that such code holds it, and it may be inlined there all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untraced: bool,
}

/// What was seen of calls, or of allocations, from arming until the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether it is about objects, and not about methods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub objects: bool,
    /// Patterns of what was asked for, as they were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included: Vec<String>,
    /// How the JVM was armed, as a sentence.
    pub armed: String,
    /// Whether what runs in the interpreter is seen.
    pub interpreter: bool,
    /// Methods that were asked for, and whose code reports.
    #[serde(default)]
    pub seen: u64,
    /// Methods that are not seen, or not always, and that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
}
