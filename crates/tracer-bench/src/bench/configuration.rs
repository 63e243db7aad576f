//! Under what a program is measured: flags of its JVM, and who watches.

use super::observer::Observer;

/// The name of the configuration that all others are compared with.
pub const PLAIN: &str = "plain";

/// One way to run a program.
pub struct Configuration {
    /// Its name: `plain`, `flags:method`, `attach`, `lens:gc`, `peer:bpftrace-park`.
    pub name: String,
    /// What it is, in a line.
    pub what: String,
    /// Flags of the JVM beyond those of the session.
    pub flags: Vec<String>,
    /// Who watches, if anybody does.
    pub observer: Option<Box<dyn Observer>>,
    /// Programs that it makes sense for, by name; all where this is empty.
    pub only: Vec<String>,
}
