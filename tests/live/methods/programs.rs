//! Programs whose calls are known in closed form: what is chosen of them, and how often they work.

use super::Program;

pub(super) const EXCEPTIONS: Program<'_> =
    Program { main: "Exceptions", arguments: &[], patterns: &["Exceptions*::*"], times: (0, 1) };
pub(super) const FIB: Program<'_> = Program { main: "Fib", arguments: &["16"], patterns: &["Fib::*"], times: (0, 4) };
pub(super) const NESTED_LOOPS: Program<'_> =
    Program { main: "NestedLoops", arguments: &[], patterns: &["NestedLoops::*"], times: (0, 1) };
pub(super) const RECURSION: Program<'_> =
    Program { main: "Recursion", arguments: &[], patterns: &["Recursion::*"], times: (0, 1) };
pub(super) const REFLECTION: Program<'_> =
    Program { main: "Reflection", arguments: &[], patterns: &["Reflection*::*"], times: (0, 1) };
pub(super) const LAMBDAS: Program<'_> =
    Program { main: "Lambdas", arguments: &[], patterns: &["Lambdas::*"], times: (0, 1) };
pub(super) const MANY_THREADS: Program<'_> =
    Program { main: "ManyThreads", arguments: &[], patterns: &["ManyThreads*::*"], times: (0, 1) };
pub(super) const RECEIVERS: Program<'_> =
    Program { main: "Receivers", arguments: &[], patterns: &["Receivers*::*"], times: (0, 1) };
pub(super) const INITIALISERS: Program<'_> =
    Program { main: "Initialisers", arguments: &[], patterns: &["Initialisers*::*"], times: (0, 1) };
pub(crate) const OVERFLOW: Program<'_> =
    Program { main: "Overflow", arguments: &[], patterns: &["Overflow::*"], times: (0, 1) };

/// All of them.
pub(crate) const ALL: [Program<'_>; 10] =
    [EXCEPTIONS, FIB, NESTED_LOOPS, RECURSION, REFLECTION, LAMBDAS, MANY_THREADS, RECEIVERS, INITIALISERS, OVERFLOW];
