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
}

/// What was seen of calls, or of allocations, from arming until the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether it is about objects, and not about methods.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub objects: bool,
    /// How the JVM was armed, as a sentence.
    pub armed: String,
    /// Whether what runs in the interpreter is seen.
    pub interpreter: bool,
    /// Methods that are not seen, or not always, and that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
}
